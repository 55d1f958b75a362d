//! Classes whose methods stand elsewhere than they do: what a dataclass is called with, and where a class is written.

use super::subject::{Param, Subject};
use crate::cx::Cx;
use crate::objects::class::{Class, type_name};
use crate::params::Kind;
use crate::source::Span;
use crate::sym::Sym;
use crate::value::Value;

/// `__init__` of a dataclass, with its fields as parameters.
pub(super) fn init(class: &Class, text: &mut dyn FnMut(&Value) -> String) -> Option<Subject> {
    let fields = class.lookup(Sym::new("__dataclass_fields__"))?;
    let fields = fields.as_dict()?.items();
    let mut own_params: Vec<Param> =
        fields.iter().filter_map(|(name, field)| param(name.as_str()?, field, text)).collect();
    own_params.sort_by_key(|it| it.kind == Kind::KeywordOnly);
    let name = "__init__".to_owned();
    Some(Subject { name, own_params, ..Subject::of("function") })
}

fn param(name: &str, field: &Value, text: &mut dyn FnMut(&Value) -> String) -> Option<Param> {
    let Value::Instance(field) = field else { return None };
    let given = |name: &str| field.get(Sym::new(name)).filter(|it| type_name(it) != "_Missing");
    let is_true = |name: &str| matches!(field.get(Sym::new(name)), Some(Value::Bool(true)));
    if !is_true("init") {
        return None;
    }
    let hint = match given("type") {
        Some(Value::Class(it)) => it.name.as_str().to_owned(),
        Some(it) => it.as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let default = match (given("default"), given("default_factory")) {
        (Some(value), _) => Some(text(&value)),
        (None, Some(_)) => Some("...".to_owned()),
        (None, None) => None,
    };
    let kind = if is_true("kw_only") { Kind::KeywordOnly } else { Kind::Both };
    Some(Param { name: name.to_owned(), kind, hint, default })
}

/// Where a class of the user's stands that has no method of its own: the latest cell with its name.
pub(super) fn place_of_class(cx: &Cx, class: &Class) -> Option<Span> {
    let head = format!("class {}", class.name);
    cx.sources.find_cell(|text| {
        let after = |at: usize| text[at + head.len()..].starts_with([':', '(', '[', ' ']);
        let found = text.match_indices(&head).map(|it| it.0).find(|at| after(*at))?;
        Some((found, found + head.len()))
    })
}
