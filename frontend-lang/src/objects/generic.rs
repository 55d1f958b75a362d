//! `list[int]`, `typing.List[int]`, `Stack[int]`: a class with the types of what it holds, for annotations; type variables.
//!
//! Called, or asked for an attribute, it is the class. `Union` and `Optional` are in `union.rs`.

use std::any::Any;

use crate::builtins::types;
use crate::native::*;
use crate::objects::class::class_of;
use crate::objects::union::{self, Union};

/// The row of `list[int]`.
pub static ALIAS: NativeType = NativeType {
    module: "types",
    ..NativeType::plain("GenericAlias", "A class with the types of what it holds.")
};

/// The row of `typing.List[int]`.
static TYPING_ALIAS: NativeType = NativeType {
    module: "typing",
    ..NativeType::plain("_GenericAlias", "A name for annotations, with types.")
};

/// The row of `TypeVar("T")`.
pub static TYPE_VAR: NativeType = NativeType {
    module: "typing",
    new: Some(
        function(
            "TypeVar",
            "cls, name, *constraints, bound=None, covariant=False, contravariant=False",
            "",
            |_cx, args| Ok(Value::object(TypeVar(args.str(1)?.to_owned()))),
        )
        .pure(),
    ),
    ..NativeType::plain("TypeVar", "A variable for types.")
};

/// A class with types in square brackets.
pub struct Alias {
    /// The name in `typing`, if it is one of those.
    name: Option<&'static str>,
    origin: Value,
    /// `None`: a name of `typing` without square brackets.
    args: Option<Vec<Value>>,
}

/// `T = TypeVar("T")`.
pub struct TypeVar(String);

impl Alias {
    /// `typing.List`, which stands for `list`.
    pub(crate) fn bare(name: &'static str, origin: Value) -> Value {
        Value::object(Alias { name: Some(name), origin, args: None })
    }

    /// `class[index]`.
    pub(crate) fn of_class(class: &Value, index: &Value) -> Value {
        let args = parts_of(index);
        let Value::Class(it) = class else { return class.clone() };
        let Some(row) = it.native.filter(|row| row.module == "typing") else {
            let (name, origin) = (None, class.clone());
            return Value::object(Alias { name, origin, args: Some(args) });
        };
        match row.name {
            "Union" => Union::typing(args.iter().map(types_of_none)),
            "Optional" => Union::typing(args.iter().chain([&Value::None]).map(types_of_none)),
            "Literal" | "Annotated" => Alias::typing(row.name, class.clone(), args),
            _ => Alias::typing(row.name, class.clone(), args.iter().map(types_of_none).collect()),
        }
    }

    fn typing(name: &'static str, origin: Value, args: Vec<Value>) -> Value {
        Value::object(Alias { name: Some(name), origin, args: Some(args) })
    }

    /// The class.
    pub(crate) fn origin(&self) -> &Value {
        &self.origin
    }

    /// The types in square brackets.
    pub(crate) fn args(&self) -> &[Value] {
        self.args.as_deref().unwrap_or_default()
    }

    /// As `typing.get_args` gives them: the parameters of a `Callable` are a list.
    pub(crate) fn call_args(&self) -> Vec<Value> {
        match (self.name, self.args()) {
            (Some("Callable"), [Value::Ellipsis, ..]) => self.args().to_vec(),
            (Some("Callable"), [params @ .., result]) => {
                vec![Value::list(params.to_vec()), result.clone()]
            }
            (_, args) => args.to_vec(),
        }
    }

    fn same(&self, other: &Alias) -> bool {
        let same = |(a, b)| union::is_same(a, b);
        self.name == other.name
            && self.origin.is(&other.origin)
            && self.args.is_some() == other.args.is_some()
            && self.args().len() == other.args().len()
            && self.args().iter().zip(other.args()).all(same)
    }
}

/// Whether two generic types are the same.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    let (a, b) = (a.downcast::<Alias>(), b.downcast::<Alias>());
    matches!((a, b), (Some(a), Some(b)) if a.same(b))
}

fn parts_of(index: &Value) -> Vec<Value> {
    match index {
        Value::Tuple(it) => it.to_vec(),
        other => vec![other.clone()],
    }
}

/// `None` stands for its type.
pub(crate) fn types_of_none(value: &Value) -> Value {
    match value {
        Value::None => Value::Class(class_of(&types::NONE_TYPE)),
        other => other.clone(),
    }
}

/// A type as annotations show it; `in_typing`: inside one of `typing`.
pub(crate) fn type_text(cx: &mut Cx, value: &Value, in_typing: bool) -> Result<String, Raised> {
    Ok(match value {
        Value::Class(it) if it.derives_from(&types::NONE_TYPE) && !in_typing => "None".to_owned(),
        Value::Class(it) => it.full_name(),
        Value::Ellipsis => "...".to_owned(),
        Value::Str(it) if in_typing => format!("ForwardRef({})", crate::objects::quote::repr(it)),
        Value::List(it) => {
            let items = it.items.borrow().clone();
            match items.as_slice() {
                [] => "[]".to_owned(),
                some => format!("[{}]", texts(cx, some, in_typing)?),
            }
        }
        Value::Tuple(it) if it.is_empty() => "()".to_owned(),
        other => cx.repr(other)?,
    })
}

/// Types with commas.
pub(crate) fn texts(cx: &mut Cx, values: &[Value], in_typing: bool) -> Result<String, Raised> {
    if values.is_empty() {
        return Ok("()".to_owned());
    }
    let texts: Result<Vec<String>, Raised> =
        values.iter().map(|it| type_text(cx, it, in_typing)).collect();
    Ok(texts?.join(", "))
}

impl NativeObject for Alias {
    fn native_type(&self) -> &'static NativeType {
        if self.name.is_some() { &TYPING_ALIAS } else { &ALIAS }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        match name.as_str() {
            "__origin__" => Ok(Some(self.origin.clone())),
            "__args__" => Ok(Some(Value::tuple(self.args().to_vec()))),
            "__class__" => Ok(None),
            _ => cx.opt_getattr(&self.origin, name),
        }
    }

    fn is_callable(&self) -> bool {
        matches!(&self.origin, Value::Class(it) if it.native.is_none_or(|row| row.module != "typing"))
    }

    fn call(&self, cx: &mut Cx, this: &Value, args: CallArgs<'_>) -> Res {
        if let (Some(name), Value::Class(origin)) = (self.name, &self.origin) {
            let shown = if self.args.is_none() { name.to_owned() } else { cx.repr(this)? };
            return Err(type_error(format!(
                "Type {shown} cannot be instantiated; use {}() instead",
                origin.name
            )));
        }
        cx.call_with(&self.origin, args)
    }

    fn getitem(&self, _cx: &mut Cx, _this: &Value, index: &Value) -> Result<Option<Value>, Raised> {
        Ok(match (&self.args, self.name) {
            (None, Some(name)) => {
                let mut args = parts_of(index);
                // The parameters of a `Callable` stand in a list.
                if let ("Callable", Some(Value::List(params))) = (name, args.first().cloned()) {
                    args.splice(..1, params.items.borrow().iter().cloned());
                }
                let args = args.iter().map(types_of_none).collect();
                Some(Alias::typing(name, self.origin.clone(), args))
            }
            // Type variables filled in.
            (Some(args), name) => {
                let mut given = parts_of(index).into_iter();
                let fill = |it: &Value| match it.downcast::<TypeVar>() {
                    Some(_) => given.next().unwrap_or_else(|| it.clone()),
                    None => it.clone(),
                };
                let args = Some(args.iter().map(fill).collect());
                Some(Value::object(Alias { name, origin: self.origin.clone(), args }))
            }
            (None, None) => None,
        })
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        Ok(union::either(op, this, other, reflected))
    }

    fn compare(
        &self,
        _cx: &mut Cx,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(this.is(other) || is_same(this, other))),
            CompareOp::Ne => Some(Value::Bool(!this.is(other) && !is_same(this, other))),
            _ => None,
        })
    }

    fn hash(&self, cx: &mut Cx) -> Result<Option<i64>, Raised> {
        let mut all = vec![self.origin.clone()];
        all.extend(self.args().iter().cloned());
        cx.hash(&Value::tuple(all)).map(Some)
    }

    /// `isinstance(item, this)`.
    fn contains(&self, cx: &mut Cx, _this: &Value, item: &Value) -> Result<Option<bool>, Raised> {
        match (&self.args, self.name) {
            (None, _) => cx.is_instance(item, &self.origin).map(Some),
            (_, None) => {
                Err(type_error("isinstance() argument 2 cannot be a parameterized generic"))
            }
            _ => Err(type_error(
                "Subscripted generics cannot be used with class and instance checks",
            )),
        }
    }

    fn repr(&self, cx: &mut Cx) -> Result<String, Raised> {
        let Some(args) = &self.args else {
            return Ok(format!("typing.{}", self.name.unwrap_or_default()));
        };
        let origin = self.origin.clone();
        let Some(name) = self.name else {
            return Ok(format!("{}[{}]", type_text(cx, &origin, false)?, texts(cx, args, false)?));
        };
        let inside = match (name, args.as_slice()) {
            ("Callable", [Value::Ellipsis, result]) => {
                format!("..., {}", type_text(cx, result, true)?)
            }
            ("Callable", [result]) => format!("[], {}", type_text(cx, result, true)?),
            ("Callable", [params @ .., result]) => {
                format!("[{}], {}", texts(cx, params, true)?, type_text(cx, result, true)?)
            }
            ("Literal", _) => {
                let texts: Result<Vec<String>, Raised> =
                    args.iter().map(|it| cx.repr(it)).collect();
                texts?.join(", ")
            }
            ("Annotated", [first, rest @ ..]) => {
                let mut inside = type_text(cx, first, true)?;
                for it in rest {
                    inside.push_str(", ");
                    inside.push_str(&cx.repr(it)?);
                }
                inside
            }
            _ => texts(cx, args, true)?,
        };
        Ok(format!("typing.{name}[{inside}]"))
    }

    fn adopt(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let origin = cx.adopt(&self.origin)?;
        let args = self.args().iter().map(|it| cx.adopt(it)).collect::<Result<Vec<_>, _>>()?;
        let args = self.args.is_some().then_some(args);
        Ok(Some(Value::object(Alias { name: self.name, origin, args })))
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.origin);
        self.args().iter().for_each(visit);
    }
}

impl NativeObject for TypeVar {
    fn native_type(&self) -> &'static NativeType {
        &TYPE_VAR
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok((name == Sym::NAME).then(|| Value::str(self.0.as_str())))
    }

    fn binary(
        &self,
        _cx: &mut Cx,
        op: BinaryOp,
        this: &Value,
        other: &Value,
        reflected: bool,
    ) -> Result<Option<Value>, Raised> {
        Ok(union::either(op, this, other, reflected))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(format!("~{}", self.0))
    }
}
