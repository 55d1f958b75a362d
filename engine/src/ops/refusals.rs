//! What a row refuses in the elements of its operands, it refuses in every mode, at the op and in the same words. A walk over the
//! cases of `testdata/ops.json`, in each of which one element is made too large, too small, or not a number.

use std::collections::BTreeSet;

use super::tests::{Case, cases, report};
use crate::apply::apply_optional;
use crate::functional::add;
use crate::tensor::Outputs;
use crate::trace::{Now, Options, Traced};
use crate::{Attrs, DType, Error, OpDef, Result, Shape, Tensor, apply_one, ops};

/// The rows that refuse elements.
const REFUSING: &[&str] = &[
    "_mix_slices",
    "_poisson",
    "bernoulli",
    "binary_cross_entropy",
    "bincount",
    "cross_entropy",
    "embedding",
    "gather",
    "histc",
    "index",
    "index_add",
    "index_put",
    "index_select",
    "multinomial",
    "nll_loss",
    "one_hot",
    "pick_class",
    "pick_class_backward",
    "probabilities",
    "refuse_where",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "softmax_cross_entropy",
    "softmax_cross_entropy_backward",
    "take_along_dim",
];

/// One application, and what makes it one that is refused when it is added to an operand.
struct Slip {
    op: &'static OpDef,
    inputs: Vec<Option<Tensor>>,
    attrs: Attrs,
    at: usize,
    by: Tensor,
}

impl Slip {
    fn apply(&self, operand: Tensor) -> Result<Outputs> {
        let mut inputs = self.inputs.clone();
        inputs[self.at] = Some(operand);
        apply_optional(self.op, &inputs, &self.attrs)
    }

    fn good(&self) -> Tensor {
        self.inputs[self.at].clone().unwrap()
    }

    fn bad(&self) -> Tensor {
        add(&self.good(), &self.by).unwrap()
    }

    /// The error of a call that has been recorded and replayed with the good operand before, where the bad one is an argument
    /// or, with `computed`, comes to be within the call.
    fn replayed(&self, computed: bool) -> Option<Error> {
        let function = Traced::new(Options::default());
        let nothing = apply_one(
            ops::find("mul").unwrap(),
            &[self.by.clone(), Tensor::int_number(0)],
            &Attrs::new(),
        );
        let nothing = nothing.unwrap();
        let mut last = None;
        for bad in [false, false, true] {
            let args = match (computed, bad) {
                (false, false) => [self.good(), nothing.clone()],
                (false, true) => [self.bad(), nothing.clone()],
                (true, false) => [self.good(), nothing.clone()],
                (true, true) => [self.good(), self.by.clone()],
            };
            let call = function.begin(&args).unwrap();
            let [x, by] = call.args() else { panic!("two arguments") };
            let operand = if computed { add(x, by).unwrap() } else { x.clone() };
            match self.apply(operand) {
                Ok(outputs) => drop(call.finish(&outputs)),
                Err(error) => {
                    last = Some(error);
                    call.abort();
                }
            }
        }
        last
    }

    /// The error of the plan without the body.
    fn alone(&self) -> Option<Error> {
        let function = Traced::new(Options::default());
        let call = function.begin(&[self.good()]).unwrap();
        let outputs = self.apply(call.args()[0].clone()).unwrap();
        call.finish(&outputs).unwrap();
        let bad = [self.bad()];
        match function.alone(&bad).and_then(|it| it.run(&bad, &Now::with(&|_| None))) {
            // An op whose shapes depend on elements is in no graph.
            Err(Error::Trace { .. }) => Some(self.apply(self.bad()).unwrap_err()),
            found => found.err(),
        }
    }

    fn problem(&self) -> Option<String> {
        let wanted = self.apply(self.bad()).err();
        let modes =
            [self.replayed(false), self.replayed(true), self.alone().map(named_alike(&wanted))];
        let odd = modes.iter().position(|it| *it != wanted)?;
        let mode = ["as an argument", "computed in the call", "in the plan alone"][odd];
        Some(format!("{} {mode}: {:?} instead of {wanted:?}", self.op.name, modes[odd]))
    }
}

/// In a plan the ops speak that a composed op consists of.
fn named_alike(wanted: &Option<Error>) -> impl Fn(Error) -> Error {
    let wanted = wanted.clone();
    move |found| match (&wanted, found) {
        (Some(Error::TableRow { .. }), Error::IndexRange { index, size, .. }) => {
            Error::TableRow { row: index, n_rows: size }
        }
        (_, found) => found,
    }
}

/// All slips of a case that eager code refuses for its elements.
fn slips(case: &Case) -> Vec<Slip> {
    let mut res = Vec::new();
    for (at, input) in case.inputs.iter().enumerate() {
        let Some(input) = input.as_ref().filter(|it| it.numel() > 0 && it.dtype() != DType::Bool)
        else {
            continue;
        };
        let changes: &[f64] =
            if input.dtype().is_float() { &[9.0, -9.0, f64::NAN] } else { &[99.0, -99.0] };
        for &change in changes {
            let mut by = vec![0.0; input.numel()];
            by[input.numel() / 2] = change;
            let by = Tensor::from_vec(&by, input.shape().clone()).unwrap();
            let by = crate::functional::to(&by, input.dtype()).unwrap();
            let slip = Slip {
                op: case.op,
                inputs: case.inputs.clone(),
                attrs: case.attrs.clone(),
                at,
                by,
            };
            if slip.apply(slip.good()).is_ok() && slip.apply(slip.bad()).is_err() {
                res.push(slip);
            }
        }
    }
    res
}

#[test]
fn elements_are_refused_alike_in_all_modes() {
    let all: Vec<Slip> = cases().iter().flat_map(slips).chain(draws()).collect();
    let found: BTreeSet<&str> = all.iter().map(|it| it.op.name).collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), REFUSING);
    report(all.iter().filter_map(Slip::problem).collect());
}

/// Random rows, which have no cases there.
fn draws() -> Vec<Slip> {
    let p = Tensor::from_vec(&[0.5_f32, 0.25, 1.0], Shape::from([3])).unwrap();
    let slip = |(name, change): (&str, f32)| {
        let op = ops::find(name).unwrap();
        let mut attrs = op.default_attrs();
        if name == "multinomial" {
            attrs[0] = crate::Attr::Int(2);
        }
        let by = Tensor::from_vec(&[0.0, change, 0.0], Shape::from([3])).unwrap();
        Slip { op, inputs: vec![Some(p.clone())], attrs, at: 0, by }
    };
    [
        ("_poisson", -9.0),
        ("_poisson", f32::NAN),
        ("_poisson", f32::INFINITY),
        ("bernoulli", 1.0),
        ("bernoulli", f32::NAN),
        ("multinomial", -9.0),
        ("multinomial", f32::INFINITY),
    ]
    .map(slip)
    .into()
}

#[test]
fn whole_numbers_are_not_divided_by_zero_in_any_mode() {
    let x = Tensor::from_vec(&[7_i64, -7], Shape::from([2])).unwrap();
    let y = Tensor::from_vec(&[2_i64, 3], Shape::from([2])).unwrap();
    let slips = ["floor_divide", "remainder", "fmod"].map(|name| Slip {
        op: ops::find(name).unwrap(),
        inputs: vec![Some(x.clone()), Some(y.clone())],
        attrs: Attrs::new(),
        at: 1,
        by: Tensor::from_vec(&[-2_i64, 0], Shape::from([2])).unwrap(),
    });
    for it in &slips {
        assert!(it.apply(it.bad()).is_err(), "{}", it.op.name);
    }
    report(slips.iter().filter_map(Slip::problem).collect());
}
