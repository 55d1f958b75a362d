//! Generators: frames that wait, with their part of the stack.

use std::cell::RefCell;
use std::rc::Rc;

use crate::native::*;
use crate::objects::function::Func;
use crate::vm::frame::Block;

/// A generator.
pub struct Generator {
    pub name: String,
    pub(crate) state: RefCell<GenState>,
}

/// What a generator is doing.
pub(crate) enum GenState {
    Waiting(Box<Waiting>),
    Running,
    Done,
}

/// A frame that waits.
pub(crate) struct Waiting {
    pub(crate) func: Rc<Func>,
    pub(crate) ip: usize,
    /// Locals and operands, from the frame's base.
    pub(crate) stack: Vec<Value>,
    /// Handlers in force; heights are from the frame's base.
    pub(crate) blocks: Vec<Block>,
    pub(crate) handled: Vec<Raised>,
    pub(crate) started: bool,
}

impl Generator {
    /// Shows every value that waits to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(state) = self.state.try_borrow()
            && let GenState::Waiting(it) = &*state
        {
            visit(&Value::Func(it.func.clone()));
            it.stack.iter().for_each(visit);
        }
    }

    /// Ends the generator without running it.
    pub(crate) fn finish(&self) {
        let old = self.state.replace(GenState::Done);
        drop(old);
    }
}

/// Methods of generators beyond those of iterators.
pub static METHODS: &[NativeFn] = &[
    function("send", "self, value, /", "Goes on with `value` as the result of `yield`.", send),
    function("throw", "self, exception, /", "Raises at the `yield`.", throw),
    function("close", "self", "Ends the generator.", close),
];

fn generator_of(value: &Value) -> Result<&Rc<Generator>, Raised> {
    match value {
        Value::Generator(it) => Ok(it),
        _ => Err(type_error(format!("expected generator, got {}", type_name(value)))),
    }
}

fn send(cx: &mut Cx, args: Args<'_>) -> Res {
    let generator = generator_of(&args[0])?;
    match cx.resume(generator, args[1].clone())? {
        Ok(item) => Ok(item),
        Err(Value::None) => Err(stop_iteration()),
        Err(result) => Err(Raised::with_args(&STOP_ITERATION, vec![result])),
    }
}

fn throw(cx: &mut Cx, args: Args<'_>) -> Res {
    let raised = cx.raised_from(&args[1])?;
    match cx.throw_into(generator_of(&args[0])?, raised)? {
        Ok(item) => Ok(item),
        Err(Value::None) => Err(stop_iteration()),
        Err(result) => Err(Raised::with_args(&STOP_ITERATION, vec![result])),
    }
}

fn close(cx: &mut Cx, args: Args<'_>) -> Res {
    let generator = generator_of(&args[0])?;
    let fresh = match &*generator.state.borrow() {
        GenState::Waiting(it) => !it.started,
        GenState::Running => return Err(value_error("generator already executing")),
        GenState::Done => true,
    };
    if fresh {
        generator.finish();
        return Ok(Value::None);
    }
    match cx.throw_into(generator, Raised::with_args(&GENERATOR_EXIT, Vec::new())) {
        Ok(Ok(_)) => Err(runtime_error("generator ignored GeneratorExit")),
        Ok(Err(_)) => Ok(Value::None),
        Err(raised) if raised.is(&GENERATOR_EXIT) || raised.is(&STOP_ITERATION) => Ok(Value::None),
        Err(raised) => Err(raised),
    }
}
