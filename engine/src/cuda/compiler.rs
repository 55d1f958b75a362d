//! NVRTC, and what it has compiled before: one file for each kernel and architecture in the user's cache folder.

#![expect(unsafe_code, reason = "calls of the compiler")]

use std::ffi::{CString, c_char, c_int};
use std::fmt::Display;
use std::path::PathBuf;
use std::ptr;

use cudarc::nvrtc::sys;

use super::driver::{Answer, Failure};
use super::libraries;
use super::source::Source;
use crate::atomic_file;

/// A kernel for devices of this compute capability, as the driver loads it.
pub(super) fn compiled(source: &Source, capability: (u32, u32)) -> Answer<Vec<u8>> {
    let target = target(capability)?;
    let file = cache_folder().map(|it| it.join(file_name(source, &target)));
    if let Some(known) = file.as_ref().and_then(|it| std::fs::read(it).ok()).and_then(whole) {
        return Ok(known);
    }
    let (image, _log) = compile(source, &target)?;
    if let Some(file) = file {
        // Without the file it is compiled again next time.
        let _ = file.parent().map(std::fs::create_dir_all);
        let mut bytes = image.clone();
        bytes.extend(crc32fast::hash(&image).to_le_bytes());
        let _ = atomic_file::write(&file, &bytes);
    }
    Ok(image)
}

/// What a kernel is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// `sm_90`, for machine code; or `compute_90`, for text that the driver compiles.
    pub(super) architecture: String,
    version: (i32, i32),
}

/// The target for a device, by the newest architecture that this NVRTC knows; an error that says what is missing.
pub(super) fn target((major, minor): (u32, u32)) -> Answer<Target> {
    let missing = "the compiler of kernels, NVRTC, is not there (libnvrtc.so.13 or .12): install it with `pip install \
                   nvidia-cuda-nvrtc`, or the CUDA toolkit; NOTEGRAD_CUDA may name the folder where it is";
    libraries::nvrtc().ok_or_else(|| Failure::Broken(missing.into()))?;
    let (mut first, mut second, mut count) = (0, 0, 0);
    // SAFETY: the library is loaded; the pointers are to numbers of ours, and the list has room for all architectures.
    let known = unsafe {
        check(sys::nvrtcVersion(&raw mut first, &raw mut second))?;
        check(sys::nvrtcGetNumSupportedArchs(&raw mut count))?;
        let mut known = vec![0 as c_int; count.max(0) as usize];
        check(sys::nvrtcGetSupportedArchs(known.as_mut_ptr()))?;
        known
    };
    let wanted = (major * 10 + minor) as c_int;
    let newest = known.iter().copied().filter(|it| *it <= wanted).max();
    let architecture = match newest {
        Some(it) if it == wanted => format!("sm_{it}"),
        Some(it) => format!("compute_{it}"),
        None => {
            let text = format!(
                "NVRTC {first}.{second} does not compile for compute capability {major}.{minor} any more"
            );
            return Err(Failure::Broken(text));
        }
    };
    Ok(Target { architecture, version: (first, second) })
}

fn check(result: sys::nvrtcResult) -> Answer<()> {
    match result {
        sys::nvrtcResult::NVRTC_SUCCESS => Ok(()),
        other => Err(Failure::Broken(format!("NVRTC error {}", other as u32))),
    }
}

/// The stack of the thread on which NVRTC compiles: large kernels overflow what threads have otherwise.
const STACK: usize = 64 << 20;

/// Compiles a kernel: the image, and what the compiler says about it.
pub(super) fn compile(source: &Source, target: &Target) -> Answer<(Vec<u8>, String)> {
    let failed = |it: &dyn Display| Failure::Broken(format!("NVRTC does not run: {it}"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("nvrtc".into()).stack_size(STACK);
        let running = thread.spawn_scoped(scope, || compile_here(source, target));
        let running = running.map_err(|it| failed(&it))?;
        running.join().unwrap_or_else(|_| Err(failed(&"it panicked")))
    })
}

fn compile_here(source: &Source, target: &Target) -> Answer<(Vec<u8>, String)> {
    let refused = |it: std::ffi::NulError| Failure::Refused(it.to_string());
    let text = CString::new(source.begun()).map_err(refused)?;
    let name = CString::new(format!("{}.cu", source.name)).map_err(refused)?;
    let options = [
        format!("--gpu-architecture={}", target.architecture),
        "--fmad=false".into(),
        "--std=c++17".into(),
        "--device-as-default-execution-space".into(),
    ];
    let options: Vec<CString> = options.into_iter().flat_map(CString::new).collect();
    let options: Vec<*const c_char> = options.iter().map(|it| it.as_ptr()).collect();
    let mut program = ptr::null_mut();
    // SAFETY: all texts end with 0 and outlive the calls; each buffer is as long as the compiler says.
    unsafe {
        check(sys::nvrtcCreateProgram(
            &raw mut program,
            text.as_ptr(),
            name.as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        ))?;
        let done = sys::nvrtcCompileProgram(program, options.len() as c_int, options.as_ptr());
        let mut length = 0;
        check(sys::nvrtcGetProgramLogSize(program, &raw mut length))?;
        let mut log = vec![0_u8; length];
        check(sys::nvrtcGetProgramLog(program, log.as_mut_ptr().cast()))?;
        let log = String::from_utf8_lossy(&log).trim_matches(['\0', '\n']).to_owned();
        if done != sys::nvrtcResult::NVRTC_SUCCESS {
            sys::nvrtcDestroyProgram(&raw mut program);
            return Err(Failure::Refused(format!("{}: {log}", source.name)));
        }
        let image = image(program, target.architecture.starts_with("sm_"));
        sys::nvrtcDestroyProgram(&raw mut program);
        Ok((image?, log))
    }
}

/// Machine code, or text that ends with 0.
///
/// # Safety
/// The program is compiled.
unsafe fn image(program: sys::nvrtcProgram, is_code: bool) -> Answer<Vec<u8>> {
    let mut length = 0;
    // SAFETY: the buffer is as long as the compiler says.
    unsafe {
        if is_code {
            check(sys::nvrtcGetCUBINSize(program, &raw mut length))?;
            let mut image = vec![0_u8; length];
            check(sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()))?;
            return Ok(image);
        }
        check(sys::nvrtcGetPTXSize(program, &raw mut length))?;
        let mut image = vec![0_u8; length];
        check(sys::nvrtcGetPTX(program, image.as_mut_ptr().cast()))?;
        Ok(image)
    }
}

/// What a file of the cache holds, if nothing has damaged it.
fn whole(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let split = bytes.len().checked_sub(4)?;
    let sum = u32::from_le_bytes(bytes[split..].try_into().ok()?);
    bytes.truncate(split);
    (crc32fast::hash(&bytes) == sum).then_some(bytes)
}

/// A name that tells the source, the architecture and the compiler apart from all others.
fn file_name(source: &Source, target: &Target) -> String {
    let Target { architecture, version: (major, minor) } = target;
    let text = source.begun();
    let [a, b] = [0, 1].map(|salt| fingerprint(&text, salt));
    format!("{}-{a:016x}{b:016x}-{architecture}-{major}.{minor}", source.name)
}

/// FNV-1a of a text, behind a byte that makes another one of it.
pub(super) fn fingerprint(text: &str, salt: u8) -> u64 {
    let bytes = std::iter::once(salt).chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Where compiled kernels are kept; `None` where the user has no such folder.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || variable("HOME").map(|it| PathBuf::from(it).join(".cache"));
    cache.or_else(home).map(|it| it.join("notegrad").join("kernels"))
}
