//! What errors look like, and what a session remembers.

use std::rc::Rc;

use expect_test::{Expect, expect};
use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Completeness, Options, Session};
use frontend_lang::source::SourceId;

fn session() -> (Session, Rc<Record>) {
    let record = Rc::new(Record::default());
    (Session::new(Box::new(Recording { record: record.clone() })), record)
}

fn check(cells: &[&str], expected: Expect) {
    let (mut session, _) = session();
    let mut shown = String::new();
    for cell in cells {
        if let Some(error) = session.run_cell(cell, &Options::default()).error {
            shown = format!("{}\n{}\n", error.ename, error.plain);
        }
    }
    expected.assert_eq(&shown);
}

#[test]
fn points_into_every_cell_on_the_way() {
    check(
        &["def half(x):\n    return x / 0", "y = 3\nhalf(y)"],
        expect![[r#"
            ZeroDivisionError
             --> In[2]:2:1
              |
            2 | half(y)
              | ^^^^^^^
             --> In[1] in half:2:12
              |
            2 |     return x / 0
              |            ^^^^^
            ZeroDivisionError: division by zero
        "#]],
    );
}

#[test]
fn suggests_near_names() {
    check(
        &["total = 1\nprint(totl)"],
        expect![[r#"
            NameError
             --> In[1]:2:7
              |
            2 | print(totl)
              |       ^^^^
            NameError: name 'totl' is not defined. Did you mean: 'total'?
        "#]],
    );
}

#[test]
fn names_what_is_out_and_the_way_out() {
    check(
        &["class A(B, C): pass"],
        expect![[r#"
            SyntaxError
            error[not-in-language]: a second base class is not in this language
             --> In[1]:1:12
              |
            1 | class A(B, C): pass
              |            ^
              |
              = help: keep one base class, and hold an object of the other in an attribute
        "#]],
    );
}

#[test]
fn says_what_to_write_instead() {
    let cases = [
        ("open('a.png', 'rb')", "there are no bytes in this language; text is read with mode 'r'"),
        ("import glob; glob.glob(3)", "expected str, bytes or os.PathLike object, not int"),
        ("import cupy", "import numpy or torch"),
        ("from torch.profiler import profile", "`%prun` shows what takes how long"),
        ("'a'.encode()", "there are no bytes; ord()"),
        ("import torch.optim as o\no.adam([])", "Did you mean 'torch.optim.adam.Adam'?"),
        ("s = 'it's'", "help: put the text into double quotes: `\"it's...\"`"),
        ("print('it's')", "help: put the text into double quotes"),
        ("def f(x)\n    return x", "help: write `:` after it"),
        ("def f():\n    retrun 1", "help: did you mean `return`?"),
        ("if 1:\n    pass\nesle:\n    pass", "help: did you mean `else`?"),
        ("else: pass", "`else` needs an `if`, `for`, `while` or `try` right above"),
        ("print(f\"{x\")", "this '{' of the f-string is never closed"),
        ("x = 'don't'", "help: put the text into double quotes: `\"don't...\"`"),
        ("s = r'it's' + 'x'", "help: put the text into double quotes: `\"it's...\"`"),
        ("print 'it's fine'", "help: put the text into double quotes"),
        ("print('a'f'{1}')\nx = (", "'(' of line 2 was never closed"),
        ("form math import sqrt", "help: did you mean `from`?"),
        ("from os improt path", "help: did you mean `import`?"),
        ("from torch.nn improt Linear", "help: did you mean `import`?"),
        ("fro i in range(3):\n    pass", "help: did you mean `for`?"),
        ("fro (a, b) in z:\n    pass", "help: did you mean `for`?"),
        ("whlie True:\n    pass", "help: did you mean `while`?"),
        ("If x:\n    pass", "help: did you mean `if`?"),
        ("if x => 3:\n    pass", "help: write `>=`"),
        ("2x = 3", "a name does not begin with a digit"),
        ("x + 1 = 2", "help: write `x + 1 == ...` to compare"),
        ("None = 3", "`None` is a constant"),
        ("x = 0x", "this number is not complete"),
        ("x = 08", "help: write `8`"),
        ("5 = x", "help: write `x = 5` to assign, or `5 == x` to compare"),
        ("if 1:\n\tx = 1\n        y = 2", "some lines are indented by tabs, others by spaces"),
        (
            "import pandas",
            "No module named 'pandas'. It is not in this language: notegrad.read_csv",
        ),
        ("import nothing_like_it", "Built-in modules (IPython, abc, bisect, cmath, collections"),
        ("x = 1\nif x = 5:\n    pass", "help: write `if x == 5:`"),
        ("print 'a', 3", "help: write `print('a', 3)`"),
        ("x = [1, (2, 3\ny = 4\nz = 5", "'(' of line 1 was never closed"),
        ("x = [1, 2)\n", "')' does not close the '[' of line 1"),
        ("if x && y:\n    pass", "help: write `and`"),
        ("i = 0\ni++\n", "help: write `+= 1`"),
        ("n = 0\ndef f():\n    n += 1\nf()", "begin the function with `global n`"),
        (
            "def f():\n    k = 0\n    def g():\n        k += 1\n    g()\nf()",
            "begin the function with `nonlocal k`",
        ),
        ("for x in [1].copy:\n    pass", "Parentheses are missing; call it: copy()"),
        ("'a'.upper[0]", "Parentheses are missing; call it: upper()"),
        (
            "import torch\nwith torch.no_grad:\n    pass",
            "Parentheses are missing; call it: no_grad()",
        ),
        (
            "import torch\ntorch.optim.SGD(torch.nn.Linear(1, 1).parameters, 0.1)",
            "call it: parameters()",
        ),
        (
            "import torch\nw = torch.ones(2, requires_grad=True)\nl = (w * w).sum()\nl.backward()\nl.backward()",
            "compute the loss anew",
        ),
        (
            "import torch\ntorch.tensor([1j]).floor()",
            "help: take real numbers of them: `.real`, `.imag` or `.abs()`",
        ),
        (
            "import torch\ntorch.tensor([1j]).max()",
            "help: take real numbers of them: `.real`, `.imag` or `.abs()`",
        ),
        (
            "import torch\ntorch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.cfloat)",
            "help: convert the other operand, `.to(torch.complex64)`",
        ),
    ];
    for (cell, expected) in cases {
        let (mut session, _) = session();
        let error = session.run_cell(cell, &Options::default()).error;
        let shown = error.map(|it| it.plain).unwrap_or_default();
        assert!(shown.contains(expected), "{cell}\n{shown}");
        assert!(shown.matches("error[").count() <= 1, "{cell}\n{shown}");
    }
}

#[test]
fn keeps_names_and_the_last_value() {
    let (mut session, record) = session();
    let run = |session: &mut Session, code: &str| session.run_cell(code, &Options::default());
    assert!(run(&mut session, "x = 20").value.is_none());
    assert_eq!(run(&mut session, "x + 1").value.and_then(|it| it.as_int()), Some(21));
    assert_eq!(run(&mut session, "_ * 2").value.and_then(|it| it.as_int()), Some(42));
    assert!(run(&mut session, "x;").value.is_none());
    run(&mut session, "print(x)");
    assert_eq!(*record.stdout.borrow(), "20\n");
    let names = session.names();
    assert!(names.iter().any(|it| it.name == "x" && it.kind == "int" && it.summary == "20"));
}

#[test]
fn code_of_an_old_cell_is_still_quoted() {
    let (mut session, _) = session();
    let run = |session: &mut Session, code: &str| session.run_cell(code, &Options::default());
    run(&mut session, "def old(x):\n    return x + None  # here");
    for _ in 0..3000 {
        run(&mut session, "y = 1");
    }
    let error = run(&mut session, "old(1)").error.expect("an error");
    assert!(error.plain.contains("return x + None  # here"), "{}", error.plain);
    assert!(error.plain.contains("In[1]"), "{}", error.plain);
    let shown = run(&mut session, "import inspect\ninspect.getsource(old)").value.expect("a text");
    assert!(shown.as_str().is_some_and(|it| it.contains("# here")));
    assert!(session.cx.sources.get(SourceId(100)).is_none(), "an old cell is forgotten");
}

#[test]
fn stops_endless_programs() {
    let (mut session, _) = session();
    let flag = session.interrupt_handle();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let result = session.run_cell("while True: pass", &Options::default());
    stopper.join().unwrap();
    assert_eq!(result.error.unwrap().ename, "KeyboardInterrupt");
}

#[test]
fn every_interrupt_ends_what_runs_then() {
    let (mut session, record) = session();
    let flag = session.interrupt_handle();
    let code = "kept = 1
try:
    while True: pass
except KeyboardInterrupt:
    kept = 2
    print('first')
    try:
        while True: pass
    finally:
        kept = 3
        print('second')
        while True: kept += 1";
    let (is_over, over) = std::sync::mpsc::channel::<()>();
    let stopper = std::thread::spawn(move || {
        let mut count = 0;
        while over.recv_timeout(std::time::Duration::from_millis(250)).is_err() {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
            count += 1;
        }
        count
    });
    let result = session.run_cell(code, &Options::default());
    is_over.send(()).unwrap();
    assert_eq!(stopper.join().unwrap(), 3, "each interrupt ends one loop");
    assert_eq!(result.error.unwrap().ename, "KeyboardInterrupt");
    assert_eq!(*record.stdout.borrow(), "first\nsecond\n");
    let kept = session.run_cell("kept > 3", &Options::default()).value;
    assert!(kept.is_some_and(|it| it.is(&frontend_lang::value::Value::Bool(true))));
}

#[test]
fn stops_natives_over_long_values() {
    let (mut session, _) = session();
    let setup = "import json, random, re, torch\ns = 'Ab c\\n' * 4_000_000\nx = list(range(3_000_000))\nt = torch.zeros(3_000_000)\nrandom.shuffle(x)\ny = [str(it) for it in x[:1_000_000]]\na, b, p, q = [0], [0], (0,), (0,)\nfor i in range(60): a, b, p, q = [a, a], [b, b], (p, p), (q, q)";
    let options = Options::default();
    assert!(session.run_cell(setup, &options).error.is_none());
    for code in [
        "s.title().title()",
        "s.translate({65: 'b'})",
        "s.replace('b', 'cd')",
        "s.split('b')",
        "s.splitlines()",
        "s.count('b') + s.count('A') + s.count('c') + s.count('b') + s.count('A') + s.count('c')",
        "s.replace(' ', '').replace('\\n', '').isalpha()",
        "repr(s)",
        "re.split('b', s)",
        "json.dumps(s)",
        "sorted(x)",
        "y.sort()\ny.sort(key=len)",
        "[x[:] == x[:] for i in range(9)]",
        "random.shuffle(x)",
        "t.tolist() + t.tolist()",
        "print(*x)",
        "a == b",
        "a in [b]",
        "sorted([a, b])",
        "hash(p)",
        "p < q",
        "{p: 1}.get(q)",
        "import math\nmath.gcd(*[it * 2 for it in x])",
        "z = [*x, *x, *x, *x, *x, *x, *x, *x, *x]",
        "d = dict.fromkeys(x)\nd = {**d, **d, **d}",
    ] {
        let flag = session.interrupt_handle();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(15));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let result = session.run_cell(code, &options);
        stopper.join().unwrap();
        assert_eq!(result.error.map(|it| it.ename).as_deref(), Some("KeyboardInterrupt"), "{code}");
    }
    // What was being sorted is still all there.
    let kept = session.run_cell("sum(x) - sum(range(3_000_000))", &options).value;
    assert_eq!(kept.and_then(|it| it.as_int()), Some(0));
}

#[test]
fn an_argument_points_at_its_parameter() {
    let (mut session, _) = session();
    let code = "import torch\ndef f(x: f32[2, 3],\n      w: f32[3, 4]):\n    return x @ w\nf(torch.ones(2, 3), torch.ones(4, 3))";
    let error = session.run_cell(code, &Options::default()).error.unwrap();
    assert!(error.plain.contains("In[1] in f:3:7"), "{}", error.plain);
    for (code, words) in [
        ("x = null", "write `None`"),
        ("x = true", "write `True`"),
        ("torch.sparse", "tensors are dense"),
    ] {
        let error = session.run_cell(code, &Options::default()).error.unwrap();
        assert!(error.plain.contains(words), "{}", error.plain);
    }
    let error = session.run_cell("opt", &Options::default()).error.unwrap();
    assert!(!error.plain.contains("Did you mean"), "{}", error.plain);
}

#[test]
fn one_interrupt_ends_all_endless_finalizers() {
    let (mut session, _) = session();
    let code = "class A:\n    def __del__(self):\n        while True: pass\na = [A(), A(), A()]\na.clear()";
    let flag = session.interrupt_handle();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    session.run_cell(code, &Options::default());
    stopper.join().unwrap();
}

#[test]
fn survives_deep_recursion_of_every_kind() {
    let (mut session, _) = session();
    for code in [
        "def f(): f()\nf()",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "class B:\n    def __eq__(self, o): return self == o\nB() == B()",
        "sorted([1, 2], key=(g := lambda x: sorted([x, 2], key=g)))",
    ] {
        let error = session.run_cell(code, &Options::default()).error.unwrap();
        assert_eq!(error.ename, "RecursionError", "{code}");
    }
    let nested = "l = []\nfor i in range(200000): l = [l]\ndel l\nclass N: pass\nn = None\nfor i in range(200000):\n    m = N(); m.next = n; n = m\ndel n, m";
    assert!(session.run_cell(nested, &Options::default()).error.is_none());
    let text = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    assert!(session.run_cell(&text, &Options::default()).error.is_some());
}

#[test]
fn knows_when_more_lines_are_needed() {
    let (session, _) = session();
    assert_eq!(session.is_complete("x = 1"), Completeness::Complete);
    let more = Completeness::Incomplete { indent: "    ".into() };
    assert_eq!(session.is_complete("for i in range(3):"), more);
    assert!(matches!(session.is_complete("f(1,"), Completeness::Incomplete { .. }));
    assert_eq!(session.is_complete("x = = 2"), Completeness::Invalid);
}

#[test]
fn comparing_lists_that_hold_themselves_points_at_the_comparison() {
    check(
        &[
            "a = []\na.append(a)\nb = []\nb.append(b)",
            "def f():\n    if a == b:\n        pass\nf()",
        ],
        expect![[r#"
            RecursionError
             --> In[2]:4:1
              |
            4 | f()
              | ^^^
             --> In[2] in f:2:8
              |
            2 |     if a == b:
              |        ^^^^^^
            RecursionError: maximum recursion depth exceeded in comparison
        "#]],
    );
}

/// The last line of the error that the last cell ends with, and its next step.
fn told(cells: &[&str], check: Level) -> (String, String) {
    let (mut session, _) = session();
    let options = Options { check, ..Options::default() };
    let mut plain = String::new();
    for cell in cells {
        let error = session.run_cell(cell, &options).error;
        plain = error.map(|it| it.plain).unwrap_or_default();
    }
    let found = plain.find("\nFound before the cell ran");
    plain.truncate(found.unwrap_or(plain.len()));
    let line = |begins: &str| plain.lines().rfind(|it| it.starts_with(begins)).map(str::to_owned);
    let help = line("help: ").unwrap_or_default();
    let lines: Vec<&str> = plain.lines().collect();
    let at = lines.iter().position(|it| it.starts_with("help: ")).unwrap_or(lines.len());
    (lines[..at].last().copied().unwrap_or_default().to_owned(), help)
}

/// What PyTorch or CPython says, and the next step; the same from the check and from the run.
#[track_caller]
fn tells(cells: &[&str], error: &str, help: &str) {
    for level in [Level::On, Level::Off] {
        let (last, next) = told(cells, level);
        assert!(last.contains(error), "{level:?}: {last}");
        assert!(next.contains(help), "{level:?}: {next}");
    }
}

#[test]
fn a_method_that_was_not_called_is_named() {
    let given = "import torch\nloss, x = torch.tensor(1.5), torch.ones(3)\ntotal = 0.0";
    for (cell, error, help) in [
        ("f'{loss.item:.3f}'", "unsupported format string passed to", "call it, `loss.item()`"),
        ("total += loss.item", "unsupported operand type(s) for +=", "call it, `loss.item()`"),
        ("loss.item + 1", "unsupported operand type(s) for +", "call it, `loss.item()`"),
        ("x.mean > 3", "'>' not supported between instances", "call it, `x.mean()`"),
        ("-x.mean", "bad operand type for unary -", "call it, `x.mean()`"),
        ("x.size[0]", "object is not subscriptable", "call it, `x.size()`"),
    ] {
        tells(&[given, cell], error, help);
    }
    // What is no method is not said to be one.
    assert_eq!(told(&[given, "x.shape + 1"], Level::Off).1, "");
}

#[test]
fn a_method_without_self_is_shown() {
    let net = "class Net:\n    def forward(x, y=1):\n        return x";
    check(
        &[net, "Net().forward(1, 2)"],
        expect![[r#"
            TypeError
             --> In[2]:1:1
              |
            1 | Net().forward(1, 2)
              | ^^^^^^^^^^^^^^^^^^^
              |
             ::: In[1]:2:5
              |
            2 |     def forward(x, y=1):
              |     -------------------- `self` is missing here
            TypeError: Net.forward() takes from 1 to 2 positional arguments but 3 were given
            help: a method gets its object first: write `def forward(self, x, y):`
        "#]],
    );
    let plain = "class A:\n    def f(self, x):\n        pass\nA().f(1, 2)";
    assert_eq!(told(&[plain], Level::Off).1, "");
    let function = "def f():\n    pass\nf(1)";
    assert_eq!(told(&[function], Level::Off).1, "");
}

#[test]
fn a_function_without_return_is_shown_across_cells() {
    let net = "
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        y = x * 2
net = Net()
def half(x):
    x / 2
def sign(x):
    if x > 0:
        return 1
def nothing():
    return None";
    let none = "'NoneType' object has no attribute 'sum'";
    let help = "`forward` has no `return`, so its result is None";
    tells(&[net, "out = net(torch.ones(2))", "loss = out.sum()"], none, help);
    tells(&[net, "net(torch.ones(2)).sum()"], none, help);
    let sum = "unsupported operand type(s) for +: 'NoneType' and 'int'";
    tells(&[net, "half(3) + 1"], sum, "`half` has no `return`");
    tells(&[net, "a = half(3)\na + 1"], sum, "`half` has no `return`");
    tells(&[net, "sign(-3) + 1"], sum, "`sign` came to its end without a `return`");
    let list = "xs = [1]\nxs = xs.append(2)\nxs.append(3)";
    tells(&[list], "'NoneType' object has no attribute 'append'", "`append()` changes its object");
    // None that is given on purpose is nobody's mistake.
    assert_eq!(told(&[net, "nothing() + 1"], Level::Off).1, "");
    assert_eq!(told(&[net, "x = None\nx + 1"], Level::Off).1, "");
}

#[test]
fn a_missing_gradient_says_why() {
    let given = "import torch\nw = torch.ones(3, requires_grad=True)\nm = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(m.parameters(), lr=0.1)";
    let no_operand = "unsupported operand type(s) for *: 'float' and 'NoneType'";
    tells(&[given, "0.1 * w.grad"], no_operand, "no `backward()` has reached `w`");
    let cleared = "m(torch.ones(2, 3)).sum().backward()\nopt.zero_grad()";
    let no_norm = "'NoneType' object has no attribute 'norm'";
    tells(
        &[given, cleared, "m.weight.grad.norm()"],
        no_norm,
        "since it was cleared (`zero_grad()`)",
    );
    tells(
        &[given, "x = torch.ones(2)\n0.1 * x.grad"],
        no_operand,
        "make it with `requires_grad=True`",
    );
    let later = "y = w * 2\ny.sum().backward()\n0.1 * y.grad";
    tells(&[given, later], no_operand, "call `y.retain_grad()` before `backward()`");
}

#[test]
fn several_elements_where_one_number_is_needed() {
    let given = "import torch\nx = torch.ones(3)";
    let help = "it has 3 elements, and one number is needed: `.all()` or `.any()`";
    let ambiguous = "RuntimeError: Boolean value of Tensor with more than one value is ambiguous";
    tells(&[given, "if x > 0:\n    pass"], ambiguous, help);
    tells(&[given, "x > 0 and x < 2"], ambiguous, help);
    let format = "TypeError: unsupported format string passed to Tensor.__format__";
    tells(&[given, "f'{x:.2f}'"], format, help);
    let convert = "ValueError: only one element tensors can be converted to Python scalars";
    tells(&[given, "float(x)"], convert, help);
    tells(&[given, "int(x)"], convert, help);
    let item = "RuntimeError: a Tensor with 3 elements cannot be converted to Scalar";
    tells(&[given, "x.item()"], item, "pick an element");
}

#[test]
fn shapes_that_cannot_be_are_explained() {
    let given = "import torch\nx = torch.zeros(4, 6)\nnet = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU())";
    tells(&[given, "x.view(-1, -1)"], "only one dimension can be inferred", "");
    tells(&[given, "x.reshape(2, -1, -1)"], "only one dimension can be inferred", "");
    let channels = "the kernels take 1 channel, and the images have 3";
    let images = "net(torch.zeros(2, 3, 28, 28))";
    tells(
        &[given, images],
        channels,
        "`in_channels=3`, or make the images grey: `x.mean(1, keepdim=True)`",
    );
    tells(
        &[given, "net(torch.zeros(2, 28, 28, 1))"],
        "the images have 28",
        "`x.permute(0, 3, 1, 2)`",
    );
    let (mut session, _) = session();
    session.run_cell(given, &Options::default());
    let plain = session.run_cell(images, &Options::default()).error.unwrap().plain;
    let layer = "net.0 is Conv2d(in_channels=1, out_channels=8, groups=1)";
    assert!(plain.contains(layer), "{plain}");
}

#[test]
fn options_of_optimisers_are_suggested() {
    let cell = "import torch\nw = torch.ones(1, requires_grad=True)\ntorch.optim.SGD([w], lr=0.1, momentun=0.9)";
    let error =
        "SGD.__init__() got an unexpected keyword argument 'momentun'. Did you mean: 'momentum'?";
    tells(&[cell], error, "");
    let switch = cell.replace("momentun=0.9", "forech=True");
    tells(&[&switch], "Did you mean: 'foreach'?", "");
}

#[test]
fn a_base_that_was_not_initialised_is_named() {
    check(
        &[
            "class P:\n    def __init__(self):\n        self.x = 1\nclass Q(P):\n    def __init__(self):\n        self.y = 2",
            "Q().x",
        ],
        expect![[r#"
            AttributeError
             --> In[2]:1:1
              |
            1 | Q().x
              | ^^^^^
            AttributeError: 'Q' object has no attribute 'x'. Q.__init__ does not call super().__init__(), so what P.__init__ sets is missing
        "#]],
    );
}

#[test]
fn a_repeated_cell_points_into_itself() {
    let (mut session, _) = session();
    let options = Options { repeat: Some(3), ..Options::default() };
    assert!(session.run_cell("x = [n for n in range(3)]\nx.pop()", &options).error.is_none());
    assert!(session.global("x").is_none());
    let error = session.run_cell("y = 1\nunheard + y", &options).error.unwrap();
    expect![[r#"
         --> In[2]:2:1
          |
        2 | unheard + y
          | ^^^^^^^
        NameError: name 'unheard' is not defined"#]]
    .assert_eq(&error.plain);
}

#[test]
fn magics_in_odd_places_are_errors_of_grammar() {
    let cells = [
        "f(a: 1}:\n, ], x, ?)",
        "x = 1 +?\n/y",
        "def f(: %\n??",
        "(1: %\n!!ls",
        "for x in (: !\n%%time",
        "f(x: 1}:\n; ?",
    ];
    for cell in cells {
        let mut session = Session::new(Box::new(Recording::default()));
        let error = session.run_cell(cell, &Options::default()).error.expect(cell);
        assert_eq!(error.ename, "SyntaxError", "{cell}");
    }
}
