//! The check before running: what it finds, what it stays silent about, and that it changes nothing.

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// Runs cells, the last of them checked: what it printed, the error, and whether the check found it.
fn last(cells: &[&str]) -> (String, Option<String>, bool) {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let (last, before) = cells.split_last().expect("a cell");
    for cell in before {
        let error = session.run_cell(cell, &Options::default()).error;
        assert!(error.is_none(), "{cell}\n{}", error.map(|it| it.plain).unwrap_or_default());
    }
    record.stdout.borrow_mut().clear();
    let options = Options { check: Level::Early, ..Options::default() };
    let error = session.run_cell(last, &options).error;
    let found = error.as_ref().is_some_and(|it| it.plain.contains("Found before the cell ran"));
    let error = error.map(|it| format!("{}: {}", it.ename, it.evalue));
    (record.stdout.borrow().clone(), error, found)
}

#[track_caller]
fn finds(cells: &[&str], expected: &str) {
    let (printed, error, found) = last(cells);
    let error = error.unwrap_or_else(|| panic!("no error; printed {printed}"));
    assert!(found, "not found before running: {error}");
    assert!(error.contains(expected), "{error}");
    assert_eq!(printed, "", "something ran");
}

#[track_caller]
fn runs(cells: &[&str], expected: &str) {
    let (printed, error, _) = last(cells);
    assert_eq!(error, None, "{cells:?}");
    assert_eq!(printed.trim_end(), expected);
}

/// Fails only when it runs.
#[track_caller]
fn fails_late(cells: &[&str], expected: &str) {
    let (_, error, found) = last(cells);
    assert!(error.as_ref().is_some_and(|it| it.contains(expected)), "{error:?}");
    assert!(!found, "found before running: {error:?}");
}

const NET: &str = "
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(64, 10)
    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)
model = Net()
good = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(good.parameters(), lr=0.1)
x = torch.randn(16, 4)
y = torch.randint(0, 2, (16,))
log = []
";

#[test]
fn finds_a_wrong_shape_in_a_class_of_an_earlier_cell() {
    finds(&[NET, "print('start')\nmodel(torch.zeros(32, 784))"], "ShapeError");
}

#[test]
fn knows_how_elements_lie() {
    finds(&[NET, "print('start')\nx.t().view(-1)"], ".reshape(...)");
    finds(&[NET, "z = x.t()", "print('start')\nz.view(-1)"], ".reshape(...)");
    let turned = "z = x.t()";
    let asked = "if z.is_contiguous() or z[:, ::2].stride() != (1, 8):\n    x.reshape(3)\nz.contiguous().view(-1)\nz.reshape(-1).view(4, -1)";
    runs(&[NET, turned, &format!("{asked}\nprint('start')")], "start");
    runs(&[NET, &format!("{turned}\n{asked}\nprint('start')")], "start");
}

#[test]
fn finds_names_and_attributes() {
    finds(&["print(1)\nundefined_name"], "name 'undefined_name' is not defined");
    finds(&["x = [1]", "print(1)\nx.push(2)"], "'list' object has no attribute 'push'");
    finds(&["import math\nprint(1)\nmath.squirt(2)"], "squirt");
    finds(&["def f(a):\n    return a.b\nprint(1)\nf(3)"], "no attribute 'b'");
    finds(&["print(1)\nint('a')"], "invalid literal");
    finds(&["d = {'a': 1}", "print(1)\nd['b']"], "KeyError");
    finds(&["print(1)\nlen(3, 4)"], "TypeError");
}

#[test]
fn finds_a_mistake_after_training() {
    let train = "
for epoch in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(good(x), y)
    loss.backward()
    opt.step()
    log.append(loss.item())
    print(epoch)
";
    finds(&[NET, &format!("{train}\nprint(lossess)")], "lossess");
    finds(
        &[NET, &train.replace("range(3)", "range(100000)").replace("log.append", "logg.append")],
        "logg",
    );
    finds(
        &[NET, &format!("{}\nprint(lossess)", train.replace("range(3)", "range(1000)"))],
        "lossess",
    );
    finds(&[NET, &format!("{train}\ngood(torch.zeros(3, 5))")], "ShapeError");
    finds(&[NET, &train.replace("good(x), y", "good(x), y.float().reshape(4, 4)")], "Error");
    runs(&[NET, &format!("{train}\nprint(len(log))")], "0\n1\n2\n3");
}

#[test]
fn changes_nothing() {
    let setup = "
import torch, random
from torch import nn
torch.manual_seed(1)
random.seed(1)
class Counter:
    total = 0
    seen = []
    def __init__(self): self.n = 0
    def up(self):
        self.n += 1
        Counter.seen.append(self.n)
def make():
    count = 0
    def up():
        nonlocal count
        count += 1
        return count
    return up
up = make()
c = Counter()
items = [1, [2]]
d = {'a': [1]}
w = torch.ones(2, requires_grad=True)
plain = torch.zeros(3)
n = 0
def remember(x, seen=[]):
    seen.append(x)
    return len(seen)
";
    let change = "
c.up(); up(); items[1].append(3); items.append(4); d['b'] = 1; d['a'].append(2); n += 1; remember(1)
(w * 2).sum().backward()
plain += 1
plain[0] = 5
r = torch.rand(2)
random.random()
missing
";
    let show = "print(c.n, Counter.seen, up(), items, d, w.grad, plain.tolist(), n, remember(1), torch.rand(1).item(), random.random())";
    let fresh = last(&[setup, show]).0;
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let options = Options { check: Level::Early, ..Options::default() };
    assert!(session.run_cell(setup, &options).error.is_none());
    let error = session.run_cell(change, &options).error.expect("an error");
    assert!(error.plain.contains("Found before"), "{}", error.plain);
    assert!(session.run_cell(show, &options).error.is_none());
    assert_eq!(*record.stdout.borrow(), fresh);
}

#[test]
fn generators_of_a_check_are_not_closed_outside() {
    let early = "
def early():
    try:
        yield 1
        yield 2
    finally:
        print('closed')
";
    runs(&[early, "for x in early():\n    break\nprint('end')"], "closed\nend");
    runs(&[early, "it = early()\nprint(next(it))\nkept = [it]\nkept.append(kept)"], "1");
    let later = &[early, "it = early()\nprint(next(it))", "del it\nprint('end')"];
    runs(later, "closed\nend");
}

#[test]
fn is_silent_when_not_certain() {
    fails_late(&["import random\nif random.random() < 2:\n    missing"], "missing");
    fails_late(&["import torch\nx = torch.ones(3)\nif x.sum() > 2:\n    missing"], "missing");
    fails_late(&["raise ValueError('on purpose')"], "on purpose");
    fails_late(&["assert 1 == 2"], "AssertionError");
    runs(&["try:\n    missing\nexcept NameError:\n    print('caught')"], "caught");
    runs(
        &["import torch\nx = torch.arange(6)\nprint(x[x > 2].reshape(3, 1).shape)"],
        "torch.Size([3, 1])",
    );
    runs(
        &[
            "import torch\nx = torch.ones(1, 2)\nfor i in range(2000):\n    x = torch.cat([x, x[:1]])\nprint(x.reshape(2001, 2).shape)",
        ],
        "torch.Size([2001, 2])",
    );
    runs(
        &[
            "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * 3).sum()",
            "loss.backward()\nv = w.grad + 1\nprint(v.tolist())",
        ],
        "[4.0, 4.0]",
    );
    runs(&["it = iter([1, 2, 3])", "print(next(it), next(it))"], "1 2");
    runs(&["total = 0\nn = 0\nwhile total < 100000:\n    total += 1\nprint(total)"], "100000");
    runs(&["import time\nt = time.time()\nprint(f'{time.time() - t:.0f}')"], "0");
}

#[test]
fn the_last_round_of_a_long_loop_is_checked() {
    let data =
        "import torch\ndata = torch.zeros(10_000, 8)\nw = torch.zeros(8, 3)\nseen = []\nn = 0";
    let batches = "print('start')\nfor i in range(0, 10_000, 64):\n    xb = data[i:i + 64]\n    y = (xb @ w).reshape(64, 3)";
    finds(&[data, batches], "ShapeError");
    let numbered = "for step, i in enumerate(range(0, 10_000, 64)):\n    xb = data[i:i + 64]\n    xb.reshape(64, 8)";
    finds(&[data, numbered], "ShapeError");
    runs(&[data, &batches.replace("64, 3", "-1, 3")], "start");
    // What comes after the loop is checked as what comes before.
    finds(&[data, &format!("{}\ny @ w", batches.replace("64, 3", "-1, 3"))], "ShapeError");
    let nested = "for epoch in range(50):\n    for i in range(0, 10_000, 50):\n        y = data[i:i + 50] @ w\n    if epoch % 10 == 0:\n        print(epoch)\ny @ w";
    finds(&[data, nested], "ShapeError");
    let printed = "total = 0\nfor i in range(5000):\n    total += (data[i] @ w).sum().item()\n    if i % 1000 == 999:\n        print(f'{total:.2f}')\ndata @ data";
    finds(&[data, printed], "ShapeError");
    let under =
        "with torch.no_grad():\n    for i in range(5000):\n        y = data[i] @ w\n    y @ data";
    finds(&[data, under], "ShapeError");
}

#[test]
fn what_a_long_loop_changes_is_not_known() {
    let data = "
import torch
rows, log, state, n = [], {'n': 0}, [0], 0
class Count:
    def __init__(self): self.n, self.items = 0, []
    def up(self):
        self.n += 1
        self.items.append(torch.zeros(2))
c = Count()
alias = [rows, (rows, 1)]
";
    let long = "for i in range(5000):\n    ";
    let cases = [
        ("n += 1", "if n < 5000:\n    missing\nprint(n)", "5000"),
        ("n += 1", "print([1, 2, 3][n - 4999])", "2"),
        (
            "rows.append(torch.zeros(2))",
            "print(torch.stack(rows).reshape(5000, 2).shape)",
            "torch.Size([5000, 2])",
        ),
        ("rows.append(i)", "print(alias[0][4999], alias[1][0][4998], len(rows))", "4999 4998 5000"),
        ("log['n'] += 1", "torch.zeros(5000).reshape(log['n'], 1)\nprint(1)", "1"),
        ("log[i] = i", "print(log[4000])", "4000"),
        ("state[0] += 1", "print([0] * 2 if state[0] < 5000 else 7)", "7"),
        (
            "c.up()",
            "torch.zeros(5000).reshape(c.n, 1)\nprint(torch.stack(c.items).reshape(5000, 2).shape[0])",
            "5000",
        ),
        ("if i == 4000: rows.append(1)", "print(rows[0])", "1"),
        ("if i == 4000: n = 7", "print([1][n - 7])", "1"),
        ("if i == 4000: c.up()", "print(c.items[0].shape[0])", "2"),
        ("if i == 4000: break", "print([1][i - 4000])", "1"),
        ("n = n + 1 if i > 4000 else n", "print([1][n - 999])", "1"),
        ("x = torch.zeros(max(3, i - 4000))", "x.reshape(999, 1)\nprint(1)", "1"),
    ];
    for (body, after, expected) in cases {
        runs(&[data, &format!("{long}{body}\n{after}")], expected);
    }
    // Through a function, whose loops are cut without such care.
    let inside = "def f():\n    n = 0\n    for i in range(50000):\n        n += 1\n    return n\nif f() < 50000:\n    missing\nprint(1)";
    runs(&[inside], "1");
}

#[test]
fn a_refused_cell_leaves_settings_and_files_as_they_were() {
    let folder = std::env::temp_dir();
    let before = "import os, random\nimport numpy as np, torch\ntorch.set_num_threads(2)\ntorch.manual_seed(7)\nrandom.seed(7)\n\
                  np.random.seed(7)\nplace = os.getcwd() if hasattr(os, 'getcwd') else ''";
    let refused = "torch.set_num_threads(1)\ntorch.set_printoptions(precision=1)\n\
                   torch.manual_seed(1)\nrandom.seed(1)\nnp.random.seed(1)\ntorch.set_grad_enabled(False)\n\
                   print('heard')\ntorch.rand(3), random.random()\ntorch.save(torch.ones(2), NAME)\nplace = 'elsewhere'\n\
                   nobody_has_bound_this";
    let shows = "print(torch.get_num_threads(), torch.is_grad_enabled(), place == 'elsewhere')\n\
                 print(torch.rand(2), random.random(), np.random.rand(), np.array([1.23456]))";
    let file = folder.join(format!("notegrad-refused-{}", std::process::id()));
    let refused = refused.replace("NAME", &format!("{:?}", file.to_string_lossy()));
    let mut printed = Vec::new();
    for with_refused in [false, true] {
        let record = Rc::new(Record::default());
        let mut session = Session::new(Box::new(Recording { record: record.clone() }));
        let options = Options { check: Level::Early, ..Options::default() };
        let error = session.run_cell(before, &options).error;
        assert!(error.is_none(), "{}", error.map(|it| it.plain).unwrap_or_default());
        if with_refused {
            let error = session.run_cell(&refused, &options).error.expect("a mistake");
            assert!(error.plain.contains("Found before the cell ran"), "{}", error.plain);
        }
        let error = session.run_cell(shows, &options).error;
        assert!(error.is_none(), "{}", error.map(|it| it.plain).unwrap_or_default());
        printed.push(record.stdout.borrow().clone());
    }
    assert_eq!(printed[0], printed[1]);
    assert!(!file.exists());
    engine::cpu::pool::set_threads(std::thread::available_parallelism().map_or(1, |it| it.get()));
}

#[test]
fn random_numbers_begin_by_the_clock() {
    let first = |clock: f64| {
        let draw = move || {
            let record = Rc::new(Record::default());
            record.clock.set(clock);
            let mut session = Session::new(Box::new(Recording { record: record.clone() }));
            let options = Options { check: Level::Early, ..Options::default() };
            session.run_cell("import random\nprint(random.random())", &options);
            record.stdout.borrow().clone()
        };
        // A thread has a generator of its own, as a process has.
        std::thread::spawn(draw).join().unwrap()
    };
    assert_ne!(first(1.5), first(2.5));
    finds(&["import torch", "import random\ntorch.ones(2) + torch.ones(3)"], "shapes [2] and [3]");
}

#[test]
fn a_parameter_that_is_replaced_by_a_tensor_is_found() {
    let model = "import torch\nfrom torch import nn\nm = nn.Linear(2, 2)";
    finds(&[model, "print(1)\nm.weight = torch.zeros(2, 2)"], "as parameter 'weight'");
    finds(&[model, "print(1)\nm.bias = torch.zeros(2) * 2"], "write `nn.Parameter(...)`");
    runs(
        &[model, "m.weight = nn.Parameter(torch.zeros(2, 2))\nprint(m(torch.ones(1, 2)).shape)"],
        "torch.Size([1, 2])",
    );
    let begun = "print(1)\nclass A(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(1, 1)\nA()";
    finds(&[model, begun], "cannot assign module before Module.__init__() call");
}
