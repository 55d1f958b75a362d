//! All algorithms against plain loops, on odd shapes and strides, under every instruction set of the machine.

use std::sync::Arc;

use super::*;
use crate::cpu::features::Isa;
use crate::cpu::packs::Packs;

/// Small whole numbers, so that sums are exact in any order.
fn values<T: Element>(len: usize, seed: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64(((i * 7 + seed * 13 + i / 5) % 17) as f64 - 8.0)).collect()
}

fn check<T: Element>(p: GemmProblem, with_epilogue: bool) {
    let [len_a, len_b, len_c] = p.extents();
    let (a, b) = (values::<T>(len_a, 1), values::<T>(len_b, 2));
    let (rows, cols) = (values::<T>(p.m, 3), values::<T>(p.n, 4));
    let epilogue = if with_epilogue {
        Epilogue { col_bias: Some(&cols), row_bias: Some(&rows), ..Epilogue::NONE }
    } else {
        Epilogue::NONE
    };
    let before = values::<T>(len_c + 5, 5);
    let mut want = before.clone();
    run(&naive::ALGO, &p, &a, &b, &mut want, epilogue);
    for algo in ALL.iter().filter(|algo| (algo.usable)(&p)) {
        let mut got = before.clone();
        run(algo, &p, &a, &b, &mut got, epilogue);
        assert_eq!(got, want, "{} {p:?}", algo.name);
    }
}

/// Contiguous, each operand transposed, and padded rows.
fn layouts<T: Element>(m: usize, n: usize, k: usize) -> Vec<GemmProblem> {
    let p = GemmProblem::contiguous::<T>(m, n, k);
    let padded = GemmProblem { rsa: k + 3, rsb: n + 5, rsc: n + 2, ..p };
    let any = GemmProblem { rsa: 2 * k + 1, csa: 2, rsb: 3, csb: 3 * k + 2, ..p };
    let shared = GemmProblem { rsa: 0, rsb: 0, ..p };
    vec![p, p.with_a_transposed(), p.with_b_transposed(), padded, any, shared]
}

fn check_shape<T: Element>(m: usize, n: usize, k: usize) {
    for isa in Isa::available() {
        for (i, p) in layouts::<T>(m, n, k).into_iter().enumerate() {
            let p = GemmProblem { isa, accumulate: (m + n + k + i).is_multiple_of(2), ..p };
            check::<T>(p, (m + i).is_multiple_of(3));
        }
    }
}

#[test]
fn odd_shapes_f32() {
    for m in [0, 1, 2, 7, 13, 15, 31] {
        for n in [0, 1, 3, 14, 16, 31, 33, 65] {
            for k in [0, 1, 2, 13, 33] {
                check_shape::<f32>(m, n, k);
            }
        }
    }
}

#[test]
fn odd_shapes_f64() {
    for (m, n, k) in [(1, 1, 1), (3, 100, 7), (14, 17, 64), (31, 9, 15), (100, 1, 33), (1, 70, 9)] {
        check_shape::<f64>(m, n, k);
    }
}

#[test]
fn large_shapes_cross_every_block() {
    check_shape::<f32>(100, 100, 100);
    let p = GemmProblem::contiguous::<f32>(150, 130, 700);
    for isa in Isa::available() {
        check::<f32>(GemmProblem { isa, ..p }, true);
        check::<f32>(GemmProblem { isa, threads: 1, ..p.with_b_transposed() }, false);
    }
    check::<f64>(GemmProblem::contiguous::<f64>(70, 2100, 20), true);
    check::<f32>(GemmProblem::contiguous::<f32>(1100, 40, 35).with_a_transposed(), false);
    check::<f32>(GemmProblem::contiguous::<f32>(200, 70, 1100), true);
    check::<f32>(GemmProblem::contiguous::<f32>(1, 700, 300), true);
    check::<f32>(GemmProblem::contiguous::<f32>(700, 1, 300), true);
}

#[test]
fn batches_equal_single_products() {
    for (batch, m, n, k) in [(1, 3, 4, 5), (40, 5, 6, 7), (9, 64, 64, 64), (3, 200, 100, 50)] {
        let p = GemmProblem::contiguous::<f32>(m, n, k);
        let (a, b) = (values::<f32>(batch * m * k, 1), values::<f32>(k * n, 2));
        let even = Starts::Even { count: batch, steps: [m * k, 0] };
        let mut turned: Vec<_> = (0..batch).map(|it| even.get(it)).collect();
        turned.reverse();
        for (starts, algo) in [even, Starts::Each(turned)]
            .iter()
            .flat_map(|it| ALL.iter().map(move |algo| (it, algo)))
        {
            let Some(gemm) = Gemm::new(p, algo) else { continue };
            let mut got = vec![0.0; batch * m * n];
            gemm.run_batch(starts, &a, &b, &mut got, Epilogue::NONE, &Panels::default());
            for (i, got) in got.chunks(m * n).enumerate() {
                let mut want = vec![0.0; m * n];
                run(&naive::ALGO, &p, &a[starts.get(i)[0]..], &b, &mut want, Epilogue::NONE);
                assert_eq!(got, want, "{}", algo.name);
            }
        }
    }
}

/// Sums of numbers that are rounded, so that another order shows.
fn uneven<T: Element>(len: usize, seed: usize) -> Vec<T> {
    let value = |i: usize| ((i * 2_654_435_761 + seed * 97) % 1000) as f64 / 997.0 - 0.5;
    (0..len).map(|i| T::from_f64(value(i))).collect()
}

/// Panels are packed once, and give the bits of panels that are packed in every run.
fn check_kept<T: Element>(p: GemmProblem) {
    let [len_a, len_b, len_c] = p.extents();
    let (a, b) = (uneven::<T>(len_a, 1), uneven::<T>(len_b, 2));
    for algo in ALL.iter().filter(|algo| !algo.naive && (algo.usable)(&p)) {
        for sides in [&[0][..], &[1], &[0, 1]] {
            let gemm = Gemm::new(p, algo).unwrap();
            let packs = Packs::default();
            packs.expect_reuse();
            let mut panels = Panels::default();
            for &side in sides {
                let others = if side == 0 { p.n } else { p.m };
                panels[side] = gemm.panels(&packs, side, if side == 0 { &a } else { &b });
                let keeps = algo.packs[side] && others <= 512;
                assert_eq!(panels[side].is_some(), keeps, "{} {side} {p:?}", algo.name);
            }
            let all = [0, 1].iter().all(|&it| !algo.packs[it] || panels[it].is_some());
            let result = |run: &dyn Fn(&mut [T])| {
                let mut c = vec![T::ZERO; len_c];
                run(&mut c);
                c
            };
            let want = result(&|c| run(algo, &p, &a, &b, c, Epilogue::NONE));
            let packed = PACKED.get();
            for _ in 0..2 {
                let got = result(&|c| gemm.run(&a, &b, c, Epilogue::NONE, &panels));
                assert_eq!(got, want, "{} {p:?}", algo.name);
            }
            assert!(!all || PACKED.get() == packed, "{} packs what is kept", algo.name);
        }
    }
}

#[test]
fn kept_panels_give_the_same_bits() {
    for isa in Isa::available() {
        for (m, n, k) in [(17, 33, 65), (1, 40, 9), (40, 1, 9), (50, 70, 300), (35, 210, 20)] {
            for p in layouts::<f32>(m, n, k) {
                check_kept::<f32>(GemmProblem { isa, ..p });
            }
            check_kept::<f64>(GemmProblem { isa, ..GemmProblem::contiguous::<f64>(m, n, k) });
        }
        // More rows, columns and products than one block has.
        for (m, n, k) in [(350, 20, 30), (20, 4200, 30), (20, 70, 1030)] {
            check_kept::<f32>(GemmProblem { isa, ..GemmProblem::contiguous::<f32>(m, n, k) });
        }
    }
}

#[test]
fn panels_are_of_one_operand_in_one_order() {
    let p = GemmProblem::contiguous::<f32>(200, 70, 40).with_b_transposed();
    let (b, packs) = (values::<f32>(2 * 70 * 40, 1), Packs::default());
    packs.expect_reuse();
    let panels = |p: GemmProblem, b: &[f32]| {
        Gemm::new(p, &packed::ALGO).unwrap().panels(&packs, 1, b).unwrap()
    };
    let first = panels(p, &b);
    // The same columns, for products of another number of rows.
    assert!(Arc::ptr_eq(&first, &panels(GemmProblem { m: 9, ..p }, &b)));
    for (p, b) in [(p, &b[70 * 40..]), (GemmProblem { n: 40, k: 70, rsb: 1, csb: 70, ..p }, &b)] {
        assert!(!Arc::ptr_eq(&first, &panels(p, b)));
    }
}

#[test]
fn sums_do_not_depend_on_the_number_of_threads() {
    for (m, n, k) in [(20, 300, 1200), (300, 200, 300), (1, 3000, 500), (130, 130, 1500)] {
        let value = |i: usize| ((i * 2_654_435_761) % 1000) as f32 / 997.0;
        let (a, b): (Vec<_>, Vec<_>) =
            ((0..m * k).map(value).collect(), (0..k * n).map(value).collect());
        let p = GemmProblem::contiguous::<f32>(m, n, k);
        let b_transposed =
            ALL.iter().filter(|it| it.name == "dots").map(|it| (p.with_b_transposed(), it));
        let as_it_lies = ALL.iter().map(|it| (p, it));
        let all = as_it_lies.chain(b_transposed);
        for (p, algo) in all.filter(|it| it.1.reproducible && (it.1.usable)(&it.0)) {
            let result = |threads: usize| {
                let mut c = vec![0.0f32; m * n];
                run(algo, &GemmProblem { threads, ..p }, &a, &b, &mut c, Epilogue::NONE);
                c
            };
            let one = result(1);
            assert!([2, 3, 7].iter().all(|&threads| result(threads) == one), "{}", algo.name);
        }
    }
}

#[test]
fn integers_wrap_around() {
    let p = GemmProblem::contiguous::<f64>(2, 2, 2);
    let mut c = [0i64; 4];
    gemm_wrapping(&p, &[1, 2, 3, i64::MAX], &[5, 6, 7, 8], &mut c);
    // torch.tensor([[1, 2], [3, 2**63 - 1]]) @ torch.tensor([[5, 6], [7, 8]])
    assert_eq!(c, [19, 22, -9223372036854775800, 10]);
}

#[test]
fn short_operands_are_refused() {
    let p = GemmProblem::contiguous::<f32>(2, 3, 4);
    let attempt = || gemm(&p, &[0.0; 7], &[0.0; 12], &mut [0.0; 6], Epilogue::NONE);
    assert!(std::panic::catch_unwind(attempt).is_err());
}
