//! The names of a body that is part of a cell or function: what it reads is what it is called with, what it binds is what it gives.
//!
//! Which names a body reads before it binds them depends on the way that it takes. It is guessed from the order of its operations, and
//! corrected by bodies that are followed ([`Bindings`]): on the way that a graph runs, the names are known that decide it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::asked::{Asked, has_history};
use super::growing::{Growing, StandIns, only_appended};
use super::home::{Home, Name, Use, use_of, uses};
use super::numbers::{bare, kind_of};
use super::pack::Pack;
use super::piece::Stand;
use super::world::World;
use crate::bytecode::{Capture, Code, Op};
use crate::error::Raised;
use crate::native::CallArgs;
use crate::value::Value;

/// The names of one body.
pub(super) struct Names {
    code: Rc<Code>,
    /// Those that it binds or deletes.
    bound: Vec<Name>,
    /// Those that it reads before that, in order.
    exposed: RefCell<Vec<Exposed>>,
    /// Those that it reads only to append to what they are bound to.
    appended: Vec<Name>,
    /// Why it may bind others, too.
    opaque: Option<&'static str>,
    /// Whether there are other names among these than at the latest call.
    is_new: Cell<bool>,
}

/// A name that is read before it is bound.
struct Exposed {
    name: Name,
    /// Whether it may be another value in each call: then that is an argument.
    varies: bool,
    /// What stands behind its name for each tensor that it gave as an argument at the latest call: nothing, or its place in a container.
    shown: Vec<String>,
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
    others: Vec<Name>,
    pub(super) args: Vec<Value>,
    /// The names of the arguments; none of those that a container holds.
    named: Vec<Option<Name>>,
    packs: Vec<Pack>,
    /// Whether these were others at the latest call.
    pub(super) is_new: bool,
    /// The lists that it may append to, and finds in no other way.
    pub(super) growing: Vec<Growing>,
    home: Option<Home>,
}

/// What a body that is followed does to names.
pub(crate) struct Bindings {
    home: Home,
    /// Names that it binds, and is not known to read before.
    own: Vec<Name>,
    /// Those among them that it has read before.
    pub(super) read: Vec<Name>,
    /// What it has bound or deleted.
    written: Vec<Name>,
    /// The names of the arguments.
    args: Vec<Option<Name>>,
    /// Containers of arguments.
    containers: Vec<Value>,
    /// The operation of the body's own code that has begun last.
    latest: Option<usize>,
    stand_ins: StandIns,
}

impl Names {
    /// Of the operations of a code that are a piece of a step.
    pub(super) fn of(code: &Rc<Code>, stand: Stand) -> Names {
        let body = stand.ops;
        let (mut bound, mut inner) = (Vec::new(), Vec::new());
        let uses = uses(code, body.clone());
        let mut exposed = targets(code, stand.step);
        let mut varying = exposed.clone();
        exposed.retain(|it| uses.contains(&Use::Read(*it)));
        let before = code.ops[stand.step..body.start].iter();
        varying.extend(before.filter_map(|op| bound_by(code, op)));
        for it in uses {
            match it {
                Use::Read(name) => {
                    if ![&bound, &inner, &exposed].iter().any(|it| it.contains(&name)) {
                        exposed.push(name);
                    }
                }
                Use::Bind(name) | Use::Delete(name) if !bound.contains(&name) => bound.push(name),
                Use::Inner(name) => inner.push(name),
                Use::Bind(_) | Use::Delete(_) => {}
            }
        }
        // A function that is made here may read its cells on any way.
        let cells = bound.iter().filter(|it| matches!(it, Name::Cell(_)));
        let cells: Vec<Name> = cells.filter(|it| !exposed.contains(it)).copied().collect();
        exposed.extend(cells);
        let expose = |name: Name| {
            let varies = bound.contains(&name) || varying.contains(&name);
            Exposed::new(name, varies)
        };
        let exposed = RefCell::new(exposed.into_iter().map(expose).collect());
        let opaque = opaque(code, body.clone(), &bound);
        let (code, appended, is_new) = (code.clone(), only_appended(code, body), Cell::new(false));
        Names { code, bound, exposed, appended, opaque, is_new }
    }

    /// Why a body with these names cannot be left out.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        self.opaque
    }

    /// Takes down what the body is called with now. A name that is another number or tensor than it was is an argument from now on.
    pub(super) fn call(&self, stack: &[Value], home: Home) -> Call {
        let mut exposed = self.exposed.borrow_mut();
        let (mut call, mut forms) = (Call::default(), Vec::new());
        for name in exposed.iter_mut() {
            let value = &home.get(stack, name.name);
            let may_vary = is_argument(value);
            if !name.varies && may_vary {
                let latest = std::mem::replace(&mut name.latest, Latest::of(value));
                name.varies = latest != Latest::Unknown && latest != name.latest;
                self.is_new.set(self.is_new.get() || name.varies);
            }
            let is_appended = self.appended.contains(&name.name);
            if let Some(list) = Growing::of(name.name, value, &call.growing).filter(|_| is_appended)
            {
                call.growing.push(list);
                call.roots.push(Value::Unbound);
                call.others.push(name.name);
            } else if name.varies && may_vary {
                name.shows(usize::from(value.as_tensor().is_some()), || vec![String::new()]);
                call.named.push(Some(name.name));
                call.args.push(value.clone());
                forms.push(name.name.as_value());
            } else if let Some(pack) = name.varies.then(|| Pack::of(value, is_argument)).flatten() {
                name.shows(pack.tensors.len(), || pack.places());
                call.named.extend(pack.tensors.iter().map(|_| None));
                call.args.extend_from_slice(&pack.tensors);
                forms.push(Value::tuple([name.name.as_value(), pack.form()]));
                call.packs.push(pack);
            } else {
                call.roots.push(value.clone());
                call.others.push(name.name);
            }
        }
        call.roots.insert(0, Value::tuple(forms));
        call.is_new = self.is_new.take();
        call.home = Some(home);
        call
    }

    pub(super) fn written(&self, name: Name) -> String {
        name.written(&self.code)
    }

    /// The names of the tensors among the arguments, in order.
    pub(super) fn of_tensors(&self) -> Vec<String> {
        let exposed = self.exposed.borrow();
        let mut shown = Vec::new();
        for it in exposed.iter().filter(|it| it.varies) {
            shown.extend(it.shown.iter().map(|place| self.written(it.name) + place));
        }
        shown
    }

    /// What a body that is called so does to names, to be noted while it is followed.
    pub(super) fn follow(&self, call: &Call) -> Option<Bindings> {
        let exposed = self.exposed.borrow();
        let is_own = |name: &&Name| !exposed.iter().any(|it| it.name == **name);
        let own = self.bound.iter().filter(is_own).copied().collect();
        let (home, read, written) = (call.home.clone()?, Vec::new(), Vec::new());
        let (stand_ins, args) = (StandIns::of(&call.growing), call.named.clone());
        let containers = call.packs.iter().map(|it| it.container.clone()).collect();
        let latest = None;
        Some(Bindings { home, own, read, written, args, containers, latest, stand_ins })
    }

    /// Takes in names that a body has read before it has bound them.
    pub(super) fn learn(&self, read: &[Name]) {
        let mut exposed = self.exposed.borrow_mut();
        for name in read.iter().filter(|it| self.bound.contains(it)) {
            exposed.push(Exposed::new(*name, true));
            self.is_new.set(true);
        }
    }

    /// Binds what a body has given: names, their values, and what is appended to lists.
    pub(super) fn bind(
        &self,
        stack: &mut [Value],
        given: &Value,
        call: &Call,
    ) -> Result<(), Raised> {
        let (Value::Tuple(given), Some(home)) = (given, &call.home) else { return Ok(()) };
        let Some((Value::Tuple(names), values)) = given.split_first() else { return Ok(()) };
        let appended = values.get(names.len()..).unwrap_or_default();
        call.growing.iter().zip(appended).try_for_each(|(list, it)| list.grow(it))?;
        for (name, value) in names.iter().zip(values) {
            if let Some(name) = Name::of_value(name) {
                home.put(stack, name, value.clone());
            }
        }
        Ok(())
    }

    /// What a body has given that was run in place of a graph which gives `foreseen`, in the same form; `lengths` are those of the lists
    /// before it.
    pub(super) fn given(
        &self,
        stack: &[Value],
        foreseen: &Value,
        call: &Call,
        (lengths, leaving): (&[usize], Leaving),
    ) -> Value {
        let (Value::Tuple(foreseen), Some(home)) = (foreseen, &call.home) else {
            return Value::None;
        };
        let Some(Value::Tuple(names)) = foreseen.first() else { return Value::None };
        let value = |it: &Value| Name::of_value(it).map_or(Value::None, |it| home.get(stack, it));
        let mut given = vec![foreseen[0].clone()];
        given.extend(names.iter().map(value));
        given.extend(call.growing.iter().zip(lengths).map(|(list, first)| list.items_from(*first)));
        given.push(Value::Int(leaving as i64));
        Value::tuple(given)
    }
}

impl Exposed {
    fn new(name: Name, varies: bool) -> Exposed {
        Exposed { name, varies, shown: Vec::new(), latest: Latest::Unknown }
    }

    /// Notes how the tensors are shown that it gives.
    fn shows(&mut self, count: usize, words: impl FnOnce() -> Vec<String>) {
        if self.shown.len() != count {
            self.shown = words();
        }
    }
}

impl Call {
    pub(super) fn as_args(&self) -> CallArgs<'_> {
        CallArgs { positional: &self.args, keywords: &[] }
    }

    /// The first name that is bound to something whose state cannot be seen.
    pub(super) fn unseen(&self) -> Option<Name> {
        let mut named = self.others.iter().zip(&self.roots[1..]);
        named.find(|it| World::of(std::slice::from_ref(it.1)).is_err()).map(|it| *it.0)
    }

    /// What is asked; an error as that of [`Asked::new`].
    pub(super) fn asked(&self) -> Result<Asked<'static>, Raised> {
        let apart = self.growing.iter().map(Growing::value).collect();
        let asked = Asked::new(self.roots.clone(), self.as_args())?.without(apart);
        Ok(asked.in_packs(self.packs.clone()).kept())
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
    /// Operation `at` of this code is about to run, in the frame of the body (`is_home`) or in another one.
    pub(super) fn note(&mut self, code: &Code, at: usize, is_home: bool) {
        let (op, is_home) = (code.ops[at], is_home && self.home.has(code));
        if is_home {
            self.note_stores(code, at);
            self.latest = Some(at);
        }
        let joined = op.joined_local().map(|it| Use::Read(Name::Local(u32::from(it))));
        for it in [use_of(op.unjoined()), joined].into_iter().flatten() {
            self.note_use(code, it, is_home);
        }
    }

    /// Notes what the operation before this one has stored itself, in place of those that stand behind it.
    fn note_stores(&mut self, code: &Code, at: usize) {
        let Some(first) = self.latest.map(|it| it + 1).filter(|it| *it < at) else { return };
        let between = &code.ops[first..at];
        let n_stores = between.iter().rev().take_while(|it| matches!(it, Op::SetLocal(_))).count();
        let mut before = code.ops[first - 1];
        let is_jump = before.target_mut().is_some() && !matches!(before, Op::ForIter(_));
        // A joined operation stands for up to two behind it.
        if is_jump || between.len() - n_stores > 2 {
            return;
        }
        for op in &between[between.len() - n_stores..] {
            if let Op::SetLocal(slot) = *op {
                self.note_use(code, Use::Bind(Name::Local(slot)), true);
            }
        }
    }

    fn note_use(&mut self, code: &Code, it: Use, is_home: bool) {
        let (Use::Read(name) | Use::Bind(name) | Use::Delete(name) | Use::Inner(name)) = it;
        let is_ours = match name {
            Name::Global(_) => Rc::ptr_eq(&code.globals, self.home.globals()),
            _ => is_home,
        };
        if !is_ours || it.is_hidden(code) {
            return;
        }
        match it {
            Use::Read(name) if self.own.contains(&name) && !self.knows(name) => {
                self.read.push(name);
            }
            Use::Bind(name) | Use::Delete(name) if !self.written.contains(&name) => {
                self.written.push(name);
            }
            _ => {}
        }
    }

    /// Whether it has read or written a name already.
    fn knows(&self, name: Name) -> bool {
        self.read.contains(&name) || self.written.contains(&name)
    }

    /// What the body has given: the names that it has bound, their values, what it has appended to lists, and what it leaves.
    pub(super) fn given(&self, stack: &[Value], leaving: Leaving) -> Value {
        let mut given = vec![as_values(&self.written)];
        given.extend(self.written.iter().map(|it| self.home.get(stack, *it)));
        given.extend(self.stand_ins.values());
        given.push(Value::Int(leaving as i64));
        Value::tuple(given)
    }

    /// The body begins: binds arguments to these values in place of theirs, and names of lists to what stands in for them.
    pub(super) fn enter(&self, stack: &mut [Value], args: &[Value]) {
        self.stand_ins.enter(&self.home, stack);
        for (name, it) in self.args.iter().zip(args) {
            if let Some(name) = name {
                self.home.put(stack, *name, it.clone());
            }
        }
    }

    /// The values of the names that it may have bound, and of the arguments, what holds these, and what it has appended.
    pub(super) fn values(&self, stack: &[Value]) -> Vec<Value> {
        let named = self.names().map(|it| self.home.get(stack, it));
        named.chain(self.containers.iter().cloned()).chain(self.stand_ins.values()).collect()
    }

    /// Whether it comes by a list that it appends to in another way.
    pub(super) fn are_in(&self, world: &World) -> bool {
        self.stand_ins.are_in(world)
    }

    /// Lets lists have what it has appended to them so far; from here on it appends to them.
    pub(super) fn release(&mut self, stack: &mut [Value]) -> Result<(), Raised> {
        self.stand_ins.release(&self.home, stack)
    }

    /// Binds names to plain numbers that are bound to tracked ones.
    pub(super) fn make_plain(&self, stack: &mut [Value]) {
        for name in self.names() {
            if let Some(plain) = bare(&self.home.get(stack, name)) {
                self.home.put(stack, name, plain);
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = Name> {
        self.written.iter().chain(self.args.iter().flatten()).copied()
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

/// Whether a value can be an argument: a number, or a tensor without a gradient to lose.
fn is_argument(value: &Value) -> bool {
    match value {
        Value::Tensor(it) => !has_history(it) && it.grad().is_none(),
        other => kind_of(other).is_some(),
    }
}

/// The names that a round assigns before the body that begins at this operation: by `for`, and by what takes parts of what is there.
fn targets(code: &Code, body: usize) -> Vec<Name> {
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
    let mut targets: Vec<Name> = round.filter_map(|op| bound_by(code, op)).collect();
    targets.reverse();
    targets
}

/// The name that an operation binds.
fn bound_by(code: &Code, op: &Op) -> Option<Name> {
    match use_of(*op).filter(|it| !it.is_hidden(code))? {
        Use::Bind(name) => Some(name),
        _ => None,
    }
}

/// Why operations may bind names that are not among those which they are known to bind.
fn opaque(code: &Code, body: Range<usize>, bound: &[Name]) -> Option<&'static str> {
    if bound.iter().any(|it| matches!(it, Name::Free(_))) {
        return Some("it binds a variable of a function around it");
    }
    let is_opaque = |op: &Op| match *op {
        Op::ImportStar => true,
        Op::MakeFunction { child, .. } => {
            let child = &code.children[child as usize];
            binds_globals(child) || !binds_outside(child).is_empty()
        }
        _ => false,
    };
    let words =
        "it makes a function that binds names outside of it, or imports all names of a module";
    code.ops[body].iter().any(is_opaque).then_some(words)
}

/// Whether code, or a function in it, binds global names.
fn binds_globals(code: &Code) -> bool {
    let sets = |it: &Op| matches!(it, Op::SetGlobal(_) | Op::DelGlobal(_));
    code.ops.iter().any(sets) || code.children.iter().any(|it| binds_globals(it))
}

/// The variables from outside that a function binds, or one that it makes.
fn binds_outside(code: &Code) -> Vec<u32> {
    let own = code.ops.iter().filter_map(|it| match *it {
        Op::SetFree(slot) | Op::DelFree(slot) => Some(slot),
        _ => None,
    });
    let mut bound: Vec<u32> = own.collect();
    for child in &code.children {
        let handed_on = binds_outside(child).into_iter();
        bound.extend(handed_on.filter_map(|it| match child.captures[it as usize] {
            Capture::Free(slot) => Some(slot),
            Capture::Local(_) => None,
        }));
    }
    bound
}

/// Names as a value of the world.
fn as_values(names: &[Name]) -> Value {
    Value::tuple(names.iter().map(|it| it.as_value()).collect::<Vec<_>>())
}
