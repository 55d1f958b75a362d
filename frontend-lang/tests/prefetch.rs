//! Loaders with workers: threads gather batches ahead, and end with the loop, however it ends.

use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{CellError, Options, Session};

/// Threads are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

const SETUP: &str = "
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(2000).reshape(1000, 2), torch.arange(1000))
def loader(batch_size=10, workers=2, **more):
    return DataLoader(data, batch_size, num_workers=workers, **more)
";

struct Cells {
    session: Session,
    record: Rc<Record>,
}

impl Cells {
    fn new() -> Cells {
        let record = Rc::new(Record::default());
        let session = Session::new(Box::new(Recording { record: record.clone() }));
        let mut cells = Cells { session, record };
        assert!(cells.run(SETUP).1.is_none());
        cells
    }

    fn run(&mut self, cell: &str) -> (String, Option<CellError>) {
        self.record.stdout.borrow_mut().clear();
        let error = self.session.run_cell(cell, &Options::default()).error;
        (self.record.stdout.borrow().clone(), error)
    }
}

/// Threads of loaders that live now.
fn threads() -> usize {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let name = |it: std::fs::DirEntry| std::fs::read_to_string(it.path().join("comm")).ok();
    tasks.flatten().filter_map(name).filter(|it| it.trim() == "rows").count()
}

/// Whether there come to be so many: a thread names itself some time after it began, and is listed for a while after it ended.
fn come_to(count: usize) -> bool {
    let begun = Instant::now();
    while threads() != count {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn batches_are_gathered_by_threads_that_end_with_the_loop() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let mut cells = Cells::new();
    let (printed, error) = cells.run(
        "
total = 0
for x, y in loader(workers=3):
    total += len(y)
print(total)
batches = iter(loader())
first = next(batches)
print(first[1].tolist()[:3])",
    );
    assert!(error.is_none());
    assert_eq!(printed, "1000\n[0, 1, 2]\n");
    if cfg!(target_os = "linux") {
        assert!(come_to(2), "the second loop is under way");
    }
    cells.run("del batches");
    assert!(come_to(0), "dropped");
    cells.run("for x, y in loader():\n    break");
    assert!(come_to(0), "left early");
    let (_, error) = cells.run("for x, y in loader():\n    1 / 0");
    assert!(error.is_some_and(|it| it.ename == "ZeroDivisionError"));
    cells.run("del x, y");
    assert!(come_to(0), "after an error");
}

#[test]
fn an_interrupt_ends_the_loop() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let mut cells = Cells::new();
    let interrupt = cells.session.interrupt_handle();
    let other = std::thread::spawn(move || {
        while threads() == 0 {
            std::thread::yield_now();
        }
        interrupt.store(true, Ordering::Relaxed);
    });
    let (_, error) = cells.run("while True:\n    for x, y in loader(1):\n        pass");
    other.join().expect("no panic");
    assert!(error.is_some_and(|it| it.ename == "KeyboardInterrupt"));
    let (printed, _) = cells.run("print(len([1 for batch in loader(100)]))");
    assert_eq!(printed, "10\n");
    assert!(come_to(0));
}

#[test]
fn errors_come_with_their_batch() {
    let _alone = ALONE.lock().unwrap_or_else(|it| it.into_inner());
    let cell = |workers: usize| {
        format!(
            "
from torch.utils.data import SequentialSampler
seen = []
try:
    for x, y in DataLoader(data, 400, sampler=SequentialSampler(range(1300)), num_workers={workers}):
        seen.append(len(y))
except IndexError as error:
    print(seen, error)"
        )
    };
    let mut cells = Cells::new();
    let (expected, error) = cells.run(&cell(0));
    assert!(error.is_none());
    assert!(expected.starts_with("[400, 400] ") && expected.contains("1000"), "{expected}");
    assert_eq!(cells.run(&cell(2)).0, expected);
    assert!(come_to(0));
}

#[test]
fn the_check_knows_the_shapes_of_shuffled_batches() {
    let mut cells = Cells::new();
    let cell = "
net = torch.nn.Linear(3, 1)
for x, y in loader(shuffle=True):
    net(x.float())";
    let options = Options { check: Level::Early, ..Options::default() };
    let error = cells.session.run_cell(cell, &options).error.expect("a wrong shape");
    assert!(error.plain.contains("Found before the cell ran"), "{}", error.plain);
}
