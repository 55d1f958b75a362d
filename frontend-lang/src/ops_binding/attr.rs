//! Values as attributes of an op.

use engine::Attr;
use engine::op::{Param, ParamKind};

use super::Binding;
use crate::check::unknown::kind_of;
use crate::native::*;
use crate::objects::complex::Complex;
use crate::tensor::{convert, dtype};

impl Binding {
    /// What an attribute is for this value.
    pub(super) fn attr(&self, cx: &mut Cx, param: &Param, value: &Value) -> Result<Attr, Raised> {
        use ParamKind as K;
        let wrong = |wanted: &str| {
            type_error(format!(
                "{}: '{}' must be {wanted}, not {}",
                self.op.name,
                param.name,
                type_name(value)
            ))
        };
        let int = || value.as_int().or_else(|| value.as_native().and_then(|it| it.as_index()));
        let float = || value.as_float().or_else(|| value.as_native().and_then(|it| it.as_float()));
        // A truth value is no size, dimension or number of things.
        if let (K::Int | K::OptInt | K::Ints | K::OptInts, Value::Bool(_)) = (param.kind, value) {
            return Err(wrong("an int"));
        }
        // A tensor of one number is that number, of its own kind.
        if let (K::Number, Value::Tensor(it)) = (param.kind, value)
            && it.seen().rank() == 0
            && !it.seen().is_meta()
        {
            return self.attr(cx, param, &convert::number(it.get().item()?));
        }
        if let (K::Number, Some(it)) = (param.kind, value.core().downcast::<Complex>()) {
            return Ok(Attr::Complex(it.real, it.imag));
        }
        Ok(match param.kind {
            K::OptInt | K::OptFloat | K::OptInts | K::OptDType if value.is_none() => Attr::None,
            // What counts as true elsewhere says nothing about a switch: `x.sum(0, 1)` means two dimensions.
            K::Bool => match value.core() {
                Value::Bool(it) => Attr::Bool(*it),
                _ if kind_of(value).is_some() => Attr::Bool(cx.truth(value)?),
                _ => return Err(wrong("True or False")),
            },
            K::Int | K::OptInt => Attr::Int(int().ok_or_else(|| wrong("an int"))?),
            // A whole number stays one: `arange(3)` counts in integers.
            K::Float | K::OptFloat | K::Number if matches!(value, Value::Bool(_)) => {
                Attr::Bool(cx.truth(value)?)
            }
            K::Float | K::OptFloat | K::Number => match value.as_int() {
                Some(int) => Attr::Int(int),
                None => Attr::Float(float().ok_or_else(|| wrong("a number"))?),
            },
            K::Ints | K::OptInts => match value.as_int() {
                Some(one) => Attr::Int(one),
                None => Attr::ints(&convert::ints(cx, value)?),
            },
            K::DType | K::OptDType => Attr::DType(dtype::from_value(value)?),
            K::Str => {
                Attr::Str(Sym::new(value.as_str().ok_or_else(|| wrong("a string"))?).as_str())
            }
            K::Region => {
                let text = value.as_str().ok_or_else(|| wrong("the listing of a graph"))?;
                Attr::Region(engine::region::parse_region(text)?)
            }
            K::Tensor | K::OptTensor | K::Tensors => Attr::None,
        })
    }
}
