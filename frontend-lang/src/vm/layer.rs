//! Which layer of a model an error about shapes comes from: its path from the model that the user has called, `net.conv.0`.

use std::borrow::Cow;
use std::rc::Rc;

use crate::cx::Cx;
use crate::diagnostic::Label;
use crate::objects::class::Instance;
use crate::source::{Source, Span};
use crate::sym::Sym;
use crate::value::Value;
use crate::vm::operands::{layer, names};

/// Layers inside each other that are looked through.
const DEEPEST: usize = 8;

impl Cx {
    /// The object whose method is running innermost.
    pub(super) fn running_layer(&self) -> Option<Rc<Instance>> {
        let mut frames = self.machine.frames.iter().rev();
        frames.find_map(|frame| {
            let own = frame.func.code.locals.first().filter(|it| it.as_str() == "self")?;
            match self.machine.stack.get(frame.base) {
                Some(Value::Instance(it)) if !own.as_str().is_empty() => Some(it.clone()),
                _ => None,
            }
        })
    }

    /// Names the layer, if the model that it is part of is called in `span`, which belongs to the newest frame and to a cell.
    pub(super) fn layer_label(&mut self, span: Span, inner: &Rc<Instance>) -> Option<Label> {
        let about = layer(inner)?;
        self.sources.get(span.source).filter(|it| Source::is_cell(it))?;
        let text = self.sources.text(span).to_owned();
        names(&text).into_iter().find_map(|(start, path)| {
            let Value::Instance(model) = self.named(path)? else { return None };
            let below = path_to(&model, inner, DEEPEST)?;
            let start = span.start + start as u32;
            let here = Span { start, end: start + path.len() as u32, ..span };
            Some(Label { span: here, text: format!("{path}{below} is {about}") })
        })
    }
}

/// `.conv.0`, from a model to a layer inside it; `None` if it is not in there, or is the model itself.
fn path_to(model: &Rc<Instance>, inner: &Rc<Instance>, depth: usize) -> Option<String> {
    if let Some(name) = name_in(model, inner) {
        return Some(format!(".{name}"));
    }
    let deeper = depth.checked_sub(1)?;
    children(model).iter().find_map(|(name, child)| {
        path_to(child, inner, deeper).map(|below| format!(".{name}{below}"))
    })
}

/// The layers of a model, by name: its attributes, and the items of a container.
pub(super) fn children(model: &Rc<Instance>) -> Vec<(String, Rc<Instance>)> {
    let attrs = model.attrs.borrow();
    let mut found = Vec::new();
    for (name, value) in attrs.iter() {
        match value {
            Value::Instance(it) => found.push((name.to_string(), it.clone())),
            Value::Dict(items) if *name == Sym::ITEMS => {
                found.extend(items.items().into_iter().filter_map(|(name, value)| match value {
                    Value::Instance(it) => Some((name.as_str()?.to_owned(), it)),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    found
}

/// `conv`, or `layers.0`: what an object calls another one that it holds, itself or in a container.
pub(super) fn name_in(outer: &Instance, inner: &Rc<Instance>) -> Option<Cow<'static, str>> {
    let is_inner = |it: &Value| matches!(it, Value::Instance(it) if Rc::ptr_eq(it, inner));
    let attrs = outer.attrs.borrow();
    attrs.iter().find_map(|(name, value)| match value {
        it if is_inner(it) => Some(name.as_str().into()),
        // What is held as `_items` is known by its own name.
        it if *name == Sym::ITEMS => place_in(it, &is_inner).map(Into::into),
        Value::Instance(held) => {
            let attrs = held.attrs.borrow();
            Some(format!("{name}.{}", place_in(attrs.get(&Sym::ITEMS)?, &is_inner)?).into())
        }
        it => Some(format!("{name}.{}", place_in(it, &is_inner)?).into()),
    })
}

/// The key or the number of an item.
fn place_in(container: &Value, is: &dyn Fn(&Value) -> bool) -> Option<String> {
    match container {
        Value::List(it) => it.items.borrow().iter().position(is).map(|at| at.to_string()),
        Value::Tuple(it) => it.iter().position(is).map(|at| at.to_string()),
        Value::Dict(it) => it.key_of(is)?.as_str().map(str::to_string),
        _ => None,
    }
}
