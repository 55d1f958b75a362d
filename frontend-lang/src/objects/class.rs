//! Classes and their instances; what class a value has; how attributes of classes are found.
//!
//! A class has one base, so its order of lookup is a chain. Builtin types are classes too, made
//! from their [`NativeType`] rows, one per thread.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use rustc_hash::FxHashMap;

use crate::builtins::types;
use crate::cycles::{self, Candidate, holds};
use crate::memory::Charge;
use crate::native::{NativeObject, NativeType};
use crate::objects::descriptor::Property;
use crate::objects::finalizer;
use crate::objects::trash::dispose;
use crate::sym::Sym;
use crate::value::Value;

/// Bytes counted for an instance and for an attribute of it.
const INSTANCE: usize = 160;
const ATTRIBUTE: usize = 64;

pub use crate::objects::attr_map::AttrMap;

/// A class.
pub struct Class {
    pub name: Sym,
    qualname: Cell<Sym>,
    /// The module that defines it; empty for built-in names.
    module: Cell<Sym>,
    pub base: Option<Rc<Class>>,
    pub attrs: RefCell<AttrMap>,
    /// The row, if this is a built-in type.
    pub native: Option<&'static NativeType>,
    traits: Cell<u32>,
    traits_version: Cell<u32>,
    made_of: RefCell<Vec<Weak<Class>>>,
    finalizes: Cell<bool>,
}

/// An object of a class defined in the language, or an exception.
pub struct Instance {
    pub class: Rc<Class>,
    pub attrs: RefCell<AttrMap>,
    /// The builtin value inside an instance of a subclass of a builtin type, else `None`.
    pub base: Value,
    noted: Cell<bool>,
    /// Nothing is to be called any more when it goes.
    finished: Cell<bool>,
    memory: Charge,
}

/// What a class chain defines, cached as bits.
pub mod traits {
    pub const EQ: u32 = 1;
    pub const HASH: u32 = 2;
    pub const GETATTR: u32 = 4;
    pub const SETATTR: u32 = 8;
    pub const DELATTR: u32 = 16;
    pub const PROPERTY: u32 = 32;
    pub const EXCEPTION: u32 = 64;
    pub const CALL: u32 = 128;
    pub const GET: u32 = 256;
    pub const SET: u32 = 512;
    /// The class answers itself: see [`Cx::class_protocol`](crate::cx::Cx::class_protocol).
    pub const PROTOCOL: u32 = 1024;
    /// Instances are made by `object`, which takes no arguments and fills nothing in.
    pub const PLAIN: u32 = 2048;
    /// Instances have only the attributes that `__slots__` names.
    pub const SLOTS: u32 = 4096;
}

thread_local! {
    static NATIVE_CLASSES: RefCell<FxHashMap<usize, Rc<Class>>> = RefCell::default();
    static VERSION: Cell<u32> = const { Cell::new(1) };
    static CHANGES: Cell<u32> = const { Cell::new(0) };
    static COVERED: Cell<bool> = const { Cell::new(false) };
}

/// Whether an instance may have an attribute of its own that a property of its class goes before. Only then must reading an
/// attribute look into the class first; it stays true.
#[inline(always)]
pub(crate) fn may_be_covered() -> bool {
    COVERED.get()
}

/// Notes that an attribute was stored past the properties of the class.
pub(crate) fn note_covered() {
    COVERED.set(true);
}

/// A property, or an object whose class defines `__set__`.
pub(crate) fn is_data_descriptor(value: &Value) -> bool {
    match value {
        Value::Instance(it) => it.class.has(traits::SET),
        _ => value.downcast::<Property>().is_some(),
    }
}

/// Changes whenever any class attribute changes, and with each new class; caches of lookups compare it.
#[inline]
pub fn class_version() -> u32 {
    VERSION.get()
}

/// Changes whenever an attribute of a class that exists is set or removed. A new class changes none that could be found before.
pub(crate) fn changes() -> u32 {
    CHANGES.get()
}

/// As they were before a check, which changes copies of classes only.
pub(crate) fn set_changes(changes: u32) {
    CHANGES.set(changes);
}

fn changed() {
    VERSION.set(VERSION.get().wrapping_add(1));
    CHANGES.set(CHANGES.get().wrapping_add(1));
}

impl Class {
    /// A class defined in the language, in `module`.
    pub fn new(name: Sym, qualname: Sym, module: Sym, base: Rc<Class>, attrs: AttrMap) -> Class {
        VERSION.set(VERSION.get().wrapping_add(1));
        let finalizes = base.finalizes.get() || attrs.contains_key(&Sym::of(finalizer::NAME));
        Class {
            finalizes: Cell::new(finalizes),
            name,
            qualname: Cell::new(qualname),
            module: Cell::new(module),
            base: Some(base),
            attrs: RefCell::new(attrs),
            native: None,
            traits: Cell::new(0),
            traits_version: Cell::new(0),
            made_of: RefCell::default(),
        }
    }

    fn of_row(row: &'static NativeType) -> Class {
        let base = match row.base {
            Some(base) => Some(class_of(base)),
            None if std::ptr::eq(row, &types::OBJECT) => None,
            None => Some(class_of(&types::OBJECT)),
        };
        let mut attrs = AttrMap::default();
        for method in row.methods.iter().copied().flatten() {
            attrs.insert(Sym::of(method.name), Value::Native(method));
        }
        for function in row.statics {
            attrs.insert(
                Sym::of(function.name),
                crate::objects::descriptor::static_native(function),
            );
        }
        for getter in row.getters {
            attrs.insert(Sym::of(getter.name), Value::object(Property::native(getter)));
        }
        let name = Sym::of(row.name);
        Class {
            finalizes: Cell::new(false),
            name,
            qualname: Cell::new(name),
            module: Cell::new(Sym::of(row.module)),
            base,
            attrs: RefCell::new(attrs),
            native: Some(row),
            traits: Cell::new(0),
            traits_version: Cell::new(0),
            made_of: RefCell::default(),
        }
    }

    /// Notes a class whose base is this one.
    pub(crate) fn note_subclass(&self, class: &Rc<Class>) {
        let mut known = self.made_of.borrow_mut();
        if known.len() == known.capacity() {
            known.retain(|it| it.strong_count() > 0);
        }
        known.push(Rc::downgrade(class));
    }

    /// The classes whose base is this one, as far as they exist.
    pub(crate) fn subclasses(&self) -> Vec<Rc<Class>> {
        self.made_of.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// The class and its bases, nearest first.
    pub fn chain(self: &Rc<Class>) -> impl Iterator<Item = &Rc<Class>> {
        std::iter::successors(Some(self), |it| it.base.as_ref())
    }

    /// The attribute `name` of the class or its nearest base that has it.
    pub fn lookup(&self, name: Sym) -> Option<Value> {
        let mut class = self;
        loop {
            if let Some(value) = class.attrs.borrow().get(&name) {
                return Some(value.clone());
            }
            class = class.base.as_deref()?;
        }
    }

    /// Sets a class attribute.
    pub fn set(self: &Rc<Class>, name: Sym, value: Value) {
        changed();
        cycles::note(Candidate::Class(Rc::downgrade(self)));
        if name.as_str() == finalizer::NAME {
            self.finalizes.set(true);
        }
        if name == Sym::SET || is_data_descriptor(&value) {
            COVERED.set(true);
        }
        let old = self.attrs.borrow_mut().insert(name, value);
        drop(old);
    }

    /// Shows every value that the class holds to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Some(base) = &self.base {
            visit(&Value::Class(base.clone()));
        }
        if let Ok(attrs) = self.attrs.try_borrow() {
            attrs.values().for_each(visit);
        }
    }

    /// Drops all attributes of a class that nothing refers to any more.
    pub(crate) fn clear(&self) {
        VERSION.set(VERSION.get().wrapping_add(1));
        drop(self.attrs.try_borrow_mut().map(|mut it| std::mem::take(&mut *it)));
    }

    /// Removes a class attribute; true if it was there.
    pub fn remove(&self, name: Sym) -> bool {
        changed();
        let old = self.attrs.borrow_mut().shift_remove(&name);
        if self.lookup(name).is_some_and(|it| is_data_descriptor(&it)) {
            COVERED.set(true);
        }
        old.is_some()
    }

    /// The property or other data descriptor that goes before an attribute `name` of instances.
    pub(crate) fn covering(&self, name: Sym) -> Option<Value> {
        if !self.has(traits::PROPERTY) {
            return None;
        }
        self.lookup(name).filter(is_data_descriptor)
    }

    /// True if this is `other` or derives from it.
    pub fn is_subclass(&self, other: &Class) -> bool {
        let mut class = self;
        loop {
            if std::ptr::eq(class, other) {
                return true;
            }
            let Some(base) = &class.base else { return false };
            class = base;
        }
    }

    /// True if this is the built-in type of `row` or derives from it.
    pub fn derives_from(&self, row: &'static NativeType) -> bool {
        let mut class = self;
        loop {
            if class.native.is_some_and(|it| std::ptr::eq(it, row)) {
                return true;
            }
            let Some(base) = &class.base else { return false };
            class = base;
        }
    }

    /// The nearest built-in type in the chain.
    pub fn native_base(&self) -> &'static NativeType {
        let mut class = self;
        loop {
            match (class.native, &class.base) {
                (Some(row), _) => return row,
                (None, Some(base)) => class = base,
                (None, None) => return &types::OBJECT,
            }
        }
    }

    /// True if an attribute of this class is an object whose class defines `__get__`.
    pub(crate) fn is_descriptor(value: &Value) -> bool {
        matches!(value, Value::Instance(it) if it.class.has(traits::GET))
    }

    /// True if the chain defines what `bit` of [`traits`] names, `object` and natives aside.
    #[inline]
    pub fn has(&self, bit: u32) -> bool {
        if self.traits_version.get() != class_version() {
            self.renew_traits();
        }
        self.traits.get() & bit != 0
    }

    #[cold]
    fn renew_traits(&self) {
        // Attributes may be objects of this very class, which then ask here again.
        self.traits_version.set(class_version());
        self.traits.set(0);
        self.traits.set(self.find_traits());
    }

    fn find_traits(&self) -> u32 {
        let names = [
            (Sym::EQ, traits::EQ),
            (Sym::HASH, traits::HASH),
            (Sym::GETATTR, traits::GETATTR),
            (Sym::SETATTR, traits::SETATTR),
            (Sym::DELATTR, traits::DELATTR),
            (Sym::CALL, traits::CALL),
            (Sym::GET, traits::GET),
            (Sym::SET, traits::SET),
            (Sym::CLASS_PROTOCOL, traits::PROTOCOL),
        ];
        let mut found = 0;
        let mut class = Some(self);
        while let Some(it) = class {
            if it.native.is_some_and(|row| std::ptr::eq(row, &types::BASE_EXCEPTION)) {
                found |= traits::EXCEPTION;
            }
            let attrs = it.attrs.borrow();
            if it.native.is_none() {
                for (name, bit) in names {
                    found |= if attrs.contains_key(&name) { bit } else { 0 };
                }
            }
            if attrs.values().any(is_data_descriptor) {
                found |= traits::PROPERTY;
            }
            class = it.base.as_deref();
        }
        if self.slots().is_some() {
            found |= traits::SLOTS;
        }
        let made_by_object = std::ptr::eq(self.native_base(), &types::OBJECT);
        if made_by_object && found & (traits::EXCEPTION | traits::PROTOCOL) == 0 {
            found |= traits::PLAIN;
        }
        found
    }

    /// The names in `__slots__` of the class and its bases; none if one of them lets instances have others.
    pub(crate) fn slots(&self) -> Option<Vec<Sym>> {
        let mut names = Vec::new();
        let mut class = self;
        while class.native.is_none() {
            let slots = class.attrs.borrow().get(&Sym::SLOTS).cloned()?;
            let here: Vec<Value> = match &slots {
                Value::Tuple(it) => it.to_vec(),
                Value::List(it) => it.items.borrow().clone(),
                Value::Str(_) => vec![slots.clone()],
                _ => return None,
            };
            for name in here.iter().filter_map(Value::as_str) {
                let is_private = name.starts_with("__") && !name.ends_with("__");
                let owner = class.name.as_str().trim_start_matches('_');
                names.push(match is_private {
                    true => Sym::new(&format!("_{owner}{name}")),
                    false => Sym::new(name),
                });
            }
            class = class.base.as_deref()?;
        }
        let is_object = std::ptr::eq(class.native?, &types::OBJECT) && self.native.is_none();
        (is_object && names.iter().all(|it| *it != Sym::DICT)).then_some(names)
    }

    /// `module.Name` as tracebacks and `repr` show it.
    pub fn full_name(&self) -> String {
        match self.module.get().as_str() {
            "" | "builtins" => self.qualname().to_string(),
            module => format!("{module}.{}", self.qualname()),
        }
    }

    /// The name with those of the classes and functions around it: `f.<locals>.A`.
    pub fn qualname(&self) -> Sym {
        self.qualname.get()
    }

    /// The module that defines it; empty for built-in names.
    pub fn module(&self) -> Sym {
        self.module.get()
    }

    /// Sets `__qualname__` or `__module__`; `false` if the name is another one.
    pub(crate) fn rename(&self, name: Sym, value: &Value) -> bool {
        let Some(text) = value.as_str() else { return false };
        match name {
            Sym::QUALNAME => self.qualname.set(Sym::new(text)),
            Sym::MODULE => self.module.set(Sym::new(text)),
            _ => return false,
        }
        true
    }
}

impl Instance {
    /// An instance without attributes.
    pub fn new(class: Rc<Class>) -> Instance {
        Instance::over(class, Value::None)
    }

    /// An instance with this builtin value inside.
    pub fn over(class: Rc<Class>, base: Value) -> Instance {
        let (attrs, noted, finished) = Default::default();
        Instance { class, attrs, base, noted, finished, memory: Charge::new(INSTANCE) }
    }

    /// The instance's own attribute.
    pub fn get(&self, name: Sym) -> Option<Value> {
        self.attrs.borrow().get(&name).cloned()
    }

    /// Sets the instance's own attribute.
    pub fn set(self: &Rc<Instance>, name: Sym, value: Value) {
        self.note(&value);
        let old = self.attrs.borrow_mut().insert(name, value);
        if old.is_none() {
            self.memory.add(ATTRIBUTE);
        }
        drop(old);
    }

    /// Removes the instance's own attribute.
    pub fn remove(&self, name: Sym) -> Option<Value> {
        let old = self.attrs.borrow_mut().shift_remove(&name)?;
        self.memory.sub(ATTRIBUTE);
        Some(old)
    }

    /// Notes that the instance has one attribute more.
    pub(crate) fn grown(&self) {
        self.memory.add(ATTRIBUTE);
    }

    /// Notes that `value` is stored here: the instance may become part of a cycle.
    #[inline]
    pub(crate) fn note(self: &Rc<Instance>, value: &Value) {
        if holds(value) && !self.noted.replace(true) {
            cycles::note(Candidate::Instance(Rc::downgrade(self)));
        }
    }

    /// Shows every value that the instance holds to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&Value::Class(self.class.clone()));
        visit(&self.base);
        if let Ok(attrs) = self.attrs.try_borrow() {
            attrs.values().for_each(visit);
        }
    }
}

impl Instance {
    /// Drops what the instance holds, to break a cycle.
    pub(crate) fn clear(&self) {
        self.finished.set(true);
        drop(self.attrs.try_borrow_mut().map(|mut it| std::mem::take(&mut *it)));
    }

    #[cold]
    fn come_back(&mut self) {
        let again = Instance::over(self.class.clone(), std::mem::take(&mut self.base));
        again.finished.set(true);
        again.attrs.replace(std::mem::take(self.attrs.get_mut()));
        finalizer::keep(again);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.class.finalizes.get() && !self.finished.get() {
            return self.come_back();
        }
        let attrs = self.attrs.get_mut();
        if !attrs.is_empty() {
            dispose(std::mem::take(attrs));
        }
    }
}

/// The class of a built-in type.
pub fn class_of(row: &'static NativeType) -> Rc<Class> {
    let key = std::ptr::from_ref(row).addr();
    if let Some(class) = NATIVE_CLASSES.with_borrow(|it| it.get(&key).cloned()) {
        return class;
    }
    let class = Rc::new(Class::of_row(row));
    NATIVE_CLASSES.with_borrow_mut(|it| it.entry(key).or_insert(class).clone())
}

/// The class of `value`, as `type(value)`.
pub fn type_of(value: &Value) -> Rc<Class> {
    match value {
        Value::Instance(it) => it.class.clone(),
        Value::Object(it) => class_of(it.native_type()),
        _ => class_of(row_of(value)),
    }
}

/// The row of the built-in type of `value`; for instances, of the nearest built-in base.
pub fn row_of(value: &Value) -> &'static NativeType {
    match value {
        Value::Unbound | Value::None => &types::NONE_TYPE,
        Value::Bool(_) => &types::BOOL,
        Value::Int(_) => &types::INT,
        Value::Float(_) => &types::FLOAT,
        Value::Ellipsis => &types::ELLIPSIS_TYPE,
        Value::NotImplemented => &types::NOT_IMPLEMENTED_TYPE,
        Value::Str(_) => &types::STR,
        Value::Tuple(_) => &types::TUPLE,
        Value::List(_) => &types::LIST,
        Value::Dict(_) => &types::DICT,
        Value::Set(it) if it.frozen => &types::FROZENSET,
        Value::Set(_) => &types::SET,
        Value::Range(_) => &types::RANGE,
        Value::Slice(_) => &types::SLICE,
        Value::Func(_) => &types::FUNCTION,
        Value::Generator(_) => &types::GENERATOR,
        Value::Cell(_) => &types::OBJECT,
        Value::Native(_) => &types::BUILTIN_FUNCTION,
        Value::Method(_) => &types::METHOD,
        Value::Class(_) => &types::TYPE,
        Value::Instance(it) => it.class.native_base(),
        Value::Module(_) => &types::MODULE,
        Value::Iter(_) => &types::ITERATOR,
        Value::Tensor(it) => it.native_type(),
        Value::Object(it) => it.native_type(),
    }
}

/// The name of the type of `value`, for messages.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Instance(it) => it.class.name.as_str(),
        _ => row_of(value).name,
    }
}

/// `an int`, `a list`.
pub(crate) fn with_article(name: &str) -> String {
    let is_vowel = name.starts_with(|it: char| "aeioAEIO".contains(it));
    format!("{} {name}", if is_vowel { "an" } else { "a" })
}

/// As [`type_name`], with the module before it where CPython's messages have it: for classes of NumPy.
pub fn full_type_name(value: &Value) -> Cow<'static, str> {
    match row_of(value).module {
        "numpy" => format!("numpy.{}", type_name(value)).into(),
        _ => type_name(value).into(),
    }
}
