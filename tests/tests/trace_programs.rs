//! Traced functions give and leave what eager ones do, whatever they do with tensors, views, lists and optimisers, and whatever is changed
//! between their calls: also where calls run without the body.
//!
//! Programs are put together from the lines of `trace_programs/`, by a generator with a fixed seed. For a longer look:
//! `SEED=7 TRACE_PROGRAMS=2000 cargo test -p tests --test trace_programs`.

use std::rc::Rc;

use engine::lower::{WORTH_WRITING_ONTO, write_onto_from};
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};
use frontend_lang::sym::Sym;
use frontend_lang::trace::TracedFn;
use tests::made_up::{Guard, Random, TRAINING, number, on_a_gpu};

const SETUP: &str = include_str!("../trace_programs/setup.ng");
const BODY: &str = include_str!("../trace_programs/body.txt");
const RESULTS: &str = include_str!("../trace_programs/results.txt");
const REFUSALS: &str = include_str!("../trace_programs/refusals.ng");
const CHANGES: &str = include_str!("../trace_programs/changes.txt");

const TENSORS: &str = "
    a = torch.ones(2, 3)
    b = torch.arange(6.0).reshape(2, 3)
    v, w = a[0], b.t()
    held, d, flag = [torch.zeros(3), 2.0], {'s': 0.5, 't': torch.ones(3)}, [True]
    n, k = [0, 1.0, 2], {'i': 0, 'f': 0.5}
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.3), nn.Tanh())";

const STATE: &str = "
    def state():
        grad = net[0].weight.grad
        tensors = [a, b, v, w, held[0], d['t'], net[0].weight]
        return str([it.tolist() for it in tensors] + [held[1], d['s'], n, k, [opt.param_groups[0]['lr']], None if grad is None else grad.tolist()])";

const OPTIMISERS: &[&str] = &[
    "torch.optim.SGD(net.parameters(), lr=0.05)",
    "torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)",
    "torch.optim.Adam(net.parameters(), lr=0.05)",
    "torch.optim.Adam(net.parameters(), lr=0.05, capturable=True)",
    "torch.optim.RMSprop(net.parameters(), lr=0.05)",
];

fn program(random: &mut Random) -> String {
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let (statements, changes) = (lines(BODY), lines(CHANGES));
    let mut body = vec!["loss = y = x * 1"];
    let some = |random: &mut Random, most: usize, body: &mut Vec<&str>| {
        (0..random.below(most + 1)).for_each(|_| body.push(random.pick(&statements)));
    };
    some(random, 7, &mut body);
    if random.below(2) == 0 {
        body.extend(TRAINING);
        some(random, 3, &mut body);
    }
    let result = format!("return {}", random.pick(&lines(RESULTS)));
    body.push(&result);
    let changes: Vec<String> =
        (0..4).map(|_| format!("lambda: {}", random.pick(&changes))).collect();
    format!(
        "def make():{TENSORS}\n    opt = {}{STATE}\n    def body(x):\n        {}\n    return body, [{}], state\n\nprint(same(make))\n",
        random.pick(OPTIMISERS),
        body.join("\n        "),
        changes.join(", "),
    )
}

/// Programs that one session runs.
const PER_SESSION: usize = 25;

/// A session that has run the setup.
fn session(record: &Rc<Record>, first: &str) -> Session {
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let error = session.run_cell(&format!("{SETUP}\n{first}"), &Options::default()).error;
    assert!(error.is_none(), "{}", error.map_or_else(String::new, |it| it.plain));
    session
}

/// What a program prints, how many calls of its plain trace ran without the body, and of how many that was compared with the body.
fn run(session: &mut Session, record: &Record, code: &str) -> (String, [usize; 2]) {
    let result = session.run_cell(code, &Options::default());
    let printed = record.stdout.take();
    if let Some(error) = result.error {
        return (error.plain, [0, 0]);
    }
    let alone = |name: &str| {
        let traced = session.cx.globals.get(Sym::new(name));
        let n_alone = traced.and_then(|it| it.downcast::<TracedFn>().map(TracedFn::n_runs_alone));
        n_alone.unwrap_or_default()
    };
    (printed, ["plain", "checking"].map(alone))
}

#[test]
fn traces_of_made_up_programs_are_as_eager() {
    println!("{}", made_up_programs(number("TRACE_PROGRAMS", 100), ""));
}

/// Functions of the language refuse elements in every mode, in the same words.
#[test]
fn what_is_refused_is_refused_in_every_mode() {
    let _guard = Guard::of("");
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let error = session.run_cell(REFUSALS, &Options::default()).error;
    assert!(error.is_none(), "{}", error.map_or_else(String::new, |it| it.plain));
    let refused =
        "['ValueError: Expected parameter scale', 'ValueError: Expected parameter scale']\n";
    let wanted = format!("48 functions, 0 problems\n{}{}", "True\n".repeat(4), refused.repeat(3));
    assert_eq!(record.stdout.take(), wanted);
}

#[test]
fn traces_of_made_up_programs_on_a_gpu_are_as_eager() {
    println!("{}", made_up_programs(number("TRACE_PROGRAMS_GPU", 6), on_a_gpu()));
}

/// Runs so many programs, in which this line comes before anything is made; how they went.
fn made_up_programs(count: usize, first: &str) -> String {
    let _guard = Guard::of(first);
    let seed = number("SEED", 1);
    let (mut wrong, mut n_alone, mut n_compared) = (Vec::new(), 0, 0);
    let record = Rc::new(Record::default());
    let mut running = session(&record, first);
    for at in 0..count {
        if at % PER_SESSION == PER_SESSION - 1 {
            running = session(&record, first);
        }
        let mut random = Random::new(seed, at);
        let code = program(&mut random);
        // In every other program graphs write variables where they lie.
        write_onto_from(if at % 2 == 0 { 1 } else { WORTH_WRITING_ONTO });
        let (printed, [alone, compared]) = run(&mut running, &record, &code);
        n_alone += alone;
        n_compared += compared;
        if printed.trim() != "None" {
            let own = code.split_once("def make").map_or("", |it| it.1);
            wrong.push(format!("program {at}: {printed}\ndef make{own}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} programs:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(n_alone >= count, "{n_alone} calls of {count} programs ran without the body");
    assert!(n_compared >= count, "{n_compared} calls of {count} programs were compared");
    format!("{count} programs, {n_alone} calls without the body, {n_compared} compared with it")
}
