//! Compiled code: operations of the stack machine, with the place in the source of each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::objects::module::Globals;
use crate::operate::{BinaryOp, CompareOp, UnaryOp};
use crate::source::{Held, SourceId, Span};
use crate::sym::Sym;
use crate::value::Value;

/// One operation. Comments show the stack before and after, top on the right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Const(u32),
    None,
    /// Frame slots.
    Local(u32),
    SetLocal(u32),
    DelLocal(u32),
    /// Forgets the value; no error if there is none.
    ClearLocal(u32),
    /// Puts the slot's value into a new cell in the slot.
    MakeCell(u32),
    Cell(u32),
    SetCell(u32),
    DelCell(u32),
    Free(u32),
    SetFree(u32),
    DelFree(u32),
    Global(u32),
    SetGlobal(u32),
    DelGlobal(u32),
    ClassName(Sym),
    SetClassName(Sym),
    DelClassName(Sym),
    /// object -> value
    Attr {
        name: Sym,
        cache: u16,
    },
    /// The same of an object read from the frame.
    AttrL {
        slot: u8,
        name: Sym,
        cache: u16,
    },
    /// value object ->
    SetAttr {
        name: Sym,
        cache: u16,
    },
    SetAttrL {
        slot: u8,
        name: Sym,
        cache: u16,
    },
    /// object value ->
    PutAttr {
        name: Sym,
        cache: u16,
    },
    DelAttr(Sym),
    /// object -> function object, or unbound function
    Method {
        name: Sym,
        cache: u16,
    },
    /// class self -> function self, or unbound function
    SuperMethod(Sym),
    /// class self -> value
    SuperAttr(Sym),
    /// class self -> super
    Super,
    Index,
    /// The same with container and index read from the frame.
    IndexLL(u8, u8),
    IndexLC(u8, u16),
    /// -> container index item, the first two read from the frame.
    ItemLL(u8, u8),
    ItemLC(u8, u16),
    /// value container index ->
    SetIndex,
    SetIndexLL(u8, u8),
    SetIndexLC(u8, u16),
    /// container index value ->
    PutIndex,
    DelIndex,
    /// start stop step -> slice
    Slice,
    Binary(BinaryOp),
    /// Local and local, local and constant: the same with operands read from the frame.
    BinaryLL(BinaryOp, u8, u8),
    BinaryLC(BinaryOp, u8, u16),
    /// The right operand alone read from the frame.
    BinaryL(BinaryOp, u8),
    BinaryC(BinaryOp, u16),
    Inplace(BinaryOp),
    Unary(UnaryOp),
    Not,
    Compare(CompareOp),
    Is,
    IsNot,
    In,
    NotIn,
    Jump(u32),
    /// A jump backwards: the interrupt flag is read.
    Loop(u32),
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    JumpIfFalseKeep(u32),
    JumpIfTrueKeep(u32),
    /// a b -> ; jumps if the comparison is false.
    CompareJump(CompareOp, u32),
    /// The same with operands read from the frame; the target stands in the `CompareJump` behind them.
    CompareJumpLL(CompareOp, u8, u8),
    CompareJumpLC(CompareOp, u8, u16),
    CompareJumpL(CompareOp, u8),
    CompareJumpC(CompareOp, u16),
    Pop,
    Dup,
    Dup2,
    /// a b -> b a
    Rot2,
    /// a b c -> c a b
    Rot3,
    Tuple(u32),
    List(u32),
    Set(u32),
    Dict(u32),
    /// Adds the top to the container that many places below it.
    ListAppend(u32),
    SetAdd(u32),
    DictAdd(u32),
    /// list iterable -> list
    ListExtend,
    SetUpdate,
    ListToTuple,
    /// dict mapping -> dict
    DictUpdate,
    /// Like `DictUpdate` for `**` in calls: keys are names and new.
    DictMerge,
    Unpack(u32),
    UnpackStar(u16, u16),
    Iter,
    /// iterator -> iterator item, or jumps with the iterator gone.
    ForIter(u32),
    /// function args... -> result
    Call(u32),
    /// function-or-unbound object args... -> result
    CallMethod(u32),
    /// function args... keyword values...; the names stand in `Code::keywords`.
    CallKw(u16, u32),
    CallMethodKw(u16, u32),
    /// function list -> result; or function list dict -> result
    CallStar(bool),
    Return,
    Yield,
    /// iterator -> iterator, yielding; or value at the end
    YieldFrom,
    MakeFunction {
        child: u32,
        flags: u16,
    },
    /// base keywords body -> class
    MakeClass(u32),
    /// Puts a handler in force.
    Try(u32),
    EndTry,
    /// Ends a handler.
    PopHandled,
    /// Raises what the innermost handler handles again.
    Reraise,
    /// exception class -> exception bool
    MatchException,
    Raise,
    RaiseFrom,
    RaiseAgain,
    /// context -> value; keeps the context in the slot
    WithEnter(u32),
    WithExit(u32),
    /// exception -> bool
    WithExitError(u32),
    /// step -> ; keeps it in the slot, or jumps if the body is answered: then the slot says whether by `break`
    EnterStep(u16, u32),
    /// A statement of the step in the slot begins, or the last one has ended: where it is cut, a piece of it may be answered. Jumps where that
    /// leaves the loop.
    CutStep(u16, u32),
    /// Ends the step in the slot; by `break`, or by another way.
    LeaveStep(u32, bool),
    /// -> module
    Import(u32),
    /// The last module of a dotted name rather than the first.
    ImportLeaf(u32),
    /// module -> module value
    ImportFrom(Sym),
    ImportStar,
    /// value -> text, or an integer, which `Concat` writes
    Format(Convert),
    /// value spec -> text
    FormatSpec(Convert),
    /// Texts and integers as one text; every f-string ends with it.
    Concat(u32),
    /// -> raises AssertionError without message
    AssertFail,
    /// message -> raises
    AssertMessage,
    /// left right -> raises with both sides shown
    AssertCompare(CompareOp),
    /// value -> items... bool: exact or least length of a sequence
    MatchSequence {
        len: u16,
        star: bool,
    },
    /// sequence -> item; counted from the end if negative
    MatchItem(i32),
    /// sequence -> list without that many at both ends
    MatchRest(u16, u16),
    IsMapping,
    /// mapping key -> value true, or false
    MatchKey,
    /// mapping keys-tuple -> dict
    MatchMappingRest,
    /// value class -> bool
    IsInstance,
    /// value -> attribute true, or false
    MatchAttr(Sym),
    /// value class -> attribute true, or false: the positional pattern of that number
    MatchPositional(u16),
    /// Checks arguments against a signature; keeps the sizes of its names in the slot.
    CheckParams(u32, u16),
    /// value -> value, checked against a signature and the sizes in the slot
    CheckResult(u32, u16),
    /// value -> value, checked against the signature's result
    CheckValue(u32),
    /// Adds a name and its annotation to a class.
    Annotate(u32),
    /// -> what the part of a function has come to that ends here
    EndPart(bool),
}

impl Op {
    /// The first of the operations that a joined one stands for; the others still stand behind it.
    pub fn unjoined(self) -> Op {
        match self {
            Op::BinaryLL(_, slot, _)
            | Op::BinaryLC(_, slot, _)
            | Op::BinaryL(_, slot)
            | Op::CompareJumpLL(_, slot, _)
            | Op::CompareJumpLC(_, slot, _)
            | Op::CompareJumpL(_, slot)
            | Op::IndexLL(slot, _)
            | Op::IndexLC(slot, _)
            | Op::ItemLL(slot, _)
            | Op::ItemLC(slot, _)
            | Op::SetIndexLL(slot, _)
            | Op::SetIndexLC(slot, _)
            | Op::AttrL { slot, .. }
            | Op::SetAttrL { slot, .. } => Op::Local(slot as u32),
            Op::BinaryC(_, idx) | Op::CompareJumpC(_, idx) => Op::Const(idx as u32),
            other => other,
        }
    }

    /// The second slot that a joined operation reads.
    pub fn joined_local(self) -> Option<u8> {
        match self {
            Op::BinaryLL(_, _, slot)
            | Op::CompareJumpLL(_, _, slot)
            | Op::IndexLL(_, slot)
            | Op::ItemLL(_, slot)
            | Op::SetIndexLL(_, slot) => Some(slot),
            _ => None,
        }
    }

    /// Where a jump leads.
    pub fn target_mut(&mut self) -> Option<&mut u32> {
        match self {
            Op::Jump(it)
            | Op::Loop(it)
            | Op::JumpIfFalse(it)
            | Op::JumpIfTrue(it)
            | Op::JumpIfFalseKeep(it)
            | Op::JumpIfTrueKeep(it)
            | Op::CompareJump(_, it)
            | Op::EnterStep(_, it)
            | Op::CutStep(_, it)
            | Op::ForIter(it)
            | Op::Try(it) => Some(it),
            _ => None,
        }
    }

    /// Whether this is one of the operations of `match`.
    pub fn is_matching(self) -> bool {
        matches!(
            self,
            Op::MatchSequence { .. }
                | Op::MatchItem(_)
                | Op::MatchRest(..)
                | Op::IsMapping
                | Op::MatchKey
                | Op::MatchMappingRest
                | Op::IsInstance
                | Op::MatchAttr(_)
                | Op::MatchPositional(_)
        )
    }
}

/// `!r` and its kind, as the machine sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    None,
    Str,
    Repr,
    Ascii,
}

const _: () = assert!(size_of::<Op>() == 8);

/// Bits of `MakeFunction`: what lies on the stack.
pub mod flags {
    pub const DEFAULTS: u16 = 1;
    pub const KEYWORD_DEFAULTS: u16 = 2;
}

/// What code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    Module,
    Function,
    Class,
}

/// Compiled code of a function, class body, cell or module.
pub struct Code {
    pub kind: CodeKind,
    pub name: Sym,
    pub qualname: String,
    pub source: SourceId,
    /// Keeps the text of its source.
    pub held: Held,
    pub ops: Vec<Op>,
    pub places: Rc<[(u32, u32)]>,
    /// The number of the site before the first operation; 0 if they have none.
    pub sites: u32,
    pub consts: Vec<Value>,
    pub children: Vec<Rc<Code>>,
    pub params: CodeParams,
    /// Names of frame slots, parameters first.
    pub locals: Vec<Sym>,
    /// Names of cells from outside, and where the making frame has them.
    pub free: Vec<Sym>,
    pub captures: Vec<Capture>,
    pub is_generator: bool,
    pub doc: Option<String>,
    pub annotations: Vec<(Sym, String)>,
    /// The whole definition, for `name??`.
    pub span: Span,
    pub globals: Rc<Globals>,
    /// The slot of `__class__` in a class body.
    pub class_cell: Option<u32>,
    pub caches: Vec<Cache>,
    /// Its branches and loops with a condition, by the jumps that test.
    pub branches: Vec<Branch>,
    /// Names of the keyword arguments of calls.
    pub keywords: Vec<Box<[Sym]>>,
    /// How many arguments a call has that only needs them to lie where the caller put them.
    pub plain_count: Option<u32>,
    /// Functions under trace of this code, one after the other, that were dropped after a call or two.
    pub short_lived: Cell<u32>,
}

/// An `if`, a conditional expression or a `while`, by the places of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The jump that tests.
    pub test: u32,
    /// The first operation behind both branches, or behind the loop.
    pub end: u32,
    /// Of a loop: where its condition begins, and the jump back to there.
    pub turn: Option<(u32, u32)>,
    /// Whether it leaves a value on the stack: a conditional expression.
    pub gives: bool,
}

/// Parameters of a function.
#[derive(Default, Debug)]
pub struct CodeParams {
    pub names: Vec<Sym>,
    pub positional_only: usize,
    pub positional: usize,
    pub has_rest: bool,
    pub has_keywords: bool,
}

/// Where a closure finds a cell in the frame that makes it.
#[derive(Clone, Copy, Debug)]
pub enum Capture {
    Local(u32),
    Free(u32),
}

/// What an operation remembers of its last look-up.
#[derive(Default)]
pub struct Cache {
    /// Place in the attribute map of the instance.
    pub place: Cell<u32>,
    /// Class (or row) address and class version for which `found` is right.
    pub key: Cell<(usize, u32)>,
    pub found: RefCell<Value>,
}

impl CodeParams {
    /// True if arguments can lie where the caller put them.
    #[inline]
    pub fn is_simple(&self) -> bool {
        self.names.len() == self.positional && !self.has_rest && !self.has_keywords
    }

    /// Number of frame slots that parameters take.
    pub fn slots(&self) -> usize {
        self.names.len() + self.has_rest as usize + self.has_keywords as usize
    }
}

impl Code {
    /// Whether there is a loop.
    pub fn has_loop(&self) -> bool {
        self.ops.iter().any(|it| matches!(it, Op::ForIter(_) | Op::Loop(_)))
    }

    /// Whether loops of it are steps.
    pub fn has_steps(&self) -> bool {
        self.ops.iter().any(|it| matches!(it, Op::EnterStep(..)))
    }

    /// Whether a slot of the frame is that of a name.
    pub fn is_named(&self, slot: u32) -> bool {
        !self.locals[slot as usize].as_str().is_empty()
    }

    /// Whether a call with `count` arguments only needs them to lie where the caller put them.
    #[inline(always)]
    pub fn takes_plainly(&self, count: usize) -> bool {
        self.plain_count == Some(count as u32)
    }

    /// The place in the source of an operation.
    pub fn span(&self, op_idx: usize) -> Span {
        let (start, end) = self.places.get(op_idx).copied().unwrap_or_default();
        Span { source: self.source, start, end }
    }
}
