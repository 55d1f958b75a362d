//! The names of a body that is part of a cell or function: what it reads is what it is called with, what it binds is what it gives.
//!
//! Which names a body reads before it binds them depends on the way that it takes. It is guessed from the order of its operations, and
//! corrected by bodies that are followed ([`Bindings`]): on the way that a graph runs, the names are known that decide it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::asked::{Asked, has_history};
use super::bindings::{Arguments, Bindings};
use super::chosen::{Choice, Choices, Chosen};
use super::growing::{Growing, StandIns, only_appended};
use super::home::{Home, Name, Use, use_of, uses};
use super::numbers::kind_of;
use super::pack::Pack;
use super::piece::Stand;
use super::slots::Beside;
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
    /// Where it takes items out of containers that it does not look at otherwise. The names there are not among those that it reads.
    choices: RefCell<Vec<Choice>>,
    /// Names that a round assigns before it.
    varying: Vec<Name>,
    /// The global names among those that it binds and those: a function that reads one finds what the body is called with, or has bound.
    loose: Rc<[u32]>,
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
    sources: Vec<Source>,
    packs: Vec<Pack>,
    /// What stands where it takes items.
    chosen: Vec<Chosen>,
    /// Whether these were others at the latest call.
    pub(super) is_new: bool,
    /// The lists that it may append to, and finds in no other way.
    pub(super) growing: Vec<Growing>,
    /// Names that it is called with or binds, which functions do not find.
    beside: Option<Beside>,
    home: Option<Home>,
}

/// Where an argument comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Name(Name),
    /// An item that the body takes there.
    Chosen(usize),
    /// A container holds it.
    Container,
}

impl Names {
    /// Of the operations of a code that are a piece of a step.
    pub(super) fn of(code: &Rc<Code>, stand: Stand) -> Names {
        let body = stand.ops;
        let (mut bound, mut inner) = (Vec::new(), Vec::new());
        let mut choices = Choice::all(code, body.clone());
        let beside = uses_beside(code, body.clone(), &choices);
        choices.retain(|it| !it.has_length_of_one_in(&beside));
        let uses = uses_beside(code, body.clone(), &choices);
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
        // Lists that grow, and what items are taken out of, are told by what else finds them.
        let told = choices.iter().flat_map(Choice::names).chain(appended.iter().copied());
        let told: Vec<Name> = told.collect();
        let loose = bound.iter().chain(&varying).filter(|it| !told.contains(it));
        let loose = loose.filter_map(|it| match it {
            Name::Global(slot) => Some(*slot),
            Name::Local(_) | Name::Cell(_) | Name::Free(_) => None,
        });
        let loose = loose.collect();
        let choices = RefCell::new(choices);
        Names { code, bound, exposed, appended, choices, varying, loose, opaque, is_new }
    }

    /// Why a body with these names cannot be left out.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        self.opaque
    }

    /// Takes down what the body is called with now. A name that is another number or tensor than it was is an argument from now on.
    pub(super) fn call(&self, stack: &[Value], home: Home) -> Call {
        let chosen = self.choose(stack, &home);
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
                call.sources.push(Source::Name(name.name));
                call.args.push(value.clone());
                forms.push(name.name.as_value());
            } else if let Some(pack) = name.varies.then(|| Pack::of(value, is_argument)).flatten() {
                name.shows(pack.tensors.len(), || pack.places());
                forms.push(Value::tuple([name.name.as_value(), pack.form()]));
                call.add_pack(pack);
            } else {
                call.roots.push(value.clone());
                call.others.push(name.name);
            }
        }
        chosen.into_iter().for_each(|it| call.add_chosen(it, &mut forms));
        call.roots.insert(0, Value::tuple(forms));
        call.is_new = self.is_new.take();
        call.beside = Some(Beside { globals: home.globals().clone(), slots: self.loose.clone() });
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
        let choices = self.choices.borrow();
        shown.extend(choices.iter().flat_map(|it| it.shown(&self.code)));
        shown
    }

    /// What a body that is called so does to names, to be noted while it is followed.
    pub(super) fn follow(&self, call: &Call) -> Option<Bindings> {
        let exposed = self.exposed.borrow();
        let is_own = |name: &&Name| !exposed.iter().any(|it| it.name == **name);
        let loose = self.loose.iter().map(|it| Name::Global(*it));
        let mut own: Vec<Name> = self.bound.iter().copied().chain(loose).collect();
        own.retain(|it| is_own(&it));
        let choices = Choices::of(&self.choices.borrow(), &call.chosen);
        let containers = call.packs.iter().map(|it| it.container.clone()).collect();
        let arguments = Arguments { sources: call.sources.clone(), choices, containers };
        Some(Bindings::new(call.home.clone()?, own, arguments, StandIns::of(&call.growing)))
    }

    /// The items that the body takes, at places where they can be arguments; those are given up where they cannot.
    fn choose(&self, stack: &[Value], home: &Home) -> Vec<Chosen> {
        let now: Vec<Option<Chosen>> =
            self.choices.borrow().iter().map(|it| it.now(stack, home)).collect();
        if now.iter().any(Option::is_none) {
            let mut is_one = now.iter().map(Option::is_some);
            self.keep_choices(|| is_one.next() == Some(true));
        }
        now.into_iter().flatten().collect()
    }

    /// The body is not as it would have to be for items that it takes to be arguments, or at first for lengths.
    pub(super) fn choose_no_longer(&self) {
        let are_items: Vec<bool> =
            self.choices.borrow().iter().map(|it| !it.has_length()).collect();
        let has_lengths = are_items.contains(&false);
        let mut are_items = are_items.into_iter();
        self.keep_choices(|| has_lengths && are_items.next() == Some(true));
    }

    /// Keeps some of these places. What items are taken with elsewhere is read as any other name is.
    fn keep_choices(&self, mut is_kept: impl FnMut() -> bool) {
        let (kept, gone): (Vec<_>, Vec<_>) =
            self.choices.take().into_iter().partition(|_| is_kept());
        self.choices.replace(kept);
        let mut exposed = self.exposed.borrow_mut();
        for name in gone.iter().flat_map(Choice::names) {
            if !exposed.iter().any(|it| it.name == name) {
                let varies = self.bound.contains(&name) || self.varying.contains(&name);
                exposed.push(Exposed::new(name, varies));
            }
        }
        self.is_new.set(true);
    }

    /// Takes in names that a body has read before it has bound them.
    pub(super) fn learn(&self, read: &[Name]) {
        let mut exposed = self.exposed.borrow_mut();
        let is_loose = |it: &Name| matches!(it, Name::Global(it) if self.loose.contains(it));
        for name in read.iter().filter(|it| self.bound.contains(it) || is_loose(it)) {
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
    fn add_pack(&mut self, pack: Pack) {
        self.sources.extend(pack.tensors.iter().map(|_| Source::Container));
        self.args.extend_from_slice(&pack.tensors);
        self.packs.push(pack);
    }

    fn add_chosen(&mut self, chosen: Chosen, forms: &mut Vec<Value>) {
        let at = self.chosen.len();
        match &chosen.pack {
            Some(pack) => {
                forms.push(pack.form());
                self.add_pack(pack.clone());
            }
            None => {
                forms.push(Value::None);
                self.sources.push(Source::Chosen(at));
                self.args.push(chosen.item.clone());
            }
        }
        self.chosen.push(chosen);
    }

    pub(super) fn as_args(&self) -> CallArgs<'_> {
        CallArgs { positional: &self.args, keywords: &[] }
    }

    /// The first name that is bound to something whose state cannot be seen.
    pub(super) fn unseen(&self) -> Option<Name> {
        let mut named = self.others.iter().zip(&self.roots[1..]);
        named.find(|it| World::of(std::slice::from_ref(it.1), None).is_err()).map(|it| *it.0)
    }

    /// What is asked; an error as that of [`Asked::new`].
    pub(super) fn asked(&self) -> Result<Asked<'static>, Raised> {
        let apart = self.growing.iter().map(Growing::value).collect();
        let chosen_from = self.chosen.iter().flat_map(|it| it.from.clone()).collect();
        let asked = Asked::new(self.roots.clone(), self.as_args())?.without(apart, chosen_from);
        Ok(asked.beside(self.beside.clone()).in_packs(self.packs.clone()).kept())
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

/// What operations do with names, apart from where items are chosen.
fn uses_beside(code: &Code, body: Range<usize>, choices: &[Choice]) -> Vec<Use> {
    let mut start = body.start;
    let mut found = Vec::new();
    for choice in choices {
        let ops = choice.ops();
        found.extend(uses(code, start..ops.start));
        start = ops.end;
    }
    found.extend(uses(code, start..body.end));
    found
}

/// Whether a value can be an argument: a number, or a tensor without a gradient to lose.
pub(super) fn is_argument(value: &Value) -> bool {
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
