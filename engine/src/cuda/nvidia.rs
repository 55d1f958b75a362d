//! A GPU by NVIDIA's driver, which is found at run time.
//!
//! One stream for each device: what is asked happens in order. Memory comes from the driver's own pool, which keeps what is released.

#![expect(unsafe_code, reason = "calls of the driver")]

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use cudarc::driver::sys;

use super::compiler;
use super::convolutions::{Convolutions, Room};
use super::driver::{
    Address, Answer, Convolution, Driver, Failure, Function, Grid, Mark, Module, Product,
    Properties, Replay,
};
use super::libraries;
use super::products::Products;
use super::source::Source;
use crate::sync::OnceLock;

thread_local! {
    /// The context that this thread has entered.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// That of the device for which this thread notes what it asks; 0 for none.
    static NOTING: Cell<usize> = const { Cell::new(0) };
}

/// A device, its primary context and its stream.
pub(super) struct Nvidia {
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// On which work is noted.
    aside: sys::CUstream,
    pool: sys::CUmemoryPool,
    properties: Properties,
    /// Whether kernels may be brought to the device before the ones before are done: since Hopper, with drivers that can record that. All
    /// versions of NVRTC that are taken compile for Hopper, so each kernel waits there by itself.
    launches_early: bool,
    products: OnceLock<Option<Products>>,
    convolutions: OnceLock<Option<Convolutions>>,
}

// SAFETY: handles of the driver may be used by all threads, each of which makes the context current first.
unsafe impl Send for Nvidia {}
// SAFETY: as above; the driver has its own locks.
unsafe impl Sync for Nvidia {}

/// The answer for a result of the driver.
fn answer(result: sys::CUresult) -> Answer<()> {
    match result {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(Failure::NoMemory),
        other => Err(Failure::Broken(text_of(other))),
    }
}

fn text_of(result: sys::CUresult) -> String {
    let mut text: *const c_char = ptr::null();
    // SAFETY: the driver sets the pointer to a text that stays, or leaves it.
    let known = unsafe { sys::cuGetErrorString(result, &raw mut text) };
    if known != sys::CUresult::CUDA_SUCCESS || text.is_null() {
        return format!("CUDA error {}", result as u32);
    }
    // SAFETY: a text of the driver ends with 0 and stays.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The version of CUDA that the driver offers, `13000` for 13.0, and what is known of each device. None is opened.
pub(super) fn survey() -> Answer<(i32, Vec<Properties>)> {
    let (mut version, mut count) = (0, 0);
    // SAFETY: the library is there (`libraries::driver`); the pointers are to numbers of ours.
    unsafe {
        answer(sys::cuInit(0))?;
        answer(sys::cuDriverGetVersion(&raw mut version))?;
        answer(sys::cuDeviceGetCount(&raw mut count))?;
    }
    let of_device = |index| {
        let mut device = 0;
        // SAFETY: the pointer is to a number of ours.
        answer(unsafe { sys::cuDeviceGet(&raw mut device, index) })?;
        properties(device)
    };
    Ok((version, (0..count).map(of_device).collect::<Answer<_>>()?))
}

impl Nvidia {
    /// Opens device `index`, of those that [`survey`] has counted.
    pub(super) fn open(index: usize) -> Answer<Self> {
        let (mut device, mut context, mut version) = (0, ptr::null_mut(), 0);
        let (mut stream, mut aside, mut pool) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: all pointers are to variables of ours, and each handle comes from the call before.
        unsafe {
            answer(sys::cuDriverGetVersion(&raw mut version))?;
            answer(sys::cuDeviceGet(&raw mut device, index as c_int))?;
            answer(sys::cuDevicePrimaryCtxRetain(&raw mut context, device))?;
            answer(sys::cuCtxSetCurrent(context))?;
            let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
            answer(sys::cuStreamCreate(&raw mut stream, flags))?;
            answer(sys::cuStreamCreate(&raw mut aside, flags))?;
            answer(sys::cuDeviceGetDefaultMemPool(&raw mut pool, device))?;
            // What is released stays with the process until it is trimmed.
            let mut most = u64::MAX;
            let keep = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            answer(sys::cuMemPoolSetAttribute(pool, keep, (&raw mut most).cast()))?;
        }
        let properties = properties(device)?;
        let launches_early = properties.capability >= (9, 0) && version >= 12_030;
        let (products, convolutions) = (OnceLock::new(), OnceLock::new());
        Ok(Self {
            context,
            stream,
            aside,
            pool,
            properties,
            launches_early,
            products,
            convolutions,
        })
    }

    #[inline]
    fn enter(&self) -> Answer<()> {
        enter(self.context)
    }

    /// The stream on which this thread asks.
    #[inline]
    fn stream(&self) -> sys::CUstream {
        if self.is_noting() { self.aside } else { self.stream }
    }

    /// Whether this thread notes what it asks.
    #[inline]
    fn is_noting(&self) -> bool {
        NOTING.get() == self.context.addr()
    }

    /// Lets launches of a kernel ask for all the shared memory that a block may have.
    fn let_share(&self, function: sys::CUfunction) -> Answer<()> {
        use sys::CUfunction_attribute as Which;
        let mut own = 0;
        // SAFETY: the function is the caller's; the pointer is to a number of ours.
        unsafe {
            let asked = Which::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
            answer(sys::cuFuncGetAttribute(&raw mut own, asked, function))?;
            let rest = self.properties.shared_per_block.cast_signed().saturating_sub(own).max(0);
            let most = Which::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            answer(sys::cuFuncSetAttribute(function, most, rest))
        }
    }

    fn wait(&self) -> Answer<()> {
        // SAFETY: the stream lives as long as `self`.
        answer(unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

/// Says of a kernel that it may be brought to the device before the one before it is done, for which it waits itself.
fn early_launch() -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    }
}

/// Makes a context that of this thread, if it is not.
#[inline]
fn enter(context: sys::CUcontext) -> Answer<()> {
    if CURRENT.get() == context.addr() {
        return Ok(());
    }
    // SAFETY: contexts are retained as long as the process runs.
    answer(unsafe { sys::cuCtxSetCurrent(context) })?;
    CURRENT.set(context.addr());
    Ok(())
}

fn attribute(device: sys::CUdevice, which: sys::CUdevice_attribute) -> Answer<u32> {
    let mut value = 0;
    // SAFETY: the pointer is to a number of ours.
    answer(unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, device) })?;
    Ok(value.max(0).cast_unsigned())
}

fn properties(device: sys::CUdevice) -> Answer<Properties> {
    use sys::CUdevice_attribute as Which;
    let (mut name, mut memory) = ([0 as c_char; 256], 0);
    // SAFETY: the driver writes at most 256 characters, the last of which is 0, and one number.
    let name = unsafe {
        answer(sys::cuDeviceGetName(name.as_mut_ptr(), 256, device))?;
        answer(sys::cuDeviceTotalMem_v2(&raw mut memory, device))?;
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    };
    let read = |which| attribute(device, which);
    Ok(Properties {
        name,
        capability: (
            read(Which::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            read(Which::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        memory,
        multiprocessors: read(Which::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: read(
            Which::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        shared_per_block: read(Which::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
    })
}

impl Driver for Nvidia {
    fn free_memory(&self) -> Answer<usize> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are to numbers of ours.
        answer(unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
        Ok(free)
    }

    fn allocate(&self, bytes: usize) -> Answer<Address> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the pointer is to an address of ours.
        answer(unsafe { sys::cuMemAllocAsync(&raw mut address, bytes, self.stream) })?;
        Ok(address)
    }

    fn release(&self, address: Address) {
        if self.enter().is_ok() {
            // SAFETY: the block came from `allocate`, and its owner gives it up. A failure is the next call's as well.
            let _ = unsafe { sys::cuMemFreeAsync(address, self.stream) };
        }
    }

    fn trim(&self) {
        if self.enter().is_ok() && self.wait().is_ok() {
            // SAFETY: the pool is the device's. A failure leaves things as they were.
            let _ = unsafe { sys::cuMemPoolTrimTo(self.pool, 0) };
        }
    }

    fn write(&self, to: Address, from: &[u8]) -> Answer<()> {
        self.enter()?;
        let (source, n) = (from.as_ptr().cast::<c_void>(), from.len());
        // SAFETY: the caller owns `to` for so many bytes; what is read is pageable, so the driver has copied it when it returns.
        answer(unsafe { sys::cuMemcpyHtoDAsync_v2(to, source, n, self.stream) })
    }

    fn read(&self, from: Address, to: &mut [u8]) -> Answer<()> {
        self.enter()?;
        let (target, n) = (to.as_mut_ptr().cast::<c_void>(), to.len());
        // SAFETY: the caller owns `from` for so many bytes, and nobody looks at `to` before the stream is done.
        answer(unsafe { sys::cuMemcpyDtoHAsync_v2(target, from, n, self.stream) })?;
        self.wait()
    }

    fn pin(&self, bytes: usize) -> Answer<NonNull<u8>> {
        self.enter()?;
        let mut start = ptr::null_mut();
        // SAFETY: the pointer is to one of ours.
        answer(unsafe {
            sys::cuMemHostAlloc(&raw mut start, bytes, sys::CU_MEMHOSTALLOC_PORTABLE)
        })?;
        NonNull::new(start.cast()).ok_or(Failure::NoMemory)
    }

    fn unpin(&self, start: NonNull<u8>, _bytes: usize) {
        if self.enter().is_ok() {
            // SAFETY: the block came from `pin`, and its owner gives it up. A failure is the next call's as well.
            let _ = unsafe { sys::cuMemFreeHost(start.as_ptr().cast()) };
        }
    }

    fn send(&self, to: Address, from: NonNull<u8>, bytes: usize) -> Answer<()> {
        self.enter()?;
        let source = from.as_ptr().cast_const().cast::<c_void>();
        // SAFETY: the caller owns both for so many bytes, and keeps `from` until a mark behind this is passed.
        answer(unsafe { sys::cuMemcpyHtoDAsync_v2(to, source, bytes, self.stream) })
    }

    fn receive(&self, from: Address, to: NonNull<u8>, bytes: usize) -> Answer<()> {
        self.enter()?;
        // SAFETY: as in `send`.
        answer(unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.as_ptr().cast::<c_void>(), from, bytes, self.stream)
        })
    }

    fn mark(&self) -> Answer<Box<dyn Mark>> {
        self.enter()?;
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the pointer is to a handle of ours.
        answer(unsafe { sys::cuEventCreate(&raw mut event, flags) })?;
        let event = Event { event, context: self.context };
        // SAFETY: the event was made, the stream lives as long as the process.
        answer(unsafe { sys::cuEventRecord(event.event, self.stream) })?;
        Ok(Box::new(event))
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Answer<()> {
        self.enter()?;
        // SAFETY: the caller owns both for so many bytes.
        answer(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream()) })
    }

    fn clear(&self, at: Address, bytes: usize) -> Answer<()> {
        self.enter()?;
        // SAFETY: the caller owns the block for so many bytes.
        answer(unsafe { sys::cuMemsetD8Async(at, 0, bytes, self.stream()) })
    }

    fn is_idle(&self) -> Answer<bool> {
        self.enter()?;
        // SAFETY: the stream lives as long as `self`.
        match unsafe { sys::cuStreamQuery(self.stream) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => answer(other).map(|()| true),
        }
    }

    fn load(&self, source: &Source) -> Answer<Module> {
        self.enter()?;
        let image = compiler::compiled(source, self.properties.capability)?;
        let mut module = ptr::null_mut();
        // SAFETY: the image is whole, and ends with 0 where it is text. The module stays loaded.
        answer(unsafe { sys::cuModuleLoadData(&raw mut module, image.as_ptr().cast()) })?;
        Ok(Module(module as usize))
    }

    fn function(&self, module: Module, name: &'static str) -> Answer<Function> {
        self.enter()?;
        let name = CString::new(name).map_err(|it| Failure::Refused(it.to_string()))?;
        let (module, mut function) = (module.0 as sys::CUmodule, ptr::null_mut());
        // SAFETY: the module comes from `load` and stays, so the function does, too.
        answer(unsafe { sys::cuModuleGetFunction(&raw mut function, module, name.as_ptr()) })?;
        self.let_share(function)?;
        Ok(Function(function as usize))
    }

    fn launch(&self, function: Function, grid: Grid, parameters: &[&[u8]]) -> Answer<()> {
        self.enter()?;
        let mut values: smallvec::SmallVec<[*mut c_void; 24]> =
            parameters.iter().map(|it| it.as_ptr().cast_mut().cast()).collect();
        let mut early = early_launch();
        let [x, y, z] = grid.blocks;
        let config = sys::CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared,
            hStream: self.stream(),
            attrs: &raw mut early,
            numAttrs: self.launches_early.into(),
        };
        let (function, values) = (function.0 as sys::CUfunction, values.as_mut_ptr());
        // SAFETY: the function came from `load`, and its parameters are those that its source has; the driver only reads them and the
        // attributes, and has read them when it returns.
        answer(unsafe {
            sys::cuLaunchKernelEx(&raw const config, function, values, ptr::null_mut())
        })
    }

    fn multiply(&self, product: &Product) -> Answer<bool> {
        self.enter()?;
        let open = || libraries::cublas_lt().is_some().then(Products::open).flatten();
        match self.products.get_or_init(open) {
            Some(products) => {
                let wait: &dyn Fn() -> Answer<()> = &|| self.wait();
                let wait = (!self.is_noting()).then_some(wait);
                products.multiply(self, self.stream(), wait, product)
            }
            None => Ok(false),
        }
    }

    fn convolve(&self, convolution: &Convolution, room: Room<'_>) -> Answer<bool> {
        self.enter()?;
        match self.convolutions.get_or_init(Convolutions::open) {
            Some(convolutions) => {
                let wait: &dyn Fn() -> Answer<()> = &|| self.wait();
                let wait = (!self.is_noting()).then_some(wait);
                convolutions.convolve(self.stream(), wait, convolution, room)
            }
            None => Ok(false),
        }
    }

    fn note(&self) -> Answer<()> {
        self.enter()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives as long as `self`, and nothing else is asked on it.
        answer(unsafe { sys::cuStreamBeginCapture_v2(self.aside, mode) })?;
        NOTING.set(self.context.addr());
        Ok(())
    }

    fn noted(&self) -> Answer<Box<dyn Replay>> {
        NOTING.set(0);
        let (mut graph, mut run) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the pointers are to handles of ours; the graph comes from the call before, and the executable one does not need it.
        unsafe {
            answer(sys::cuStreamEndCapture(self.aside, &raw mut graph))?;
            let made = sys::cuGraphInstantiateWithFlags(&raw mut run, graph, 0);
            sys::cuGraphDestroy(graph);
            answer(made)?;
        }
        Ok(Box::new(Graph { run, context: self.context, stream: self.stream }))
    }
}

/// An event of the stream.
struct Event {
    event: sys::CUevent,
    context: sys::CUcontext,
}

// SAFETY: handles of the driver may be used by all threads, each of which makes the context current first.
unsafe impl Send for Event {}

impl Mark for Event {
    fn is_passed(&self) -> Answer<bool> {
        enter(self.context)?;
        // SAFETY: the event lives as long as `self`.
        match unsafe { sys::cuEventQuery(self.event) } {
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => answer(other).map(|()| true),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if enter(self.context).is_ok() {
            // SAFETY: nobody else has the handle. A failure is the next call's as well.
            let _ = unsafe { sys::cuEventDestroy_v2(self.event) };
        }
    }
}

/// A CUDA graph.
struct Graph {
    run: sys::CUgraphExec,
    context: sys::CUcontext,
    stream: sys::CUstream,
}

// SAFETY: handles of the driver may be used by all threads, each of which makes the context current first.
unsafe impl Send for Graph {}

impl Replay for Graph {
    fn run(&self) -> Answer<()> {
        enter(self.context)?;
        // SAFETY: the graph lives as long as `self`, the stream as long as the process.
        answer(unsafe { sys::cuGraphLaunch(self.run, self.stream) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if enter(self.context).is_ok() {
            // SAFETY: nobody else has the handle; what runs of it runs to its end. A failure is the next call's as well.
            let _ = unsafe { sys::cuGraphExecDestroy(self.run) };
        }
    }
}
