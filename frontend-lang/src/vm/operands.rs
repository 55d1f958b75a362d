//! What the names in a failing line hold, for errors about shapes, dtypes and devices: labels for the traceback.
//!
//! Nothing is run for this: names are looked up as they stand, attributes only where objects have them as their own.

use std::rc::Rc;

use crate::bytecode::Code;
use crate::cx::{Cx, Mode};
use crate::diagnostic::Label;
use crate::objects::class::Instance;
use crate::source::{SourceId, Span};
use crate::sym::Sym;
use crate::value::Value;

/// Labels of one place.
const MOST: usize = 5;

/// Longest span whose names are looked at.
pub(super) const LONGEST: usize = 400;

impl Cx {
    /// Labels for the tensors and layers named in `span`, which belongs to the newest frame; with the devices of tensors, or without.
    pub(crate) fn operands(&mut self, span: Span, with_devices: bool) -> Vec<Label> {
        let text = self.sources.text(span).to_owned();
        if text.len() > LONGEST {
            return Vec::new();
        }
        let mut labels: Vec<Label> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (start, path) in names(&text) {
            let Some((path, about)) = self.described(path, with_devices) else { continue };
            if labels.len() >= MOST || seen.contains(&path) {
                continue;
            }
            seen.push(path);
            let start = span.start + start as u32;
            let here = Span { source: span.source, start, end: start + path.len() as u32 };
            labels.push(Label { span: here, text: format!("{path}: {about}") });
            if let Some(made) = self.made_at(path, here)
                && !labels.iter().any(|it| it.span == made)
            {
                labels.push(Label { span: made, text: format!("{path} was made here") });
            }
        }
        labels
    }

    /// What a name holds, in a few words: of `x.add` what is before the method.
    fn described<'a>(&mut self, path: &'a str, with_devices: bool) -> Option<(&'a str, String)> {
        let object = path.rsplit_once('.').map_or(path, |it| it.0);
        let mut paths = [path, object].into_iter();
        paths.find_map(|it| Some((it, about(&self.named(it)?, with_devices)?)))
    }

    /// The value of `a.b.c` in the newest frame.
    pub(super) fn named(&mut self, path: &str) -> Option<Value> {
        let mut parts = path.split('.').map(Sym::new);
        let mut value = self.visible(parts.next()?)?;
        for part in parts {
            value = match &value {
                Value::Instance(it) => it.get(part)?,
                _ => return None,
            };
        }
        Some(value)
    }

    pub(super) fn visible(&mut self, name: Sym) -> Option<Value> {
        let frame = self.machine.frames.last()?;
        let (func, base) = (frame.func.clone(), frame.base);
        let bound = |value: &Value| match value {
            Value::Cell(it) => it.borrow().clone(),
            other => other.clone(),
        };
        if let Some(at) = func.code.locals.iter().position(|it| *it == name) {
            let value = self.machine.stack.get(base + at).map(bound)?;
            if !value.is_unbound() {
                return Some(value);
            }
        }
        if let Some(at) = func.code.free.iter().position(|it| *it == name) {
            return func.closure.get(at).map(|it| it.borrow().clone());
        }
        if self.mode == Mode::Shadow
            && let Some(value) = self.shadow_known(&func.code.globals, name)
        {
            return Some(value);
        }
        func.code.globals.get(name)
    }

    /// Where a plain name was last assigned before `used`: in the same text, or for names of the session in an earlier cell.
    pub(super) fn made_at(&self, name: &str, used: Span) -> Option<Span> {
        if name.contains('.') {
            return None;
        }
        let text = &self.sources.get(used.source)?.text;
        let before = text.get(..used.start as usize)?;
        let line = before.rfind('\n').map_or(0, |it| it + 1);
        let code = &self.machine.frames.last()?.func.code;
        let is_local = code.locals.iter().any(|local| local.as_str() == name);
        // Above a function, names of others are the same by chance.
        let first = if is_local { start_of(code, used.source)? } else { 0 };
        let own = before.get(first..line).unwrap_or_default();
        if let Some((start, end)) = last_assignment(own, name) {
            return Some(at(used.source, (first + start, first + end)));
        }
        if is_local {
            return None;
        }
        (0..used.source.0).rev().map(SourceId).find_map(|id| {
            let source = self.sources.get(id).filter(|it| it.name.starts_with("In["))?;
            last_assignment(&source.text, name).map(|range| at(id, range))
        })
    }
}

/// Where the first line of a function's body begins.
fn start_of(code: &Code, source: SourceId) -> Option<usize> {
    let spans = (0..code.ops.len()).map(|it| code.span(it)).filter(|it| it.source == source);
    spans.map(|it| it.start as usize).min()
}

fn at(source: SourceId, (start, end): (usize, usize)) -> Span {
    Span { source, start: start as u32, end: end as u32 }
}

/// The line `name = ...` that stands last in a text, as a range of bytes.
fn last_assignment(text: &str, name: &str) -> Option<(usize, usize)> {
    let mut found = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let assigned = code.strip_prefix(name).map(str::trim_start);
        if assigned.is_some_and(|it| it.starts_with('=') && !it.starts_with("==")) {
            let end = code.split(" #").next().unwrap_or(code).trim_end().len();
            found = Some((start + indent, start + indent + end));
        }
        start += line.len();
    }
    found
}

/// Dotted names in a piece of code, with where they begin; not those inside of texts, and no keyword names.
pub(super) fn names(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut start = None;
    for (at, it) in text.char_indices().chain([(text.len(), ' ')]) {
        let in_name = it.is_alphanumeric() || it == '_' || (it == '.' && start.is_some());
        match (quote, start) {
            (Some(open), _) if it == open => quote = None,
            (Some(_), _) => {}
            (None, None) if it == '"' || it == '\'' => quote = Some(it),
            (None, None) if in_name && !it.is_numeric() => start = Some(at),
            (None, Some(from)) if !in_name => {
                let rest = text[at..].trim_start();
                let is_keyword = rest.starts_with('=') && !rest.starts_with("==");
                if !is_keyword {
                    found.push((from, text[from..at].trim_end_matches('.')));
                }
                start = None;
                if it == '"' || it == '\'' {
                    quote = Some(it);
                }
            }
            _ => {}
        }
    }
    found
}

/// A few words about a tensor or a layer.
fn about(value: &Value, with_devices: bool) -> Option<String> {
    match value {
        Value::Tensor(it) => {
            let value = it.peek();
            let text = format!("{}{}", value.dtype().name(), value.shape());
            Some(if with_devices { format!("{text} on {}", value.device()) } else { text })
        }
        Value::Instance(it) => layer(it),
        _ => None,
    }
}

/// `Linear(in_features=64, out_features=10)`, for objects that are described by whole numbers.
pub(super) fn layer(it: &Rc<Instance>) -> Option<String> {
    let attrs = it.attrs.borrow();
    let sizes: Vec<String> = attrs
        .iter()
        .filter_map(|(name, value)| match value {
            Value::Int(size) if !name.as_str().starts_with('_') => Some(format!("{name}={size}")),
            _ => None,
        })
        .take(4)
        .collect();
    (!sizes.is_empty()).then(|| format!("{}({})", it.class.name, sizes.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{last_assignment, names};

    #[test]
    fn finds_names_and_assignments() {
        let found: Vec<&str> =
            names("f(x.y, 'no', k=self.w) @ b").into_iter().map(|it| it.1).collect();
        assert_eq!(found, ["f", "x.y", "self.w", "b"]);
        let text = "w = 1\nif w == 2:\n    w = 3  # three\nww = 4\n";
        assert_eq!(last_assignment(text, "w").map(|(a, b)| &text[a..b]), Some("w = 3"));
        assert_eq!(last_assignment(text, "x"), None);
    }
}
