//! `Value`: everything a program can hold, in 16 bytes, cheap to clone.
//!
//! Small things are inline; the rest is a thin reference-counted pointer, so a tensor is freed at
//! the moment its last name goes. Containers have interior mutability, as in Python.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use crate::cycles::{self, Candidate, holds};
use crate::error::Raised;
use crate::memory::{self, Charge, Fixed, SLOT};
use crate::native::{NativeFn, NativeObject, NativeType};
use crate::objects::class::{Class, Instance};
use crate::objects::function::{CellVar, Func};
use crate::objects::generator::Generator;
use crate::objects::iterator::Iter;
use crate::objects::module::Module;
use crate::objects::tensor::TensorObj;
use crate::objects::trash::dispose;
use crate::patience;
use crate::table::{Dict, Set};
use crate::value::words::hold;

mod range;
pub(crate) mod words;

pub use range::{Range, RangeObj, Slice};

/// Bytes counted for an object beside its contents.
const HEADER: usize = 48;

/// Any value of the language. What owns nothing comes first (`Value::is_plain`).
///
/// The tag fills a word, so that every payload lies at the same place: a copy is then two whole words, which the processor
/// can forward from the stores that made them.
#[derive(Default)]
#[repr(u64)]
pub enum Value {
    /// No value yet: an unassigned slot or an omitted argument. Programs never see it.
    #[default]
    Unbound,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Ellipsis,
    NotImplemented,
    Native(&'static NativeFn),
    Str(Rc<Str>),
    Tuple(Rc<Tuple>),
    List(Rc<List>),
    Dict(Rc<Dict>),
    Set(Rc<Set>),
    Range(Rc<RangeObj>),
    Slice(Rc<Slice>),
    Func(Rc<Func>),
    Generator(Rc<Generator>),
    /// A variable shared by functions. Programs never see it.
    Cell(Rc<CellVar>),
    Method(Rc<BoundMethod>),
    Class(Rc<Class>),
    Instance(Rc<Instance>),
    Module(Rc<Module>),
    Iter(Rc<Iter>),
    Tensor(Rc<TensorObj>),
    /// Objects that other files define; see [`NativeObject`].
    Object(Rc<Boxed>),
}

/// A string; `Deref` gives `&str`.
pub struct Str {
    text: String,
    hash: std::cell::Cell<u64>,
    chars: std::cell::Cell<u32>,
}

/// A tuple; `Deref` gives the slice of its items.
pub struct Tuple {
    items: Box<[Value]>,
    _memory: Charge,
}

/// A list. What makes it longer goes through its methods, which count memory.
pub struct List {
    pub items: RefCell<Vec<Value>>,
    memory: Charge,
    noted: Cell<bool>,
}

/// An object that another file defines; `Deref` gives its hooks.
pub struct Boxed {
    object: Box<dyn NativeObject>,
    _memory: Fixed<96>,
}

/// A function together with the object it was looked up on.
pub struct BoundMethod {
    pub func: Value,
    pub this: Value,
    _memory: Fixed<48>,
}

impl Value {
    /// True if the value owns nothing: forgetting it is the same as dropping it.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::Unbound
                | Value::None
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Ellipsis
                | Value::NotImplemented
                | Value::Native(_)
        )
    }

    /// A string value.
    pub fn str(text: impl Into<String>) -> Value {
        Value::Str(Rc::new(Str::new(text.into())))
    }

    /// A list value.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(items)))
    }

    /// A tuple value.
    pub fn tuple(items: impl Into<Box<[Value]>>) -> Value {
        let items = items.into();
        let _memory = Charge::new(HEADER + items.len() * SLOT);
        Value::Tuple(Rc::new(Tuple { items, _memory }))
    }

    /// A new empty dict.
    pub fn dict() -> Value {
        Value::Dict(Rc::new(Dict::default()))
    }

    /// An iterator value; see [`Iter`].
    pub fn iter(iter: Iter) -> Value {
        Value::Iter(Rc::new(iter))
    }

    /// A value of a type that another file defines.
    pub fn object(object: impl NativeObject) -> Value {
        let boxed = Rc::new(Boxed { object: Box::new(object), _memory: Fixed::default() });
        if boxed.keeps_values() {
            cycles::note(Candidate::Object(Rc::downgrade(&boxed)));
        }
        Value::Object(boxed)
    }

    /// A tensor value.
    pub fn tensor(tensor: engine::Tensor) -> Value {
        Value::Tensor(Rc::new(TensorObj::new(tensor)))
    }

    /// The tensor in the value.
    pub fn as_tensor(&self) -> Option<&Rc<TensorObj>> {
        match self.core() {
            Value::Tensor(it) => Some(it),
            _ => None,
        }
    }

    /// `func` bound to `this`.
    pub fn method(func: Value, this: Value) -> Value {
        Value::Method(Rc::new(BoundMethod { func, this, _memory: Fixed::default() }))
    }

    /// True for `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// True for an omitted argument whose default is `...` in the signature, and for free slots.
    pub fn is_unbound(&self) -> bool {
        matches!(self, Value::Unbound)
    }

    /// Itself, or the builtin value inside an instance of a subclass of a builtin type.
    pub fn core(&self) -> &Value {
        match self {
            Value::Instance(it) if !matches!(it.base, Value::None) => &it.base,
            _ => self,
        }
    }

    /// The integer of an int or bool.
    pub fn as_int(&self) -> Option<i64> {
        match self.core() {
            Value::Int(it) => Some(*it),
            Value::Bool(it) => Some(*it as i64),
            _ => None,
        }
    }

    /// The number of an int, bool or float.
    pub fn as_float(&self) -> Option<f64> {
        match self.core() {
            Value::Float(it) => Some(*it),
            Value::Int(it) => Some(*it as f64),
            Value::Bool(it) => Some(*it as i64 as f64),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self.core() {
            Value::Str(it) => Some(it),
            _ => None,
        }
    }

    /// The list of a list.
    pub fn as_list(&self) -> Option<&Rc<List>> {
        match self.core() {
            Value::List(it) => Some(it),
            _ => None,
        }
    }

    /// The items of a tuple.
    pub fn as_tuple(&self) -> Option<&Rc<Tuple>> {
        match self.core() {
            Value::Tuple(it) => Some(it),
            _ => None,
        }
    }

    /// The dict of a dict.
    pub fn as_dict(&self) -> Option<&Rc<Dict>> {
        match self.core() {
            Value::Dict(it) => Some(it),
            _ => None,
        }
    }

    /// The set of a set.
    pub fn as_set(&self) -> Option<&Rc<Set>> {
        match self.core() {
            Value::Set(it) => Some(it),
            _ => None,
        }
    }

    /// The hooks of an object that another file defines.
    pub fn as_native(&self) -> Option<&dyn NativeObject> {
        match self {
            Value::Object(it) => Some(&***it),
            Value::Tensor(it) => Some(&**it),
            _ => None,
        }
    }

    /// The object as its Rust type, if it is one.
    pub fn downcast<T: NativeObject>(&self) -> Option<&T> {
        self.core().as_native().and_then(|it| it.as_any().downcast_ref())
    }

    /// `a is b`.
    pub fn is(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (None, None) | (Ellipsis, Ellipsis) | (NotImplemented, NotImplemented) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (Float(a), Float(b)) => a.to_bits() == b.to_bits(),
            (Str(a), Str(b)) => Rc::ptr_eq(a, b) || (a.len() < 32 && a.text == b.text),
            (Tuple(a), Tuple(b)) => Rc::ptr_eq(a, b) || (a.is_empty() && b.is_empty()),
            _ => match (self.address(), other.address()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// The address of the heap object behind the value, if there is one.
    pub fn address(&self) -> Option<usize> {
        use Value::*;
        Some(match self {
            Unbound | None | Bool(_) | Int(_) | Float(_) | Ellipsis | NotImplemented => {
                return Option::None;
            }
            Str(it) => Rc::as_ptr(it).addr(),
            Tuple(it) => Rc::as_ptr(it).addr(),
            List(it) => Rc::as_ptr(it).addr(),
            Dict(it) => Rc::as_ptr(it).addr(),
            Set(it) => Rc::as_ptr(it).addr(),
            Range(it) => Rc::as_ptr(it).addr(),
            Slice(it) => Rc::as_ptr(it).addr(),
            Func(it) => Rc::as_ptr(it).addr(),
            Generator(it) => Rc::as_ptr(it).addr(),
            Cell(it) => Rc::as_ptr(it).addr(),
            Native(it) => std::ptr::from_ref(*it).addr(),
            Method(it) => Rc::as_ptr(it).addr(),
            Class(it) => Rc::as_ptr(it).addr(),
            Instance(it) => Rc::as_ptr(it).addr(),
            Module(it) => Rc::as_ptr(it).addr(),
            Iter(it) => Rc::as_ptr(it).addr(),
            Tensor(it) => Rc::as_ptr(it).addr(),
            Object(it) => Rc::as_ptr(it).addr(),
        })
    }
}

impl Str {
    /// A string with this text.
    pub fn new(text: String) -> Str {
        memory::charge(HEADER + text.capacity());
        Str { text, hash: std::cell::Cell::new(0), chars: std::cell::Cell::new(u32::MAX) }
    }

    /// Length in code points.
    pub fn chars_len(&self) -> usize {
        if self.chars.get() == u32::MAX {
            self.chars.set(self.text.chars().count().min(u32::MAX as usize - 1) as u32);
        }
        self.chars.get() as usize
    }

    /// True if every code point is one byte, so that byte and character positions agree.
    pub fn is_ascii(&self) -> bool {
        self.chars_len() == self.text.len()
    }

    /// Adds to a text that has one owner; false, with nothing added, if it has more, there is no memory or `stop` is up.
    pub(crate) fn grow(this: &mut Rc<Str>, more: &str, stop: &AtomicBool) -> bool {
        let Some(it) = Rc::get_mut(this) else { return false };
        let before = it.text.capacity();
        let wanted = it.text.len() + more.len();
        if wanted > before {
            let room = wanted.max(before.saturating_mul(2));
            if memory::room(room).is_err() {
                return false;
            }
            if !patience::make_room(&mut it.text, room, stop) {
                return false;
            }
            memory::charge(it.text.capacity() - before);
        }
        if !patience::append(&mut it.text, more, stop) {
            return false;
        }
        it.hash.set(0);
        it.chars.set(u32::MAX);
        true
    }

    /// The hash of the text, computed once.
    #[inline]
    pub fn hash(&self) -> u64 {
        if self.hash.get() == 0 {
            use std::hash::Hasher;
            let mut hasher = rustc_hash::FxHasher::default();
            hasher.write(self.text.as_bytes());
            self.hash.set(hasher.finish() | 1);
        }
        self.hash.get()
    }
}

impl Drop for Str {
    #[inline]
    fn drop(&mut self) {
        memory::release(HEADER + self.text.capacity());
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Deref for Tuple {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl Deref for Boxed {
    type Target = dyn NativeObject;

    fn deref(&self) -> &(dyn NativeObject + 'static) {
        &*self.object
    }
}

/// What is left of an object while it is dropped.
struct Gone;

impl NativeObject for Gone {
    fn native_type(&self) -> &'static NativeType {
        &crate::builtins::types::OBJECT
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        dispose(std::mem::replace(&mut self.object, Box::new(Gone)));
    }
}

impl List {
    /// A list of these items.
    pub fn new(items: Vec<Value>) -> List {
        let memory = Charge::new(HEADER + items.capacity() * SLOT);
        List { items: RefCell::new(items), memory, noted: Cell::new(false) }
    }

    /// Adds an item at the end.
    #[inline(always)]
    pub fn push(self: &Rc<List>, item: Value) -> Result<(), Raised> {
        let item = hold(item);
        self.note(&item);
        let mut items = self.items.borrow_mut();
        if items.len() == items.capacity()
            && let Err(raised) = self.grow(&mut items, 1)
        {
            drop(ManuallyDrop::into_inner(item));
            return Err(raised);
        }
        words::push(&mut items, item);
        Ok(())
    }

    /// Adds items at the end.
    pub fn extend(
        self: &Rc<List>,
        new: impl ExactSizeIterator<Item = Value>,
    ) -> Result<(), Raised> {
        let mut items = self.items.borrow_mut();
        self.grow(&mut items, new.len())?;
        items.extend(new.inspect(|it| self.note(it)));
        Ok(())
    }

    /// Puts an item at a place, which is at most the length.
    pub fn insert(self: &Rc<List>, at: usize, item: Value) -> Result<(), Raised> {
        self.note(&item);
        let mut items = self.items.borrow_mut();
        self.grow(&mut items, 1)?;
        items.insert(at, item);
        Ok(())
    }

    /// Replaces the items at a place by others; returns the old ones.
    pub fn splice(
        self: &Rc<List>,
        range: std::ops::Range<usize>,
        new: Vec<Value>,
    ) -> Result<Vec<Value>, Raised> {
        new.iter().for_each(|it| self.note(it));
        let mut items = self.items.borrow_mut();
        self.grow(&mut items, new.len().saturating_sub(range.len()))?;
        Ok(items.splice(range, new).collect())
    }

    /// Replaces all items; returns the old ones.
    pub fn replace(self: &Rc<List>, new: Vec<Value>) -> Vec<Value> {
        new.iter().for_each(|it| self.note(it));
        self.memory.set(HEADER + new.capacity() * SLOT);
        std::mem::replace(&mut *self.items.borrow_mut(), new)
    }

    /// Takes all items out.
    pub(crate) fn take(&self) -> Vec<Value> {
        self.memory.set(HEADER);
        std::mem::take(&mut *self.items.borrow_mut())
    }

    /// Removes all items.
    pub fn clear(&self) {
        let old = match self.items.try_borrow_mut() {
            Ok(mut items) => std::mem::take(&mut *items),
            Err(_) => return,
        };
        self.memory.set(HEADER);
        drop(old);
    }

    /// A copy of the items, if there is room for it.
    pub fn copied(&self) -> Result<Vec<Value>, Raised> {
        let items = self.items.borrow();
        memory::room_for(items.len())?;
        Ok(items.clone())
    }

    /// Notes that `item` is stored here: the list may become part of a cycle.
    #[inline]
    pub fn note(self: &Rc<List>, item: &Value) {
        if holds(item) && !self.noted.replace(true) {
            cycles::note(Candidate::List(Rc::downgrade(self)));
        }
    }

    #[inline(never)]
    fn grow(&self, items: &mut Vec<Value>, more: usize) -> Result<(), Raised> {
        memory::reserve(items, more)?;
        self.memory.set(HEADER + items.capacity() * SLOT);
        Ok(())
    }
}

impl Tuple {
    /// Takes the items out of a tuple that is being dropped.
    pub(crate) fn take(&mut self) -> Box<[Value]> {
        std::mem::take(&mut self.items)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => out.write_str("None"),
            Value::Bool(it) => write!(out, "{it}"),
            Value::Int(it) => write!(out, "{it}"),
            Value::Float(it) => write!(out, "{it:?}"),
            Value::Str(it) => write!(out, "{:?}", &***it),
            _ => write!(out, "<{}>", crate::objects::class::type_name(self)),
        }
    }
}

const _: () = assert!(size_of::<Value>() == 16);
