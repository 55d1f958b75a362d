//! CPU compute kernels on raw strided slices. They know nothing of tensors, ops or autograd.
//!
//! Public functions check their slices against the problem they are given, so callers stay in safe code; `unsafe`
//! lives here only. The instruction set is chosen at run time ([`features::isa`]), so one binary runs everywhere.

#![expect(
    unsafe_code,
    reason = "vector kernels, the allocator and the worker pool work on raw memory"
)]

pub mod alloc;
#[cfg(target_arch = "x86_64")]
pub mod amx;
pub mod arena;
pub mod attention;
pub mod batch_norm;
pub mod conv;
pub mod element;
pub mod elements;
pub mod extremes;
pub mod features;
pub mod fourier;
pub mod gemm;
pub(crate) mod hits;
pub mod int8;
pub mod interrupt;
pub(crate) mod jit;
pub mod lane;
pub mod large;
pub mod layer_norm;
pub mod linalg;
pub(crate) mod local;
pub mod machine_memory;
pub mod max_pool;
pub mod memory;
pub(crate) mod mix;
pub mod moments;
pub mod number;
pub mod order;
pub mod packs;
pub mod pool;
pub mod pool2d;
mod radix;
pub mod reduce;
pub(crate) mod rows;
pub mod scan;
mod scratch;
pub mod search;
mod simd;
pub mod softmax;
pub mod strided;
pub(crate) mod strips;
pub(crate) mod turned;
pub mod typed;
pub mod variances;
pub mod view;
pub mod wide;

pub use alloc::{AllocError, Bytes};
pub use element::{Element, ElementKind};
pub use features::{Isa, isa};
