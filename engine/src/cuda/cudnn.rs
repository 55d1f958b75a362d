//! The functions of cuDNN 9 that are used, each taken from the library that was found; without one of them the library is not there.
//!
//! The three passes of a convolution have functions of the same types. Descriptors are pointers that only the library follows.

#![expect(unsafe_code, reason = "loading functions")]

use std::ffi::{CStr, c_char, c_int, c_void};

use cudarc::driver::sys::CUstream;

use super::driver::{Answer, Failure};
use super::libraries;
use crate::sync::OnceLock;

pub(super) type Handle = *mut c_void;
pub(super) type Descriptor = *mut c_void;
pub(super) type Data = *const c_void;

/// `cudnnStatus_t`.
pub(super) type Status = c_int;

pub(super) const SUCCESS: Status = 0;

/// Kernels have not run: from here on statuses are `CUDNN_STATUS_EXECUTION_FAILED` and its kinds.
pub(super) const EXECUTION_FAILED: Status = 5000;

/// `CUDNN_TENSOR_NCHW`.
pub(super) const NCHW: c_int = 0;

/// `CUDNN_CROSS_CORRELATION`.
pub(super) const CROSS_CORRELATION: c_int = 1;

/// `CUDNN_DETERMINISTIC`.
pub(super) const DETERMINISTIC: c_int = 1;

/// `cudnnDataType_t`.
pub(super) mod data_type {
    pub(in crate::cuda) const FLOAT: i32 = 0;
    pub(in crate::cuda) const DOUBLE: i32 = 1;
    pub(in crate::cuda) const HALF: i32 = 2;
    pub(in crate::cuda) const BFLOAT16: i32 = 9;
}

/// `cudnnMathType_t`.
pub(super) mod math {
    pub(in crate::cuda) const DEFAULT: i32 = 0;
    pub(in crate::cuda) const TENSOR_OP: i32 = 1;
    pub(in crate::cuda) const FMA: i32 = 3;
}

/// What the library says of an algorithm: `cudnnConvolutionFwdAlgoPerf_t`, and those of the other passes, which are laid out alike.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Performance {
    pub(super) algorithm: c_int,
    pub(super) status: Status,
    pub(super) time: f32,
    /// Bytes of workspace.
    pub(super) memory: usize,
    pub(super) determinism: c_int,
    pub(super) math: c_int,
    pub(super) reserved: [c_int; 3],
}

impl Performance {
    pub(super) const NONE: Self = Self {
        algorithm: 0,
        status: -1,
        time: 0.0,
        memory: 0,
        determinism: 0,
        math: 0,
        reserved: [0; 3],
    };
}

type Create = unsafe extern "C" fn(*mut Descriptor) -> Status;

/// Algorithms by what the library expects: operands, convolution, result, room for answers, their number, the answers.
type Get = unsafe extern "C" fn(
    Handle,
    Descriptor,
    Descriptor,
    Descriptor,
    Descriptor,
    c_int,
    *mut c_int,
    *mut Performance,
) -> Status;

/// Algorithms by measurement: as [`Get`], with the data, which is overwritten in the result, and a workspace.
type Find = unsafe extern "C" fn(
    Handle,
    Descriptor,
    Data,
    Descriptor,
    Data,
    Descriptor,
    Descriptor,
    *mut c_void,
    c_int,
    *mut c_int,
    *mut Performance,
    *mut c_void,
    usize,
) -> Status;

/// Computes `alpha * pass + beta * result`.
type Run = unsafe extern "C" fn(
    Handle,
    Data,
    Descriptor,
    Data,
    Descriptor,
    Data,
    Descriptor,
    c_int,
    *mut c_void,
    usize,
    Data,
    Descriptor,
    *mut c_void,
) -> Status;

/// The functions of one pass.
pub(super) struct PassFunctions {
    pub(super) get: Get,
    pub(super) find: Find,
    pub(super) run: Run,
}

/// The functions of the library.
pub(super) struct Functions {
    version: unsafe extern "C" fn() -> usize,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    pub(super) create: unsafe extern "C" fn(*mut Handle) -> Status,
    pub(super) set_stream: unsafe extern "C" fn(Handle, CUstream) -> Status,
    pub(super) create_tensor: Create,
    /// Format, type, n, c, h, w.
    pub(super) set_tensor:
        unsafe extern "C" fn(Descriptor, c_int, c_int, c_int, c_int, c_int, c_int) -> Status,
    pub(super) create_filter: Create,
    /// Type, format, k, c, h, w.
    pub(super) set_filter:
        unsafe extern "C" fn(Descriptor, c_int, c_int, c_int, c_int, c_int, c_int) -> Status,
    pub(super) create_convolution: Create,
    /// Padding, stride and dilation, each of both axes; mode, type of the sums.
    pub(super) set_convolution: unsafe extern "C" fn(
        Descriptor,
        c_int,
        c_int,
        c_int,
        c_int,
        c_int,
        c_int,
        c_int,
        c_int,
    ) -> Status,
    pub(super) set_groups: unsafe extern "C" fn(Descriptor, c_int) -> Status,
    pub(super) set_math: unsafe extern "C" fn(Descriptor, c_int) -> Status,
    pub(super) forward: PassFunctions,
    pub(super) input_grad: PassFunctions,
    pub(super) weight_grad: PassFunctions,
}

impl Functions {
    /// Those of the library that was found, if it has them all.
    pub(super) fn all() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Functions>> = OnceLock::new();
        let load = || {
            let place = &libraries::cudnn()?.place;
            // SAFETY: it is loaded already.
            let library = unsafe { libloading::Library::new(place) }.ok()?;
            let found = Self::of(&library);
            std::mem::forget(library);
            found
        };
        FOUND.get_or_init(load).as_ref()
    }

    fn of(library: &libloading::Library) -> Option<Self> {
        let pass = |[get, find, run]: [&str; 3]| {
            Some(PassFunctions {
                get: symbol(library, get)?,
                find: symbol(library, find)?,
                run: symbol(library, run)?,
            })
        };
        Some(Self {
            version: symbol(library, "cudnnGetVersion")?,
            error_string: symbol(library, "cudnnGetErrorString")?,
            create: symbol(library, "cudnnCreate")?,
            set_stream: symbol(library, "cudnnSetStream")?,
            create_tensor: symbol(library, "cudnnCreateTensorDescriptor")?,
            set_tensor: symbol(library, "cudnnSetTensor4dDescriptor")?,
            create_filter: symbol(library, "cudnnCreateFilterDescriptor")?,
            set_filter: symbol(library, "cudnnSetFilter4dDescriptor")?,
            create_convolution: symbol(library, "cudnnCreateConvolutionDescriptor")?,
            set_convolution: symbol(library, "cudnnSetConvolution2dDescriptor")?,
            set_groups: symbol(library, "cudnnSetConvolutionGroupCount")?,
            set_math: symbol(library, "cudnnSetConvolutionMathType")?,
            forward: pass([
                "cudnnGetConvolutionForwardAlgorithm_v7",
                "cudnnFindConvolutionForwardAlgorithmEx",
                "cudnnConvolutionForward",
            ])?,
            input_grad: pass([
                "cudnnGetConvolutionBackwardDataAlgorithm_v7",
                "cudnnFindConvolutionBackwardDataAlgorithmEx",
                "cudnnConvolutionBackwardData",
            ])?,
            weight_grad: pass([
                "cudnnGetConvolutionBackwardFilterAlgorithm_v7",
                "cudnnFindConvolutionBackwardFilterAlgorithmEx",
                "cudnnConvolutionBackwardFilter",
            ])?,
        })
    }

    /// `90800` for 9.8.0.
    pub(super) fn version(&self) -> usize {
        // SAFETY: it may be called at any time, with or without a GPU.
        unsafe { (self.version)() }
    }

    /// The answer for a status.
    pub(super) fn check(&self, status: Status) -> Answer<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the library gives a text that ends with 0 and stays, for every number.
        let text = unsafe { CStr::from_ptr((self.error_string)(status)) };
        Err(Failure::Broken(format!("cuDNN: {}", text.to_string_lossy())))
    }
}

/// A function of the library.
fn symbol<F: Copy>(library: &libloading::Library, name: &str) -> Option<F> {
    // SAFETY: the types are those of the library's header; it stays loaded.
    unsafe { library.get::<F>(name.as_bytes()) }.ok().map(|it| *it)
}
