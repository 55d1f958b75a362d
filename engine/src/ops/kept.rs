//! Prepared kernels that keep copies of constant operands in the order in which they read them: same bits as without, in each algorithm.

use crate::cpu::kept::Shelf;
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

/// Runs every algorithm with the operands of these bits as constants; the names of those that keep a copy of one.
fn check(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, constant: u32) -> Vec<&'static str> {
    let Body::Kernels(kernels) = op.body else { return Vec::new() };
    let mut keep = Vec::new();
    let mut other = inputs.to_vec();
    for (at, it) in other.iter_mut().enumerate().filter(|it| constant >> it.0 & 1 == 0) {
        *it = sample(it.shape(), it.dtype(), 40 + at);
    }
    for kernel in kernels {
        let case = Case::new(op, inputs, attrs);
        let Some(plain) = kernel.prepare(&case) else { continue };
        let shelf: &'static Shelf = Box::leak(Box::new(Shelf::new(1 << 28)));
        let keeping = kernel.prepare(&case.with_constants(constant, shelf)).unwrap();
        let taken = shelf.taken();
        keep.extend((taken > 0).then_some(kernel.name));
        let again = keeping.clone();
        for inputs in [inputs, &other] {
            let kinds: Vec<_> = inputs.iter().map(|it| it.meta().to_string()).collect();
            let want = given(op, &plain, inputs, attrs);
            assert!(given(op, &keeping, inputs, attrs) == want, "{} {kinds:?}", kernel.name);
        }
        drop(keeping);
        assert_eq!(shelf.taken(), taken, "{} keeps one copy for all who hold it", kernel.name);
        assert!(given(op, &again, inputs, attrs) == given(op, &plain, inputs, attrs));
        drop(again);
        assert_eq!(shelf.taken(), 0, "{} gives back what it kept", kernel.name);
    }
    keep
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
            for constant in 1..4 {
                keep.extend(check(op, &inputs, &Attrs::new(), constant));
            }
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
            keep.extend(check(op, &inputs, &attrs, 0b010));
            keep.extend(check(op, &inputs, &attrs, 0b110));
            keep.extend(check(op, &inputs[..2], &attrs, 0b010));
            let out = apply::infer(op, &inputs, &attrs).unwrap().remove(0).shape;
            let size = Attr::Ints(x[2..].iter().map(|&it| it as i64).collect());
            let turned = [sample(&out, dtype, 3), inputs[1].clone()];
            let attrs = std::iter::once(size).chain(attrs.iter().cloned()).collect();
            keep.extend(check(input_grad, &turned, &attrs, 0b10));
        }
    }
    for name in ["conv.direct", "conv.im2col", "conv.winograd"] {
        assert!(keep.contains(&name), "{name} among {keep:?}");
    }
}
