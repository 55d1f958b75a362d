//! Loops that are too long for a check: their first rounds run, then their last one. What the rounds in between may have changed is
//! unknown from then on.
//!
//! What that is shows when pictures of all that can be reached, before the loop and now, are compared ([`picture`](super::picture)); names
//! that the loop assigns are unknown in any case. The rounds in between may change more than the first did, so values are not trusted from
//! here on ([`Trust`]); shapes are, if code of the loop that has not run yet is harmless.

use std::rc::Rc;

use crate::bytecode::{Code, Op};
use crate::check::Trust;
use crate::check::memory::Round;
use crate::check::picture::Picture;
use crate::check::unknown::{self, Kind, kind_of, unknown};
use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::function::Func;
use crate::objects::iterator::{Iter, IterState};
use crate::source::Source;
use crate::value::Value;
use crate::vm::long::ForStep;

/// Loops with as many rounds at most run as they are.
const FEW: usize = 3;

/// Loops that call nothing and take as many operations at most run as they are, too: a picture would cost more.
const FEW_STEPS: usize = 300;

/// A loop of the cell that is under way.
pub(crate) struct Watch {
    /// The operation after its `ForIter`.
    pub(super) ip: usize,
    /// The operations that had run before it.
    since: u32,
    rounds: usize,
    /// It has few rounds, and runs as it is.
    short: bool,
    before: Option<Picture>,
    /// Its last round runs.
    pub(super) last: bool,
    /// Something vague was computed before the last round, in which much is.
    vague: bool,
    /// What the round under way uses.
    pub(crate) round: Round,
}

/// Functions that may be called in rounds that are left out.
const HARMLESS: &[&str] = &[
    "abs",
    "dict",
    "enumerate",
    "float",
    "format",
    "int",
    "len",
    "list",
    "max",
    "min",
    "print",
    "range",
    "round",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
];

/// Methods that change nothing.
const HARMLESS_METHODS: &[&str] = &[
    "abs", "argmax", "clone", "cpu", "detach", "exp", "float", "format", "item", "items", "keys",
    "long", "max", "mean", "min", "norm", "numel", "numpy", "reshape", "size", "sqrt", "std",
    "sum", "tolist", "values", "view",
];

impl Cx {
    /// The next round of a loop in the code of the cell itself; `None` leaves it to the rule for all loops.
    pub(crate) fn watched_round(
        &mut self,
        func: &Func,
        ip: usize,
        target: usize,
    ) -> Result<Option<ForStep>, Raised> {
        let iterator = self.machine.stack.last().cloned().unwrap_or_default();
        self.note_lap();
        let watches = &mut self.shadow().watches;
        let Some(at) = watches.iter().rposition(|it| it.ip == ip) else {
            return if self.begin_loop(&iterator, &func.code.ops, ip, target) {
                self.for_iter(ip).map(Some)
            } else {
                Ok(None)
            };
        };
        watches.truncate(at + 1);
        let watch = &mut watches[at];
        watch.rounds += 1;
        let (short, early) = (watch.short, watch.rounds < 2);
        if watch.last {
            unknown::vague(watch.vague);
            watches.truncate(at);
            return Ok(Some(ForStep::End));
        }
        if watch.before.is_none() && !short || self.shadow().trust == Trust::Names {
            if self.shadow().steps > 0 {
                self.begin_round(at);
            }
            return Ok(None);
        }
        if short || early || self.shadow().steps > 0 {
            self.begin_round(at);
            return self.for_iter(ip).map(Some);
        }
        self.skip_rounds(func, ip, target, at, &iterator)
    }

    fn begin_round(&mut self, at: usize) {
        let shadow = self.shadow();
        shadow.watches[at].round = Round::new(shadow.seconds());
    }

    /// Leaves out all rounds but the last.
    fn skip_rounds(
        &mut self,
        func: &Func,
        ip: usize,
        target: usize,
        at: usize,
        iterator: &Value,
    ) -> Result<Option<ForStep>, Raised> {
        if size_left(iterator) == Some(0) {
            self.shadow().watches.truncate(at);
            return Ok(Some(ForStep::End));
        }
        let Some(before) = self.shadow().watches[at].before.take() else { return Ok(None) };
        let live = engine::estimate::live();
        if !self.may_skip(func, ip, target, at) || !self.forget(before) {
            return Ok(None);
        }
        let kept = live - engine::estimate::live();
        let shadow = self.shadow();
        match size_left(iterator) {
            Some(left) => {
                let round = shadow.watches[at].round;
                round.repeat(left - 1, kept);
                shadow.leave_out(left - 1, round.since);
            }
            None => {
                shadow.memory.partly = true;
                shadow.left_out = f64::INFINITY;
            }
        }
        self.forget_names(func, ip, target, at);
        self.trust_only(Trust::Shapes);
        match last_of(iterator) {
            Some(item) => {
                let vague = unknown::vague(false);
                let watch = &mut self.shadow().watches[at];
                (watch.last, watch.vague) = (true, vague);
                Ok(Some(ForStep::Item(item)))
            }
            None => {
                self.shadow().watches.truncate(at);
                Ok(Some(ForStep::End))
            }
        }
    }

    /// Begins to watch a loop; false if it cannot be.
    fn begin_loop(&mut self, iterator: &Value, ops: &[Op], ip: usize, target: usize) -> bool {
        let round = &ops[ip..target];
        let quick = |rounds: usize| rounds * round.len() <= FEW_STEPS && is_plain(round);
        let short = size_left(iterator).is_some_and(|it| it <= FEW || quick(it));
        let before = if short { None } else { self.picture() };
        let watched = short || before.is_some();
        let shadow = self.shadow();
        let since = shadow.ran.now();
        let round = Round::new(shadow.seconds());
        let (last, vague) = (false, false);
        shadow.watches.push(Watch { ip, since, rounds: 0, short, before, last, vague, round });
        watched
    }

    /// Whether rounds may be left out: the end of the loop is sure to be reached, and code that has not run is harmless.
    fn may_skip(&self, func: &Func, ip: usize, target: usize, at: usize) -> bool {
        let Some(shadow) = self.check.as_deref() else { return false };
        let since = shadow.watches[at].since;
        let ops = &func.code.ops;
        let is_with = |at: u32| matches!(ops.get(at as usize), Some(Op::WithExitError(_)));
        if !self.machine.blocks.iter().all(|it| is_with(it.target)) {
            return false;
        }
        let ran = shadow.ran.of(&func.code, since);
        let own = (ip..target).all(|at| match ops[at] {
            Op::Jump(to) => (to as usize) < target,
            Op::Return | Op::Yield | Op::YieldFrom => false,
            op => ran(at) || self.is_harmless(&func.code, op),
        });
        own && shadow.ran.called(since, &func.code).all(|code| self.only_harmless_left(code, since))
    }

    /// Whether what a called function has not done yet may be done in a round that is left out.
    fn only_harmless_left(&self, code: &Rc<Code>, since: u32) -> bool {
        let Some(shadow) = self.check.as_deref() else { return false };
        let ran = shadow.ran.of(code, since);
        code.ops.iter().enumerate().all(|(at, op)| match op {
            Op::SetCell(_) | Op::DelCell(_) => ran(at),
            // Nothing here catches it: the cell ends with an error then, too.
            Op::Raise | Op::RaiseFrom => true,
            op => ran(at) || self.is_harmless(code, *op),
        })
    }

    fn is_harmless(&self, code: &Code, op: Op) -> bool {
        match op {
            Op::SetAttr { .. } | Op::PutAttr { .. } | Op::SetIndex | Op::PutIndex => false,
            Op::DelIndex | Op::DelAttr(_) | Op::ImportStar => false,
            Op::Raise | Op::RaiseFrom | Op::Reraise | Op::RaiseAgain => false,
            Op::MakeFunction { .. } | Op::MakeClass(_) | Op::SuperMethod(_) => false,
            Op::Method { name, .. } => HARMLESS_METHODS.contains(&name.as_str()),
            Op::Global(slot) => {
                let key = (Rc::as_ptr(&code.globals).addr(), slot);
                let set = self.check.as_deref().and_then(|it| it.overlay.get(&key));
                let slots = code.globals.slots.borrow();
                let slot = &slots[slot as usize];
                let value = set.unwrap_or(&slot.value);
                let plain = matches!(
                    value,
                    Value::Int(_)
                        | Value::Float(_)
                        | Value::Bool(_)
                        | Value::Str(_)
                        | Value::Tensor(_)
                        | Value::List(_)
                );
                let fresh = value.is_unbound() && slot.builtin.is_unbound();
                let harmless = value.is_unbound() && HARMLESS.contains(&slot.name.as_str());
                plain || fresh || harmless || kind_of(value).is_some_and(|it| it != Kind::Any)
            }
            _ => true,
        }
    }

    /// Makes every name unknown that loop number `at` assigns, itself or through what it calls.
    fn forget_names(&mut self, func: &Func, ip: usize, target: usize, at: usize) {
        let shadow = self.shadow();
        let within = shadow.set_within.iter().filter(|it| *it.1 > at);
        for (key, _) in within {
            shadow.overlay.insert(*key, unknown(Kind::Any));
        }
        let since = shadow.watches[at].since;
        let called: Vec<Rc<Code>> = shadow.ran.called(since, &func.code).cloned().collect();
        for code in called {
            for op in &code.ops {
                if let Op::SetGlobal(slot) | Op::DelGlobal(slot) = op {
                    self.shadow_set_global(&code.globals, *slot, unknown(Kind::Any));
                }
            }
        }
        let base = self.machine.frames.last().map_or(0, |it| it.base);
        for op in &func.code.ops[ip..target] {
            match op {
                Op::SetGlobal(slot) | Op::DelGlobal(slot) => {
                    self.shadow_set_global(&func.code.globals, *slot, unknown(Kind::Any));
                }
                Op::SetLocal(slot) | Op::DelLocal(slot) => {
                    self.machine.stack[base + *slot as usize] = unknown(Kind::Any);
                }
                Op::SetCell(slot) | Op::DelCell(slot) => {
                    if let Value::Cell(cell) = &self.machine.stack[base + *slot as usize] {
                        drop(cell.assign(unknown(Kind::Any)));
                    }
                }
                _ => {}
            }
        }
    }

    /// Counts the operation that has run, and ends the check where code may catch what it may have raised.
    pub(crate) fn note_run(&mut self) -> Result<(), Raised> {
        let depth = self.machine.frames.len();
        let Some(ip) = self.machine.frames.last().map(|it| it.ip) else { return Ok(()) };
        self.note_memory(depth, ip);
        // Both notes are taken away.
        if unknown::made(false) | engine::estimate::may_refuse() {
            self.judge_unknown()?;
        }
        let Some(frame) = self.machine.frames.last() else { return Ok(()) };
        let Some(shadow) = self.check.as_deref_mut() else { return Ok(()) };
        let (code, at) = (&frame.func.code, ip.wrapping_sub(1));
        let of_cell = || self.sources.get(code.source).is_some_and(Source::is_cell);
        shadow.ran.note(code, at, of_cell);
        Ok(())
    }
}

/// Whether the round of a loop calls nothing and has no loop in it; its own jump back is one.
pub(super) fn is_plain(round: &[Op]) -> bool {
    let calls = |op: &Op| {
        use Op::{Call, CallKw, CallMethod, CallMethodKw, CallStar};
        matches!(op, Call(_) | CallKw(..) | CallMethod(_) | CallMethodKw(..) | CallStar(_))
    };
    !round.iter().any(calls) && round.iter().filter(|it| matches!(it, Op::Loop(_))).count() <= 1
}

/// How many items an iterator has left, if that is known.
pub(super) fn size_left(iterator: &Value) -> Option<usize> {
    let Value::Iter(it) = iterator else { return None };
    let inners = match &*it.state.try_borrow().ok()? {
        IterState::Enumerate { inner, .. } => vec![inner.clone()],
        IterState::Zip { inners, .. } => inners.clone(),
        _ => return it.size_hint(),
    };
    let sizes: Option<Vec<usize>> = inners.iter().map(size_left).collect();
    sizes?.into_iter().min()
}

/// The last item of an iterator whose size is known; it has none after that.
fn last_of(iterator: &Value) -> Option<Value> {
    let Value::Iter(it) = iterator else { return None };
    let item = last_item(it, size_left(iterator)?)?;
    it.state.replace(IterState::Done);
    Some(item)
}

/// Item number `left`, counted from the next.
fn last_item(it: &Rc<Iter>, left: usize) -> Option<Value> {
    let at_end = left.checked_sub(1)?;
    match &*it.state.try_borrow().ok()? {
        IterState::Range { next, step, .. } => {
            Some(Value::Int(next.wrapping_add(step.wrapping_mul(at_end as i64))))
        }
        IterState::List { list, at } => list.items.borrow().get(at + at_end).cloned(),
        IterState::Tuple { items, at } => items.get(at + at_end).cloned(),
        IterState::Items(items) => items.as_slice().get(at_end).cloned(),
        IterState::Enumerate { inner: Value::Iter(inner), count } => {
            let item = last_item(inner, left)?;
            Some(Value::tuple(vec![Value::Int(count + at_end as i64), item]))
        }
        IterState::Zip { inners, .. } => {
            let item = |inner: &Value| match inner {
                Value::Iter(it) => last_item(it, left),
                _ => None,
            };
            Some(Value::tuple(inners.iter().map(item).collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}

#[test]
fn harmless_functions_are_builtins() {
    let known = crate::builtins::names();
    assert!(HARMLESS.iter().all(|it| known.contains_key(&crate::sym::Sym::new(it))));
}
