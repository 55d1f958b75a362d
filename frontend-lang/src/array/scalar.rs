//! NumPy's numbers: `np.float64(1.5)`, what indexing and reductions of arrays give.
//!
//! Each is an instance of a built-in class over a plain number, so whatever takes a number takes it (`Value::core`); its class
//! says its dtype, which counts in arithmetic. Arithmetic stands in `scalar_ops`.

use std::rc::Rc;

use engine::dtype::Kind as Numbers;
use engine::{DType, Number, Tensor};

use super::{dtype, make, scalar_ops};
use crate::builtins::types;
use crate::check::unknown::{Kind, unknown};
use crate::native::*;
use crate::objects::class::{Class, Instance, class_of};
use crate::objects::number::{float_repr, float_to_int};
use crate::objects::tensor::Look;
use crate::tensor::convert;

macro_rules! class {
    ($name:literal, $base:expr, $doc:literal) => {
        NativeType {
            module: "numpy",
            base: $base,
            new: Some(function($name, "cls, value=0, /", $doc, new_scalar)),
            methods: &[scalar_ops::OPERATORS, METHODS],
            getters: GETTERS,
            ..NativeType::plain($name, $doc)
        }
    };
}

/// `np.bool`.
pub static BOOL: NativeType = class!("bool", None, "True or False, as arrays hold it.");
/// `np.uint8`.
pub static UINT8: NativeType = class!("uint8", None, "A whole number from 0 to 255.");
/// `np.int8`.
pub static INT8: NativeType = class!("int8", None, "A whole number of 8 bits.");
/// `np.int16`.
pub static INT16: NativeType = class!("int16", None, "A whole number of 16 bits.");
/// `np.uint16`.
pub static UINT16: NativeType = class!("uint16", None, "A whole number from 0 to 65535.");
/// `np.int32`.
pub static INT32: NativeType = class!("int32", None, "A whole number of 32 bits.");
/// `np.int64`.
pub static INT64: NativeType = class!("int64", None, "A whole number of 64 bits.");
/// `np.float16`.
pub static FLOAT16: NativeType = class!("float16", None, "A float of 16 bits.");
/// `np.float32`.
pub static FLOAT32: NativeType = class!("float32", None, "A float of 32 bits.");
/// `np.float64`.
pub static FLOAT64: NativeType = class!("float64", Some(&types::FLOAT), "A float of 64 bits.");

/// The classes of the dtypes that arrays hold.
static ROWS: [(DType, &NativeType); 10] = [
    (DType::Bool, &BOOL),
    (DType::U8, &UINT8),
    (DType::I8, &INT8),
    (DType::I16, &INT16),
    (DType::U16, &UINT16),
    (DType::I32, &INT32),
    (DType::I64, &INT64),
    (DType::F16, &FLOAT16),
    (DType::F32, &FLOAT32),
    (DType::F64, &FLOAT64),
];

static METHODS: &[NativeFn] = &[
    function("item", "self, *args", "The plain number.", |_cx, args| Ok(args[0].core().clone())),
    function("tolist", "self", "The plain number.", |_cx, args| Ok(args[0].core().clone())),
    function("astype", "self, dtype, copy=True", "The number in another dtype.", |_cx, args| {
        converted(dtype::from_value(&args[1])?, &args[0])
    }),
    function("__repr__", "self, /", "`np.float64(1.5)`.", |_cx, args| {
        let text = text(&args[0]);
        Ok(Value::str(match (dtype_of(&args[0]), args[0].core()) {
            (_, Value::Bool(it)) => format!("np.{}_", if *it { "True" } else { "False" }),
            (dtype, _) => format!("np.{}({text})", dtype.unwrap_or(DType::F64).name()),
        }))
    }),
    function("__str__", "self, /", "The number alone.", |_cx, args| Ok(Value::str(text(&args[0])))),
    function("__reduce_ex__", "self, protocol, /", "How it is kept.", |_cx, args| {
        Ok(args[0].core().clone())
    }),
];

/// Methods that an array of rank 0 answers.
const OF_ARRAYS: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "clip",
    "copy",
    "cumprod",
    "cumsum",
    "fill",
    "flatten",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "squeeze",
    "std",
    "sum",
    "take",
    "transpose",
    "var",
];

static GETTERS: &[Getter] = &[
    Getter {
        name: "dtype",
        doc: "The dtype.",
        get: |_cx, it| Ok(dtype::value(dtype_of(it).unwrap_or(DType::F64))),
    },
    Getter { name: "shape", doc: "`()`.", get: |_cx, _it| Ok(Value::tuple(Vec::new())) },
    Getter { name: "ndim", doc: "0.", get: |_cx, _it| Ok(Value::Int(0)) },
    Getter { name: "size", doc: "1.", get: |_cx, _it| Ok(Value::Int(1)) },
    Getter {
        name: "itemsize",
        doc: "Bytes of it.",
        get: |_cx, it| Ok(Value::from(dtype_of(it).unwrap_or(DType::F64).size())),
    },
    Getter {
        name: "nbytes",
        doc: "Bytes of it.",
        get: |_cx, it| Ok(Value::from(dtype_of(it).unwrap_or(DType::F64).size())),
    },
    Getter { name: "T", doc: "Itself.", get: |_cx, it| Ok(it.clone()) },
    Getter { name: "real", doc: "Itself.", get: |_cx, it| Ok(it.clone()) },
];

/// The class of the numbers of a dtype.
pub fn class(dtype: DType) -> Rc<Class> {
    class_of(ROWS.iter().find(|it| it.0 == dtype).map_or(&FLOAT64, |it| it.1))
}

/// The dtype of a class of numbers.
pub fn of_row(row: &'static NativeType) -> Option<DType> {
    ROWS.iter().find(|it| std::ptr::eq(it.1, row)).map(|it| it.0)
}

/// The dtype of one of NumPy's numbers; `None` for other values.
#[inline]
pub fn dtype_of(value: &Value) -> Option<DType> {
    match value {
        Value::Instance(it) => of_row(it.class.native?),
        _ => None,
    }
}

/// A number of a dtype; it is taken to fit.
pub fn make(dtype: DType, number: Number) -> Value {
    let core = match dtype.kind() {
        Numbers::Bool => return truth(number.as_f64() != 0.0),
        Numbers::Float => Value::Float(dtype.nearest(number.as_f64())),
        Numbers::Complex => return convert::number(number),
        Numbers::Int => Value::Int(dtype.wrapped(number.as_i64())),
    };
    Value::Instance(Rc::new(Instance::over(class(dtype), core)))
}

/// `np.True_` or `np.False_`.
pub fn truth(it: bool) -> Value {
    thread_local! {
        static TRUTHS: [Value; 2] = [false, true].map(|it| {
            Value::Instance(Rc::new(Instance::over(class(DType::Bool), Value::Bool(it))))
        });
    }
    TRUTHS.with(|known| known[usize::from(it)].clone())
}

/// The number in a tensor of one element; in a check, where elements are not known, an unknown.
pub fn of(tensor: &Tensor) -> Res {
    if tensor.is_abstract() {
        return Ok(unknown(match tensor.dtype().kind() {
            Numbers::Bool => Kind::Any,
            Numbers::Float => Kind::Float,
            Numbers::Int | Numbers::Complex => Kind::Int,
        }));
    }
    Ok(make(tensor.dtype(), tensor.item()?))
}

/// A plain number or one of NumPy's, converted.
pub fn converted(dtype: DType, value: &Value) -> Res {
    let core = value.core();
    let number = match core {
        Value::Float(it) if !dtype.is_float() && dtype != DType::Bool => {
            Number::Int(float_to_int(*it)?)
        }
        _ => convert::as_number(core).ok_or_else(|| {
            type_error(format!(
                "{}() argument must be a number, not '{}'",
                dtype.name(),
                type_name(value)
            ))
        })?,
    };
    Ok(make(dtype, number))
}

fn new_scalar(cx: &mut Cx, args: Args<'_>) -> Res {
    let row = match &args[0] {
        Value::Class(class) => class.native_base(),
        _ => &FLOAT64,
    };
    let dtype = of_row(row).unwrap_or(DType::F64);
    match args[1].core() {
        Value::Str(_) => {
            let builtin = if dtype.is_float() { &types::FLOAT } else { &types::INT };
            let read = cx.call(&Value::Class(class_of(builtin)), &[args[1].clone()])?;
            converted(dtype, &read)
        }
        // A number is taken out of a tensor as by `item()`.
        Value::Tensor(it) if it.look() != Look::Array && it.get().rank() == 0 => {
            super::result(convert::cast(&it.get().detach(), Some(dtype))?)
        }
        Value::Tensor(_) | Value::List(_) | Value::Tuple(_) | Value::Range(_) => {
            super::result(make::tensor(cx, &args[1], Some(dtype))?)
        }
        _ => converted(dtype, &args[1]),
    }
}

/// What `print` shows.
pub(crate) fn text(value: &Value) -> String {
    match value.core() {
        Value::Float(it) if dtype_of(value) == Some(DType::F32) => narrow_text(*it, DType::F32),
        Value::Float(it) if dtype_of(value) == Some(DType::F16) => narrow_text(*it, DType::F16),
        Value::Float(it) => float_repr(*it),
        Value::Bool(it) => if *it { "True" } else { "False" }.into(),
        Value::Int(it) => it.to_string(),
        _ => String::new(),
    }
}

/// The shortest text that reads back as the same float, with an exponent where it is long.
fn narrow_text(float: f64, dtype: DType) -> String {
    let shortest = dtype.shortest(float);
    let is_plain = (1e-4..super::text::plain_below(dtype)).contains(&float.abs());
    if !float.is_finite() || float == 0.0 || is_plain {
        return float_repr(shortest);
    }
    let text = format!("{shortest:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The method `name` of an array of rank 0 with this number, for methods that numbers share with arrays.
pub fn array_method(cx: &mut Cx, value: &Value, name: Sym) -> Result<Option<Value>, Raised> {
    if dtype_of(value).is_none() || !OF_ARRAYS.contains(&name.as_str()) {
        return Ok(None);
    }
    let array = super::array(make::tensor(cx, value, None)?);
    cx.getattr(&array, name).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_narrow_floats_as_numpy() {
        let single = |it: f64| narrow_text(DType::F32.nearest(it), DType::F32);
        let texts = [0.1, 1e6, 123456790.0, 1e-5, 100000.0, 0.0].map(single);
        assert_eq!(texts, ["0.1", "1e+06", "1.2345679e+08", "1e-05", "100000.0", "0.0"]);
        let half = |it: f64| narrow_text(DType::F16.nearest(it), DType::F16);
        let texts = [0.1, 2048.0, 999.5, 1.0 / 3.0, 65504.0].map(half);
        assert_eq!(texts, ["0.1", "2.048e+03", "999.5", "0.3333", "6.55e+04"]);
    }
}
