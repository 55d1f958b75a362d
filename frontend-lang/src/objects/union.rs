//! `int | None`: a choice of types, for annotations and `isinstance`.

use std::any::Any;

use crate::builtins::modules::typing;
use crate::builtins::types;
use crate::native::*;
use crate::objects::class::class_of;
use crate::objects::generic::{self, Alias, TypeVar, texts, type_text, types_of_none};

/// The row of the type.
pub static UNION: NativeType = NativeType {
    module: "types",
    getters: &[Getter { name: "__args__", doc: "The types.", get: types_of }],
    ..NativeType::plain("UnionType", "A choice of types.")
};

/// The row of `typing.Union[int, str]`.
static TYPING_UNION: NativeType = NativeType {
    module: "typing",
    getters: &[Getter { name: "__args__", doc: "The types.", get: types_of }],
    ..NativeType::plain("_UnionGenericAlias", "A choice of types.")
};

/// Types, each once.
pub struct Union {
    parts: Vec<Value>,
    /// `Union[int, str]` rather than `int | str`.
    in_typing: bool,
}

impl Union {
    /// `a | b`; each is a type, `None` or a choice of types.
    pub(crate) fn of(a: &Value, b: &Value) -> Value {
        let in_typing = [a, b].into_iter().any(|it| match it.downcast::<Union>() {
            Some(it) => it.in_typing,
            None => it.downcast::<Alias>().is_some_and(|it| it.native_type().module == "typing"),
        });
        Union::made([a, b].map(types_of_none), in_typing)
    }

    /// `Union[...]` with these types.
    pub(crate) fn typing(parts: impl IntoIterator<Item = Value>) -> Value {
        Union::made(parts, true)
    }

    fn made(sides: impl IntoIterator<Item = Value>, in_typing: bool) -> Value {
        let mut parts: Vec<Value> = Vec::new();
        for side in sides {
            let inner = match side.downcast::<Union>() {
                Some(it) => it.parts.clone(),
                None => vec![side],
            };
            for part in inner {
                if !parts.iter().any(|it| is_same(it, &part)) {
                    parts.push(part);
                }
            }
        }
        match parts.as_slice() {
            [one] => one.clone(),
            _ => Value::object(Union { parts, in_typing }),
        }
    }

    /// The types.
    pub(crate) fn parts(&self) -> &[Value] {
        &self.parts
    }
}

/// Whether two types are the same.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (a.downcast::<Union>(), b.downcast::<Union>()) {
        let holds = |it: &Value| b.parts.iter().any(|part| is_same(part, it));
        return a.parts.len() == b.parts.len() && a.parts.iter().all(holds);
    }
    a.is(b) || generic::is_same(a, b)
}

/// Whether `|` makes a choice of types of the value.
pub(crate) fn is_part(value: &Value) -> bool {
    matches!(value, Value::Class(_) | Value::None)
        || value.downcast::<Union>().is_some()
        || value.downcast::<Alias>().is_some()
        || value.downcast::<TypeVar>().is_some()
}

/// `this | other`, or `other | this` if `reflected`.
pub(crate) fn either(op: BinaryOp, this: &Value, other: &Value, reflected: bool) -> Option<Value> {
    if op != BinaryOp::Or || !is_part(other) {
        return None;
    }
    Some(if reflected { Union::of(other, this) } else { Union::of(this, other) })
}

fn types_of(_cx: &mut Cx, this: &Value) -> Res {
    Ok(Value::tuple(this.downcast::<Union>().map(|it| it.parts.clone()).unwrap_or_default()))
}

impl NativeObject for Union {
    fn native_type(&self) -> &'static NativeType {
        if self.in_typing { &TYPING_UNION } else { &UNION }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let is_origin = name.as_str() == "__origin__" && self.in_typing;
        Ok(is_origin.then(|| Value::Class(class_of(&typing::UNION))))
    }

    fn adopt(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let parts = self.parts.iter().map(|it| cx.adopt(it)).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Value::object(Union { parts, in_typing: self.in_typing })))
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        Ok(either(op, this, other, reflected))
    }

    fn compare(
        &self,
        _cx: &mut Cx,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let same = is_same(this, other);
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(same)),
            CompareOp::Ne => Some(Value::Bool(!same)),
            _ => None,
        })
    }

    /// `isinstance(item, this)`.
    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        for part in &self.parts {
            if cx.is_instance(item, part)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        let mut sum = 0_i64;
        for part in &self.parts {
            sum ^= cx.hash(part)?;
        }
        Ok(Some(sum))
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let is_none =
            |it: &&Value| matches!(it, Value::Class(it) if it.derives_from(&types::NONE_TYPE));
        if !self.in_typing {
            let texts: Result<Vec<String>, Raised> =
                self.parts.iter().map(|it| type_text(cx, it, false)).collect();
            return Ok(texts?.join(" | "));
        }
        let others: Vec<Value> = self.parts.iter().filter(|it| !is_none(it)).cloned().collect();
        match others.as_slice() {
            [one] => Ok(format!("typing.Optional[{}]", type_text(cx, one, true)?)),
            _ if others.len() < self.parts.len() => {
                let inside = texts(cx, &others, true)?;
                Ok(format!("typing.Union[{inside}, NoneType]"))
            }
            _ => Ok(format!("typing.Union[{}]", texts(cx, &others, true)?)),
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.parts.iter().for_each(visit);
    }
}
