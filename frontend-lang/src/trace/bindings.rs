//! What a body that is followed does to the names of its cell or function ([`super::names`]): it is called with arguments in places of names, and gives
//! what it binds.

use std::rc::Rc;

use super::chosen::{Choices, Rebound};
use super::growing::StandIns;
use super::home::{Home, Name, Use, use_of};
use super::names::{Leaving, Source};
use super::numbers::{bare, holds_tracked, plain_by};
use super::world::World;
use crate::bytecode::{Code, Op};
use crate::error::Raised;
use crate::value::Value;

/// What a body is called with.
pub(super) struct Arguments {
    /// Where each comes from.
    pub(super) sources: Vec<Source>,
    pub(super) choices: Choices,
    /// What holds some of them.
    pub(super) containers: Vec<Value>,
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
    arguments: Arguments,
    /// The operation of the body's own code that has begun last.
    latest: Option<usize>,
    stand_ins: StandIns,
}

impl Bindings {
    pub(super) fn new(
        home: Home,
        own: Vec<Name>,
        arguments: Arguments,
        stand_ins: StandIns,
    ) -> Self {
        let (read, written, latest) = Default::default();
        Self { home, own, read, written, arguments, latest, stand_ins }
    }

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
    pub(super) fn enter(&mut self, stack: &mut [Value], args: &[Value]) {
        self.stand_ins.enter(&self.home, stack);
        for (source, it) in self.arguments.sources.iter().zip(args) {
            match source {
                Source::Name(name) => self.home.put(stack, *name, it.clone()),
                Source::Chosen(at) => self.arguments.choices.gives(*at, it.clone()),
                Source::Container => {}
            }
        }
    }

    /// The item that the body takes where this operation of its code is the next one, and where it goes on then; an error if it has bound one of
    /// the names that say which one it is.
    pub(super) fn chosen(&self, code: &Code, at: usize) -> Option<Result<(Value, usize), Rebound>> {
        if !self.home.has(code) {
            return None;
        }
        self.arguments.choices.at(at, &self.written)
    }

    /// Whether some of its arguments stand in this container.
    pub(super) fn has_container(&self, object: &Value) -> bool {
        self.arguments.containers.iter().any(|it| it.is(object))
    }

    /// Whether it comes by a container of which it takes an item in another way.
    pub(super) fn finds_chosen(&self, world: &World) -> bool {
        self.arguments.choices.finds(world)
    }

    /// The values of the names that it may have bound, and of the arguments, what holds these, and what it has appended.
    pub(super) fn values(&self, stack: &[Value]) -> Vec<Value> {
        let named = self.names().map(|it| self.home.get(stack, it));
        named
            .chain(self.arguments.containers.iter().cloned())
            .chain(self.stand_ins.values())
            .collect()
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
            let value = self.home.get(stack, name);
            if holds_tracked(&value) {
                self.home.put(stack, name, plain_by(&value, &bare));
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = Name> {
        let of_args = self.arguments.sources.iter().filter_map(|it| match it {
            Source::Name(name) => Some(*name),
            Source::Chosen(_) | Source::Container => None,
        });
        self.written.iter().copied().chain(of_args)
    }
}

/// Names as a value of the world.
fn as_values(names: &[Name]) -> Value {
    Value::tuple(names.iter().map(|it| it.as_value()).collect::<Vec<_>>())
}
