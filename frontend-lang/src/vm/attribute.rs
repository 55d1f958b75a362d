//! Attributes with caches: each operation remembers where it found its name.

use std::rc::Rc;

use crate::bytecode::{Cache, Code, Op};
use crate::cx::{Cx, Mode};
use crate::error::Raised;
use crate::native::Res;
use crate::objects::class::{Instance, class_of, class_version, may_be_covered, row_of, traits};
use crate::objects::descriptor::{Get, Property};
use crate::objects::function::Func;
use crate::python::proxy;
use crate::sym::Sym;
use crate::value::Value;
use crate::value::words::{hold, push, put};
use crate::vm::frame::FrameKind;

impl Cx {
    /// `Attr`.
    #[inline(never)]
    pub(crate) fn load_attr(&mut self, code: &Code, name: Sym, cache: u16) -> Res {
        let object = self.machine.stack.pop();
        if let Value::Instance(it) = &object
            && let Some(found) = own_attr(it, code, name, cache)
        {
            return Ok(found);
        }
        self.getattr(&object, name)
    }

    /// The first try of `Attr`: true if the frame of a property's getter was pushed, with the object as its argument. False if
    /// this is another matter; nothing has happened then.
    #[inline(never)]
    pub(crate) fn enter_property(
        &mut self,
        code: &Code,
        name: Sym,
        cache: u16,
    ) -> Result<bool, Raised> {
        let at = self.machine.stack.len() - 1;
        let Value::Instance(it) = &self.machine.stack[at] else { return Ok(false) };
        // With `__getattr__`, an AttributeError of the getter has to be seen.
        if !it.class.has(traits::PROPERTY)
            || it.class.has(traits::GETATTR)
            || (it.attrs.borrow().contains_key(&name) && !may_be_covered())
        {
            return Ok(false);
        }
        let Some(getter) = getter_of(it, &code.caches[cache as usize], name) else {
            return Ok(false);
        };
        self.push_func(getter, at, at, FrameKind::Call)
    }

    /// `SetAttr` and `PutAttr`.
    pub(crate) fn set_attr_op(&mut self, code: &Code, op: Op) -> Result<(), Raised> {
        let stack = &mut self.machine.stack;
        let top = stack.len() - 1;
        let (name, cache, object, value) = match op {
            Op::SetAttr { name, cache } => (name, cache, top, top - 1),
            Op::PutAttr { name, cache } => (name, cache, top - 1, top),
            _ => return Ok(()),
        };
        let object = stack[object].clone();
        let value = stack[value].clone();
        stack.drop_top();
        stack.drop_top();
        if self.mode == Mode::Shadow {
            self.shadow_set_attr(&object, &value)?;
        }
        if let Value::Instance(it) = &object
            && is_stored_plainly(it, code, name, cache)
        {
            store_own(it, &code.caches[cache as usize], name, &value);
            return Ok(());
        }
        self.setattr(&object, name, value)
    }

    /// `Method`: leaves function and object, or an unbound place and the bound method.
    #[inline(never)]
    pub(crate) fn load_method(&mut self, code: &Code, name: Sym, cache: u16) -> Result<(), Raised> {
        if let Some(found) = self.cached_method(code, name, cache).map(hold) {
            let stack = &mut self.machine.stack;
            let object = hold(stack.pop());
            push(stack, found);
            push(stack, object);
            return Ok(());
        }
        let object = self.machine.stack.pop();
        if let Value::Instance(it) = &object
            && let Some(found) = own_attr(it, code, name, cache)
        {
            self.machine.stack.push(Value::Unbound);
            self.machine.stack.push(found);
            return Ok(());
        }
        let key = method_key(&object);
        if key != 0
            && let Some(found) = self.plain_method(&object, name)?
        {
            let slot = &code.caches[cache as usize];
            slot.key.set((key, class_version()));
            drop(slot.found.replace(found.clone()));
            self.machine.stack.push(found);
            self.machine.stack.push(object);
            return Ok(());
        }
        let bound = match proxy::method(&object, name) {
            Some(bound) => bound,
            None => self.getattr(&object, name)?,
        };
        self.machine.stack.push(Value::Unbound);
        self.machine.stack.push(bound);
        Ok(())
    }

    /// The method that the cache knows for the object on top.
    #[inline(always)]
    fn cached_method(&self, code: &Code, name: Sym, cache: u16) -> Option<Value> {
        let object = self.machine.stack.last()?;
        let slot = &code.caches[cache as usize];
        if slot.key.get() != (method_key(object), class_version()) {
            return None;
        }
        match object {
            Value::Instance(it) if it.attrs.borrow().contains_key(&name) => None,
            _ => Some(slot.found.borrow().clone()),
        }
    }

    /// The method in the class of `object`, if calling it only means putting the object first.
    fn plain_method(&mut self, object: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let found = match object {
            Value::Instance(it) => it.class.lookup(name),
            Value::Func(_) | Value::Native(_) | Value::Method(_) => None,
            Value::Tensor(_) => match object.as_native() {
                Some(it) if it.getattr(self, object, name)?.is_some() => None,
                _ => class_of(row_of(object)).lookup(name),
            },
            _ => class_of(row_of(object)).lookup(name),
        };
        Ok(found.filter(|it| match it {
            Value::Func(_) | Value::Native(_) => true,
            Value::Object(it) => it.binds_self(),
            _ => false,
        }))
    }
}

/// The getter of a property written in the language; the cache remembers it.
fn getter_of(it: &Instance, cache: &Cache, name: Sym) -> Option<Rc<Func>> {
    let key = (Rc::as_ptr(&it.class).addr(), class_version());
    if cache.key.get() != key {
        let found = it.class.lookup(name)?;
        let Get::Func(getter @ Value::Func(func)) = &found.downcast::<Property>()?.get else {
            return None;
        };
        if func.code.is_generator {
            return None;
        }
        cache.key.set(key);
        drop(cache.found.replace(getter.clone()));
    }
    match &*cache.found.borrow() {
        Value::Func(func) => Some(func.clone()),
        _ => None,
    }
}

/// What methods are remembered for: the class of an instance, the row of a built-in type; 0 where nothing is.
#[inline]
fn method_key(object: &Value) -> usize {
    match object {
        Value::Instance(it) => Rc::as_ptr(&it.class).addr(),
        Value::Module(_) | Value::Class(_) | Value::Object(_) => 0,
        _ => std::ptr::from_ref(row_of(object)).addr(),
    }
}

/// Stores an attribute in an instance, and its place in the cache.
fn store_own(it: &Rc<Instance>, cache: &Cache, name: Sym, value: &Value) {
    it.note(value);
    let mut attrs = it.attrs.borrow_mut();
    let (place, old) = attrs.insert_full(name, value.clone());
    cache.place.set(place as u32);
    drop(attrs);
    if old.is_none() {
        it.grown();
    }
    drop(old);
}

/// Whether assigning the attribute means storing it in the instance: no `__setattr__`, no property or descriptor of this name.
#[inline]
fn is_stored_plainly(it: &Instance, code: &Code, name: Sym, cache: u16) -> bool {
    if name == Sym::DICT {
        return false;
    }
    if !it.class.has(traits::SETATTR | traits::PROPERTY | traits::SLOTS) {
        return true;
    }
    let slot = &code.caches[cache as usize];
    let key = (Rc::as_ptr(&it.class).addr(), class_version());
    if slot.key.get() == key {
        return true;
    }
    let has_place = || it.class.slots().is_none_or(|names| names.contains(&name));
    let plain = !it.class.has(traits::SETATTR)
        && (!it.class.has(traits::SLOTS) || has_place())
        && match it.class.lookup(name) {
            Some(Value::Instance(it)) => !it.class.has(traits::SET),
            Some(other) => other.downcast::<Property>().is_none(),
            None => true,
        };
    if plain {
        slot.key.set(key);
    }
    plain
}

/// The attribute of an instance that the cache finds at once.
#[inline(always)]
pub(crate) fn quick_attr(object: &Value, code: &Code, name: Sym, cache: u16) -> Option<Value> {
    let Value::Instance(it) = object else { return None };
    if may_be_covered() && it.class.has(traits::PROPERTY) {
        return None;
    }
    let attrs = it.attrs.borrow();
    match attrs.at(code.caches[cache as usize].place.get() as usize) {
        Some((key, value)) if *key == name => Some(value.clone()),
        _ => None,
    }
}

/// Assigns an attribute that an instance has already where the cache says, and that nothing else answers for; `false`: the
/// long way.
#[inline(always)]
pub(crate) fn quick_set_attr(
    object: &Value,
    code: &Code,
    name: Sym,
    cache: u16,
    value: &Value,
) -> bool {
    let Value::Instance(it) = object else { return false };
    let slot = &code.caches[cache as usize];
    if it.class.has(traits::SETATTR | traits::PROPERTY | traits::SLOTS)
        && slot.key.get() != (Rc::as_ptr(&it.class).addr(), class_version())
    {
        return false;
    }
    let mut attrs = it.attrs.borrow_mut();
    match attrs.at_mut(slot.place.get() as usize) {
        Some((key, slot)) if key == name => {
            it.note(value);
            put(slot, hold(value.clone()));
            true
        }
        _ => false,
    }
}

/// The instance's own attribute, found by the cache where that is right.
#[inline]
fn own_attr(it: &Instance, code: &Code, name: Sym, cache: u16) -> Option<Value> {
    if may_be_covered() && it.class.covering(name).is_some() {
        return None;
    }
    let attrs = it.attrs.borrow();
    let slot = &code.caches[cache as usize];
    if let Some((key, value)) = attrs.at(slot.place.get() as usize)
        && *key == name
    {
        return Some(value.clone());
    }
    let place = attrs.place_of(name)?;
    slot.place.set(place as u32);
    attrs.at(place).map(|it| it.1.clone())
}
