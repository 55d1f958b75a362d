//! What does not show in the meanings of rows: the threads, and queries that see nothing.

use super::{Matrices, Sizes, Slopes, backward, forward};
use crate::cpu::alloc::Bytes;
use crate::cpu::view::View;
use crate::cpu::{pool, typed};
use crate::{DType, Layout, Shape};

const SIZES: Sizes =
    Sizes { batch: 3, queries: 300, keys: 280, width: 24, values: 40, causal: true, scale: 0.3 };

fn filled(shape: [usize; 3], seed: usize) -> (Bytes, Layout) {
    let layout = Layout::contiguous(Shape::from(shape));
    let mut bytes = Bytes::zeroed(4 * layout.shape.numel()).unwrap();
    let value = |at: usize| ((at * 2_654_435_761 + seed * 97) % 1000) as f32 / 331.0 - 1.5;
    typed::slice_mut::<f32>(&mut bytes).iter_mut().enumerate().for_each(|(at, it)| *it = value(at));
    (bytes, layout)
}

fn matrices((bytes, layout): &(Bytes, Layout)) -> Matrices<'_, f32> {
    Matrices::new(&View::new(bytes, layout, DType::F32).unwrap())
}

/// Results and gradients, one behind the other.
fn all(sizes: Sizes, mask: Option<&(Bytes, Layout)>) -> Vec<f32> {
    let Sizes { batch, queries, keys, width, values, .. } = sizes;
    let [q, k, v] = [
        filled([batch, queries, width], 1),
        filled([batch, keys, width], 2),
        filled([batch, keys, values], 3),
    ];
    let (mut out, mut sums) = (filled([batch, queries, values], 0), vec![0.0; batch * queries]);
    let mask = || mask.map(matrices);
    forward(
        sizes,
        [&matrices(&q), &matrices(&k), &matrices(&v)],
        mask().as_ref(),
        typed::slice_mut(&mut out.0),
        &mut sums,
    )
    .unwrap();
    let grad = filled([batch, queries, values], 4);
    let [mut dq, mut dk, mut dv] =
        [queries * width, keys * width, keys * values].map(|it| vec![0.0; batch * it]);
    let given = Slopes {
        q: matrices(&q),
        k: matrices(&k),
        v: matrices(&v),
        out: matrices(&out),
        log_sums: &sums,
        grad: matrices(&grad),
        mask: mask(),
    };
    backward(sizes, &given, [&mut dq, &mut dk, &mut dv]).unwrap();
    [typed::slice(&out.0), &sums, &dq, &dk, &dv].concat()
}

#[test]
fn threads_change_nothing() {
    let bits = || all(SIZES, None).iter().map(|it| it.to_bits()).collect::<Vec<_>>();
    pool::set_threads(1);
    let alone = bits();
    pool::set_threads(4);
    let shared = bits();
    pool::set_threads(0);
    assert_eq!(alone, shared);
}

#[test]
fn queries_that_see_nothing_are_zero_and_move_nothing() {
    let sizes =
        Sizes { batch: 1, queries: 2, keys: 300, width: 3, values: 2, causal: false, ..SIZES };
    let mut mask = filled([1, 2, 300], 5);
    typed::slice_mut::<f32>(&mut mask.0)[..300].fill(f32::NEG_INFINITY);
    let found = all(sizes, Some(&mask));
    assert!(found.iter().all(|it| !it.is_nan()));
    let (out, rest) = found.split_at(4);
    let (sums, dq) = rest.split_at(2);
    assert_eq!((&out[..2], sums[0], &dq[..3]), (&[0.0; 2][..], f32::NEG_INFINITY, &[0.0; 3][..]));
    assert!(sums[1].is_finite() && out[2] != 0.0);
}

/// The scores that a mask hides are left out where whole tiles are hidden: results are those of a mask that hides by a large number.
#[test]
fn what_a_mask_hides_is_left_out() {
    for causal in [false, true] {
        is_left_out(Sizes { causal, ..SIZES });
    }
}

fn is_left_out(sizes: Sizes) {
    let keys = sizes.keys;
    // Causal; the first keys alone; few keys for some queries in between; nothing for some.
    let hides: [&dyn Fn(usize, usize, usize) -> bool; 4] = [
        &|_, row, key| key > row,
        &|at, _, key| key >= 100 + 70 * at,
        &|at, row, key| row % 50 < 20 && key > 3 + at,
        &|_, row, key| (130..240).contains(&row) || key > row,
    ];
    for (which, hides) in hides.into_iter().enumerate() {
        let masked = |by: f32| {
            let mut mask = filled([sizes.batch, sizes.queries, keys], 5);
            for (place, it) in typed::slice_mut::<f32>(&mut mask.0).iter_mut().enumerate() {
                let (at, row) = (place / keys / sizes.queries, place / keys % sizes.queries);
                if hides(at, row, place % keys) {
                    *it = by;
                }
            }
            all(sizes, Some(&mask))
        };
        let (left_out, kept) = (masked(f32::NEG_INFINITY), masked(-1e30));
        let n_out = sizes.batch * sizes.queries * sizes.values;
        let far = |at: &usize| {
            let row = (at % n_out) / sizes.values % sizes.queries;
            let sees_nothing = which == 3 && (130..240).contains(&row);
            !sees_nothing && (left_out[*at] - kept[*at]).abs() > 1e-4 * kept[*at].abs().max(1.0)
        };
        let compared = if which == 3 { n_out } else { kept.len() };
        assert!(left_out.iter().all(|it| !it.is_nan()), "mask {which}");
        assert_eq!((0..compared).find(far), None, "mask {which}");
    }
}
