//! The global names that a function speaks of: those whose values it finds, and those that it only asks for their lengths.

use std::rc::Rc;

use super::chosen::{is_len, length, targets};
use crate::bytecode::{Code, Op};
use crate::objects::module::Globals;
use crate::value::Value;

/// Global names by their slots, of one function and those that it makes.
#[derive(Clone, Default)]
pub(super) struct Slots {
    /// What stands there is found.
    found: Box<[u32]>,
    counted: Box<[Counted]>,
}

/// A name that is read in `len(name)` and nowhere else.
#[derive(Clone)]
struct Counted {
    slot: u32,
    /// That of the name `len`.
    len: u32,
}

/// What a slot shows.
pub(super) enum Shown<'a> {
    Value(&'a Value),
    /// How many items it has, and of which kind it is; nobody finds these.
    Length(i64),
}

/// The global names that a body is called with or binds: what functions read there is not found by them.
#[derive(Clone)]
pub(super) struct Beside {
    pub(super) globals: Rc<Globals>,
    pub(super) slots: Rc<[u32]>,
}

impl Slots {
    /// Those of a function; none of code that comes with the language, or of what is no function.
    pub(super) fn of(object: &Value, beside: Option<&Beside>) -> Slots {
        let Value::Func(func) = object else { return Slots::default() };
        if func.code.sites == 0 {
            return Slots::default();
        }
        let (mut found, mut counted) = (Vec::new(), Vec::new());
        add(&func.code, &mut found, &mut counted);
        let beside = beside.filter(|it| Rc::ptr_eq(&it.globals, &func.code.globals));
        let is_beside = |slot: &u32| beside.is_some_and(|it| it.slots.contains(slot));
        found.sort_unstable();
        found.dedup();
        counted.retain(|it| found.binary_search(&it.slot).is_err() && !is_beside(&it.slot));
        counted.sort_unstable_by_key(|it| it.slot);
        counted.dedup_by_key(|it| it.slot);
        found.retain(|it| !is_beside(it));
        Slots { found: found.into(), counted: counted.into() }
    }

    pub(super) fn found(&self) -> &[u32] {
        &self.found
    }

    /// Whether there are lengths among them.
    pub(super) fn has_lengths(&self) -> bool {
        !self.counted.is_empty()
    }

    /// Shows what stands in each.
    pub(super) fn show(&self, globals: &Globals, visit: &mut impl FnMut(Shown<'_>)) {
        let slots = globals.slots.borrow();
        self.found.iter().for_each(|&it| visit(Shown::Value(&slots[it as usize].value)));
        for it in &self.counted {
            let value = &slots[it.slot as usize].value;
            let length = counts(&slots[it.len as usize].value, &slots[it.len as usize].builtin)
                .then(|| length_of(value))
                .flatten();
            visit(length.map_or(Shown::Value(value), Shown::Length));
        }
    }

    /// Whether the length of this object is among what they show.
    pub(super) fn count(&self, globals: &Globals, object: &Value) -> bool {
        let slots = globals.slots.borrow();
        self.counted.iter().any(|it| slots[it.slot as usize].value.is(object))
    }
}

/// Whether a name that is bound to `value`, or to a builtin, is that of the function `len`.
fn counts(value: &Value, builtin: &Value) -> bool {
    is_len(if matches!(value, Value::Unbound) { builtin } else { value })
}

/// The length and the kind of what has one that its class does not say.
fn length_of(value: &Value) -> Option<i64> {
    let kind = match value {
        Value::List(_) => 0,
        Value::Tuple(_) => 1,
        _ => 2,
    };
    Some(length(value)? as i64 * 4 + kind)
}

fn add(code: &Code, found: &mut Vec<u32>, counted: &mut Vec<Counted>) {
    let targets = targets(code);
    // Where the argument and the call are only come by behind the name of the function.
    let len_before =
        |at: usize| match (at.checked_sub(1).map(|it| code.ops[it]), code.ops.get(at + 1)) {
            (Some(Op::Global(len)), Some(Op::Call(1))) => {
                let is_len = code.globals.slots.borrow()[len as usize].name.as_str() == "len";
                let is_aimed_at = targets.iter().any(|it| *it == at || *it == at + 1);
                (is_len && !is_aimed_at).then_some(len)
            }
            _ => None,
        };
    for (at, op) in code.ops.iter().enumerate() {
        match *op {
            Op::Global(slot) => match len_before(at) {
                Some(len) => counted.push(Counted { slot, len }),
                None => found.push(slot),
            },
            Op::SetGlobal(slot) | Op::DelGlobal(slot) => found.push(slot),
            _ => {}
        }
    }
    code.children.iter().for_each(|it| add(it, found, counted));
}
