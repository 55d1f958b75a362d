//! `int | None`: a choice of types, for annotations and `isinstance`.

use std::any::Any;

use crate::native::*;

/// The row of the type.
pub static UNION: NativeType = NativeType {
    module: "types",
    getters: &[Getter { name: "__args__", doc: "The types.", get: types }],
    ..NativeType::plain("UnionType", "A choice of types.")
};

/// Classes and `None`, each once.
pub struct Union(Vec<Value>);

impl Union {
    /// `a | b`; each is a class, `None` or a union.
    pub(crate) fn of(a: &Value, b: &Value) -> Value {
        let mut all: Vec<Value> = Vec::new();
        for side in [a, b] {
            let parts = match side.downcast::<Union>() {
                Some(it) => &it.0[..],
                None => std::slice::from_ref(side),
            };
            for part in parts {
                if !all.iter().any(|it| it.is(part)) {
                    all.push(part.clone());
                }
            }
        }
        match all.as_slice() {
            [one] => one.clone(),
            _ => Value::object(Union(all)),
        }
    }

    /// The types.
    pub(crate) fn parts(&self) -> &[Value] {
        &self.0
    }
}

/// Whether `|` makes a choice of types of the value.
pub(crate) fn is_part(value: &Value) -> bool {
    matches!(value, Value::Class(_) | Value::None) || value.downcast::<Union>().is_some()
}

fn types(_cx: &mut Cx, this: &Value) -> Res {
    Ok(Value::tuple(this.downcast::<Union>().map(|it| it.0.clone()).unwrap_or_default()))
}

impl NativeObject for Union {
    fn native_type(&self) -> &'static NativeType {
        &UNION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        if op != BinaryOp::Or || !is_part(other) {
            return Ok(None);
        }
        Ok(Some(if reflected { Union::of(other, this) } else { Union::of(this, other) }))
    }

    fn compare(
        &self,
        _cx: &mut Cx,
        op: CompareOp,
        _this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        let same = other.downcast::<Union>().is_some_and(|other| {
            let holds = |it: &Value| other.0.iter().any(|part| part.is(it));
            self.0.len() == other.0.len() && self.0.iter().all(holds)
        });
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(same)),
            CompareOp::Ne => Some(Value::Bool(!same)),
            _ => None,
        })
    }

    /// `isinstance(item, this)`.
    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        for part in &self.0 {
            if cx.is_instance(item, part)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let name = |it: &Value| match it {
            Value::Class(it) if it.module.is_empty() => it.name.to_string(),
            Value::Class(it) => it.full_name(),
            _ => "None".to_owned(),
        };
        Ok(self.0.iter().map(name).collect::<Vec<_>>().join(" | "))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.0.iter().for_each(visit);
    }
}
