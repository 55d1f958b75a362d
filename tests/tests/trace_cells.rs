//! Cells under `%trace` give and leave what they do as written, also where the bodies of their loops do not run; and those of the loops that
//! are written most do not.
//!
//! `trace_cells/shapes.ng` and `more_shapes.ng` hold these loops: what is made before, the cell, and how many of so many rounds run without the body;
//! `trace_cells/hazards.ng` what could go wrong, `in_place.ng` where variables are written where they lie, `parts.ng` where parts of tensors
//! are taken at numbers that differ from round to round, `chosen.ng` where items of lists are, `draws.ng` where distributions draw, `decided.ng` where values decide the way or a round and functions find the same names. Other cells are put together from lines by a generator with a fixed seed. For a longer look:
//! `SEED=7 TRACE_CELLS=2000 cargo test -p tests --test trace_cells`.

use std::rc::Rc;

use engine::cpu::memory::HOST;
use engine::lower::write_onto_from;
use engine::trace::Options as TraceOptions;
use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};
use tests::made_up::{Guard, Random, TRAINING, number, on_a_gpu};

const SETUP: &str = include_str!("../trace_cells/setup.ng");
const SHAPES: [&str; 2] =
    [include_str!("../trace_cells/shapes.ng"), include_str!("../trace_cells/more_shapes.ng")];
const HAZARDS: [&str; 6] = [
    include_str!("../trace_cells/hazards.ng"),
    include_str!("../trace_cells/in_place.ng"),
    include_str!("../trace_cells/parts.ng"),
    include_str!("../trace_cells/chosen.ng"),
    include_str!("../trace_cells/draws.ng"),
    include_str!("../trace_cells/decided.ng"),
];
const WORLD: &str = include_str!("../trace_cells/world.ng");
const BODY: &str = include_str!("../trace_cells/body.txt");
const TENSORS: &str = include_str!("../trace_programs/body.txt");
const CHANGES: &str = include_str!("../trace_programs/changes.txt");
const OWN_CHANGES: &str = include_str!("../trace_cells/changes.txt");

const DATA: &str = "
torch.manual_seed(0)
X = torch.randn(400, 8)
Y = (X.sum(1) > 0).long()
batches = [(X[i:i+20], Y[i:i+20]) for i in range(0, 400, 20)]
def mlp(make, **options):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    return model, make(model.parameters(), **options)
";

/// How cells run.
#[derive(Clone, Copy, PartialEq)]
enum How {
    AsWritten,
    Traced,
    /// And compared with eager execution, round by round.
    Checked,
}

const ALL: [How; 3] = [How::AsWritten, How::Traced, How::Checked];

impl How {
    fn options(self) -> Option<TraceOptions> {
        let check = self == How::Checked;
        (self != How::AsWritten).then(|| TraceOptions { check, ..TraceOptions::default() })
    }
}

/// A session that runs cells as written, or under `%trace`.
struct Run {
    session: Session,
    record: Rc<Record>,
    how: How,
    outcomes: Vec<String>,
}

impl Run {
    fn new(how: How, setup: &str) -> Run {
        let record = Rc::new(Record::default());
        let session = Session::new(Box::new(Recording { record: record.clone() }));
        let mut run = Run { session, record, how, outcomes: Vec::new() };
        for cell in [SETUP, setup] {
            let error = run.cell(cell, false);
            assert_eq!(error, "", "{cell}");
        }
        run
    }

    /// Runs a cell, and again after each of these changes.
    fn of(how: How, setup: &str, cell: &str, changes: &[&str]) -> Run {
        let mut run = Run::new(how, setup);
        let first = run.outcome(cell);
        run.outcomes.push(first);
        for change in changes {
            run.cell(change, false);
            let next = run.outcome(cell);
            run.outcomes.push(next);
        }
        run
    }

    /// The first run that differs, and the first value that does.
    fn difference(&self, traced: &Run) -> Option<(usize, String)> {
        let pairs = self.outcomes.iter().zip(&traced.outcomes).enumerate();
        let (time, (eager, traced)) = pairs.into_iter().find(|(_, (a, b))| a != b)?;
        let values = |text: &str| text.split("), ('").map(str::to_owned).collect::<Vec<_>>();
        let (eager, traced) = (values(eager), values(traced));
        let same = eager.iter().zip(&traced).take_while(|(a, b)| a == b).count();
        let at = |values: &[String]| values.get(same).cloned().unwrap_or_default();
        Some((time, format!("eager:  {}\ntraced: {}", at(&eager), at(&traced))))
    }

    /// The same of several sessions.
    fn first_difference(&self, traced: [&Run; 2]) -> Option<(usize, String)> {
        traced.into_iter().find_map(|it| self.difference(it))
    }

    /// Runs a cell; the error that it ends with, or nothing.
    fn cell(&mut self, code: &str, traces: bool) -> String {
        let trace = self.how.options().filter(|_| traces);
        let options = Options { cell: Some(1), trace, ..Options::default() };
        let result = self.session.run_cell(code, &options);
        result.error.map_or_else(String::new, |it| it.plain)
    }

    /// Runs a cell under the trace, if this is a traced session: all that it shows and leaves.
    fn outcome(&mut self, code: &str) -> String {
        let error = self.cell(code, true);
        let unseen = self.cell(&self.all_names(), false);
        let printed = self.record.stdout.take();
        format!("{printed}{error}{unseen}")
    }

    /// A cell that prints what all names are bound to.
    fn all_names(&self) -> String {
        let entries = self.session.cx.globals.entries();
        let mut names: Vec<&str> = entries.iter().map(|it| it.0.as_str()).collect();
        names.retain(|it| !it.starts_with('_') && !["In", "Out"].contains(it));
        names.sort_unstable();
        let seen: Vec<String> = names.iter().map(|it| format!("({it:?}, seen({it}))")).collect();
        format!("print([{}], torch.rand(1).item())", seen.join(", "))
    }

    /// How many rounds have run without the body, and what prevents that in others.
    fn alone(&self) -> (usize, Vec<String>) {
        let steps = self.session.traced_steps();
        let words = steps.iter().map(|it| format!("line {:?}: {}", it.line, it.prevented));
        (steps.iter().map(|it| it.n_alone).sum(), words.collect())
    }
}

#[test]
fn loops_run_without_their_bodies() {
    println!("{}", loops_run_alone("", &[]));
}

/// Loops whose bodies still run on a GPU. The second computes with numbers alone, too, which is work of the CPU; why the first does is open.
const WITH_BODY_ON_A_GPU: &[&str] = &["6: parameters by hand", "11: a rate for each batch"];

#[test]
#[ignore = "takes three minutes on an emulated GPU"]
fn loops_on_a_gpu_run_without_their_bodies() {
    println!("{}", loops_run_alone(on_a_gpu(), WITH_BODY_ON_A_GPU));
}

/// Runs these loops after a first line; some may run their bodies. How each went.
fn loops_run_alone(first: &str, with_body: &[&str]) -> String {
    let _guard = Guard::of(first);
    let (mut problems, mut seen) = (Vec::new(), String::new());
    for shape in SHAPES.iter().flat_map(|it| it.split("### ").skip(1)) {
        let (name, rest) = shape.split_once('\n').unwrap_or_default();
        let (setup, rest) = rest.split_once("---\n").unwrap_or_default();
        let (cell, counts) = rest.split_once("=== ").unwrap_or_default();
        let counts: Vec<usize> =
            counts.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        let &[n_rounds, least] = &counts[..] else { panic!("{name}: counts are missing") };
        let setup = format!("{first}{DATA}{setup}");
        let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, cell, &["pass"]));
        if let Some((time, it)) = eager.first_difference([&traced, &checked]) {
            problems.push(format!("{name}, run {time}:\n{it}"));
        }
        let (n_alone, prevented) = traced.alone();
        seen +=
            &format!("{name}: {n_alone} of {n_rounds} rounds without the body; {prevented:?}\n");
        if n_alone < least && !with_body.contains(&name) {
            problems.push(format!("{name}: {n_alone} of {n_rounds}: {}", prevented.join(", ")));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    seen
}

/// Where a round trains for many steps, in a function whose loop is none, recording it would cost more than it gives.
#[test]
fn rounds_of_many_steps_are_not_recorded() {
    let _guard = Guard::of("");
    let setup = format!(
        "{DATA}model, opt = mlp(torch.optim.SGD, lr=0.1)
def train():
    total = 0.0
    for x, y in batches * 15:
        if x is None: return
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    return total
"
    );
    let cell = "for epoch in range(3):\n    total = train()\n    print(total)";
    let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, cell, &[]));
    assert_eq!(eager.first_difference([&traced, &checked]), None);
    let seen = traced.session.traced_steps();
    let words: Vec<&str> = seen.iter().map(|it| it.prevented.as_str()).collect();
    assert_eq!(words, ["runs as written: a round is many steps of training"]);
    assert!((4096..4200).contains(&seen[0].traced.stats().recorded));
}

/// Loops over layers, parameters or optimisers have most of the ops of a round now and then; the step is where the tape is walked.
#[test]
fn a_round_that_walks_is_the_step_whatever_its_loops_have() {
    let _guard = Guard::of("");
    let setup = format!(
        "{DATA}model, opt = mlp(torch.optim.SGD, lr=0.1)
Ws = [torch.randn(8, 8, requires_grad=True) for _ in range(4)]
opts = [torch.optim.Adam(model[0].parameters()), torch.optim.SGD(model[2].parameters(), lr=0.1)]
"
    );
    let layers = "for x, y in batches * 3:
    h = x
    for W in Ws: h = torch.tanh(h @ W)
    loss = h.pow(2).mean()
    loss.backward()
    for W in Ws:
        W.data -= 0.1 * W.grad
        W.grad.zero_()";
    let optimizers = "for x, y in batches * 3:
    for it in opts: it.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    for it in opts: it.step()";
    for cell in [layers, optimizers] {
        let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, cell, &[]));
        assert_eq!(eager.first_difference([&traced, &checked]), None);
        let seen = traced.session.traced_steps();
        let lines: Vec<_> = seen.iter().map(|it| (it.line, it.n_alone >= 40)).collect();
        let words: Vec<&str> = seen.iter().map(|it| it.prevented.as_str()).collect();
        assert_eq!(lines, [(Some(1), true)], "{cell}\n{words:?}");
    }
}

/// So it is of a function that is traced itself: from its second call on the bodies of its loops are steps.
#[test]
fn loops_of_a_traced_function_are_steps_where_a_call_is_many() {
    let _guard = Guard::of("");
    let setup = |traced: &str| {
        format!(
            "from notegrad.jit import trace
{DATA}model, opt = mlp(torch.optim.SGD, lr=0.1, momentum=0.9)
{traced}
def _train():
    total = 0.0
    for x, y in batches * 15:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    return total
"
        )
    };
    let cell = "for epoch in range(4):\n    print(_train())\nprint(model[0].weight.sum().item())";
    let [plain, traced] = ["", "@trace"].map(|it| Run::of(How::AsWritten, &setup(it), cell, &[]));
    assert_eq!(plain.difference(&traced), None);
    let n_rounds = 300;
    let (n_alone, prevented) = traced.alone();
    assert!(n_alone > 2 * n_rounds, "{n_alone} of {}: {prevented:?}", 3 * n_rounds);
}

/// The same text, as a cell and as a module, has steps of its own in each; names are looked up where they belong.
#[test]
fn the_same_text_in_two_modules_has_two_steps() {
    let _guard = Guard::of("");
    let text = "import torch
padding_a = padding_b = padding_c = 0
w, count, scale = torch.ones(3, requires_grad=True), 0, 0.5
def train(n):
    global count
    total = 0.0
    for i in range(n):
        w.grad = None
        loss = ((w * scale - i % 3) ** 2).sum()
        loss.backward()
        with torch.no_grad(): w.sub_(0.01 * w.grad)
        count += 1
        total += loss.item()
    return total
";
    let run = |how: How| {
        let mut run = Run::new(how, "torch.manual_seed(0)");
        let mut files = run.record.files.borrow_mut();
        files.insert("same_text.ng".to_owned(), text.as_bytes().to_vec());
        drop(files);
        let cells = [
            text,
            "for epoch in range(4): print(train(25), count)",
            "import same_text",
            "for epoch in range(4): print(same_text.train(25), same_text.count, count)",
            "scale = 9.0",
            "for epoch in range(4): print(same_text.train(25), train(25))",
        ];
        run.outcomes = cells.iter().map(|it| run.outcome(it)).collect();
        run
    };
    let [eager, traced, checked] = ALL.map(run);
    assert_eq!(eager.first_difference([&traced, &checked]), None);
    let seen = traced.session.traced_steps();
    let of_module = seen.iter().find(|it| it.source == "same_text").map(|it| it.n_alone);
    let rows: Vec<_> = seen.iter().map(|it| (&it.source, it.line, it.n_alone)).collect();
    assert!(of_module.is_some_and(|it| it > 100), "{rows:?}");
}

/// Functions that do not train run as they are written while steps are looked for.
#[test]
fn loops_over_numbers_are_no_steps() {
    let _guard = Guard::of("");
    let setup = format!(
        "{DATA}model, opt = mlp(torch.optim.SGD, lr=0.1)
def train(data):
    for x, y in data:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    return loss.item()
def score(n):
    total, words = 0, []
    for i in range(n):
        total += i * i % 7
        if i % 100 == 0: words.append(str(i))
    return total, words
"
    );
    let cell = "for epoch in range(3):\n    last = train(batches)\n    given = score(1000)";
    let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, cell, &["pass"]));
    assert_eq!(eager.first_difference([&traced, &checked]), None);
    let seen = traced.session.traced_steps();
    let lines: Vec<_> = seen.iter().map(|it| (it.line, it.n_alone > 50)).collect();
    // The source begins with an empty line.
    let line = 1 + setup.lines().position(|it| it.contains("in data:")).unwrap();
    assert_eq!(lines, [(Some(line), true)]);
}

/// One long round among short ones leaves these as they are, and a step that walks often is one step.
#[test]
fn one_long_round_and_many_walks_are_no_reason() {
    let _guard = Guard::of("");
    let setup = "torch.manual_seed(0)
w, x0 = torch.ones(4, 4, requires_grad=True), torch.ones(2, 4)
def train(n):
    for j in range(n):
        w.grad = None
        loss = ((x0 @ w) ** 2).mean()
        loss.backward()
        with torch.no_grad(): w.sub_(w.grad * 1e-5)
    return loss.detach()
def penalty(n):
    w.grad = None
    out = (x0 @ w).tanh()
    slopes = [torch.autograd.grad(out[0, j % 4], w, create_graph=True)[0].square().sum() for j in range(n)]
    sum(slopes).backward()
    return w.grad.sum()
";
    let long_one = "for i in range(80): o = train(2 if i != 30 else 800)";
    let many_walks = "for i in range(4): o = penalty(400)";
    for (cell, least) in [(long_one, 50), (many_walks, 0)] {
        let [eager, traced, checked] = ALL.map(|it| Run::of(it, setup, cell, &[]));
        assert_eq!(eager.first_difference([&traced, &checked]), None);
        let seen = traced.session.traced_steps();
        assert!(seen[0].n_alone >= least, "{}: {}", seen[0].n_alone, seen[0].prevented);
        assert!(!seen[0].prevented.contains("many steps"), "{}", seen[0].prevented);
        let n_ops = seen[0].traced.stats().recorded;
        assert!(n_ops > 4096, "{cell}: {n_ops}");
    }
}

/// The check of a cell copies classes; that changes none of them, so that a step of the cell is known when it runs again.
#[test]
fn a_cell_that_runs_again_runs_without_bodies_at_once() {
    let _guard = Guard::of("");
    let setup = format!("{DATA}model, opt = mlp(torch.optim.Adam, lr=0.1)");
    let cell = "for x, y in batches:
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()";
    let mut run = Run::new(How::Traced, &setup);
    let n_alone = |run: &mut Run| {
        let before = run.alone().0;
        let trace = How::Traced.options();
        let options = Options { cell: Some(1), trace, check: Level::On, ..Options::default() };
        assert!(run.session.run_cell(cell, &options).error.is_none());
        run.alone().0 - before
    };
    assert!(n_alone(&mut run) < 20);
    assert_eq!([n_alone(&mut run), n_alone(&mut run)], [20, 20]);
}

/// Steps of optimisers write what they keep where it lies, once their graph is known: a step of Adam holds parameters, their means, and the
/// gradients of two steps; one with a number that is read, and one on a name of the cell, too.
#[test]
fn large_variables_take_no_second_buffer() {
    let _guard = Guard::of("");
    let train = "
for i in range(20):
    opt.zero_grad()
    loss = (net(x) - 1).square().mean()
    loss.backward()
    opt.step()
    total += loss.item()";
    let setup = "net, total = nn.Linear(2048, 2048), 0.0
opt = torch.optim.Adam(net.parameters())
x, w = torch.randn(2, 2048), torch.zeros(2048, 2048)";
    let add = "for i in range(20):\n    w += 0.5\n    w[7] = 2.0";
    for (cell, most) in [(train, 6.0), (add, 5.0)] {
        let mut run = Run::new(How::Traced, setup);
        for code in [train, cell] {
            assert_eq!(run.cell(code, true), "");
        }
        HOST.reset_peak();
        assert_eq!(run.cell(cell, true), "");
        let weights = |bytes: usize| bytes as f64 / f64::from(4 * 2048 * 2048);
        let (live, peak) = (weights(HOST.stats().live), weights(HOST.stats().peak));
        // Other tests hold something, too.
        assert!(live > 5.0 && peak < most + 0.8, "{peak} of {live}");
    }
}

#[test]
fn hazards_are_as_written() {
    hazards("");
}

/// What could go wrong goes as written where all tensors are on a GPU, too.
#[test]
#[ignore = "compiles a thousand kernels"]
fn hazards_on_a_gpu_are_as_written() {
    hazards(on_a_gpu());
}

/// Runs the hazards after a first line.
fn hazards(first: &str) {
    let _guard = Guard::of(first);
    // Graphs that are not compared with the body write variables where they lie, however small these are.
    write_onto_from(1);
    let mut problems = Vec::new();
    for hazard in HAZARDS.iter().flat_map(|it| it.split("### ").skip(1)) {
        let (name, rest) = hazard.split_once('\n').unwrap_or_default();
        let (setup, cell) = rest.split_once("---\n").unwrap_or_default();
        let setup = format!("{first}torch.manual_seed(0)\n{setup}");
        let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, cell, &[&setup, "pass"]));
        if let Some((time, it)) = eager.first_difference([&traced, &checked]) {
            problems.push(format!("{name}, run {time}:\n{it}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

const LOOPS: &[&str] = &[
    "for at, x in enumerate(xs):",
    "for at in range(9):\n    x = xs[at]",
    "for epoch in range(3):\n    for at, x in enumerate(xs[:5]):",
    "at = 0\nwhile at < 9:\n    x = xs[at]\n    at += 1",
    "for at, x in zip(range(20), xs * 2):",
    "for at in [0] * 5 + [1] * 5 + [0] * 4 + [2] * 5:\n    x = xs[at]",
    "for at in range(30):\n    x = xs[at // 4]",
];

const OPTIMISERS: &[&str] = &[
    "torch.optim.SGD(net.parameters(), lr=0.05)",
    "torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)",
    "torch.optim.Adam(net.parameters(), lr=0.05)",
];

/// A cell with a loop, and what is changed before it runs again.
fn cell(random: &mut Random) -> (String, Vec<&'static str>) {
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let (own, tensors) = (lines(BODY), lines(TENSORS));
    let changes = [lines(CHANGES), lines(OWN_CHANGES)];
    let mut body = vec!["loss = y = x * 1"];
    for _ in 0..random.below(3) {
        body.push(random.pick(&tensors));
    }
    if random.below(2) == 0 {
        body.extend(TRAINING);
    }
    for _ in 0..random.below(5) {
        body.insert(1 + random.below(body.len()), random.pick(&own));
    }
    let head = random.pick(LOOPS);
    let inner = if head.contains("epoch") { "\n        " } else { "\n    " };
    let changes = (0..3)
        .map(|_| {
            let kind = random.below(2);
            random.pick(&changes[kind])
        })
        .collect();
    let body = body.join(inner).replace(" \\n ", inner);
    let cell = format!("{head}{inner}{body}\n");
    let trains = TRAINING.iter().all(|it| body.contains(it));
    (if trains && random.below(2) == 0 { in_function(&cell) } else { cell }, changes)
}

/// A cell that calls a function with that loop.
fn in_function(cell: &str) -> String {
    let names = "total, count, outs, h, last";
    let body = cell.replace('\n', "\n    ");
    format!(
        "def work({names}, a, b, at=0):\n    {body}\n    return {names}\n\
         for again in range(3):\n    {names} = work({names}, a, b)\n"
    )
}

#[test]
fn made_up_cells_are_as_written() {
    println!("{}", made_up_cells(number("TRACE_CELLS", 60), ""));
}

#[test]
fn made_up_cells_on_a_gpu_are_as_written() {
    println!("{}", made_up_cells(number("TRACE_CELLS_GPU", 4), on_a_gpu()));
}

/// Runs so many cells after a first line; how they went.
fn made_up_cells(count: usize, first: &str) -> String {
    let _guard = Guard::of(first);
    write_onto_from(1);
    let seed = number("SEED", 1);
    let (mut wrong, mut n_alone, mut n_compared) = (Vec::new(), 0, 0);
    for at in 0..count {
        let mut random = Random::new(seed, at);
        let setup = format!("{first}{WORLD}opt = {}", random.pick(OPTIMISERS));
        let (cell, changes) = cell(&mut random);
        let [eager, traced, checked] = ALL.map(|it| Run::of(it, &setup, &cell, &changes));
        if let Some((time, it)) = eager.first_difference([&traced, &checked]) {
            let changes = changes[..time].join("\n");
            wrong.push(format!("cell {at}, run {time}:\n{it}\n{setup}\n{cell}\n{changes}"));
        }
        n_alone += traced.alone().0;
        n_compared += checked.alone().0;
    }
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(n_alone >= count * 4, "{n_alone} rounds of {count} cells ran without the body");
    assert!(n_compared >= count * 4, "{n_compared} rounds of {count} cells were compared");
    format!("{count} cells, {n_alone} rounds without the body, {n_compared} compared with it")
}
