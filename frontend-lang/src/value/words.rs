//! Copies of a value as two words.
//!
//! A value that was just made lies in memory as two stores of one word each. A load of both words
//! at once cannot be forwarded from them and waits until they have left the store buffer, a dozen
//! cycles; two loads are forwarded. The compiler likes one load, so these say what they want.
#![expect(unsafe_code, reason = "values are moved word by word, which safe code cannot ask for")]

use std::mem::{ManuallyDrop, MaybeUninit, transmute};
use std::ptr;
use std::rc::Rc;

use super::Value;

/// A word of a value; the second one of `None` and its like is not initialised.
type Word = MaybeUninit<u64>;

/// The bits of the value at `from`.
///
/// # Safety
/// `from` is valid for reads. The caller sees to it that only one of the two values is dropped, or
/// that what they share counts both.
#[inline(always)]
unsafe fn read(from: *const Value) -> Value {
    let words = from.cast::<Word>();
    // SAFETY: a value is two aligned words; volatile keeps the loads apart.
    unsafe { transmute([ptr::read_volatile(words), ptr::read_volatile(words.add(1))]) }
}

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        if !self.is_plain() {
            retain(self);
        }
        // SAFETY: a plain value owns nothing, and of any other one more owner has been counted.
        unsafe { read(self) }
    }
}

/// Counts one more owner of what a value shares.
///
/// One way does for all kinds: what an `Rc` of a sized type points to begins with its counts (the standard library lays it out as
/// `repr(C)`, for the sake of `Rc::from_raw`), and every payload that is not plain is one ([`owners`], which does not compile
/// otherwise). Debug builds compare each copy with what its own kind says.
#[inline(always)]
fn retain(value: &Value) {
    debug_assert!(!value.is_plain());
    let before = cfg!(debug_assertions).then(|| owners(value));
    let words = ptr::from_ref(value).cast::<ManuallyDrop<Rc<u64>>>();
    // SAFETY: the second word is a live `Rc` (`owners`); only its count is touched, and the copy is never dropped.
    let shared = unsafe { &*words.add(1) };
    std::mem::forget(Rc::clone(shared));
    debug_assert_eq!(before.map(|it| it + 1), Some(owners(value)));
}

/// How many owners what a value shares has; 0 for a plain value.
fn owners(value: &Value) -> usize {
    fn of<T>(shared: &Rc<T>) -> usize {
        const { assert!(size_of::<Rc<T>>() == size_of::<Word>()) };
        Rc::strong_count(shared)
    }
    match value {
        Value::Unbound
        | Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Ellipsis
        | Value::NotImplemented
        | Value::Native(_) => 0,
        Value::Str(it) => of(it),
        Value::Tuple(it) => of(it),
        Value::List(it) => of(it),
        Value::Dict(it) => of(it),
        Value::Set(it) => of(it),
        Value::Range(it) => of(it),
        Value::Slice(it) => of(it),
        Value::Func(it) => of(it),
        Value::Generator(it) => of(it),
        Value::Cell(it) => of(it),
        Value::Method(it) => of(it),
        Value::Class(it) => of(it),
        Value::Instance(it) => of(it),
        Value::Module(it) => of(it),
        Value::Iter(it) => of(it),
        Value::Tensor(it) => of(it),
        Value::Object(it) => of(it),
    }
}

/// A value on its way. It has no destructor, so that it can stay in registers: one with a
/// destructor is kept in memory wherever the code between could panic.
pub(crate) type Held = ManuallyDrop<Value>;

/// Holds a value for [`push`] or [`put`], which must follow; a panic before that leaks it.
#[inline(always)]
pub(crate) fn hold(value: Value) -> Held {
    ManuallyDrop::new(value)
}

/// What a function has just returned through memory, taken from there word by word.
#[inline(always)]
pub(crate) fn fresh<T>(result: T) -> T {
    if size_of::<T>() != size_of::<[Word; 2]>() || align_of::<T>() < align_of::<Word>() {
        return result;
    }
    let result = ManuallyDrop::new(result);
    let words = (&raw const result).cast::<Word>();
    // SAFETY: the result is two aligned words and moves out.
    unsafe {
        let words = [ptr::read_volatile(words), ptr::read_volatile(words.add(1))];
        std::mem::transmute_copy::<[Word; 2], T>(&words)
    }
}

/// Adds a value at the end.
#[inline(always)]
pub(crate) fn push<T>(stack: &mut Vec<T>, value: ManuallyDrop<T>) {
    let len = stack.len();
    if len == stack.capacity() {
        grow(stack);
    }
    // SAFETY: there is room for one more.
    unsafe {
        ptr::write(stack.as_mut_ptr().add(len), ManuallyDrop::into_inner(value));
        stack.set_len(len + 1);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(stack: &mut Vec<T>) {
    stack.reserve(stack.len().max(64));
}

/// Moves the values from place `at` on to the end of another stack.
#[inline]
pub(crate) fn move_tail(from: &mut Vec<Value>, at: usize, to: &mut Vec<Value>) {
    let count = from.len().saturating_sub(at);
    to.reserve(count);
    let len = to.len();
    // SAFETY: the values are inside, there is room for them, and behind the new length nobody
    // drops them in the old place.
    unsafe {
        from.set_len(from.len() - count);
        for idx in 0..count {
            ptr::write(to.as_mut_ptr().add(len + idx), read(from.as_ptr().add(at + idx)));
        }
        to.set_len(len + count);
    }
}

/// Takes the last `count` values, in order.
#[inline]
pub(crate) fn take_last(stack: &mut Vec<Value>, count: usize) -> Vec<Value> {
    let mut taken = Vec::with_capacity(count);
    if count > 0 {
        move_tail(stack, stack.len() - count, &mut taken);
    }
    taken
}

/// Takes the last value; `Unbound` if there is none.
#[inline(always)]
pub(crate) fn pop(stack: &mut Vec<Value>) -> Value {
    let Some(top) = stack.len().checked_sub(1) else { return Value::Unbound };
    // SAFETY: `top` is inside, and behind the new length nobody drops it.
    unsafe {
        stack.set_len(top);
        read(stack.as_ptr().add(top))
    }
}

/// Puts a value in a place and drops what was there.
#[inline(always)]
pub(crate) fn put(place: &mut Value, value: Held) {
    // SAFETY: the old value moves out and the new one in.
    let old = unsafe {
        let old = hold(read(place));
        ptr::write(place, ManuallyDrop::into_inner(value));
        old
    };
    release(old);
}

/// Drops a value.
#[inline(always)]
pub(crate) fn release(value: Held) {
    if !value.is_plain() {
        let_go(value);
    }
}

/// Drops a value that is not plain; one that has other owners too is only counted.
#[inline(never)]
fn let_go(mut value: Held) {
    let words = (&raw const value).cast::<Rc<u64>>();
    debug_assert!(owners(&value) > 0);
    // SAFETY: the second word is a live `Rc`, as `retain` has it. Of several owners one goes, so nothing is freed as if it were
    // a number; the last one goes as what it is.
    unsafe {
        if Rc::strong_count(&*words.add(1)) > 1 {
            drop(ptr::read(words.add(1)));
            return;
        }
        ManuallyDrop::drop(&mut value);
    }
}

/// Takes the value out of a place, which is `Unbound` then.
#[inline(always)]
pub(crate) fn take(place: &mut Value) -> Value {
    // SAFETY: the value moves out, and what comes in owns nothing.
    unsafe {
        let value = read(place);
        ptr::write(place, Value::Unbound);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::class::class_of;
    use crate::objects::function::CellVar;
    use crate::objects::iterator::{Iter, IterState};
    use crate::table::{Dict, Set};
    use crate::value::{List, Range, Slice, Str};

    #[test]
    fn moves_count_no_owner_and_copies_count_one() {
        let value = Value::tuple(vec![Value::Int(1)]);
        let mut stack = Vec::new();
        push(&mut stack, hold(value.clone()));
        push(&mut stack, hold(Value::Float(0.5)));
        assert_eq!(owners(&value), 2);
        assert!(matches!(pop(&mut stack), Value::Float(it) if it == 0.5));
        let moved = fresh(pop(&mut stack));
        assert_eq!((owners(&value), moved.is(&value)), (2, true));
        assert!(matches!(pop(&mut stack), Value::Unbound));
        drop(moved);
        assert_eq!(owners(&value), 1);
    }

    #[test]
    fn copies_of_every_kind_count_one_owner() {
        fn check<T>(shared: Rc<T>, value: fn(Rc<T>) -> Value) {
            let owners = Rc::strong_count(&shared);
            let first = value(shared.clone());
            let second = first.clone();
            assert_eq!((Rc::strong_count(&shared), second.is(&first)), (owners + 2, true));
            release(hold(second));
            assert_eq!(Rc::strong_count(&shared), owners + 1);
            let weak = Rc::downgrade(&shared);
            drop(shared);
            release(hold(first));
            assert_eq!(weak.strong_count(), owners - 1);
        }
        let (start, stop, step) = Default::default();
        check(Rc::new(Str::new("text".into())), Value::Str);
        check(Rc::new(List::new(Vec::new())), Value::List);
        check(Rc::new(Dict::default()), Value::Dict);
        check(Rc::new(Set::default()), Value::Set);
        check(Rc::from(Range { start: 0, stop: 1, step: 1 }), Value::Range);
        check(Rc::new(Slice::new(start, stop, step)), Value::Slice);
        check(Rc::new(CellVar::default()), Value::Cell);
        check(Rc::new(Iter::new(IterState::Done)), Value::Iter);
        check(class_of(&crate::builtins::types::OBJECT), Value::Class);
    }

    #[test]
    fn what_is_overwritten_is_dropped_and_what_is_taken_is_not() {
        let value = Value::tuple(Vec::new());
        let mut place = value.clone();
        put(&mut place, hold(Value::Bool(true)));
        assert_eq!((owners(&value), place.is(&Value::Bool(true))), (1, true));
        put(&mut place, hold(value.clone()));
        let taken = take(&mut place);
        assert_eq!((owners(&value), taken.is(&value)), (2, true));
        assert!(matches!(place, Value::Unbound));
    }

    #[test]
    fn a_tail_moves_in_order() {
        let value = Value::tuple(Vec::new());
        let mut from = vec![Value::None, value.clone(), Value::Int(7)];
        let mut to = vec![Value::Int(0)];
        move_tail(&mut from, 1, &mut to);
        move_tail(&mut from, 5, &mut to);
        assert_eq!((from.len(), to.len(), owners(&value)), (1, 3, 2));
        assert!(to[1].is(&value) && to[2].is(&Value::Int(7)));
        let (result, error): (Result<Value, String>, String) = (Ok(value.clone()), String::new());
        assert!(fresh(result).is_ok_and(|it| it.is(&value)) && fresh(error).is_empty());
    }
}
