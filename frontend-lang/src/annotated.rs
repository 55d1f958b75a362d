//! What the text of an annotation means: classes, `list[int]`, `int | None`, names with dots.
//!
//! Only such expressions are evaluated, and no function is called. What means nothing here stays text, such as `f32["N", 784]`.

use std::rc::Rc;

use crate::adapter;
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::cx::{Cx, Mode};
use crate::native::BinaryOp;
use crate::objects::module::Globals;
use crate::objects::union::{Union, is_part};
use crate::source::SourceId;
use crate::sym::Sym;
use crate::value::Value;

/// Where names of an annotation are looked up.
pub(crate) struct Names<'a> {
    /// Names nearer than the globals.
    pub near: &'a dyn Fn(Sym) -> Option<Value>,
    pub globals: &'a Rc<Globals>,
}

impl Cx {
    /// The value of an annotation, or its text.
    pub(crate) fn annotation(&mut self, text: &str, names: &Names<'_>) -> Value {
        self.opt_annotation(text, names).unwrap_or_else(|| Value::str(text))
    }

    /// The value of an annotation; `None` if it has none here.
    pub(crate) fn opt_annotation(&mut self, text: &str, names: &Names<'_>) -> Option<Value> {
        if text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') && text != "None" {
            return self.annotation_name(Sym::new(text), names);
        }
        let (module, diagnostics) = adapter::parse(&format!("({text})"), SourceId::default());
        match module.body.as_slice() {
            [statement] if diagnostics.is_empty() => match &statement.kind {
                StmtKind::Expr(expr) => self.annotation_value(expr, names),
                _ => None,
            },
            _ => None,
        }
    }

    fn annotation_name(&mut self, name: Sym, names: &Names<'_>) -> Option<Value> {
        if let Some(near) = (names.near)(name) {
            return Some(near);
        }
        if self.mode == Mode::Shadow
            && let Some(known) = self.shadow_known(names.globals, name)
        {
            return Some(known);
        }
        match names.globals.get(name) {
            Some(live) if self.mode == Mode::Shadow => self.adopt(&live).ok(),
            Some(found) => Some(found),
            None => self.builtins.get(&name).cloned(),
        }
    }

    fn annotation_value(&mut self, expr: &Expr, names: &Names<'_>) -> Option<Value> {
        Some(match &expr.kind {
            ExprKind::None => Value::None,
            ExprKind::Bool(it) => Value::Bool(*it),
            ExprKind::Int(it) => Value::Int(*it),
            ExprKind::Ellipsis => Value::Ellipsis,
            ExprKind::Str(it) => Value::str(it.as_str()),
            ExprKind::Name(name) => self.annotation_name(*name, names)?,
            ExprKind::Attribute { value, name, .. } => {
                let object = self.annotation_value(value, names)?;
                match object {
                    Value::Module(_) | Value::Class(_) => {
                        self.opt_getattr(&object, *name).ok().flatten()?
                    }
                    _ => return None,
                }
            }
            ExprKind::Subscript { value, index } => {
                let object = self.annotation_value(value, names)?;
                let index = self.annotation_value(index, names)?;
                if !is_part(&object) {
                    return None;
                }
                self.getitem(&object, &index).ok()?
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right } => {
                let left = self.annotation_value(left, names)?;
                let right = self.annotation_value(right, names)?;
                if !is_part(&left) || !is_part(&right) {
                    return None;
                }
                Union::of(&left, &right)
            }
            ExprKind::Tuple(items) => Value::tuple(self.annotation_values(items, names)?),
            ExprKind::List(items) => Value::list(self.annotation_values(items, names)?),
            _ => return None,
        })
    }

    fn annotation_values(&mut self, items: &[Expr], names: &Names<'_>) -> Option<Vec<Value>> {
        items.iter().map(|it| self.annotation_value(it, names)).collect()
    }
}
