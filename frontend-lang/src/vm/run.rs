//! The loop over operations.

use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::error::{Raised, name_error};
use crate::operate::binary::number_op;
use crate::operate::compare::simple_compare;
use crate::value::{Slice, Value};
use crate::vm::frame::Exit;

macro_rules! push {
    ($cx:expr, $value:expr) => {{
        let value = $value;
        $cx.machine.stack.push(value);
    }};
}

macro_rules! pop {
    ($cx:expr) => {
        $cx.machine.stack.pop().unwrap_or_default()
    };
}

impl Cx {
    /// Runs until the newest frame, number `floor` from the bottom, has returned or yielded.
    pub(crate) fn run(&mut self, floor: usize) -> Result<Exit, Raised> {
        loop {
            let shadow = self.mode == Mode::Shadow;
            match if shadow { self.run_ops::<true>() } else { self.run_ops::<false>() } {
                Ok(exit) => return Ok(exit),
                Err(raised) => self.unwind(raised, floor)?,
            }
        }
    }

    /// Runs until an entry frame ends or something is raised; `SHADOW` in a check before running.
    fn run_ops<const SHADOW: bool>(&mut self) -> Result<Exit, Raised> {
        let (mut func, mut ip, mut base);
        macro_rules! reload {
            () => {{
                let last = self.machine.frames.len() - 1;
                let frame = &self.machine.frames[last];
                func = frame.func.clone();
                ip = frame.ip;
                base = frame.base;
            }};
        }
        macro_rules! save {
            () => {{
                let last = self.machine.frames.len() - 1;
                self.machine.frames[last].ip = ip;
            }};
        }
        macro_rules! tri {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(raised) => {
                        save!();
                        return Err(raised);
                    }
                }
            };
        }
        reload!();
        loop {
            let op = func.code.ops[ip];
            ip += 1;
            if SHADOW {
                tri!(self.spend());
                save!();
            }
            match op {
                Op::Const(idx) => push!(self, func.code.consts[idx as usize].clone()),
                Op::None => push!(self, Value::None),
                Op::Local(slot) => {
                    let value = self.machine.stack[base + slot as usize].clone();
                    if value.is_unbound() {
                        tri!(Err(unbound_local(&func.code, slot)));
                    }
                    push!(self, value);
                }
                Op::SetLocal(slot) => {
                    let value = pop!(self);
                    let old =
                        std::mem::replace(&mut self.machine.stack[base + slot as usize], value);
                    drop(old);
                }
                Op::Global(slot) if SHADOW => {
                    let value = tri!(self.shadow_global(&func.code, slot));
                    push!(self, value);
                }
                Op::SetGlobal(slot) if SHADOW => {
                    let value = pop!(self);
                    self.shadow_set_global(&func.code.globals, slot, value);
                }
                Op::Global(slot) => {
                    let slots = func.code.globals.slots.borrow();
                    let slot = &slots[slot as usize];
                    let value = if slot.value.is_unbound() { &slot.builtin } else { &slot.value };
                    if value.is_unbound() {
                        let name = slot.name;
                        drop(slots);
                        tri!(Err(self.no_name(&func.code, name)));
                        continue;
                    }
                    push!(self, value.clone());
                }
                Op::SetGlobal(slot) => {
                    let value = pop!(self);
                    let mut slots = func.code.globals.slots.borrow_mut();
                    let old = std::mem::replace(&mut slots[slot as usize].value, value);
                    drop(slots);
                    drop(old);
                }
                Op::Cell(slot) => {
                    let value = match &self.machine.stack[base + slot as usize] {
                        Value::Cell(cell) => cell.borrow().clone(),
                        other => other.clone(),
                    };
                    if value.is_unbound() {
                        tri!(Err(unbound_local(&func.code, slot)));
                    }
                    push!(self, value);
                }
                Op::SetCell(slot) => {
                    let value = pop!(self);
                    if let Value::Cell(cell) = &self.machine.stack[base + slot as usize] {
                        let old = cell.assign(value);
                        drop(old);
                    }
                }
                Op::Free(idx) => {
                    let value = func.closure[idx as usize].borrow().clone();
                    if value.is_unbound() {
                        tri!(Err(unbound_free(&func.code, idx)));
                    }
                    push!(self, value);
                }
                Op::SetFree(idx) => {
                    let value = pop!(self);
                    let old = func.closure[idx as usize].assign(value);
                    drop(old);
                }
                Op::BinaryLL(op, a, b) => {
                    let a = &self.machine.stack[base + a as usize];
                    let b = &self.machine.stack[base + b as usize];
                    ip += 2;
                    let value = match number_op(op, a, b) {
                        Some(result) => tri!(result),
                        None => {
                            let (a, b) = (a.clone(), b.clone());
                            tri!(bound_pair(&func.code, &a, &b, ip));
                            if SHADOW {
                                tri!(self.shadow_binary(op, &a, &b, false))
                            } else {
                                tri!(self.binary(op, &a, &b))
                            }
                        }
                    };
                    push!(self, value);
                }
                Op::BinaryLC(op, a, b) => {
                    let a = &self.machine.stack[base + a as usize];
                    let b = &func.code.consts[b as usize];
                    ip += 2;
                    let value = match number_op(op, a, b) {
                        Some(result) => tri!(result),
                        None => {
                            let a = a.clone();
                            tri!(bound_pair(&func.code, &a, b, ip));
                            if SHADOW {
                                tri!(self.shadow_binary(op, &a, b, false))
                            } else {
                                tri!(self.binary(op, &a, b))
                            }
                        }
                    };
                    push!(self, value);
                }
                Op::Binary(op) => {
                    let b = pop!(self);
                    let a = pop!(self);
                    let value = match number_op(op, &a, &b) {
                        Some(result) => tri!(result),
                        None if SHADOW => tri!(self.shadow_binary(op, &a, &b, false)),
                        None => tri!(self.binary(op, &a, &b)),
                    };
                    push!(self, value);
                }
                Op::Inplace(op) => {
                    let b = pop!(self);
                    let a = pop!(self);
                    let value = match number_op(op, &a, &b) {
                        Some(result) => tri!(result),
                        None if SHADOW => tri!(self.shadow_binary(op, &a, &b, true)),
                        None => tri!(self.inplace(op, &a, &b)),
                    };
                    push!(self, value);
                }
                Op::Compare(op) => {
                    let b = pop!(self);
                    let a = pop!(self);
                    if SHADOW {
                        self.lint_compare(op, &a, &b);
                    }
                    let value = match simple_compare(op, &a, &b) {
                        Some(known) => Value::Bool(known),
                        None if SHADOW => {
                            let res = self.compare(op, &a, &b);
                            tri!(self.or_unknown(res))
                        }
                        None => tri!(self.compare(op, &a, &b)),
                    };
                    push!(self, value);
                }
                Op::CompareJump(op, target) => {
                    let b = pop!(self);
                    let a = pop!(self);
                    if SHADOW {
                        self.lint_compare(op, &a, &b);
                    }
                    let holds = match simple_compare(op, &a, &b) {
                        Some(known) => known,
                        None => {
                            let answer = tri!(self.compare(op, &a, &b));
                            tri!(self.truth(&answer))
                        }
                    };
                    if !holds {
                        ip = target as usize;
                    }
                }
                Op::Jump(target) => ip = target as usize,
                Op::Loop(target) => {
                    tri!(self.poll());
                    if SHADOW {
                        tri!(self.shadow_loop(&func, target));
                    }
                    ip = target as usize;
                }
                Op::JumpIfFalse(target) => {
                    let value = pop!(self);
                    if !tri!(self.truth(&value)) {
                        ip = target as usize;
                    }
                }
                Op::JumpIfTrue(target) => {
                    let value = pop!(self);
                    if tri!(self.truth(&value)) {
                        ip = target as usize;
                    }
                }
                Op::ForIter(target) => match tri!(if SHADOW {
                    self.shadow_for(&func, ip, target as usize)
                } else {
                    self.for_iter(ip)
                }) {
                    ForStep::Item(item) => push!(self, item),
                    ForStep::End => {
                        drop(pop!(self));
                        ip = target as usize;
                    }
                    ForStep::Entered => {
                        reload!();
                    }
                },
                Op::Attr { name, cache } if SHADOW => {
                    let value = tri!(self.shadow_attr(&func.code, name, cache));
                    push!(self, value);
                }
                Op::Method { name, cache } if SHADOW => {
                    tri!(self.shadow_method(&func.code, name, cache));
                }
                Op::Attr { name, cache } => {
                    let value = tri!(self.load_attr(&func.code, name, cache));
                    push!(self, value);
                }
                Op::Method { name, cache } => tri!(self.load_method(&func.code, name, cache)),
                Op::Call(count) => {
                    save!();
                    if tri!(self.call_op(count as usize, false)) {
                        reload!();
                    }
                }
                Op::CallMethod(count) => {
                    save!();
                    if tri!(self.call_op(count as usize, true)) {
                        reload!();
                    }
                }
                Op::Return => {
                    let value = pop!(self);
                    save!();
                    match self.return_op(value) {
                        Ok(None) => reload!(),
                        Ok(Some(exit)) => return Ok(exit),
                        Err(raised) => return Err(raised),
                    }
                }
                Op::Yield => {
                    let value = pop!(self);
                    save!();
                    match self.yield_op(value) {
                        None => reload!(),
                        Some(exit) => return Ok(exit),
                    }
                }
                Op::YieldFrom => {
                    let sent = pop!(self);
                    match tri!(self.step_delegate(sent)) {
                        Ok(item) => {
                            ip -= 1;
                            save!();
                            match self.yield_op(item) {
                                None => reload!(),
                                Some(exit) => return Ok(exit),
                            }
                        }
                        Err(result) => {
                            drop(pop!(self));
                            push!(self, result);
                        }
                    }
                }
                Op::Pop if SHADOW => {
                    let value = pop!(self);
                    self.lint_drop(&value);
                }
                Op::Pop => drop(pop!(self)),
                Op::Dup => {
                    let len = self.machine.stack.len();
                    push!(self, self.machine.stack[len - 1].clone());
                }
                Op::Dup2 => {
                    let len = self.machine.stack.len();
                    push!(self, self.machine.stack[len - 2].clone());
                    push!(self, self.machine.stack[len - 1].clone());
                }
                Op::Rot2 => {
                    let len = self.machine.stack.len();
                    self.machine.stack.swap(len - 2, len - 1);
                }
                Op::Rot3 => {
                    let len = self.machine.stack.len();
                    self.machine.stack[len - 3..].rotate_right(1);
                }
                Op::Index => {
                    let index = pop!(self);
                    let value = pop!(self);
                    let item = self.getitem(&value, &index);
                    let item = tri!(if SHADOW { self.or_unknown(item) } else { item });
                    push!(self, item);
                }
                Op::SetIndex => {
                    let index = pop!(self);
                    let container = pop!(self);
                    let value = pop!(self);
                    tri!(self.setitem(&container, &index, value));
                }
                Op::Slice => {
                    let step = pop!(self);
                    let stop = pop!(self);
                    let start = pop!(self);
                    push!(self, Value::Slice(Rc::new(Slice { start, stop, step })));
                }
                Op::ListAppend(depth) => {
                    let item = pop!(self);
                    let at = self.machine.stack.len() - 1 - depth as usize;
                    if let Value::List(list) = &self.machine.stack[at] {
                        tri!(list.push(item));
                    }
                }
                Op::Tuple(count) => {
                    let at = self.machine.stack.len() - count as usize;
                    let items: Vec<Value> = self.machine.stack.drain(at..).collect();
                    push!(self, Value::tuple(items));
                }
                Op::List(count) => {
                    let at = self.machine.stack.len() - count as usize;
                    let items: Vec<Value> = self.machine.stack.drain(at..).collect();
                    push!(self, Value::list(items));
                }
                Op::Not => {
                    let value = pop!(self);
                    let truth = tri!(self.truth(&value));
                    push!(self, Value::Bool(!truth));
                }
                Op::SetAttr { name, cache } => {
                    let object = pop!(self);
                    let value = pop!(self);
                    if SHADOW && !self.may_change(&object) {
                        tri!(Err(self.uncertain()));
                    }
                    tri!(self.store_attr(&func.code, &object, name, cache, value));
                }
                Op::CallKw(count, names) => {
                    save!();
                    if tri!(self.call_kw_op(&func.code, count as usize, names, false)) {
                        reload!();
                    }
                }
                Op::CallMethodKw(count, names) => {
                    save!();
                    if tri!(self.call_kw_op(&func.code, count as usize, names, true)) {
                        reload!();
                    }
                }
                Op::CallStar(has_keywords) => {
                    save!();
                    if tri!(self.call_star_op(has_keywords)) {
                        reload!();
                    }
                }
                Op::MakeClass(name) => {
                    save!();
                    tri!(self.class_op(&func.code, name));
                    reload!();
                }
                _ if SHADOW => {
                    if let Some(target) = tri!(self.shadow_step(&func, op, base)) {
                        ip = target;
                    }
                }
                _ => {
                    if let Some(target) = tri!(self.step(&func, op, base)) {
                        ip = target;
                    }
                }
            }
        }
    }

    /// The next item for the iterator on top of the stack.
    #[inline]
    pub(crate) fn for_iter(&mut self, ip: usize) -> Result<ForStep, Raised> {
        let last = self.machine.stack.len() - 1;
        if let Value::Iter(iter) = &self.machine.stack[last]
            && let Ok(mut state) = iter.state.try_borrow_mut()
            && let Some(quick) = state.quick_next()
        {
            return Ok(quick.map_or(ForStep::End, ForStep::Item));
        }
        let iter = self.machine.stack[last].clone();
        if let Value::Generator(generator) = &iter {
            let last = self.machine.frames.len() - 1;
            self.machine.frames[last].ip = ip;
            return self.enter_generator(generator);
        }
        Ok(self.next(&iter)?.map_or(ForStep::End, ForStep::Item))
    }
}

/// What a `for` does next.
pub(crate) enum ForStep {
    Item(Value),
    End,
    /// The frame of a generator has been pushed.
    Entered,
}

pub(crate) fn unbound_local(code: &crate::bytecode::Code, slot: u32) -> Raised {
    let name = code.locals[slot as usize];
    Raised::new(
        &crate::error::UNBOUND_LOCAL_ERROR,
        format!("cannot access local variable '{name}' where it is not associated with a value"),
    )
}

pub(crate) fn unbound_free(code: &crate::bytecode::Code, idx: u32) -> Raised {
    let name = code.free[idx as usize];
    name_error(format!(
        "cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    ))
}

/// Checks operands that were read from the frame without a check.
fn bound_pair(code: &crate::bytecode::Code, a: &Value, b: &Value, ip: usize) -> Result<(), Raised> {
    let at = if a.is_unbound() {
        ip - 3
    } else if b.is_unbound() {
        ip - 2
    } else {
        return Ok(());
    };
    match code.ops[at] {
        Op::BinaryLL(_, slot, _) | Op::BinaryLC(_, slot, _) => {
            Err(unbound_local(code, slot as u32))
        }
        Op::Local(slot) => Err(unbound_local(code, slot)),
        _ => Ok(()),
    }
}
