//! A GPU for tests: kernels are compiled as C++ and run on the processor, thread after thread, where a block has barriers as fibers.
//! Memory is that of the process, so AddressSanitizer sees what kernels do with it.
//!
//! `NOTEGRAD_EMULATED_GPU=1` turns it on, or [`emulate`]; in the tests of the engine it is on unless the variable is 0. Threads of a block
//! run in order, in every other launch backwards, so that a missing barrier shows.

#![expect(unsafe_code, reason = "runs compiled kernels")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustc_hash::FxHashMap;

#[cfg(test)]
use super::convolutions::Room;
#[cfg(test)]
use super::driver::Convolution;
use super::driver::{
    Address, Answer, Driver, Failure, Function, Grid, Mark, Module, Properties, Replay,
};
use super::parameters::Parameters;
use super::source::Source;
use super::{Gpu, compiler, libraries};
use crate::sync::{Mutex, MutexGuard};

const HEADER: &str = include_str!("emulator.h");

static WANTED: AtomicBool = AtomicBool::new(cfg!(test));

/// Has this process use the emulated GPU; called before anybody looks for one.
#[cfg(feature = "emulated-gpu")]
pub fn emulate() {
    WANTED.store(true, Ordering::Relaxed);
}

/// The devices to use in place of real ones, if these are asked for.
pub(super) fn gpus() -> Option<Vec<Gpu>> {
    let wanted = || WANTED.load(Ordering::Relaxed);
    let is_wanted =
        std::env::var("NOTEGRAD_EMULATED_GPU").map_or_else(|_| wanted(), |it| it == "1");
    let open = || Ok(Box::new(Emulator::new()) as Box<dyn Driver>);
    is_wanted.then(|| vec![Gpu::new(0, properties(), Box::new(open))])
}

type Entry = unsafe extern "C" fn(*const u32, i32, *const *const c_void);

struct Emulator {
    blocks: Mutex<FxHashMap<Address, usize>>,
    modules: Mutex<Vec<libloading::Library>>,
}

/// What is asked of the device.
#[derive(Clone)]
enum Task {
    Launch { function: Function, grid: Grid, parameters: Vec<Vec<u8>> },
    Copy { from: Address, to: Address, bytes: usize },
    Clear { at: Address, bytes: usize },
}

/// Kernels keep a block's shared memory and indices in variables of their own: one runs at a time.
static RUNNING: Mutex<()> = Mutex::new(());

static LAUNCHES: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// What this thread notes.
    static NOTED: RefCell<Option<Vec<Task>>> = const { RefCell::new(None) };
}

impl Emulator {
    fn new() -> Self {
        Self { blocks: Mutex::default(), modules: Mutex::default() }
    }

    fn blocks(&self) -> MutexGuard<'_, FxHashMap<Address, usize>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn properties() -> Properties {
    Properties {
        name: "emulated GPU".into(),
        capability: (8, 0),
        memory: 4 << 30,
        multiprocessors: 2,
        threads_per_multiprocessor: 2048,
        shared_per_block: 163 << 10,
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 512).expect("a block fits into memory")
}

fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Driver for Emulator {
    fn free_memory(&self) -> Answer<usize> {
        Ok(properties().memory)
    }

    fn allocate(&self, bytes: usize) -> Answer<Address> {
        // SAFETY: blocks have at least one byte.
        let start = unsafe { alloc_zeroed(layout(bytes)) };
        if start.is_null() {
            return Err(Failure::NoMemory);
        }
        let address = start.expose_provenance() as Address;
        self.blocks().insert(address, bytes);
        Ok(address)
    }

    fn release(&self, address: Address) {
        if let Some(bytes) = self.blocks().remove(&address) {
            // SAFETY: it came from `allocate` with that many bytes.
            unsafe { dealloc(pointer(address), layout(bytes)) };
        }
    }

    fn trim(&self) {}

    fn write(&self, to: Address, from: &[u8]) -> Answer<()> {
        // SAFETY: the caller owns `to` for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), pointer(to), from.len()) };
        Ok(())
    }

    fn read(&self, from: Address, to: &mut [u8]) -> Answer<()> {
        // SAFETY: the caller owns `from` for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(pointer(from), to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn pin(&self, bytes: usize) -> Answer<NonNull<u8>> {
        // SAFETY: blocks have at least one byte.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes)) }).ok_or(Failure::NoMemory)
    }

    fn unpin(&self, start: NonNull<u8>, bytes: usize) {
        // SAFETY: it came from `pin` with that many bytes.
        unsafe { dealloc(start.as_ptr(), layout(bytes)) };
    }

    fn send(&self, to: Address, from: NonNull<u8>, bytes: usize) -> Answer<()> {
        // SAFETY: the caller owns both for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), pointer(to), bytes) };
        Ok(())
    }

    fn receive(&self, from: Address, to: NonNull<u8>, bytes: usize) -> Answer<()> {
        // SAFETY: as in `send`.
        unsafe { std::ptr::copy_nonoverlapping(pointer(from), to.as_ptr(), bytes) };
        Ok(())
    }

    fn mark(&self) -> Answer<Box<dyn Mark>> {
        Ok(Box::new(Done))
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Answer<()> {
        Task::Copy { from, to, bytes }.ask();
        Ok(())
    }

    fn clear(&self, at: Address, bytes: usize) -> Answer<()> {
        Task::Clear { at, bytes }.ask();
        Ok(())
    }

    fn is_idle(&self) -> Answer<bool> {
        Ok(true)
    }

    fn load(&self, source: &Source) -> Answer<Module> {
        // SAFETY: the library holds kernels and the shim around them.
        let library = unsafe { libloading::Library::new(compiled(source)?) };
        let library = library.map_err(|it| Failure::Broken(it.to_string()))?;
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.push(library);
        Ok(Module(modules.len() - 1))
    }

    fn function(&self, module: Module, name: &'static str) -> Answer<Function> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the shim has an entry of this type for each kernel; the library stays loaded.
        let entry =
            unsafe { modules[module.0].get::<Entry>(format!("ng_launch_{name}").as_bytes()) };
        let entry = entry.map_err(|it| Failure::Broken(it.to_string()))?;
        Ok(Function(*entry as usize))
    }

    fn launch(&self, function: Function, grid: Grid, parameters: &[&[u8]]) -> Answer<()> {
        let parameters = parameters.iter().map(|it| it.to_vec()).collect();
        Task::Launch { function, grid, parameters }.ask();
        Ok(())
    }

    #[cfg(test)]
    fn convolve(&self, convolution: &Convolution, room: Room<'_>) -> Answer<bool> {
        if NOTED.with_borrow(Option::is_some) {
            return Ok(false);
        }
        // SAFETY: the places are blocks of so many elements, which nobody else uses now.
        let slice = |at, n| unsafe { std::slice::from_raw_parts_mut(pointer(at).cast(), n) };
        Ok(super::plain_convolutions::convolve(convolution, room, slice))
    }

    fn note(&self) -> Answer<()> {
        NOTED.set(Some(Vec::new()));
        Ok(())
    }

    fn noted(&self) -> Answer<Box<dyn Replay>> {
        Ok(Box::new(Noted(NOTED.take().unwrap_or_default())))
    }
}

/// A mark behind what was done at once.
struct Done;

impl Mark for Done {
    fn is_passed(&self) -> Answer<bool> {
        Ok(true)
    }
}

/// Tasks that were noted.
struct Noted(Vec<Task>);

impl Replay for Noted {
    fn run(&self) -> Answer<()> {
        self.0.iter().for_each(Task::run);
        Ok(())
    }
}

impl Task {
    /// Does it at once, or notes it.
    fn ask(self) {
        let now = NOTED.with_borrow_mut(|it| match it {
            Some(noted) => {
                noted.push(self);
                None
            }
            None => Some(self),
        });
        if let Some(task) = now {
            task.run();
        }
    }

    fn run(&self) {
        match self {
            Self::Launch { function, grid, parameters } => launch(*function, *grid, parameters),
            // SAFETY: who asks owns both for so many bytes.
            Self::Copy { from, to, bytes } => unsafe {
                std::ptr::copy(pointer(*from), pointer(*to), *bytes);
            },
            // SAFETY: who asks owns the block for so many bytes.
            Self::Clear { at, bytes } => unsafe {
                std::ptr::write_bytes(pointer(*at), 0, *bytes);
            },
        }
    }
}

fn launch(function: Function, grid: Grid, parameters: &[Vec<u8>]) {
    let _one = RUNNING.lock();
    let values: Vec<*const c_void> = parameters.iter().map(|it| it.as_ptr().cast()).collect();
    let [x, y, z] = grid.blocks;
    assert!(y <= 65_535 && z <= 65_535 && grid.threads <= 1024, "{grid:?} is no grid of CUDA");
    let bytes: usize = parameters.iter().map(Vec::len).sum();
    assert!(bytes <= Parameters::MOST, "{bytes} bytes of parameters");
    let backwards = LAUNCHES.fetch_add(1, Ordering::Relaxed) % 2;
    let shape = [x, y, z, grid.threads, grid.shared];
    // SAFETY: the entry comes from `load`, and its kernel has these parameters; the shapes outlive the call.
    unsafe {
        let entry: Entry = std::mem::transmute::<usize, Entry>(function.0);
        entry(shape.as_ptr(), backwards as i32, values.as_ptr());
    }
}

/// The file of a kernel, compiled or found among those that were.
fn compiled(source: &Source) -> Answer<PathBuf> {
    let broken = |it: std::io::Error| Failure::Broken(format!("the emulated GPU: {it}"));
    let folder = std::env::temp_dir().join("notegrad-emulated-gpu");
    std::fs::create_dir_all(&folder).map_err(broken)?;
    let text = wrapped(source);
    let [a, b] = [0, 1].map(|salt| compiler::fingerprint(&format!("{HEADER}{text}"), salt));
    let file = folder.join(format!("{}-{a:016x}{b:016x}.so", source.name));
    check_by_nvrtc(source, &file.with_extension("checked"))?;
    if file.exists() {
        return Ok(file);
    }
    let own = tempfile_in(&folder);
    let (code, made) = (own.with_extension("cc"), own.with_extension("so"));
    let header = header(&folder).map_err(broken)?;
    std::fs::write(&code, format!("#include \"{}\"\n{text}", header.display())).map_err(broken)?;
    let done = host_compiler().arg("-o").args([&made, &code]).output().map_err(broken)?;
    let _ = std::fs::remove_file(&code);
    if !done.status.success() {
        let log = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(Failure::Refused(format!("{}: {log}", source.name)));
    }
    std::fs::rename(&made, &file).map_err(broken)?;
    Ok(file)
}

/// The compiler of C++ for kernels, with its options.
fn host_compiler() -> Command {
    let mut res = Command::new(std::env::var("CXX").unwrap_or_else(|_| "c++".into()));
    res.args(["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]);
    res
}

/// What kernels are written with here, beside it the same as the compiler has read it, which takes half of the time of most kernels.
fn header(folder: &Path) -> std::io::Result<PathBuf> {
    let res = folder.join(format!("emulator-{:016x}.h", compiler::fingerprint(HEADER, 0)));
    if res.exists() {
        return Ok(res);
    }
    crate::atomic_file::write(&res, HEADER.as_bytes())?;
    let made = tempfile_in(folder).with_extension("gch");
    let done = host_compiler().args(["-x", "c++-header", "-o"]).args([&made, &res]).output()?;
    if done.status.success() {
        // Without it each kernel reads the text.
        let _ = std::fs::rename(&made, res.with_extension("h.gch"));
    }
    Ok(res)
}

/// Where NVRTC is at hand, it has to take the kernel, too, without a warning, for all that it is written for. That it has is noted by a file
/// of the name `mark`.
fn check_by_nvrtc(source: &Source, mark: &Path) -> Answer<()> {
    if libraries::nvrtc().is_none() || mark.exists() {
        return Ok(());
    }
    for capability in [(8, 0), (9, 0)] {
        let (_, log) = compiler::compile(source, &compiler::target(capability)?)?;
        if !log.is_empty() {
            return Err(Failure::Refused(format!("{}: {log}", source.name)));
        }
    }
    // Without the mark it is looked at again.
    let _ = std::fs::write(mark, "");
    Ok(())
}

/// A name that nobody else has.
fn tempfile_in(folder: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("own-{}-{number}", std::process::id()))
}

/// The kernels and what launches each.
fn wrapped(source: &Source) -> String {
    let mut text = source.text.clone();
    let fibers = ["__sync", "__shfl", "__ballot"].iter().any(|it| text.contains(it));
    for part in source.text.split("__global__ void ").skip(1) {
        let name: String =
            part.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
        let _ = writeln!(
            text,
            "extern \"C\" void ng_launch_{name}(const unsigned *shape, int backwards, void **values) {{\n    \
             ng_run<{fibers}>({name}, shape, backwards, values);\n}}"
        );
    }
    text
}
