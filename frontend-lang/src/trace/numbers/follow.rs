//! A call whose body is followed with tracked numbers in their places.

use std::cell::RefCell;
use std::rc::Rc;

use engine::Tensor;
use rustc_hash::FxHashSet;

use super::super::node::{Node, global_slots_of, is_same};
use super::slice::{Operand, Slice};
use super::spot::{Spot, spots};
use super::tracked::{Recorder, bare, is_tracked, kind_of};
use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::native::*;
use crate::ops_binding;
use crate::source::Span;
use crate::tensor::convert;
use crate::value::Value;

/// Most places that are followed; each takes part in each call.
const MOST: usize = 256;

/// Functions of the library that hand on what containers hold, or ask for a name or a type, without a look at a number.
const HANDS_ON: &[&str] = &[
    "append", "callable", "get", "getattr", "hasattr", "id", "isinstance", "issubclass", "keys", "len", "pop", "setattr",
    "setdefault", "super", "type", "values",
];

/// Those that put what their arguments hold into objects of their own.
const REPACKS: &[&str] =
    &["copy", "dict", "enumerate", "items", "iter", "list", "next", "reversed", "tuple", "update", "zip"];

/// Ops that do the same for all numbers.
const FEEDS: &[&str] = &["add", "sub", "mul", "div"];

/// The places in which earlier calls left other numbers.
#[derive(Default)]
pub(in crate::trace) struct Tracks(RefCell<Vec<Rc<Spot>>>);

/// The places in which tracked numbers stand now.
pub(crate) struct Tracking {
    spots: Vec<Rc<Spot>>,
    before: Vec<Value>,
    recorder: Rc<Recorder>,
}

/// What a followed call has shown about its numbers.
#[derive(Default)]
pub(in crate::trace) struct Found {
    spots: Vec<Rc<Spot>>,
    slice: Slice,
    /// What is put into which place.
    stores: Vec<(usize, Operand)>,
    /// Where each number comes from that ops take.
    fed: Vec<Operand>,
}

impl Tracks {
    /// Takes in all places of these objects in which numbers stand; whether some are new.
    pub(in crate::trace) fn grow(&self, changed: &[Node]) -> bool {
        let mut known = self.0.borrow_mut();
        known.retain(|it| it.get().is_some());
        let n_known = known.len();
        for node in changed {
            let Some(object) = node.object() else { continue };
            for spot in spots(&object, node.slots()) {
                if known.len() < MOST && !known.iter().any(|it| it.is(&spot)) {
                    known.push(Rc::new(spot));
                }
            }
        }
        known.len() > n_known
    }

    /// Puts tracked numbers into the places.
    pub(in crate::trace) fn plant(&self) -> Option<Tracking> {
        let known = self.0.borrow();
        let mut tracking =
            Tracking { spots: Vec::new(), before: Vec::new(), recorder: Recorder::new() };
        for spot in &*known {
            let Some(number) = spot.get().filter(|it| kind_of(it).is_some() && !is_tracked(it))
            else {
                continue;
            };
            spot.put(&tracking.recorder.input(tracking.spots.len() as u32, &number));
            tracking.spots.push(spot.clone());
            tracking.before.push(number);
        }
        (!tracking.spots.is_empty()).then_some(tracking)
    }
}

impl Tracking {
    /// Puts the plain numbers back, and says what was found. `fed` are the numbers that ops took.
    pub(in crate::trace) fn finish(self, fed: &[Tensor]) -> Found {
        let mut stores = Vec::new();
        for (at, (spot, before)) in self.spots.iter().zip(&self.before).enumerate() {
            let Some(now) = spot.get() else { continue };
            let store = self.recorder.stored(&now);
            if let Some(plain) = bare(&now) {
                spot.put(&plain);
            }
            match store {
                // The inputs are the first steps.
                Some(Operand::Step(step)) if step as usize == at => {}
                Some(Operand::Plain(it)) if is_same(&it, before) => {}
                Some(it) => stores.push((at, it)),
                None => {}
            }
        }
        let (slice, fed) = self.recorder.close(fed);
        Found { spots: self.spots, slice, stores, fed }
    }

    /// Puts the plain numbers back.
    pub(in crate::trace) fn give_up(self) {
        for spot in &self.spots {
            if let Some(plain) = spot.get().as_ref().and_then(bare) {
                spot.put(&plain);
            }
        }
        self.recorder.give_up();
    }

    /// Where a number was first looked at.
    pub(in crate::trace) fn looked_at(&self) -> Option<Span> {
        self.recorder.place()
    }

    /// The number that a body gives, plain.
    pub(in crate::trace) fn given(value: Value) -> Value {
        Recorder::plain(&value).unwrap_or(value)
    }
}

impl Found {
    /// Whether both calls have shown the same.
    pub(in crate::trace) fn is(&self, other: &Found) -> bool {
        let same_store = |(a, b): (&(usize, Operand), &(usize, Operand))| a.0 == b.0 && a.1.is(&b.1);
        self.spots.len() == other.spots.len()
            && self.spots.iter().zip(&other.spots).all(|(a, b)| Rc::ptr_eq(a, b))
            && self.slice.is(&other.slice)
            && self.stores.len() == other.stores.len()
            && self.stores.iter().zip(&other.stores).all(same_store)
            && self.fed.len() == other.fed.len()
            && self.fed.iter().zip(&other.fed).all(|(a, b)| a.is(b))
    }

    /// The numbers as they are before a call, if its way is this one.
    pub(in crate::trace) fn values(&self, cx: &mut Cx) -> Option<Vec<Value>> {
        let inputs = self.spots.iter().map(|it| it.get()).collect::<Option<Vec<_>>>()?;
        self.slice.values(cx, &inputs)
    }

    /// Number `at` of those that ops take, if it differs from call to call.
    pub(in crate::trace) fn fed(&self, at: usize, values: &[Value]) -> Option<Tensor> {
        let Operand::Step(step) = self.fed.get(at)? else { return None };
        convert::operand(&values[*step as usize])
    }

    /// Puts the numbers that a call leaves into their places.
    pub(in crate::trace) fn store(&self, values: &[Value]) {
        for (at, operand) in &self.stores {
            self.spots[*at].put(&operand.value(values));
        }
    }
}

/// Goes through the places in these objects in which numbers stand, and those in what they hold too if `is_deep`, and puts what `change`
/// gives there.
fn sweep(
    roots: impl IntoIterator<Item = Value>,
    is_deep: bool,
    change: &mut dyn FnMut(&Spot, &Value) -> Option<Value>,
) {
    let mut seen = FxHashSet::default();
    let mut waiting: Vec<Value> = roots.into_iter().collect();
    while let Some(object) = waiting.pop() {
        let is_new = |it| seen.insert(it);
        if matches!(object, Value::Tensor(_)) || !object.address().is_some_and(is_new) {
            continue;
        }
        for spot in spots(&object, &global_slots_of(&object)) {
            if let Some(number) = spot.get().and_then(|it| change(&spot, &it)) {
                spot.put(&number);
            }
        }
        if is_deep {
            Node::of(&object, &mut |it| waiting.push(it.clone()));
        }
    }
}

impl Cx {
    /// Ends the following of numbers: what is tracked outside of the planted places, among these objects and on the stack, is made plain.
    pub(in crate::trace) fn end_tracking(&mut self, found: Vec<Value>) -> Option<Tracking> {
        let tracking = self.follow.tracking.take()?;
        sweep(found, true, &mut |spot, it| {
            let plain = bare(it)?;
            (!tracking.spots.iter().any(|planted| planted.is(spot))).then_some(plain)
        });
        for it in self.machine.stack.iter_mut() {
            if let Some(plain) = bare(it) {
                *it = plain;
            }
        }
        Some(tracking)
    }

    /// An operation is about to run that may meet tracked numbers: those that it would not know are made plain.
    pub(in crate::trace) fn track_op(&mut self, op: Op, n_locals: usize) {
        let len = self.machine.stack.len();
        let base = self.machine.frames.last().map_or(0, |it| it.base) + n_locals;
        let above = |depth: usize| (len > base + depth).then(|| len - 1 - depth);
        match op.unjoined() {
            Op::Binary(op) | Op::Inplace(op) => {
                if let (Some(a), Some(b)) = (above(1), above(0)) {
                    self.track_operands(op, a, b);
                }
            }
            Op::Compare(_) | Op::CompareJump(..) => {
                if let (Some(a), Some(b)) = (above(1), above(0))
                    && !(self.is_number_at(a) && self.is_number_at(b))
                {
                    self.plain_at(a..len);
                }
            }
            Op::SetAttr { .. } => {
                if let (Some(value), Some(object)) = (above(1), above(0))
                    && !matches!(self.machine.stack[object], Value::Instance(_))
                {
                    self.plain_at(value..len);
                }
            }
            Op::PutAttr { .. } => {
                if let (Some(object), Some(value)) = (above(1), above(0))
                    && !matches!(self.machine.stack[object], Value::Instance(_))
                {
                    self.plain_at(value..len);
                }
            }
            Op::Index => self.plain_at(len.saturating_sub(2).max(base)..len),
            Op::SetIndex => {
                if let (Some(value), Some(container)) = (above(2), above(1)) {
                    self.plain_at(len - 1..len);
                    if !matches!(self.machine.stack[container], Value::Dict(_) | Value::List(_)) {
                        self.plain_at(value..len);
                    }
                }
            }
            Op::PutIndex => {
                if let (Some(container), Some(index)) = (above(2), above(1)) {
                    self.plain_at(index..index + 1);
                    if !matches!(self.machine.stack[container], Value::Dict(_) | Value::List(_)) {
                        self.plain_at(index..len);
                    }
                }
            }
            Op::Const(_) | Op::None | Op::Local(_) | Op::SetLocal(_) | Op::DelLocal(_) => {}
            Op::ClearLocal(_) | Op::MakeCell(_) | Op::Cell(_) | Op::SetCell(_) | Op::Free(_) => {}
            Op::SetFree(_) | Op::Global(_) | Op::SetGlobal(_) | Op::Attr { .. } => {}
            Op::Method { .. } | Op::SuperMethod(_) | Op::SuperAttr(_) | Op::Unary(_) | Op::Not => {}
            Op::Jump(_) | Op::Loop(_) | Op::JumpIfFalse(_) | Op::JumpIfTrue(_) => {}
            Op::JumpIfFalseKeep(_) | Op::JumpIfTrueKeep(_) | Op::Pop | Op::Dup | Op::Dup2 => {}
            Op::Rot2 | Op::Rot3 | Op::Unpack(_) | Op::Iter | Op::ForIter(_) | Op::Call(_) => {}
            Op::CallMethod(_) | Op::CallKw(..) | Op::CallMethodKw(..) | Op::Return => {}
            Op::Try(_) | Op::EndTry | Op::PopHandled | Op::WithEnter(_) | Op::WithExit(_) => {}
            // Its locals outlive the call.
            Op::Yield | Op::YieldFrom => self.plain_at(base - n_locals..len),
            _ => self.plain_at(base.min(len)..len),
        }
    }

    fn is_number_at(&self, at: usize) -> bool {
        let value = &self.machine.stack[at];
        kind_of(value).is_some() || matches!(value, Value::Bool(_))
    }

    /// Makes numbers in these places of the stack plain.
    fn plain_at(&mut self, places: std::ops::Range<usize>) {
        for at in places {
            if let Some(plain) = Recorder::plain(&self.machine.stack[at]) {
                self.note_look();
                self.machine.stack[at] = plain;
            }
        }
    }

    /// A number meets a tensor: as one that is computed anew, where the op does the same for all numbers.
    fn track_operands(&mut self, op: BinaryOp, a: usize, b: usize) {
        let stack = &self.machine.stack;
        let is_tensor = |at: usize| matches!(&stack[at], Value::Tensor(it) if !it.is_array());
        let number = match (is_tensor(a), is_tensor(b)) {
            (true, false) => b,
            (false, true) => a,
            _ if self.is_number_at(a) && self.is_number_at(b) => return,
            _ => return self.plain_at(a..b + 1),
        };
        // Powers and remainders of some numbers are other ops.
        let feeds =
            matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::TrueDiv);
        match Recorder::feed(&stack[number]).filter(|_| feeds) {
            Some(fed) => self.machine.stack[number] = fed,
            None => self.plain_at(number..number + 1),
        }
    }

    /// What a function of the library is called with that may meet tracked numbers: it gets plain ones. `Some` is what it gives, where
    /// it computes a number of numbers.
    pub(crate) fn track_native(
        &mut self,
        row: &'static NativeFn,
        args: &mut [Value],
    ) -> Option<Value> {
        let recorder = self.follow.tracking.as_ref()?.recorder.clone();
        let mut has_tracked = false;
        args.iter().for_each(|it| has_tracked |= is_tracked(it));
        if has_tracked && row.effect == Effect::Pure {
            if matches!(row.name, "isinstance") {
                args.iter_mut().for_each(|it| *it = bare(it).unwrap_or_else(|| it.clone()));
                return None;
            }
            if let Some(number) = recorder.call(self, row, args) {
                return Some(number);
            }
        }
        for arg in &mut *args {
            if let Some(plain) = Recorder::plain(arg) {
                self.note_look();
                *arg = plain;
            }
        }
        if HANDS_ON.contains(&row.name) {
            return None;
        }
        let mut found = false;
        let holders = args.iter().filter(|it| it.address().is_some()).cloned();
        sweep(holders, !REPACKS.contains(&row.name), &mut |_, it| {
            Recorder::plain(it).inspect(|_| found = true)
        });
        if found {
            self.note_look();
        }
        None
    }

    /// The arguments of an object of the library, if there are tracked numbers among them: as ones that are computed anew for an op that
    /// does the same for all numbers, else plain.
    pub(crate) fn track_call(
        &self,
        func: &Value,
        args: CallArgs<'_>,
    ) -> Option<(Vec<Value>, Vec<(Sym, Value)>)> {
        let named = args.keywords.iter().map(|it| &it.1);
        if self.mode != Mode::Follow || !args.positional.iter().chain(named).any(is_tracked) {
            return None;
        }
        let feeds = ops_binding::op_of(func).is_some_and(|it| FEEDS.contains(&it.name));
        let known = |it: &Value| {
            if let Some(fed) = Recorder::feed(it).filter(|_| feeds) {
                return fed;
            }
            Recorder::plain(it).inspect(|_| self.note_look()).unwrap_or_else(|| it.clone())
        };
        let positional = args.positional.iter().map(known).collect();
        let keywords = args.keywords.iter().map(|(name, it)| (*name, known(it))).collect();
        Some((positional, keywords))
    }

    fn note_look(&self) {
        if let Some(tracking) = &self.follow.tracking {
            tracking.recorder.looked_at(self.line_of_cell());
        }
    }
}
