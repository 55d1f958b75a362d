//! What is asked of a driver, by one that only writes it down: sizes that no test could compute, memory that runs out, a device that is lost.

#![expect(unsafe_code, reason = "a driver that writes where it is told to")]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Gpu;
use super::driver::{
    Address, Answer, Driver, Failure, Function, Grid, Mark, Module, Properties, Replay,
};
use super::pinned::PINNED;
use super::source::Source;
use crate::op::{Body, Cuda, CudaCx};
use crate::sync::Mutex;
use crate::{
    Attr, Attrs, DType, Error, Layout, Meta, OpDef, Result, Shape, Tensor, functional, ops,
};

/// A launch: the name of the kernel, its grid, its parameters.
type Launch = (&'static str, Grid, Vec<Vec<u8>>);

#[derive(Default)]
struct Notes {
    launches: Mutex<Vec<Launch>>,
    names: Mutex<Vec<&'static str>>,
    next: AtomicU64,
    /// Bytes that are left.
    room: AtomicU64,
    is_lost: AtomicBool,
    /// What was put on the bus: the place in the device, that in page-locked memory, the number of bytes.
    bus: Mutex<Vec<(Address, NonNull<u8>, usize)>>,
    /// The bytes that were put there.
    sent: Mutex<Vec<u8>>,
    /// Whether kernels have refused something whenever the host looks.
    refuses: AtomicBool,
    /// Whether marks are passed only when the test says so.
    is_slow: AtomicBool,
}

// SAFETY: what is on the bus is looked at by the test alone.
unsafe impl Send for Notes {}
// SAFETY: as above.
unsafe impl Sync for Notes {}

struct Recorder {
    notes: Arc<Notes>,
}

impl Recorder {
    fn answer(&self) -> Answer<()> {
        match self.notes.is_lost.load(Ordering::Relaxed) {
            true => Err(Failure::Broken("the GPU has fallen off the bus".into())),
            false => Ok(()),
        }
    }
}

impl Driver for Recorder {
    fn free_memory(&self) -> Answer<usize> {
        Ok(self.notes.room.load(Ordering::Relaxed) as usize)
    }

    fn allocate(&self, bytes: usize) -> Answer<Address> {
        self.answer()?;
        let take = |room: u64| room.checked_sub(bytes as u64);
        let room = &self.notes.room;
        room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .map_err(|_| Failure::NoMemory)?;
        Ok(self.notes.next.fetch_add(bytes.next_multiple_of(512) as u64, Ordering::Relaxed) + 512)
    }

    fn release(&self, _: Address) {
        // Blocks of these tests have 1 MB.
        self.notes.room.fetch_add(1 << 20, Ordering::Relaxed);
    }

    fn trim(&self) {}

    fn write(&self, _: Address, _: &[u8]) -> Answer<()> {
        self.answer()
    }

    fn read(&self, _: Address, to: &mut [u8]) -> Answer<()> {
        to.fill(self.notes.refuses.load(Ordering::Relaxed).into());
        self.answer()
    }

    fn pin(&self, _: usize) -> Answer<NonNull<u8>> {
        Err(Failure::NoMemory)
    }

    fn unpin(&self, _: NonNull<u8>, _: usize) {}

    fn send(&self, to: Address, from: NonNull<u8>, bytes: usize) -> Answer<()> {
        self.notes.bus.lock().unwrap().push((to, from, bytes));
        let found = unsafe { std::slice::from_raw_parts(from.as_ptr(), bytes) };
        self.notes.sent.lock().unwrap().extend(found);
        self.answer()
    }

    /// The bytes that arrive are the numbers of the chunks.
    fn receive(&self, from: Address, to: NonNull<u8>, bytes: usize) -> Answer<()> {
        let mut bus = self.notes.bus.lock().unwrap();
        unsafe { to.as_ptr().write_bytes(bus.len() as u8, bytes) };
        bus.push((from, to, bytes));
        self.answer()
    }

    fn mark(&self) -> Answer<Box<dyn Mark>> {
        self.answer().map(|()| Box::new(Slow(self.notes.clone())) as Box<dyn Mark>)
    }

    fn copy(&self, _: Address, _: Address, _: usize) -> Answer<()> {
        self.answer()
    }

    fn note(&self) -> Answer<()> {
        self.answer()
    }

    fn noted(&self) -> Answer<Box<dyn Replay>> {
        Err(Failure::Refused("it notes nothing".into()))
    }

    fn clear(&self, _: Address, _: usize) -> Answer<()> {
        self.answer()
    }

    fn is_idle(&self) -> Answer<bool> {
        self.answer().map(|()| true)
    }

    fn load(&self, _: &Source) -> Answer<Module> {
        self.answer().map(|()| Module(0))
    }

    fn function(&self, _: Module, name: &'static str) -> Answer<Function> {
        let mut names = self.notes.names.lock().unwrap();
        names.push(name);
        Ok(Function(names.len() - 1))
    }

    fn launch(&self, function: Function, grid: Grid, parameters: &[&[u8]]) -> Answer<()> {
        self.answer()?;
        let name = self.notes.names.lock().unwrap()[function.0];
        let parameters = parameters.iter().map(|it| it.to_vec()).collect();
        self.notes.launches.lock().unwrap().push((name, grid, parameters));
        Ok(())
    }
}

struct Slow(Arc<Notes>);

impl Mark for Slow {
    fn is_passed(&self) -> Answer<bool> {
        Ok(!self.0.is_slow.load(Ordering::Relaxed))
    }
}

fn recording(room: u64) -> (&'static Gpu, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    notes.room.store(room + (1 << 20), Ordering::Relaxed);
    let properties = Properties {
        name: "paper".into(),
        capability: (9, 0),
        memory: 1 << 45,
        multiprocessors: 132,
        threads_per_multiprocessor: 2048,
        shared_per_block: 227 << 10,
    };
    let seen = notes.clone();
    let open = move || Ok(Box::new(Recorder { notes: seen.clone() }) as Box<dyn Driver>);
    let gpu = Gpu::new(9, properties, Box::new(open));
    (Box::leak(Box::new(gpu)), notes)
}

fn blank(gpu: &'static Gpu, shape: &[usize], dtype: DType) -> Tensor {
    let shape = Shape::new(shape);
    let block = gpu.block_of(&shape, dtype).unwrap();
    Tensor::stored(block, Layout::contiguous(shape), dtype)
}

/// Asks for a row's kernels on these operands; the launches.
fn asked(
    (gpu, notes): (&'static Gpu, &Notes),
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    metas: &[Meta],
) -> Vec<Launch> {
    let Body::Kernels([kernel, ..]) = op.body else { panic!("{} has no kernel", op.name) };
    let Some(Cuda::Kernel(run)) = kernel.cuda else { panic!("{} has no kernel", op.name) };
    let outputs: Vec<Tensor> = metas.iter().map(|it| blank(gpu, &it.shape, it.dtype)).collect();
    notes.launches.lock().unwrap().clear();
    run(&CudaCx { op, attrs, gpu, inputs, outputs: &outputs, finish: None }).unwrap();
    let launches = std::mem::take(&mut *notes.launches.lock().unwrap());
    for (name, grid, _) in &launches {
        let [x, y, z] = grid.blocks;
        let fits = x > 0 && x < 1 << 31 && (1..=65_535).contains(&y) && (1..=65_535).contains(&z);
        assert!(fits && (1..=1024).contains(&grid.threads), "{}: {name} {grid:?}", op.name);
    }
    launches
}

fn long(bytes: &[u8]) -> i64 {
    i64::from_ne_bytes(bytes.try_into().unwrap())
}

/// `ng_dims`: rank, whether 32 bits are enough, sizes, strides.
fn dims(bytes: &[u8]) -> (i32, i32, Vec<i64>) {
    let int = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    (int(0), int(4), bytes[8..].chunks_exact(8).map(long).collect())
}

/// More elements than 32 bits count, and more lines than a grid has blocks in one direction.
#[test]
fn sizes_past_32_bits_are_asked_for() {
    let (gpu, notes) = recording(1 << 44);
    let to = (gpu, &*notes);
    let n = (1_usize << 32) + 70_000;
    let turned = functional::transpose(&blank(gpu, &[2, n / 2], DType::U8), 0, 1).unwrap();
    let flat = turned.gathered().unwrap();
    assert_eq!(flat.numel(), n);
    let (name, _, parameters) = notes.launches.lock().unwrap()[0].clone();
    assert_eq!((name, long(&parameters[0])), ("copy", n as i64));
    let (rank, narrow, numbers) = dims(&parameters[2]);
    assert_eq!((rank, narrow, &numbers[..2]), (2, 0, &[n as i64 / 2, 2][..]));
    assert_eq!(&numbers[super::parameters::RANK..][..2], [1, n as i64 / 2]);

    let x = blank(gpu, &[n], DType::F16);
    let no_dims = ops::reduce::sum::OP.default_attrs();
    let whole = [Meta::new(Shape::default(), DType::F16)];
    let launches = asked(to, &ops::reduce::sum::OP, std::slice::from_ref(&x), &no_dims, &whole);
    assert_eq!(launches.iter().map(|it| it.0).collect::<Vec<_>>(), ["reduce", "reduce_rest"]);
    assert_eq!(long(&launches[0].2[1]), n as i64);
    assert!(launches[0].1.blocks[1] > 1, "a long line is cut into parts");

    let lines = blank(gpu, &[1 << 22, 3], DType::F32);
    let along: Attrs = [Attr::Int(1), Attr::None].into_iter().collect();
    asked(to, &ops::norm::softmax::OP, std::slice::from_ref(&lines), &along, &[lines.meta()]);
    let cumulated: Attrs = [Attr::Int(0), Attr::None].into_iter().collect();
    asked(to, &ops::reduce::cumsum::OP, std::slice::from_ref(&lines), &cumulated, &[lines.meta()]);

    let index = blank(gpu, &[n], DType::I64);
    let picked = [Meta::new(Shape::from([n]), DType::F16)];
    let dim: Attrs = [Attr::Int(0)].into_iter().collect();
    let launches = asked(to, &ops::index::gather::OP, &[x, index], &dim, &picked);
    assert_eq!((launches[0].0, long(&launches[0].2[0])), ("gather", n as i64));

    let batch = blank(gpu, &[70_000, 2, 3], DType::I64);
    let other = blank(gpu, &[70_000, 3, 2], DType::I64);
    let products = [Meta::new(Shape::from([70_000, 2, 2]), DType::I64)];
    asked(to, &ops::matrix::matmul::OP, &[batch, other], &Attrs::new(), &products);
}

#[test]
fn memory_that_runs_out_is_an_error_and_comes_back() {
    let (gpu, _) = recording(4 << 20);
    let block = || gpu.block(1 << 20);
    let all: Vec<_> = (0..4).map(|_| block().unwrap()).collect();
    assert!(matches!(block(), Err(Error::OutOfMemory { bytes, .. }) if bytes == 1 << 20));
    drop(all);
    let stats = gpu.memory.stats();
    assert_eq!((stats.live, stats.cached, stats.peak), (0, 4 << 20, 4 << 20));
    // What is kept in other sizes makes room.
    let wide: Result<Vec<_>> = (0..4).map(|_| gpu.block((1 << 20) - 4096)).collect();
    assert_eq!(wide.unwrap().len(), 4);
    gpu.memory.set_budget(1 << 20);
    let one = block().unwrap();
    assert!(block().is_err());
    drop(one);
    assert!(block().is_ok());
}

#[test]
fn a_device_that_is_lost_is_an_error_each_time() {
    let (gpu, notes) = recording(1 << 30);
    let x = blank(gpu, &[4], DType::F32);
    notes.is_lost.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let problem = x.fetched().expect_err("the device is lost");
        assert_eq!(problem.to_string(), "cuda:9: the GPU has fallen off the bus");
        assert!(gpu.block(100_000_000).is_err());
    }
}

/// Many bytes go chunk by chunk, each from another place than the one before, and arrive where they belong.
#[test]
fn many_bytes_go_in_chunks() {
    assert!(!super::gpus().is_empty(), "pages are locked by a GPU that was looked for");
    let (gpu, notes) = recording(1 << 30);
    let bytes: Vec<u8> = (0..10_u32 << 20).map(|it| (it >> 20) as u8).collect();
    let what = (DType::U8, &Shape::from([bytes.len()]));
    let block = gpu.upload(&bytes, what).unwrap();
    let bus = std::mem::take(&mut *notes.bus.lock().unwrap());
    let starts: Vec<Address> = bus.iter().map(|it| it.0 - block.address()).collect();
    assert_eq!(starts, [0, 4 << 20, 8 << 20]);
    assert_eq!(bus.iter().map(|it| it.2).sum::<usize>(), bytes.len());
    assert!(bus[0].1 != bus[1].1 && bus[1].1 != bus[2].1, "no chunk is filled while it is read");
    assert!(*notes.sent.lock().unwrap() == bytes);

    let mut back = vec![0; (17 << 20) + 5];
    let wide = gpu.block(back.len() + 3).unwrap();
    gpu.download(&wide, 3, &mut back).unwrap();
    let bus = std::mem::take(&mut *notes.bus.lock().unwrap());
    assert_eq!(
        bus.iter().map(|it| (it.0 - wide.address(), it.2)).next_back(),
        Some((3 + (16 << 20), (1 << 20) + 5))
    );
    assert!(back.iter().enumerate().all(|(at, it)| usize::from(*it) == at >> 22));

    let few = gpu.upload(&bytes[..1 << 20], what).unwrap();
    gpu.download(&few, 0, &mut back[..1 << 20]).unwrap();
    assert!(notes.bus.lock().unwrap().is_empty(), "few bytes go as they are");
}

#[test]
fn what_is_on_the_bus_is_neither_written_nor_given_to_others() {
    if super::gpus().is_empty() {
        return;
    }
    let (gpu, notes) = recording(1 << 30);
    notes.is_slow.store(true, Ordering::Relaxed);
    let plain = Tensor::from_vec(&[1.0_f32, 2.0], Shape::from([2])).unwrap();
    let mut pinned = plain.pinned().unwrap();
    assert!(pinned.is_pinned() && !plain.is_pinned());
    assert_eq!(pinned.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    let sent = pinned.sent(gpu).unwrap();
    let (to, from, bytes) = notes.bus.lock().unwrap()[0];
    assert_eq!((to, bytes), (sent.address().unwrap(), 8));
    let on_bus = || unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<f32>(), 2) };
    let one = Tensor::number(7.0);
    assert!(!pinned.write(&pinned.layout().clone(), None, &one).unwrap(), "it is held");
    drop(pinned);
    let others: Vec<_> = (0..8).map(|_| PINNED.uninit(8).unwrap()).collect();
    assert!(others.iter().all(|it| it.as_ptr() != from.as_ptr()));
    assert_eq!(on_bus(), [1.0, 2.0]);
    // It comes back when it has arrived and somebody waits.
    notes.is_slow.store(false, Ordering::Relaxed);
    gpu.settle().unwrap();
    assert!(gpu.under_way.is_empty());
}

#[test]
fn what_is_refused_is_told_to_the_thread_that_has_asked() {
    let (gpu, notes) = recording(1 << 20);
    notes.refuses.store(true, Ordering::Relaxed);
    let launch = |problem: &'static str| {
        gpu.fault_slot(Box::new(|_, _| Error::Trace { problem: problem.into() })).unwrap();
    };
    let told = || gpu.settle().err().map(|it| it.to_string());
    let is = |told: Option<String>, problem: &str| told.is_some_and(|it| it.contains(problem));
    launch("the first of one thread");
    launch("the second of one thread");
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            assert_eq!(told(), None);
            launch("of another thread");
            assert!(is(told(), "of another thread"));
            launch("of a thread that is gone");
        });
        other.join().unwrap();
    });
    assert!(is(told(), "the first of one thread"));
    assert!(is(told(), "of a thread that is gone"));
    assert_eq!(told(), None);
}
