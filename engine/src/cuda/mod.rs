//! GPUs: what the rows' CUDA sides run on. Below here nothing is known of tensors.
//!
//! **Invariant:** a process without a GPU, a driver or a library works; what is missing is a value, and is asked for when it is needed.
//! **Invariant:** what is asked of a device happens in order, later. The host waits where it reads elements, where a long copy needs a
//! page-locked chunk again, and while it measures the engines of a convolution or the algorithms of a product for a program that wants
//! that; nowhere else.

mod compiler;
mod convolutions;
mod cudnn;
mod descriptors;
pub(crate) mod driver;
#[cfg(any(test, feature = "emulated-gpu"))]
mod emulator;
mod engines;
mod faults;
pub mod libraries;
pub(crate) mod memory;
mod nvidia;
pub(crate) mod parameters;
pub(crate) mod philox;
pub(crate) mod pinned;
#[cfg(test)]
pub(crate) mod plain_convolutions;
mod products;
pub(crate) mod recording;
pub mod settings;
pub(crate) mod source;
#[cfg(test)]
mod tests;
mod transfers;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use driver::{Address, Convolution, Driver, Function, Grid, Module, Product};
use faults::Faults;
use memory::{Memory, NoRoom};
use parameters::Parameters;
use philox::Philox;
use recording::Pool;
use source::Source;
use transfers::UnderWay;

pub use convolutions::version as cudnn_version;
pub use driver::{Failure, Properties};
#[cfg(feature = "emulated-gpu")]
pub use emulator::emulate;
pub(crate) use faults::Meaning as FaultMeaning;

use crate::cpu::interrupt;
use crate::cpu::large::Large;
use crate::cpu::memory::Stats;
use crate::sync::{Mutex, OnceLock};
use crate::{DType, Device, Error, Result, Shape};

/// Names that a template is compiled with.
pub(crate) type Defines<'a> = &'a [(&'static str, Cow<'static, str>)];

/// One GPU. There is one value for each device, which stays as long as the process.
pub(crate) struct Gpu {
    index: u8,
    properties: Properties,
    memory: Memory,
    open: Open,
    opened: OnceLock<std::result::Result<Opened, Failure>>,
    templates: Mutex<FxHashMap<u64, SmallVec<[Template; 1]>>>,
    /// Held by the thread that notes work, of which there is one at a time.
    noting: Mutex<()>,
    /// Where its random numbers stand.
    random: Mutex<Philox>,
    under_way: UnderWay,
}

/// How a device is opened.
type Open = Box<dyn Fn() -> std::result::Result<Box<dyn Driver>, Failure> + Send + Sync>;

/// A device that something has been asked of.
struct Opened {
    driver: Box<dyn Driver>,
    faults: Faults,
}

/// A template that is compiled under some names, with the kernels of it that were asked for.
struct Template {
    text: usize,
    defines: Vec<(&'static str, Cow<'static, str>)>,
    module: Module,
    functions: SmallVec<[(&'static str, Function); 2]>,
}

/// What was found when GPUs were looked for.
#[derive(Debug)]
pub struct Survey {
    /// The version of CUDA that the driver offers, `13000` for 13.0.
    pub version: Option<i32>,
    /// Why there are no devices, in words for users.
    pub missing: Option<String>,
}

struct Found {
    survey: Survey,
    gpus: Vec<Gpu>,
}

static FOUND: OnceLock<Found> = OnceLock::new();

/// The seed of GPUs that are looked for later.
static SEED: AtomicU64 = AtomicU64::new(0);

fn found() -> &'static Found {
    FOUND.get_or_init(look)
}

/// Looks for GPUs. A driver that is broken is as one that is not there.
fn look() -> Found {
    #[cfg(any(test, feature = "emulated-gpu"))]
    if let Some(gpus) = emulator::gpus() {
        return Found { survey: Survey { version: None, missing: None }, gpus };
    }
    let none = |version, missing: String| Found {
        survey: Survey { version, missing: Some(missing) },
        gpus: Vec::new(),
    };
    if libraries::driver().is_none() {
        return none(
            None,
            "Found no NVIDIA driver on your system (libcuda.so.1 is not there)".into(),
        );
    }
    let looked = std::panic::catch_unwind(|| {
        let (version, found) = nvidia::survey()?;
        let gpu = |(index, properties): (usize, Properties)| {
            let open = move || Ok(Box::new(nvidia::Nvidia::open(index)?) as Box<dyn Driver>);
            Gpu::new(index as u8, properties, Box::new(open))
        };
        let gpus: Vec<Gpu> = found.into_iter().take(64).enumerate().map(gpu).collect();
        Ok::<_, Failure>((version, gpus))
    });
    match looked {
        Ok(Ok((version, gpus))) if gpus.is_empty() => {
            none(Some(version), "the NVIDIA driver knows no GPU".into())
        }
        Ok(Ok((version, gpus))) => {
            Found { survey: Survey { version: Some(version), missing: None }, gpus }
        }
        Ok(Err(failure)) => none(None, format!("the NVIDIA driver does not answer: {failure}")),
        Err(_) => {
            none(None, "the NVIDIA driver is too old: it lacks a function that is needed".into())
        }
    }
}

/// What was found when GPUs were looked for.
pub fn survey() -> &'static Survey {
    &found().survey
}

/// The GPUs of this machine.
pub(crate) fn gpus() -> &'static [Gpu] {
    &found().gpus
}

/// Devices of this machine that compute.
pub fn available() -> Vec<Device> {
    let gpus = (0..gpus().len()).map(|it| Device::Cuda(it as u8));
    std::iter::once(Device::Cpu).chain(gpus).collect()
}

/// Whether tensors can be made on a device; an error that says what is missing.
pub fn check(device: Device) -> Result<()> {
    match device {
        Device::Cpu | Device::Meta => Ok(()),
        Device::Cuda(index) => gpu(index).map(|_| ()),
    }
}

/// Waits until a device has done what it was asked; an error for elements that ops have refused meanwhile.
pub fn synchronize(device: Device) -> Result<()> {
    match device {
        Device::Cpu | Device::Meta => Ok(()),
        Device::Cuda(index) => gpu(index)?.settle(),
    }
}

/// Waits until all GPUs have done what they were asked, unless an interrupt comes. What kernels have refused is told when it waits next to those who asked.
pub(crate) fn wait() {
    let opened = gpus_in_use().iter().filter_map(|it| it.opened.get()?.as_ref().ok());
    for it in opened {
        while it.driver.is_idle() == Ok(false) && !interrupt::is_up() {
            std::hint::spin_loop();
        }
    }
}

/// What is known of the GPUs of this machine.
pub fn devices() -> Vec<&'static Properties> {
    gpus().iter().map(|it| &it.properties).collect()
}

/// The GPU of this number.
pub(crate) fn gpu(index: u8) -> Result<&'static Gpu> {
    let no_gpu = || {
        let missing = survey().missing.clone();
        Error::NoGpu { index, count: gpus().len(), missing }
    };
    gpus().get(usize::from(index)).ok_or_else(no_gpu)
}

/// Counters of the memory of a GPU.
pub fn stats(index: u8) -> Result<Stats> {
    Ok(gpu(index)?.memory.stats())
}

/// Starts a new measurement of [`Stats::peak`] of a GPU.
pub fn reset_peak(index: u8) -> Result<()> {
    gpu(index)?.memory.reset_peak();
    Ok(())
}

/// Sets the most bytes that may be in use on a GPU; 0 for all that it has.
pub fn set_budget(index: u8, bytes: usize) -> Result<()> {
    gpu(index)?.memory.set_budget(bytes);
    Ok(())
}

/// What takes the most memory of a GPU, the largest first.
pub fn largest(index: u8, most: usize) -> Result<Vec<Large>> {
    Ok(gpu(index)?.memory.largest(most))
}

/// Bytes of a GPU that are free now, also for other processes.
pub fn free_memory(index: u8) -> Result<usize> {
    let gpu = gpu(index)?;
    gpu.opened()?.driver.free_memory().map_err(|it| gpu.failed(it))
}

/// Gives memory of all GPUs that is kept for reuse back to the system, page-locked memory too.
pub fn trim() {
    pinned::PINNED.trim();
    let opened = gpus_in_use().iter().filter_map(|it| Some((it, it.opened.get()?.as_ref().ok()?)));
    opened.for_each(|(gpu, it)| gpu.memory.trim(&*it.driver));
}

/// Starts the random numbers of all GPUs anew. Those that are looked for later begin there, too.
pub fn seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
    gpus_in_use().iter().for_each(|it| it.set_random(Philox { seed, offset: 0 }));
}

/// Where the random numbers of all GPUs stand.
pub(crate) type Streams = SmallVec<[Philox; 1]>;

/// Where they stand now; of no GPU where nobody has looked for any.
pub(crate) fn streams() -> Streams {
    gpus_in_use().iter().map(Gpu::random).collect()
}

/// Has the random numbers of the first GPUs go on from there.
pub(crate) fn set_streams(streams: &[Philox]) {
    gpus_in_use().iter().zip(streams).for_each(|(gpu, at)| gpu.set_random(*at));
}

/// The GPUs, if they have been looked for.
fn gpus_in_use() -> &'static [Gpu] {
    FOUND.get().map_or(&[], |it| &it.gpus)
}

/// A block of a GPU's memory.
pub(crate) struct Block {
    gpu: &'static Gpu,
    address: Address,
    len: usize,
    /// The memory of a recording, if it belongs to that.
    pool: Option<Arc<Pool>>,
}

impl Block {
    pub(crate) fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block(cuda:{}, {} bytes)", self.gpu.index, self.len)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        match &self.pool {
            Some(pool) => pool.take_back(self.address, self.len),
            None => self.gpu.memory.take_back(self.address, self.len),
        }
    }
}

impl Gpu {
    /// A device that is opened when something is asked of it.
    fn new(index: u8, properties: Properties, open: Open) -> Self {
        Self {
            index,
            memory: Memory::new(properties.memory),
            properties,
            open,
            opened: OnceLock::new(),
            templates: Mutex::default(),
            noting: Mutex::default(),
            random: Mutex::new(Philox { seed: SEED.load(Ordering::Relaxed), offset: 0 }),
            under_way: UnderWay::default(),
        }
    }

    fn opened(&self) -> Result<&Opened> {
        let open = || {
            let driver = (self.open)()?;
            Ok(Opened { faults: Faults::new(&*driver)?, driver })
        };
        self.opened.get_or_init(open).as_ref().map_err(|it| self.failed(it.clone()))
    }

    fn driver(&self) -> Result<&dyn Driver> {
        Ok(&*self.opened()?.driver)
    }

    pub(crate) fn index(&self) -> u8 {
        self.index
    }

    /// Where its random numbers stand.
    pub(crate) fn random(&self) -> Philox {
        *self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has its random numbers go on from there.
    pub(crate) fn set_random(&self, at: Philox) {
        *self.random.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.properties
    }

    fn failed(&self, failure: Failure) -> Error {
        Error::Gpu { index: self.index, problem: failure.to_string() }
    }

    /// A block of any contents.
    pub(crate) fn block(&'static self, len: usize) -> Result<Block> {
        self.holding(len, None)
    }

    /// A block for a tensor in row-major order.
    pub(crate) fn block_of(&'static self, shape: &Shape, dtype: DType) -> Result<Block> {
        self.holding(shape.numel() * dtype.size(), Some((dtype, shape)))
    }

    fn holding(&'static self, len: usize, what: Option<(DType, &Shape)>) -> Result<Block> {
        let (pool, known) = recording::take(len).map_err(|it| self.failed(it))?.unzip();
        if let Some(address) = known.flatten() {
            return Ok(Block { gpu: self, address, len, pool });
        }
        let address = self.memory.allocate(self.driver()?, len, what);
        match address.map_err(|it| self.failed(it))? {
            Ok(address) => {
                if let Some(pool) = &pool {
                    pool.add(address, len);
                }
                Ok(Block { gpu: self, address, len, pool })
            }
            Err(NoRoom { bytes, live }) => Err(Error::OutOfMemory { bytes, live }),
        }
    }

    /// Refuses what a recording must not do.
    fn outside_recordings(&self) -> Result<()> {
        if recording::is_noting() { Err(self.failed(recording::refused())) } else { Ok(()) }
    }

    /// Waits until the device is done; an error for what kernels have refused.
    pub(crate) fn settle(&self) -> Result<()> {
        self.outside_recordings()?;
        while !self.driver()?.is_idle().map_err(|it| self.failed(it))? {
            if interrupt::take() {
                return Err(Error::Interrupted);
            }
            std::hint::spin_loop();
        }
        self.under_way.keep([]);
        match self.opened()?.faults.settle(self.driver()?).map_err(|it| self.failed(it))? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Where a kernel that is launched next notes what it refuses; `meaning` says what its notes mean.
    pub(crate) fn fault_slot(&self, meaning: FaultMeaning) -> Result<Address> {
        let meaning = match recording::fault_slot(meaning) {
            Ok(noted) => return noted.map_err(|it| self.failed(it)),
            Err(meaning) => meaning,
        };
        let meaning = match self.opened()?.faults.slot(meaning) {
            Ok(slot) => return Ok(slot),
            Err(meaning) => meaning,
        };
        self.settle()?;
        let all_taken = "other threads have too much under way that may refuse elements; have them wait with torch.cuda.synchronize()";
        let slot = self.opened()?.faults.slot(meaning);
        slot.map_err(|_| self.failed(Failure::Broken(all_taken.into())))
    }

    /// The kernel of a template under these names.
    pub(crate) fn function(
        &self,
        name: &'static str,
        template: &'static str,
        defines: Defines<'_>,
    ) -> Result<Function> {
        let mut hasher = FxHasher::default();
        (template.as_ptr().addr(), defines).hash(&mut hasher);
        let hash = hasher.finish();
        let text = template.as_ptr().addr();
        let is_it = |it: &&mut Template| it.text == text && it.defines == defines;
        let lock = || self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().entry(hash).or_default().iter_mut().find(is_it) {
            return self.function_of(known, name);
        }
        // Other threads compile theirs meanwhile.
        let source = Source::of(name, template, defines);
        let module = self.driver()?.load(&source).map_err(|it| self.failed(it))?;
        let mut templates = lock();
        let all = templates.entry(hash).or_default();
        if let Some(known) = all.iter_mut().find(is_it) {
            return self.function_of(known, name);
        }
        let mut made =
            Template { text, defines: defines.to_vec(), module, functions: SmallVec::new() };
        let function = self.function_of(&mut made, name);
        all.push(made);
        function
    }

    /// A kernel of a template by its name.
    fn function_of(&self, template: &mut Template, name: &'static str) -> Result<Function> {
        if let Some(found) = template.functions.iter().find(|it| it.0 == name) {
            return Ok(found.1);
        }
        let function = self.driver()?.function(template.module, name);
        let function = function.map_err(|it| self.failed(it))?;
        template.functions.push((name, function));
        Ok(function)
    }

    /// The kernel of a text that is named as the text is.
    pub(crate) fn load(&self, source: &Source) -> Result<Function> {
        let module = self.driver()?.load(source).map_err(|it| self.failed(it))?;
        self.driver()?.function(module, source.name).map_err(|it| self.failed(it))
    }

    /// Asks for a run of a kernel.
    pub(crate) fn launch(
        &self,
        function: Function,
        grid: Grid,
        parameters: &Parameters,
    ) -> Result<()> {
        self.driver()?.launch(function, grid, &parameters.all()).map_err(|it| self.failed(it))
    }

    /// Copies bytes from one place of the device to another.
    pub(crate) fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.driver()?.copy(from, to, bytes).map_err(|it| self.failed(it))
    }

    /// Sets bytes to 0.
    pub(crate) fn clear(&self, at: Address, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.driver()?.clear(at, bytes).map_err(|it| self.failed(it))
    }

    /// A product by the vendor's library; false where that does not take it.
    pub(crate) fn multiply(&self, product: &Product) -> Result<bool> {
        self.driver()?.multiply(product).map_err(|it| self.failed(it))
    }

    /// A convolution by the vendor's library; false where that does not take it.
    pub(crate) fn convolve(&'static self, convolution: &Convolution) -> Result<bool> {
        // Scratch may go when the call returns: what is asked of the device comes in order.
        let mut scratch = None;
        let mut room = |bytes| Some(scratch.insert(self.block(bytes).ok()?).address());
        self.driver()?.convolve(convolution, &mut room).map_err(|it| self.failed(it))
    }
}
