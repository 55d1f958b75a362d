//! A session that keeps nothing needs no more memory, however many cells and turns of a loop it runs.
#![cfg(target_os = "linux")]

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// Bytes by which the memory of the process may differ: what the allocator keeps for itself.
const SLACK: usize = 8 << 20;

/// Resident bytes of this process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state of the process");
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).expect("its memory");
    1024 * line.trim().trim_end_matches("kB").trim().parse::<usize>().expect("a number")
}

const CELLS: &[&str] = &[
    "x = 3",
    "y = [n * x for n in range(10)]\ny",
    "def f(a, b=2):\n    return a + b\nf(x)",
    "class A:\n    def g(self):\n        return self\nA().g()",
    "import torch\nt = torch.ones(3, requires_grad=True)\n(t * 2).sum().backward()\nt.grad",
    "1 / 0",
    "f(x, colour=1)",
    "{'a': x, 'b': (x, f'{x:.2f}')}",
    "for n in range(20):\n    z = str(n) + 'a'",
    "x +",
];

#[test]
fn many_cells_and_long_loops_leave_memory_flat() {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let mut run = |count: usize| {
        for cell in CELLS.iter().cycle().take(count) {
            session.run_cell(cell, &Options::default());
            record.stdout.borrow_mut().clear();
            record.displays.borrow_mut().clear();
        }
    };
    run(10_000);
    let before = resident();
    run(90_000);
    let after = resident();
    assert!(after < before + SLACK, "{before} bytes after 10,000 cells, {after} after 100,000");
    let long = "total = 0\nfor n in range(10_000_000):\n    total += n % 7\n    kept = [n]";
    assert!(session.run_cell(long, &Options::default()).error.is_none());
    let looped = resident();
    assert!(looped < after + SLACK, "{after} bytes before the loop, {looped} after it");
}
