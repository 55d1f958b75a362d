//! Lane programs that compute awkward numbers: every elementwise row, derivatives and groups of several ops, to compare what executes them.

use std::collections::BTreeSet;

use super::expected::{self, ulps};
use super::program::{Program, build};
use super::{ElementwiseGrad, Ref, Step, params_of, source};
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::machine::{self, RunError};
use crate::cpu::view::OutView;
use crate::math::Fault;
use crate::{Attrs, DType, Number, OpDef, Shape, Tensor, functional, lane, ops};

/// A program with what it is run on.
pub(super) struct Case {
    pub(super) title: String,
    pub(super) program: Program,
    pub(super) inputs: Vec<Tensor>,
    pub(super) numbers: Vec<Number>,
}

/// Numbers that functions treat in their own way.
const SPECIAL: [f64; 30] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.0,
    3.0,
    7.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e-40,
    -3e-42,
    5e-324,
    1e-310,
    1e9,
    -2.5e9,
    65504.0,
    65520.0,
    1e300,
    -1e19,
    0.927_734_4,
    0.625,
    89.5,
    -104.5,
    127.0,
    255.0,
    -129.0,
    32768.0,
    4_294_967_296.5,
];

/// Elements of each input: special numbers of two operands in all pairs, then others.
pub(super) const N: usize = SPECIAL.len() * SPECIAL.len() + 211;

/// Elements for operand `operand`: special numbers, then numbers of all sizes.
fn awkward(dtype: DType, operand: usize) -> Tensor {
    let n_pairs = SPECIAL.len() * SPECIAL.len();
    let spread = |at: usize| {
        let size = (at as f64 * 0.377).sin() * 44.0;
        (at as f64 * 1.3).cos().signum() * size.exp()
    };
    let value = |at: usize| match operand {
        0 if at < n_pairs => SPECIAL[at % SPECIAL.len()],
        1 if at < n_pairs => SPECIAL[at / SPECIAL.len()],
        _ if at < n_pairs => SPECIAL[(at + 7) % SPECIAL.len()],
        _ if at.is_multiple_of(2) => spread(at + operand * 37),
        _ => ((at + operand * 37) as f64 * 0.61).sin() * 6.0,
    };
    let values: Vec<f64> = (0..N).map(value).collect();
    Tensor::from_converted(&values, Shape::from([N]), dtype).unwrap()
}

/// Every row, with the attributes and dtypes of the cases that have PyTorch's results.
pub(super) fn rows() -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut res = Vec::new();
    for case in expected::cases() {
        let op = ops::find(&case.op).unwrap();
        let dtypes: Vec<DType> = case.inputs.iter().map(Tensor::dtype).collect();
        let title = format!("{}{:?} of {dtypes:?}", case.op, case.attrs);
        if !op.body.is_elementwise() || !seen.insert(title.clone()) {
            continue;
        }
        let inputs = case.inputs.iter().enumerate().map(|(at, it)| match it.rank() {
            0 => it.clone(),
            _ => awkward(it.dtype(), at),
        });
        let inputs = inputs.collect();
        res.push(single(op, title, inputs, case.attrs));
    }
    res
}

fn single(op: &'static OpDef, title: String, inputs: Vec<Tensor>, attrs: Attrs) -> Case {
    let refs: Vec<Ref> = (0..inputs.len()).map(Ref::Input).collect();
    let dtypes: Vec<DType> = inputs.iter().map(Tensor::dtype).collect();
    let step = Step::new(op, &attrs, &refs, &inputs).unwrap_or_else(|it| panic!("{title}: {it}"));
    let program = build(&dtypes, &[step], &[Ref::Step(0)]);
    let program = program.unwrap_or_else(|it| panic!("{title}: {it}"));
    let numbers = params_of(&program, &attrs).to_vec();
    Case { title, program, inputs, numbers }
}

/// Rows that refuse whole numbers, on such that they do not refuse.
pub(super) fn not_refused() -> Vec<Case> {
    let mut res = Vec::new();
    for name in ["floor_divide", "remainder", "fmod", "pow"] {
        for dtype in DType::REAL.into_iter().filter(|it| it.is_int()) {
            let second = functional::maximum(&awkward(dtype, 1), &Tensor::int_number(1)).unwrap();
            let inputs = vec![awkward(dtype, 0), second];
            let title = format!("{name} of {dtype}, nothing refused");
            res.push(single(ops::find(name).unwrap(), title, inputs, Attrs::new()));
        }
    }
    res
}

/// Derivatives: expressions that the engine has made itself.
pub(super) fn gradients() -> Vec<Case> {
    let families = [ops::unary::ALL, ops::binary::ALL, ops::compare::ALL];
    let mut res = Vec::new();
    for op in families.iter().flat_map(|it| it.iter()).filter(|it| it.body.is_elementwise()) {
        for (dtype, input) in [DType::F32, DType::F64].into_iter().flat_map(|it| [(it, 0), (it, 1)])
        {
            let attrs = op.default_attrs();
            if input >= op.n_tensors() {
                continue;
            }
            let Ok(ElementwiseGrad::Op { op, .. }) = lane::grad_op(op, &attrs, input) else {
                continue;
            };
            let inputs = (0..op.n_tensors()).map(|at| awkward(dtype, at)).collect();
            res.push(single(op, format!("{} of {dtype}", op.name), inputs, attrs));
        }
    }
    res
}

/// Groups of several ops, as a plan fuses them: chains of rows drawn at random, of all dtypes.
pub(super) fn groups() -> Vec<Case> {
    let rows: Vec<&'static OpDef> = [ops::unary::ALL, ops::binary::ALL, ops::compare::ALL]
        .iter()
        .flat_map(|it| it.iter().copied())
        .filter(|it| it.body.is_elementwise() && it.attr_params().next().is_none())
        .collect();
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut res = Vec::new();
    while res.len() < 120 {
        let dtypes = [0; 3].map(|_| DType::REAL[draw(DType::REAL.len())]);
        let inputs: Vec<Tensor> = (0..3).map(|at| awkward(dtypes[at], at)).collect();
        let mut kinds: Vec<(Ref, DType)> = (0..3).map(|it| (Ref::Input(it), dtypes[it])).collect();
        let mut steps: Vec<Step> = Vec::new();
        for _ in 0..12 {
            let op = rows[draw(rows.len())];
            let given: Vec<(Ref, DType)> =
                (0..op.n_tensors()).map(|_| kinds[draw(kinds.len())]).collect();
            let refs: Vec<Ref> = given.iter().map(|it| it.0).collect();
            let stand_in =
                |it: &(Ref, DType)| Tensor::abstract_of(crate::Meta::new(Shape::from([N]), it.1));
            let tensors: Vec<Tensor> = given.iter().map(stand_in).collect();
            let Ok(step) = Step::new(op, &Attrs::new(), &refs, &tensors) else { continue };
            let at = Ref::Step(steps.len());
            steps.push(step.clone());
            if build(&dtypes, &steps, &[at]).is_ok() {
                kinds.push((at, step.out));
            } else {
                steps.pop();
            }
        }
        let Some(last) = steps.len().checked_sub(1) else { continue };
        let names: Vec<&str> = steps.iter().map(|it| it.op.name).collect();
        let title = format!("{} of {dtypes:?}", names.join(" "));
        let outputs = [Ref::Step(last), Ref::Step(last / 2)];
        let program = build(&dtypes, &steps, &outputs).unwrap();
        res.push(Case { title, program, inputs, numbers: Vec::new() });
    }
    res
}

/// What the tile machine gives: bytes of each output, and what it has refused.
pub(super) fn on_tile_machine(case: &mut Case) -> (Vec<Vec<u8>>, Option<Fault>) {
    case.program.stay_with_instructions();
    run(case)
}

/// What a run gives: bytes of each output, and what it has refused.
pub(super) fn run(case: &Case) -> (Vec<Vec<u8>>, Option<Fault>) {
    let shape = Shape::from([N]);
    let dtypes = case.program.outputs();
    let mut buffers: Vec<Bytes> =
        dtypes.iter().map(|it| Bytes::zeroed(N * it.size()).unwrap()).collect();
    let mut outputs: Vec<OutView<'_>> = buffers
        .iter_mut()
        .zip(dtypes)
        .map(|(bytes, &dtype)| OutView::new(bytes, &shape, dtype).unwrap())
        .collect();
    let sources: Vec<_> = case.inputs.iter().map(|it| source(it).unwrap()).collect();
    let refused = match machine::run(case.program.code(), &sources, &mut outputs, &case.numbers) {
        Ok(()) => None,
        Err(RunError::Fault(fault)) => Some(fault),
        Err(error) => panic!("{}: {error:?}", case.title),
    };
    let bytes = outputs.iter_mut().map(|it| {
        crate::with_size!(it.dtype(), T => {
            it.as_mut_slice::<T>().iter().flat_map(|it| it.to_ne_bytes()).collect()
        })
    });
    (bytes.collect(), refused)
}

/// Elements as numbers, for a message and a distance.
fn numbers(bytes: &[u8], dtype: DType) -> Vec<f64> {
    Tensor::from_le_bytes(bytes, Shape::from([N]), dtype).unwrap().to_f64_vec().unwrap()
}

/// Where results are not those of the tile machine; all NaN are one.
pub(super) fn difference(got: &[u8], want: &[u8], dtype: DType) -> Option<String> {
    let size = dtype.size();
    let elements = numbers(got, dtype).into_iter().zip(numbers(want, dtype));
    elements.enumerate().find_map(|(at, (a, b))| {
        let range = at * size..(at + 1) * size;
        let same = got[range.clone()] == want[range] || a.is_nan() && b.is_nan();
        let far = ulps(dtype, a, b);
        let text = || format!("element {at}: {a:e}, the tile machine gives {b:e} ({far} ulp)");
        (!same).then(text)
    })
}
