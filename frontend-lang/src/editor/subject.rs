//! What a name means, as plain data that any thread may read.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::OpDef;
use engine::op::ParamKind;

use super::library;
use super::outline::Outline;
use super::tokens::is_too_deep;
use crate::native::{NativeFn, NativeType};
use crate::ops_binding;
use crate::params::{self, Kind};

/// Names and what they mean, sorted.
pub type Members = BTreeMap<String, Arc<Subject>>;

/// Keys of a dict with what they lead to, in order.
pub type Entries = Vec<(Key, Arc<Subject>)>;

/// What a name means. Empty fields say nothing.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// `function`, `class`, `module`, `instance`, `keyword`, `magic`, `property`.
    pub kind: &'static str,
    /// Its own name, where it has one: of a function, a class, a module.
    pub name: String,
    /// The row it was made from, which says the rest.
    pub row: Row,
    /// The name of its type.
    pub type_name: String,
    /// A short plain form of its value.
    pub shows: String,
    /// Dtype and shape of a tensor, as annotations say them: `f32[64, 128]`.
    pub form: String,
    /// More to say of its value: `("Shape", "[64, 128]")`.
    pub facts: Vec<(&'static str, String)>,
    /// Parameters of a function written in the language.
    pub own_params: Vec<Param>,
    /// Its help text, if no row has it.
    pub own_doc: String,
    /// Its source text, if it is written in the language.
    pub source: Arc<str>,
    /// Where it was made: `In[3], line 2`.
    pub place: String,
    /// What may follow it after a dot, beside `class_members`; of rows, see [`Subject::members`].
    pub own_members: Arc<Members>,
    /// What its class gives it.
    pub class_members: Arc<Members>,
    /// What a dict holds.
    pub entries: Arc<Entries>,
    /// What an index leads to.
    pub item: Option<Arc<Subject>>,
}

/// A row that describes a subject.
#[derive(Clone, Copy, Default)]
pub enum Row {
    /// None does.
    #[default]
    None,
    /// A function or method written in Rust.
    Function(&'static NativeFn),
    /// A type written in Rust.
    Type(&'static NativeType),
    /// An op, called as a function.
    Op(&'static OpDef),
    /// An op, called as a method of its first tensor.
    Method(&'static OpDef),
    /// A module that comes with the language, by its full name.
    Module(&'static str),
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Function(it) => it.name,
            Self::Type(it) => it.name,
            Self::Op(it) | Self::Method(it) => it.name,
            Self::Module(name) => name,
        })
    }
}

/// A key of a dict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A string, without quotes.
    Text(String),
    /// Something else that can be written out, as it is written.
    Plain(String),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// How it takes its argument.
    pub kind: Kind,
    /// Annotation, or what it takes; may be empty.
    pub hint: String,
    /// The text of its default.
    pub default: Option<String>,
}

impl Param {
    /// Whether a call may name it.
    pub fn can_be_named(&self) -> bool {
        matches!(self.kind, Kind::Both | Kind::KeywordOnly)
    }

    /// `lr: float = 0.01`.
    pub fn text(&self) -> String {
        let stars = match self.kind {
            Kind::Rest => "*",
            Kind::Keywords => "**",
            _ => "",
        };
        let (hint, equals) = match self.hint.as_str() {
            "" => (String::new(), "="),
            hint => (format!(": {hint}"), " = "),
        };
        let default = self.default.as_ref().map(|it| format!("{equals}{it}")).unwrap_or_default();
        format!("{stars}{}{hint}{default}", self.name)
    }
}

impl Subject {
    /// A subject of this kind.
    pub fn of(kind: &'static str) -> Self {
        Self { kind, ..Self::default() }
    }

    /// What a row of Rust describes.
    pub fn of_row(row: Row) -> Self {
        let (kind, name) = match row {
            Row::None => ("instance", ""),
            Row::Function(it) => ("function", it.name),
            Row::Type(it) => ("class", it.name),
            Row::Op(it) | Row::Method(it) => ("function", it.name),
            Row::Module(name) => ("module", name),
        };
        Self { kind, name: name.to_owned(), row, ..Self::default() }
    }

    /// A value of a type, of which nothing else is known.
    pub fn instance_of(class: &Self) -> Self {
        let class_members = class.members();
        Self { type_name: class.name.clone(), class_members, ..Self::of("instance") }
    }

    /// What may follow it after a dot.
    pub fn members(&self) -> Arc<Members> {
        let of_row = match self.row {
            Row::Module(name) => library::module(name).map(|it| it.own_members.clone()),
            Row::Type(row) => Some(library::members_of(row)),
            _ => None,
        };
        match of_row {
            Some(members) => members,
            None if self.own_members.is_empty() => self.class_members.clone(),
            None if self.class_members.is_empty() => self.own_members.clone(),
            None => {
                let mut members = (*self.class_members).clone();
                members
                    .extend(self.own_members.iter().map(|(name, it)| (name.clone(), it.clone())));
                Arc::new(members)
            }
        }
    }

    /// The attribute `name`.
    pub fn member(&self, name: &str) -> Option<Arc<Subject>> {
        let own = self.own_members.get(name).or_else(|| self.class_members.get(name));
        own.cloned().or_else(|| match self.row {
            Row::None => None,
            _ => self.members().get(name).cloned(),
        })
    }

    /// Its help text.
    pub fn doc(&self) -> String {
        match self.row {
            Row::Function(it) => it.doc.to_owned(),
            Row::Type(it) => it.doc.to_owned(),
            Row::Op(it) | Row::Method(it) => it.doc.to_owned(),
            Row::Module(name) => {
                library::module(name).map(|it| it.own_doc.clone()).unwrap_or_default()
            }
            Row::None => self.own_doc.clone(),
        }
    }

    /// Whether a call of it means something.
    pub fn is_callable(&self) -> bool {
        matches!(self.kind, "function" | "class") || self.called().is_some()
    }

    /// What is run when it is called, if that is another subject: `__init__`, `forward`, `__call__`.
    fn called(&self) -> Option<Arc<Subject>> {
        let names: &[&str] = match self.kind {
            "class" => &["__init__"],
            "instance" => &["forward", "__call__"],
            _ => return None,
        };
        if self.kind == "instance" {
            self.member("__call__")?;
        }
        names.iter().find_map(|it| self.member(it))
    }

    /// Parameters of a call; `self` is left out.
    pub fn params(&self) -> Vec<Param> {
        let mut params = match self.row {
            Row::Function(it) => of_list(it.params.list()),
            Row::Type(it) => {
                it.new.as_ref().map(|it| of_list(it.params.list())).unwrap_or_default()
            }
            Row::Op(op) => of_op(op, 0),
            Row::Method(op) => of_op(op, 1),
            Row::Module(_) => Vec::new(),
            Row::None => match self.called() {
                Some(called) => called.params(),
                None => self.own_params.clone(),
            },
        };
        let is_own = |it: &Param| matches!(it.name.as_str(), "self" | "cls");
        if params.first().is_some_and(is_own) {
            params.remove(0);
        }
        params
    }

    /// `gcd(a, b=0)`; empty if it is not called.
    pub fn signature(&self, name: &str) -> String {
        if !self.is_callable() {
            return String::new();
        }
        let name = if self.name.is_empty() { name } else { &self.name };
        format!("{name}({})", list_text(&self.params()))
    }
}

/// Parameters between brackets.
pub(super) fn list_text(params: &[Param]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut starred = false;
    for (at, param) in params.iter().enumerate() {
        let before = at.checked_sub(1).map(|it| params[it].kind);
        if before == Some(Kind::PositionalOnly) && param.kind != Kind::PositionalOnly {
            parts.push("/".to_owned());
        }
        if param.kind == Kind::KeywordOnly && !starred {
            parts.push("*".to_owned());
        }
        starred |= matches!(param.kind, Kind::Rest | Kind::KeywordOnly);
        parts.push(param.text());
    }
    if params.last().is_some_and(|it| it.kind == Kind::PositionalOnly) {
        parts.push("/".to_owned());
    }
    parts.join(", ")
}

fn of_list(list: &[params::Param]) -> Vec<Param> {
    let param = |it: &params::Param| Param {
        name: it.name.to_owned(),
        kind: it.kind,
        hint: String::new(),
        default: it.default.map(str::to_owned),
    };
    list.iter().map(param).collect()
}

fn of_op(op: &'static OpDef, skipped: usize) -> Vec<Param> {
    let param = |it: &engine::op::Param| Param {
        name: it.name.to_owned(),
        kind: Kind::Both,
        hint: hint(it.kind).to_owned(),
        default: ops_binding::default_text(it),
    };
    op.params.iter().skip(skipped).map(param).collect()
}

/// What a parameter of an op takes, as an annotation.
fn hint(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::Tensor => "Tensor",
        ParamKind::OptTensor => "Tensor | None",
        ParamKind::Tensors => "list[Tensor]",
        ParamKind::Bool => "bool",
        ParamKind::Int => "int",
        ParamKind::OptInt => "int | None",
        ParamKind::Float | ParamKind::Number => "float",
        ParamKind::OptFloat => "float | None",
        ParamKind::Ints => "int | tuple[int]",
        ParamKind::OptInts => "int | tuple[int] | None",
        ParamKind::DType => "dtype",
        ParamKind::OptDType => "dtype | None",
        ParamKind::Str | ParamKind::Region => "str",
    }
}

/// What is known between two cells.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Names of the session.
    pub globals: Members,
    /// Modules that are not built in, by full name.
    pub modules: Members,
}

impl Snapshot {
    /// The same with names that a cell which now runs will bind; what they mean is read from its text.
    pub fn with_text(&self, text: &str) -> Self {
        if is_too_deep(text) {
            return self.clone();
        }
        let mut globals = Outline::new(text, self).names();
        globals.extend(self.globals.iter().map(|(name, it)| (name.clone(), it.clone())));
        Self { globals, modules: self.modules.clone() }
    }

    /// What a name of the session, or one that needs no import, means.
    pub fn name(&self, name: &str) -> Option<Arc<Subject>> {
        self.globals.get(name).or_else(|| library::builtins().get(name)).cloned()
    }

    /// The module of a full name.
    pub fn module(&self, name: &str) -> Option<Arc<Subject>> {
        self.modules.get(name).cloned().or_else(|| library::module(name))
    }
}
