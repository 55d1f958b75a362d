//! What the engine asks of a GPU. The real one is [`super::nvidia`]; tests have one that runs the same kernels on the processor.

use std::fmt;
use std::ptr::NonNull;

use super::convolutions::Room;
use super::source::Source;
use crate::cpu::conv::ConvPass;

/// Memory of a device: an address that the processor must not follow.
pub(crate) type Address = u64;

/// Kernels of one source that a driver has loaded. They live as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Module(pub(crate) usize);

/// A kernel of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Function(pub(crate) usize);

/// How many blocks of how many threads run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: u32,
    /// Bytes of shared memory of a block, beside what the kernel names itself.
    pub(crate) shared: u32,
}

/// What is known of a device when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// Compute capability: `(9, 0)`.
    pub capability: (u32, u32),
    /// Bytes of memory.
    pub memory: usize,
    pub multiprocessors: u32,
    /// Threads that one multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_per_block: u32,
}

/// What a driver answers instead of doing what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no room.
    NoMemory,
    /// The device is lost, or something else that no program can mend; the text is the driver's.
    Broken(String),
    /// The compiler refuses a kernel: an error of this program. Its log.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory => f.write_str("out of memory"),
            Self::Broken(text) => f.write_str(text),
            Self::Refused(log) => write!(f, "a kernel does not compile: {log}"),
        }
    }
}

pub(crate) type Answer<T> = Result<T, Failure>;

/// One device. What is asked of it happens in order, later than the call returns; only [`Driver::is_idle`], [`Driver::read`] and
/// marks tell that it has.
pub(crate) trait Driver: Send + Sync {
    /// Bytes that are free now, also for other processes.
    fn free_memory(&self) -> Answer<usize>;

    /// A block of so many bytes, more than 0.
    fn allocate(&self, bytes: usize) -> Answer<Address>;

    /// Gives a block back, once what was asked so far is done.
    fn release(&self, address: Address);

    /// Gives back to the system what was released.
    fn trim(&self);

    /// Copies bytes to the device; they may change as soon as the call returns.
    fn write(&self, to: Address, from: &[u8]) -> Answer<()>;

    /// Waits until all is done, then copies from the device.
    fn read(&self, from: Address, to: &mut [u8]) -> Answer<()>;

    /// Page-locked main memory of so many bytes, which all devices reach by themselves; it may be read.
    fn pin(&self, bytes: usize) -> Answer<NonNull<u8>>;

    /// Gives it back, when nothing is under way to or from there.
    fn unpin(&self, start: NonNull<u8>, bytes: usize);

    /// Copies from page-locked memory to the device. It stays as it is until what is asked here is done, as [`Driver::mark`] tells.
    fn send(&self, to: Address, from: NonNull<u8>, bytes: usize) -> Answer<()>;

    /// Copies from the device to page-locked memory, which nobody looks at until what is asked here is done.
    fn receive(&self, from: Address, to: NonNull<u8>, bytes: usize) -> Answer<()>;

    /// A mark behind all that was asked.
    fn mark(&self) -> Answer<Box<dyn Mark>>;

    /// Copies within the device.
    fn copy(&self, from: Address, to: Address, bytes: usize) -> Answer<()>;

    /// Sets bytes to 0.
    fn clear(&self, at: Address, bytes: usize) -> Answer<()>;

    /// Whether all that was asked is done.
    fn is_idle(&self) -> Answer<bool>;

    /// Compiles kernels, or finds them among those that were compiled before.
    fn load(&self, source: &Source) -> Answer<Module>;

    /// A kernel by its name.
    fn function(&self, module: Module, name: &'static str) -> Answer<Function>;

    /// Runs a kernel on parameters, each a value of that many bytes.
    fn launch(&self, function: Function, grid: Grid, parameters: &[&[u8]]) -> Answer<()>;

    /// Products of matrices by the vendor's library; false where it is not there or does not take the case.
    fn multiply(&self, _product: &Product) -> Answer<bool> {
        Ok(false)
    }

    /// Convolutions and their gradients by the vendor's library, which may ask for scratch; false where it is not there or does not
    /// take the case.
    fn convolve(&self, _convolution: &Convolution, _room: Room<'_>) -> Answer<bool> {
        Ok(false)
    }

    /// From now on what this thread asks is noted, and not done, until it calls [`Driver::noted`]. Nothing may be allocated, written or
    /// read in between.
    fn note(&self) -> Answer<()>;

    /// What has been noted, in that order.
    fn noted(&self) -> Answer<Box<dyn Replay>>;
}

/// A place in what was asked of a device.
pub(crate) trait Mark: Send {
    /// Whether all before it is done.
    fn is_passed(&self) -> Answer<bool>;
}

/// Work of a device that was noted once. It reads and writes where it was noted to.
pub(crate) trait Replay: Send {
    /// Asks for all of it.
    fn run(&self) -> Answer<()>;
}

/// Elements of a product of matrices, or of a convolution, which has floats alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Element {
    F16,
    BF16,
    F32,
    F64,
    I8,
    I32,
}

/// A matrix, or one in each of a batch, as it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    /// Whether columns lie in a row, not rows.
    pub(crate) turned: bool,
    /// Elements from one row (or column) to the next.
    pub(crate) step: i64,
    /// Elements from one matrix of the batch to the next.
    pub(crate) batch_step: i64,
}

/// `out[m, n] = a[m, k] @ b[k, n]`, in each of a batch; what is computed lies in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    /// Of the operands.
    pub(crate) element: Element,
    /// Of the result: as the operands, or float32 for halves, or int32 for int8.
    pub(crate) out_element: Element,
    pub(crate) batch: usize,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: (Address, Matrix),
    pub(crate) b: (Address, Matrix),
    pub(crate) out: Address,
    /// A row that is added to each row of the result.
    pub(crate) bias: Option<Address>,
    /// Whether float32 may be multiplied with fewer digits, by tensor cores.
    pub(crate) coarse: bool,
    /// Whether algorithms are measured before one is chosen.
    pub(crate) measured: bool,
}

/// What decides how a convolution is computed. All lies in row-major order; pairs are (height, width).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ConvolutionCase {
    pub(crate) pass: ConvPass,
    pub(crate) element: Element,
    /// Number, channels, height, width.
    pub(crate) images: [i32; 4],
    /// Number, channels of a group, height, width.
    pub(crate) kernels: [i32; 4],
    /// What images and kernels give: number, channels, height, width.
    pub(crate) results: [i32; 4],
    pub(crate) padding: [i32; 2],
    pub(crate) stride: [i32; 2],
    pub(crate) dilation: [i32; 2],
    pub(crate) groups: i32,
    /// Whether float32 may be multiplied with fewer digits, by tensor cores.
    pub(crate) coarse: bool,
    /// Whether algorithms are measured before one is chosen.
    pub(crate) measured: bool,
}

/// A convolution, or one of its gradients.
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    pub(crate) case: ConvolutionCase,
    /// Images, kernels and results, or their gradients; the pass says which of them is computed.
    pub(crate) places: [Address; 3],
}
