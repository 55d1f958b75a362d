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

/// The names of the warnings that a cell shows.
fn warnings(cells: &[&str]) -> Vec<String> {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let options = Options { check: Level::Early, ..Options::default() };
    for cell in cells {
        let error = session.run_cell(cell, &options).error;
        assert!(error.is_none(), "{}", error.map(|it| it.plain).unwrap_or_default());
    }
    assert_eq!(*record.stderr.borrow(), "");
    assert_eq!(record.displays.borrow().len(), 0);
    let shown = record.notices.borrow();
    let name = |it: &String| it.split(['[', ']']).nth(1).unwrap_or_default().to_owned();
    shown.iter().map(name).collect()
}

#[test]
fn warns_of_silent_mistakes_once() {
    let forgotten = "
for i in range(3):
    loss = F.cross_entropy(good(x), y)
    loss.backward()
    opt.step()
";
    assert_eq!(warnings(&[NET, forgotten, forgotten]), ["zero-grad"]);
    let right =
        forgotten.replace("    loss.backward()", "    opt.zero_grad()\n    loss.backward()");
    assert_eq!(warnings(&[NET, &right]), [] as [&str; 0]);
    let by_hand = "
w = torch.ones(4, 2, requires_grad=True)
for i in range(3):
    (x @ w).sum().backward()
    with torch.no_grad():
        w -= w.grad * 0.1
        w.grad.zero_()
";
    assert_eq!(warnings(&[NET, by_hand]), [] as [&str; 0]);
    let accumulated = "
for i in range(3):
    F.cross_entropy(good(x), y).backward()
opt.step()
";
    assert_eq!(warnings(&[NET, accumulated]), [] as [&str; 0]);
    // Two models in turns: gradients of the one that are never used do not matter.
    let turns = "
D, G = torch.nn.Linear(2, 1), torch.nn.Linear(2, 2)
od, og = torch.optim.Adam(D.parameters()), torch.optim.Adam(G.parameters())
for i in range(3):
    D.zero_grad()
    D(torch.ones(4, 2)).mean().backward()
    fake = G(torch.ones(4, 2))
    D(fake.detach()).mean().backward()
    od.step()
    G.zero_grad()
    D(fake).mean().backward()
    og.step()
";
    assert_eq!(warnings(&[NET, turns]), [] as [&str; 0]);
    assert_eq!(warnings(&[NET, &turns.replace("    D.zero_grad()\n", "")]), ["zero-grad"]);
    assert_eq!(warnings(&[NET, &turns.replace("    G.zero_grad()\n", "")]), ["zero-grad"]);
    let in_function = "
def train():
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    for i in range(3):
        w.sum().backward()
        opt.step()
train()
";
    assert_eq!(warnings(&[NET, in_function]), ["zero-grad"]);
    let softmax = "loss = F.cross_entropy(torch.softmax(good(x), dim=1), y)";
    assert_eq!(warnings(&[NET, softmax]), ["softmax-loss"]);
    let broadcast = "loss = ((torch.ones(5, 1) - torch.ones(5)) ** 2).mean()";
    assert_eq!(warnings(&[NET, broadcast]), ["broadcast-loss"]);
    assert_eq!(warnings(&[NET, &format!("{broadcast}  # ok: broadcast-loss")]), [] as [&str; 0]);
    for loss in [
        "torch.nn.MSELoss()(torch.ones(5, 1), torch.ones(5))",
        "F.mse_loss(torch.ones(5), target=torch.ones(5, 1))",
        "F.l1_loss(torch.ones(5, 1), torch.ones(5))",
        "torch.nn.HuberLoss()(torch.ones(5, 1), torch.ones(5))",
        "F.smooth_l1_loss(torch.ones(5, 1), torch.ones(5))",
    ] {
        assert_eq!(warnings(&[NET, &format!("loss = {loss}")]), ["broadcast-loss"], "{loss}");
        let same = loss.replace("5, 1", "5");
        assert_eq!(warnings(&[NET, &format!("loss = {same}")]), [] as [&str; 0], "{same}");
    }
    assert_eq!(warnings(&[NET, "x.relu()\nprint(1)"]), ["unused-result"]);
    assert_eq!(warnings(&[NET, "x + 1\nprint(1)"]), ["unused-result"]);
    assert_eq!(warnings(&[NET, "x.relu_()\nx.clamp_(0, 1)\nprint(1)"]), [] as [&str; 0]);
    assert_eq!(warnings(&["total = 0.1 + 0.2\nprint(total == 0.3)"]), ["float-eq"]);
    assert_eq!(warnings(&["lr = 0.1\nprint(lr == 0.1, lr == 0.2)"]), [] as [&str; 0]);
    for exact in
        ["1.0 == inf", "inf == inf", "-inf == inf", "1e308 != inf", "0.0 == 5e-324", "nan == 1.0"]
    {
        let cell = format!("inf, nan = float('inf'), float('nan')\nprint({exact})");
        assert_eq!(warnings(&[&cell]), [] as [&str; 0], "{exact}");
    }
}

#[test]
fn warns_of_modules_that_are_not_registered() {
    let net = "
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = LAYERS
        self.head = nn.Linear(2, 1)
";
    let used = "opt = torch.optim.SGD(Net().parameters(), lr=0.1)";
    for (layers, name) in [
        ("[nn.Linear(2, 2)]", Some("unregistered")),
        ("{'a': nn.Linear(2, 2)}", Some("unregistered")),
        ("(nn.ReLU(), nn.Linear(2, 2))", Some("unregistered")),
        ("[nn.Parameter(torch.ones(2))]", Some("unregistered")),
        ("[nn.Linear(2, 2)]  # ok: unregistered", None),
        ("nn.ModuleList([nn.Linear(2, 2)])", None),
        ("[nn.ReLU(), 2, 'text']", None),
        ("[nn.Linear(2, 2).requires_grad_(False)]", None),
        ("[nn.Linear(2, 2)]; self.all = nn.Sequential(*self.layers)", None),
    ] {
        let expected: Vec<&str> = name.into_iter().collect();
        assert_eq!(warnings(&[&net.replace("LAYERS", layers), used]), expected, "{layers}");
    }
    let of_megengine = net.replace("nn.Module", "M.Module").replace("LAYERS", "[nn.Linear(2, 2)]");
    let of_megengine = format!("import megengine.module as M{of_megengine}");
    let none: [&str; 0] = [];
    assert_eq!(warnings(&[&of_megengine, "print(len(list(Net().parameters())))"]), none);
}

#[test]
fn warns_of_lists_that_get_shorter_in_their_loop() {
    for (cell, name) in [
        ("for x in items:\n    if x == 2: items.remove(x)", Some("remove-in-loop")),
        ("for x in items:\n    items.pop(0)", Some("remove-in-loop")),
        ("for i, x in enumerate(items):\n    if x == 2: del items[i]", Some("remove-in-loop")),
        ("for x in list(items):\n    items.remove(x)", None),
        ("for x in items[:]:\n    items.remove(x)", None),
        ("for x in items:\n    if x == 2:\n        items.remove(x)\n        break", None),
        ("for x in items:\n    if x == 3: items.remove(x)", None),
        ("for x in reversed(items):\n    items.remove(x)", None),
        // What comes later is not passed over.
        ("for x in items:\n    if x == 1: items.remove(3)", None),
        ("for x in items:\n    if len(items) < 9: items.append(x)", None),
        ("while items:\n    items.pop(0)", None),
        ("other = [1, 2]\nfor x in items:\n    if other: other.pop(0)", None),
    ] {
        let expected: Vec<&str> = name.into_iter().collect();
        assert_eq!(warnings(&["items = [1, 2, 2, 3]", cell]), expected, "{cell}");
    }
}

#[test]
fn warns_of_steps_without_gradients() {
    let none = [] as [&str; 0];
    let forgotten = "
for i in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(good(x), y)
    opt.step()
";
    assert_eq!(warnings(&[NET, forgotten]), ["step-backward"]);
    let late = forgotten.replace("    opt.step()", "    opt.step()\n    loss.backward()");
    assert_eq!(warnings(&[NET, &late]), ["step-backward"]);
    let right = forgotten.replace("    opt.step()", "    loss.backward()\n    opt.step()");
    let meant = forgotten.replace("opt.step()", "opt.step()  # ok: step-backward");
    for fine in [
        &right,
        &meant,
        // Schedules are shown like this.
        "for i in range(3):\n    opt.step()",
        "F.cross_entropy(good(x), y).backward()\nopt.step()\nopt.step()",
        // Gradients by hand.
        "loss = F.cross_entropy(good(x), y)\nfor p in good.parameters():\n    p.grad = torch.ones_like(p)\nopt.step()",
        "grads = torch.autograd.grad(F.cross_entropy(good(x), y), list(good.parameters()))\nfor p, g in zip(good.parameters(), grads):\n    p.grad = g\nopt.step()",
    ] {
        assert_eq!(warnings(&[NET, fine]), none, "{fine}");
    }
    // Both in cells of their own.
    let backward = "opt.zero_grad()\nloss = F.cross_entropy(good(x), y)\nloss.backward()";
    assert_eq!(warnings(&[NET, backward, "opt.step()"]), none);
    let loss = "opt.zero_grad()\nloss = F.cross_entropy(good(x), y)";
    assert_eq!(warnings(&[NET, loss, "loss.backward()\nopt.step()"]), none);
}

#[test]
fn warns_of_sums_that_keep_graphs() {
    let none = [] as [&str; 0];
    let kept = "
total = 0.0
for i in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(good(x), y)
    loss.backward()
    opt.step()
    total += loss
";
    assert_eq!(warnings(&[NET, kept]), ["kept-graph"]);
    for fine in ["loss.item()", "loss.detach()", "float(loss)", "loss  # ok: kept-graph"] {
        let cell = kept.replace("+= loss", &format!("+= {fine}"));
        assert_eq!(warnings(&[NET, &cell]), none, "{fine}");
    }
    let without =
        kept.replace("    total += loss", "    with torch.no_grad():\n        total += loss");
    assert_eq!(warnings(&[NET, &without]), none);
    // A sum from which a walk goes back.
    let sum = "opt.zero_grad()\ntotal = 0.0\nfor i in range(3):\n    total += F.cross_entropy(good(x), y)\ntotal.backward()\nopt.step()";
    assert_eq!(warnings(&[NET, sum]), none);
    let retained = kept.replace("backward()", "backward(retain_graph=True)");
    assert_eq!(warnings(&[NET, &retained]), none);
}

#[test]
fn warns_of_accuracy_in_training_mode() {
    let none = [] as [&str; 0];
    let net = "
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.5))
bn = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
plain = torch.nn.Linear(4, 3)
def train(net):
    net.train()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    F.cross_entropy(net(x), y).backward()
    opt.step()
@torch.no_grad()
def accuracy(net):
    return (net(x).argmax(1) == y).float().mean()
";
    for it in ["net", "bn"] {
        let (train, measure) = (format!("train({it})"), format!("a = accuracy({it})"));
        assert_eq!(warnings(&[NET, net, &train, &measure]), ["eval-mode"], "{it}");
        let both = format!("{train}\n{measure}");
        assert_eq!(warnings(&[NET, net, &both]), ["eval-mode"], "{it}");
        let max = format!("with torch.no_grad():\n    p = {it}(x).max(1)[1]\nprint(p.eq(y).sum())");
        assert_eq!(warnings(&[NET, net, &train, &max]), ["eval-mode"], "{it}");
        for fine in [
            format!("{it}.eval()\n{measure}"),
            // Who says so wants it.
            format!("{it}.train()\n{measure}"),
            // A generator stays in training mode while it makes images.
            format!("with torch.no_grad():\n    fake = {it}(x)\nprint(fake.mean())"),
            "a = accuracy(plain)".to_owned(),
        ] {
            assert_eq!(warnings(&[NET, net, &train, &fine]), none, "{fine}");
        }
        // Nothing was trained.
        assert_eq!(warnings(&[NET, net, &measure]), none, "{it}");
    }
}

#[test]
fn lints_speak_of_losses_only() {
    let given = "import torch\nimport torch.nn.functional as F\nm = torch.nn.Linear(4, 1)\nc = torch.nn.Linear(4, 3)\nxs, x, y = torch.ones(8, 4), torch.ones(8), torch.ones(8)\nt = torch.zeros(8).long()";
    for meant in [
        "d = x.unsqueeze(1) - x\nprint((d ** 2).mean())",
        "d = ((x[:, None] - y) ** 2).mean()",
        "d = (xs.sum(1, keepdim=True) - x).pow(2)\nprint(d.mean())",
        "d = (m(xs) - x).pow(2).min(1)",
        "d = x.reshape(-1, 1) - x",
        "same = (t[:, None] == t).float().mean()",
        "a = xs @ xs.T.softmax(-1)\nloss = F.cross_entropy(a, t)",
        "loss = F.cross_entropy(c(xs), c(xs).softmax(1).detach())",
        "loss = F.nll_loss(F.log_softmax(c(xs), 1), t)",
        "p = torch.sigmoid(m(xs))\nloss = F.binary_cross_entropy_with_logits(m(xs), (p > 0.5).float())",
        "torch.rand(3)\nprint(1)",
    ] {
        assert_eq!(warnings(&[given, meant]), [] as [&str; 0], "{meant}");
    }
    for (mistake, name) in [
        ("loss = ((m(xs) - y) ** 2).mean()", "broadcast-loss"),
        ("loss = (y - m(xs)).abs().sum()", "broadcast-loss"),
        ("acc = ((m(xs) > 0.5).float() == y).float().mean()", "broadcast-loss"),
        ("acc = (m(xs).sigmoid().round() == y).sum()", "broadcast-loss"),
        ("loss = torch.nn.BCEWithLogitsLoss()(torch.sigmoid(m(xs)), y[:, None])", "sigmoid-loss"),
        ("loss = F.nll_loss(F.softmax(c(xs), 1), t)", "nll-loss"),
        ("loss = F.cross_entropy(input=c(xs).softmax(1), target=t)", "softmax-loss"),
        ("loss = F.cross_entropy(c(xs).softmax(-1).view(-1, 3), t)", "softmax-loss"),
        ("with torch.no_grad():\n    loss = F.cross_entropy(c(xs).softmax(-1), t)", "softmax-loss"),
    ] {
        assert_eq!(warnings(&[given, mistake]), [name], "{mistake}");
    }
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

/// Runs cells under `%check on`: what was printed, and the whole text of the last error.
fn under_check(cells: &[&str]) -> (String, String) {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let options = Options { check: Level::On, ..Options::default() };
    let mut error = String::new();
    for cell in cells {
        error = session.run_cell(cell, &options).error.map(|it| it.plain).unwrap_or_default();
    }
    (record.stdout.borrow().clone(), error)
}

#[test]
fn what_is_quick_runs_up_to_its_mistake() {
    let (printed, error) = under_check(&["import math\nprint('start')\nmissing", "print(math.pi)"]);
    assert_eq!((printed.as_str(), error.as_str()), ("start\n3.141592653589793\n", ""));
    let (printed, error) = under_check(&["print('start')\nmissing"]);
    assert_eq!(printed, "start\n");
    assert!(error.ends_with("NameError: name 'missing' is not defined"), "{error}");
}

#[test]
fn what_is_long_does_not_run_into_its_mistake() {
    let train = "for i in range(100_000_000):\n    x = i * i\nprint('done')\nmissing";
    let product = "import torch\nx = torch.zeros(20_000, 20_000)\nx = x @ x\nmissing";
    let pause = "import time\ntime.sleep(3000)\nmissing";
    for (cell, words) in [(train, "s until then"), (product, "s until then"), (pause, "50 minutes")]
    {
        let (printed, error) = under_check(&[cell]);
        assert_eq!(printed, "", "{cell}");
        assert!(error.contains("for it would have run about ") && error.contains(words), "{error}");
        assert!(error.contains("`%check off` runs cells unchecked"), "{error}");
    }
}

#[test]
fn a_name_that_a_failed_cell_would_have_bound_says_so() {
    let failed = "import nobody_has_this\nimport math as m";
    let (_, error) = under_check(&[failed, "m.pi"]);
    assert!(error.contains("name 'm' is not defined"), "{error}");
    let words =
        "In[1], line 2 would have bound it, but that cell ended before, with ModuleNotFoundError";
    assert!(error.contains(words), "{error}");
    let refused = "for i in range(10**9):\n    pass\nscale = 3\nmissing";
    let (_, error) = under_check(&[refused, "print(scale)"]);
    let words = "In[1], line 3 would have bound it, but that cell did not run: the check found";
    assert!(error.contains(words), "{error}");
    let (_, error) = under_check(&["def f(:\n    pass\nscale = 3", "print(scale)"]);
    assert!(error.contains("its text is no program"), "{error}");
    let (_, error) = under_check(&[failed, "m = 3", "del m", "m"]);
    assert!(!error.contains("would have bound"), "{error}");
}

#[test]
fn is_silent_about_what_an_unknown_may_have_done() {
    let grads = "import torch, random\nw = torch.ones(3, requires_grad=True)\n";
    let drawn = "g = torch.Generator().manual_seed(1)\n(w * torch.rand(3, generator=g)).sum().backward()\nprint(w.grad.shape)";
    runs(&[grads, drawn], "torch.Size([3])");
    runs(&[grads, "w[w > 0].sum().backward()\nprint(w.grad.shape)"], "torch.Size([3])");
    runs(
        &[
            grads,
            "w.requires_grad_(random.random() < 2)\n(w * 2).sum().backward()\nprint(w.grad[0])",
        ],
        "tensor(2.)",
    );
    let chosen = "import random\nbins = [[], []]\nrandom.choice(bins).append(1)\nprint([it for it in bins if it][0])";
    runs(&[chosen], "[1]");
    runs(&["import torch\na = []\nb = a\nb += torch.ones(1).tolist()\nprint(a[0])"], "1.0");
    let keys = "import random\nseen = []\nmax([1, 2], key=lambda x: (seen.append(x), random.random())[1])\nprint(seen[1])";
    runs(&[keys], "2");
    runs(&["log = []\nit = map(log.append, [1])", "next(it)\nprint(log[0])"], "1");
    let caught = "import random\ntry:\n    int(random.choice(['x', 'y']))\nexcept ValueError:\n    found = 1\nprint(found)";
    runs(&[caught], "1");
}

#[test]
fn is_silent_about_what_rounds_left_out_may_have_done() {
    runs(&["print([i for i in range(5000) if i == 3000][0])"], "3000");
    runs(
        &["xs = [None] * 5000\nfor i in range(5000):\n    xs[i] = i\nprint(xs[3000] + 1)"],
        "3001",
    );
    let late = "kept = []\ndef late(i):\n    kept.append(i)\nfor i in range(9000):\n    if i == 5000:\n        late(i)\nprint(kept[0])";
    runs(&[late], "5000");
    let flips = "class Flip:\n    on = True\n    def step(self):\n        self.on = not self.on\nf = Flip()\nfor i in range(5001):\n    f.step()\nif f.on:\n    missing\nprint('off')";
    runs(&[flips], "off");
}

#[test]
fn a_leaf_that_is_a_view_stays_a_leaf() {
    let leaf = "import torch\nw = torch.ones(3).detach().requires_grad_()";
    let step = "w.data -= 1\n(w * 2).sum().backward()\nprint(w.grad, w)";
    let expected = "tensor([2., 2., 2.]) tensor([0., 0., 0.], requires_grad=True)";
    runs(&[leaf, step], expected);
    runs(&["import torch", &format!("{leaf}\n{step}")], expected);
}
