//! Attributes of tensors: `x.shape`, `x.grad`, `x.T`, and ops as methods.

use std::rc::Rc;

use super::{convert, device, dtype, grad_fn, hooks, journal, methods};
use crate::array;
use crate::check::unknown::{Kind, unknown};
use crate::native::*;
use crate::objects::class::Class;
use crate::objects::descriptor::{bind, bind_to_class};
use crate::objects::tensor::{Look, TensorObj, View};
use crate::ops_binding;

/// Attributes that are computed here.
pub(crate) const NAMES: &[&str] = &[
    "shape",
    "dtype",
    "device",
    "ndim",
    "T",
    "grad",
    "data",
    "requires_grad",
    "is_leaf",
    "grad_fn",
    "retains_grad",
    "nbytes",
    "itemsize",
];

/// What depends on how the value was made.
const OF_HISTORY: &[&str] = &["is_leaf", "grad_fn", "retains_grad"];

/// Every attribute that [`get`] answers.
pub fn names() -> Vec<Sym> {
    let of_rows = ops_binding::methods_of_rows().map(|it| it.0);
    NAMES.iter().map(|it| Sym::of(it)).chain(of_rows).collect()
}

/// The attribute `name` of the tensor `this`; `None` leaves it to the methods of the type.
pub fn get(cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
    let object = convert::variable(this)?;
    let value = || object.get();
    if OF_HISTORY.contains(&name.as_str()) && cx.is_cut(&value()) {
        return Ok(Some(unknown(Kind::Any)));
    }
    Ok(Some(match name.as_str() {
        "shape" => convert::sizes(value().shape()),
        "dtype" => dtype::value_of(value().dtype()),
        "device" => device::of(value().device()),
        "ndim" => Value::from(value().rank()),
        "nbytes" => Value::from(value().meta().bytes()),
        "itemsize" => Value::from(value().dtype().size()),
        "T" => return reversed(object).map(Some),
        "grad" => object.grad().map_or(Value::None, Value::Tensor),
        "data" => detached(object),
        "requires_grad" => Value::Bool(value().requires_grad()),
        "is_leaf" => Value::Bool(value().edge().is_none_or(engine::autograd::Edge::is_leaf)),
        "retains_grad" => Value::Bool(hooks::retains_grad(object)),
        "grad_fn" => grad_fn::of(object),
        // Methods that do more than the op of the same name come first.
        _ if methods::defines(name) => return Ok(None),
        _ => {
            return Ok(ops_binding::method(name).map(|func| Value::method(func, this.clone())));
        }
    }))
}

/// A method or property that is written in the language: of tensors in `std/torch/methods.ng`, of arrays in `std/numpy/_core/methods.ng`.
pub fn written(cx: &mut Cx, this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
    if name.as_str().starts_with("__") {
        return Ok(None);
    }
    let Some(class) = class_written(cx, is_array(this))? else { return Ok(None) };
    let own = class.attrs.borrow().get(&name).cloned();
    own.map(|it| bind(cx, it, this, &class)).transpose()
}

/// The names that [`written`] answers.
pub fn written_names(cx: &mut Cx, this: &Value) -> Vec<Sym> {
    let class = class_written(cx, is_array(this)).ok().flatten();
    let names: Vec<Sym> =
        class.map(|it| it.attrs.borrow().keys().copied().collect()).unwrap_or_default();
    names.into_iter().filter(|it| !it.as_str().starts_with('_')).collect()
}

/// `torch.Tensor.add`, `np.ndarray.sum`: methods that are ops or written in the language, as functions.
pub fn of_class(cx: &mut Cx, class: &Rc<Class>, name: Sym) -> Result<Option<Value>, Raised> {
    let is = |row| class.chain().any(|it| it.native.is_some_and(|it| std::ptr::eq(it, row)));
    let is_array = is(&array::object::NDARRAY);
    if name.as_str().starts_with("__") || !is_array && !is(&methods::TENSOR) {
        return Ok(None);
    }
    if !is_array && let Some(op) = ops_binding::method(name) {
        return Ok(Some(op));
    }
    let Some(written) = class_written(cx, is_array)? else { return Ok(None) };
    let own = written.attrs.borrow().get(&name).cloned();
    Ok(own.map(|it| bind_to_class(it, class)))
}

fn is_array(this: &Value) -> bool {
    this.as_tensor().is_some_and(|it| it.look() == Look::Array)
}

fn class_written(cx: &mut Cx, is_array: bool) -> Result<Option<Rc<Class>>, Raised> {
    let (module, class) = match is_array {
        true => ("numpy._core.methods", "ArrayMethods"),
        false => ("torch.methods", "TensorMethods"),
    };
    let Value::Module(module) = cx.import(module)? else { return Ok(None) };
    Ok(match module.globals.get(Sym::of(class)) {
        Some(Value::Class(class)) => Some(class),
        _ => None,
    })
}

/// A view of all elements, off the tape.
pub fn detached(object: &Rc<TensorObj>) -> Value {
    Value::Tensor(TensorObj::view_of(object, View::Same, object.get().detach()))
}

/// A view with the dimensions in reverse order.
fn reversed(object: &Rc<TensorObj>) -> Res {
    let value = object.get();
    if value.rank() < 2 {
        return Ok(Value::Tensor(object.clone()));
    }
    let dims: Vec<i64> = (0..value.rank() as i64).rev().collect();
    let permute =
        engine::ops::find("permute").ok_or_else(|| runtime_error("permute is missing"))?;
    let attrs: engine::Attrs = [engine::Attr::ints(&dims)].into_iter().collect();
    let res = engine::apply_one(permute, &[value], &attrs)?;
    Ok(Value::Tensor(TensorObj::view_of(object, View::Op(permute, attrs, 0), res)))
}

/// Sets `grad`, `data` or `requires_grad`; `false` for other names.
pub fn set(this: &Value, name: Sym, value: &Value) -> Result<bool, Raised> {
    let object = convert::variable(this)?;
    match name.as_str() {
        "grad" => {
            let grad = match value {
                Value::None => None,
                other => Some(gradient(object, other)?),
            };
            journal::grad_changes(object);
            match grad {
                Some(it) => object.assign_grad(it),
                None => object.set_grad(None),
            }
        }
        "data" => {
            let new = convert::variable(value)?.get().detach();
            journal::value_changes(object);
            object.set_data(new)?;
        }
        "requires_grad" => requires_grad(object, matches!(value, Value::Bool(true)))?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn gradient(object: &TensorObj, value: &Value) -> Result<Rc<TensorObj>, Raised> {
    let grad = convert::variable(value)?;
    let (have, want) = (grad.get(), object.get());
    if have.shape() != want.shape() {
        return Err(shape_error(format!(
            "a gradient has the shape of its tensor: expected {}, got {}",
            want.shape(),
            have.shape()
        )));
    }
    Ok(grad.clone())
}

/// Makes the variable a leaf that collects gradients, or takes it off the tape.
pub fn requires_grad(object: &Rc<TensorObj>, on: bool) -> Result<(), Raised> {
    let value = object.get();
    if on == value.requires_grad() {
        return Ok(());
    }
    if on && !value.dtype().is_differentiable() {
        return Err(dtype_error(format!(
            "only float tensors collect gradients, this one is {}; convert it with .float()",
            value.dtype()
        )));
    }
    if on {
        object.make_leaf();
    } else if value.edge().is_some_and(|it| !it.is_leaf()) {
        return Err(runtime_error("this tensor was computed from others; use x.detach() instead"));
    } else {
        object.drop_edge();
    }
    Ok(())
}
