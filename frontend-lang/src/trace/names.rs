//! The global names of a body that is part of a cell: what it reads is what it is called with, what it binds is what it gives.
//!
//! Which names a body reads before it binds them depends on the way that it takes. It is guessed from the order of its operations, and
//! corrected by bodies that are followed ([`Bindings`]): on the way that a graph runs, the names are known that decide it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::growing::{Growing, StandIns, only_appended};
use super::numbers::{bare, kind_of};
use super::piece::Stand;
use super::variant::{Asked, has_history};
use super::world::World;
use crate::bytecode::{Code, Op};
use crate::error::Raised;
use crate::native::CallArgs;
use crate::objects::module::Globals;
use crate::value::Value;

/// The names of one body, by their slots.
pub(super) struct Names {
    globals: Rc<Globals>,
    /// Those that it binds or deletes.
    bound: Vec<u32>,
    /// Those that it reads before that, in order.
    exposed: RefCell<Vec<Exposed>>,
    /// Those that it reads only to append to what they are bound to.
    appended: Vec<u32>,
    /// A function that it makes binds names, too.
    is_opaque: bool,
    /// Whether there are other names among these than at the latest call.
    is_new: Cell<bool>,
}

/// A name that is read before it is bound.
struct Exposed {
    slot: u32,
    /// Whether it may be another value in each call: then that is an argument.
    varies: bool,
    /// What it was at the latest call.
    latest: Latest,
}

/// What a name was, to be compared; an object may be gone by now.
#[derive(PartialEq)]
enum Latest {
    Unknown,
    /// The bits of a number, or where an object is.
    At(u64),
}

/// What a body is called with.
#[derive(Default)]
pub(super) struct Call {
    /// Which names are arguments, and the values of the others: `Unbound` in place of a list that may be appended to.
    pub(super) roots: Vec<Value>,
    /// The names of those others.
    others: Vec<u32>,
    pub(super) args: Vec<Value>,
    /// The names of the arguments.
    slots: Vec<u32>,
    /// Whether these were others at the latest call.
    pub(super) is_new: bool,
    /// The lists that it may append to, and finds in no other way.
    pub(super) growing: Vec<Growing>,
}

/// What a body that is followed does to names.
pub(crate) struct Bindings {
    globals: Rc<Globals>,
    /// Names that it binds, and is not known to read before.
    own: Vec<u32>,
    /// Those among them that it has read before.
    pub(super) read: Vec<u32>,
    /// What it has bound or deleted.
    written: Vec<u32>,
    /// The names of the arguments.
    args: Vec<u32>,
    stand_ins: StandIns,
}

impl Names {
    /// Of the operations of a cell's code that are a piece of a step.
    pub(super) fn of(code: &Rc<Code>, stand: Stand) -> Names {
        let body = stand.ops;
        let (mut bound, mut exposed, mut is_opaque) =
            (Vec::new(), targets(code, stand.step), false);
        let mut varying: Vec<u32> = exposed.clone();
        varying.extend(code.ops[stand.step..body.start].iter().filter_map(bound_by));
        let mut read = |slot: u32, bound: &[u32]| {
            if !bound.contains(&slot) && !exposed.contains(&slot) {
                exposed.push(slot);
            }
        };
        for op in code.ops.get(body.clone()).unwrap_or_default() {
            match *op {
                Op::Global(slot) => read(slot, &bound),
                Op::SetGlobal(slot) | Op::DelGlobal(slot) if !bound.contains(&slot) => {
                    bound.push(slot);
                }
                Op::ImportStar => is_opaque = true,
                Op::MakeFunction { child, .. } => {
                    let child = &code.children[child as usize];
                    is_opaque |= binds(child);
                    each_read(child, &mut |slot| read(slot, &bound));
                }
                _ => {}
            }
        }
        let expose = |slot: u32| {
            let varies = bound.contains(&slot) || varying.contains(&slot);
            Exposed { slot, varies, latest: Latest::Unknown }
        };
        let exposed = RefCell::new(exposed.into_iter().map(expose).collect());
        let (globals, is_new) = (code.globals.clone(), Cell::new(false));
        let appended = only_appended(code, body);
        Names { globals, bound, exposed, appended, is_opaque, is_new }
    }

    /// Why a body with these names cannot be left out.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        self.is_opaque.then_some(
            "it makes a function that binds names of the session, or imports all names of a module",
        )
    }

    /// Takes down what the body is called with now. A name that is another number or tensor than it was is an argument from now on.
    pub(super) fn call(&self) -> Call {
        let slots = self.globals.slots.borrow();
        let mut exposed = self.exposed.borrow_mut();
        let mut call = Call::default();
        for name in exposed.iter_mut() {
            let value = &slots[name.slot as usize].value;
            let may_vary = is_argument(value);
            if !name.varies && may_vary {
                let latest = std::mem::replace(&mut name.latest, Latest::of(value));
                name.varies = latest != Latest::Unknown && latest != name.latest;
                self.is_new.set(self.is_new.get() || name.varies);
            }
            let is_appended = self.appended.contains(&name.slot);
            if let Some(list) = Growing::of(name.slot, value, &call.growing).filter(|_| is_appended)
            {
                call.growing.push(list);
                call.roots.push(Value::Unbound);
                call.others.push(name.slot);
            } else if name.varies && may_vary {
                call.slots.push(name.slot);
                call.args.push(value.clone());
            } else {
                call.roots.push(value.clone());
                call.others.push(name.slot);
            }
        }
        let slots = call.slots.iter().map(|it| Value::Int(*it as i64)).collect::<Vec<_>>();
        call.roots.insert(0, Value::tuple(slots));
        call.is_new = self.is_new.take();
        call
    }

    pub(super) fn name_of(&self, slot: u32) -> String {
        self.globals.slots.borrow()[slot as usize].name.to_string()
    }

    /// The names of the tensors among the arguments, in order.
    pub(super) fn of_tensors(&self) -> Vec<String> {
        let (slots, exposed) = (self.globals.slots.borrow(), self.exposed.borrow());
        let named = exposed.iter().filter(|it| it.varies).map(|it| &slots[it.slot as usize]);
        let is_passed = |value: &Value| value.as_tensor().is_some() && is_argument(value);
        named.filter(|it| is_passed(&it.value)).map(|it| it.name.to_string()).collect()
    }

    /// What a body that is called so does to names, to be noted while it is followed.
    pub(super) fn follow(&self, call: &Call) -> Bindings {
        let exposed = self.exposed.borrow();
        let is_own = |slot: &&u32| !exposed.iter().any(|it| it.slot == **slot);
        let own = self.bound.iter().filter(is_own).copied().collect();
        let (globals, read, written) = (self.globals.clone(), Vec::new(), Vec::new());
        let stand_ins = StandIns::of(&call.growing);
        Bindings { globals, own, read, written, args: call.slots.clone(), stand_ins }
    }

    /// Takes in names that a body has read before it has bound them.
    pub(super) fn learn(&self, read: &[u32]) {
        let mut exposed = self.exposed.borrow_mut();
        for slot in read.iter().filter(|slot| self.bound.contains(slot)) {
            exposed.push(Exposed { slot: *slot, varies: true, latest: Latest::Unknown });
            self.is_new.set(true);
        }
    }

    /// Binds what a body has given: names by their slots, their values, and what is appended to lists.
    pub(super) fn bind(&self, given: &Value, call: &Call) -> Result<(), Raised> {
        let Value::Tuple(given) = given else { return Ok(()) };
        let Some((Value::Tuple(slots), values)) = given.split_first() else { return Ok(()) };
        let appended = values.get(slots.len()..).unwrap_or_default();
        call.growing.iter().zip(appended).try_for_each(|(list, it)| list.grow(it))?;
        for (slot, value) in slots.iter().zip(values) {
            if let Some(slot) = slot.as_int() {
                put(&self.globals, slot as u32, value.clone());
            }
        }
        Ok(())
    }

    /// What a body has given that was run in place of a graph which gives `foreseen`, in the same form; `lengths` are those of the lists
    /// before it.
    pub(super) fn given(
        &self,
        foreseen: &Value,
        call: &Call,
        lengths: &[usize],
        leaving: Leaving,
    ) -> Value {
        let Value::Tuple(foreseen) = foreseen else { return Value::None };
        let Some(Value::Tuple(names)) = foreseen.first() else { return Value::None };
        let slots = self.globals.slots.borrow();
        let value =
            |it: &Value| it.as_int().map_or(Value::None, |it| slots[it as usize].value.clone());
        let mut given = vec![foreseen[0].clone()];
        given.extend(names.iter().map(value));
        given.extend(call.growing.iter().zip(lengths).map(|(list, first)| list.items_from(*first)));
        given.push(Value::Int(leaving as i64));
        Value::tuple(given)
    }
}

impl Call {
    pub(super) fn as_args(&self) -> CallArgs<'_> {
        CallArgs { positional: &self.args, keywords: &[] }
    }

    /// The first name that is bound to something whose state cannot be seen.
    pub(super) fn unseen(&self) -> Option<u32> {
        let mut named = self.others.iter().zip(&self.roots[1..]);
        named.find(|it| World::of(std::slice::from_ref(it.1)).is_err()).map(|it| *it.0)
    }

    /// What is asked; an error as that of [`Asked::new`].
    pub(super) fn asked(&self) -> Result<Asked<'static>, Raised> {
        let apart = self.growing.iter().map(Growing::value).collect();
        Ok(Asked::new(self.roots.clone(), self.as_args())?.without(apart).kept())
    }
}

impl Latest {
    fn of(value: &Value) -> Latest {
        match value {
            Value::Int(it) => Latest::At(*it as u64),
            Value::Float(it) => Latest::At(it.to_bits()),
            other => Latest::At(other.address().unwrap_or_default() as u64),
        }
    }
}

impl Bindings {
    /// Operation `op` of this code is about to run.
    pub(super) fn note(&mut self, code: &Code, op: Op) {
        match op {
            Op::Global(slot) if self.is_own(code, slot) && !self.knows(slot) => {
                self.read.push(slot)
            }
            Op::SetGlobal(slot) | Op::DelGlobal(slot)
                if Rc::ptr_eq(&code.globals, &self.globals) && !self.written.contains(&slot) =>
            {
                self.written.push(slot);
            }
            _ => {}
        }
    }

    /// Whether it has read or written a name already.
    fn knows(&self, slot: u32) -> bool {
        self.read.contains(&slot) || self.written.contains(&slot)
    }

    fn is_own(&self, code: &Code, slot: u32) -> bool {
        self.own.contains(&slot) && Rc::ptr_eq(&code.globals, &self.globals)
    }

    /// What the body has given: the names that it has bound, their values, what it has appended to lists, and what it leaves.
    pub(super) fn given(&self, leaving: Leaving) -> Value {
        let names = self.written.iter().map(|it| Value::Int(*it as i64)).collect::<Vec<_>>();
        let mut given = vec![Value::tuple(names)];
        let slots = self.globals.slots.borrow();
        given.extend(self.written.iter().map(|it| slots[*it as usize].value.clone()));
        given.extend(self.stand_ins.values());
        given.push(Value::Int(leaving as i64));
        Value::tuple(given)
    }

    /// The body begins: binds arguments to these values in place of theirs, and names of lists to what stands in for them.
    pub(super) fn enter(&self, args: &[Value]) {
        self.stand_ins.enter(&self.globals);
        self.args.iter().zip(args).for_each(|(slot, it)| put(&self.globals, *slot, it.clone()));
    }

    /// The values of the names that it may have bound, and of the arguments, and what it has appended.
    pub(super) fn values(&self) -> Vec<Value> {
        let slots = self.globals.slots.borrow();
        let named = self.slots().map(|it| slots[it as usize].value.clone());
        named.chain(self.stand_ins.values()).collect()
    }

    /// Whether it comes by a list that it appends to in another way.
    pub(super) fn are_in(&self, world: &World) -> bool {
        self.stand_ins.are_in(world)
    }

    /// Lets lists have what it has appended to them so far; from here on it appends to them.
    pub(super) fn release(&mut self, stack: &mut [Value]) -> Result<(), Raised> {
        self.stand_ins.release(&self.globals, stack)
    }

    /// Binds names to plain numbers that are bound to tracked ones.
    pub(super) fn make_plain(&self) {
        for slot in self.slots() {
            let plain = bare(&self.globals.slots.borrow()[slot as usize].value);
            if let Some(plain) = plain {
                put(&self.globals, slot, plain);
            }
        }
    }

    fn slots(&self) -> impl Iterator<Item = u32> {
        self.written.iter().chain(&self.args).copied()
    }
}

/// What a body leaves when it has come to its end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Leaving {
    /// Only itself: what stands behind it is next.
    Itself,
    /// The round of its loop, by `continue`.
    Round,
    /// Its loop, by `break`.
    Loop,
}

/// What the body has left that has given this.
pub(super) fn leaving(given: &Value) -> Leaving {
    let Value::Tuple(given) = given else { return Leaving::Itself };
    let is = |it: Leaving| given.last().and_then(Value::as_int) == Some(it as i64);
    [Leaving::Round, Leaving::Loop].into_iter().find(|it| is(*it)).unwrap_or(Leaving::Itself)
}

pub(super) fn put(globals: &Globals, slot: u32, value: Value) {
    let mut slots = globals.slots.borrow_mut();
    let old = std::mem::replace(&mut slots[slot as usize].value, value);
    drop(slots);
    drop(old);
}

/// Whether a value can be an argument: a number, or a tensor without a gradient to lose.
fn is_argument(value: &Value) -> bool {
    match value {
        Value::Tensor(it) => !has_history(it) && it.grad().is_none(),
        other => kind_of(other).is_some(),
    }
}

/// The names that a round assigns before the body that begins at this operation: by `for`, and by what takes parts of what is there.
fn targets(code: &Code, body: usize) -> Vec<u32> {
    let round = code.ops[..body].iter().rev().take_while(|it| {
        !matches!(
            it,
            Op::ForIter(_)
                | Op::JumpIfFalse(_)
                | Op::JumpIfTrue(_)
                | Op::CompareJump(..)
                | Op::LeaveStep(..)
        )
    });
    let mut targets: Vec<u32> = round.filter_map(bound_by).collect();
    targets.reverse();
    targets
}

/// The name that an operation binds.
fn bound_by(op: &Op) -> Option<u32> {
    match *op {
        Op::SetGlobal(slot) => Some(slot),
        _ => None,
    }
}

/// Whether code, or a function in it, binds global names.
fn binds(code: &Code) -> bool {
    let sets = |it: &Op| matches!(it, Op::SetGlobal(_) | Op::DelGlobal(_));
    code.ops.iter().any(sets) || code.children.iter().any(|it| binds(it))
}

pub(super) fn each_read(code: &Code, visit: &mut dyn FnMut(u32)) {
    for op in &code.ops {
        if let Op::Global(slot) = *op {
            visit(slot);
        }
    }
    code.children.iter().for_each(|it| each_read(it, visit));
}
