//! All algorithms against plain loops, for all passes, under every instruction set of the machine.

use super::*;
use crate::cpu::gemm;
use crate::cpu::packs::Packs;

fn values<T: Element>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64(((i * 7 + seed * 5 + i / 3) % 13) as f64 - 6.0)).collect()
}

fn check<T: Element>(p: &ConvProblem, tolerance: f64) {
    let [x, w, y] = p.lens();
    for (pass, lhs, rhs, out) in [
        (ConvPass::Forward, x, w, y),
        (ConvPass::InputGrad, y, w, x),
        (ConvPass::WeightGrad, x, y, w),
    ] {
        for isa in Isa::available() {
            let p = ConvProblem { pass, isa, ..*p };
            let (lhs, rhs) = (values::<T>(lhs, 1), values::<T>(rhs, 2));
            let mut want = vec![T::NAN; out];
            run(&naive::ALGO, &p, &lhs, &rhs, &mut want, &Epilogue::NONE);
            for algo in ALL.iter().filter(|algo| (algo.usable)(&p)) {
                assert!((algo.workspace)(&p) < 1 << 40, "{}", algo.name);
                let mut got = vec![T::NAN; out];
                run(algo, &p, &lhs, &rhs, &mut got, &Epilogue::NONE);
                let limit = if algo.accurate { 0.0 } else { tolerance };
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    let error = (got.to_f64() - want.to_f64()).abs();
                    assert!(error <= limit, "{} at {i}: {got:?} {want:?} {p:?}", algo.name);
                }
            }
        }
    }
}

#[test]
fn plain_shapes() {
    for (batch, c, k, size) in
        [(1, 1, 1, 3), (2, 3, 5, 8), (3, 16, 16, 9), (1, 5, 33, 17), (9, 4, 8, 8)]
    {
        for padding in 0..3 {
            let p = ConvProblem::new::<f32>([batch, c, size, size + 2], [k, c, 3, 3]);
            check::<f32>(&ConvProblem { padding: [padding, padding], ..p }, 2e-2);
        }
    }
    check::<f64>(&ConvProblem::new::<f64>([2, 3, 19, 21], [7, 3, 3, 3]), 1e-10);
}

#[test]
fn no_images_channels_or_pixels() {
    for (x, k) in [([0, 3, 16, 16], 4), ([0, 64, 16, 16], 64), ([2, 0, 8, 8], 3), ([2, 3, 8, 8], 0)]
    {
        let p = ConvProblem::new::<f32>(x, [k, x[1], 3, 3]);
        check::<f32>(&p, 0.0);
        check::<f32>(&ConvProblem { padding: [1, 1], stride: [2, 2], ..p }, 0.0);
    }
    check::<f32>(&ConvProblem::new::<f32>([2, 3, 2, 8], [4, 3, 3, 3]), 0.0);
    check::<f64>(&ConvProblem::new::<f64>([2, 3, 0, 8], [4, 3, 1, 1]), 0.0);
}

#[test]
fn strides_dilations_and_groups() {
    for stride in [[1, 1], [2, 2], [3, 1], [1, 2]] {
        for padding in [[0, 0], [1, 2], [3, 1]] {
            for (dilation, groups) in [([1, 1], 1), ([2, 1], 2), ([1, 3], 4)] {
                let p = ConvProblem::new::<f32>([2, 4, 11, 10], [8, 4, 3, 2]);
                check::<f32>(&ConvProblem { stride, padding, dilation, groups, ..p }, 0.0);
            }
        }
    }
    let p = ConvProblem::new::<f64>([3, 6, 7, 9], [6, 6, 1, 1]);
    check::<f64>(&p, 0.0);
    check::<f64>(&ConvProblem { groups: 6, stride: [2, 3], ..p }, 0.0);
    check::<f32>(
        &ConvProblem {
            stride: [2, 2],
            padding: [3, 3],
            ..ConvProblem::new::<f32>([1, 3, 30, 30], [8, 3, 7, 7])
        },
        0.0,
    );
}

#[test]
fn shapes_that_are_shared_among_threads() {
    let padding = [1, 1];
    for (x, k) in [
        ([1, 16, 40, 40], 32),
        ([20, 8, 12, 12], 16),
        ([1, 64, 14, 14], 64),
        ([5, 24, 20, 30], 40),
        ([1, 3, 40, 60], 64),
    ] {
        let p = ConvProblem::new::<f32>(x, [k, x[1], 3, 3]);
        check::<f32>(&ConvProblem { padding, threads: 2, isa: isa(), ..p }, 0.2);
    }
}

#[test]
fn the_cheapest_algorithm_is_chosen() {
    let name = |x: [usize; 4], w: [usize; 4], stride: usize| {
        let padding = [w[2] / 2, w[3] / 2];
        let p = ConvProblem { stride: [stride; 2], padding, ..ConvProblem::new::<f32>(x, w) };
        let turned = ConvProblem { pass: ConvPass::InputGrad, ..p };
        [heuristic(&p).name, heuristic(&turned).name]
    };
    assert_eq!(name([64, 16, 14, 14], [32, 16, 3, 3], 1), ["winograd"; 2]);
    assert_eq!(name([1, 256, 14, 14], [256, 256, 3, 3], 1), ["winograd"; 2]);
    assert_eq!(name([1, 512, 7, 7], [512, 512, 3, 3], 1), ["direct"; 2]);
    assert_eq!(name([64, 1, 28, 28], [16, 1, 3, 3], 1), ["direct"; 2]);
    assert_eq!(name([1, 64, 56, 56], [128, 64, 3, 3], 2), ["direct", "im2col"]);
    assert_eq!(name([1, 64, 56, 56], [128, 64, 1, 1], 2), ["im2col"; 2]);
}

#[test]
fn values_of_another_library() {
    // x = (torch.arange(2*2*4*4) % 7 - 3).float().reshape(2, 2, 4, 4)
    // w = (torch.arange(2*2*3*3) % 5 - 2).float().reshape(2, 2, 3, 3)
    // F.conv2d(x, w, stride=2, padding=1).flatten()
    let x: Vec<f32> = (0..64).map(|i| (i % 7 - 3) as f32).collect();
    let w: Vec<f32> = (0..36).map(|i| (i % 5 - 2) as f32).collect();
    let p = ConvProblem::new::<f32>([2, 2, 4, 4], [2, 2, 3, 3]);
    let p = ConvProblem { stride: [2, 2], padding: [1, 1], ..p };
    for algo in ALL.iter().filter(|algo| (algo.usable)(&p)) {
        let mut y = [0.0; 16];
        run(algo, &p, &x, &w, &mut y, &Epilogue::NONE);
        assert_eq!(y, TORCH_STRIDED, "{}", algo.name);
    }
    // torch.nn.grad.conv2d_input((2, 2, 4, 4), w, y, stride=2, padding=1).flatten()[:16], y as above
    let mut dx = [0.0; 64];
    conv2d(&ConvProblem { pass: ConvPass::InputGrad, ..p }, &TORCH_STRIDED, &w, &mut dx);
    assert_eq!(dx[..16], TORCH_INPUT_GRAD);
    // torch.nn.grad.conv2d_weight(x, w.shape, y, stride=2, padding=1).flatten()[:18]
    let mut dw = [0.0; 36];
    conv2d(&ConvProblem { pass: ConvPass::WeightGrad, ..p }, &x, &TORCH_STRIDED, &mut dw);
    assert_eq!(dw[..18], TORCH_WEIGHT_GRAD);
}

const TORCH_STRIDED: [f32; 16] =
    [-4.0, 4.0, 2.0, -3.0, 7.0, -3.0, -15.0, 18.0, -6.0, 8.0, -9.0, -8.0, 2.0, -1.0, 6.0, 15.0];
const TORCH_INPUT_GRAD: [f32; 16] = [
    -8.0, 22.0, 8.0, -11.0, -46.0, 33.0, 45.0, -29.0, 4.0, -40.0, -6.0, 24.0, 30.0, 56.0, -36.0,
    -21.0,
];
const TORCH_WEIGHT_GRAD: [f32; 18] = [
    2.0, 11.0, 14.0, -13.0, 28.0, -44.0, -9.0, 34.0, -10.0, 1.0, -4.0, -36.0, -11.0, 3.0, 29.0,
    -14.0, -40.0, 28.0,
];

#[test]
fn a_kernel_that_does_not_fit_gives_nothing() {
    let p = ConvProblem::new::<f32>([2, 1, 2, 2], [1, 1, 3, 3]);
    assert_eq!(p.output(), [0, 0]);
    conv2d::<f32>(&p, &[1.0; 8], &[1.0; 9], &mut []);
    let mut dx = [7.0f32; 8];
    conv2d(&ConvProblem { pass: ConvPass::InputGrad, ..p }, &[], &[1.0; 9], &mut dx);
    assert_eq!(dx, [0.0; 8]);
}

#[test]
fn sums_do_not_depend_on_the_number_of_threads() {
    let value = |i: usize| ((i * 2_654_435_761) % 1000) as f32 / 997.0;
    for pass in [ConvPass::Forward, ConvPass::InputGrad, ConvPass::WeightGrad] {
        let p = ConvProblem::new::<f32>([3, 20, 30, 30], [24, 20, 3, 3]);
        let p = ConvProblem { pass, padding: [1, 1], ..p };
        let [x, w, y] = p.lens();
        let (lhs, rhs, out) = match pass {
            ConvPass::Forward => (x, w, y),
            ConvPass::InputGrad => (y, w, x),
            ConvPass::WeightGrad => (x, y, w),
        };
        let (lhs, rhs): (Vec<_>, Vec<_>) =
            ((0..lhs).map(value).collect(), (0..rhs).map(value).collect());
        for algo in ALL.iter().filter(|algo| algo.reproducible && (algo.usable)(&p)) {
            let result = |threads: usize| {
                let mut got = vec![0.0f32; out];
                run(algo, &ConvProblem { threads, ..p }, &lhs, &rhs, &mut got, &Epilogue::NONE);
                got
            };
            let one = result(1);
            assert!([2, 5].iter().all(|&threads| result(threads) == one), "{} {pass:?}", algo.name);
        }
    }
}

/// Weights in the form of the algorithm give the bits of weights that are brought into it in every run.
fn check_kept<T: Element>(p: &ConvProblem, n_kept: &mut usize) {
    let [x, w, y] = p.lens();
    let value = |i: usize| T::from_f64(((i * 2_654_435_761) % 1000) as f64 / 997.0 - 0.5);
    for (pass, lhs, out) in [(ConvPass::Forward, x, y), (ConvPass::InputGrad, y, x)] {
        let p = ConvProblem { pass, ..*p };
        let (lhs, weights): (Vec<T>, Vec<T>) =
            ((0..lhs).map(value).collect(), (0..w).map(value).collect());
        for algo in ALL {
            let Some(conv) = Conv::new(p, algo) else { continue };
            let mut want = vec![T::NAN; out];
            conv.run(&lhs, &weights, &mut want, &Epilogue::NONE, None);
            let packs = Packs::default();
            packs.expect_reuse();
            let form = conv.form(&packs, &weights);
            let kept = form.as_ref().map_or(0, |it| it.as_slice::<T>().len());
            assert_eq!(kept, (algo.keeps)(&p), "{} {p:?}", algo.name);
            let packed = gemm::PACKED.get();
            let mut got = vec![T::NAN; out];
            conv.run(&lhs, &weights, &mut got, &Epilogue::NONE, form.as_deref());
            assert_eq!(got, want, "{} {p:?}", algo.name);
            if algo.name == "winograd" {
                assert_eq!(gemm::PACKED.get(), packed, "transforms what is kept");
            }
            *n_kept += usize::from(kept > 0);
        }
    }
}

#[test]
fn kept_weights_give_the_same_bits() {
    let mut n_kept = 0;
    for isa in Isa::available() {
        for (x, w, padding, groups) in [
            ([2, 5, 9, 11], [7, 5, 3, 3], 1, 1),
            ([1, 520, 7, 11], [130, 520, 1, 1], 0, 1),
            ([2, 8, 13, 13], [12, 4, 3, 3], 0, 2),
            ([1, 60, 13, 13], [140, 60, 3, 3], 1, 1),
            ([1, 272, 8, 9], [260, 136, 2, 2], 0, 2),
        ] {
            let p = ConvProblem::new::<f32>(x, w);
            let p = ConvProblem { isa, padding: [padding; 2], groups, ..p };
            check_kept::<f32>(&p, &mut n_kept);
            let p = ConvProblem { kind: ElementKind::F64, ..p };
            check_kept::<f64>(&p, &mut n_kept);
        }
    }
    assert!(n_kept >= 19 * Isa::available().len(), "{n_kept} times weights were kept");
}

#[test]
fn absurd_sizes_are_no_disaster() {
    let big = usize::MAX / 5;
    let p = ConvProblem::new::<f32>([1, 1, 3, 3], [1, 1, 2, 2]);
    let p = ConvProblem { stride: [big, big], padding: [big, big], ..p };
    let len = p.lens()[2];
    let mut y = vec![1.0f32; len];
    conv2d(&p, &[1.0; 9], &[1.0; 4], &mut y);
    assert!(y.iter().all(|&y| y == 0.0 || y == 4.0));
    assert_eq!(ConvProblem { dilation: [big, usize::MAX], ..p }.output()[1], 0);
}
