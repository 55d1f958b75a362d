//! Frames, and the state of the machine.

use std::rc::Rc;

use engine::Scope;

use crate::error::Raised;
use crate::objects::class::{AttrMap, Class};
use crate::objects::function::Func;
use crate::objects::generator::Generator;
use crate::sym::Sym;
use crate::value::Value;
use crate::value::words::{self, hold};
use crate::vm::stack::Stack;

/// Deepest nesting of calls.
pub(crate) const RECURSION_LIMIT: usize = 1000;

/// What the machine works on.
#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) stack: Stack,
    pub(crate) frames: Vec<Frame>,
    /// Handlers in force in all frames.
    pub(crate) blocks: Vec<Block>,
    /// Exceptions being handled, innermost last.
    pub(crate) handled: Vec<Raised>,
}

/// One call.
pub(crate) struct Frame {
    pub(crate) func: Rc<Func>,
    /// The next operation; right only while the frame does not run.
    pub(crate) ip: usize,
    /// Where its locals begin on the stack.
    pub(crate) base: usize,
    /// Height of the stack when it returns.
    pub(crate) return_to: usize,
    /// Heights of `blocks` and `handled` when it began.
    pub(crate) blocks: usize,
    pub(crate) handled: usize,
    pub(crate) kind: FrameKind,
}

/// What happens when a frame returns.
pub(crate) enum FrameKind {
    /// The result goes to the frame below.
    Call,
    /// The result goes to the frame below, which is outside of this part.
    Part(Scope),
    /// The result goes to Rust.
    Entry,
    /// `__init__`: the object goes to the frame below.
    Init(Value),
    /// A class body: the class goes to the frame below.
    Class(Box<ClassBuild>),
    /// A generator driven by the `for` of the frame below.
    ForLoop(Rc<Generator>),
    /// A generator driven from Rust.
    Resumed(Rc<Generator>),
}

/// What frame a result has left.
pub(crate) enum Left {
    /// One of these two, which is gone; the result lies on top.
    Call,
    Entry,
    /// Another kind, which is still there.
    No,
}

impl Machine {
    /// Takes the newest frame off if only its result is to be handed on.
    #[inline(always)]
    pub(crate) fn leave_call(&mut self) -> Left {
        let Some(frame) = self.frames.last() else { return Left::No };
        let left = match frame.kind {
            FrameKind::Call => Left::Call,
            FrameKind::Entry => Left::Entry,
            _ => return Left::No,
        };
        let (to, blocks, handled) = (frame.return_to, frame.blocks, frame.handled);
        if let Some(Frame { func, kind, .. }) = self.frames.pop() {
            drop(func);
            // Neither of the two owns anything.
            std::mem::forget(kind);
        }
        if (self.blocks.len(), self.handled.len()) != (blocks, handled) {
            self.end_handlers(blocks, handled);
        }
        let result = hold(self.stack.pop());
        self.stack.shrink(to);
        words::push(&mut self.stack, result);
        left
    }

    /// Ends the handlers that a frame has left behind, of which there were so many when it began.
    #[cold]
    #[inline(never)]
    fn end_handlers(&mut self, blocks: usize, handled: usize) {
        self.blocks.truncate(blocks);
        self.handled.truncate(handled);
    }
}

/// A class being made.
pub(crate) struct ClassBuild {
    pub(crate) name: Sym,
    pub(crate) base: Rc<Class>,
    pub(crate) keywords: Vec<(Sym, Value)>,
    pub(crate) namespace: AttrMap,
}

/// A handler in force.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    pub(crate) target: u32,
    pub(crate) stack: usize,
    pub(crate) handled: usize,
}

/// Why the loop stopped.
pub(crate) enum Exit {
    Return(Value),
    Yield(Value),
}
