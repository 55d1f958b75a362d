//! What a part of a function may not do: change what is outside of it. It is looked for before each operation.
//!
//! An object is outside if it can be come to from the frames below the part, or from a module.

use std::rc::Rc;

use engine::apply::{autocast, default_dtype};
use engine::autograd;
use rustc_hash::FxHashSet;

use super::{apart, refused};
use crate::bytecode::{Code, Op};
use crate::check::native::acts_on_session;
use crate::cx::Cx;
use crate::cycles::children;
use crate::error::{Mark, Raised};
use crate::native::{Effect, NativeFn};
use crate::objects::tensor::{TensorObj, stands_for_number};
use crate::source::Span;
use crate::sym::Sym;
use crate::tensor::journal;
use crate::value::Value;

/// A part that is recorded.
pub(crate) struct UnderWay {
    /// Heights of the stack and of the frames when it began.
    base: usize,
    frames: usize,
    /// What stands for variables from outside.
    standing: Vec<usize>,
    /// What is outside, once somebody has asked.
    outside: Option<FxHashSet<usize>>,
    /// Changes of variables that were looked at.
    changes: usize,
    /// The operation that ran last, and whether it raises.
    last: Option<(Span, Sym)>,
    pub(super) raises: bool,
    /// What ops did when it began, and the operation that has changed that.
    modes: Modes,
    switched: Option<(Span, Sym)>,
}

/// Whether gradients are recorded, what autocast lowers to, and the default dtype.
type Modes = (bool, [Option<engine::DType>; 2], engine::DType);

fn modes() -> Modes {
    (autograd::enabled(), autocast::halves(), default_dtype::get())
}

impl UnderWay {
    pub(super) fn new(base: usize, frames: usize, standing: &[Value]) -> Self {
        apart::take_use();
        let standing = standing.iter().filter_map(Value::address).collect();
        let (outside, changes, last, raises, switched) = Default::default();
        Self { base, frames, standing, outside, changes, last, raises, modes: modes(), switched }
    }
}

/// Methods of containers that change them.
const CHANGING: &[&str] = &[
    "add",
    "append",
    "appendleft",
    "clear",
    "difference_update",
    "discard",
    "extend",
    "extendleft",
    "insert",
    "intersection_update",
    "pop",
    "popitem",
    "popleft",
    "remove",
    "reverse",
    "rotate",
    "setdefault",
    "sort",
    "symmetric_difference_update",
    "update",
];

/// Functions that change their first argument.
const CHANGING_FIRST: &[&str] = &["next", "setattr", "delattr"];

const WAY_OUT: &str = "it would happen for both ways of a branch, and once for all turns of a loop; assign to names of the function, \
                       and do the rest behind it";

impl Cx {
    /// Refuses an operation of a part, about to run, that would change what is outside; and what the one before it has done.
    #[cold]
    pub(crate) fn judge_effect(&mut self, code: &Code, at: usize) -> Result<(), Raised> {
        self.judge_last()?;
        let op = code.ops[at];
        // A slice stores at once where that follows.
        let what = match (op, code.ops.get(at + 1)) {
            (Op::Slice, Some(Op::SetIndex)) => self.effect_of_slice(),
            _ => self.effect_of(op),
        };
        let Some(part) = self.regions.last_mut() else { return Ok(()) };
        part.raises = matches!(
            op,
            Op::Raise
                | Op::RaiseFrom
                | Op::RaiseAgain
                | Op::AssertFail
                | Op::AssertMessage
                | Op::AssertCompare(_)
        );
        part.last = Some((code.span(at), code.name));
        match what {
            None => Ok(()),
            Some(what) if what == BACKWARD => Err(refused(what)),
            Some(what) => {
                Err(refused(format!("{what} in a branch or a loop on a tensor: {WAY_OUT}")))
            }
        }
    }

    /// As a part ends.
    pub(super) fn judge_end(&mut self) -> Result<(), Raised> {
        self.judge_last()?;
        match self.regions.last().and_then(|it| it.switched) {
            Some(place) => Err(of_place(
                Some(place),
                format!(
                    "recording gradients, autocast and the default dtype cannot be switched for good in a branch or a loop on a tensor: {WAY_OUT}"
                ),
            )),
            None => Ok(()),
        }
    }

    /// Refuses a native that acts outside of the program.
    #[cold]
    pub(crate) fn refuse_in_part(&mut self, row: &'static NativeFn) -> Result<(), Raised> {
        if !acts_on_session(row) {
            return Ok(());
        }
        Err(refused(format!(
            "`{}` cannot stand in a branch or a loop on a tensor: {WAY_OUT}",
            row.name
        )))
    }

    /// An error: Python is asked for something.
    pub(crate) fn refuse_python_in_part(&mut self) -> Result<(), Raised> {
        Err(refused(format!(
            "what Python is asked for cannot stand in a branch or a loop on a tensor: {WAY_OUT}"
        )))
    }

    /// What the operation that ran last has done by ways that cannot be seen before.
    fn judge_last(&mut self) -> Result<(), Raised> {
        if let Some(what) = apart::take_use() {
            return Err(self.of_last(format!(
                "{what} cannot stand in a branch or a loop on a tensor: {WAY_OUT}"
            )));
        }
        let Some(part) = self.regions.last_mut() else { return Ok(()) };
        match part.modes == modes() {
            true => part.switched = None,
            false => part.switched = part.switched.or(part.last),
        }
        let (changed, count) = journal::changed_since(part.changes);
        part.changes = count;
        match changed.iter().find(|it| self.is_outside_tensor(&it.0)) {
            Some((_, true)) => Err(self.of_last(BACKWARD.to_owned())),
            Some(_) => Err(self.of_last(IN_PLACE.to_owned())),
            None => Ok(()),
        }
    }

    fn of_last(&self, message: String) -> Raised {
        of_place(self.regions.last().and_then(|it| it.last), message)
    }

    /// What an operation is about to change outside of the part, in words.
    fn effect_of(&mut self, op: Op) -> Option<String> {
        let stack = &self.machine.stack;
        let base = self.machine.frames.last()?.base;
        let below = |depth: usize| stack.get(stack.len().checked_sub(depth + 1)?).cloned();
        let local = |slot: u8| stack.get(base + slot as usize).cloned();
        let item = |it: Option<Value>| (it, ITEM);
        let attribute =
            |it: Option<Value>| (it, "an attribute of an object that stands outside is set");
        let (object, words) = match op {
            Op::SetGlobal(_) | Op::DelGlobal(_) | Op::ImportStar => {
                return Some("a global name is assigned".into());
            }
            Op::SetFree(idx) | Op::DelFree(idx) if !self.is_part_frame() => {
                let cell = self.machine.frames.last()?.func.closure.get(idx as usize).cloned();
                (cell.map(Value::Cell), "a name of an outer function is assigned")
            }
            Op::SetAttr { .. } | Op::DelAttr(_) => attribute(below(0)),
            Op::SetAttrL { slot, .. } => attribute(local(slot)),
            Op::PutAttr { .. } => attribute(below(1)),
            Op::SetIndex | Op::DelIndex => item(below(1)),
            Op::PutIndex => item(below(2)),
            Op::SetIndexLL(slot, _) | Op::SetIndexLC(slot, _) => item(local(slot)),
            Op::Inplace(_) => match below(1)? {
                it if stands_for_number(&it) => return None,
                it @ (Value::Tensor(_) | Value::List(_) | Value::Dict(_) | Value::Set(_)) => {
                    (Some(it), "an object that stands outside is changed in place")
                }
                _ => return None,
            },
            Op::Iter => match below(0)? {
                it @ (Value::Generator(_) | Value::Iter(_)) => {
                    (Some(it), "an iterator that stands outside goes on")
                }
                _ => return None,
            },
            Op::Call(count) => return self.effect_of_call(count as usize, false),
            Op::CallMethod(count) => return self.effect_of_call(count as usize, true),
            _ => return None,
        };
        let object = object?;
        if !self.is_outside(&object) {
            return None;
        }
        Some(match object {
            Value::Tensor(_) => IN_PLACE_BEGINNING.into(),
            _ => words.to_owned(),
        })
    }

    /// The same of `x[a:b] = y`.
    fn effect_of_slice(&mut self) -> Option<String> {
        let at = self.machine.stack.len().checked_sub(4)?;
        let container = self.machine.stack.get(at).cloned()?;
        let is_tensor = matches!(container, Value::Tensor(_));
        let words = if is_tensor { IN_PLACE_BEGINNING } else { ITEM };
        self.is_outside(&container).then(|| words.to_owned())
    }

    /// The same of a call of a native.
    fn effect_of_call(&mut self, count: usize, is_method: bool) -> Option<String> {
        let stack = &self.machine.stack;
        let first = stack.len().checked_sub(count + 1 + usize::from(is_method))?;
        let bound = is_method && stack[first].is_unbound();
        let (row, this) = match (&stack[first + usize::from(bound)], is_method && !bound) {
            (Value::Native(row), true) => (*row, stack.get(first + 1).cloned()?),
            (Value::Method(it), _) => match &it.func {
                Value::Native(row) => (*row, it.this.clone()),
                _ => return None,
            },
            (Value::Native(row), false) if CHANGING_FIRST.contains(&row.name) => {
                (*row, stack.get(first + usize::from(bound) + 1).cloned()?)
            }
            _ => return None,
        };
        if row.name == "backward" && matches!(this, Value::Tensor(_)) {
            return Some(BACKWARD.into());
        }
        let does = changes(row, &this) || CHANGING_FIRST.contains(&row.name);
        if !does || !self.is_outside(&this) {
            return None;
        }
        Some(match this {
            Value::Tensor(_) => IN_PLACE_BEGINNING.into(),
            _ => format!("`{}` changes an object that stands outside,", row.name),
        })
    }

    /// Whether the newest frame is that of the part itself.
    fn is_part_frame(&self) -> bool {
        self.regions.last().is_some_and(|it| self.machine.frames.len() == it.frames + 1)
    }

    fn is_outside_tensor(&mut self, object: &Rc<TensorObj>) -> bool {
        self.reaches(&Value::Tensor(TensorObj::root(object)))
            || self.reaches(&Value::Tensor(object.clone()))
    }

    fn is_outside(&mut self, value: &Value) -> bool {
        match value {
            Value::Tensor(it) => self.is_outside_tensor(it),
            it => self.reaches(it),
        }
    }

    /// Whether a value can be come to from outside of the innermost part.
    fn reaches(&mut self, value: &Value) -> bool {
        let (Some(address), Some(part)) = (value.address(), self.regions.last()) else {
            return false;
        };
        if part.standing.contains(&address) {
            return true;
        }
        if part.outside.is_none() {
            let found = self.outside(part.base, part.frames);
            if let Some(part) = self.regions.last_mut() {
                part.outside = Some(found);
            }
        }
        let known = self.regions.last().and_then(|it| it.outside.as_ref());
        known.is_some_and(|it| it.contains(&address))
    }

    /// Addresses of all that is outside.
    fn outside(&self, base: usize, frames: usize) -> FxHashSet<usize> {
        let mut waiting: Vec<Value> = self.machine.stack[..base].to_vec();
        let running = self.machine.frames.iter().take(frames);
        waiting.extend(running.map(|it| Value::Func(it.func.clone())));
        waiting.extend(self.modules.values().cloned());
        let globals = self.globals.slots.borrow();
        waiting.extend(globals.iter().map(|it| it.value.clone()));
        let mut seen = FxHashSet::default();
        while let Some(value) = waiting.pop() {
            let Some(address) = value.address() else { continue };
            if !seen.insert(address) {
                continue;
            }
            match &value {
                Value::Module(it) => {
                    let slots = it.globals.slots.borrow();
                    waiting.extend(slots.iter().map(|it| it.value.clone()));
                }
                Value::Tensor(it) => {
                    waiting.extend(it.grad().map(Value::Tensor));
                    waiting.extend(it.base_object().map(|it| Value::Tensor(it.0)));
                }
                it => children(it, &mut |it| waiting.push(it.clone())),
            }
        }
        seen
    }
}

/// The refusal of what stands at a place.
fn of_place(place: Option<(Span, Sym)>, message: String) -> Raised {
    let mut raised = refused(message);
    if let Some((span, function)) = place {
        raised.push_mark(Mark { span, function, operands: Vec::new() });
        raised.set_rethrown();
    }
    raised
}

const ITEM: &str = "an item of an object that stands outside is set";

const IN_PLACE_BEGINNING: &str =
    "a tensor that stands outside is written in place (write `x = x + 1` instead of `x += 1`)";

const IN_PLACE: &str = "a tensor that stands outside is written in place (write `x = x + 1` instead of `x += 1`) in a branch or a \
                        loop on a tensor: it would happen for both ways of a branch, and once for all turns of a loop";

const BACKWARD: &str = "backward() cannot stand in a branch or a loop on a tensor: it changes the .grad of tensors that are outside \
                        of it; compute the loss there, and call backward() on the result afterwards";

/// Whether a method changes its object.
fn changes(row: &NativeFn, this: &Value) -> bool {
    match this {
        Value::Tensor(_) => row.name.ends_with('_') && !row.name.ends_with("__"),
        Value::List(_) | Value::Dict(_) | Value::Set(_) => CHANGING.contains(&row.name),
        Value::Object(it) => {
            let draws = it.native_type().module.ends_with("random");
            row.effect != Effect::Pure && (draws || CHANGING.contains(&row.name))
        }
        _ => false,
    }
}
