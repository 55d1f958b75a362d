//! `property`, `staticmethod`, `classmethod`: what class attributes do when looked up.

use std::any::Any;
use std::rc::Rc;

use crate::builtins::types;
use crate::check::adopt::is_stateless;
use crate::native::*;
use crate::objects::class::Class;

/// A property.
pub struct Property {
    pub get: Get,
    pub set: Value,
    pub delete: Value,
}

/// How a property is read.
pub enum Get {
    Native(&'static Getter),
    Func(Value),
}

/// A static method.
pub struct StaticMethod(pub Value);

/// A class method.
pub struct ClassMethod(pub Value);

impl Property {
    /// The property of a built-in type's computed attribute.
    pub fn native(getter: &'static Getter) -> Property {
        Property { get: Get::Native(getter), set: Value::None, delete: Value::None }
    }

    /// Reads the property of `this`.
    pub fn read(&self, cx: &mut Cx, this: &Value) -> Res {
        match &self.get {
            Get::Native(getter) => (getter.get)(cx, this),
            Get::Func(Value::None) => Err(attribute_error("property has no getter")),
            Get::Func(func) => cx.call(func, std::slice::from_ref(this)),
        }
    }
}

/// A native that a class offers without `self`.
pub fn static_native(function: &'static NativeFn) -> Value {
    Value::object(StaticMethod(Value::Native(function)))
}

/// What `attr`, found in `class`, becomes when read through `this`.
pub fn bind(cx: &mut Cx, attr: Value, this: &Value, class: &Rc<Class>) -> Res {
    match &attr {
        Value::Func(_) | Value::Native(_) => Ok(Value::method(attr, this.clone())),
        Value::Object(object) => {
            if let Some(property) = attr.downcast::<Property>() {
                property.read(cx, this)
            } else if let Some(StaticMethod(inner)) = attr.downcast() {
                Ok(inner.clone())
            } else if let Some(ClassMethod(inner)) = attr.downcast() {
                Ok(Value::method(inner.clone(), Value::Class(class.clone())))
            } else if object.binds_self() {
                Ok(Value::method(attr, this.clone()))
            } else {
                Ok(attr)
            }
        }
        _ if Class::is_descriptor(&attr) => {
            let args = [this.clone(), Value::Class(class.clone())];
            Ok(cx.call_special(&attr, Sym::GET, &args)?.unwrap_or_default())
        }
        _ => Ok(attr),
    }
}

/// What `attr`, found in `class`, becomes when read through the class itself.
pub fn bind_to_class(attr: Value, class: &Rc<Class>) -> Value {
    if let Some(StaticMethod(inner)) = attr.downcast() {
        inner.clone()
    } else if let Some(ClassMethod(inner)) = attr.downcast() {
        Value::method(inner.clone(), Value::Class(class.clone()))
    } else {
        attr
    }
}

impl NativeObject for Property {
    fn native_type(&self) -> &'static NativeType {
        &types::PROPERTY
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        let get = match &self.get {
            Get::Func(func) => is_stateless(func),
            Get::Native(_) => true,
        };
        get && is_stateless(&self.set) && is_stateless(&self.delete)
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let getter = match &self.get {
            Get::Func(func) => func.clone(),
            Get::Native(_) => Value::None,
        };
        match name {
            Sym::DOC => match &self.get {
                Get::Native(row) => Ok(Some(Value::str(row.doc))),
                Get::Func(func) => cx.getattr(func, Sym::DOC).map(Some),
            },
            _ => Ok(match name.as_str() {
                "fget" => Some(getter),
                "fset" => Some(self.set.clone()),
                "fdel" => Some(self.delete.clone()),
                _ => None,
            }),
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Get::Func(func) = &self.get {
            visit(func);
        }
        visit(&self.set);
        visit(&self.delete);
    }
}

impl NativeObject for StaticMethod {
    fn native_type(&self) -> &'static NativeType {
        &types::STATICMETHOD
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        is_stateless(&self.0)
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        cx.call_with(&self.0, args)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.0);
    }
}

impl NativeObject for ClassMethod {
    fn native_type(&self) -> &'static NativeType {
        &types::CLASSMETHOD
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        is_stateless(&self.0)
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.0);
    }
}

/// `property(fget=None, fset=None, fdel=None)`.
pub fn new_property(_cx: &mut Cx, args: Args<'_>) -> Res {
    let it =
        Property { get: Get::Func(args[1].clone()), set: args[2].clone(), delete: args[3].clone() };
    Ok(Value::object(it))
}

/// `staticmethod(function)`.
pub fn new_staticmethod(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::object(StaticMethod(args[1].clone())))
}

/// `classmethod(function)`.
pub fn new_classmethod(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::object(ClassMethod(args[1].clone())))
}

/// Methods of `property`: each gives a copy with one function changed.
pub static PROPERTY_METHODS: &[NativeFn] = &[
    function("getter", "self, function, /", "A copy that reads with `function`.", getter).pure(),
    function("setter", "self, function, /", "A copy that writes with `function`.", setter).pure(),
    function("deleter", "self, function, /", "A copy that deletes with `function`.", deleter)
        .pure(),
];

fn getter(_cx: &mut Cx, args: Args<'_>) -> Res {
    let old: &Property = args.object(0)?;
    let (set, delete) = (old.set.clone(), old.delete.clone());
    Ok(Value::object(Property { get: Get::Func(args[1].clone()), set, delete }))
}

fn setter(_cx: &mut Cx, args: Args<'_>) -> Res {
    let old: &Property = args.object(0)?;
    Ok(Value::object(Property {
        get: old.get.copy(),
        set: args[1].clone(),
        delete: old.delete.clone(),
    }))
}

fn deleter(_cx: &mut Cx, args: Args<'_>) -> Res {
    let old: &Property = args.object(0)?;
    Ok(Value::object(Property {
        get: old.get.copy(),
        set: old.set.clone(),
        delete: args[1].clone(),
    }))
}

impl Get {
    fn copy(&self) -> Get {
        match self {
            Get::Native(row) => Get::Native(row),
            Get::Func(func) => Get::Func(func.clone()),
        }
    }
}
