//! What an expression under edit will be, as far as that follows from names that are known; nothing is run.

use std::sync::Arc;

use ruff_python_ast::{self as py, Expr};
use ruff_python_parser::parse_expression;
use ruff_text_size::Ranged;

use super::library;
use super::subject::{Key, Row, Subject};
use crate::builtins::types;
use crate::native::NativeType;
use crate::tensor::methods;

/// Deepest nesting that is followed.
const DEEPEST: usize = 60;

/// What names mean at a place.
pub(super) trait Names {
    /// The subject of a name.
    fn name(&self, name: &str) -> Option<Arc<Subject>>;
}

/// What the text of an expression means.
pub(super) fn infer_text(text: &str, names: &dyn Names) -> Option<Arc<Subject>> {
    // In brackets it may go on over several lines.
    let parsed = parse_expression(&format!("({text})")).ok()?;
    infer(&parsed.syntax().body, names)
}

/// What an expression means.
pub(super) fn infer(expr: &Expr, names: &dyn Names) -> Option<Arc<Subject>> {
    at_depth(expr, names, 0)
}

fn at_depth(expr: &Expr, names: &dyn Names, depth: usize) -> Option<Arc<Subject>> {
    let inner = |it: &Expr| if depth < DEEPEST { at_depth(it, names, depth + 1) } else { None };
    match expr {
        Expr::Name(it) => names.name(it.id.as_str()),
        Expr::Attribute(it) => attribute(&*inner(&it.value)?, it.attr.as_str()),
        Expr::Call(it) => call(&*inner(&it.func)?, it, &inner),
        Expr::Subscript(it) => index(&*inner(&it.value)?, &it.slice),
        Expr::Named(it) => inner(&it.value),
        Expr::If(it) => inner(&it.body).or_else(|| inner(&it.orelse)),
        Expr::BinOp(it) => {
            let sides = [inner(&it.left), inner(&it.right)];
            let tensor = sides.iter().flatten().find(|it| is_tensor(it)).map(|_| tensor());
            tensor.or_else(|| {
                sides.into_iter().flatten().next().and_then(|it| of_type(&it.type_name))
            })
        }
        Expr::UnaryOp(it) => inner(&it.operand).filter(|it| is_tensor(it)).map(|_| tensor()),
        Expr::StringLiteral(_) | Expr::FString(_) => Some(instance(&types::STR)),
        Expr::NumberLiteral(it) => Some(instance(match it.value {
            py::Number::Int(_) => &types::INT,
            _ => &types::FLOAT,
        })),
        Expr::BooleanLiteral(_) | Expr::Compare(_) => Some(instance(&types::BOOL)),
        Expr::List(it) => {
            let item = it.elts.first().and_then(inner);
            Some(Arc::new(Subject { item, ..(*instance(&types::LIST)).clone() }))
        }
        Expr::ListComp(it) => {
            let item = inner(&it.elt);
            Some(Arc::new(Subject { item, ..(*instance(&types::LIST)).clone() }))
        }
        Expr::Tuple(it) => {
            let item = it.elts.first().and_then(inner);
            Some(Arc::new(Subject { item, ..(*instance(&types::TUPLE)).clone() }))
        }
        Expr::Set(_) | Expr::SetComp(_) => Some(instance(&types::SET)),
        Expr::Dict(it) => {
            let entry = |it: &py::DictItem| {
                let key = it.key.as_ref()?.as_string_literal_expr()?.value.to_str().to_owned();
                Some((Key::Text(key), inner(&it.value).unwrap_or_default()))
            };
            let entries = it.items.iter().filter_map(entry).collect();
            let entries = Arc::new(entries);
            Some(Arc::new(Subject { entries, ..(*instance(&types::DICT)).clone() }))
        }
        Expr::DictComp(_) => Some(instance(&types::DICT)),
        _ => None,
    }
}

/// A value of a type of Rust.
pub(super) fn instance(row: &'static NativeType) -> Arc<Subject> {
    Arc::new(Subject::instance_of(&Subject::of_row(Row::Type(row))))
}

/// A tensor of which nothing else is known.
pub(super) fn tensor() -> Arc<Subject> {
    instance(&methods::TENSOR)
}

fn is_tensor(subject: &Subject) -> bool {
    matches!(subject.type_name.as_str(), "Tensor" | "Parameter")
}

fn attribute(of: &Subject, name: &str) -> Option<Arc<Subject>> {
    let found = of.member(name)?;
    let is_shape = is_tensor(of) && matches!(name, "T" | "mT" | "grad" | "data");
    Some(if is_shape { tensor() } else { found })
}

fn call(
    func: &Subject,
    call: &py::ExprCall,
    inner: &dyn Fn(&Expr) -> Option<Arc<Subject>>,
) -> Option<Arc<Subject>> {
    match (func.kind, func.row) {
        // `super()` is what the class in whose method it stands is.
        ("class", Row::Type(row)) if std::ptr::eq(row, &types::SUPER) => None,
        ("class", Row::Type(row)) if std::ptr::eq(row, &types::LIST) => {
            let item = call.arguments.args.first().and_then(inner).and_then(|it| it.item.clone());
            Some(Arc::new(Subject { item, ..Subject::instance_of(func) }))
        }
        ("class", Row::Type(row)) if std::ptr::eq(row, &types::DICT) => {
            let named = call.arguments.keywords.iter().filter_map(|it| {
                let key = it.arg.as_ref()?.to_string();
                Some((Key::Text(key), inner(&it.value).unwrap_or_default()))
            });
            let entries = Arc::new(named.collect());
            Some(Arc::new(Subject { entries, ..Subject::instance_of(func) }))
        }
        ("class", _) => Some(Arc::new(Subject::instance_of(func))),
        (_, Row::Op(_) | Row::Method(_)) => Some(tensor()),
        (_, Row::Function(row)) => of_function(row.name),
        // What a layer gives is a tensor.
        ("instance", _) => func.member("forward").map(|_| tensor()),
        _ => None,
    }
}

/// What functions of Rust give, where their name says it.
fn of_function(name: &str) -> Option<Arc<Subject>> {
    match name {
        "tensor" | "as_tensor" | "from_numpy" | "clone" | "detach" | "float" | "double"
        | "long" | "to" => Some(tensor()),
        "sorted" => Some(instance(&types::LIST)),
        "strip" | "lower" | "upper" | "replace" | "format" | "join" | "title" | "lstrip"
        | "rstrip" | "repr" | "input" => Some(instance(&types::STR)),
        "split" | "splitlines" => {
            let item = Some(instance(&types::STR));
            Some(Arc::new(Subject { item, ..(*instance(&types::LIST)).clone() }))
        }
        "len" => Some(instance(&types::INT)),
        _ => None,
    }
}

fn index(of: &Subject, at: &Expr) -> Option<Arc<Subject>> {
    if is_tensor(of) {
        return Some(tensor());
    }
    if let Some(key) = at.as_string_literal_expr() {
        let key = Key::Text(key.value.to_str().to_owned());
        return of.entries.iter().find(|it| it.0 == key).map(|it| it.1.clone());
    }
    match at {
        Expr::Slice(_) => Some(Arc::new(of.clone())),
        _ => of.item.clone(),
    }
}

fn of_type(name: &str) -> Option<Arc<Subject>> {
    Some(match library::builtins().get(name)?.row {
        Row::Type(row) => instance(row),
        _ => return None,
    })
}

/// The range of a node in bytes.
pub(super) fn range(node: &impl Ranged) -> std::ops::Range<usize> {
    node.range().start().to_usize()..node.range().end().to_usize()
}
