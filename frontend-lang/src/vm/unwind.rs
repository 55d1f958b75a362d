//! Exceptions on their way through frames.

use std::rc::Rc;

use crate::annotation::place_of_parameter;
use crate::bytecode::Code;
use crate::cx::{Cx, Mode};
use crate::error::{
    ATTRIBUTE_ERROR, DTYPE_ERROR, Mark, RUNTIME_ERROR, Raised, SHAPE_ERROR, STOP_ITERATION,
    TYPE_ERROR, UNBOUND_LOCAL_ERROR, is_exception, runtime_error, type_error,
};
use crate::explain::MIXED_DEVICES;
use crate::native::{CallArgs, Res};
use crate::objects::class::{traits, type_of};
use crate::operate::CompareOp;
use crate::python::{errors, proxy};
use crate::region;
use crate::source::Span;
use crate::sym::Sym;
use crate::value::Value;
use crate::vm::frame::FrameKind;

impl Cx {
    /// Goes to the nearest handler, or out of the frames above `floor` with the exception.
    pub(crate) fn unwind(&mut self, mut raised: Raised, floor: usize) -> Result<(), Raised> {
        self.link_context(&raised);
        if self.mode == Mode::Shadow && self.judge(&raised) {
            return self.leave_check(raised, floor);
        }
        let may_blame = raised.is(&TYPE_ERROR) || raised.is(&ATTRIBUTE_ERROR);
        let about_devices =
            raised.is(&RUNTIME_ERROR) && raised.code().is_some_and(|it| it.code == MIXED_DEVICES);
        let about_tensors = raised.is(&SHAPE_ERROR) || raised.is(&DTYPE_ERROR) || about_devices;
        let mut layer = self.running_layer().filter(|_| about_tensors);
        loop {
            let Some(frame) = self.machine.frames.last() else { return Err(raised) };
            if !raised.take_rethrown() {
                let code = &frame.func.code;
                let span = code.span(frame.ip.saturating_sub(1));
                let function = code.name;
                if raised.marks().is_empty() && raised.is(&UNBOUND_LOCAL_ERROR) {
                    let words = self.outer_variable(&raised);
                    raised = raised.with_words(words);
                }
                let mut operands = match about_tensors {
                    true => self.operands(span, about_devices),
                    false => Vec::new(),
                };
                if about_devices && raised.help().is_none() {
                    let help = self.next_device(span);
                    raised = raised.with_help(help);
                }
                operands.append(&mut raised.take_labels());
                if let Some(label) = layer.as_ref().and_then(|it| self.layer_label(span, it)) {
                    operands.push(label);
                    layer = None;
                }
                if may_blame {
                    raised = self.blame(raised, span, &mut operands);
                }
                raised.push_mark(Mark { span, function, operands });
            }
            let Some(frame) = self.machine.frames.last_mut() else { return Err(raised) };
            if self.machine.blocks.len() > frame.blocks
                && let Some(block) = self.machine.blocks.pop()
            {
                frame.ip = block.target as usize;
                if raised.is(&UNBOUND_LOCAL_ERROR) && region::builds() {
                    // Whether a name is bound may depend on the way that a tensor chooses.
                    self.failed_region.get_or_insert_with(|| raised.clone());
                }
                self.machine.stack.truncate(block.stack);
                self.machine.handled.truncate(block.handled);
                self.machine.stack.push(raised.value().clone());
                self.machine.handled.push(raised);
                return Ok(());
            }
            raised = self.drop_frame(raised);
            if self.machine.frames.len() <= floor {
                return Err(raised);
            }
        }
    }

    /// Notes that an argument is not as its parameter says: there, not at the beginning of the function.
    pub(crate) fn at_parameter(&mut self, mut raised: Raised, code: &Code) -> Raised {
        let Some(ip) = self.machine.frames.last().map(|it| it.ip.saturating_sub(1)) else {
            return raised;
        };
        let head = code.span(ip);
        let place = self
            .sources
            .get(head.source)
            .and_then(|it| place_of_parameter(&it.text, head.start as usize, &raised.message()));
        if let Some((start, end)) = place {
            let span = Span { start: start as u32, end: end as u32, ..head };
            raised.push_mark(Mark {
                span,
                function: code.name,
                operands: self.operands(span, false),
            });
            raised.set_rethrown();
        }
        raised
    }

    /// Drops the frames above `floor`; no handler sees the end of a check.
    fn leave_check(&mut self, mut raised: Raised, floor: usize) -> Result<(), Raised> {
        while self.machine.frames.len() > floor {
            if let Some(frame) = self.machine.frames.last() {
                self.machine.blocks.truncate(frame.blocks);
            }
            raised = self.drop_frame(raised);
        }
        Err(raised)
    }

    fn drop_frame(&mut self, raised: Raised) -> Raised {
        let Some(frame) = self.machine.frames.pop() else { return raised };
        self.machine.stack.truncate(frame.return_to);
        self.machine.handled.truncate(frame.handled);
        match frame.kind {
            FrameKind::ForLoop(generator) | FrameKind::Resumed(generator) => {
                generator.finish();
                if raised.is(&STOP_ITERATION) {
                    let outer = runtime_error("generator raised StopIteration");
                    if let Some(it) = outer.instance() {
                        it.set(Sym::CAUSE, raised.value().clone());
                        it.set(Sym::CONTEXT, raised.value().clone());
                        it.set(Sym::SUPPRESS, Value::Bool(true));
                    }
                    return outer;
                }
                raised
            }
            FrameKind::Part(before) => {
                before.enter();
                raised
            }
            _ => raised,
        }
    }

    /// What to write where a variable of the same name stands outside of the function that raised.
    fn outer_variable(&mut self, raised: &Raised) -> Option<String> {
        let name = raised.instance()?.get(Sym::of("name"))?;
        let name = Sym::new(name.as_str()?);
        let mut frames = self.machine.frames.iter().rev().map(|it| &it.func.code);
        let code = frames.next()?.clone();
        let holds = |outer: &Rc<Code>| {
            outer.children.iter().any(|it| Rc::ptr_eq(it, &code)) && outer.locals.contains(&name)
        };
        let word = if frames.any(holds) {
            "nonlocal"
        } else if self.has_global(&code.globals, name) {
            "global"
        } else {
            return None;
        };
        let to = "to assign the one outside, begin the function with";
        Some(format!("The assignment makes '{name}' local; {to} `{word} {name}`"))
    }

    /// Notes what was being handled when a new exception came up.
    fn link_context(&mut self, raised: &Raised) {
        let (Some(handled), Some(new)) = (self.machine.handled.last(), raised.instance()) else {
            return;
        };
        if raised.marks().is_empty()
            && !handled.value().is(raised.value())
            && new.get(Sym::CONTEXT).is_none()
        {
            new.set(Sym::CONTEXT, handled.value().clone());
        }
    }

    /// The exception that `raise value` raises.
    pub(crate) fn raised_from(&mut self, value: &Value) -> Result<Raised, Raised> {
        let value = match value {
            Value::Class(class) if class.has(traits::EXCEPTION) => {
                self.instantiate(class, CallArgs { positional: &[], keywords: &[] })?
            }
            other => other.clone(),
        };
        match &value {
            Value::Instance(it) if is_exception(&value) => {
                let mut raised = Raised::from_instance(it.clone());
                if let Some(known) =
                    self.machine.handled.iter().rfind(|known| known.value().is(&value))
                {
                    raised.set_marks(known.marks().to_vec());
                }
                Ok(raised)
            }
            _ if let Some(object) = proxy::of(&value) => Ok(self.raise_python(object)),
            _ => Err(type_error("exceptions must derive from BaseException")),
        }
    }

    /// `raise value from cause`.
    pub(crate) fn raise_from(&mut self, value: &Value, cause: &Value) -> Result<Raised, Raised> {
        let raised = self.raised_from(value)?;
        let cause = match cause {
            Value::None => Value::None,
            other => self.raised_from(other)?.value().clone(),
        };
        if let Some(it) = raised.instance() {
            it.set(Sym::CAUSE, cause);
            it.set(Sym::SUPPRESS, Value::Bool(true));
        }
        Ok(raised)
    }

    /// True if `except class` handles `exception`.
    pub(crate) fn exception_matches(
        &mut self,
        exception: &Value,
        class: &Value,
    ) -> Result<bool, Raised> {
        match class {
            Value::Class(it) if it.has(traits::EXCEPTION) => Ok(type_of(exception).is_subclass(it)
                || it.native.is_some_and(|row| errors::is_also(exception, row))),
            Value::Tuple(items) => {
                for item in items.iter() {
                    if self.exception_matches(exception, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ if let Some(class) = proxy::of(class) => self.is_python_exception(exception, class),
            _ => Err(type_error(
                "catching classes that do not inherit from BaseException is not allowed",
            )),
        }
    }

    /// The message of an assertion over a comparison: both sides.
    pub(crate) fn comparison_message(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        let (a, b) = (self.repr(a)?, self.repr(b)?);
        let short = |text: String| match text.char_indices().nth(200) {
            Some((at, _)) => format!("{}...", &text[..at]),
            None => text,
        };
        Ok(Value::str(format!("{} {} {} is false", short(a), op.sign(), short(b))))
    }
}
