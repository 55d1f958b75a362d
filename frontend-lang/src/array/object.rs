//! `numpy.ndarray` as programs see it: its row, attributes, and the methods that are not made of others.

use std::rc::Rc;

use engine::Tensor;

use super::{dtype, make, ufunc};
use crate::native::*;
use crate::objects::tensor::{TensorObj, View};
use crate::tensor::convert::{self, variable};
use crate::tensor::{arith, methods};

/// The type `numpy.ndarray`.
pub static NDARRAY: NativeType = NativeType {
    module: "numpy",
    new: Some(function("ndarray", "cls, shape, dtype=None", "An array of this shape.", new_array)),
    methods: &[METHODS],
    ..NativeType::plain("ndarray", "An n-dimensional array of numbers of one dtype.")
};

static METHODS: &[NativeFn] = &[
    function("item", "self, *args", "An element as a plain number.", item).opaque(),
    function("tolist", "self", "Nested lists of the elements, as plain numbers.", tolist).opaque(),
    function(
        "astype",
        "self, dtype, order='K', casting='unsafe', subok=True, copy=True",
        "The elements in another dtype, always a copy.",
        astype,
    ),
    function("copy", "self, order='C'", "A copy.", copy),
    function("__abs__", "self, /", "The elements without their signs.", |cx, args| {
        ufunc::of_one(cx, "abs", &args[0])
    }),
    function("__copy__", "self", "A copy.", copy),
    function("__deepcopy__", "self, memo", "A copy.", copy),
    function("fill", "self, value", "Sets every element.", fill),
    function("reshape", "self, *shape, order='C'", "The elements in another shape.", reshape),
    function("view", "self, dtype=None", "The same elements.", view),
    function("tobytes", "self", "Not here: there are no bytes.", |_cx, _args| {
        Err(not_implemented("there are no bytes here; use a.tolist(), or np.save(path, a)"))
    }),
];

/// Attributes that are computed here.
pub(crate) const NAMES: &[&str] = &[
    "T", "base", "device", "dtype", "flat", "itemsize", "nbytes", "ndim", "real", "shape", "size",
    "strides",
];

/// Every attribute that [`get`] answers.
pub fn names() -> Vec<Sym> {
    NAMES.iter().map(|it| Sym::of(it)).collect()
}

/// The attribute `name` of the array `this`; `None` leaves it to the methods.
pub fn get(object: &Rc<TensorObj>, name: Sym) -> Result<Option<Value>, Raised> {
    let value = || object.get();
    Ok(Some(match name.as_str() {
        "shape" => shape(value().shape()),
        "dtype" => dtype::value(value().dtype()),
        "ndim" => Value::from(value().rank()),
        "size" => Value::from(value().numel()),
        "itemsize" => Value::from(value().dtype().size()),
        "nbytes" => Value::from(value().numel() * value().dtype().size()),
        "strides" => {
            let (value, size) = (value(), value().dtype().size() as i64);
            let strides = value.layout().strides.iter().map(|&it| Value::Int(it as i64 * size));
            Value::tuple(strides.collect::<Vec<_>>())
        }
        "device" => Value::str("cpu"),
        "real" => Value::Tensor(object.clone()),
        "base" => match object.base_object() {
            Some((base, _)) => Value::Tensor(base),
            None => Value::None,
        },
        "flat" => reshaped(object, &[-1])?,
        "T" => {
            let dims: Vec<i64> = (0..value().rank() as i64).rev().collect();
            viewed(object, "permute", &dims)?
        }
        _ => return Ok(None),
    }))
}

/// A shape as a tuple.
pub fn shape(sizes: &[usize]) -> Value {
    Value::tuple(sizes.iter().map(|&it| Value::from(it)).collect::<Vec<_>>())
}

/// A view op with one list of whole numbers.
fn viewed(object: &Rc<TensorObj>, op: &'static str, ints: &[i64]) -> Res {
    let row = engine::ops::find(op).ok_or_else(|| runtime_error(format!("{op} is missing")))?;
    let attrs: engine::Attrs = [engine::Attr::ints(ints)].into_iter().collect();
    let value = object.get();
    let res = engine::apply_one(row, std::slice::from_ref(&value), &attrs).map_err(super::error)?;
    if !engine::apply::shares_storage(row, &value, &attrs, res.shape()) {
        return Ok(super::array(res));
    }
    Ok(super::view_of(object, View::Op(row, attrs, 0), res))
}

fn this(args: &Args<'_>) -> Result<Rc<TensorObj>, Raised> {
    variable(&args[0]).cloned()
}

fn new_array(cx: &mut Cx, args: Args<'_>) -> Res {
    let shape: Vec<usize> =
        convert::ints(cx, &args[1])?.into_iter().map(|it| it.max(0) as usize).collect();
    let dtype = dtype::optional(&args[2])?.unwrap_or(engine::DType::F64);
    Ok(super::array(engine::functional::full(&engine::Shape::new(&shape), 0.0, dtype)?))
}

fn item(cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    let key = match args.rest(1) {
        [] if value.numel() != 1 => {
            return Err(value_error("can only convert an array of size 1 to a Python scalar"));
        }
        [] => return Ok(convert::number(value.item()?)),
        [Value::Int(at)] => {
            let flat = super::array(engine::functional::reshape(&value, &[value.numel()].into())?);
            return cx.getitem(&flat, &Value::Int(*at)).map(|it| it.core().clone());
        }
        [Value::Tuple(key)] => Value::Tuple(key.clone()),
        many => Value::tuple(many.to_vec()),
    };
    cx.getitem(&args[0], &key).map(|it| it.core().clone())
}

fn tolist(cx: &mut Cx, args: Args<'_>) -> Res {
    convert::to_list(cx, &this(&args)?.get())
}

fn astype(_cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    let wanted = dtype::from_value(&args[1])?;
    if matches!(args[5], Value::Bool(false)) && wanted == value.dtype() {
        return Ok(args[0].clone());
    }
    ordered(&convert::cast(&value, Some(wanted))?)
}

/// Elements never change, so a copy is another variable.
fn ordered(value: &Tensor) -> Res {
    let value = value.detach();
    Ok(super::array(if value.layout().is_contiguous() {
        value
    } else {
        methods::in_order(&value)?
    }))
}

fn copy(_cx: &mut Cx, args: Args<'_>) -> Res {
    ordered(&this(&args)?.get())
}

fn view(_cx: &mut Cx, args: Args<'_>) -> Res {
    let own = this(&args)?.get().dtype();
    let is_other = |it: &Value| match it {
        Value::Class(_) => dtype::from_value(it).is_ok_and(|it| it != own),
        _ => true,
    };
    if args.opt(1).is_some_and(is_other) {
        return Err(not_implemented(
            "elements cannot be read as another dtype; use a.astype(dtype)",
        ));
    }
    Ok(super::seen_as(&this(&args)?, crate::objects::tensor::Look::Array))
}

fn fill(cx: &mut Cx, args: Args<'_>) -> Res {
    let value = this(&args)?.get();
    let one = make::tensor(cx, &args[1], Some(value.dtype()))?;
    arith::assign(
        &args[0],
        engine::functional::expand(&one, value.shape()).map_err(super::error)?,
    )?;
    Ok(Value::None)
}

fn reshape(cx: &mut Cx, args: Args<'_>) -> Res {
    if args.str(2)? == "F" {
        let method = cx.getattr(&args[0], Sym::of("_reshape_by_columns"))?;
        return cx.call(&method, &[args[1].clone()]);
    }
    let sizes = match args.rest(1) {
        [one] => convert::ints(cx, one)?,
        many => convert::ints(cx, &Value::tuple(many.to_vec()))?,
    };
    reshaped(&this(&args)?, &sizes)
}

fn reshaped(object: &Rc<TensorObj>, sizes: &[i64]) -> Res {
    let value = object.get();
    let known: i64 = sizes.iter().filter(|it| **it >= 0).product();
    let size = value.numel() as i64;
    let open = sizes.iter().filter(|it| **it < 0).count();
    if open > 1 {
        return Err(value_error("can only specify one unknown dimension"));
    }
    let fits = if open == 1 { known > 0 && size % known == 0 || size == 0 } else { known == size };
    if !fits {
        let wanted = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let comma = if sizes.len() == 1 { "," } else { "" };
        return Err(value_error(format!(
            "cannot reshape array of size {size} into shape ({wanted}{comma})"
        )));
    }
    let sizes: Vec<i64> = sizes.iter().map(|it| (*it).max(-1)).collect();
    viewed(object, "reshape", &sizes)
}

/// `this.name = value` for what NumPy lets set; the rest is refused with what to write.
pub fn set(cx: &mut Cx, this: &Value, name: Sym, value: &Value) -> Result<bool, Raised> {
    let way_out = match name.as_str() {
        "flat" | "real" => {
            let all = Value::Ellipsis;
            let target =
                if name.as_str() == "flat" { cx.getattr(this, name)? } else { this.clone() };
            super::index::set(cx, &target, &all, value)?;
            return Ok(true);
        }
        "shape" => {
            let sizes = match value {
                Value::Int(size) => vec![*size],
                other => convert::ints(cx, other)?,
            };
            match set_shape(variable(this)?, &sizes)? {
                true => return Ok(true),
                false => "others look at its elements; write a = a.reshape(...)",
            }
        }
        "dtype" => "write a = a.astype(...)",
        "T" => "write a[...] = numbers",
        _ => return Ok(false),
    };
    Err(attribute_error(format!("'{name}' of an array cannot be set; {way_out}")))
}

fn set_shape(object: &Rc<TensorObj>, sizes: &[i64]) -> Result<bool, Raised> {
    let shaped = {
        let Value::Tensor(shaped) = reshaped(object, sizes)? else { return Ok(false) };
        (shaped.base_object(), shaped.get())
    };
    match shaped {
        (Some((_, view)), tensor) => Ok(object.turn_into(view, tensor)),
        (None, _) => Err(attribute_error(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.",
        )),
    }
}

/// The truth of an array with one element.
pub fn truth(value: &Tensor) -> Result<bool, Raised> {
    match value.numel() {
        1 => arith::truth(value),
        0 => Err(value_error(
            "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
        )),
        _ => Err(value_error(
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
        )),
    }
}
