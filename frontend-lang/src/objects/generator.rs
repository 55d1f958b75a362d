//! Generators: frames that wait, with their part of the stack.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::memory::Fixed;
use crate::native::*;
use crate::objects::function::Func;
use crate::vm::frame::Block;

/// A generator.
pub struct Generator {
    pub name: String,
    pub(crate) state: RefCell<GenState>,
    /// The empty box of the frame while it runs, to be filled again when it waits.
    pub(crate) spare: RefCell<Option<Box<Waiting>>>,
    pub(crate) _memory: Fixed<320>,
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
    /// Made in a check before running: nothing of it may happen outside.
    pub(crate) shadow: bool,
}

impl Generator {
    /// Shows every value that waits to `visit`.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(state) = self.state.try_borrow()
            && let GenState::Waiting(it) = &*state
        {
            visit(&Value::Func(it.func.clone()));
            it.stack.iter().for_each(&mut *visit);
            it.handled.iter().for_each(|raised| visit(raised.value()));
        }
    }

    /// Ends the generator without running it.
    pub(crate) fn finish(&self) {
        let old =
            self.state.try_borrow_mut().map(|mut it| std::mem::replace(&mut *it, GenState::Done));
        drop(old);
    }
}

thread_local! {
    #[expect(clippy::vec_box, reason = "the boxes come from generators and go into others")]
    static ABANDONED: RefCell<Vec<Box<Waiting>>> = const { RefCell::new(Vec::new()) };
    static HAS_ABANDONED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps a frame that nobody can resume any more but whose `finally` or `with` must still run.
pub(crate) fn abandon(state: GenState) -> Option<GenState> {
    match state {
        GenState::Waiting(it) if it.started && !it.blocks.is_empty() => {
            let kept = ABANDONED.try_with(|all| all.borrow_mut().push(it));
            HAS_ABANDONED.set(kept.is_ok());
            None
        }
        other => Some(other),
    }
}

/// Notes that an object waits for its `__del__`.
pub(crate) fn note_abandoned() {
    HAS_ABANDONED.set(true);
}

/// True if [`take_abandoned`] has something to give.
#[inline]
pub(crate) fn has_abandoned() -> bool {
    HAS_ABANDONED.get()
}

/// The frames that were abandoned, oldest first.
#[expect(clippy::vec_box, reason = "the boxes come from generators and go into others")]
pub(crate) fn take_abandoned() -> Vec<Box<Waiting>> {
    HAS_ABANDONED.set(false);
    ABANDONED.take()
}

/// Keeps a frame that was abandoned for a later time.
pub(crate) fn put_back(frame: Box<Waiting>) {
    ABANDONED.with_borrow_mut(|all| all.push(frame));
    HAS_ABANDONED.set(true);
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
    cx.close(generator_of(&args[0])?)?;
    Ok(Value::None)
}
