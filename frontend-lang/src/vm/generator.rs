//! Starting, resuming and suspending generators.

use std::mem::ManuallyDrop;
use std::rc::Rc;

use crate::bytecode::Op;
use crate::cx::{Cx, Mode};
use crate::cycles::{self, Candidate};
use crate::error::{
    GENERATOR_EXIT, RECURSION_ERROR, Raised, STOP_ITERATION, attribute_error, runtime_error,
    type_error, value_error,
};
use crate::memory::Fixed;
use crate::objects::function::Func;
use crate::objects::generator::{self, GenState, Generator, Waiting};
use crate::sym::Sym;
use crate::value::words::hold;
use crate::value::{Value, words};
use crate::vm::frame::{Block, Exit, Frame, FrameKind, Machine, RECURSION_LIMIT};
use crate::vm::long::ForStep;

impl Cx {
    /// A generator whose parameters lie from `base` to the top of the stack.
    pub(crate) fn new_generator(&mut self, func: Rc<Func>, base: usize) -> Value {
        let stack = self.machine.stack.drain(base..).collect();
        let name = func.code.qualname.clone();
        let waiting = Waiting {
            func,
            ip: 0,
            stack,
            blocks: Vec::new(),
            handled: Vec::new(),
            started: false,
            shadow: self.mode == Mode::Shadow,
        };
        let state = GenState::Waiting(Box::new(waiting)).into();
        let spare = Default::default();
        let generator = Rc::new(Generator { name, state, spare, _memory: Fixed::default() });
        cycles::note(Candidate::Generator(Rc::downgrade(&generator)));
        Value::Generator(generator)
    }

    /// Goes on until the next `yield`: its value, or as error what the generator returned.
    pub(crate) fn resume(
        &mut self,
        generator: &Rc<Generator>,
        sent: Value,
    ) -> Result<Result<Value, Value>, Raised> {
        self.resume_with(generator, sent, None)
    }

    /// Raises at the `yield` where the generator waits.
    pub(crate) fn throw_into(
        &mut self,
        generator: &Rc<Generator>,
        raised: Raised,
    ) -> Result<Result<Value, Value>, Raised> {
        if matches!(&*generator.state.borrow(), GenState::Done) {
            return Err(raised);
        }
        let Some(delegate) = delegate_of(generator) else {
            return self.resume_with(generator, Value::None, Some(raised));
        };
        match self.throw_into_delegate(&delegate, raised) {
            Ok(Ok(item)) => Ok(Ok(item)),
            Ok(Err(result)) => {
                leave_delegate(generator);
                self.resume_with(generator, result, None)
            }
            Err(raised) => {
                leave_delegate(generator);
                self.resume_with(generator, Value::None, Some(raised))
            }
        }
    }

    /// Raises in the iterator of a `yield from`; an item, or as error what it returned.
    fn throw_into_delegate(
        &mut self,
        delegate: &Value,
        raised: Raised,
    ) -> Result<Result<Value, Value>, Raised> {
        self.enter_native()?;
        let answer = match delegate {
            Value::Generator(it) if raised.is(&GENERATOR_EXIT) => match self.close(it) {
                Ok(()) => Err(raised),
                Err(other) => Err(other),
            },
            Value::Generator(it) => self.throw_into(it, raised),
            _ => {
                let name = if raised.is(&GENERATOR_EXIT) { Sym::CLOSE } else { Sym::THROW };
                let is_close = name == Sym::CLOSE;
                let args = if is_close { Vec::new() } else { vec![raised.value().clone()] };
                match self.call_special(delegate, name, &args) {
                    Ok(Some(item)) if !is_close => Ok(Ok(item)),
                    Ok(_) => Err(raised),
                    Err(other) => Err(other),
                }
            }
        };
        self.leave_native();
        answer
    }

    /// Ends a generator: its `finally` blocks run.
    pub(crate) fn close(&mut self, generator: &Rc<Generator>) -> Result<(), Raised> {
        let fresh = match &*generator.state.borrow() {
            GenState::Waiting(it) => !it.started,
            GenState::Running => return Err(value_error("generator already executing")),
            GenState::Done => true,
        };
        if fresh {
            generator.finish();
            return Ok(());
        }
        match self.throw_into(generator, Raised::with_args(&GENERATOR_EXIT, Vec::new())) {
            Ok(Ok(_)) => Err(runtime_error("generator ignored GeneratorExit")),
            Ok(Err(_)) => Ok(()),
            Err(raised) if raised.is(&GENERATOR_EXIT) || raised.is(&STOP_ITERATION) => Ok(()),
            Err(raised) => Err(raised),
        }
    }

    /// Ends generators that nobody refers to any more but that have something left to do.
    #[cold]
    pub(crate) fn close_abandoned(&mut self) {
        for state in generator::take_abandoned() {
            match (state.shadow, self.mode == Mode::Shadow) {
                // What a check has left behind never happened.
                (true, false) => continue,
                (false, true) => {
                    generator::put_back(state);
                    continue;
                }
                _ => {}
            }
            let generator = Rc::new(Generator {
                name: String::new(),
                state: GenState::Waiting(state).into(),
                spare: Default::default(),
                _memory: Fixed::default(),
            });
            // CPython prints such errors and goes on.
            let _ = self.close(&generator);
            generator.finish();
        }
        self.run_finalizers();
    }

    fn resume_with(
        &mut self,
        generator: &Rc<Generator>,
        sent: Value,
        raised: Option<Raised>,
    ) -> Result<Result<Value, Value>, Raised> {
        self.enter_native()?;
        let floor = self.machine.frames.len();
        let height = self.machine.stack.len();
        let kind = FrameKind::Resumed(generator.clone());
        let result = match self.push_waiting(generator, sent, kind, height) {
            Ok(true) => match raised {
                Some(raised) => self.unwind(raised, floor).and_then(|()| self.run(floor)),
                None => self.run(floor),
            },
            Ok(false) => Ok(Exit::Return(Value::None)),
            Err(raised) => Err(raised),
        };
        self.leave_native();
        match result? {
            Exit::Yield(item) => Ok(Ok(words::fresh(item))),
            Exit::Return(result) => Ok(Err(result)),
        }
    }

    /// A step of `for` over a generator: its frame runs in the same loop.
    pub(crate) fn enter_generator(&mut self, generator: &Rc<Generator>) -> Result<ForStep, Raised> {
        let height = self.machine.stack.len();
        let kind = FrameKind::ForLoop(generator.clone());
        let entered = self.push_waiting(generator, Value::None, kind, height)?;
        Ok(if entered { ForStep::Entered } else { ForStep::End })
    }

    /// Pushes the frame of a waiting generator; false if it has ended.
    fn push_waiting(
        &mut self,
        generator: &Rc<Generator>,
        sent: Value,
        kind: FrameKind,
        base: usize,
    ) -> Result<bool, Raised> {
        if self.machine.frames.len() >= RECURSION_LIMIT {
            return Err(Raised::new(&RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        let mut waiting = match generator.state.replace(GenState::Running) {
            GenState::Waiting(waiting) => waiting,
            GenState::Running => return Err(value_error("generator already executing")),
            GenState::Done => {
                generator.state.replace(GenState::Done);
                return Ok(false);
            }
        };
        if !waiting.started && !sent.is_none() {
            generator.state.replace(GenState::Waiting(waiting));
            return Err(type_error("can't send non-None value to a just-started generator"));
        }
        let Machine { stack, frames, blocks, handled } = &mut self.machine;
        let (func, ip, below) = (waiting.func.clone(), waiting.ip, handled.len());
        let kind = words::fresh(kind);
        let frame =
            Frame { func, ip, base, return_to: base, blocks: blocks.len(), handled: below, kind };
        words::push(frames, ManuallyDrop::new(frame));
        words::move_tail(&mut waiting.stack, 0, stack);
        if waiting.started {
            stack.push(sent);
        }
        if !waiting.blocks.is_empty() {
            blocks.extend(waiting.blocks.drain(..).map(|it| Block {
                stack: it.stack + base,
                handled: it.handled + below,
                ..it
            }));
        }
        handled.append(&mut waiting.handled);
        generator.spare.replace(Some(waiting));
        Ok(true)
    }

    /// `Yield`: takes the frame off the machine and leaves the value on top; true if Rust waits for it.
    pub(crate) fn yield_op(&mut self) -> bool {
        let Machine { stack, frames, blocks, handled } = &mut self.machine;
        let Some(frame) = frames.last() else { return false };
        let (FrameKind::ForLoop(generator) | FrameKind::Resumed(generator)) = &frame.kind else {
            return false;
        };
        let Some(mut waiting) = generator.spare.take() else { return false };
        let value = hold(stack.pop());
        (waiting.ip, waiting.started) = (frame.ip, true);
        if blocks.len() > frame.blocks {
            waiting.blocks.extend(blocks.drain(frame.blocks..).map(|it| Block {
                stack: it.stack - frame.base,
                handled: it.handled - frame.handled,
                ..it
            }));
        }
        if handled.len() > frame.handled {
            waiting.handled.extend(handled.drain(frame.handled..));
        }
        words::move_tail(stack, frame.base, &mut waiting.stack);
        stack.shrink(frame.return_to);
        let state = generator.state.replace(GenState::Waiting(waiting));
        debug_assert!(matches!(state, GenState::Running));
        let resumed = matches!(frame.kind, FrameKind::Resumed(_));
        frames.truncate(frames.len() - 1);
        words::push(stack, value);
        resumed
    }

    /// The end of a generator that a `for` drove: the loop ends.
    pub(crate) fn leave_for_loop(&mut self) {
        let iterator = self.machine.stack.pop();
        if let Some(frame) = self.machine.frames.last_mut()
            && let Op::ForIter(target) = frame.func.code.ops[frame.ip - 1]
        {
            frame.ip = target as usize;
        }
        drop(iterator);
    }

    /// A step of `yield from` with the iterator on top: an item, or as error the final value.
    pub(crate) fn step_delegate(&mut self, sent: Value) -> Result<Result<Value, Value>, Raised> {
        let iterator = self.machine.stack.last().cloned().unwrap_or_default();
        match &iterator {
            Value::Generator(it) => self.resume(it, sent),
            Value::Instance(_) if !sent.is_none() => {
                match self.call_special(&iterator, Sym::SEND, &[sent])? {
                    Some(item) => Ok(Ok(item)),
                    None => Ok(self.next(&iterator)?.ok_or(Value::None)),
                }
            }
            Value::Iter(it) if !sent.is_none() => {
                Err(attribute_error(format!("'{}' object has no attribute 'send'", it.type_name())))
            }
            _ => Ok(self.next(&iterator)?.ok_or(Value::None)),
        }
    }
}

/// The iterator of the `yield from` at which a generator waits.
fn delegate_of(generator: &Generator) -> Option<Value> {
    let state = generator.state.borrow();
    let GenState::Waiting(it) = &*state else { return None };
    let at_delegate = matches!(it.func.code.ops.get(it.ip), Some(Op::YieldFrom));
    if it.started && at_delegate { it.stack.last().cloned() } else { None }
}

/// Goes past the `yield from` at which a generator waits.
fn leave_delegate(generator: &Generator) {
    if let GenState::Waiting(it) = &mut *generator.state.borrow_mut() {
        it.ip += 1;
        let gone = it.stack.pop();
        drop(gone);
    }
}
