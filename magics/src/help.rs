//! `name?`: what a name is, in words.

use std::fmt::Write;

use engine::OpDef;
use engine::lane::{self, ElementwiseGrad};
use engine::op::{Body, Grad};
use frontend_lang::ops_binding::{OpFunction, signature};
use frontend_lang::session::Session;

use crate::{Magic, MagicError, find, usage};

/// Help for a dotted name or a magic; `detailed` adds the source where there is one.
pub fn describe(session: &mut Session, name: &str, detailed: bool) -> Result<String, MagicError> {
    let bare = name.trim_start_matches('%');
    if let Some(magic) = find(bare).filter(|_| name.starts_with('%')) {
        return Ok(of_magic(magic));
    }
    let Some(value) = session.lookup(name) else {
        return match find(name) {
            Some(magic) => Ok(of_magic(magic)),
            None => Err(MagicError::failed(format!("nothing is known about `{name}`"))),
        };
    };
    match value.downcast::<OpFunction>() {
        Some(func) => Ok(of_op(func.op)),
        None => Ok(session.describe(&value, name, detailed)),
    }
}

/// Usage, summary and arguments of a magic.
pub fn of_magic(magic: &Magic) -> String {
    let mut res = format!("{}\n\n{}\n", usage(magic), magic.summary);
    for arg in magic.args {
        let (name, help) = arg.help();
        let _ = write!(res, "\n  {name:<14} {help}");
    }
    if let Some(first) = magic.examples.first() {
        let _ = write!(res, "\n\nExample:\n  {}", first.cell.replace('\n', "\n  "));
    }
    res
}

/// The derivative by the first input, as a formula.
fn derivative(op: &'static OpDef) -> String {
    let attrs = op.default_attrs();
    match lane::grad_op(op, &attrs, 0) {
        Ok(ElementwiseGrad::Same) => "dy".into(),
        Ok(ElementwiseGrad::Zero) => "0".into(),
        Ok(ElementwiseGrad::Op { op, .. }) => lane::formula(op, &attrs).unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

/// Signature, meaning, formula, gradient and examples of an op.
pub fn of_op(op: &'static OpDef) -> String {
    let mut res = format!("{}\n\n{}\n", signature(op), op.doc);
    let attrs = op.default_attrs();
    if let Some(formula) = lane::formula(op, &attrs) {
        let _ = write!(res, "\nFormula:   {formula}");
    }
    let gradient = match op.grad {
        Grad::Derived if op.body.is_elementwise() => derivative(op),
        Grad::Derived => "through the ops it is composed of".into(),
        Grad::Rule(..) => "by its own rule, itself differentiable".into(),
        Grad::Stops(reason) => format!("none: {reason}"),
    };
    let _ = write!(res, "\nGradient:  {gradient}");
    if let Body::Kernels(kernels) = op.body {
        let names: Vec<&str> = kernels.iter().map(|it| it.name).collect();
        let _ = write!(res, "\nKernels:   {}", names.join(", "));
    }
    if !op.aliases.is_empty() {
        let _ = write!(res, "\nAlso:      {}", op.aliases.join(", "));
    }
    for (call, result) in op.examples {
        let _ = write!(res, "\n\n  >>> {call}\n  {result}");
    }
    res
}
