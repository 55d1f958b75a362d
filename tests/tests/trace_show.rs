//! `%trace status` and `%trace show`: traced cells by number and line, a training step in three parts, tensors by their names.
//!
//! Names and shapes of parameters are those that PyTorch's `named_parameters` gives, the state of Adam and SGD is what PyTorch keeps.

use tests::spec::{Runner, Runs};

/// What a cell showed, or its error.
fn show(runner: &mut Runner, cell: &str) -> Result<String, String> {
    let ran = runner.run(cell);
    match ran.error {
        Some(error) => Err(error.plain),
        None => Ok(ran.output.trim_end().to_owned()),
    }
}

fn shown(cells: &[&str]) -> String {
    let mut runner = Runner::default();
    let mut last = String::new();
    for cell in cells {
        last = show(&mut runner, cell).unwrap_or_else(|error| panic!("{cell}\n{error}"));
    }
    last
}

/// The lines of one part: from its title to the next.
fn part<'a>(text: &'a str, title: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|it| !it.starts_with(title)).skip(1);
    lines.take_while(|it| it.starts_with("  ")).collect()
}

/// The line of a part that tells of this name as a whole word.
fn line_of<'a>(lines: &[&'a str], name: &str) -> &'a str {
    let is_word = |line: &&&str| line.split([' ', '(', ')', ',']).any(|it| it == name);
    lines.iter().find(is_word).unwrap_or_else(|| panic!("{name} is not in {lines:#?}"))
}

const MLP: &str = "import torch, torch.nn as nn, torch.nn.functional as F, torch.optim as optim\n\
    torch.manual_seed(0)\n\
    net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))\n\
    opt = optim.Adam(net.parameters())\n\
    xs, ys = torch.randn(8, 6), torch.randint(0, 3, (8,))";
const LOOP: &str = "%trace\nlosses = []\nfor epoch in range(3):\n    for xb, yb in [(xs * 1, ys * 1)]:\n        \
    loss = F.cross_entropy(net(xb), yb)\n        opt.zero_grad()\n        loss.backward()\n        opt.step()";
/// With the shapes that PyTorch tells.
const PARAMETERS: [(&str, &str); 4] = [
    ("net.0.weight", "[5, 6]"),
    ("net.0.bias", "[5]"),
    ("net.2.weight", "[3, 5]"),
    ("net.2.bias", "[3]"),
];

#[test]
fn fused_launches_are_shown_as_cuda_c() {
    let define = "import torch\ndef f(x):\n    return (x * 2 + 1).tanh().sum()";
    let calls = "for step in range(2):\n    f(torch.ones(1000000))";
    let text = shown(&[define, "%trace f", calls, "%trace show f --stage code"]);
    let kernel = "extern \"C\" __global__ void launch0_prologue(const ng_i64 n";
    assert!(text.contains(kernel) && text.contains("fmaf("), "{text}");
    let sum = "// [mul add tanh] into sum by reduce.sum";
    assert!(text.contains(sum) && text.contains(": a kernel of its own"), "{text}");
    let wrong = show(&mut Runner::default(), "%trace show --stage ptx").expect_err("no such stage");
    assert!(wrong.contains("stages: raw, optimized, plan, code"), "{wrong}");
}

/// A branch lists its graphs below it, and a loop in it those of its own below theirs.
#[test]
fn branches_and_loops_show_what_they_run() {
    let define = "import torch\nfrom notegrad.jit import trace\n@trace(symbolic=True)\ndef f(x):\n    \
        if x.sum() > 0:\n        while x.sum() < 50:\n            x = x * 2\n    else:\n        x = torch.tanh(x)\n    return x";
    let calls = "for step in range(2):\n    f(torch.ones(3))";
    let text = shown(&[define, calls, "%trace show f"]);
    let mut below: &str = &text;
    for line in [
        "cond(",
        "\n      then: graph(%0: f32[3]) {",
        "while_loop(%0; ",
        "condition=graph(%0: f32[3]) {",
        " = lt(",
        "body=graph(%0: f32[3]) {",
        " = mul(%0, 2",
        "\n      orelse: graph(%0: f32[3]) {",
        "\n        %1 = tanh(%0",
        "\n        return %1",
        "\n      }",
    ] {
        let at = below.find(line).unwrap_or_else(|| panic!("{line} is not in {below}\n{text}"));
        below = &below[at + line.len()..];
    }
}

#[test]
fn a_step_of_a_cell_has_forward_backward_and_update() {
    let text = shown(&[MLP, LOOP, "%trace show"]);
    assert!(text.starts_with("cell 2, loop at line 4 (optimized), 2 calls"), "{text}");
    let (forward, backward, update) =
        (part(&text, "forward"), part(&text, "backward"), part(&text, "update"));
    for (name, shape) in PARAMETERS {
        let parameter = line_of(&forward, name);
        assert!(parameter.contains("= parameter ") && parameter.ends_with(shape), "{parameter}");
        let gradient = line_of(&backward, &format!("{name}.grad"));
        let layer = name.rsplit_once('.').map_or("", |it| it.0);
        let ends = format!("{shape} in {layer}");
        assert!(gradient.contains("= output ") && gradient.ends_with(&ends), "{gradient}");
        let row = line_of(&update, name);
        assert!(row.contains(&format!("from {name}.grad, exp_avg, exp_avg_sq")), "{row}");
    }
    assert_eq!(update.len(), PARAMETERS.len(), "{update:#?}");
    for input in ["xb", "yb"].map(|it| line_of(&forward, it)) {
        assert!(input.contains("= input "), "{input}");
    }
    assert!(line_of(&forward, "loss").contains("= output softmax_cross_entropy"), "{text}");
    for stage in ["raw", "plan"] {
        let text = shown(&[MLP, LOOP, &format!("%trace show --stage {stage}")]);
        let update = part(&text, "update");
        PARAMETERS
            .iter()
            .for_each(|it| assert!(line_of(&update, it.0).contains("fused"), "{text}"));
    }
}

#[test]
fn parts_that_a_cell_takes_first_are_inputs_by_name() {
    let slices = "%trace\nfor epoch in range(2):\n    for i in range(0, 8, 4):\n        xb, yb = xs[i:i + 4], ys[i:i + 4]\n        \
        loss = F.cross_entropy(net(xb), yb)\n        opt.zero_grad()\n        loss.backward()\n        opt.step()";
    let text = shown(&[MLP, slices, "%trace show"]);
    let forward = part(&text, "forward");
    for (name, shape) in [("xb", "[4, 6]"), ("yb", "[4]")] {
        let input = line_of(&forward, name);
        assert!(input.contains("= input ") && input.ends_with(shape), "{text}");
    }
}

/// Each variable is read most directly for the next value of the other.
#[test]
fn variables_are_called_as_what_is_stored_to_them() {
    let define = "import torch\nfrom notegrad.jit import trace\na, b = torch.ones(3), torch.zeros(3)\n@trace\ndef step(x):\n    \
        t = a * 2 + x\n    u = b + 1\n    a.copy_(u)\n    b.copy_(t)\nfor i in range(3):\n    step(torch.ones(3))";
    let update = shown(&[define, "%trace show step"]);
    let update = part(&update, "update");
    let row = |name: &str| update.iter().find(|it| it.contains(&format!("fused {name} :")));
    assert!(row("b").is_some_and(|it| it.contains("from a, x")), "{update:#?}");
    assert!(row("a").is_some_and(|it| it.contains("from b;")), "{update:#?}");
}

#[test]
fn cells_and_their_loops_have_names_to_type() {
    let two =
        "%trace\nfor i in range(2):\n    a = xs * 2\nfor i in range(4):\n    b = xs + a\nprint(i)";
    let mut runner = Runner::default();
    for cell in [MLP, two, LOOP] {
        show(&mut runner, cell).expect("runs");
    }
    let status = show(&mut runner, "%trace status").expect("shows");
    let calls = |name: &str| {
        let line = status.lines().find(|it| it.starts_with(name));
        line.map(|it| it[name.len()..].split_whitespace().next().map(str::to_owned))
    };
    let names = ["cell 2, loop at line 2", "cell 2, loop at line 4", "cell 3, loop at line 4"];
    assert_eq!(names.map(calls), ["2", "4", "2"].map(|it| Some(Some(it.into()))), "{status}");
    let title = |runner: &mut Runner, cell| {
        let text = show(runner, cell)?;
        Ok::<_, String>(
            text.lines().filter(|it| it.starts_with("cell ")).map(str::to_owned).collect(),
        )
    };
    let of = |name: &str, calls| format!("{name} (optimized), {calls} calls");
    let starts = |found: Vec<String>, wanted: &[String]| {
        found.len() == wanted.len() && found.iter().zip(wanted).all(|it| it.0.starts_with(it.1))
    };
    let all = title(&mut runner, "%trace show 2").expect("shows");
    assert!(starts(all, &[of(names[0], 2), of(names[1], 4)]));
    let one = title(&mut runner, "%trace show 2:4").expect("shows");
    assert!(starts(one, &[of(names[1], 4)]));
    let latest = title(&mut runner, "%trace show").expect("shows");
    assert!(starts(latest, &[of(names[2], 2)]));
    let error = show(&mut runner, "%trace show 9").expect_err("there is no such cell");
    assert!(
        error.contains("nothing was recorded in cell 9; there is `%trace show 2:2`"),
        "{error}"
    );
}

/// What runs without the body is drawn as the calls that ran it: the names of what it leaves, and how many there were.
#[test]
fn runs_without_the_body_are_drawn_as_other_calls() {
    let define = "def step(x, y):\n    opt.zero_grad()\n    loss = F.cross_entropy(net(x), y)\n    loss.backward()\n    \
        opt.step()\n    return loss";
    let calls =
        "opt = torch.optim.Adam(net.parameters())\nfor i in range(20):\n    loss = step(xs, ys)";
    let text = shown(&[MLP, define, "%trace step", calls, "%trace show step"]);
    assert!(text.contains("step (optimized), 20 calls"), "{text}");
    for name in ["net.0.weight.grad", "net.2.bias.grad", "exp_avg_sq"] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

/// Of two sizes that is drawn which most calls had, also where both run without the body.
#[test]
fn the_size_of_most_runs_without_the_body_is_drawn() {
    let define = "def step(x, y):\n    opt.zero_grad()\n    loss = F.cross_entropy(net(x), y)\n    loss.backward()\n    \
        opt.step()\n    return loss";
    let calls = "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(40):\n    loss = step(xs, ys) if i % 4 < 3 \
        else step(xs[:5], ys[:5])";
    let text = shown(&[MLP, define, "%trace step", calls, "%trace show step"]);
    assert!(text.contains("the path of 30 of 40 calls"), "{text}");
    assert!(text.contains("input x : f32[8, 6]"), "{text}");
}

/// Each function runs 20 times; what it does that a run without its body would lose is told with its line.
#[test]
fn status_tells_what_prevents_runs_without_the_body() {
    let define = "import torch\nn, kept = 0, []\n\
        def computes(x):\n    return x * 2\n\
        def reads(x):\n    y = x * 2\n    return y * y.sum().item()\n\
        def prints(x):\n    y = x * 2\n    print('')\n    return y\n\
        def counts(x):\n    global n\n    n += 1\n    return x * len(str(n))\n\
        def keeps(x):\n    y = x * 2\n    kept.append(y)\n    return y";
    let names = "computes, reads, prints, counts, keeps";
    let trace = format!("%trace {}", names.replace(',', ""));
    let calls = format!("for _ in range(20):\n    for f in ({names}):\n        f(torch.ones(3))");
    let status = shown(&[define, &trace, &calls, "%trace status"]);
    let row = |name: &str| {
        let line = status.lines().find(|it| it.starts_with(name));
        line.unwrap_or_else(|| panic!("{name} is not in {status}"))
    };
    assert!(!row("computes").contains("line"), "{status}");
    let told = [
        ("reads", "line 7: the value of a tensor is read here"),
        ("prints", "line 10: print() acts outside of the tensors"),
        ("counts", "line 15: a number that differs from call to call is looked at here"),
        ("keeps", "line 18: this changes a list made outside"),
    ];
    for (name, what) in told {
        assert!(row(name).contains(what), "{name}: {what}\n{status}");
    }
}

/// What prevents a run without the body is told with what can be done about it.
#[test]
fn status_tells_the_way_out() {
    let define = "import torch\nw = torch.ones(3, requires_grad=True)\n\
        xs, seen, seeds = [torch.ones(3) * i for i in range(40)], set(), [0]\n\
        def hands_on(x): return x * w\n\
        def notes(x):\n    seen.add(x.shape[0] + len(seen))\n    return x * 2\n\
        def finds(x): return x * seeds[0]\n\
        def looks(x): return x * 2 if xs[0] is not None else x";
    let calls = "for i in range(40):\n    hands_on(xs[i])\n    seeds = [i] * i + [1]\n    finds(xs[0])\n    notes(torch.ones(3))\n    looks(xs[i])";
    let status =
        shown(&[define, "%trace --always hands_on notes finds looks", calls, "%trace status"]);
    let told = [
        (
            "hands_on",
            "it returns a tensor with a history; call backward() inside, return it.detach(), or call",
        ),
        (
            "notes",
            "line 6: this changes a set made outside; change tensors in place (`x.add_(1)`), return what is new",
        ),
        (
            "finds",
            "it finds a global name or attribute of `finds`, which differs from call to call; pass what it needs",
        ),
        ("looks", "its arguments are other parts of what it finds in each call; pass clones"),
    ];
    for (name, what) in told {
        let row = status.lines().find(|it| it.starts_with(name)).unwrap_or_default();
        assert!(row.contains(what), "{name}: {what}\n{status}");
    }
}

/// A loop whose body is one small op, and a function that is: both are several times as long under a trace.
#[test]
fn status_tells_what_runs_as_it_was_written() {
    let define = "import torch\nx = torch.ones(3)\ndef f(a):\n    return a + x";
    let (calls, steps) =
        ("for at in range(300):\n    y = f(x)", "%trace\nfor at in range(300):\n    y = x + at");
    let status = shown(&[define, "%trace f", calls, steps, "%trace status"]);
    for name in ["f ", "cell 4, loop at line 2"] {
        let row = status.lines().find(|it| it.starts_with(name)).unwrap_or_default();
        assert!(row.contains("runs as written: traced, a call takes"), "{name}\n{status}");
    }
    let steps = steps.replace("%trace", "%trace --always");
    let status = shown(&[define, "%trace f --always", calls, &steps, "%trace status"]);
    assert!(!status.contains("as written"), "{status}");
}

#[test]
fn functions_tell_arguments_by_their_parameters_and_weights_after_they_changed() {
    let define = "from notegrad.jit import trace\n@trace\ndef step(images, labels, *, model, opt):\n    \
        loss = F.cross_entropy(model(images), labels)\n    opt.zero_grad()\n    loss.backward()\n    \
        opt.step()\n    return loss\nfor i in range(3):\n    loss = step(xs, ys, model=net, opt=opt)";
    let changed = "with torch.no_grad():\n    for p in net.parameters():\n        p.mul_(2)";
    let text = shown(&[MLP, define, changed, "%trace show step"]);
    let forward = part(&text, "forward");
    for name in ["images", "labels", "net.0.weight", "net.2.bias"] {
        line_of(&forward, name);
    }
    let update = part(&text, "update");
    PARAMETERS.iter().for_each(|it| assert!(!line_of(&update, it.0).is_empty()));
}

#[test]
fn the_path_of_most_calls_is_shown_under_the_names_of_the_latest() {
    let two_sizes =
        LOOP.replace("[(xs * 1, ys * 1)]", "[(xs, ys), (xs + 1, ys), (xs[:3], ys[:3])]");
    let text = shown(&[MLP, &two_sizes, "%trace show"]);
    assert!(text.contains("the path of 5 of 8 calls"), "{text}");
    let forward = part(&text, "forward");
    assert!(line_of(&forward, "xb").ends_with("[8, 6]"), "{text}");
    assert!(line_of(&part(&text, "update"), "net.0.weight").contains("exp_avg_sq"), "{text}");
}

#[test]
fn running_statistics_are_updates() {
    let model = "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))\n\
        opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\nxs = torch.randn(8, 1, 4, 4)";
    let text = shown(&[MLP, model, LOOP, "%trace show"]);
    let update = part(&text, "update");
    for name in ["net.1.running_mean", "net.1.running_var", "net.1.num_batches_tracked"] {
        assert!(line_of(&update, name).contains("fused"), "{text}");
    }
    let row = line_of(&update, "net.0.weight");
    assert!(row.contains("from net.0.weight.grad, momentum_buffer"), "{row}");
}

#[test]
fn tensors_without_modules_have_their_own_names() {
    let make =
        "w = torch.zeros(6, 3, requires_grad=True)\nlayers = [torch.zeros(3, requires_grad=True)]";
    let train = "%trace\nfor i in range(3):\n    loss = F.cross_entropy(xs @ w + layers[0], ys)\n    loss.backward()\n    \
        with torch.no_grad():\n        w -= 0.1 * w.grad\n        layers[0] -= 0.1 * layers[0].grad\n    \
        w.grad, layers[0].grad = None, None";
    let text = shown(&[MLP, make, train, "%trace show 3"]);
    let update = part(&text, "update");
    for name in ["w", "layers[0]"] {
        assert!(line_of(&update, name).contains("from its gradient"), "{text}");
    }
}

#[test]
fn many_updates_are_counted() {
    let model = "net = nn.Sequential(*[nn.Linear(6, 6) for i in range(20)])\nopt = optim.SGD(net.parameters(), lr=0.1)\nys = ys + 3";
    let text = shown(&[MLP, model, LOOP, "%trace show"]);
    let update = part(&text, "update");
    // 20 layers with a weight and a bias each.
    let rest = update.last().expect("there are rows");
    assert!(update.len() == 25 && rest.contains("... 16 more"), "{update:#?}");
}
