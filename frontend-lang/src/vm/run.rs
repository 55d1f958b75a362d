//! The loop over operations: a table of what each does. How is said by subject in `cursor/`.

use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::error::Raised;
use crate::value::Value;
use crate::vm::cursor::{Cursor, Next};
use crate::vm::frame::Exit;
use crate::vm::quick::{quick_binary, quick_compare, quick_item, quick_store};

impl Cx {
    /// Runs until the newest frame, number `floor` from the bottom, has returned or yielded.
    pub(crate) fn run(&mut self, floor: usize) -> Result<Exit, Raised> {
        loop {
            let result = match self.mode {
                Mode::Shadow => self.run_ops::<true, true>(),
                _ if self.is_watched() => self.run_ops::<false, true>(),
                _ => self.run_ops::<false, false>(),
            };
            match result {
                Ok(Some(exit)) => return Ok(exit),
                Ok(None) => {}
                Err(raised) => self.unwind(raised, floor)?,
            }
        }
    }

    /// Whether each operation is looked at before it runs.
    pub(super) fn is_watched(&self) -> bool {
        self.mode != Mode::Eager || self.profile.is_some() || !self.regions.is_empty()
    }

    /// Runs until an entry frame ends or something is raised; `SHADOW` in a check before running, `WATCHED` there and in a profile. `None`
    /// where a step of a cell has begun or ended, and the rest is to be watched, or no longer.
    fn run_ops<const SHADOW: bool, const WATCHED: bool>(&mut self) -> Result<Option<Exit>, Raised> {
        'frame: loop {
            if WATCHED && !SHADOW {
                self.note_frame();
            }
            let last = self.machine.frames.len() - 1;
            let frame = &self.machine.frames[last];
            let (func, ip, base) = (frame.func.clone(), frame.ip, frame.base);
            self.return_to_site(&func.code, ip);
            let (ops, consts) = (&*func.code.ops, &*func.code.consts);
            let mut at = Cursor::<SHADOW> { cx: self, func: &func, ops, consts, ip, base };
            /// Of what may raise: the value, or the end of the loop.
            macro_rules! ok {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(raised) => break raised,
                    }
                };
            }
            /// Of what may push a frame, or take one off.
            macro_rules! enter {
                ($entered:expr) => {
                    if ok!($entered) {
                        continue 'frame;
                    }
                };
            }
            macro_rules! go {
                ($next:expr) => {
                    match $next {
                        Next::Op => {}
                        Next::Frame => continue 'frame,
                        Next::Exit(exit) => return Ok(Some(exit)),
                    }
                };
            }
            let raised = loop {
                let mut op = at.next();
                let unjoined;
                if SHADOW {
                    // The check sees joined operations as what they are joined of.
                    unjoined = op.unjoined();
                    op = &unjoined;
                }
                if WATCHED && ok!(at.watch()) {
                    continue;
                }
                match *op {
                    Op::Global(_) | Op::SetGlobal(_) | Op::Method { .. } | Op::Pop if SHADOW => {
                        ok!(at.step(*op))
                    }

                    Op::Const(idx) => at.load_constant(idx),
                    Op::None => at.push(Value::None),
                    Op::Local(slot) => ok!(at.load_local(slot)),
                    Op::SetLocal(slot) => at.store_local(slot),
                    Op::Global(slot) => ok!(at.load_global(slot)),
                    Op::SetGlobal(slot) => at.store_global(slot),
                    Op::Cell(slot) => ok!(at.load_cell(slot)),
                    Op::SetCell(slot) => at.store_cell(slot),
                    Op::Free(idx) => ok!(at.load_free(idx)),
                    Op::SetFree(idx) => at.store_free(idx),

                    Op::Binary(it) | Op::Inplace(it) => ok!(at.binary(*op, it)),
                    Op::BinaryLL(it, a, b) => {
                        ok!(at.joined(a, 2, quick_binary(it, at.local(a), at.local(b))))
                    }
                    Op::BinaryLC(it, a, b) => {
                        ok!(at.joined(a, 2, quick_binary(it, at.local(a), at.constant(b))))
                    }
                    Op::BinaryL(it, b) => ok!(at.binary_local(it, b)),
                    Op::BinaryC(it, b) => at.binary_constant(it, b),
                    Op::Not => ok!(at.not()),

                    Op::Compare(it) => ok!(at.compare(it)),
                    Op::CompareJump(it, target) => ok!(at.compare_jump(it, target)),
                    Op::CompareJumpLL(it, a, b) => {
                        ok!(at.branch(a, quick_compare(it, at.local(a), at.local(b))))
                    }
                    Op::CompareJumpLC(it, a, b) => {
                        ok!(at.branch(a, quick_compare(it, at.local(a), at.constant(b))))
                    }
                    Op::CompareJumpL(it, b) => ok!(at.branch_local(it, b)),
                    Op::CompareJumpC(it, b) => at.branch_constant(it, b),

                    Op::Jump(target) => at.jump(target),
                    Op::Loop(target) => ok!(at.jump_back(target)),
                    Op::JumpIfFalse(target) => ok!(at.jump_if(false, target)),
                    Op::JumpIfTrue(target) => ok!(at.jump_if(true, target)),
                    Op::ForIter(target) => enter!(at.for_iter(target)),

                    Op::Attr { name, cache } => enter!(at.attr(name, cache)),
                    Op::AttrL { slot, name, cache } => ok!(at.attr_local(slot, name, cache)),
                    Op::Method { name, cache } => ok!(at.method(name, cache)),
                    Op::SetAttr { .. } => ok!(at.set_attr(*op)),
                    Op::SetAttrL { slot, name, cache } => ok!(at.set_attr_local(slot, name, cache)),
                    Op::PutAttr { name, cache } => ok!(at.put_attr(*op, name, cache)),

                    Op::Call(count) => enter!(at.call(count, false)),
                    Op::CallMethod(count) => enter!(at.call(count, true)),
                    Op::CallKw(count, names) => enter!(at.call_keywords(count, names, false)),
                    Op::CallMethodKw(count, names) => enter!(at.call_keywords(count, names, true)),
                    Op::CallStar(has_keywords) => enter!(at.call_star(has_keywords)),
                    Op::MakeClass(name) => enter!(at.make_class(name)),
                    Op::Return => match at.leave()? {
                        None => continue 'frame,
                        Some(exit) => return Ok(Some(exit)),
                    },
                    Op::Yield => go!(at.give()),
                    Op::YieldFrom => go!(ok!(at.give_from())),

                    Op::Index => ok!(at.index()),
                    Op::IndexLL(a, b) => {
                        ok!(at.joined(a, 2, quick_item(at.local(a), at.local(b))))
                    }
                    Op::IndexLC(a, b) => {
                        ok!(at.joined(a, 2, quick_item(at.local(a), at.constant(b))))
                    }
                    Op::ItemLL(a, b) => ok!(at.item_local(a, b)),
                    Op::ItemLC(a, b) => ok!(at.item_constant(a, b)),
                    Op::SetIndexLL(a, b) => {
                        ok!(at.stored_joined(a, at.store_quickly(at.local(a), at.local(b))))
                    }
                    Op::SetIndexLC(a, b) => {
                        ok!(at.stored_joined(a, at.store_quickly(at.local(a), at.constant(b))))
                    }
                    Op::SetIndex => {
                        ok!(at.stored(*op, quick_store(at.below(1), at.below(0), at.below(2))))
                    }
                    Op::PutIndex => {
                        ok!(at.stored(*op, quick_store(at.below(2), at.below(1), at.below(0))))
                    }
                    Op::Slice => at.slice(),
                    Op::ListAppend(depth) => ok!(at.append(depth)),
                    Op::Tuple(count) => at.tuple(count),
                    Op::List(count) => at.list(count),
                    Op::Unpack(count) if !SHADOW => ok!(at.unpack(count)),

                    Op::Pop => at.drop_top(),
                    Op::Dup => at.duplicate(),
                    Op::Dup2 => at.duplicate_two(),
                    Op::Rot2 => at.rotate_two(),
                    Op::Rot3 => at.rotate_three(),
                    Op::Try(target) => at.begin_try(target),
                    Op::EndTry => at.end_try(),
                    Op::EnterStep(..) | Op::CutStep(..) | Op::LeaveStep(..) => {
                        if ok!(at.step_of_cell(*op, WATCHED)) {
                            return Ok(None);
                        }
                    }
                    _ => ok!(at.step(*op)),
                }
            };
            at.save();
            return Err(raised);
        }
    }
}
