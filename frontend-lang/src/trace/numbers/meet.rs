//! What meets tracked numbers while a body runs: operations, functions of the library, and the end of the call.

use engine::Tensor;

use super::spot::{finds_again, sweep};
use super::tracked::{Recorder, bare, holds_tracked, kind_of, plain_by};
use super::tracks::Tracking;
use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::native::*;
use crate::operate::equal::plain_hash;
use crate::ops_binding;
use crate::value::Value;

/// Functions of the library that hand on what containers hold, or ask for a name or a type, without a look at a number.
const HANDS_ON: &[&str] = &[
    "add",
    "append",
    "callable",
    "discard",
    "get",
    "getattr",
    "hasattr",
    "id",
    "isinstance",
    "issubclass",
    "keys",
    "len",
    "pop",
    "setattr",
    "setdefault",
    "steps",
    "super",
    "type",
    "values",
];

/// Those that ask a number for its type alone, which a slice knows of each of its steps, or a tuple for its length.
const ASKS_FOR_TYPE: &[&str] = &["isinstance", "len", "type"];

/// Those that put what their arguments hold into objects of their own.
const REPACKS: &[&str] = &[
    "copy",
    "dict",
    "enumerate",
    "frozenset",
    "items",
    "iter",
    "list",
    "next",
    "reversed",
    "set",
    "tuple",
    "update",
    "zip",
];

/// Ops that do the same for all numbers.
const FEEDS: &[&str] = &["add", "sub", "mul", "div"];

/// Positional arguments, and keywords.
type OwnArgs = (Vec<Value>, Vec<(Sym, Value)>);

impl Cx {
    /// Ends the following of numbers: what is tracked outside of the planted places, among these objects and on the stack, is made plain.
    pub(in crate::trace) fn end_tracking(&mut self, found: Vec<Value>) -> Option<Tracking> {
        let tracking = self.follow.tracking.take()?;
        tracking.note_left();
        // Functions see names of the body too.
        if let Some(bindings) = &self.follow.bindings {
            bindings.make_plain(&mut self.machine.stack);
        }
        sweep(found, true, &mut |spot, it| {
            let is_left = holds_tracked(it) && !tracking.has_planted(spot);
            is_left.then(|| {
                tracking.note_stray(spot);
                plain_by(it, &bare)
            })
        });
        for it in self.machine.stack.iter_mut().filter(|it| holds_tracked(it)) {
            *it = plain_by(it, &bare);
        }
        Some(tracking)
    }

    /// An operation is about to run that may meet tracked numbers: those that it would not know are made plain.
    pub(in crate::trace) fn track_op(&mut self, op: Op, next: Option<Op>, n_locals: usize) {
        let len = self.machine.stack.len();
        let locals = self.machine.frames.last().map_or(0, |it| it.base);
        let base = (locals + n_locals).min(len);
        let at = |depth: usize| (len - base > depth).then(|| len - 1 - depth);
        let (Some(top), below, lowest) = (at(0), at(1), at(2)) else { return };
        match (op.unjoined(), below, lowest) {
            // A number that a tensor is added to is no tensor to write to.
            (Op::Inplace(_), Some(below), _)
                if self.is_number_at(below) && !self.is_number_at(top) =>
            {
                self.plain_at(below..len);
            }
            (Op::Binary(op) | Op::Inplace(op), Some(below), _) => {
                self.track_operands(op, below, top);
            }
            (Op::Compare(_) | Op::CompareJump(..), Some(below), _) => {
                if !(self.is_number_at(below) && self.is_number_at(top)) {
                    self.track_compared(below, top);
                }
            }
            (Op::Is | Op::IsNot, Some(below), _) => {
                if self.is_number_at(below) && self.is_number_at(top) {
                    self.plain_at(below..len);
                }
            }
            (Op::SetAttr { .. }, Some(value), _) => self.track_store(value, top),
            (Op::PutAttr { .. }, Some(holder), _) => self.track_store(top, holder),
            (Op::Index | Op::Slice, ..) if self.track_part(op.unjoined(), next) => {}
            (Op::Index, Some(container), _) => {
                self.plain_of_tensor(container, top..len);
                // Of a tuple the item is handed on.
                let is_tuple = matches!(self.machine.stack[container], Value::Tuple(_));
                self.plain_at(if is_tuple { top } else { container }..len);
            }
            (Op::SetIndex, Some(container), Some(value)) => {
                self.plain_of_tensor(container, value..len);
                self.plain_at(top..len);
                self.track_item(value, container, top);
            }
            (Op::PutIndex, Some(index), Some(container)) => {
                self.plain_of_tensor(container, container..len);
                self.plain_at(index..top);
                self.track_item(top, container, index);
            }
            (Op::DictAdd(_), Some(key), _) => self.plain_entry(key),
            (Op::Dict(count), ..) => {
                let keys = (len - 2 * count as usize..len).step_by(2);
                keys.for_each(|it| self.plain_entry(it));
            }
            // Its locals outlive the call.
            (Op::Yield | Op::YieldFrom, ..) => self.plain_at(locals..len),
            (op, ..) if hands_on(op) => {}
            _ => self.plain_at(base..len),
        }
    }

    /// A number is stored: instances, dicts and lists may hold tracked ones.
    fn track_store(&mut self, value: usize, holder: usize) {
        let holder = &self.machine.stack[holder];
        if !matches!(holder, Value::Instance(_) | Value::Dict(_) | Value::List(_)) {
            self.plain_at(value..value + 1);
        }
    }

    /// The same under a key.
    fn track_item(&mut self, value: usize, holder: usize, key: usize) {
        let stack = &self.machine.stack;
        match finds_again(&stack[holder], &stack[key]) {
            true => self.track_store(value, holder),
            false => self.plain_at(value..value + 1),
        }
    }

    /// An entry of a new dict, whose key is there: the value behind it may be tracked, unless the key is of another kind.
    fn plain_entry(&mut self, key: usize) {
        self.plain_at(key..key + 1);
        if plain_hash(&self.machine.stack[key]).is_none() {
            self.plain_at(key + 1..key + 2);
        }
    }

    /// Makes numbers plain in lists that a tensor is indexed by, or given.
    fn plain_of_tensor(&self, container: usize, places: std::ops::Range<usize>) {
        if matches!(self.machine.stack[container], Value::Tensor(_)) {
            self.make_plain(self.machine.stack[places].iter(), true);
        }
    }

    fn is_number_at(&self, at: usize) -> bool {
        let value = &self.machine.stack[at];
        kind_of(value).is_some() || matches!(value, Value::Bool(_))
    }

    /// Makes numbers in these places of the stack plain.
    fn plain_at(&mut self, places: std::ops::Range<usize>) {
        for at in places {
            if holds_tracked(&self.machine.stack[at]) {
                self.note_look();
                self.machine.stack[at] = plain_by(&self.machine.stack[at], &Recorder::plain);
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
        let feeds = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::TrueDiv);
        match Recorder::feed(&stack[number]).filter(|_| feeds) {
            Some(fed) => self.machine.stack[number] = fed,
            None => self.plain_at(number..number + 1),
        }
    }

    /// A number is compared with a tensor: of floats, as one that is computed anew.
    fn track_compared(&mut self, a: usize, b: usize) {
        let stack = &self.machine.stack;
        let is_of_floats = |at: usize| match &stack[at] {
            Value::Tensor(it) => !it.is_array() && it.peek().dtype().is_float(),
            _ => false,
        };
        let number = match (is_of_floats(a), is_of_floats(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return self.plain_at(a..b + 1),
        };
        let is_float = kind_of(&stack[number]) == kind_of(&Value::Float(0.0));
        match is_float.then(|| Recorder::feed(&stack[number])).flatten() {
            Some(fed) => self.machine.stack[number] = fed,
            None => self.plain_at(a..b + 1),
        }
    }

    /// What a function of the library is called with that may meet tracked numbers: it gets plain ones. `Some` is what it gives, where
    /// it computes a number of numbers.
    pub(crate) fn track_native(
        &mut self,
        row: &'static NativeFn,
        args: &mut [Value],
    ) -> Option<Value> {
        let tracking = self.follow.tracking.as_ref()?;
        let recorder = tracking.recorder.clone();
        if tracking.reads
            && let Some(number) = tracking.read(row, args)
        {
            return Some(number);
        }
        let has_tracked = args.iter().any(holds_tracked);
        if has_tracked {
            if ASKS_FOR_TYPE.contains(&row.name) {
                args.iter_mut().for_each(|it| *it = plain_by(it, &bare));
                return None;
            }
            if row.name == "append" && matches!(args.first(), Some(Value::List(_))) {
                return None;
            }
            if row.effect == Effect::Pure
                && let Some(number) = recorder.call(self, row, args)
            {
                return Some(number);
            }
            self.note_look();
            args.iter_mut().for_each(|it| *it = plain_by(it, &Recorder::plain));
        }
        if HANDS_ON.contains(&row.name) {
            return None;
        }
        self.make_plain(args.iter(), !REPACKS.contains(&row.name));
        None
    }

    /// A function of the library gets plain numbers for its arguments, and in containers among these.
    pub(in crate::trace) fn plain_args(&mut self, args: &mut [Value]) {
        if self.follow.tracking.is_some() {
            args.iter_mut().for_each(|it| *it = plain_by(it, &bare));
            self.make_plain(args.iter(), true);
        }
    }

    /// Makes the numbers plain that stand in containers which a function of the library is called with; `is_deep`: also in what these hold.
    fn make_plain<'a>(&self, args: impl Iterator<Item = &'a Value>, is_deep: bool) {
        let mut found = false;
        let holders = args.filter(|it| it.address().is_some()).cloned();
        sweep(holders, is_deep, &mut |_, it| {
            let is_left = holds_tracked(it);
            found |= is_left;
            is_left.then(|| plain_by(it, &Recorder::plain))
        });
        if found {
            self.note_look();
        }
    }

    /// The truth of a tensor with one element, where that is followed as a number is; `None` elsewhere.
    pub(crate) fn track_truth(&self, tensor: &Tensor) -> Option<bool> {
        if self.mode != Mode::Follow {
            return None;
        }
        let tracking = self.follow.tracking.as_ref().filter(|it| it.reads)?;
        tracking.recorder.truth(tensor)
    }

    /// The arguments of an object of the library, if there are tracked numbers among them: as ones that are computed anew for an op that
    /// does the same for all numbers, else plain.
    pub(crate) fn track_call(&self, func: &Value, args: CallArgs<'_>) -> Option<OwnArgs> {
        if self.mode != Mode::Follow || self.follow.tracking.is_none() {
            return None;
        }
        let all = || args.positional.iter().chain(args.keywords.iter().map(|it| &it.1));
        self.make_plain(all(), true);
        if !all().any(holds_tracked) {
            return None;
        }
        let feeds = ops_binding::op_of(func).is_some_and(|it| FEEDS.contains(&it.name));
        let known = |it: &Value| {
            if let Some(fed) = Recorder::feed(it).filter(|_| feeds) {
                return fed;
            }
            if holds_tracked(it) {
                self.note_look();
            }
            plain_by(it, &Recorder::plain)
        };
        let positional = args.positional.iter().map(known).collect();
        let keywords = args.keywords.iter().map(|(name, it)| (*name, known(it))).collect();
        Some((positional, keywords))
    }

    fn note_look(&self) {
        if let Some(tracking) = &self.follow.tracking {
            tracking.recorder.note_look(self.line_of_cell());
        }
    }
}

impl Tracking {
    /// The element that `t.item()` gives, or in place of `t` among the arguments what `float(t)` and `int(t)` convert.
    fn read(&self, row: &'static NativeFn, args: &mut [Value]) -> Option<Value> {
        let element = |of: &Value| {
            let tensor = of.as_tensor().filter(|it| !it.is_array())?;
            self.recorder.read(&tensor.get())
        };
        match args {
            [of @ Value::Tensor(_)] if row.name == "item" => element(of),
            [Value::Class(_), of, ..] if ["float", "int"].contains(&row.name) => {
                *of = element(of)?;
                None
            }
            _ => None,
        }
    }
}

/// Whether an operation does the same with any value, asks a number for its truth, or is one for which numbers have a hook.
fn hands_on(op: Op) -> bool {
    matches!(
        op,
        Op::Const(_)
            | Op::None
            | Op::Local(_)
            | Op::SetLocal(_)
            | Op::DelLocal(_)
            | Op::ClearLocal(_)
            | Op::MakeCell(_)
            | Op::Cell(_)
            | Op::SetCell(_)
            | Op::Free(_)
            | Op::SetFree(_)
            | Op::Global(_)
            | Op::SetGlobal(_)
            | Op::Attr { .. }
            | Op::Method { .. }
            | Op::SuperMethod(_)
            | Op::SuperAttr(_)
            | Op::Unary(_)
            | Op::Not
            | Op::Jump(_)
            | Op::Loop(_)
            | Op::JumpIfFalse(_)
            | Op::JumpIfTrue(_)
            | Op::JumpIfFalseKeep(_)
            | Op::JumpIfTrueKeep(_)
            | Op::Pop
            | Op::Dup
            | Op::Dup2
            | Op::Rot2
            | Op::Rot3
            | Op::List(_)
            | Op::ListAppend(_)
            | Op::Unpack(_)
            | Op::Iter
            | Op::ForIter(_)
            | Op::Call(_)
            | Op::CallMethod(_)
            | Op::CallKw(..)
            | Op::CallMethodKw(..)
            | Op::Return
            | Op::Try(_)
            | Op::EndTry
            | Op::PopHandled
            | Op::WithEnter(_)
            | Op::WithExit(_)
    )
}
