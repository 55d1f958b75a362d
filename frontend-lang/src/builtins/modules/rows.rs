//! `torch.utils.data.rows`: batches of rows of tensors, gathered at once, and by threads of their own before they are needed.
//!
//! Only this runs beside the program: tensors can be shared with threads, values of the language cannot. The order is that of the questions.
//!
//! **Invariant:** a thread ends when its `Rows` stops or goes; a batch that fails is `None`, and whoever asked finds out why.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::sync::{Condvar, Mutex, MutexGuard};
use engine::{Attr, Shape, Tensor};

use crate::cx::Mode;
use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "torch.utils.data.rows",
    doc: "Batches of rows of tensors.",
    members: &[Member::Types(&[&ROWS])],
    aliases: &[],
};

/// The type.
static ROWS: NativeType = NativeType {
    module: "torch.utils.data.rows",
    new: Some(function(
        "Rows",
        "cls, tensors, workers=0",
        "Rows of tensors of one length; with workers, gathered by so many threads.",
        new,
    )),
    methods: &[METHODS],
    ..NativeType::plain(
        "Rows",
        "Batches of rows of tensors, in the order in which they are asked for.",
    )
};

static METHODS: &[NativeFn] = &[
    function("ask", "self, numbers", "Asks for the rows of these numbers.", ask).pure(),
    function(
        "take",
        "self",
        "The oldest batch asked for: a list of tensors, or None if it cannot be had.",
        take,
    )
    .pure(),
    function("stop", "self", "Ends the threads.", stop).pure(),
];

/// Between two looks at the interrupt flag.
const NAP: Duration = Duration::from_millis(5);

/// The most threads.
const MOST: i64 = 64;

struct Rows {
    tensors: Arc<Vec<Tensor>>,
    asked: RefCell<VecDeque<Asked>>,
    threads: RefCell<Option<Threads>>,
}

/// A batch that was asked for.
enum Asked {
    /// To be gathered when it is taken.
    Here(Option<Vec<i64>>, usize),
    /// A thread gathers it.
    There(Arc<Slot>),
}

/// Where a thread leaves a batch.
#[derive(Default)]
struct Slot {
    batch: Mutex<Option<Option<Vec<Tensor>>>>,
    ready: Condvar,
}

struct Threads {
    queue: Arc<Queue>,
    handles: Vec<JoinHandle<()>>,
}

/// Batches that no thread has begun with.
#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    stopped: bool,
}

/// Numbers of rows, and where the batch is left.
struct Job(Arc<Slot>, Vec<i64>);

impl NativeObject for Rows {
    fn native_type(&self) -> &'static NativeType {
        &ROWS
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn new(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut tensors = Vec::new();
    for value in cx.collect(&args[1])? {
        let Some(tensor) = value.as_tensor() else {
            return Err(type_error(format!("expected tensors, got {}", type_name(&value))));
        };
        tensors.push(tensor.get());
    }
    let tensors = Arc::new(tensors);
    let alone = cx.mode != Mode::Eager
        || engine::trace::active()
        || tensors.iter().any(|it| it.requires_grad() || it.is_abstract());
    let workers = args.int(2)?.clamp(0, MOST);
    let threads = (workers > 0 && !alone).then(|| Threads::start(workers, &tensors));
    let (asked, threads) = (RefCell::default(), RefCell::new(threads.flatten()));
    Ok(Value::object(Rows { tensors, asked, threads }))
}

fn ask(_cx: &mut Cx, args: Args<'_>) -> Res {
    let rows = args.object::<Rows>(0)?;
    let numbers = args.list(1)?.items.borrow();
    let count = numbers.len();
    let length =
        rows.tensors.first().and_then(|it| it.shape().first().copied()).unwrap_or(0) as i64;
    let number = |it: &Value| match it {
        Value::Int(it) if *it < 0 => Some(it + length),
        Value::Int(it) => Some(*it),
        _ => None,
    };
    let numbers: Option<Vec<i64>> = numbers.iter().map(number).collect();
    let threads = rows.threads.borrow();
    let asked = match (numbers, threads.as_ref()) {
        (Some(numbers), Some(threads)) => {
            let slot = Arc::new(Slot::default());
            threads.queue.push(Job(slot.clone(), numbers));
            Asked::There(slot)
        }
        (numbers, _) => Asked::Here(numbers, count),
    };
    rows.asked.borrow_mut().push_back(asked);
    Ok(Value::None)
}

fn take(cx: &mut Cx, args: Args<'_>) -> Res {
    let rows = args.object::<Rows>(0)?;
    let Some(asked) = rows.asked.borrow_mut().pop_front() else {
        return Err(index_error("no batch was asked for"));
    };
    let batch = match asked {
        Asked::Here(Some(numbers), _) => gather(&rows.tensors, &numbers),
        // Which rows they are is not known before running, but how many.
        Asked::Here(None, count) if cx.mode == Mode::Shadow => {
            gather(&rows.tensors, &vec![0; count])
        }
        Asked::Here(None, _) => None,
        Asked::There(slot) => wait(cx, &slot)?,
    };
    Ok(batch.map_or(Value::None, |it| Value::list(it.into_iter().map(Value::tensor).collect())))
}

fn stop(_cx: &mut Cx, args: Args<'_>) -> Res {
    let rows = args.object::<Rows>(0)?;
    rows.threads.borrow_mut().take();
    rows.asked.borrow_mut().clear();
    Ok(Value::None)
}

fn wait(cx: &mut Cx, slot: &Slot) -> Result<Option<Vec<Tensor>>, Raised> {
    loop {
        cx.poll()?;
        let mut batch = slot.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if batch.is_none() {
            let woken = slot.ready.wait_timeout(batch, NAP);
            batch = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(batch) = batch.take() {
            return Ok(batch);
        }
    }
}

/// The rows of each tensor; `None` if one is not there.
fn gather(tensors: &[Tensor], numbers: &[i64]) -> Option<Vec<Tensor>> {
    let length = tensors.first().map_or(0, |it| it.shape().first().copied().unwrap_or(0)) as i64;
    if numbers.iter().any(|it| !(0..length).contains(it)) {
        return None;
    }
    let index = Tensor::from_vec(numbers, Shape::from([numbers.len()])).ok()?;
    let op = &engine::ops::index::index_select::OP;
    let attrs = [Attr::Int(0)].into_iter().collect();
    let rows = |it: &Tensor| engine::apply_one(op, &[it.clone(), index.clone()], &attrs).ok();
    tensors.iter().map(rows).collect()
}

impl Threads {
    /// Starts them; `None` if the system has none to give.
    fn start(count: i64, tensors: &Arc<Vec<Tensor>>) -> Option<Threads> {
        let queue = Arc::new(Queue::default());
        let start = |_| {
            let (tensors, queue) = (tensors.clone(), queue.clone());
            let work = move || work(&tensors, &queue);
            thread::Builder::new().name("rows".to_owned()).spawn(work).ok()
        };
        let handles: Vec<JoinHandle<()>> = (0..count).filter_map(start).collect();
        (!handles.is_empty()).then_some(Threads { queue, handles })
    }
}

fn work(tensors: &[Tensor], queue: &Queue) {
    engine::autograd::set_enabled(false);
    while let Some(Job(slot, numbers)) = queue.pop() {
        let batch = catch_unwind(AssertUnwindSafe(|| gather(tensors, &numbers))).ok().flatten();
        *slot.batch.lock().unwrap_or_else(PoisonError::into_inner) = Some(batch);
        slot.ready.notify_all();
    }
}

impl Queue {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) {
        self.jobs().waiting.push_back(job);
        self.changed.notify_one();
    }

    /// Waits for the oldest; `None` once threads have to end.
    fn pop(&self) -> Option<Job> {
        let mut jobs = self.jobs();
        while !jobs.stopped {
            if let Some(job) = jobs.waiting.pop_front() {
                return Some(job);
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn stop(&self) {
        self.jobs().stopped = true;
        self.changed.notify_all();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue.stop();
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}
