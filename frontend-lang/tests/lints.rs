//! Silent mistakes that the check before running warns of.

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// Two models, one of which does not fit together, and what trains the other.
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
