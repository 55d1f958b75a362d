//! Where the names of a body live that is part of a cell or of a function: among the globals, and in the frame.

use std::ops::Range;
use std::rc::Rc;

use crate::bytecode::{Capture, Code, Op};
use crate::objects::function::Func;
use crate::objects::module::Globals;
use crate::value::Value;
use crate::vm::frame::Machine;

/// A name, as operations of one code speak of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Global(u32),
    /// In a slot of the frame.
    Local(u32),
    /// In a cell, which lies in a slot of the frame.
    Cell(u32),
    /// In a cell of a function around this one.
    Free(u32),
}

/// What an operation does with a name.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    Read(Name),
    Bind(Name),
    Delete(Name),
    /// Makes the cell that it lies in.
    Inner(Name),
}

/// The frame that a body runs in.
#[derive(Clone)]
pub(super) struct Home {
    func: Rc<Func>,
    /// Where the locals begin on the stack.
    base: usize,
}

impl Use {
    /// Whether it is about a slot that no name has.
    pub(super) fn is_hidden(self, code: &Code) -> bool {
        let (Use::Read(name) | Use::Bind(name) | Use::Delete(name) | Use::Inner(name)) = self;
        matches!(name, Name::Local(slot) if !code.is_named(slot))
    }
}

impl Name {
    /// As a number that a program cannot tell from others.
    pub(super) fn as_value(self) -> Value {
        let (kind, slot) = match self {
            Name::Global(slot) => (0, slot),
            Name::Local(slot) => (1, slot),
            Name::Cell(slot) => (2, slot),
            Name::Free(slot) => (3, slot),
        };
        Value::Int(kind << 32 | i64::from(slot))
    }

    /// The name that was made a number so.
    pub(super) fn of_value(value: &Value) -> Option<Name> {
        let number = value.as_int()?;
        let slot = number as u32;
        match number >> 32 {
            0 => Some(Name::Global(slot)),
            1 => Some(Name::Local(slot)),
            2 => Some(Name::Cell(slot)),
            3 => Some(Name::Free(slot)),
            _ => None,
        }
    }

    /// As programs write it.
    pub(super) fn written(self, code: &Code) -> String {
        match self {
            Name::Global(slot) => code.globals.slots.borrow()[slot as usize].name.to_string(),
            Name::Local(slot) | Name::Cell(slot) => code.locals[slot as usize].to_string(),
            Name::Free(slot) => code.free[slot as usize].to_string(),
        }
    }
}

/// What operations do with names, in order; a function that is made reads what it shares.
pub(super) fn uses(code: &Code, ops: Range<usize>) -> Vec<Use> {
    let mut found = Vec::new();
    for op in code.ops.get(ops).unwrap_or_default() {
        match *op {
            Op::MakeFunction { child, .. } => {
                let child = &code.children[child as usize];
                let shared = child.captures.iter().map(|it| match *it {
                    Capture::Local(slot) => Use::Read(Name::Cell(slot)),
                    Capture::Free(slot) => Use::Read(Name::Free(slot)),
                });
                found.extend(shared);
                each_global_read(child, &mut |slot| found.push(Use::Read(Name::Global(slot))));
            }
            op => found.extend(use_of(op.unjoined()).filter(|it| !it.is_hidden(code))),
        }
    }
    found
}

/// What one operation does with a name, apart from the slots that joined ones read.
pub(super) fn use_of(op: Op) -> Option<Use> {
    Some(match op {
        Op::Global(slot) => Use::Read(Name::Global(slot)),
        Op::SetGlobal(slot) => Use::Bind(Name::Global(slot)),
        Op::DelGlobal(slot) => Use::Delete(Name::Global(slot)),
        Op::Local(slot) => Use::Read(Name::Local(slot)),
        Op::SetLocal(slot) => Use::Bind(Name::Local(slot)),
        Op::DelLocal(slot) | Op::ClearLocal(slot) => Use::Delete(Name::Local(slot)),
        Op::MakeCell(slot) => Use::Inner(Name::Cell(slot)),
        Op::Cell(slot) => Use::Read(Name::Cell(slot)),
        Op::SetCell(slot) => Use::Bind(Name::Cell(slot)),
        Op::DelCell(slot) => Use::Delete(Name::Cell(slot)),
        Op::Free(slot) => Use::Read(Name::Free(slot)),
        Op::SetFree(slot) => Use::Bind(Name::Free(slot)),
        Op::DelFree(slot) => Use::Delete(Name::Free(slot)),
        _ => return None,
    })
}

/// The names that operations read.
pub(super) fn read_in(code: &Code, ops: Range<usize>) -> Vec<Name> {
    let read = |it: Use| if let Use::Read(name) = it { Some(name) } else { None };
    uses(code, ops).into_iter().filter_map(read).collect()
}

/// The globals that a function reads, and those that it makes.
fn each_global_read(code: &Code, visit: &mut dyn FnMut(u32)) {
    for op in &code.ops {
        if let Op::Global(slot) = *op {
            visit(slot);
        }
    }
    code.children.iter().for_each(|it| each_global_read(it, visit));
}

impl Home {
    /// The frame that runs.
    pub(super) fn of(machine: &Machine) -> Option<Home> {
        let frame = machine.frames.last()?;
        Some(Home { func: frame.func.clone(), base: frame.base })
    }

    pub(super) fn globals(&self) -> &Rc<Globals> {
        &self.func.code.globals
    }

    /// Whether these operations are those of its code.
    pub(super) fn has(&self, code: &Code) -> bool {
        std::ptr::eq(&*self.func.code, code)
    }

    /// What a name is bound to.
    pub(super) fn get(&self, stack: &[Value], name: Name) -> Value {
        match name {
            Name::Global(slot) => self.globals().slots.borrow()[slot as usize].value.clone(),
            Name::Local(slot) => stack[self.base + slot as usize].clone(),
            Name::Cell(slot) => match &stack[self.base + slot as usize] {
                Value::Cell(it) => it.borrow().clone(),
                other => other.clone(),
            },
            Name::Free(slot) => self.func.closure[slot as usize].borrow().clone(),
        }
    }

    /// The same, or what comes with the language by a global name that is not bound.
    pub(super) fn get_or_builtin(&self, stack: &[Value], name: Name) -> Value {
        match (self.get(stack, name), name) {
            (Value::Unbound, Name::Global(slot)) => {
                self.globals().slots.borrow()[slot as usize].builtin.clone()
            }
            (value, _) => value,
        }
    }

    /// Binds a name; `Unbound` deletes it.
    pub(super) fn put(&self, stack: &mut [Value], name: Name, value: Value) {
        let old = match name {
            Name::Global(slot) => {
                let mut slots = self.globals().slots.borrow_mut();
                std::mem::replace(&mut slots[slot as usize].value, value)
            }
            Name::Local(slot) => std::mem::replace(&mut stack[self.base + slot as usize], value),
            Name::Cell(slot) => match &mut stack[self.base + slot as usize] {
                Value::Cell(it) => it.assign(value),
                other => std::mem::replace(other, value),
            },
            Name::Free(slot) => self.func.closure[slot as usize].assign(value),
        };
        drop(old);
    }
}
