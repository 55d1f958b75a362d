//! Running a part of a function as a frame of its own: from one operation to another, over copies of the locals.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use super::apart::Apart;
use super::effects::UnderWay;
use super::{refused, target_of};
use crate::bytecode::{Cache, Code, Op};
use crate::cx::Cx;
use crate::error::{Mark, Raised, TRACE_ERROR};
use crate::native::{NativeObject, NativeType};
use crate::objects::function::{CellVar, Func};
use crate::tensor::journal::Journal;
use crate::value::Value;
use crate::vm::frame::{Exit, Frame, FrameKind};

/// What a part has come to.
pub(super) enum Part {
    /// It went to its end, with these variables, and perhaps a value on the stack.
    Ended(Variables, Option<Value>),
    /// The function returned a value.
    Returned(Value),
}

/// What the names of a function hold: its locals, and what the cells among them and of its closure hold.
#[derive(Clone)]
pub(super) struct Variables {
    pub(super) locals: Vec<Value>,
    pub(super) cells: Vec<(Rc<CellVar>, Value)>,
}

impl Variables {
    /// Those of the newest frame.
    pub(super) fn of(cx: &Cx) -> Self {
        let Some(frame) = cx.machine.frames.last() else {
            return Self { locals: Vec::new(), cells: Vec::new() };
        };
        let end = frame.base + frame.func.code.locals.len();
        let locals = cx.machine.stack[frame.base..end].to_vec();
        Self::seen(locals, &frame.func.closure)
    }

    fn seen(locals: Vec<Value>, closure: &[Rc<CellVar>]) -> Self {
        let own = locals.iter().filter_map(|it| match it {
            Value::Cell(it) => Some(it.clone()),
            _ => None,
        });
        let cells = own.chain(closure.iter().cloned());
        let cells = cells.map(|it| (it.clone(), it.borrow().clone())).collect();
        Self { locals, cells }
    }

    /// Gives the cells what they held.
    fn put_cells(&self) {
        for (cell, value) in &self.cells {
            drop(cell.assign(value.clone()));
        }
    }

    /// Gives the newest frame these.
    pub(super) fn put(self, cx: &mut Cx) {
        self.put_cells();
        let Some(base) = cx.machine.frames.last().map(|it| it.base) else { return };
        for (at, value) in self.locals.into_iter().enumerate() {
            cx.machine.stack[base + at] = value;
        }
    }

    /// What a cell held.
    pub(super) fn in_cell(&self, cell: &Rc<CellVar>) -> Value {
        let found = self.cells.iter().find(|it| Rc::ptr_eq(&it.0, cell));
        found.map_or(Value::Unbound, |it| it.1.clone())
    }
}

/// What `EndPart` gives.
struct Ending {
    locals: Vec<Value>,
    value: Option<Value>,
}

static ENDING: NativeType = NativeType::plain("part", "What a part of a function has come to.");

impl NativeObject for Ending {
    fn native_type(&self) -> &'static NativeType {
        &ENDING
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The code of a function, which ends at one place behind `start`, or if that is none where it returns. Jumps out of it are refused.
pub(super) fn patched(
    code: &Rc<Code>,
    (start, end): (usize, Option<usize>),
    gives: bool,
) -> Result<Rc<Code>, Raised> {
    let mut ops: Vec<Op> = code.ops.iter().map(|it| it.unjoined()).collect();
    if let Some(end) = end {
        check_jumps(code, start, end)?;
        let exit = ops.len() as u32;
        ops.extend([Op::EndPart(gives), Op::Return]);
        ops[end] = Op::Jump(exit);
    }
    Ok(with_ops(code, ops))
}

/// The same code with other operations at the same places.
pub(super) fn with_ops(code: &Code, ops: Vec<Op>) -> Rc<Code> {
    Rc::new(Code {
        kind: code.kind,
        name: code.name,
        qualname: code.qualname.clone(),
        source: code.source,
        held: code.held.clone(),
        ops,
        places: code.places.clone(),
        sites: code.sites,
        consts: code.consts.clone(),
        children: code.children.clone(),
        params: Default::default(),
        locals: code.locals.clone(),
        free: code.free.clone(),
        captures: code.captures.clone(),
        is_generator: code.is_generator,
        doc: None,
        annotations: Vec::new(),
        span: code.span,
        globals: code.globals.clone(),
        class_cell: code.class_cell,
        caches: code.caches.iter().map(|_| Cache::default()).collect(),
        branches: code.branches.clone(),
        keywords: code.keywords.clone(),
        plain_count: None,
        short_lived: Cell::default(),
    })
}

/// Refuses what leaves a part before its end.
pub(super) fn check_jumps(code: &Code, start: usize, end: usize) -> Result<(), Raised> {
    for at in start..end {
        let leaves = target_of(code.ops[at]).is_some_and(|to| to < start || to > end);
        let is_yield = matches!(code.ops[at], Op::Yield | Op::YieldFrom);
        if !leaves && !is_yield {
            continue;
        }
        let what = if is_yield { "`yield`" } else { "`break` or `continue`" };
        let mut raised = refused(format!(
            "{what} cannot stand in a branch or a loop on a tensor, since it is not known yet whether it is come to; \
             choose values with torch.where(condition, a, b), or put the condition into the `while`"
        ));
        let mark = Mark { span: code.span(at), function: code.name, operands: Vec::new() };
        raised.push_mark(mark);
        raised.set_rethrown();
        return Err(raised);
    }
    Ok(())
}

impl Cx {
    /// Runs a part from operation `start` on, over copies of the variables, which are as before afterwards. In it, `standing` are what the
    /// variables of a loop stand for.
    pub(super) fn run_part(
        &mut self,
        code: &Rc<Code>,
        start: usize,
        variables: &Variables,
        standing: &[Value],
    ) -> Result<Part, Raised> {
        let Some(frame) = self.machine.frames.last() else {
            return Err(refused("no function runs"));
        };
        let mut func = Func::plain(code.clone());
        func.closure = frame.func.closure.clone();
        let closure = func.closure.clone();
        let (before, base) = (Variables::of(self), self.machine.stack.len());
        variables.put_cells();
        let journal = Journal::begin();
        let host = std::mem::replace(&mut self.host, Box::new(Apart));
        self.regions.push(UnderWay::new(base, self.machine.frames.len(), standing));
        let result = self.run_frame(Rc::new(func), start, base, &variables.locals);
        let result = result.and_then(|value| self.judge_end().map(|()| value));
        let under_way = self.regions.pop();
        self.host = host;
        let result = match result {
            Ok(value) => match value.downcast::<Ending>() {
                Some(it) => {
                    let after = Variables::seen(it.locals.clone(), &closure);
                    Ok(Part::Ended(after, it.value.clone()))
                }
                None => Ok(Part::Returned(value)),
            },
            Err(raised) => {
                self.machine.stack.truncate(base);
                Err(said_of_part(raised, under_way.is_some_and(|it| it.raises)))
            }
        };
        before.put_cells();
        // Only objects of the part itself were changed, or it is refused.
        if result.is_ok() {
            journal.keep();
        }
        result
    }

    fn run_frame(
        &mut self,
        func: Rc<Func>,
        start: usize,
        base: usize,
        locals: &[Value],
    ) -> Result<Value, Raised> {
        self.machine.stack.extend(locals.iter().cloned());
        self.machine.frames.push(Frame {
            func,
            ip: start,
            base,
            return_to: base,
            blocks: self.machine.blocks.len(),
            handled: self.machine.handled.len(),
            kind: FrameKind::Entry,
        });
        let floor = self.machine.frames.len() - 1;
        match self.run(floor)? {
            Exit::Return(value) | Exit::Yield(value) => Ok(value),
        }
    }

    /// `EndPart`.
    pub(crate) fn end_part(&mut self, code: &Code, base: usize, gives: bool) {
        let value = gives.then(|| self.machine.stack.pop());
        let locals = self.machine.stack[base..base + code.locals.len()].to_vec();
        self.machine.stack.push(Value::object(Ending { locals, value }));
    }
}

/// What is said of an exception that leaves a part: one that the program raises itself would depend on the way that is taken.
fn said_of_part(mut raised: Raised, raises: bool) -> Raised {
    if raises && !raised.is(&TRACE_ERROR) {
        let mut other = refused(
            "`raise` and `assert` cannot stand in a branch or a loop on a tensor, since it is not known yet whether they are come to; \
             check values before or after the call",
        );
        other.set_marks(raised.marks().to_vec());
        raised = other;
    }
    raised.set_rethrown();
    raised
}
