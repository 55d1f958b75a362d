//! The syntax tree: node types only. Every node has its bytes in the source; scopes have a number.

use crate::operate::{BinaryOp, CompareOp, UnaryOp};
use crate::sym::Sym;
use std::rc::Rc;

/// A range of bytes in the source of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    pub start: u32,
    pub end: u32,
}

/// One cell or module.
#[derive(Debug)]
pub struct Module {
    pub body: Vec<Stmt>,
    /// Number of scopes in the tree; the module's own is 0.
    pub scopes: usize,
}

/// A statement.
#[derive(Debug)]
pub struct Stmt {
    pub range: Range,
    pub kind: StmtKind,
}

/// What a statement is.
#[derive(Debug)]
pub enum StmtKind {
    Expr(Expr),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AugAssign {
        target: Expr,
        op: BinaryOp,
        value: Expr,
    },
    AnnAssign {
        target: Expr,
        annotation: String,
        value: Option<Expr>,
    },
    Delete(Vec<Expr>),
    Return(Option<Expr>),
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    Break,
    Continue,
    Pass,
    Function {
        function: Rc<Function>,
        decorators: Vec<Expr>,
    },
    Class(Rc<ClassDef>),
    Import(Vec<Import>),
    ImportFrom {
        module: String,
        names: Vec<ImportName>,
    },
    ImportStar {
        module: String,
    },
    Global(Vec<Sym>),
    Nonlocal(Vec<Sym>),
    With {
        items: Vec<(Expr, Option<Expr>)>,
        body: Vec<Stmt>,
    },
    /// A body that its graph may answer; no text has it, see [`crate::trace_cell`].
    Step {
        step: Expr,
        body: Vec<Stmt>,
        breaks: bool,
    },
    Try(Box<Try>),
    Raise {
        exc: Option<Expr>,
        cause: Option<Expr>,
    },
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Match {
        subject: Expr,
        cases: Vec<Case>,
    },
}

/// `try` with all its parts.
#[derive(Debug)]
pub struct Try {
    pub body: Vec<Stmt>,
    pub handlers: Vec<Handler>,
    pub orelse: Vec<Stmt>,
    pub finally: Vec<Stmt>,
}

/// One `except`.
#[derive(Debug)]
pub struct Handler {
    pub range: Range,
    pub class: Option<Expr>,
    pub name: Option<Sym>,
    pub body: Vec<Stmt>,
}

/// `import a.b as c`.
#[derive(Debug)]
pub struct Import {
    pub module: String,
    pub name: Option<Sym>,
    pub range: Range,
}

/// `name as other` after `from m import`.
#[derive(Debug)]
pub struct ImportName {
    pub name: Sym,
    pub to: Sym,
    pub range: Range,
}

/// `def` or `lambda`, or the hidden function of a generator expression.
#[derive(Debug)]
pub struct Function {
    pub scope: usize,
    pub name: Sym,
    pub name_range: Range,
    pub range: Range,
    pub params: Params,
    pub body: Vec<Stmt>,
    pub is_generator: bool,
    pub doc: Option<String>,
    /// Annotations as text; the result's is under the name `return`.
    pub annotations: Vec<(Sym, String)>,
    pub type_params: Vec<Sym>,
}

/// Parameters of a function.
#[derive(Debug, Default)]
pub struct Params {
    pub list: Vec<Param>,
    /// How many of `list` are positional only, and how many positional at all.
    pub positional_only: usize,
    pub positional: usize,
    pub rest: Option<Sym>,
    pub keywords: Option<Sym>,
}

/// One parameter.
#[derive(Debug)]
pub struct Param {
    pub name: Sym,
    pub default: Option<Expr>,
}

/// `class`.
#[derive(Debug)]
pub struct ClassDef {
    pub scope: usize,
    pub name: Sym,
    pub range: Range,
    pub name_range: Range,
    pub base: Option<Expr>,
    pub keywords: Vec<(Sym, Expr)>,
    pub decorators: Vec<Expr>,
    pub body: Vec<Stmt>,
    pub doc: Option<String>,
}

/// One `case`.
#[derive(Debug)]
pub struct Case {
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    pub body: Vec<Stmt>,
}

/// A pattern.
#[derive(Debug)]
pub struct Pattern {
    pub range: Range,
    pub kind: PatternKind,
}

/// What a pattern is.
#[derive(Debug)]
pub enum PatternKind {
    Any,
    Value(Expr),
    /// `None`, `True`, `False`: compared with `is`.
    Constant(Expr),
    Capture(Sym),
    As(Box<Pattern>, Sym),
    Or(Vec<Pattern>),
    /// Patterns before, the star if there is one, patterns after.
    Sequence(Vec<Pattern>, Option<Option<Sym>>, Vec<Pattern>),
    Mapping {
        keys: Vec<Expr>,
        values: Vec<Pattern>,
        rest: Option<Sym>,
    },
    Class {
        class: Expr,
        positional: Vec<Pattern>,
        keywords: Vec<(Sym, Pattern)>,
    },
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    pub range: Range,
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Debug)]
pub enum ExprKind {
    None,
    Bool(bool),
    Ellipsis,
    Int(i64),
    Float(f64),
    /// The imaginary part of a number without a real one.
    Imaginary(f64),
    Str(String),
    FString(Vec<FPart>),
    Name(Sym),
    Attribute {
        value: Box<Expr>,
        name: Sym,
        name_range: Range,
    },
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    Slice {
        start: Option<Box<Expr>>,
        stop: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Call {
        func: Box<Expr>,
        args: Vec<Arg>,
    },
    Unary {
        op: UnaryOp,
        value: Box<Expr>,
    },
    Not(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Compare {
        first: Box<Expr>,
        rest: Vec<(Comparison, Expr)>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    IfElse {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    /// Entries; `**other` has no key.
    Dict(Vec<(Option<Expr>, Expr)>),
    Starred(Box<Expr>),
    Lambda(Rc<Function>),
    Comprehension(Box<Comprehension>),
    Walrus {
        name: Sym,
        value: Box<Expr>,
    },
    Yield(Option<Box<Expr>>),
    YieldFrom(Box<Expr>),
}

/// Comparisons of the grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Rich(CompareOp),
    Is,
    IsNot,
    In,
    NotIn,
}

/// A part of an f-string.
#[derive(Debug)]
pub enum FPart {
    Text(String),
    Value { value: Expr, conversion: Conversion, spec: Vec<FPart> },
}

/// `!r` and its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    None,
    Str,
    Repr,
    Ascii,
}

/// An argument of a call.
#[derive(Debug)]
pub enum Arg {
    Positional(Expr),
    Star(Expr),
    Keyword(Sym, Expr),
    StarStar(Expr),
}

/// A comprehension or generator expression.
#[derive(Debug)]
pub struct Comprehension {
    pub scope: usize,
    pub kind: ComprehensionKind,
    /// The item, or the key of a dict entry.
    pub item: Expr,
    /// The value of a dict entry.
    pub value: Option<Expr>,
    pub clauses: Vec<Clause>,
}

/// What a comprehension makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComprehensionKind {
    List,
    Set,
    Dict,
    Generator,
}

/// `for target in iter if test ...`.
#[derive(Debug)]
pub struct Clause {
    pub target: Expr,
    pub iter: Expr,
    pub tests: Vec<Expr>,
}
