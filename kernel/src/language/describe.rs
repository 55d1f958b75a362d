//! From live values to what completion and help know about them.
//!
//! Runs on the interpreter thread after each cell, so it is bounded: by depth, by the number of
//! subjects, and it never calls code of the user.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use frontend_lang::builtins;
use frontend_lang::native::{Cx, Member, NativeFn, NativeModule, NativeType, Value};
use frontend_lang::objects::class::{Class, type_name, type_of};
use frontend_lang::objects::function::Func;
use frontend_lang::params::Kind;
use frontend_lang::sym::Sym;

use super::subject::{Members, Snapshot, Subject};

/// Attributes of attributes of ... that are followed.
const DEPTH: u32 = 3;
/// Subjects made for one snapshot, beside those of built-in types.
const BUDGET: u32 = 4000;
/// Characters of a value that are kept.
const SHOWN: usize = 80;

/// Keywords of the language.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "break", "case", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
    "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Describes values; what never changes is kept.
#[derive(Default)]
pub(super) struct Describer {
    rows: HashMap<usize, Arc<Members>>,
    builtins: Option<Arc<Members>>,
    modules: Option<Arc<Members>>,
    /// Of this snapshot: members of the user's classes, by address.
    classes: HashMap<usize, Arc<Members>>,
    budget: u32,
}

impl Describer {
    /// What is known now. `magics` are given, since they are not the language's.
    pub(super) fn snapshot(&mut self, cx: &mut Cx, magics: &Arc<Members>) -> Snapshot {
        self.classes.clear();
        self.budget = BUDGET;
        let builtins = self.builtins(cx);
        let modules = self.modules();
        let entries = cx.globals.entries();
        let globals = entries.into_iter().map(|(name, value)| {
            (name.as_str().to_owned(), Arc::new(self.describe(cx, &value, DEPTH)))
        });
        Snapshot { globals: globals.collect(), builtins, modules, magics: magics.clone() }
    }

    fn builtins(&mut self, cx: &mut Cx) -> Arc<Members> {
        if let Some(known) = &self.builtins {
            return known.clone();
        }
        let values: Vec<(Sym, Value)> =
            cx.builtins.iter().map(|(name, value)| (*name, value.clone())).collect();
        let mut members: Members = KEYWORDS.iter().map(|it| named(it, plain("keyword"))).collect();
        members.extend(
            values
                .into_iter()
                .map(|(name, value)| named(name.as_str(), self.describe(cx, &value, 1))),
        );
        self.builtins.insert(Arc::new(members)).clone()
    }

    fn modules(&mut self) -> Arc<Members> {
        if let Some(known) = &self.modules {
            return known.clone();
        }
        let mut members = Members::new();
        for row in builtins::MODULES {
            let subject = Arc::new(self.module_row(row));
            for name in row.aliases.iter().chain([&row.name]) {
                members.insert((*name).to_owned(), subject.clone());
            }
        }
        members.extend(builtins::NG_MODULES.iter().map(|it| named(it.0, plain("module"))));
        self.modules.insert(Arc::new(members)).clone()
    }

    /// A module as its row says, without importing it.
    fn module_row(&mut self, row: &'static NativeModule) -> Subject {
        let mut members = Members::new();
        for member in row.members {
            match member {
                Member::Functions(list) => {
                    members.extend(list.iter().map(|it| named(it.name, function(it))));
                }
                Member::Types(list) => {
                    let types = list.iter().map(|it| named(it.name, self.type_row(it)));
                    members.extend(types.collect::<Vec<_>>());
                }
                Member::Int(name, _) | Member::Float(name, _) | Member::Str(name, _) => {
                    members.extend([named(name, plain("instance"))]);
                }
                Member::Make(name, _) | Member::From(name, ..) => {
                    members.extend([named(name, Subject::default())]);
                }
                Member::Module(name, _) => members.extend([named(name, plain("module"))]),
                Member::AllOf(_) | Member::Each(_) => {}
            }
        }
        Subject { doc: row.doc.to_owned(), members: Arc::new(members), ..plain("module") }
    }

    fn type_row(&mut self, row: &'static NativeType) -> Subject {
        let made = row.new.as_ref().map(function).unwrap_or_default();
        // The class itself, its first parameter, is not written in a call.
        let params = row.new.as_ref().map_or("", |it| it.params.signature);
        let params =
            params.split_once(',').map_or("", |it| it.1.trim_start_matches([' ', '/', ',']));
        Subject {
            signature: format!("{}({params})", row.name),
            params: made.params.into_iter().skip_while(|it| it == "cls").collect(),
            doc: row.doc.to_owned(),
            members: self.row_members(row),
            ..plain("class")
        }
    }

    /// Methods and properties of a built-in type and its bases.
    fn row_members(&mut self, row: &'static NativeType) -> Arc<Members> {
        let key = std::ptr::from_ref(row).addr();
        if let Some(known) = self.rows.get(&key) {
            return known.clone();
        }
        let mut members = row.base.map(|it| (*self.row_members(it)).clone()).unwrap_or_default();
        let methods = row.methods.iter().copied().flatten().chain(row.statics);
        members.extend(methods.map(|it| named(it.name, function(it))));
        members.extend(
            row.getters
                .iter()
                .map(|it| named(it.name, Subject { doc: it.doc.to_owned(), ..plain("property") })),
        );
        self.rows.entry(key).or_insert(Arc::new(members)).clone()
    }

    fn describe(&mut self, cx: &mut Cx, value: &Value, depth: u32) -> Subject {
        self.budget = self.budget.saturating_sub(1);
        let depth = if self.budget == 0 { 0 } else { depth };
        match value {
            Value::Native(row) => function(row),
            Value::Func(func) => own_function(cx, func),
            Value::Method(it) => self.describe(cx, &it.func.clone(), depth),
            Value::Class(class) => self.class(cx, class, depth),
            Value::Module(module) => {
                let entries = if depth == 0 { Vec::new() } else { module.globals.entries() };
                let members = self.describe_all(cx, entries, depth);
                Subject { doc: module.doc.clone(), members, ..plain("module") }
            }
            _ => Subject {
                type_name: type_name(value).to_owned(),
                shows: shows(cx, value),
                doc: type_of(value).lookup(Sym::DOC).and_then(|it| text(&it)).unwrap_or_default(),
                members: self.attributes(cx, value, depth),
                ..plain("instance")
            },
        }
    }

    fn describe_all(&mut self, cx: &mut Cx, all: Vec<(Sym, Value)>, depth: u32) -> Arc<Members> {
        let members = all.into_iter().map(|(name, value)| {
            named(name.as_str(), self.describe(cx, &value, depth.saturating_sub(1)))
        });
        Arc::new(members.collect())
    }

    fn class(&mut self, cx: &mut Cx, class: &Rc<Class>, depth: u32) -> Subject {
        if let Some(row) = class.native {
            return self.type_row(row);
        }
        let doc = class.lookup(Sym::DOC).and_then(|it| text(&it)).unwrap_or_default();
        let members = self.class_members(cx, class, depth);
        let init = members.get("__init__").cloned().unwrap_or_default();
        let signature = init.signature.replacen("__init__", class.name.as_str(), 1);
        let signature = signature.replacen("(self, ", "(", 1).replacen("(self)", "()", 1);
        let params = init.params.iter().skip(1).cloned().collect();
        Subject { doc, members, signature, params, ..plain("class") }
    }

    fn class_members(&mut self, cx: &mut Cx, class: &Rc<Class>, depth: u32) -> Arc<Members> {
        if let Some(row) = class.native {
            return self.row_members(row);
        }
        let key = Rc::as_ptr(class).addr();
        if let Some(known) = self.classes.get(&key) {
            return known.clone();
        }
        // Until it is known: nothing, so that a class that holds itself comes to an end.
        self.classes.insert(key, Arc::default());
        let mut members = match &class.base {
            Some(base) => (*self.class_members(cx, base, depth)).clone(),
            None => Members::new(),
        };
        let own: Vec<(Sym, Value)> =
            class.attrs.borrow().iter().map(|(name, value)| (*name, value.clone())).collect();
        let own = self.describe_all(cx, own, depth.min(1));
        members.extend(own.iter().map(|(name, it)| (name.clone(), it.clone())));
        let members = Arc::new(members);
        self.classes.insert(key, members.clone());
        members
    }

    /// What may follow a value after a dot: what its class has, and its own.
    fn attributes(&mut self, cx: &mut Cx, value: &Value, depth: u32) -> Arc<Members> {
        let of_class = self.class_members(cx, &type_of(value), depth);
        let mut own: Vec<(Sym, Value)> = Vec::new();
        if let Value::Instance(it) = value
            && depth > 0
        {
            own.extend(it.attrs.borrow().iter().map(|(name, value)| (*name, value.clone())));
        }
        let computed = value.as_native().map(|it| it.attributes()).unwrap_or_default();
        if own.is_empty() && computed.is_empty() {
            return of_class;
        }
        let mut members = (*of_class).clone();
        members.extend(computed.into_iter().map(|it| named(it.as_str(), plain("instance"))));
        let own = self.describe_all(cx, own, depth);
        members.extend(own.iter().map(|(name, it)| (name.clone(), it.clone())));
        Arc::new(members)
    }
}

fn plain(kind: &'static str) -> Subject {
    Subject { kind, ..Subject::default() }
}

fn named(name: &str, subject: Subject) -> (String, Arc<Subject>) {
    (name.to_owned(), Arc::new(subject))
}

fn function(row: &NativeFn) -> Subject {
    let can_be_named = |kind| matches!(kind, Kind::Both | Kind::KeywordOnly);
    let params = row.params.list().iter().filter(|it| can_be_named(it.kind));
    Subject {
        signature: format!("{}({})", row.name, row.params.signature),
        params: params.map(|it| it.name.to_owned()).collect(),
        doc: row.doc.to_owned(),
        ..plain("function")
    }
}

/// A function written in the language, with its source.
fn own_function(cx: &mut Cx, func: &Func) -> Subject {
    let code = &func.code;
    let name = code.name.as_str();
    let signature = func.signature(cx).unwrap_or_default();
    Subject {
        signature: format!("{name}{signature}"),
        params: code.params.names.iter().map(|it| it.as_str().to_owned()).collect(),
        doc: code.doc.clone().unwrap_or_default(),
        source: cx.sources.text(code.span).to_owned(),
        ..plain("function")
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A short form of plain values; containers say how long they are, tensors what shape they have.
fn shows(cx: &mut Cx, value: &Value) -> String {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            cx.repr(value).unwrap_or_default()
        }
        Value::Str(it) => {
            let short: String = it.chars().take(SHOWN).collect();
            let rest = if short.len() < it.len() { " ..." } else { "" };
            format!("{short:?}{rest}")
        }
        Value::Tensor(it) => {
            let tensor = it.get();
            format!("shape {:?}, {:?}, on {:?}", tensor.shape(), tensor.dtype(), tensor.device())
        }
        Value::List(it) => items(it.items.borrow().len()),
        Value::Tuple(it) => items(it.len()),
        _ => String::new(),
    }
}

fn items(count: usize) -> String {
    format!("{count} item{}", if count == 1 { "" } else { "s" })
}
