//! dtypes as values.

use std::any::Any;
use std::cell::RefCell;

use engine::DType;
use engine::apply::default_dtype;
use rustc_hash::FxHashMap;

use crate::array::dtype::ArrayDType;
use crate::array::scalar;
use crate::check::unknown::kind_of;
use crate::native::*;

/// The type of `torch.float32`.
pub static DTYPE: NativeType = NativeType {
    module: "torch",
    ..NativeType::plain("dtype", "The type of a tensor's elements.")
};

/// A dtype as a value.
#[derive(Clone, Copy)]
pub struct DTypeObj(pub DType);

/// Names of dtypes in `torch`, longest form first.
pub const NAMES: &[(&str, DType)] = &[
    ("bool", DType::Bool),
    ("uint8", DType::U8),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("short", DType::I16),
    ("uint16", DType::U16),
    ("int32", DType::I32),
    ("int", DType::I32),
    ("int64", DType::I64),
    ("long", DType::I64),
    ("float16", DType::F16),
    ("half", DType::F16),
    ("bfloat16", DType::BF16),
    ("float32", DType::F32),
    ("float", DType::F32),
    ("float64", DType::F64),
    ("double", DType::F64),
    ("complex64", DType::C64),
    ("cfloat", DType::C64),
    ("complex128", DType::C128),
    ("cdouble", DType::C128),
];

thread_local! {
    static OBJECTS: RefCell<FxHashMap<DType, Value>> = RefCell::default();
}

/// The object of a dtype: there is one of each, so that `x.dtype is torch.float32` tells.
pub(crate) fn value_of(dtype: DType) -> Value {
    let known = |it: &RefCell<FxHashMap<DType, Value>>| {
        let mut all = it.borrow_mut();
        all.entry(dtype).or_insert_with(|| Value::object(DTypeObj(dtype))).clone()
    };
    OBJECTS.with(known)
}

/// Functions of `torch`.
pub static FUNCTIONS: &[NativeFn] = &[
    function("get_default_dtype", "", "The dtype of floats for which nothing else says one.", get_default),
    function(
        "set_default_dtype",
        "d",
        "Sets the dtype of floats for which nothing else says one: torch.float16, bfloat16, float32 (which it is at first) or float64.",
        set_default,
    )
    .session(),
];

fn get_default(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(value_of(default_dtype::get()))
}

fn set_default(cx: &mut Cx, args: Args<'_>) -> Res {
    // Nothing is certain of what comes after.
    if kind_of(&args[0]).is_some() {
        return Err(cx.uncertain());
    }
    let given = args[0].downcast::<DTypeObj>().map(|it| it.0);
    let Some(float) = given.filter(|it| it.is_float()) else {
        let place = if given.is_some() { "" } else { "invalid dtype object: " };
        return Err(type_error(format!(
            "{place}only floating-point types are supported as the default type (torch.float16, torch.bfloat16, torch.float32, torch.float64), not {}",
            cx.repr(&args[0])?
        )));
    };
    default_dtype::set(float);
    Ok(Value::None)
}

/// Whether a value is a dtype, and no name of one.
pub fn is_one(value: &Value) -> bool {
    value.downcast::<DTypeObj>().is_some()
}

/// The dtype that a value names: a dtype, its name, or the types `float`, `int`, `complex` and `bool`.
pub fn from_value(value: &Value) -> Result<DType, Raised> {
    if let Some(DTypeObj(dtype)) = value.downcast::<DTypeObj>() {
        return Ok(*dtype);
    }
    if let Some(ArrayDType(dtype)) = value.downcast::<ArrayDType>() {
        return Ok(*dtype);
    }
    let name = match value {
        Value::Class(class) => match class.name.as_str() {
            "float" => "float64",
            "int" => "int64",
            "complex" => "complex128",
            other => other,
        },
        Value::Func(it) => of_constructor(it.code.name.as_str()),
        other => of_constructor(other.as_str().unwrap_or("")),
    };
    DType::parse(name).ok_or_else(|| {
        let known = DType::ALL.map(DType::name).join(", ");
        type_error(format!("expected a dtype ({known}), got {value:?}"))
    })
}

/// The dtype that `torch.LongTensor` and its like stand for in older code; other names as they are.
fn of_constructor(name: &str) -> &str {
    let bare = name.strip_prefix("torch.").unwrap_or(name);
    CONSTRUCTORS.iter().find(|it| it.1 == bare).map_or(name, |it| it.0.name())
}

/// What older code calls a tensor of each dtype.
const CONSTRUCTORS: &[(DType, &str)] = &[
    (DType::Bool, "BoolTensor"),
    (DType::U8, "ByteTensor"),
    (DType::I8, "CharTensor"),
    (DType::I16, "ShortTensor"),
    (DType::U16, "UInt16Tensor"),
    (DType::I32, "IntTensor"),
    (DType::I64, "LongTensor"),
    (DType::F16, "HalfTensor"),
    (DType::BF16, "BFloat16Tensor"),
    (DType::F32, "FloatTensor"),
    (DType::F64, "DoubleTensor"),
    (DType::C64, "ComplexFloatTensor"),
    (DType::C128, "ComplexDoubleTensor"),
];

/// The name of a tensor's type in older code: `torch.FloatTensor`.
pub fn tensor_type(dtype: DType) -> String {
    let name = CONSTRUCTORS.iter().find(|it| it.0 == dtype).map_or("Tensor", |it| it.1);
    format!("torch.{name}")
}

impl NativeObject for DTypeObj {
    fn native_type(&self) -> &'static NativeType {
        &DTYPE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok(match name.as_str() {
            "is_floating_point" => Some(Value::Bool(self.0.is_float())),
            "is_complex" => Some(Value::Bool(self.0.is_complex())),
            "is_signed" => Some(Value::Bool(self.0.int_range().is_none_or(|it| it.0 < 0))),
            "itemsize" => Some(Value::from(self.0.size())),
            _ => None,
        })
    }

    fn compare(
        &self,
        _: &mut Cx,
        op: CompareOp,
        _: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        // MegEngine's dtypes are NumPy's, so a tensor's equals an array's.
        let of_numpy = || match other {
            Value::Class(it) => it.native.and_then(scalar::of_row),
            _ => other.downcast::<ArrayDType>().map(|it| it.0),
        };
        let dtype = other.downcast::<DTypeObj>().map(|it| it.0).or_else(of_numpy);
        Ok(equality(op, dtype == Some(self.0)))
    }

    fn hash(&self, _cx: &mut Cx) -> Result<Option<i64>, Raised> {
        Ok(Some(self.0 as i64 + 1))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(format!("torch.{}", self.0))
    }
}

pub(super) fn equality(op: CompareOp, equal: bool) -> Option<Value> {
    match op {
        CompareOp::Eq => Some(Value::Bool(equal)),
        CompareOp::Ne => Some(Value::Bool(!equal)),
        _ => None,
    }
}
