//! Gradients of elementwise ops: elementwise ops themselves, made when first needed and kept for ever.
//!
//! `gelu.grad0` is the gradient for input 0 of `gelu`. It takes the gradient of the output and then those inputs of
//! `gelu` that its formula mentions, and has the attributes of `gelu`. Its own gradient is derived in the same way.
//!
//! Where the result alone will do, that is what a gradient takes: `tanh.grad0.u1`, as the result counts as the input behind the last. What
//! `tanh` was applied to can then go, and `tanh` is not computed again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::PoisonError;

use super::cache::Kept;
use super::expr_of;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, GradOf, Onnx, Param, ParamKind, Surface};
use crate::sync::{Mutex, OnceLock};
use crate::{Attrs, DType, Error, OpDef, Result, Tensor, rules};

/// The gradient of an elementwise op for one of its inputs.
#[derive(Clone, Copy, Debug)]
pub enum ElementwiseGrad {
    /// The gradient of the output itself.
    Same,
    /// Zero everywhere.
    Zero,
    /// An op on the gradient of the output and the forward inputs `uses`, in this order; the number behind the last is the result.
    Op { op: &'static OpDef, uses: &'static [usize] },
}

impl ElementwiseGrad {
    /// The forward inputs, and the result, that the gradient needs.
    pub fn uses(&self) -> &'static [usize] {
        match self {
            Self::Same | Self::Zero => &[],
            Self::Op { uses, .. } => uses,
        }
    }
}

/// How to compute the gradient of elementwise `op` for `input`. An error when the op is not elementwise.
pub fn grad_op(op: &'static OpDef, attrs: &Attrs, input: usize) -> Result<ElementwiseGrad> {
    thread_local! {
        static KNOWN: RefCell<Kept<ElementwiseGrad>> = RefCell::new(Kept::new());
    }
    if let Some(known) = KNOWN.with_borrow(|it| it.get(op, input as u64, attrs)) {
        return Ok(known);
    }
    let not_elementwise = Error::NoGradient { op: op.name, reason: "it is not elementwise" };
    let forward = expr_of(op, attrs).ok_or(not_elementwise)?;
    let res = derive(op, &forward, input);
    KNOWN.with_borrow_mut(|it| it.put(op, input as u64, attrs, res));
    Ok(res)
}

/// Which inputs of an elementwise op some wanted gradient needs; the bit behind the last is the result.
pub(crate) fn operands_to_save(
    op: &'static OpDef,
    attrs: &Attrs,
    wanted: impl Iterator<Item = bool>,
) -> u64 {
    let mut res = 0;
    for (input, _) in wanted.enumerate().filter(|it| it.1) {
        match grad_op(op, attrs, input) {
            Ok(grad) => grad.uses().iter().for_each(|&it| res |= 1 << it),
            Err(_) => return u64::MAX,
        }
    }
    res
}

/// The row of a gradient op by its name, made if need be: `mul.grad0`, `mul.grad0.grad1`, `clamp.grad0.u0`.
///
/// `forward` finds the op that it is the gradient of.
pub(crate) fn find(
    name: &str,
    forward: impl Fn(&str) -> Option<&'static OpDef>,
) -> Option<&'static OpDef> {
    let (rest, uses) = match name.rsplit_once(".u") {
        Some((rest, list)) if list.starts_with(|it: char| it.is_ascii_digit()) => {
            let uses: Option<Vec<usize>> = list.split('_').map(|it| it.parse().ok()).collect();
            (rest, Some(uses?))
        }
        _ => (name, None),
    };
    let (of, input) = rest.rsplit_once(".grad")?;
    let op = forward(of)?;
    let input: usize = input.parse().ok().filter(|&it| it < op.n_tensors())?;
    let (_, default) = formula(&expr_of(op, &op.default_attrs())?, op, input);
    let uses = uses.unwrap_or_else(|| default.clone());
    let in_order = uses.windows(2).all(|it| it[0] < it[1]);
    if uses == [op.n_tensors()] {
        by_result(&expr_of(op, &op.default_attrs())?, op, input)?;
        return Some(row(op, input, &uses));
    }
    (in_order && uses.iter().all(|&it| it < op.n_tensors())).then(|| row(op, input, &uses))
}

fn derive(op: &'static OpDef, forward: &Expr, input: usize) -> ElementwiseGrad {
    let (mut expr, mut uses) = formula(forward, op, input);
    if !uses.is_empty()
        && let Some(found) = by_result(forward, op, input)
    {
        (expr, uses) = (found, vec![op.n_tensors()]);
    }
    if expr == Expr::input(0) {
        return ElementwiseGrad::Same;
    }
    if expr.as_const() == Some(0.0) {
        return ElementwiseGrad::Zero;
    }
    let op = row(op, input, &uses);
    match op.body {
        Body::GradOf(of) => ElementwiseGrad::Op { op, uses: of.uses },
        _ => ElementwiseGrad::Zero,
    }
}

/// (gradient with `dy` as input 0 and forward input `n` as input `n + 1`, the forward inputs it mentions).
fn formula(forward: &Expr, op: &'static OpDef, input: usize) -> (Expr, Vec<usize>) {
    let slope = forward.derivative(input).substitute(&shifted(op));
    let expr = slope.scaled_by(&Expr::input(0));
    let uses = (0..op.n_tensors()).filter(|&it| expr.mentions(it + 1)).collect();
    (expr, uses)
}

/// As [`formula`], where the result alone will do; it is the input behind the last.
fn by_result(forward: &Expr, op: &'static OpDef, input: usize) -> Option<Expr> {
    let slope = forward.derivative_by_result(input, &Expr::input(op.n_tensors()))?;
    Some(slope.substitute(&shifted(op)).scaled_by(&Expr::input(0)))
}

/// What forward inputs, and the result behind them, are called in a gradient.
fn shifted(op: &'static OpDef) -> Vec<Expr> {
    (0..=op.n_tensors()).map(|it| Expr::input(it + 1)).collect()
}

/// The expression of a gradient op: its inputs are `dy` and then the forward inputs in use, or the result.
pub(super) fn expr(of: GradOf, attrs: &Attrs) -> Option<Expr> {
    let (forward, n) = (expr_of(of.op, attrs)?, of.op.n_tensors());
    let expr = match of.uses {
        [result] if *result == n => by_result(&forward, of.op, of.input)?,
        _ => formula(&forward, of.op, of.input).0,
    };
    let mut renamed: Vec<Expr> = (0..=n + 1).map(Expr::input).collect();
    for (idx, &input) in of.uses.iter().enumerate() {
        renamed[input + 1] = Expr::input(idx + 1);
    }
    Some(expr.substitute(&renamed))
}

type Rows = HashMap<(usize, usize, Vec<usize>), &'static OpDef>;

/// The row for these forward inputs; rows are never freed, since graphs and tapes refer to them for ever.
fn row(op: &'static OpDef, input: usize, uses: &[usize]) -> &'static OpDef {
    static ROWS: OnceLock<Mutex<Rows>> = OnceLock::new();
    let key = (std::ptr::from_ref(op).addr(), input, uses.to_vec());
    let rows = ROWS.get_or_init(Mutex::default);
    let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    rows.entry(key).or_insert_with(|| Box::leak(Box::new(new_row(op, input, uses))))
}

fn new_row(op: &'static OpDef, input: usize, uses: &[usize]) -> OpDef {
    let mut params = vec![Param::tensor("dy")];
    let tensors: Vec<&Param> = op.params.iter().filter(|it| it.kind.is_tensor()).collect();
    params.extend(uses.iter().map(|&it| match tensors.get(it) {
        Some(input) => Param { kind: ParamKind::Tensor, ..**input },
        None => Param::tensor("result"),
    }));
    params.extend(op.attr_params().copied());
    let uses: &'static [usize] = Box::leak(uses.to_vec().into_boxed_slice());
    OpDef {
        name: Box::leak(name(op, input, uses).into_boxed_str()),
        doc: "The gradient of an elementwise op for one of its inputs.",
        meaning: Meaning::Expression,
        params: Box::leak(params.into_boxed_slice()),
        dtypes: DTypeRule::Custom(as_output_grad),
        infer: rules::broadcast,
        body: Body::GradOf(GradOf { op, input, uses }),
        grad: Grad::Derived,
        step: None,
        pure: true,
        method: false,
        internal: false,
        surface: Surface::PLAIN,
        onnx: Onnx::Absent,
        aliases: &[],
        examples: &[],
    }
}

/// The forward inputs are named where they are not those of the default attributes.
fn name(op: &'static OpDef, input: usize, uses: &[usize]) -> String {
    let mut res = format!("{}.grad{input}", op.name);
    let usual = expr_of(op, &op.default_attrs()).map(|it| formula(&it, op, input).1);
    if usual.as_deref() != Some(uses) {
        let list: Vec<String> = uses.iter().map(ToString::to_string).collect();
        let _ = write!(res, ".u{}", list.join("_"));
    }
    res
}

/// Gradients are computed in the dtype of the output's gradient, which is that of the output.
fn as_output_grad(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let dtype = inputs.first().map_or(DType::F32, Tensor::dtype);
    Ok((dtype, dtype))
}
