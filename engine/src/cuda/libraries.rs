//! NVIDIA's libraries, as they are found at run time: the driver, the compiler NVRTC, the products of cuBLASLt, the
//! convolutions of cuDNN.
//!
//! The system's search comes first; then the folders where the CUDA toolkit and NVIDIA's packages for Python put them. What is found
//! there is loaded by its path, and stays loaded, so that `cudarc` finds it by name.

#![expect(unsafe_code, reason = "loading libraries")]

use std::path::{Path, PathBuf};

use crate::sync::OnceLock;

/// A library that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The name or the path by which it was loaded.
    pub place: String,
}

/// Versions of CUDA whose libraries will do, the newest first.
const VERSIONS: [u32; 2] = [13, 12];

/// Versions of cuDNN that will do.
const CUDNN_VERSIONS: [u32; 1] = [9];

/// The driver.
pub fn driver() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    FOUND.get_or_init(|| loaded(["libcuda.so.1".into(), "libcuda.so".into()])).as_ref()
}

/// The compiler of kernels.
pub fn nvrtc() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    FOUND.get_or_init(|| search("libnvrtc", &VERSIONS, "cuda_nvrtc")).as_ref()
}

/// Products of matrices.
pub fn cublas_lt() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    FOUND.get_or_init(|| search("libcublasLt", &VERSIONS, "cublas")).as_ref()
}

/// Convolutions.
pub fn cudnn() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    FOUND.get_or_init(|| search("libcudnn", &CUDNN_VERSIONS, "cudnn")).as_ref()
}

/// Loads the first of these that can be loaded, for as long as the process runs.
fn loaded(places: impl IntoIterator<Item = String>) -> Option<Library> {
    let load = |place: &String| {
        // SAFETY: NVIDIA's libraries may be loaded at any time; what runs as they are is theirs.
        let library = unsafe { libloading::Library::new(place) }.ok()?;
        std::mem::forget(library);
        Some(())
    };
    places.into_iter().find(|it| load(it).is_some()).map(|place| Library { place })
}

/// Looks for a library by its name, then in folders; `package` is its folder in those of Python.
fn search(name: &str, versions: &[u32], package: &str) -> Option<Library> {
    let files: Vec<String> = versions.iter().map(|it| format!("{name}.so.{it}")).collect();
    let in_folder =
        |folder: PathBuf| files.iter().map(|it| folder.join(it)).collect::<Vec<PathBuf>>();
    let paths = folders(package).into_iter().flat_map(in_folder).filter(|it| it.exists());
    let paths: Vec<String> = paths.map(|it| it.to_string_lossy().into_owned()).collect();
    loaded(files.into_iter().chain(paths))
}

/// Where else libraries may be: `NOTEGRAD_CUDA`, the toolkit, packages of the Python that is in use.
fn folders(package: &str) -> Vec<PathBuf> {
    let mut res = Vec::new();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    if let Some(folder) = variable("NOTEGRAD_CUDA") {
        res.extend([folder.join("lib64"), folder.join("lib"), folder]);
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(|it| variable(it));
    for home in homes.chain([PathBuf::from("/usr/local/cuda")]) {
        res.push(home.join("lib64"));
    }
    let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|it| variable(it));
    let beside = variable("PATH").into_iter().flat_map(|it| {
        let folders: Vec<PathBuf> = std::env::split_paths(&it).collect();
        folders.into_iter().filter(|it| it.join("python3").exists())
    });
    let beside = beside.filter_map(|it| Some(it.parent()?.to_path_buf()));
    for prefix in prefixes.chain(beside) {
        res.extend(packages(&prefix, package));
    }
    res
}

/// The folders of NVIDIA's packages below a prefix of Python.
fn packages(prefix: &Path, package: &str) -> Vec<PathBuf> {
    let mut res = Vec::new();
    for lib in ["lib", "local/lib"] {
        let Ok(entries) = std::fs::read_dir(prefix.join(lib)) else { continue };
        let is_python = |it: &PathBuf| {
            it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("python3"))
        };
        for python in entries.flatten().map(|it| it.path()).filter(is_python) {
            for packages in ["site-packages", "dist-packages"] {
                let nvidia = python.join(packages).join("nvidia");
                let newest = VERSIONS.map(|it| nvidia.join(format!("cu{it}")).join("lib"));
                res.extend(newest);
                res.push(nvidia.join(package).join("lib"));
            }
        }
    }
    res
}
