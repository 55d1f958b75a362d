//! The estimate of a cell's memory, beside what the run of that cell then takes from the allocator.

use std::rc::Rc;
use std::sync::Mutex;

use engine::cpu::memory::HOST;
use frontend_lang::check::Level;
use frontend_lang::check::memory::Memory;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// The allocator counts for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

struct Cells {
    session: Session,
    record: Rc<Record>,
}

impl Cells {
    fn new(before: &[&str]) -> Cells {
        let record = Rc::new(Record::default());
        let session = Session::new(Box::new(Recording { record: record.clone() }));
        let mut cells = Cells { session, record };
        for cell in before {
            cells.run(cell);
        }
        cells
    }

    /// Runs a cell: the estimate, the true peak, and the line of the estimate.
    fn run(&mut self, cell: &str) -> (Memory, usize, usize) {
        HOST.reset_peak();
        let options = Options { check: Level::Early, ..Options::default() };
        let error = self.session.run_cell(cell, &options).error;
        assert!(error.is_none(), "{cell}\n{}", error.map(|it| it.plain).unwrap_or_default());
        let memory = self.session.cx.check_cost.memory;
        let line = memory.place.map_or(0, |it| {
            let source = self.session.cx.sources.get(it.source).expect("a cell");
            source.line_column(it.start).0
        });
        (memory, HOST.stats().peak, line)
    }

    fn shown(&self) -> String {
        self.record.notices.borrow().join("\n")
    }
}

/// The estimate of the last cell is within a quarter of the truth; gives its line.
#[track_caller]
fn close(cells: &[&str], whole: bool) -> usize {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let (last, before) = cells.split_last().expect("a cell");
    let mut cells = Cells::new(before);
    let (memory, truth, line) = cells.run(last);
    let (estimate, truth) = (memory.peak as f64, truth as f64);
    assert!(truth > 4e6, "too little to compare: {truth}");
    assert!((estimate / truth - 1.0).abs() < 0.25, "estimated {estimate}, was {truth}");
    assert_eq!(memory.whole, whole, "whole");
    assert_eq!(cells.shown(), "", "no warning");
    line
}

const MLP: &str = "
import torch
from torch import nn
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
opt = torch.optim.Adam(model.parameters())
x = torch.randn(1000, 784)
y = torch.zeros(1000).long()
";

const STEP: &str = "
loss = nn.functional.cross_entropy(model(x), y)
opt.zero_grad()
loss.backward()
opt.step()
";

#[test]
fn a_training_step_of_an_mlp() {
    close(&[MLP, STEP], true);
    close(&[MLP, STEP, STEP], true);
    close(&[&format!("{MLP}{STEP}")], true);
}

#[test]
fn many_training_steps() {
    let indented = STEP.replace('\n', "\n    ");
    close(&[MLP, &format!("for step in range(30):{indented}")], true);
}

#[test]
fn a_training_step_of_a_cnn() {
    let net = "
import torch
from torch import nn
net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 7 * 7, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
x = torch.randn(64, 1, 28, 28)
y = torch.zeros(64).long()";
    let step = "
loss = nn.functional.cross_entropy(net(x), y)
opt.zero_grad()
loss.backward()
opt.step()";
    close(&[net, step], true);
    close(&[net, "with torch.no_grad():\n    out = net(x)"], true);
}

#[test]
fn a_list_that_grows() {
    let import = "import torch";
    let append = "xs = []\nfor i in range(2000):\n    xs.append(torch.randn(2_500))\nn = len(xs)";
    assert_eq!(close(&[import, append], true), 3);
    close(&[import, "xs = [torch.randn(40_000) for i in range(50)]"], true);
    close(&[import, "xs = [torch.randn(2_500) for i in range(1500)]"], true);
    close(
        &[import, "total = torch.zeros(1000, 1000)\nfor i in range(800):\n    total = total + 1"],
        true,
    );
}

#[test]
fn what_the_tape_keeps_counts() {
    let import = "import torch\nw = torch.randn(4_000, requires_grad=True)";
    let history = "
total = torch.zeros(())
for i in range(2000):
    total = total + (w * 2).exp().sum()";
    close(&[import, history], true);
}

#[test]
fn what_cannot_be_told_is_at_least() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let import = "import torch\nw = torch.randn(4_000, requires_grad=True)";
    for cell in [
        "total = torch.zeros(())\nfor i in range(3000):\n    total = total + w.sum()\ntotal.backward()",
        "def f():\n    xs = []\n    for i in range(5000):\n        xs.append(w * 2)\n    return xs\nxs = f()",
        "if w.sum().item() != 0:\n    xs = [w + 1 for i in range(10)]",
    ] {
        let (memory, truth, _) = Cells::new(&[import]).run(cell);
        assert!(!memory.whole && memory.peak <= truth + truth / 4, "{cell}: {memory:?}, {truth}");
    }
}

#[test]
fn what_is_bound_anew_or_deleted_is_free() {
    let big = "import torch\nx = torch.randn(1000, 2000)";
    let line = close(&[big, "x = x * 2\nx = x * 2\nx = x * 2"], true);
    assert_eq!(line, 1);
    close(&[big, "x = torch.randn(1000, 2000)"], true);
    close(&[big, "del x\nx = torch.randn(1000, 2000)\ny = x + 1"], true);
    close(
        &[big, "def f(a):\n    b = a + 1\n    return b.sum()\nfor i in range(3):\n    f(x)"],
        true,
    );
}

#[test]
fn a_cell_that_is_too_large_is_warned_of() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let mut cells = Cells::new(&["import torch"]);
    let before = HOST.stats().live;
    HOST.set_budget(before + 50_000_000);
    let cell = "xs = []\nfor i in range(100):\n    xs.append(torch.randn(250_000))";
    let options = Options { check: Level::Early, ..Options::default() };
    let error = cells.session.run_cell(cell, &options).error;
    let fits = "ys = []\nfor i in range(3):\n    ys.append(torch.randn(250_000))";
    cells.session.run_cell("xs = None", &Options::default());
    let shown = cells.shown();
    cells.record.notices.borrow_mut().clear();
    let fine = cells.session.run_cell(fits, &options).error;
    let meant = "zs = [torch.randn(250_000) for i in range(100)]  # ok: memory::cell";
    cells.session.run_cell(meant, &options);
    HOST.set_budget(0);
    assert!(error.is_some_and(|it| it.plain.contains("MemoryError")), "it is too large");
    assert!(shown.contains("warning[memory::cell]: this cell needs 1"), "{shown}");
    assert!(shown.contains("3 |     xs.append(torch.randn(250_000))"), "{shown}");
    assert!(shown.contains("the limit for tensors is"), "{shown}");
    assert!(fine.is_none());
    assert_eq!(cells.shown(), "");
}

#[test]
fn what_is_not_certain_is_not_warned_of() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let mut cells = Cells::new(&["import torch\nxs = [torch.randn(250_000) for i in range(30)]"]);
    let before = HOST.stats().live;
    HOST.set_budget(before + 12_000_000);
    let options = Options { check: Level::Early, ..Options::default() };
    // How much each of these frees, the check does not know.
    for cell in [
        "xs = None\nys = [torch.randn(250_000) for i in range(20)]",
        "ys.clear()\nxs = [torch.randn(250_000) for i in range(20)]",
        "if torch.randn(()).item() < 100:\n    xs = None\nys = [torch.randn(250_000) for i in range(30)]",
    ] {
        let error = cells.session.run_cell(cell, &options).error;
        assert!(error.is_none(), "{}", error.map(|it| it.plain).unwrap_or_default());
    }
    HOST.set_budget(0);
    assert_eq!(cells.shown(), "");
}
