//! Branches and loops on tensors in functions that are built symbolically: `if`, `a if c else b` and `while` become ops that run graphs.
//!
//! The machine comes to a jump whose condition has no value yet. It then runs both ways, one after the other, each as a frame of its own
//! over copies of the locals (`part`), while the engine records what ops they apply; what the names hold in the end is put together
//! (`merge`), and the function goes on behind the branch. What a part does besides ops on tensors and names of its own function would
//! happen for both ways, or not as often as the loop turns: it is refused where it stands (`effects`).

mod apart;
mod effects;
mod merge;
mod part;
mod turns;

use std::rc::Rc;

use engine::region::{self, Recording};

use crate::bytecode::{Branch, Code, Op};
use crate::cx::Cx;
use crate::error::{Mark, Raised, TRACE_ERROR};
use crate::objects::tensor::Look;
use crate::source::Span;
use crate::sym::Sym;
use crate::trace::each_tensor;
use crate::value::Value;

pub(crate) use effects::UnderWay;

use part::{Part, Variables};

/// Deepest nesting of branches.
const DEEPEST: usize = 64;

/// Most parts of one branch and all in it.
const MOST_PARTS: usize = 10_000;

/// What is wrong with code that cannot become a graph.
fn refused(message: impl Into<String>) -> Raised {
    Raised::new(&TRACE_ERROR, message)
}

/// Of `and`, `or`, `not`, `assert` and the conditions of comprehensions, which want to know a value.
pub(crate) fn no_connective() -> Raised {
    refused(
        "the value of a tensor is not known while a graph is built symbolically, and only the whole condition of an `if`, an \
         `a if c else b` or a `while` may be a tensor; for `and`, `or` and `not` write torch.logical_and(a, b), \
         torch.logical_or(a, b) and torch.logical_not(a), and check values outside of the function",
    )
}

impl Cx {
    /// Whether a value is a tensor whose elements are not known, since a graph is built.
    #[inline]
    pub(crate) fn is_unknown(&self, value: &Value) -> bool {
        match value {
            Value::Tensor(it) => engine::trace::active() && builds() && !it.get().is_known(),
            _ => false,
        }
    }

    /// The jump before the place where the newest frame stands has a condition that is not known; it would jump if that is `wanted`.
    /// Where to go on.
    #[inline(never)]
    pub(crate) fn branch_on_tensor(&mut self, test: &Value, wanted: bool) -> Result<usize, Raised> {
        let Some(frame) = self.machine.frames.last() else { return Err(no_connective()) };
        let (code, at) = (frame.func.code.clone(), frame.ip - 1);
        let branch = code.branches.iter().find(|it| it.test as usize == at).copied();
        let branch = branch.ok_or_else(no_connective)?;
        let Value::Tensor(condition) = test else { return Err(no_connective()) };
        if code.is_generator {
            return Err(refused(
                "a generator cannot branch on a tensor while a graph is built symbolically; choose values with torch.where(condition, a, b)",
            ));
        }
        let condition = condition.get();
        if condition.numel() != 1 {
            // The error of all conditions on several elements.
            self.truth(test)?;
        }
        self.enter_native()?;
        let result = match branch.turn {
            Some(turn) => self.loop_on_tensor(&code, branch, turn, wanted),
            None => self.either(&code, branch, &condition, wanted),
        };
        self.leave_native();
        if let Err(raised) = &result {
            self.failed_region = Some(raised.clone());
        }
        result
    }

    /// Both ways of a branch.
    fn either(
        &mut self,
        code: &Rc<Code>,
        branch: Branch,
        condition: &engine::Tensor,
        wanted: bool,
    ) -> Result<usize, Raised> {
        let next = branch.test as usize + 1;
        let target = target_of(code.ops[branch.test as usize]).unwrap_or(next);
        let ends = match has_return(code, next, branch.end as usize) {
            Some(at) => {
                self.may_return(code, at)?;
                None
            }
            None => Some(branch.end as usize),
        };
        let patched = part::patched(code, (next, ends), branch.gives)?;
        let [if_true, if_false] = if wanted { [target, next] } else { [next, target] };
        let before = Variables::of(self);
        let then = self.recorded(&patched, if_true, &before)?;
        let orelse = self.recorded(&patched, if_false, &before)?;
        let place = code.span(branch.test as usize);
        code.enter_site(next);
        let merged = self.merged(&before, then, orelse, condition);
        let merged = merged.map_err(|it| self.at_place(it, place))?;
        match merged {
            merge::Merged::Returned(value) => {
                self.machine.stack.push(value);
                Ok(code.ops.len() - 1)
            }
            merge::Merged::Ended(variables, value) => {
                variables.put(self);
                if let Some(value) = value {
                    self.machine.stack.push(value);
                }
                Ok(branch.end as usize)
            }
        }
    }

    /// One way of a branch, recorded; the variables are as before afterwards.
    fn recorded(
        &mut self,
        code: &Rc<Code>,
        start: usize,
        before: &Variables,
    ) -> Result<(Part, region::Paused), Raised> {
        self.count_part()?;
        let recording = Recording::begin();
        let part = self.run_part(code, start, before, &[])?;
        Ok((part, recording.pause()?))
    }

    /// Refuses what would be recorded without end.
    fn count_part(&mut self) -> Result<(), Raised> {
        if self.regions.is_empty() {
            self.n_parts = 0;
        }
        self.n_parts += 1;
        if self.regions.len() >= DEEPEST {
            return Err(refused(format!(
                "branches on tensors stand {DEEPEST} deep in one another here: a graph does not hold a recursion or a `while True` that \
                 ends where a tensor says so; write `while` with the tensor as its condition"
            )));
        }
        if self.n_parts > MOST_PARTS {
            return Err(refused(format!(
                "branches on tensors that may return have come to {MOST_PARTS} ways, since what follows belongs to each; \
                 assign the result to a name in them, and return it at the end"
            )));
        }
        Ok(())
    }

    /// Refuses a `return` that must do more than to leave the function.
    fn may_return(&mut self, code: &Code, at: usize) -> Result<(), Raised> {
        let Some(frame) = self.machine.frames.last() else { return Ok(()) };
        let is_plain = self.machine.blocks.len() == frame.blocks
            && self.machine.stack.len() == frame.base + code.locals.len();
        match is_plain {
            true => Ok(()),
            false => Err(self.at_op(
                refused(
                    "`return` in a branch on a tensor cannot leave a `for`, `with` or `try`; assign the value to a name and return it behind",
                ),
                code,
                at,
            )),
        }
    }

    /// The error, said of an operation of this function.
    fn at_op(&mut self, raised: Raised, code: &Code, at: usize) -> Raised {
        let span = code.span(at);
        self.at_place(raised, span)
    }

    fn at_place(&mut self, mut raised: Raised, span: Span) -> Raised {
        let function = self.machine.frames.last().map_or(Sym::EMPTY, |it| it.func.code.name);
        if raised.marks().is_empty() {
            raised.push_mark(Mark { span, function, operands: Vec::new() });
        }
        raised.set_rethrown();
        raised
    }
}

/// Tensors that a traced function returns are variables of their own.
pub(crate) fn settle(value: &Value) {
    each_tensor(value, &mut |it| {
        if matches!(it.look(), Look::Number | Look::Either) {
            it.show_as(Look::Tensor);
        }
    });
}

/// Whether ops build a graph on this thread.
pub(crate) fn builds() -> bool {
    region::is_recording() || engine::trace::is_symbolic()
}

fn target_of(mut op: Op) -> Option<usize> {
    op.target_mut().map(|it| *it as usize)
}

/// The first `return` in a part.
fn has_return(code: &Code, from: usize, to: usize) -> Option<usize> {
    (from..to).find(|&at| code.ops[at] == Op::Return)
}
