//! `numpy.dtype`, and NumPy's names of dtypes and how they are promoted.

use std::any::Any;

use engine::DType;

use super::scalar;
use crate::builtins::types;
use crate::native::*;
use crate::tensor::dtype::DTypeObj;

/// The type of `a.dtype`.
pub static DTYPE: NativeType = NativeType {
    module: "numpy",
    new: Some(function("dtype", "cls, dtype", "The dtype that a value names.", new_dtype).pure()),
    ..NativeType::plain("dtype", "The type of an array's elements.")
};

/// A dtype as a value.
#[derive(Clone, Copy)]
pub struct ArrayDType(pub DType);

/// Texts that name dtypes, beside the names themselves.
const NAMES: &[(&str, DType)] = &[
    ("?", DType::Bool),
    ("b1", DType::Bool),
    ("bool_", DType::Bool),
    ("B", DType::U8),
    ("u1", DType::U8),
    ("ubyte", DType::U8),
    ("i", DType::I32),
    ("i4", DType::I32),
    ("intc", DType::I32),
    ("int", DType::I64),
    ("int_", DType::I64),
    ("intp", DType::I64),
    ("i8", DType::I64),
    ("l", DType::I64),
    ("long", DType::I64),
    ("f", DType::F32),
    ("f4", DType::F32),
    ("single", DType::F32),
    ("d", DType::F64),
    ("f8", DType::F64),
    ("float", DType::F64),
    ("double", DType::F64),
];

/// A dtype as programs see it.
pub fn value(dtype: DType) -> Value {
    Value::object(ArrayDType(dtype))
}

/// The dtype that a value names, in NumPy's sense: `float` is float64.
pub fn from_value(value: &Value) -> Result<DType, Raised> {
    if let Some(ArrayDType(dtype)) = value.downcast() {
        return Ok(*dtype);
    }
    if let Some(DTypeObj(dtype)) = value.downcast() {
        return Ok(*dtype);
    }
    match value {
        Value::Class(class) => match class.native.and_then(of_class) {
            Some(dtype) => Ok(dtype),
            None => Err(not_there(class.name.as_str())),
        },
        other => match other.as_str() {
            Some(name) => named(name).ok_or_else(|| not_there(name)),
            None => Err(type_error(format!("Cannot interpret '{other:?}' as a data type"))),
        },
    }
}

/// The dtype of an optional argument.
pub fn optional(value: &Value) -> Result<Option<DType>, Raised> {
    if value.is_none() || value.is_unbound() {
        return Ok(None);
    }
    from_value(value).map(Some)
}

fn of_class(row: &'static NativeType) -> Option<DType> {
    let plain =
        [(&types::FLOAT, DType::F64), (&types::INT, DType::I64), (&types::BOOL, DType::Bool)];
    let found = plain.iter().find(|it| std::ptr::eq(it.0, row)).map(|it| it.1);
    found.or_else(|| scalar::of_row(row))
}

fn named(name: &str) -> Option<DType> {
    let name = name.trim_start_matches(['<', '=', '|']);
    DType::ALL
        .into_iter()
        .find(|it| it.name() == name)
        .or_else(|| NAMES.iter().find(|it| it.0 == name).map(|it| it.1))
}

fn not_there(name: &str) -> Raised {
    type_error(format!(
        "there is no dtype '{name}' here; arrays hold bool, uint8, int32, int64, float32 or float64"
    ))
}

/// The dtype in which values of both are computed (`np.promote_types`).
pub fn promote(a: DType, b: DType) -> DType {
    let wide = |it| matches!(it, DType::I32 | DType::I64);
    match a.promote(b) {
        DType::F32 if wide(a) || wide(b) => DType::F64,
        both => both,
    }
}

/// The letter of a dtype's kind: `b`, `u`, `i` or `f`.
pub fn kind(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "b",
        DType::U8 => "u",
        DType::I32 | DType::I64 => "i",
        DType::F32 | DType::F64 => "f",
    }
}

fn new_dtype(_cx: &mut Cx, args: Args<'_>) -> Res {
    from_value(&args[1]).map(value)
}

impl NativeObject for ArrayDType {
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
        let (kind, size) = (kind(self.0), self.0.size());
        Ok(Some(match name.as_str() {
            "name" => Value::str(self.0.name()),
            "kind" => Value::str(kind),
            "itemsize" => Value::from(size),
            "type" => Value::Class(scalar::class(self.0)),
            "str" => Value::str(format!("{}{kind}{size}", if size == 1 { "|" } else { "<" })),
            "char" => Value::str(match self.0 {
                DType::Bool => "?",
                DType::U8 => "B",
                DType::I32 => "i",
                DType::I64 => "l",
                DType::F32 => "f",
                DType::F64 => "d",
            }),
            _ => return Ok(None),
        }))
    }

    fn attributes(&self) -> Vec<Sym> {
        ["char", "itemsize", "kind", "name", "str", "type"].map(Sym::of).to_vec()
    }

    fn compare(
        &self,
        _: &mut Cx,
        op: CompareOp,
        _: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let equal = !other.is_none() && from_value(other).is_ok_and(|it| it == self.0);
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(equal)),
            CompareOp::Ne => Some(Value::Bool(!equal)),
            _ => None,
        })
    }

    fn hash(&self, _cx: &mut Cx) -> Result<Option<i64>, Raised> {
        Ok(Some(self.0 as i64 + 1))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(format!("dtype('{}')", self.0.name()))
    }

    fn str(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(self.0.name().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotes_as_numpy() {
        use DType::*;
        let table =
            [(I32, F32, F64), (U8, F32, F32), (I64, F32, F64), (Bool, U8, U8), (I32, I64, I64)];
        for (a, b, both) in table {
            assert_eq!(promote(a, b), both);
            assert_eq!(promote(b, a), both);
        }
    }

    #[test]
    fn reads_names() {
        assert_eq!(named("<f8"), Some(DType::F64));
        assert_eq!(named("float32"), Some(DType::F32));
        assert_eq!(named("complex128"), None);
    }
}
