//! The loop over operations.

use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::error::Raised;
use crate::operate::binary::number_op;
use crate::operate::compare::simple_compare;
use crate::value::words::{hold, push, put};
use crate::value::{Slice, Value};
use crate::vm::attribute::own_attr;
use crate::vm::frame::{Block, Exit, FrameKind, Machine};
use crate::vm::long::{
    ForStep, after_compare, bound_pair, next_of_range, unbound_free, unbound_local,
};
use crate::vm::quick::{quick_binary, quick_compare, quick_item};

macro_rules! push {
    ($cx:expr, $value:expr) => {{
        let value = $value;
        $cx.machine.stack.push(value);
    }};
}

macro_rules! pop {
    ($cx:expr) => {
        $cx.machine.stack.pop()
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
        'frame: loop {
            if !SHADOW && self.profile.is_some() {
                self.note_frame();
            }
            let last = self.machine.frames.len() - 1;
            let frame = &self.machine.frames[last];
            let (func, mut ip, base) = (frame.func.clone(), frame.ip, frame.base);
            let ops = &func.code.ops[..];
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
            /// Puts a result where the next operation stores it, or on the stack.
            macro_rules! deliver {
                ($value:expr) => {{
                    let value = hold($value);
                    let stack = &mut self.machine.stack;
                    if let Op::SetLocal(slot) = ops[ip] {
                        ip += 1;
                        put(&mut stack[base + slot as usize], value);
                    } else {
                        push(stack, value);
                    }
                }};
            }
            loop {
                let op = if SHADOW { ops[ip].unjoined() } else { ops[ip] };
                ip += 1;
                if SHADOW {
                    tri!(self.spend());
                    save!();
                }
                match op {
                    Op::Const(idx) => {
                        push!(self, func.code.consts[idx as usize].clone())
                    }
                    Op::None => push!(self, Value::None),
                    Op::Local(slot) => {
                        let local = &self.machine.stack[base + slot as usize];
                        if local.is_unbound() {
                            tri!(Err(unbound_local(&func.code, slot)));
                        }
                        // The attribute of an object in a variable: the object stays where it is.
                        if let (Value::Instance(it), Op::Attr { name, cache }) = (local, ops[ip])
                            && !SHADOW
                            && let Some(found) = own_attr(it, &func.code, name, cache)
                        {
                            ip += 1;
                            push!(self, found);
                            continue;
                        }
                        push!(self, self.machine.stack[base + slot as usize].clone())
                    }
                    Op::SetLocal(slot) => self.machine.stack.move_top(base + slot as usize),
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
                        let value =
                            if slot.value.is_unbound() { &slot.builtin } else { &slot.value };
                        if value.is_unbound() {
                            let name = slot.name;
                            drop(slots);
                            tri!(Err(self.no_name(&func.code, name)));
                            continue;
                        }
                        push!(self, value.clone())
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
                        let value = func.closure[idx as usize].borrow();
                        if value.is_unbound() {
                            drop(value);
                            tri!(Err(unbound_free(&func.code, idx)));
                            continue;
                        }
                        push!(self, value.clone())
                    }
                    Op::SetFree(idx) => {
                        let value = pop!(self);
                        let old = func.closure[idx as usize].assign(value);
                        drop(old);
                    }
                    Op::BinaryLL(op, a, b) | Op::InplaceLL(op, a, b) => {
                        let stack = &mut self.machine.stack;
                        let (a, b) = (&stack[base + a as usize], &stack[base + b as usize]);
                        if let Some(value) = quick_binary(op, a, b) {
                            ip += 2;
                            deliver!(value);
                            continue;
                        }
                        let (a, b) = (a.clone(), b.clone());
                        let at = ip;
                        ip += 2;
                        push!(self, tri!(self.long_pair(&func.code, ops[at - 1], &a, &b, at)));
                    }
                    Op::BinaryLC(op, a, b) | Op::InplaceLC(op, a, b) => {
                        let stack = &mut self.machine.stack;
                        let (a, b) = (&stack[base + a as usize], &func.code.consts[b as usize]);
                        if let Some(value) = quick_binary(op, a, b) {
                            ip += 2;
                            deliver!(value);
                            continue;
                        }
                        let a = a.clone();
                        let at = ip;
                        ip += 2;
                        push!(self, tri!(self.long_pair(&func.code, ops[at - 1], &a, b, at)));
                    }
                    Op::Binary(binary) | Op::Inplace(binary) => {
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        if let Some(value) = quick_binary(binary, &stack[top - 1], &stack[top]) {
                            let value = hold(value);
                            stack.forget_top();
                            if let Op::SetLocal(slot) = ops[ip] {
                                ip += 1;
                                put(&mut stack[base + slot as usize], value);
                                stack.forget_top();
                            } else {
                                put(&mut stack[top - 1], value);
                            }
                            continue;
                        }
                        let b = pop!(self);
                        let a = pop!(self);
                        let value = match number_op(binary, &a, &b) {
                            Some(result) => tri!(result),
                            None if SHADOW => {
                                let inplace = matches!(op, Op::Inplace(_));
                                tri!(self.shadow_binary(binary, &a, &b, inplace))
                            }
                            None => tri!(self.long_binary(op, &a, &b)),
                        };
                        push!(self, value);
                    }
                    Op::Compare(op) => {
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        if !SHADOW
                            && let Some(known) = quick_compare(op, &stack[top - 1], &stack[top])
                        {
                            stack.forget_top();
                            put(&mut stack[top - 1], hold(Value::Bool(known)));
                            continue;
                        }
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
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        if SHADOW {
                            let (a, b) = (stack[top - 1].clone(), stack[top].clone());
                            self.lint_compare(op, &a, &b);
                        }
                        let stack = &mut self.machine.stack;
                        let holds = match quick_compare(op, &stack[top - 1], &stack[top]) {
                            Some(known) => {
                                stack.forget_top();
                                stack.forget_top();
                                known
                            }
                            None => {
                                let b = pop!(self);
                                let a = pop!(self);
                                tri!(self.long_compare(op, &a, &b))
                            }
                        };
                        if !holds {
                            ip = target as usize;
                        }
                    }
                    Op::CompareJumpLL(op, a, b) => {
                        let stack = &self.machine.stack;
                        let (a, b) = (&stack[base + a as usize], &stack[base + b as usize]);
                        let holds = match quick_compare(op, a, b) {
                            Some(known) => known,
                            None => {
                                let (a, b) = (a.clone(), b.clone());
                                tri!(bound_pair(&func.code, &a, &b, ip));
                                ip += 2;
                                let holds = tri!(self.long_compare(op, &a, &b));
                                ip -= 2;
                                holds
                            }
                        };
                        ip = after_compare(ops, ip, holds);
                    }
                    Op::CompareJumpLC(op, a, b) => {
                        let (a, b) =
                            (&self.machine.stack[base + a as usize], &func.code.consts[b as usize]);
                        let holds = match quick_compare(op, a, b) {
                            Some(known) => known,
                            None => {
                                let a = a.clone();
                                tri!(bound_pair(&func.code, &a, b, ip));
                                ip += 2;
                                let holds = tri!(self.long_compare(op, &a, b));
                                ip -= 2;
                                holds
                            }
                        };
                        ip = after_compare(ops, ip, holds);
                    }
                    Op::Jump(target) => ip = target as usize,
                    Op::Loop(target) => {
                        tri!(self.poll());
                        if SHADOW {
                            tri!(self.shadow_loop(&func, target));
                        }
                        ip = target as usize;
                    }
                    Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => {
                        let truth = match self.machine.stack.last() {
                            Some(Value::Bool(known)) => {
                                let known = *known;
                                self.machine.stack.forget_top();
                                known
                            }
                            _ => {
                                let value = pop!(self);
                                tri!(self.truth(&value))
                            }
                        };
                        if truth == matches!(op, Op::JumpIfTrue(_)) {
                            ip = target as usize;
                        }
                    }
                    Op::ForIter(target) => {
                        let stack = &mut self.machine.stack;
                        if !SHADOW && let Some(item) = stack.last().and_then(next_of_range) {
                            deliver!(item);
                            continue;
                        }
                        let step = if SHADOW {
                            self.shadow_for(&func, ip, target as usize)
                        } else {
                            self.for_iter(ip)
                        };
                        match tri!(step) {
                            ForStep::Item(item) => deliver!(item),
                            ForStep::End => {
                                drop(pop!(self));
                                ip = target as usize;
                            }
                            ForStep::Entered => continue 'frame,
                        }
                    }
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
                            continue 'frame;
                        }
                    }
                    Op::CallMethod(count) => {
                        save!();
                        if tri!(self.call_op(count as usize, true)) {
                            continue 'frame;
                        }
                    }
                    Op::Return => {
                        let frame = &self.machine.frames[last];
                        if matches!(frame.kind, FrameKind::Call) {
                            let (to, blocks, handled) =
                                (frame.return_to, frame.blocks, frame.handled);
                            self.machine.frames.truncate(last);
                            self.machine.blocks.truncate(blocks);
                            self.machine.handled.truncate(handled);
                            self.machine.stack.move_top(to);
                            self.machine.stack.shrink(to + 1);
                            continue 'frame;
                        }
                        let value = pop!(self);
                        save!();
                        match self.return_op(value) {
                            Ok(None) => continue 'frame,
                            Ok(Some(exit)) => return Ok(exit),
                            Err(raised) => return Err(raised),
                        }
                    }
                    Op::Yield => {
                        let value = pop!(self);
                        save!();
                        match self.yield_op(value) {
                            None => continue 'frame,
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
                                    None => continue 'frame,
                                    Some(exit) => return Ok(exit),
                                }
                            }
                            Err(result) => {
                                drop(pop!(self));
                                push!(self, result);
                            }
                        }
                    }
                    Op::Unpack(count) if !SHADOW => {
                        let value = pop!(self);
                        tri!(self.unpack_here(&value, count as usize));
                    }
                    Op::Pop if SHADOW => {
                        let value = pop!(self);
                        self.lint_drop(&value);
                    }
                    Op::Pop => self.machine.stack.drop_top(),
                    Op::Dup => {
                        let len = self.machine.stack.len();
                        push!(self, self.machine.stack[len - 1].clone())
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
                        self.machine.stack.swap(len - 1, len - 2);
                        self.machine.stack.swap(len - 2, len - 3);
                    }
                    Op::Index => {
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        if let Some(item) = quick_item(&stack[top - 1], &stack[top]) {
                            let item = hold(item);
                            stack.forget_top();
                            put(&mut stack[top - 1], item);
                            continue;
                        }
                        let index = pop!(self);
                        let value = pop!(self);
                        let item = self.getitem(&value, &index);
                        let item = tri!(if SHADOW { self.or_unknown(item) } else { item });
                        push!(self, item);
                    }
                    Op::IndexLL(a, b) => {
                        let stack = &self.machine.stack;
                        let (a, b) = (&stack[base + a as usize], &stack[base + b as usize]);
                        if let Some(item) = quick_item(a, b) {
                            ip += 2;
                            deliver!(item);
                            continue;
                        }
                        let (a, b, at) = (a.clone(), b.clone(), ip);
                        ip += 2;
                        push!(self, tri!(self.long_pair(&func.code, op, &a, &b, at)));
                    }
                    Op::IndexLC(a, b) => {
                        let a = &self.machine.stack[base + a as usize];
                        let b = &func.code.consts[b as usize];
                        if let Some(item) = quick_item(a, b) {
                            ip += 2;
                            deliver!(item);
                            continue;
                        }
                        let (a, at) = (a.clone(), ip);
                        ip += 2;
                        push!(self, tri!(self.long_pair(&func.code, op, &a, b, at)));
                    }
                    Op::SetIndex => {
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        let stored = match (&stack[top - 1], &stack[top], &stack[top - 2]) {
                            (Value::List(list), Value::Int(at), value) if value.is_plain() => {
                                match list.items.borrow_mut().get_mut(*at as usize) {
                                    Some(place) => {
                                        put(place, hold(value.clone()));
                                        true
                                    }
                                    None => false,
                                }
                            }
                            _ => false,
                        };
                        if stored {
                            stack.forget_top();
                            drop(stack.pop());
                            stack.forget_top();
                            continue;
                        }
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
                            continue 'frame;
                        }
                    }
                    Op::CallMethodKw(count, names) => {
                        save!();
                        if tri!(self.call_kw_op(&func.code, count as usize, names, true)) {
                            continue 'frame;
                        }
                    }
                    Op::CallStar(has_keywords) => {
                        save!();
                        if tri!(self.call_star_op(has_keywords)) {
                            continue 'frame;
                        }
                    }
                    Op::Try(target) => {
                        let Machine { stack, blocks, handled, .. } = &mut self.machine;
                        let (stack, handled) = (stack.len(), handled.len());
                        blocks.push(Block { target, stack, handled });
                    }
                    Op::EndTry => self.machine.blocks.truncate(self.machine.blocks.len() - 1),
                    Op::MakeClass(name) => {
                        save!();
                        tri!(self.class_op(&func.code, name));
                        continue 'frame;
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
    }
}
