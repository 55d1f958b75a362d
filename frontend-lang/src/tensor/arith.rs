//! Operators on tensors.

use std::rc::Rc;
use std::sync::LazyLock;

use engine::apply::{LEAST_TAKEN_OVER, place};
use engine::autograd::{self, Edge};
use engine::{Attrs, DType, OpDef, Shape, Tensor};

use super::convert::{operand, variable};
use super::{hooks, journal};
use crate::native::*;
use crate::objects::tensor::{Look, TensorObj};

/// An op with its default attributes, ready to apply.
pub struct Ready {
    pub op: &'static OpDef,
    pub attrs: Attrs,
}

impl Ready {
    /// Looks up an op that the engine is known to have.
    pub fn named(name: &'static str) -> Option<Ready> {
        engine::ops::find(name).map(|op| Ready { op, attrs: op.default_attrs() })
    }

    /// Applies it to these tensors.
    pub fn apply(&self, inputs: &[Tensor]) -> Result<Tensor, Raised> {
        Ok(engine::apply_one(self.op, inputs, &self.attrs)?)
    }

    /// Applies it to two values; `None` when one of them is no operand for tensors.
    fn apply_two(&self, a: &Value, b: &Value) -> Result<Option<Value>, Raised> {
        let result = match (a, b) {
            // The handles are lent, not copied: counting them costs as much as the rest of a small op's way through here.
            (Value::Tensor(a), Value::Tensor(b)) => {
                a.look_again();
                b.look_again();
                engine::apply_two(self.op, &a.seen(), &b.seen(), &self.attrs)
            }
            _ => {
                let (Some(a), Some(b)) = (operand(a), operand(b)) else { return Ok(None) };
                engine::apply_two(self.op, &a, &b, &self.attrs)
            }
        };
        Ok(Some(Value::tensor(result?)))
    }
}

const BINARY: [&str; 13] = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "pow",
    "matmul",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
];

static BINARY_OPS: LazyLock<[Option<Ready>; 13]> = LazyLock::new(|| BINARY.map(Ready::named));
static COMPARE_OPS: LazyLock<[Option<Ready>; 6]> =
    LazyLock::new(|| ["eq", "ne", "lt", "le", "gt", "ge"].map(Ready::named));

/// `this op other`; `None` when `other` is no operand for tensors.
pub fn binary(
    op: BinaryOp,
    this: &Value,
    other: &Value,
    reflected: bool,
) -> Result<Option<Value>, Raised> {
    let Some(ready) = &BINARY_OPS[op as usize] else { return Ok(None) };
    // A product with a number is written `*`.
    if op == BinaryOp::MatMul && super::convert::as_number(other).is_some() {
        return Ok(None);
    }
    if op == BinaryOp::TrueDiv && reflected && by_reciprocal(this, other) {
        let Some([reciprocal, product]) = RECIPROCAL.as_ref() else { return Ok(None) };
        let value = reciprocal.apply(&[variable(this)?.get()])?;
        return product.apply_two(&Value::tensor(value), other);
    }
    let (a, b) = if reflected { (other, this) } else { (this, other) };
    ready.apply_two(a, b)
}

/// As [`binary`] of values that nobody asks for again: the result lies where one of them did if that is large and a tensor that only this
/// expression had. `None` where [`binary`] has to be asked.
#[inline]
pub(crate) fn of_temporaries(
    op: BinaryOp,
    a: &mut Value,
    b: &mut Value,
) -> Result<Option<Value>, Raised> {
    // Nearly all operands have a name.
    let is_single = |it: &Value| matches!(it, Value::Tensor(it) if Rc::strong_count(it) == 1);
    if !is_single(a) && !is_single(b) {
        return Ok(None);
    }
    match onto(op, a, b)? {
        // The other way round they have the same bits.
        None if matches!(op, BinaryOp::Add | BinaryOp::Mul) => onto(op, b, a),
        made => Ok(made),
    }
}

/// The result of `own op other` where the elements of the first one were, if nothing but `own` knows of them.
fn onto(op: BinaryOp, own: &mut Value, other: &Value) -> Result<Option<Value>, Raised> {
    let (Value::Tensor(own), Some(ready)) = (own, &BINARY_OPS[op as usize]) else {
        return Ok(None);
    };
    let is_operand = match other {
        Value::Tensor(it) => matches!(it.look(), Look::Tensor | Look::Parameter),
        other => super::convert::as_number(other).is_some(),
    };
    let Some(object) = Rc::get_mut(own).filter(|it| it.look() == Look::Tensor) else {
        return Ok(None);
    };
    if !is_operand || object.seen().meta().bytes() < LEAST_TAKEN_OVER {
        return Ok(None);
    }
    let Some(other) = operand(other) else { return Ok(None) };
    let Some(mut tensor) = object.lend() else { return Ok(None) };
    if engine::apply_onto(ready.op, &mut tensor, &other, &ready.attrs)? {
        return Ok(Some(Value::tensor(tensor)));
    }
    object.take_home(tensor, false);
    Ok(None)
}

/// Whether a quotient is a product with a reciprocal, as PyTorch's of numbers by complex tensors: of 0 that is no infinity, but NaN.
fn by_reciprocal(this: &Value, other: &Value) -> bool {
    let is_complex = this.as_tensor().is_some_and(|it| it.seen().dtype().is_complex());
    is_complex && super::convert::as_number(other).is_some()
}

static RECIPROCAL: LazyLock<Option<[Ready; 2]>> =
    LazyLock::new(|| Some([Ready::named("reciprocal")?, Ready::named("mul")?]));

/// `this op= other`: the variable gets the result, in its own dtype and shape.
pub fn inplace(op: BinaryOp, this: &Value, other: &Value) -> Result<Option<Value>, Raised> {
    let object = variable(this)?;
    let Some(mut other) = operand(other) else { return Ok(None) };
    let Some(ready) = &BINARY_OPS[op as usize] else { return Ok(None) };
    if other.same(&object.seen()) {
        // No handle on the elements stays.
        drop(other);
        if object.apply_to_itself(ready.op, &[None], &ready.attrs)? {
            return Ok(Some(this.clone()));
        }
        other = object.get();
    }
    if object.apply_in_place(ready.op, std::slice::from_ref(&other), &ready.attrs)? {
        return Ok(Some(this.clone()));
    }
    if let Some(copy) = object.apart(&other)? {
        other = copy;
        if object.apply_in_place(ready.op, std::slice::from_ref(&other), &ready.attrs)? {
            return Ok(Some(this.clone()));
        }
    }
    let res = ready.apply(&[object.get(), other])?;
    assign(this, res)?;
    Ok(Some(this.clone()))
}

/// The error of a method in place that would bring a value of another device.
fn elsewhere(op: &'static str, seen: &Tensor, value: &Tensor) -> engine::Error {
    let name = |name: &str, position| (Some(name.to_owned()), position);
    place::mixed(op, (name("self", 1), seen), (name("other", 2), value))
}

/// Stores a result of an op in place: same shape, no narrower kind of number.
pub fn assign(this: &Value, value: Tensor) -> Result<(), Raised> {
    let object = variable(this)?;
    object.look_again();
    // No handle on the old value stays, so that it can be overwritten.
    let (before, layout) = {
        let seen = object.seen();
        if seen.device() != value.device() {
            return Err(elsewhere("copy_", &seen, &value).into());
        }
        (seen.meta(), seen.layout().clone())
    };
    if let Some(problem) = object.refuses_in_place() {
        return Err(runtime_error(problem));
    }
    if before.shape != *value.shape() {
        return Err(shape_error(format!(
            "in place, a tensor of shape {} cannot become {}; write `x = x + y` instead of `x += y`",
            before.shape,
            value.shape()
        )));
    }
    let is_lossy = value.dtype().kind() > before.dtype.kind() && value.dtype().is_differentiable();
    if is_lossy || before.dtype == DType::Bool && value.dtype() != DType::Bool {
        return Err(dtype_error(format!(
            "in place, a {} tensor cannot hold {} values; write `x = x + y`, or convert with x.float() first",
            before.dtype,
            value.dtype()
        )));
    }
    // Nor does one on a value that lies there, too.
    let value = match value.dtype() == before.dtype {
        true => value,
        false => super::convert::cast(&value, Some(before.dtype))?,
    };
    // What is written is made of a leaf, and does not become it.
    let is_leaf = autograd::enabled() && value.edge().is_some_and(Edge::is_leaf);
    let value = if is_leaf { super::methods::in_order(&value)? } else { value };
    let value = super::methods::lying_as(value, &layout)?;
    journal::value_changes(object);
    if autograd::enabled() {
        let before = object.seen().edge().cloned();
        object.set(with_history(object, value)?)?;
        if hooks::leave(object, before.as_ref()) {
            hooks::retain_grad(object);
        }
    } else {
        object.set_data(value)?;
    }
    Ok(())
}

/// What a variable gets, with its history if it has one: what was there before has gradients of 0 then, not none.
fn with_history(object: &TensorObj, value: Tensor) -> Result<Tensor, Raised> {
    static WHERE: LazyLock<Option<Ready>> = LazyLock::new(|| Ready::named("where"));
    if value.requires_grad() || !object.seen().requires_grad() {
        return Ok(value);
    }
    let chosen = WHERE.as_ref().ok_or_else(|| runtime_error("the op where is missing"))?;
    let always = || engine::functional::full(&Shape::default(), 1.0, DType::Bool);
    let always = place::making_on(value.device(), always)?;
    chosen.apply(&[always, value, object.peek()])
}

/// Gives a variable the shape of a view of it, in place: `x.unsqueeze_(0)`.
pub(crate) fn reshape(this: &Value, view: &Value) -> Result<(), Raised> {
    let object = variable(this)?;
    let value = variable(view)?.get();
    if let Some(problem) = object.refuses_in_place() {
        return Err(runtime_error(problem));
    }
    if object.shares_elements(1) {
        return Err(runtime_error(
            "the shape of a tensor that is a view, or has views, cannot be changed in place; \
             write `x = x.unsqueeze(0)`, or its like",
        ));
    }
    journal::value_changes(object);
    object.restore(value);
    Ok(())
}

/// `-this`, `+this`, `~this`.
pub fn unary(op: UnaryOp, this: &Value) -> Result<Option<Value>, Raised> {
    static NEG: LazyLock<Option<Ready>> = LazyLock::new(|| Ready::named("neg"));
    static NOT: LazyLock<Option<Ready>> = LazyLock::new(|| Ready::named("bitwise_not"));
    let ready = match op {
        UnaryOp::Pos => return Ok(Some(this.clone())),
        UnaryOp::Neg => NEG.as_ref(),
        UnaryOp::Invert => NOT.as_ref(),
    };
    let (Some(ready), Some(value)) = (ready, operand(this)) else { return Ok(None) };
    if op == UnaryOp::Invert && value.dtype().is_differentiable() {
        return Err(type_error(format!(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors, not on {}",
            value.dtype()
        )));
    }
    ready.apply(&[value]).map(|it| Some(Value::tensor(it)))
}

/// Elementwise comparison; `None` (so `==` is False) when `other` is no operand for tensors.
pub fn compare(op: CompareOp, this: &Value, other: &Value) -> Result<Option<Value>, Raised> {
    let Some(ready) = &COMPARE_OPS[op as usize] else { return Ok(None) };
    ready.apply_two(this, other)
}

/// What to do with a tensor of `n` elements where one number is needed.
pub(crate) fn several(n: usize) -> String {
    format!(
        "it has {n} elements, and one number is needed: `.all()` or `.any()` of a condition, `.mean()` or `.sum()` of values, or one \
         element, `x[0]`"
    )
}

/// The truth of a tensor with one element.
pub fn truth(tensor: &Tensor) -> Result<bool, Raised> {
    if tensor.numel() != 1 {
        let n = tensor.numel();
        let words = match n {
            0 => "Boolean value of Tensor with no values is ambiguous".to_owned(),
            _ => "Boolean value of Tensor with more than one value is ambiguous".to_owned(),
        };
        return Err(runtime_error(words).with_help(Some(several(n))));
    }
    Ok(!tensor.item()?.is_zero())
}

/// `item in tensor`: whether any element equals it.
pub fn contains(tensor: &Tensor, item: &Value) -> Result<bool, Raised> {
    let (Some(item), Some(eq)) = (operand(item), &COMPARE_OPS[0]) else { return Ok(false) };
    let equal = eq.apply(&[tensor.clone(), item])?;
    Ok(equal.to_f64_vec()?.into_iter().any(|it| it != 0.0))
}
