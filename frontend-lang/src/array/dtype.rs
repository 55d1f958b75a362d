//! `numpy.dtype`, and NumPy's names of dtypes and how they are promoted.

use std::any::Any;

use engine::DType;
use engine::dtype::Kind;

use super::promotion::PROMOTED;
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
    ("bool_", DType::Bool),
    ("ubyte", DType::U8),
    ("byte", DType::I8),
    ("short", DType::I16),
    ("ushort", DType::U16),
    ("intc", DType::I32),
    ("int", DType::I64),
    ("int_", DType::I64),
    ("intp", DType::I64),
    ("long", DType::I64),
    ("half", DType::F16),
    ("single", DType::F32),
    ("float", DType::F64),
    ("double", DType::F64),
];

/// The letter that stands for each dtype of arrays.
const LETTERS: &[(DType, &str)] = &[
    (DType::Bool, "?"),
    (DType::U8, "B"),
    (DType::I8, "b"),
    (DType::I16, "h"),
    (DType::U16, "H"),
    (DType::I32, "i"),
    (DType::I64, "l"),
    (DType::F16, "e"),
    (DType::F32, "f"),
    (DType::F64, "d"),
];

/// A dtype as programs see it.
pub fn value(dtype: DType) -> Value {
    Value::object(ArrayDType(dtype))
}

/// The dtype that a value names, in NumPy's sense: `float` is float64.
pub fn from_value(value: &Value) -> Result<DType, Raised> {
    let known = value.downcast::<ArrayDType>().map(|it| it.0);
    if let Some(dtype) = known.or_else(|| value.downcast::<DTypeObj>().map(|it| it.0)) {
        return if letter(dtype).is_some() { Ok(dtype) } else { Err(not_there(dtype.name())) };
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
    let dtypes = || LETTERS.iter().map(|it| it.0);
    dtypes()
        .find(|it| it.name() == name || letter(*it) == Some(name))
        .or_else(|| of_code(name))
        .or_else(|| NAMES.iter().find(|it| it.0 == name).map(|it| it.1))
}

/// The letter of a dtype; `None` where arrays have no such elements.
fn letter(dtype: DType) -> Option<&'static str> {
    LETTERS.iter().find(|it| it.0 == dtype).map(|it| it.1)
}

/// Whether NumPy has such elements.
pub(crate) fn is_known_to_numpy(dtype: DType) -> bool {
    match dtype {
        DType::BF16 => false,
        DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::U16 => true,
        DType::I32 | DType::I64 | DType::F16 | DType::F32 | DType::F64 => true,
        DType::C64 | DType::C128 => true,
    }
}

/// The dtype of a kind and a number of bytes: `f4`.
pub fn of_code(code: &str) -> Option<DType> {
    LETTERS.iter().map(|it| it.0).find(|it| self::code(*it) == code)
}

/// As [`of_code`], of tensors, which may be complex, too.
pub(crate) fn of_tensor_code(code: &str) -> Option<DType> {
    let complex = [DType::C64, DType::C128].into_iter().find(|it| self::code(*it) == code);
    complex.or_else(|| of_code(code))
}

/// The kind and the number of bytes of a dtype: `f4`.
pub fn code(dtype: DType) -> String {
    format!("{}{}", kind(dtype), dtype.size())
}

fn not_there(name: &str) -> Raised {
    if name.starts_with("complex") || ["c8", "c16", "F", "D"].contains(&name) {
        return super::no_complex();
    }
    type_error(format!(
        "there is no dtype '{name}' here; arrays hold {}",
        LETTERS.iter().map(|it| it.0.name()).collect::<Vec<_>>().join(", ")
    ))
}

/// The dtype in which values of both are computed (`np.promote_types`).
pub fn promote(a: DType, b: DType) -> DType {
    PROMOTED[a as usize][b as usize]
}

/// The letter of a dtype's kind: `b`, `u`, `i`, `f` or `c`.
pub fn kind(dtype: DType) -> &'static str {
    match dtype.kind() {
        Kind::Bool => "b",
        Kind::Int if dtype.int_range().is_some_and(|it| it.0 == 0) => "u",
        Kind::Int => "i",
        Kind::Float => "f",
        Kind::Complex => "c",
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
        let size = self.0.size();
        Ok(Some(match name.as_str() {
            "name" => Value::str(self.0.name()),
            "kind" => Value::str(kind(self.0)),
            "itemsize" => Value::from(size),
            "type" => Value::Class(scalar::class(self.0)),
            "str" => Value::str(format!("{}{}", if size == 1 { "|" } else { "<" }, code(self.0))),
            "char" => Value::str(letter(self.0).unwrap_or("?")),
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
        let table = [
            (DType::I32, DType::F32, DType::F64),
            (DType::U8, DType::F32, DType::F32),
            (DType::I64, DType::F32, DType::F64),
            (DType::I16, DType::F16, DType::F32),
            (DType::I8, DType::U8, DType::I16),
        ];
        for (a, b, both) in table {
            assert_eq!(promote(a, b), both);
            assert_eq!(promote(b, a), both);
        }
    }

    #[test]
    fn reads_names() {
        assert_eq!(named("<f8"), Some(DType::F64));
        assert_eq!(named("float32"), Some(DType::F32));
        assert_eq!(named("i2"), Some(DType::I16));
        assert_eq!(named("<u2"), Some(DType::U16));
        assert_eq!(named("e"), Some(DType::F16));
        assert_eq!(named("bfloat16"), None);
        assert_eq!(named("complex128"), None);
    }
}
