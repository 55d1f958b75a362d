//! Prepared kernels that keep copies beside operands in the order in which they read them: same bits as without, in each algorithm.

use crate::launch::run_kernel;
use crate::op::{Body, Case, Prepared};
use crate::random::Stream;
use crate::test_ops::{bits, sample};
use crate::{Attr, Attrs, DType, OpDef, Tensor, apply, ops};

/// The bits of what a prepared kernel gives.
fn given(op: &'static OpDef, kernel: &Prepared, inputs: &[Tensor], attrs: &Attrs) -> Vec<u64> {
    let metas = apply::infer(op, inputs, attrs).unwrap();
    let outputs = run_kernel(op, kernel, inputs, attrs, metas, &Stream::new(0)).unwrap();
    bits(&outputs[0])
}

/// Runs every algorithm again and again on the same operands; the names of those that keep copies beside one.
fn check(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Vec<&'static str> {
    let Body::Kernels(kernels) = op.body else { return Vec::new() };
    let kinds: Vec<_> = inputs.iter().map(|it| it.meta().to_string()).collect();
    let mut keep = Vec::new();
    for kernel in kernels {
        let Some(prepared) = kernel.prepare(&Case::new(op, inputs, attrs)) else { continue };
        let fresh = || -> Vec<Tensor> {
            let copy = own_of;
            inputs.iter().map(copy).collect()
        };
        let want = given(op, &prepared, &fresh(), attrs);
        let again = fresh();
        for _ in 0..3 {
            assert!(given(op, &prepared, &again, attrs) == want, "{} {kinds:?}", kernel.name);
        }
        let keeps = |it: &Tensor| it.storage().unwrap().packs().n_kept() > 0;
        keep.extend(again.iter().any(keeps).then_some(kernel.name));
    }
    keep
}

/// A parameter with a copy of the elements, in a buffer of its own, which lies in the same way.
fn own(view: crate::cpu::view::View<'_>) -> Tensor {
    let bytes = crate::with_size!(view.dtype(), T => {
        crate::storage::from_slice(view.buffer::<T>()).unwrap()
    });
    Tensor::stored(bytes, view.layout().clone(), view.dtype()).leaf()
}

#[test]
fn products_of_kept_operands_give_the_same_bits() {
    let mut keep = Vec::new();
    for (op, a, b) in [
        ("linear", &[300, 200][..], &[130, 200][..]),
        ("linear", &[8, 128], &[128, 128]),
        ("linear", &[1, 512], &[300, 512]),
        ("linear", &[5, 3, 1200], &[70, 1200]),
        ("matmul", &[150, 700], &[700, 130]),
        ("matmul", &[1, 700], &[700, 300]),
        ("matmul", &[300, 700], &[700, 1]),
        ("matmul", &[9, 64, 64], &[9, 64, 64]),
        ("matmul", &[40, 50, 60], &[60, 70]),
        ("matmul", &[2, 0, 5], &[5, 3]),
    ] {
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            let inputs = [sample(a, dtype, 1), sample(b, dtype, 2)];
            let op = ops::find(op).unwrap();
            keep.extend(check(op, &inputs, &Attrs::new()));
        }
    }
    assert!(keep.contains(&"gemm.packed"), "{keep:?}");
}

#[test]
fn convolutions_of_kept_weights_give_the_same_bits() {
    let [op, input_grad] = ["convolution", "conv2d_input_grad"].map(|it| ops::find(it).unwrap());
    let mut keep = Vec::new();
    for (x, w, stride, padding, groups) in [
        ([8, 32, 14, 14], [32, 32, 3, 3], 1, 1, 1),
        ([2, 3, 60, 50], [16, 3, 5, 5], 2, 2, 1),
        ([1, 16, 40, 40], [24, 8, 3, 3], 1, 0, 2),
        ([4, 48, 20, 20], [40, 48, 1, 1], 1, 0, 1),
        ([1, 520, 13, 11], [140, 520, 1, 1], 1, 0, 1),
    ] {
        let pair = |it: i64| Attr::Ints(vec![it, it].into());
        let attrs: Attrs =
            [pair(stride), pair(padding), pair(1), Attr::Int(groups)].into_iter().collect();
        for dtype in [DType::F32, DType::F64] {
            let bias = sample(&w[..1], dtype, 5);
            let inputs = [sample(&x, dtype, 1), sample(&w, dtype, 2), bias];
            keep.extend(check(op, &inputs, &attrs));
            keep.extend(check(op, &inputs[..2], &attrs));
            let out = apply::infer(op, &inputs, &attrs).unwrap().remove(0).shape;
            let size = Attr::Ints(x[2..].iter().map(|&it| it as i64).collect());
            let turned = [sample(&out, dtype, 3), inputs[1].clone()];
            let attrs = std::iter::once(size).chain(attrs.iter().cloned()).collect();
            keep.extend(check(input_grad, &turned, &attrs));
        }
    }
    for name in ["conv.direct", "conv.im2col", "conv.winograd"] {
        assert!(keep.contains(&name), "{name} among {keep:?}");
    }
}

#[test]
fn a_write_forgets_what_was_kept() {
    let op = ops::find("linear").unwrap();
    let x = sample(&[8, 128], DType::F32, 1);
    let mut w = own_of(&sample(&[300, 128], DType::F32, 2));
    let run = |w: &Tensor| bits(&apply(op, &[x.clone(), w.clone()], &Attrs::new()).unwrap()[0]);
    let packs = |w: &Tensor| w.storage().unwrap().packs().n_kept();
    let packed = |w: &Tensor| {
        (0..3).for_each(|_| drop(run(w)));
        packs(w)
    };
    let (before, kept) = (run(&w), packed(&w));
    crate::cpu::typed::slice_mut::<f32>(w.own_bytes().unwrap()).fill(0.5);
    assert_eq!(packs(&w), 0);
    let after = run(&w);
    assert!(before != after && packed(&w) == kept && run(&w) == after);
    assert_eq!(run(&own_of(&w)), after);
}

fn own_of(tensor: &Tensor) -> Tensor {
    tensor.with_view(own).unwrap()
}
