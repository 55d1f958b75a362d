//! What ops on tensors without elements would take, in bytes and in seconds.
//!
//! Scratch space of kernels is not counted. Seconds are those of one slow core, right to a factor of a few.

use std::sync::Arc;

use crate::meter;
use crate::op::{Body, InferCx, Kernel};
use crate::tensor::Data;
use crate::{DType, Device, Layout, Meta, OpDef, Tensor};

pub use crate::meter::{
    Reading, begin, end, lap, leap, live, may_refuse, moved, seconds, uncounted,
};

/// What an op takes whose operands are small.
const PER_OP: f64 = 1e-6;

/// What it takes to read or write an element.
const PER_ELEMENT: f64 = 0.5e-9;

/// What a multiplication or an addition of a product takes.
const PER_FLOP: f64 = 5e-11;

/// Counts the time of an op.
pub(crate) fn spend(cx: &InferCx<'_>, outputs: &[Meta]) {
    if !meter::is_running() {
        return;
    }
    let refuses = kernel(cx.op).is_some_and(|it| it.admits.is_some());
    meter::count(PER_OP + seconds_of(cx, outputs), refuses);
}

/// Seconds for what an op reads, computes and writes.
pub(crate) fn seconds_of(cx: &InferCx<'_>, outputs: &[Meta]) -> f64 {
    let flops = kernel(cx.op).map_or(0, |it| (it.flops)(cx));
    let read: usize = cx.inputs.iter().map(Tensor::numel).sum();
    let written: usize = outputs.iter().map(|it| it.shape.numel()).sum();
    (read + written) as f64 * PER_ELEMENT + flops as f64 * PER_FLOP
}

fn kernel(op: &'static OpDef) -> Option<&'static Kernel> {
    match op.body {
        Body::Kernels(kernels) => kernels.first(),
        _ => None,
    }
}

/// A result of an op, without elements.
pub(crate) fn computed(meta: Meta, device: Device) -> Tensor {
    let claim = (device == Device::Cpu).then(|| meter::claim_new(meta.bytes())).flatten();
    Tensor::make(meta.dtype, Layout::contiguous(meta.shape), Data::Abstract(claim, device), None)
}

/// A view without elements; it shares the claim of what it looks at.
pub(crate) fn view(base: &Tensor, layout: Layout, dtype: DType) -> Tensor {
    let claim = match base.data() {
        Data::Abstract(claim, _) => claim.clone(),
        _ => None,
    };
    Tensor::make(dtype, layout, Data::Abstract(claim, base.device()), None)
}

/// A tensor that is there, without its elements. Where nothing else holds the buffer, the meter counts it as freed with the last handle.
pub fn known(tensor: &Tensor) -> Tensor {
    let claim = match tensor.data() {
        Data::Stored(storage) if storage.gpu().is_none() => {
            // One handle of the variable, one of the caller.
            let alone = Arc::strong_count(storage) == 1 && tensor.handles() <= 2;
            meter::claim_known(storage.len(), alone)
        }
        _ => None,
    };
    let data = match tensor.device() {
        Device::Meta => Data::Meta,
        device => Data::Abstract(claim, device),
    };
    Tensor::make(tensor.dtype(), tensor.layout().clone(), data, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functional::{add, full, matmul, reshape};
    use crate::{DType, Shape, apply};

    fn ones() -> Tensor {
        full(&Shape::from([1024]), 1.0, DType::F32).unwrap()
    }

    #[test]
    fn results_count_until_their_last_handle_goes() {
        let ones = ones();
        let before = apply::set_shapes_only(true);
        begin();
        let a = add(&ones, &ones).unwrap();
        assert_eq!(live(), 4096);
        let view = reshape(&a, &Shape::from([2, 512])).unwrap();
        drop(a);
        assert_eq!(live(), 4096, "a view holds what it looks at");
        let sum = add(&view, &view).unwrap();
        assert!(moved() && !moved());
        drop((view, sum));
        assert_eq!(live(), 0);
        assert_eq!(lap(), 8192);
        assert_eq!(lap(), 0);
        leap(100_000, 300);
        assert_eq!(live(), 300);
        let left = add(&ones, &ones).unwrap();
        drop(uncounted(|| add(&ones, &ones).unwrap()));
        assert_eq!(live(), 300 + 4096);
        assert_eq!(end(), Reading { peak: 100_000, new_peak: 100_000, known: 0 });
        begin();
        drop(left);
        assert_eq!(live(), 0, "a claim of an earlier measurement");
        end();
        apply::set_shapes_only(before);
    }

    #[test]
    fn products_count_their_multiplications() {
        let measure = |size: usize| {
            let x = full(&Shape::from([size, size]), 1.0, DType::F32).unwrap();
            let before = apply::set_shapes_only(true);
            begin();
            drop(matmul(&x, &x).unwrap());
            let product = seconds();
            drop(add(&x, &x).unwrap());
            let both = seconds();
            end();
            apply::set_shapes_only(before);
            (product, both - product)
        };
        let (small, large) = (measure(8), measure(2048));
        assert!(small.0 < 1e-5 && small.1 < 1e-5, "{small:?}");
        assert!(large.0 > 0.1 && large.1 < 0.02, "{large:?}");
        assert!(large.0 < 2.0, "{large:?}");
    }

    #[test]
    fn what_was_there_is_freed_once() {
        let there = add(&ones(), &ones()).unwrap();
        let held = there.detach().with_edge(None);
        begin();
        drop(known(&there));
        assert_eq!(live(), 0, "somebody else holds the buffer");
        drop(held);
        drop(known(&there));
        assert_eq!(live(), -4096);
        assert_eq!(end(), Reading { peak: 0, new_peak: 0, known: 8192 });
        assert_eq!(known(&there).meta(), there.meta());
    }
}
