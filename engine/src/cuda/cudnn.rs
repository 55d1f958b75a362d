//! The functions and numbers of cuDNN 9 that are used, each taken from the library that was found; without one of them the library is not
//! there.
//!
//! All is described in the library's graphs: descriptors of some kind, whose attributes have names and types.

#![expect(unsafe_code, reason = "loading functions")]

use std::ffi::{CStr, c_char, c_int, c_void};

use cudarc::driver::sys::CUstream;

use super::driver::{Answer, Failure};
use super::libraries;
use crate::sync::OnceLock;

/// `cudnnStatus_t`.
pub(super) type Status = c_int;

pub(super) const SUCCESS: Status = 0;

/// Kernels have not run: from here on statuses are `CUDNN_STATUS_EXECUTION_FAILED` and its kinds.
pub(super) const EXECUTION_FAILED: Status = 5000;

/// `cudnnBackendDescriptorType_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Kind(c_int);

impl Kind {
    pub(super) const CONVOLUTION: Self = Self(1);
    pub(super) const ENGINE: Self = Self(2);
    pub(super) const ENGINE_CONFIG: Self = Self(3);
    pub(super) const HEURISTICS: Self = Self(4);
    pub(super) const PLAN: Self = Self(5);
    pub(super) const GRAPH: Self = Self(15);
    pub(super) const VARIANT_PACK: Self = Self(16);
    pub(super) const TENSOR: Self = Self(17);
}

/// `cudnnBackendAttributeName_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Name(c_int);

impl Name {
    pub(super) const CONVOLUTION_SUMS: Self = Self(100);
    pub(super) const CONVOLUTION_MODE: Self = Self(101);
    pub(super) const CONVOLUTION_DILATIONS: Self = Self(102);
    pub(super) const CONVOLUTION_STRIDES: Self = Self(103);
    pub(super) const CONVOLUTION_POST_PADDINGS: Self = Self(104);
    pub(super) const CONVOLUTION_PRE_PADDINGS: Self = Self(105);
    pub(super) const CONVOLUTION_AXES: Self = Self(106);
    pub(super) const HEURISTICS_MODE: Self = Self(200);
    pub(super) const HEURISTICS_GRAPH: Self = Self(201);
    pub(super) const HEURISTICS_RESULTS: Self = Self(202);
    pub(super) const CONFIG_ENGINE: Self = Self(300);
    pub(super) const PLAN_HANDLE: Self = Self(400);
    pub(super) const PLAN_CONFIG: Self = Self(401);
    pub(super) const PLAN_WORKSPACE: Self = Self(402);
    pub(super) const GRAPH_HANDLE: Self = Self(800);
    pub(super) const GRAPH_OPERATIONS: Self = Self(801);
    pub(super) const TENSOR_ALIGNMENT: Self = Self(900);
    pub(super) const TENSOR_TYPE: Self = Self(901);
    pub(super) const TENSOR_SIZES: Self = Self(902);
    pub(super) const TENSOR_STRIDES: Self = Self(903);
    pub(super) const TENSOR_ID: Self = Self(906);
    pub(super) const PACK_IDS: Self = Self(1000);
    pub(super) const PACK_POINTERS: Self = Self(1001);
    pub(super) const PACK_WORKSPACE: Self = Self(1003);
    pub(super) const ENGINE_NOTES: Self = Self(1303);
}

/// A pass of a convolution as an operation: its kind and the names of its attributes.
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) alpha: Name,
    pub(super) beta: Name,
    pub(super) convolution: Name,
    pub(super) images: Name,
    pub(super) kernels: Name,
    pub(super) results: Name,
}

/// `CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR`.
pub(super) static FORWARD: Operation = Operation {
    kind: Kind(10),
    alpha: Name(700),
    beta: Name(701),
    convolution: Name(702),
    kernels: Name(703),
    images: Name(704),
    results: Name(705),
};

/// `CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR`.
pub(super) static INPUT_GRAD: Operation = Operation {
    kind: Kind(12),
    alpha: Name(706),
    beta: Name(707),
    convolution: Name(708),
    kernels: Name(709),
    images: Name(710),
    results: Name(711),
};

/// `CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR`.
pub(super) static WEIGHT_GRAD: Operation = Operation {
    kind: Kind(11),
    alpha: Name(712),
    beta: Name(713),
    convolution: Name(714),
    kernels: Name(715),
    images: Name(716),
    results: Name(717),
};

/// A type of which the library has attributes.
///
/// # Safety
/// A value lies in memory as the library's type of this number (`cudnnBackendAttributeType_t`), and may have any bytes of that type.
pub(super) unsafe trait Attribute: Copy {
    const TYPE: c_int;
}

/// `cudnnHandle_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Handle(*mut c_void);

/// `cudnnDataType_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataType(c_int);

impl DataType {
    pub(super) const FLOAT: Self = Self(0);
    pub(super) const DOUBLE: Self = Self(1);
    pub(super) const HALF: Self = Self(2);
    pub(super) const INT8: Self = Self(3);
    pub(super) const INT32: Self = Self(4);
    pub(super) const BFLOAT16: Self = Self(9);
}

/// `cudnnConvolutionMode_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct ConvolutionMode(c_int);

impl ConvolutionMode {
    pub(super) const CROSS_CORRELATION: Self = Self(1);
}

/// `cudnnBackendHeurMode_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct HeuristicsMode(c_int);

impl HeuristicsMode {
    pub(super) const FALLBACK: Self = Self(2);
    pub(super) const A: Self = Self(3);
}

/// `cudnnBackendNumericalNote_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note(c_int);

impl Note {
    pub(super) const TENSOR_CORE: Self = Self(0);
    pub(super) const DOWN_CONVERT_INPUTS: Self = Self(1);
    pub(super) const REDUCED_PRECISION_REDUCTION: Self = Self(2);
    pub(super) const NONDETERMINISTIC: Self = Self(4);
    #[cfg(test)]
    pub(super) const WINOGRAD: Self = Self(5);
}

/// An address of the device.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Pointer(pub(super) *mut c_void);

/// `cudnnBackendDescriptor_t`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Raw(pub(super) *mut c_void);

// SAFETY: the library's header has these types under these numbers; those of ours are one field of the same layout.
unsafe impl Attribute for Handle {
    const TYPE: c_int = 0;
}
// SAFETY: as above.
unsafe impl Attribute for DataType {
    const TYPE: c_int = 1;
}
// SAFETY: as above.
unsafe impl Attribute for i64 {
    const TYPE: c_int = 3;
}
// SAFETY: as above.
unsafe impl Attribute for f32 {
    const TYPE: c_int = 4;
}
// SAFETY: as above.
unsafe impl Attribute for f64 {
    const TYPE: c_int = 5;
}
// SAFETY: as above.
unsafe impl Attribute for Pointer {
    const TYPE: c_int = 6;
}
// SAFETY: as above.
unsafe impl Attribute for ConvolutionMode {
    const TYPE: c_int = 7;
}
// SAFETY: as above.
unsafe impl Attribute for HeuristicsMode {
    const TYPE: c_int = 8;
}
// SAFETY: as above.
unsafe impl Attribute for Note {
    const TYPE: c_int = 11;
}
// SAFETY: as above.
unsafe impl Attribute for Raw {
    const TYPE: c_int = 15;
}

/// The functions of the library.
pub(super) struct Functions {
    version: unsafe extern "C" fn() -> usize,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    create_handle: unsafe extern "C" fn(*mut Handle) -> Status,
    pub(super) set_stream: unsafe extern "C" fn(Handle, CUstream) -> Status,
    pub(super) create: unsafe extern "C" fn(Kind, *mut Raw) -> Status,
    pub(super) destroy: unsafe extern "C" fn(Raw) -> Status,
    pub(super) finalize: unsafe extern "C" fn(Raw) -> Status,
    /// Descriptor, name, type, number of values, values.
    pub(super) set: unsafe extern "C" fn(Raw, Name, c_int, i64, *const c_void) -> Status,
    /// Descriptor, name, type, room for values, their number, values.
    pub(super) get: unsafe extern "C" fn(Raw, Name, c_int, i64, *mut i64, *mut c_void) -> Status,
    /// Handle, plan, variant pack.
    pub(super) execute: unsafe extern "C" fn(Handle, Raw, Raw) -> Status,
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
        Some(Self {
            version: symbol(library, "cudnnGetVersion")?,
            error_string: symbol(library, "cudnnGetErrorString")?,
            create_handle: symbol(library, "cudnnCreate")?,
            set_stream: symbol(library, "cudnnSetStream")?,
            create: symbol(library, "cudnnBackendCreateDescriptor")?,
            destroy: symbol(library, "cudnnBackendDestroyDescriptor")?,
            finalize: symbol(library, "cudnnBackendFinalize")?,
            set: symbol(library, "cudnnBackendSetAttribute")?,
            get: symbol(library, "cudnnBackendGetAttribute")?,
            execute: symbol(library, "cudnnBackendExecute")?,
        })
    }

    /// `90800` for 9.8.0.
    pub(super) fn version(&self) -> usize {
        // SAFETY: it may be called at any time, with or without a GPU.
        unsafe { (self.version)() }
    }

    /// A handle for the device of the current context. It stays as long as the process; one thread at a time may use it.
    pub(super) fn handle(&self) -> Answer<Handle> {
        let mut res = Handle(std::ptr::null_mut());
        // SAFETY: the pointer is to a handle of ours.
        self.check(unsafe { (self.create_handle)(&raw mut res) })?;
        Ok(res)
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
