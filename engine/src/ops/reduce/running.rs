//! What `cumsum`, `cumprod` and `logcumsumexp` share: (dim, dtype).

use ndarray::ArrayD;
use smallvec::smallvec;

use super::accumulated_dtype;
use crate::cpu::lane::cast;
use crate::cpu::number::Num;
use crate::cpu::{scan, strided};
use crate::meaning::{MeaningCx, along};
use crate::op::{InferCx, KernelCx};
use crate::shape::resolve_dim;
use crate::{Meta, Metas, Result, with_dtype, with_float};

/// What goes on along the dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Running {
    Sum,
    Product,
    /// The logarithm of a sum of exponentials.
    LogSum,
}

pub(super) fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(cx.shape(0).clone(), accumulated_dtype(cx, 1))])
}

pub(super) fn run(cx: &mut KernelCx<'_, '_>, what: Running) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    let dtype = cx.outputs[0].dtype();
    if what == Running::LogSum {
        return with_float!(cx.op.name, dtype, T => {
            let (data, out) = (cast::<T>(&input), cx.outputs[0].as_mut_slice::<T>());
            scan::float_scan(&data, (n, inner), out, f64::NEG_INFINITY, scan::log_add);
            Ok(())
        });
    }
    with_dtype!(dtype, T => {
        let (data, out) = (cast::<T>(&input), cx.outputs[0].as_mut_slice::<T>());
        match what {
            Running::Sum if dtype.is_float() => {
                scan::float_scan(&data, (n, inner), out, 0.0, |sum, x| sum + x);
            }
            Running::Sum => scan::scan(&data, (n, inner), out, T::ZERO, Num::plus),
            _ => scan::scan(&data, (n, inner), out, T::ONE, Num::times),
        }
    });
    Ok(())
}

/// What comes of each element and all before it on its line.
pub(super) fn meaning<T: Copy>(
    cx: &MeaningCx<'_>,
    x: &ArrayD<T>,
    combine: impl Fn(T, T) -> T,
) -> ArrayD<T> {
    let dim = cx.dim(0, x.ndim());
    let n = x.shape().get(dim).copied().unwrap_or(1);
    along(x, dim, n, |line| {
        let so_far = |total: &mut Option<T>, x: &T| {
            *total = Some(total.map_or(*x, |total| combine(total, *x)));
            *total
        };
        line.iter().scan(None, so_far).collect()
    })
}
