//! Attributes with caches: each operation remembers where it found its name.

use crate::bytecode::Code;
use crate::cx::Cx;
use crate::error::Raised;
use crate::native::Res;
use crate::objects::class::{Instance, class_of, class_version, row_of, traits};
use crate::objects::descriptor::Property;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// `Attr`.
    #[inline]
    pub(crate) fn load_attr(&mut self, code: &Code, name: Sym, cache: u16) -> Res {
        let object = self.machine.stack.pop();
        if let Value::Instance(it) = &object
            && let Some(found) = own_attr(it, code, name, cache)
        {
            return Ok(found);
        }
        self.getattr(&object, name)
    }

    /// `SetAttr`.
    #[inline]
    pub(crate) fn store_attr(
        &mut self,
        code: &Code,
        object: &Value,
        name: Sym,
        cache: u16,
        value: Value,
    ) -> Result<(), Raised> {
        if let Value::Instance(it) = object
            && is_stored_plainly(it, code, name, cache)
        {
            it.note(&value);
            let mut attrs = it.attrs.borrow_mut();
            let place = code.caches[cache as usize].place.get() as usize;
            if let Some((key, slot)) = attrs.at_mut(place)
                && key == name
            {
                let old = std::mem::replace(slot, value);
                drop(attrs);
                drop(old);
                return Ok(());
            }
            let (place, old) = attrs.insert_full(name, value);
            code.caches[cache as usize].place.set(place as u32);
            drop(attrs);
            if old.is_none() {
                it.grown();
            }
            drop(old);
            return Ok(());
        }
        self.setattr(object, name, value)
    }

    /// `Method`: leaves function and object, or an unbound place and the bound method.
    #[inline]
    pub(crate) fn load_method(&mut self, code: &Code, name: Sym, cache: u16) -> Result<(), Raised> {
        let object = self.machine.stack.pop();
        let key = match &object {
            Value::Instance(it) => {
                if let Some(found) = own_attr(it, code, name, cache) {
                    self.machine.stack.push(Value::Unbound);
                    self.machine.stack.push(found);
                    return Ok(());
                }
                std::rc::Rc::as_ptr(&it.class).addr()
            }
            Value::Module(_) | Value::Class(_) | Value::Object(_) => 0,
            _ => std::ptr::from_ref(row_of(&object)).addr(),
        };
        let (key, version) = (key, class_version());
        let slot = &code.caches[cache as usize];
        if key != 0 && slot.key.get() == (key, version) {
            self.machine.stack.push(slot.found.borrow().clone());
            self.machine.stack.push(object);
            return Ok(());
        }
        if key != 0
            && let Some(found) = self.plain_method(&object, name)?
        {
            slot.key.set((key, version));
            let old = slot.found.replace(found.clone());
            drop(old);
            self.machine.stack.push(found);
            self.machine.stack.push(object);
            return Ok(());
        }
        let bound = self.getattr(&object, name)?;
        self.machine.stack.push(Value::Unbound);
        self.machine.stack.push(bound);
        Ok(())
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

/// Whether assigning the attribute means storing it in the instance: no `__setattr__`, no property or descriptor of this name.
#[inline]
fn is_stored_plainly(it: &Instance, code: &Code, name: Sym, cache: u16) -> bool {
    if !it.class.has(traits::SETATTR | traits::PROPERTY) {
        return true;
    }
    let slot = &code.caches[cache as usize];
    let key = (std::rc::Rc::as_ptr(&it.class).addr(), class_version());
    if slot.key.get() == key {
        return true;
    }
    let plain = !it.class.has(traits::SETATTR)
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

/// The instance's own attribute, found by the cache where that is right.
#[inline]
pub(crate) fn own_attr(it: &Instance, code: &Code, name: Sym, cache: u16) -> Option<Value> {
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
