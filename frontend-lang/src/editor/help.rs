//! Help on a subject, as plain data: what the kernel draws and the terminal prints.

use engine::OpDef;
use engine::lane::{self, ElementwiseGrad};
use engine::op::{Body, DTypeRule, Grad};

use super::shape_rule::shape_rule;
use super::subject::{Key, Row, Subject};

/// Help in sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// In the order in which they are shown.
    pub sections: Vec<Section>,
}

/// One section of help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What the text is: `Signature`, `Value`, `Source`.
    pub title: &'static str,
    /// What it says.
    pub text: String,
    /// Whether it is code of the language.
    pub is_code: bool,
}

impl Help {
    /// Adds a section, unless its text is empty.
    pub fn add(&mut self, title: &'static str, text: impl Into<String>, is_code: bool) {
        let text: String = text.into();
        let text = text.trim_end().trim_start_matches('\n').to_owned();
        if !text.is_empty() {
            self.sections.push(Section { title, text, is_code });
        }
    }

    /// As text of one width.
    pub fn plain(&self) -> String {
        let longest = self.sections.iter().map(|it| it.title.len()).max().unwrap_or(0);
        let width = longest.max(9) + 1;
        let mut text = String::new();
        for Section { title, text: body, .. } in &self.sections {
            match body.contains('\n') {
                true => text.push_str(&format!("{title}:\n{body}\n")),
                false => text.push_str(&format!("{:<width$} {body}\n", format!("{title}:"))),
            }
        }
        text
    }
}

/// What is known of a subject under a name; `detail` 1 asks for the source as well.
pub fn help(subject: &Subject, name: &str, detail: u8) -> Help {
    let mut help = Help::default();
    help.add("Signature", subject.signature(name), true);
    help.add("Type", subject.type_name.clone(), false);
    help.add("Value", subject.shows.clone(), true);
    subject.facts.iter().for_each(|it| help.add(it.0, it.1.clone(), false));
    help.add("Keys", keys(subject), true);
    help.add("Made in", subject.place.clone(), false);
    let source = if detail > 0 { &*subject.source } else { "" };
    match source {
        "" => help.add("Help", unindented(&subject.doc()), false),
        source => help.add("Source", source, true),
    }
    if let Row::Op(op) | Row::Method(op) = subject.row {
        of_op(&mut help, op);
    }
    let says_nothing = help.sections.is_empty() && subject.kind == "module";
    if says_nothing {
        help.add("Type", "module", false);
    }
    help
}

fn keys(subject: &Subject) -> String {
    let shown = subject.entries.iter().take(20).map(|it| match &it.0 {
        Key::Text(text) => format!("{text:?}"),
        Key::Plain(text) => text.clone(),
    });
    let rest = if subject.entries.len() > 20 { ", ..." } else { "" };
    shown.collect::<Vec<_>>().join(", ") + rest
}

/// Formula, derivative, dtypes, kernels, other names and examples of an op, from its row.
fn of_op(help: &mut Help, op: &'static OpDef) {
    let attrs = op.default_attrs();
    help.add("Formula", lane::formula(op, &attrs).unwrap_or_default(), true);
    let is_formula = matches!(op.grad, Grad::Derived) && op.body.is_elementwise();
    help.add("Gradient", gradient(op), is_formula);
    help.add("Shapes", shape_rule(op), false);
    help.add("Dtypes", dtypes(op.dtypes), false);
    if let Body::Kernels(kernels) = op.body {
        let names: Vec<&str> = kernels.iter().map(|it| it.name).collect();
        help.add("Kernels", names.join(", "), false);
    }
    help.add("Also", op.aliases.join(", "), false);
    let examples = op.examples.iter().map(|(call, result)| format!(">>> {call}\n{result}"));
    help.add("Examples", examples.collect::<Vec<_>>().join("\n"), true);
}

fn gradient(op: &'static OpDef) -> String {
    match op.grad {
        Grad::Derived if op.body.is_elementwise() => derivative(op),
        Grad::Derived => "through the ops it is composed of".to_owned(),
        Grad::Rule(..) | Grad::Onto(..) => "by its own rule, itself differentiable".to_owned(),
        Grad::Stops(reason) => format!("none: {reason}"),
    }
}

/// The derivative by the first input, as a formula.
fn derivative(op: &'static OpDef) -> String {
    let attrs = op.default_attrs();
    match lane::grad_op(op, &attrs, 0) {
        Ok(ElementwiseGrad::Same) => "dy".to_owned(),
        Ok(ElementwiseGrad::Zero) => "0".to_owned(),
        Ok(ElementwiseGrad::Op { op, .. }) => lane::formula(op, &attrs).unwrap_or_default(),
        Err(error) => error.to_string(),
    }
}

fn dtypes(rule: DTypeRule) -> String {
    match *rule.plain() {
        DTypeRule::Any | DTypeRule::OfParts(_) | DTypeRule::Custom(_) => "",
        DTypeRule::Promote => "inputs are promoted to one dtype, which is the result's",
        DTypeRule::PromoteNumbers => {
            "inputs are promoted to one dtype, which is the result's; bool is refused"
        }
        DTypeRule::PromoteToFloat => {
            "inputs are promoted to one dtype; integers and bools compute in float32"
        }
        DTypeRule::FloatsToSame => "floats; the result has their dtype",
        DTypeRule::Same => "one dtype for all; the result has it",
        DTypeRule::SameNumbers => "one dtype for all, no bools; the result has it",
        DTypeRule::SameFloats => "floats, one dtype for all; the result has it",
        DTypeRule::FloatsLikeFirst => {
            "floats, parameters float32 beside a half; the result has the dtype of the first"
        }
        DTypeRule::FloatFirst => "the first input is a float",
        DTypeRule::IntsToSame => "integers and bools",
        DTypeRule::PromoteToBool | DTypeRule::LogicToBool => "the result is bool",
    }
    .to_owned()
}

/// The text of a doc string without the indentation of its definition.
fn unindented(doc: &str) -> String {
    let mut lines = doc.trim().lines();
    let first = lines.next().unwrap_or("");
    let rest: Vec<&str> = lines.collect();
    let indent = |it: &&str| it.len() - it.trim_start().len();
    let common = rest.iter().filter(|it| !it.trim().is_empty()).map(indent).min().unwrap_or(0);
    let rest = rest.iter().map(|it| it.get(common..).unwrap_or("").trim_end());
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n")
}
