//! Attention on a GPU at the sizes of its tiles: what its kernels give, and what goes by other ops, against the kernels of the processor.

use smallvec::smallvec;

use super::gpus::GPU;
use super::tests::sent;
use super::tests::{differs, report};
use crate::apply::{self, place};
use crate::functional::{expand, mul, num, to, transpose};
use crate::test_ops::sample;
use crate::{Attr, Attrs, DType, Device, Outputs, Shape, Tensor, ops};

/// Sizes, and whether a triangle or a mask hides pairs.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: [usize; 2],
    queries: usize,
    keys: usize,
    width: usize,
    values: usize,
    causal: bool,
    mask: Mask,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mask {
    None,
    Full,
    /// One row for all queries, minus infinity for some keys.
    Row,
    /// The first query sees nothing.
    Nothing,
}

const PLAIN: Case = Case {
    batch: [1, 2],
    queries: 70,
    keys: 70,
    width: 64,
    values: 64,
    causal: false,
    mask: Mask::None,
};

impl Case {
    fn mask(&self, dtype: DType) -> Option<Tensor> {
        let Self { batch: [a, b], queries, keys, .. } = *self;
        let shape = Shape::from([a, b, queries, keys]);
        let hidden = |rows: usize, is_hidden: fn(usize) -> bool| {
            let numbers: Vec<f64> = (0..rows * keys)
                .map(|at| if is_hidden(at) { f64::NEG_INFINITY } else { (at % 7) as f64 / 4.0 })
                .collect();
            to(&Tensor::from_vec(&numbers, [1, 1, rows, keys].into()).unwrap(), dtype).unwrap()
        };
        let mask = match self.mask {
            Mask::None => return None,
            Mask::Full => return Some(sample(&shape, dtype, 9)),
            Mask::Row => hidden(1, |at| at % 3 == 1),
            Mask::Nothing => {
                let all = vec![f64::NEG_INFINITY; keys];
                let rest = vec![0.5; (queries - 1) * keys];
                let numbers = [all, rest].concat();
                let mask = Tensor::from_vec(&numbers, [1, 1, queries, keys].into()).unwrap();
                to(&mask, dtype).unwrap()
            }
        };
        Some(expand(&mask, &shape).unwrap())
    }

    /// Queries, keys and values; if they are turned, heads lie between rows and elements, as projections leave them, and one head of
    /// keys is that of all queries.
    fn operands(&self, dtype: DType, turned: bool) -> Vec<Tensor> {
        let Self { batch: [a, b], queries, keys, width, values, .. } = *self;
        let of = |seed, rows, width| match turned {
            true => transpose(&sample(&[a, rows, b, width], dtype, seed), 1, 2).unwrap(),
            false => sample(&[a, b, rows, width], dtype, seed),
        };
        let k = match turned {
            true => {
                let shared = sample(&[a, 1, keys, width], dtype, 2);
                expand(&shared, &Shape::from([a, b, keys, width])).unwrap()
            }
            false => of(2, keys, width),
        };
        let given = [of(1, queries, width), k, of(3, keys, values)];
        given.into_iter().chain(self.mask(dtype)).collect()
    }

    /// Results and gradients by one device.
    fn all(&self, given: &[Tensor], grad: &Tensor, moved: fn(&Tensor) -> Tensor) -> Vec<Tensor> {
        // Scores of about 1: else what is left of large numbers would tell nothing.
        let scale = 1.5 / self.width as f64;
        let attrs: Attrs = smallvec![Attr::Float(scale), Attr::Bool(self.causal)];
        let run = |op, given: &[Tensor]| -> Outputs {
            let given: Vec<Tensor> = given.iter().map(moved).collect();
            let device = if given[0].is_on_gpu() { GPU } else { Device::Cpu };
            let found = place::making_on(device, || apply::apply(op, &given, &attrs)).unwrap();
            found.iter().map(|it| it.moved_to(Device::Cpu).unwrap()).collect()
        };
        let found = run(&ops::matrix::native_attention::OP, given);
        let mut back = vec![grad.clone()];
        back.extend_from_slice(given);
        back.splice(4..4, found.iter().cloned());
        let slopes = run(&ops::matrix::native_attention_backward::OP, &back);
        found.into_iter().chain(slopes).collect()
    }

    fn problem(&self, dtype: DType, turned: bool) -> Option<String> {
        let Self { batch: [a, b], queries, values, .. } = *self;
        let given = self.operands(dtype, turned);
        let grad = mul(&sample(&[a, b, queries, values], dtype, 4), &num(0.125)).unwrap();
        let want = self.all(&given, &grad, Tensor::clone);
        let [got, again] = [0; 2].map(|_| self.all(&given, &grad, sent));
        let pairs = got.iter().zip(&want).enumerate();
        let found = pairs
            .into_iter()
            .find_map(|(at, (got, want))| differs(got, want).map(|it| format!("result {at}{it}")));
        let bits =
            |all: &[Tensor]| all.iter().map(|it| it.to_f64_vec().unwrap()).collect::<Vec<_>>();
        let differs = || (bits(&got) != bits(&again)).then(|| "other bits each time".to_owned());
        Some(format!("{self:?} {dtype} {turned}: {}", found.or_else(differs)?))
    }
}

fn hold(cases: &[Case], dtypes: &[DType], turned: bool) {
    let each = |case: &Case| {
        let case = *case;
        dtypes.iter().filter_map(move |dtype| case.problem(*dtype, turned))
    };
    report(cases.iter().flat_map(each).collect());
}

const DTYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16];

#[test]
fn tiles_that_are_full_or_not() {
    let cases = [
        Case { queries: 64, keys: 128, ..PLAIN },
        Case { queries: 65, keys: 63, ..PLAIN },
        Case { queries: 1, keys: 150, width: 32, values: 16, ..PLAIN },
        Case { batch: [2, 1], queries: 130, keys: 1, width: 16, values: 32, ..PLAIN },
    ];
    hold(&cases, DTYPES, false);
}

#[test]
fn a_triangle_hides_what_comes_later() {
    let cases = [(70, 70), (140, 66), (66, 140), (3, 3)];
    let cases = cases.map(|(queries, keys)| Case { queries, keys, causal: true, ..PLAIN });
    hold(&cases, DTYPES, false);
}

#[test]
fn masks_are_added() {
    let narrow = Case { width: 16, values: 16, ..PLAIN };
    let masks = [Mask::Full, Mask::Row, Mask::Nothing].map(|mask| Case { mask, ..narrow });
    hold(&masks, DTYPES, false);
    hold(&[Case { mask: Mask::Full, causal: true, ..narrow }], DTYPES, true);
}

#[test]
fn rows_of_any_width() {
    let widths = [(128, 128), (96, 80), (40, 24), (5, 7), (64, 100)];
    let cases = widths.map(|(width, values)| Case { queries: 40, width, values, ..PLAIN });
    hold(&cases, DTYPES, false);
    hold(&cases[..2], DTYPES, true);
    hold(&[Case { causal: true, ..cases[0] }], DTYPES, false);
}

#[test]
fn heads_between_rows_and_heads_that_share_keys() {
    let cases = [PLAIN, Case { batch: [3, 5], queries: 5, keys: 9, width: 8, values: 8, ..PLAIN }];
    hold(&cases, DTYPES, true);
}

#[test]
fn what_kernels_do_not_take_goes_by_other_ops() {
    let wide = Case { width: 130, values: 3, queries: 4, keys: 5, ..PLAIN };
    hold(&[wide, Case { causal: true, ..wide }], DTYPES, false);
    hold(&[Case { width: 8, queries: 4, mask: Mask::Nothing, ..wide }], &[DType::F64], false);
}
