//! Reading, setting and deleting attributes; special methods.

use std::rc::Rc;

use crate::builtins::operator_methods;
use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::error::{ATTRIBUTE_ERROR, Raised, attribute_error, type_error};
use crate::native::{NativeFn, Res, function};
use crate::objects::class::{
    Class, Instance, full_type_name, may_be_covered, traits, type_name, type_of,
};
use crate::objects::descriptor::{Property, bind, bind_to_class};
use crate::objects::module::Module;
use crate::objects::tensor::Look;
use crate::python::proxy;
use crate::suggest::nearest;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;
use crate::vm::import::modules_within;

impl Cx {
    /// `value.name`.
    pub fn getattr(&mut self, value: &Value, name: Sym) -> Res {
        match self.opt_getattr(value, name)? {
            Some(found) => Ok(found),
            None => Err(self.no_attribute(value, name)),
        }
    }

    /// `value.name`, or `None` if there is no such attribute.
    pub fn opt_getattr(&mut self, value: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        match value {
            Value::Instance(it) => self.instance_attr(value, it, name),
            Value::Class(it) => self.class_attr(value, it, name),
            Value::Module(it) => self.module_attr(value, it, name),
            _ => self.builtin_attr(value, name),
        }
    }

    fn module_attr(
        &mut self,
        value: &Value,
        it: &Module,
        name: Sym,
    ) -> Result<Option<Value>, Raised> {
        if let Some(found) = it.globals.get(name) {
            if self.mode == Mode::Follow {
                self.find(&found)?;
            }
            return Ok(Some(found));
        }
        if name == Sym::DICT && self.mode == Mode::Follow {
            it.globals.entries().iter().try_for_each(|it| self.find(&it.1))?;
        }
        Ok(match name {
            Sym::NAME => Some(Value::str(&it.name)),
            Sym::DOC => Some(Value::str(&it.doc)),
            Sym::CLASS => Some(Value::Class(type_of(value))),
            Sym::DICT => Some(module_dict(it)),
            _ => return self.module_within(it, name),
        })
    }

    fn builtin_attr(&mut self, value: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        if let Some(native) = value.as_native()
            && let Some(found) = native.getattr(self, value, name)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = crate::objects::function::attr(self, value, name)? {
            return Ok(Some(found));
        }
        let class = type_of(value);
        match class.lookup(name) {
            Some(attr) => bind(self, attr, value, &class).map(Some),
            None if name == Sym::CLASS => Ok(Some(Value::Class(class))),
            None if name == Sym::DOC => Ok(class.native.map(|row| Value::str(row.doc))),
            None if value.as_tensor().is_some() && !is_special_name(name) => {
                crate::tensor::attribute::written(self, value, name)
            }
            None => Ok(operator_method(&class, name).map(|it| Value::method(it, value.clone()))),
        }
    }

    fn instance_attr(
        &mut self,
        value: &Value,
        it: &Rc<Instance>,
        name: Sym,
    ) -> Result<Option<Value>, Raised> {
        let covered = may_be_covered() && it.class.covering(name).is_some();
        if !covered && let Some(found) = it.attrs.borrow().get(&name) {
            return Ok(Some(found.clone()));
        }
        if let Some(attr) = it.class.lookup(name) {
            return match bind(self, attr, value, &it.class) {
                Err(raised)
                    if it.class.has(traits::GETATTR)
                        && raised.is(&ATTRIBUTE_ERROR)
                        && !is_special_name(name) =>
                {
                    self.call_special(value, Sym::GETATTR, &[name.value()])
                }
                found => found.map(Some),
            };
        }
        match name {
            Sym::CLASS => return Ok(Some(Value::Class(it.class.clone()))),
            Sym::DICT => return Ok(Some(Value::Dict(Dict::of_instance(it, attrs_dict(it))))),
            Sym::DOC | Sym::CAUSE | Sym::CONTEXT | Sym::TRACEBACK => return Ok(Some(Value::None)),
            Sym::MODULE => {
                return self.class_attr(&Value::Class(it.class.clone()), &it.class, name);
            }
            _ => {}
        }
        if it.class.has(traits::GETATTR) && !is_special_name(name) {
            return match self.call_special(value, Sym::GETATTR, &[name.value()]) {
                Ok(found) => Ok(found),
                Err(raised) => Err(raised),
            };
        }
        if let Some(native) = it.base.as_native() {
            return native.getattr(self, &it.base, name);
        }
        if let Some(found) = crate::array::scalar::array_method(self, value, name)? {
            return Ok(Some(found));
        }
        Ok(operator_method(&it.class, name).map(|it| Value::method(it, value.clone())))
    }

    fn class_attr(
        &mut self,
        value: &Value,
        class: &Rc<Class>,
        name: Sym,
    ) -> Result<Option<Value>, Raised> {
        if let Some(attr) = class.lookup(name) {
            if Class::is_descriptor(&attr) {
                return self.call_special(&attr, Sym::GET, &[Value::None, value.clone()]);
            }
            return Ok(Some(bind_to_class(attr, class)));
        }
        if let Some(method) = crate::tensor::attribute::of_class(self, class, name)? {
            return Ok(Some(method));
        }
        Ok(Some(match name {
            Sym::NAME => class.name.value(),
            Sym::QUALNAME => class.qualname().value(),
            Sym::MODULE if class.module() == Sym::EMPTY => Value::str("builtins"),
            Sym::MODULE => class.module().value(),
            Sym::CLASS => Value::Class(type_of(value)),
            Sym::DOC => class.native.map_or(Value::None, |row| Value::str(row.doc)),
            Sym::BASE => class.base.clone().map_or(Value::None, Value::Class),
            Sym::BASES => {
                Value::tuple(class.base.iter().cloned().map(Value::Class).collect::<Vec<_>>())
            }
            Sym::MRO => Value::tuple(class.chain().cloned().map(Value::Class).collect::<Vec<_>>()),
            Sym::DICT => {
                let dict = Dict::default();
                for (name, value) in class.attrs.borrow().iter() {
                    dict.insert_name(*name, value.clone());
                }
                Value::Dict(Rc::new(dict))
            }
            Sym::ANNOTATIONS => Value::dict(),
            _ => match [&CHAIN, &SUBCLASSES].into_iter().find(|it| it.name == name.as_str()) {
                Some(method) => Value::method(Value::Native(method), value.clone()),
                None => return Ok(operator_method(class, name)),
            },
        }))
    }

    /// `value.name = new`.
    pub fn setattr(&mut self, value: &Value, name: Sym, new: Value) -> Result<(), Raised> {
        if let Value::Instance(it) = value
            && it.class.has(traits::SETATTR)
        {
            return self.call_special(value, Sym::SETATTR, &[name.value(), new]).map(drop);
        }
        self.setattr_plainly(value, name, new)
    }

    /// `object.__setattr__(value, name, new)`.
    pub fn setattr_plainly(&mut self, value: &Value, name: Sym, new: Value) -> Result<(), Raised> {
        match value {
            Value::Instance(it) => {
                if it.class.has(traits::PROPERTY)
                    && let Some(attr) = it.class.lookup(name)
                    && let Some(property) = attr.downcast::<Property>()
                {
                    if property.set.is_none() && matches!(value.core(), Value::Tuple(_)) {
                        return Err(attribute_error("can't set attribute"));
                    }
                    if property.set.is_none() {
                        return Err(attribute_error(format!(
                            "property '{name}' of '{}' object has no setter",
                            it.class.name
                        )));
                    }
                    return self.call(&property.set, &[value.clone(), new]).map(drop);
                }
                if it.class.has(traits::PROPERTY)
                    && let Some(attr) = it.class.lookup(name)
                    && matches!(&attr, Value::Instance(it) if it.class.has(traits::SET))
                {
                    return self.call_special(&attr, Sym::SET, &[value.clone(), new]).map(drop);
                }
                if it.class.has(traits::SLOTS)
                    && it.class.slots().is_some_and(|names| !names.contains(&name))
                {
                    return Err(self.no_slot(value, it, name));
                }
                if name == Sym::DICT {
                    return replace_attrs(it, new);
                }
                it.set(name, new);
                Ok(())
            }
            Value::Class(it) if it.native.is_none() => {
                if is_enum_member(it, name) {
                    return Err(attribute_error(format!("cannot reassign member '{name}'")));
                }
                if !it.rename(name, &new) {
                    it.set(name, new);
                }
                Ok(())
            }
            Value::Class(it) => Err(type_error(format!(
                "cannot set '{name}' attribute of immutable type '{}'",
                it.name
            ))),
            Value::Module(it) => {
                it.set(name, new);
                Ok(())
            }
            _ => {
                if crate::objects::function::set_attr(value, name, &new)? {
                    return Ok(());
                }
                match value.as_native() {
                    Some(it) if it.setattr(self, value, name, &new)? => Ok(()),
                    _ => Err(self.no_attribute(value, name)),
                }
            }
        }
    }

    fn no_slot(&mut self, value: &Value, it: &Instance, name: Sym) -> Raised {
        if it.class.lookup(name).is_none() {
            return self.no_attribute(value, name);
        }
        attribute_error(format!("'{}' object attribute '{name}' is read-only", it.class.name))
    }

    /// `del value.name`.
    pub fn delattr(&mut self, value: &Value, name: Sym) -> Result<(), Raised> {
        match value {
            Value::Instance(it) => {
                if it.class.has(traits::DELATTR) {
                    return self.call_special(value, Sym::DELATTR, &[name.value()]).map(drop);
                }
                self.delattr_plainly(value, name)
            }
            Value::Class(it) if is_enum_member(it, name) => {
                Err(attribute_error(format!("'{}' cannot delete member '{name}'.", it.name)))
            }
            Value::Class(it) if it.native.is_none() && it.remove(name) => Ok(()),
            Value::Module(it) if it.globals.get(name).is_some() => {
                it.set(name, Value::Unbound);
                Ok(())
            }
            _ => match value.as_native() {
                Some(native) if native.delattr(self, name)? => Ok(()),
                _ => Err(self.no_attribute(value, name)),
            },
        }
    }

    /// `object.__delattr__(value, name)`.
    pub fn delattr_plainly(&mut self, value: &Value, name: Sym) -> Result<(), Raised> {
        let Value::Instance(it) = value else { return Err(self.no_attribute(value, name)) };
        if let Some(attr) = it.class.lookup(name)
            && let Some(property) = attr.downcast::<Property>()
            && !property.delete.is_none()
        {
            return self.call(&property.delete, std::slice::from_ref(value)).map(drop);
        }
        if it.class.covering(name).is_some_and(|it| it.downcast::<Property>().is_some()) {
            let class = it.class.name;
            return Err(attribute_error(format!(
                "property '{name}' of '{class}' object has no deleter"
            )));
        }
        if it.class.has(traits::PROPERTY)
            && let Some(attr) = it.class.lookup(name)
            && self.call_special(&attr, Sym::DELETE, std::slice::from_ref(value))?.is_some()
        {
            return Ok(());
        }
        let old = it.remove(name);
        match old {
            Some(_) => Ok(()),
            None => Err(self.no_attribute(value, name)),
        }
    }

    /// The function that `name` means in the class of an instance or native object, if any.
    pub fn special(&mut self, value: &Value, name: Sym) -> Option<Value> {
        match value {
            Value::Instance(it) => it.class.lookup(name),
            Value::Object(_) | Value::Tensor(_) => type_of(value).lookup(name),
            _ => None,
        }
    }

    /// True if the class of `value` has a method of this name.
    pub fn has_special(&mut self, value: &Value, name: Sym) -> bool {
        if proxy::of(value).is_some() {
            return self.opt_getattr(value, name).is_ok_and(|it| it.is_some());
        }
        self.special(value, name).is_some()
    }

    /// Calls a special method through the class of `value`; `None` if there is none.
    pub fn call_special(
        &mut self,
        value: &Value,
        name: Sym,
        args: &[Value],
    ) -> Result<Option<Value>, Raised> {
        if let Some(proxy) = proxy::of(value) {
            return self.call_python_special(proxy, name, args);
        }
        let Some(attr) = self.special(value, name) else { return Ok(None) };
        if attr.is_none() {
            let kind = type_name(value);
            return Err(type_error(match name {
                Sym::HASH => format!("unhashable type: '{kind}'"),
                _ => format!("'{kind}' object does not support {name}"),
            }));
        }
        self.call_bound(attr, value, args).map(Some)
    }

    /// Calls what a class attribute means for `this`.
    pub fn call_bound(&mut self, attr: Value, this: &Value, args: &[Value]) -> Res {
        if crate::objects::function::is_plain_function(&attr) {
            let mut all = smallvec::SmallVec::<[Value; 4]>::with_capacity(args.len() + 1);
            all.push(this.clone());
            all.extend(args.iter().cloned());
            return self.call(&attr, &all);
        }
        let class = type_of(this);
        let bound = bind(self, attr, this, &class)?;
        self.call(&bound, args)
    }

    /// `AttributeError`, with the nearest name if one is near.
    pub fn no_attribute(&mut self, value: &Value, name: Sym) -> Raised {
        let message = match value {
            Value::Module(it) => format!("module '{}' has no attribute '{name}'", it.name),
            Value::Class(it) => format!("type object '{}' has no attribute '{name}'", it.name),
            _ => format!("'{}' object has no attribute '{name}'", full_type_name(value)),
        };
        let owner = match value {
            Value::Module(it) => &it.name,
            Value::Tensor(it) if it.look() == Look::Array => "numpy.ndarray",
            Value::Tensor(_) => "torch.Tensor",
            Value::Str(_) => "str",
            _ => "",
        };
        if let Some(way_out) = crate::absent::attribute(owner, name.as_str()) {
            let words = format!("It is not in this language: {way_out}");
            return attribute_error(message).with_words(Some(words));
        }
        let names = self.dir(value);
        let near = nearest(name.as_str(), names.iter().map(|it| it.as_str()));
        let raised = attribute_error(message).with_hint(near);
        match (near, value) {
            (None, Value::Instance(it)) => raised.with_words(init_not_called(it)),
            _ => raised,
        }
    }

    /// Names of attributes, sorted.
    pub fn dir(&mut self, value: &Value) -> Vec<Sym> {
        if let Some(proxy) = proxy::of(value) {
            return self.python_dir(proxy).unwrap_or_default();
        }
        let mut names: Vec<Sym> = Vec::new();
        let mut add_class = |class: &Rc<Class>| {
            for class in class.chain() {
                names.extend(class.attrs.borrow().keys());
            }
        };
        match value {
            Value::Module(it) => {
                names.extend(it.globals.entries().into_iter().map(|(name, _)| name));
                names.extend(modules_within(&it.name).map(Sym::new));
            }
            Value::Class(it) => add_class(it),
            _ => {
                add_class(&type_of(value));
                if let Value::Instance(it) = value {
                    names.extend(it.attrs.borrow().keys());
                }
                if let Some(native) = value.as_native() {
                    names.extend(native.attributes());
                }
                if value.as_tensor().is_some() {
                    names.extend(crate::tensor::attribute::written_names(self, value));
                }
            }
        }
        names.sort_by_key(|it| it.as_str());
        names.dedup();
        names
    }
}

/// Whether the attribute is a member of an enumeration, which stays what it is.
fn is_enum_member(class: &Rc<Class>, name: Sym) -> bool {
    if !class.has(traits::PROTOCOL) {
        return false;
    }
    let attrs = class.attrs.borrow();
    let is_own = |it: &Value| matches!(it, Value::Instance(it) if Rc::ptr_eq(&it.class, class));
    attrs.get(&name).is_some_and(is_own)
}

/// Says so where `__init__` of a class does not call that of its base, whose attributes are missing then.
fn init_not_called(it: &Instance) -> Option<String> {
    let mut inits = it.class.chain().filter_map(|class| {
        let found = class.attrs.borrow().get(&Sym::INIT).cloned();
        found.map(|init| (class.name, init))
    });
    let (Some((name, Value::Func(own))), Some((base, Value::Func(_)))) =
        (inits.next(), inits.next())
    else {
        return None;
    };
    let calls = own.code.ops.iter().any(|op| match op {
        Op::SuperMethod(name) | Op::SuperAttr(name) => *name == Sym::INIT,
        Op::Method { name, .. } | Op::Attr { name, .. } => *name == Sym::INIT,
        Op::Super => true,
        _ => false,
    });
    let words = format!(
        "{name}.__init__ does not call super().__init__(), so what {base}.__init__ sets is missing"
    );
    (!calls).then_some(words)
}

/// `object.__dict__ = new`: the object takes the entries. What somebody else holds would have to be shared, which nothing here can be.
fn replace_attrs(it: &Rc<Instance>, new: Value) -> Result<(), Raised> {
    let dict = match new {
        Value::Dict(dict) => dict,
        Value::Instance(ref other) if matches!(other.base, Value::Dict(_)) => {
            return Err(shared_attrs());
        }
        other => {
            let kind = type_name(&other);
            return Err(type_error(format!(
                "__dict__ must be set to a dictionary, not a '{kind}'"
            )));
        }
    };
    if Rc::strong_count(&dict) > 1 || dict.is_of_instance() {
        return Err(shared_attrs());
    }
    let old: Vec<Sym> = it.attrs.borrow().keys().copied().collect();
    old.into_iter().for_each(|name| drop(it.remove(name)));
    for (key, value) in dict.items() {
        if let Some(name) = key.as_str() {
            it.set(Sym::new(name), value);
        }
    }
    Ok(())
}

fn shared_attrs() -> Raised {
    type_error(
        "__dict__ cannot be shared with another object or name here; copy into it, `self.__dict__.update(d)`, \
         keep what all objects share in attributes of the class, or define __getattr__ and __setattr__",
    )
}

fn attrs_dict(it: &Instance) -> Dict {
    let dict = Dict::default();
    for (name, value) in it.attrs.borrow().iter() {
        dict.insert_name(*name, value.clone());
    }
    dict
}

fn module_dict(it: &Module) -> Value {
    let dict = Dict::default();
    for (name, value) in it.globals.entries() {
        dict.insert_name(name, value);
    }
    Value::Dict(Rc::new(dict))
}

/// An operator of the built-in type under a class, as a function.
pub(crate) fn operator_method(class: &Class, name: Sym) -> Option<Value> {
    if !is_special_name(name) {
        return None;
    }
    operator_methods::find(class.native_base(), name).map(Value::Native)
}

/// `mro()`.
static CHAIN: NativeFn =
    function("mro", "cls, /", "The class and its bases, nearest first.", |_cx, args| {
        let Value::Class(class) = &args[0] else { return Ok(Value::list(Vec::new())) };
        Ok(Value::list(class.chain().cloned().map(Value::Class).collect()))
    })
    .pure();

static SUBCLASSES: NativeFn =
    function("__subclasses__", "cls, /", "Classes made of this one.", |_cx, args| {
        let Value::Class(class) = &args[0] else { return Err(type_error("expected a class")) };
        Ok(Value::list(class.subclasses().into_iter().map(Value::Class).collect()))
    })
    .opaque();

fn is_special_name(name: Sym) -> bool {
    let text = name.as_str();
    text.len() > 4 && text.starts_with("__") && text.ends_with("__")
}
