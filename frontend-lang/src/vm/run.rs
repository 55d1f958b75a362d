//! The loop over operations.

use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::error::Raised;
use crate::operate::binary::number_op;
use crate::value::words::{fresh, hold, push, put, take_last};
use crate::value::{Slice, Value};
use crate::vm::attribute::{quick_attr, quick_set_attr};
use crate::vm::frame::{Block, Exit, Left, Machine};
use crate::vm::long::{ForStep, after_compare, next_of_range, unbound_free, unbound_local};
use crate::vm::quick::{quick_binary, quick_compare, quick_item, quick_store};
use crate::vm::unpack::pair_op;

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
            let result = match self.mode {
                Mode::Shadow => self.run_ops::<true, true>(),
                _ if self.profile.is_some() => self.run_ops::<false, true>(),
                _ => self.run_ops::<false, false>(),
            };
            match result {
                Ok(exit) => return Ok(exit),
                Err(raised) => self.unwind(raised, floor)?,
            }
        }
    }

    /// Runs until an entry frame ends or something is raised; `SHADOW` in a check before running, `WATCHED` there and in a profile.
    fn run_ops<const SHADOW: bool, const WATCHED: bool>(&mut self) -> Result<Exit, Raised> {
        'frame: loop {
            if WATCHED && !SHADOW {
                self.note_frame();
            }
            let last = self.machine.frames.len() - 1;
            let frame = &self.machine.frames[last];
            let (func, mut ip, base) = (frame.func.clone(), frame.ip, frame.base);
            let ops = &func.code.ops[..];
            self.return_to_site(&func.code, ip);
            /// Notes which operation runs: for frames above this one, and for what the engine makes.
            macro_rules! save {
                () => {{
                    func.code.enter_site(ip);
                    let last = self.machine.frames.len() - 1;
                    self.machine.frames[last].ip = ip;
                }};
            }
            macro_rules! tri {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(raised) => break raised,
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
            /// Puts a result in the place of the top, which owns nothing, or where the next operation stores it.
            macro_rules! replace {
                ($value:expr) => {{
                    let value = hold($value);
                    let stack = &mut self.machine.stack;
                    if let Op::SetLocal(slot) = ops[ip] {
                        ip += 1;
                        stack.forget_top();
                        put(&mut stack[base + slot as usize], value);
                    } else {
                        let top = stack.len() - 1;
                        put(&mut stack[top], value);
                    }
                }};
            }
            macro_rules! local {
                ($slot:expr) => {
                    &self.machine.stack[base + $slot as usize]
                };
            }
            macro_rules! constant {
                ($idx:expr) => {
                    &func.code.consts[$idx as usize]
                };
            }
            /// What lies so far below the top.
            macro_rules! below {
                ($depth:expr) => {
                    &self.machine.stack[self.machine.stack.len() - 1 - $depth]
                };
            }
            /// The result of a joined operation; without one, the first it is joined of, and the others follow.
            macro_rules! joined {
                ($slot:expr, $skipped:expr, $value:expr) => {
                    match $value {
                        Some(value) => {
                            ip += $skipped;
                            deliver!(value);
                        }
                        None => tri!(self.push_local(&func.code, base, $slot)),
                    }
                };
            }
            let raised = loop {
                let op = if SHADOW { ops[ip].unjoined() } else { ops[ip] };
                ip += 1;
                if WATCHED {
                    tri!(self.watch_op(&func.code, ip - 1));
                    save!();
                }
                match op {
                    Op::Const(idx) => push!(self, constant!(idx).clone()),
                    Op::None => push!(self, Value::None),
                    Op::Local(slot) => {
                        let local = local!(slot);
                        if local.is_unbound() {
                            tri!(Err(unbound_local(&func.code, slot)));
                        }
                        push!(self, local.clone())
                    }
                    Op::SetLocal(slot) => self.machine.stack.move_top(base + slot as usize),
                    Op::Global(_) | Op::SetGlobal(_) | Op::Method { .. } | Op::Pop if SHADOW => {
                        tri!(self.shadow_step(&func, op, base));
                    }
                    Op::Global(slot) => {
                        let slots = func.code.globals.slots.borrow();
                        let slot = &slots[slot as usize];
                        let value =
                            if slot.value.is_unbound() { &slot.builtin } else { &slot.value };
                        if value.is_unbound() {
                            let name = slot.name;
                            drop(slots);
                            break self.no_name(&func.code, name);
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
                        let value = hold(pop!(self));
                        if let Value::Cell(cell) = local!(slot) {
                            cell.set(value);
                        }
                    }
                    Op::Free(idx) => {
                        let value = func.closure[idx as usize].borrow();
                        if value.is_unbound() {
                            drop(value);
                            break unbound_free(&func.code, idx);
                        }
                        push!(self, value.clone())
                    }
                    Op::SetFree(idx) => {
                        let value = hold(pop!(self));
                        func.closure[idx as usize].set(value);
                    }
                    Op::BinaryLL(op, a, b) => {
                        joined!(a, 2, quick_binary(op, local!(a), local!(b)))
                    }
                    Op::BinaryLC(op, a, b) => {
                        joined!(a, 2, quick_binary(op, local!(a), constant!(b)))
                    }
                    Op::BinaryL(op, b) => match quick_binary(op, below!(0), local!(b)) {
                        Some(value) => {
                            ip += 1;
                            replace!(value);
                        }
                        None => tri!(self.push_local(&func.code, base, b)),
                    },
                    Op::BinaryC(op, b) => match quick_binary(op, below!(0), constant!(b)) {
                        Some(value) => {
                            ip += 1;
                            replace!(value);
                        }
                        None => push!(self, constant!(b).clone()),
                    },
                    Op::Binary(binary) | Op::Inplace(binary) => {
                        let stack = &mut self.machine.stack;
                        let top = stack.len() - 1;
                        if let Some(value) = quick_binary(binary, &stack[top - 1], &stack[top]) {
                            stack.forget_top();
                            replace!(value);
                            continue;
                        }
                        if !SHADOW && self.grow_text(op, ops[ip], base) {
                            ip += 1;
                            continue;
                        }
                        func.code.enter_site(ip);
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
                        func.code.enter_site(ip);
                        let b = pop!(self);
                        let a = pop!(self);
                        let value = tri!(if SHADOW {
                            self.shadow_compare(op, &a, &b)
                        } else {
                            fresh(self.compare(op, &a, &b))
                        });
                        push!(self, value);
                    }
                    Op::CompareJump(op, target) => {
                        if SHADOW {
                            let (a, b) = (below!(1).clone(), below!(0).clone());
                            self.lint_compare(op, &a, &b);
                        }
                        let holds = match quick_compare(op, below!(1), below!(0)) {
                            Some(known) => {
                                self.machine.stack.forget_top();
                                self.machine.stack.forget_top();
                                known
                            }
                            None => {
                                func.code.enter_site(ip);
                                let b = pop!(self);
                                let a = pop!(self);
                                tri!(self.long_compare(op, &a, &b))
                            }
                        };
                        if !holds {
                            ip = target as usize;
                        }
                    }
                    Op::CompareJumpLL(op, a, b) => match quick_compare(op, local!(a), local!(b)) {
                        Some(holds) => ip = after_compare(ops, ip + 1, holds),
                        None => tri!(self.push_local(&func.code, base, a)),
                    },
                    Op::CompareJumpLC(op, a, b) => {
                        match quick_compare(op, local!(a), constant!(b)) {
                            Some(holds) => ip = after_compare(ops, ip + 1, holds),
                            None => tri!(self.push_local(&func.code, base, a)),
                        }
                    }
                    Op::CompareJumpL(op, b) => match quick_compare(op, below!(0), local!(b)) {
                        Some(holds) => {
                            self.machine.stack.forget_top();
                            ip = after_compare(ops, ip, holds);
                        }
                        None => tri!(self.push_local(&func.code, base, b)),
                    },
                    Op::CompareJumpC(op, b) => match quick_compare(op, below!(0), constant!(b)) {
                        Some(holds) => {
                            self.machine.stack.forget_top();
                            ip = after_compare(ops, ip, holds);
                        }
                        None => push!(self, constant!(b).clone()),
                    },
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
                        if !SHADOW
                            && let Op::Unpack(2) = ops[ip]
                            && let Some(next) = pair_op(stack, ops, ip + 1, base)
                        {
                            ip = next;
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
                    Op::AttrL { slot, name, cache } => {
                        joined!(slot, 1, quick_attr(local!(slot), &func.code, name, cache))
                    }
                    Op::Attr { name, cache } => {
                        if !SHADOW
                            && let Some(found) =
                                quick_attr(below!(0), &func.code, name, cache).map(hold)
                        {
                            let top = self.machine.stack.len() - 1;
                            put(&mut self.machine.stack[top], found);
                            continue;
                        }
                        save!();
                        if tri!(self.enter_property(&func.code, name, cache)) {
                            continue 'frame;
                        }
                        push!(
                            self,
                            tri!(if SHADOW {
                                self.shadow_attr(&func.code, name, cache)
                            } else {
                                fresh(self.load_attr(&func.code, name, cache))
                            })
                        );
                    }
                    Op::Method { name, cache } => {
                        tri!(self.load_method(&func.code, name, cache))
                    }
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
                        match self.machine.leave_call() {
                            Left::Call => continue 'frame,
                            Left::Entry => return Ok(Exit::Return(pop!(self))),
                            Left::No => {}
                        }
                        let value = pop!(self);
                        save!();
                        match self.return_op(value)? {
                            None => continue 'frame,
                            Some(exit) => return Ok(exit),
                        }
                    }
                    Op::Yield => {
                        save!();
                        if self.yield_op() {
                            return Ok(Exit::Yield(pop!(self)));
                        }
                        continue 'frame;
                    }
                    Op::YieldFrom => {
                        let sent = pop!(self);
                        match tri!(self.step_delegate(sent)) {
                            Ok(item) => {
                                ip -= 1;
                                save!();
                                push!(self, item);
                                if self.yield_op() {
                                    return Ok(Exit::Yield(pop!(self)));
                                }
                                continue 'frame;
                            }
                            Err(result) => {
                                drop(pop!(self));
                                push!(self, result);
                            }
                        }
                    }
                    Op::Unpack(count) if !SHADOW => {
                        ip = tri!(self.unpack_op(ops, ip, base, count as usize));
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
                        let [top, below] = [hold(pop!(self)), hold(pop!(self))];
                        push(&mut self.machine.stack, top);
                        push(&mut self.machine.stack, below);
                    }
                    Op::Rot3 => {
                        let [top, middle, below] = [(); 3].map(|()| hold(pop!(self)));
                        push(&mut self.machine.stack, top);
                        push(&mut self.machine.stack, below);
                        push(&mut self.machine.stack, middle);
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
                        func.code.enter_site(ip);
                        let index = pop!(self);
                        let value = pop!(self);
                        let item = self.getitem(&value, &index);
                        push!(self, tri!(if SHADOW { self.or_unknown(item) } else { item }));
                    }
                    Op::IndexLL(a, b) => joined!(a, 2, quick_item(local!(a), local!(b))),
                    Op::IndexLC(a, b) => joined!(a, 2, quick_item(local!(a), constant!(b))),
                    Op::ItemLL(a, b) => match quick_item(local!(a), local!(b)) {
                        Some(item) => {
                            ip += 3;
                            self.push_item(local!(a).clone(), local!(b).clone(), item);
                        }
                        None => tri!(self.push_local(&func.code, base, a)),
                    },
                    Op::ItemLC(a, b) => match quick_item(local!(a), constant!(b)) {
                        Some(item) => {
                            ip += 3;
                            self.push_item(local!(a).clone(), constant!(b).clone(), item);
                        }
                        None => tri!(self.push_local(&func.code, base, a)),
                    },
                    Op::SetIndexLL(a, b) if quick_store(local!(a), local!(b), below!(0)) => {
                        ip += 2;
                        self.machine.stack.drop_top();
                    }
                    Op::SetIndexLC(a, b) if quick_store(local!(a), constant!(b), below!(0)) => {
                        ip += 2;
                        self.machine.stack.drop_top();
                    }
                    Op::SetIndexLL(a, _) | Op::SetIndexLC(a, _) => {
                        tri!(self.push_local(&func.code, base, a))
                    }
                    Op::SetIndex if quick_store(below!(1), below!(0), below!(2)) => {
                        (0..3).for_each(|_| self.machine.stack.drop_top());
                    }
                    Op::PutIndex if quick_store(below!(2), below!(1), below!(0)) => {
                        (0..3).for_each(|_| self.machine.stack.drop_top());
                    }
                    Op::SetIndex | Op::PutIndex => {
                        func.code.enter_site(ip);
                        tri!(self.store_item(op))
                    }
                    Op::Slice => {
                        if !SHADOW && self.slice_op(ops[ip]) {
                            ip += 1;
                            continue;
                        }
                        let step = pop!(self);
                        let stop = pop!(self);
                        let start = pop!(self);
                        push!(self, Value::Slice(Rc::new(Slice::new(start, stop, step))));
                    }
                    Op::ListAppend(depth) => {
                        if let Value::List(list) = below!(depth as usize + 1) {
                            tri!(list.push(below!(0).clone()));
                        }
                        self.machine.stack.drop_top();
                    }
                    Op::Tuple(count) => {
                        let items = take_last(&mut self.machine.stack, count as usize);
                        push!(self, fresh(Value::tuple(items)));
                    }
                    Op::List(count) => {
                        let items = take_last(&mut self.machine.stack, count as usize);
                        push!(self, fresh(Value::list(items)));
                    }
                    Op::Not => {
                        let value = pop!(self);
                        push!(self, Value::Bool(!tri!(self.truth(&value))));
                    }
                    Op::SetAttrL { slot, name, cache }
                        if quick_set_attr(local!(slot), &func.code, name, cache, below!(0)) =>
                    {
                        ip += 1;
                        self.machine.stack.drop_top();
                    }
                    Op::SetAttrL { slot, .. } => tri!(self.push_local(&func.code, base, slot)),
                    Op::PutAttr { name, cache }
                        if !SHADOW
                            && quick_set_attr(below!(1), &func.code, name, cache, below!(0)) =>
                    {
                        self.machine.stack.drop_top();
                        self.machine.stack.drop_top();
                    }
                    Op::SetAttr { .. } | Op::PutAttr { .. } => {
                        func.code.enter_site(ip);
                        tri!(self.set_attr_op(&func.code, op))
                    }
                    Op::CallKw(count, names) | Op::CallMethodKw(count, names) => {
                        save!();
                        let is_method = matches!(op, Op::CallMethodKw(..));
                        if tri!(self.call_kw_op(&func.code, count as usize, names, is_method)) {
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
                        func.code.enter_site(ip);
                        if let Some(target) = tri!(self.step(&func, op, base)) {
                            ip = target;
                        }
                    }
                }
            };
            save!();
            return Err(raised);
        }
    }
}
