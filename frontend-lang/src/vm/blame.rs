//! What made an operand that an operation refuses: a method that was not called, a function without `return`, a gradient that is not
//! there, a method without `self`. It is told with the error, as its next step and a label at the definition.
//!
//! Nothing of the user's is run for this: the text of the failing place is read, and its names are looked up as they stand.

use std::rc::Rc;

use crate::adapter;
use crate::ast::{Arg, Expr, ExprKind, Module, Stmt, StmtKind};
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::diagnostic::Label;
use crate::error::Raised;
use crate::objects::tensor::TensorObj;
use crate::source::Span;
use crate::sym::Sym;
use crate::trace::TracedFn;
use crate::value::Value;

/// Places of one exception that are looked at.
const MOST_PLACES: usize = 4;

/// Longest text that is read.
const LONGEST: usize = 2_000;

/// Methods that change their object and give None.
const IN_PLACE: &[&str] = &[
    "add",
    "append",
    "backward",
    "clear",
    "discard",
    "extend",
    "insert",
    "remove",
    "reverse",
    "shuffle",
    "sort",
    "step",
    "update",
    "zero_grad",
];

/// What is wrong with an operand.
struct Found {
    help: String,
    label: Option<Label>,
}

/// Adds to the error of a call with one argument too many what it is, where a method has no place for its object.
pub(super) fn without_self(raised: Raised, code: &Rc<Code>, args: &[Value]) -> Raised {
    let names: Vec<&str> =
        code.params.names[..code.params.positional].iter().map(|it| it.as_str()).collect();
    let is_method = match args.first() {
        Some(Value::Instance(it)) => match it.class.lookup(code.name) {
            Some(Value::Func(found)) => Rc::ptr_eq(&found.code, code),
            _ => false,
        },
        _ => false,
    };
    if !is_method || args.len() != names.len() + 1 || names.first() == Some(&"self") {
        return raised;
    }
    let head = [&["self"], names.as_slice()].concat().join(", ");
    let help = format!("a method gets its object first: write `def {}({head}):`", code.name);
    let text = "`self` is missing here".to_owned();
    raised.with_help(Some(help)).with_label(Label { span: code.span, text })
}

impl Cx {
    /// Adds to an error about None or a function what made it so, where that can be seen at this place.
    pub(super) fn blame(&mut self, raised: Raised, span: Span, labels: &mut Vec<Label>) -> Raised {
        for label in labels.iter_mut() {
            label.span = self.head_of(label.span);
        }
        let is_first = raised.marks().is_empty();
        if raised.help().is_some() || raised.marks().len() >= MOST_PLACES {
            return raised;
        }
        let message = raised.message();
        let about_none = message.contains("NoneType");
        if !(about_none || is_first && message.contains("method")) {
            return raised;
        }
        let text = self.sources.text(span).to_owned();
        let found = read(&text).and_then(|module| {
            let operands = operands(&module, is_first);
            operands.into_iter().find_map(|it| match about_none {
                true => self.made_none(it, &text, span),
                false => self.not_called(it, &text),
            })
        });
        let Some(found) = found else { return raised };
        labels.extend(found.label);
        raised.with_help(Some(found.help))
    }

    /// The line with `def` of a definition.
    fn head_of(&self, span: Span) -> Span {
        let text = self.sources.text(span);
        let begin = if text.starts_with("def ") { 0 } else { text.find("def ").unwrap_or(0) };
        let line = text[begin..].lines().next().unwrap_or_default().trim_end().len();
        let start = span.start + begin as u32;
        Span { start, end: start + line as u32, ..span }
    }

    /// `x.item` where `x.item()` is meant.
    fn not_called(&mut self, expr: &Expr, text: &str) -> Option<Found> {
        let (name, kind) = match (&expr.kind, self.seen(expr)?) {
            (ExprKind::Name(name), Value::Func(_)) => (name, "function"),
            (ExprKind::Name(name), Value::Method(_)) => (name, "method"),
            (
                ExprKind::Attribute { name, .. },
                Value::Method(_) | Value::Func(_) | Value::Native(_),
            ) => (name, "method"),
            _ => return None,
        };
        let written = text.get(expr.range.start as usize..expr.range.end as usize)?;
        let help = format!("`{name}` is a {kind}: call it, `{written}()`");
        Some(Found { help, label: None })
    }

    /// Why an operand is None.
    fn made_none(&mut self, expr: &Expr, text: &str, span: Span) -> Option<Found> {
        match &expr.kind {
            ExprKind::Call { func, .. } => self.gave_none(func),
            ExprKind::Attribute { value, name, .. } if name.as_str() == "grad" => {
                let Value::Tensor(object) = self.seen(value)? else { return None };
                let written = text.get(value.range.start as usize..value.range.end as usize)?;
                object.grad().is_none().then(|| no_grad(&object, written))
            }
            ExprKind::Name(name) => {
                let is_none = self.visible(*name)?.is_none();
                let made = self.made_at(name.as_str(), span).filter(|_| is_none)?;
                let text = self.sources.text(made).to_owned();
                match &read(&text)?.body.first()?.kind {
                    StmtKind::Assign { value, .. } => match &value.kind {
                        ExprKind::Call { func, .. } => self.gave_none(func),
                        ExprKind::Attribute { .. } => self.made_none(value, &text, made),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Why a call of `func` has given None.
    fn gave_none(&mut self, func: &Expr) -> Option<Found> {
        if let Some(code) = self.seen(func).and_then(|it| code_of(&it)) {
            return self.silent(&code);
        }
        match &func.kind {
            ExprKind::Attribute { name, .. } if IN_PLACE.contains(&name.as_str()) => {
                let help = format!(
                    "`{name}()` changes its object and gives None: do not assign its result"
                );
                Some(Found { help, label: None })
            }
            _ => None,
        }
    }

    /// What is wrong with a function that gives None, if that is for want of a `return`.
    fn silent(&mut self, code: &Code) -> Option<Found> {
        if code.is_generator {
            return None;
        }
        let head = self.head_of(code.span);
        let text = self.sources.text(Span { end: code.span.end, ..head }).to_owned();
        let module = read(&text)?;
        let StmtKind::Function { function, .. } = &module.body.first()?.kind else { return None };
        let mut returns = Vec::new();
        each_return(&function.body, &mut returns);
        let gives_none = |it: &&Expr| matches!(it.kind, ExprKind::None);
        if returns.iter().any(gives_none) {
            return None;
        }
        let name = code.name;
        let (help, label) = match returns.is_empty() {
            true => (
                format!(
                    "`{name}` has no `return`, so its result is None: end it with `return` and the value"
                ),
                "this function has no `return`",
            ),
            false => (
                format!(
                    "`{name}` came to its end without a `return`, so its result is None: give a value on every way"
                ),
                "this function does not always `return` a value",
            ),
        };
        Some(Found { help, label: Some(Label { span: head, text: label.to_owned() }) })
    }

    /// What a name or attribute holds, where that can be seen without running code.
    fn seen(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Name(name) => self.visible(*name),
            ExprKind::Attribute { value, name, .. } => match self.seen(value)? {
                Value::Instance(it) => it.get(*name).or_else(|| {
                    it.class.lookup(*name).filter(|found| matches!(found, Value::Func(_)))
                }),
                Value::Tensor(it) => self.getattr(&Value::Tensor(it), *name).ok(),
                Value::Class(it) => it.lookup(*name),
                Value::Module(it) => it.globals.get(*name),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The text of a place as a program.
fn read(text: &str) -> Option<Module> {
    if text.len() > LONGEST {
        return None;
    }
    let (module, diagnostics) = adapter::parse(text, Default::default());
    diagnostics.is_empty().then_some(module)
}

/// What the operation at a place works on. The place may be a call that has failed inside: then its value was not there yet.
fn operands(module: &Module, is_first: bool) -> Vec<&Expr> {
    let Some(stmt) = module.body.first() else { return Vec::new() };
    match &stmt.kind {
        StmtKind::Expr(expr) => {
            let mut found = Vec::new();
            if is_first {
                found.push(expr);
            }
            found.extend(parts(expr));
            found
        }
        StmtKind::AugAssign { target, value, .. } => vec![target, value],
        StmtKind::Assign { value, .. } | StmtKind::Return(Some(value)) => vec![value],
        StmtKind::For { iter, .. } => vec![iter],
        StmtKind::With { items, .. } => items.iter().map(|it| &it.0).collect(),
        _ => Vec::new(),
    }
}

/// What an expression is made of.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Attribute { value, .. }
        | ExprKind::Unary { value, .. }
        | ExprKind::Not(value) => {
            vec![value]
        }
        ExprKind::Subscript { value, index } => vec![value, index],
        ExprKind::Binary { left, right, .. } => vec![left, right],
        ExprKind::Compare { first, rest } => {
            std::iter::once(&**first).chain(rest.iter().map(|it| &it.1)).collect()
        }
        ExprKind::Call { func, args } => {
            let object = match &func.kind {
                ExprKind::Attribute { value, .. } => Some(&**value),
                _ => None,
            };
            let given = args.iter().map(|it| match it {
                Arg::Positional(it) | Arg::Star(it) | Arg::Keyword(_, it) | Arg::StarStar(it) => it,
            });
            object.into_iter().chain(given).collect()
        }
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// The code that a call of a value runs.
fn code_of(value: &Value) -> Option<Rc<Code>> {
    match value {
        Value::Func(it) => Some(it.code.clone()),
        Value::Method(it) => code_of(&it.func),
        Value::Instance(it) => {
            let of =
                |name: &'static str| it.class.lookup(Sym::of(name)).and_then(|it| code_of(&it));
            of("forward").or_else(|| of("__call__"))
        }
        _ => value.downcast::<TracedFn>().and_then(|it| code_of(it.func())),
    }
}

/// The values that a function returns, those of functions inside it aside.
fn each_return<'a>(block: &'a [Stmt], found: &mut Vec<&'a Expr>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Return(Some(value)) => found.push(value),
            StmtKind::If { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::For { body, orelse, .. } => {
                each_return(body, found);
                each_return(orelse, found);
            }
            StmtKind::With { body, .. } => each_return(body, found),
            StmtKind::Try(it) => {
                let handlers = it.handlers.iter().map(|it| &it.body);
                let blocks = [&it.body, &it.orelse, &it.finally].into_iter().chain(handlers);
                blocks.for_each(|it| each_return(it, found));
            }
            StmtKind::Match { cases, .. } => {
                cases.iter().for_each(|it| each_return(&it.body, found));
            }
            _ => {}
        }
    }
}

/// Why a tensor has no gradient; `written` is how the program names it.
fn no_grad(object: &TensorObj, written: &str) -> Found {
    let value = object.peek();
    let is_leaf = value.edge().is_none_or(|it| it.is_leaf());
    let help = if object.is_grad_cleared() {
        format!(
            "`{written}.grad` is None since it was cleared (`zero_grad()`): call `backward()` after that, then use it"
        )
    } else if !value.requires_grad() {
        format!(
            "`{written}` collects no gradient: make it with `requires_grad=True`, before `backward()`"
        )
    } else if !is_leaf {
        format!(
            "`{written}` is a result of other tensors, whose gradient is not kept: call `{written}.retain_grad()` before `backward()`"
        )
    } else {
        format!(
            "no `backward()` has reached `{written}`, so its gradient is None: call `loss.backward()` first"
        )
    };
    Found { help, label: None }
}
