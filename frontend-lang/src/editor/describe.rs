//! From live values to what completion and help know about them.
//!
//! Runs on the interpreter's thread after each cell, so it is bounded, by depth and by the number of subjects, and it never
//! calls code of the user. What comes with the language is not described here but in `library.rs`.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::dataclass;
use super::library;
use super::module_shapes::parameters;
use super::outline::Outline;
use super::places::place;
use super::python;
use super::subject::{Entries, Key, Members, Param, Row, Snapshot, Subject};
use crate::array::ufunc::Ufunc;
use crate::cx::Cx;
use crate::objects::class::{Class, type_name, type_of};
use crate::objects::descriptor::{ClassMethod, Get, Property, StaticMethod};
use crate::objects::function::Func;
use crate::objects::module::Module;
use crate::ops_binding::OpFunction;
use crate::params::Kind;
use crate::python::proxy;
use crate::session::Session;
use crate::source::Span;
use crate::sym::Sym;
use crate::trace::TracedFn;
use crate::value::Value;

/// Attributes of attributes of ... that are followed.
const DEPTH: u32 = 3;
/// Subjects made for one snapshot.
const BUDGET: u32 = 4000;
/// Characters of a value that are kept.
const SHOWN: usize = 120;
/// Bytes that hold as many.
const LONG: usize = 4 * SHOWN;
/// Elements of a tensor up to which its text is kept, and how many such texts one snapshot makes.
const SMALL: usize = 32;
const TEXTS: u32 = 40;
/// Entries of a dict that are kept.
const ENTRIES: usize = 200;

/// Describes values; of classes it keeps what has not changed.
#[derive(Default)]
pub struct Describer {
    /// By address: what the class held when it was described, and what was said.
    classes: HashMap<usize, (u64, Arc<Subject>)>,
    /// Classes that were met in this snapshot.
    met: HashMap<usize, Arc<Subject>>,
    /// What objects of Python were said to be, for all with the same help.
    packages: HashMap<(u32, i64), Arc<Subject>>,
    budget: u32,
    texts: u32,
}

impl Describer {
    /// What is known of a session now.
    pub fn snapshot(&mut self, session: &mut Session) -> Snapshot {
        self.met.clear();
        (self.budget, self.texts) = (BUDGET, TEXTS);
        let mut globals = Members::new();
        for (name, value) in session.cx.globals.entries() {
            let subject = self.describe(&mut session.cx, &value, DEPTH);
            globals.insert(name.as_str().to_owned(), placed(session, name, subject));
        }
        let modules = self.own_modules(&mut session.cx);
        let met = &self.met;
        self.classes.retain(|key, _| met.contains_key(key));
        Snapshot { globals, modules }
    }

    /// One value as it is now, which has this name.
    pub fn one(&mut self, session: &mut Session, name: &str, value: &Value) -> Arc<Subject> {
        self.met.clear();
        (self.budget, self.texts) = (BUDGET, TEXTS);
        let subject = self.describe(&mut session.cx, value, DEPTH);
        placed(session, Sym::new(name), subject)
    }

    /// Modules beside the notebook.
    fn own_modules(&mut self, cx: &mut Cx) -> Members {
        let all: Vec<(String, Value)> =
            cx.modules.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let own = all.into_iter().filter(|it| library::module_value(&it.0).is_none());
        own.map(|(name, value)| (name, self.describe(cx, &value, 2))).collect()
    }

    fn describe(&mut self, cx: &mut Cx, value: &Value, depth: u32) -> Arc<Subject> {
        self.budget = self.budget.saturating_sub(1);
        let depth = if self.budget == 0 { 0 } else { depth };
        if let Some(op) = value.downcast::<OpFunction>() {
            return Arc::new(Subject::of_row(Row::Op(op.op)));
        }
        if let Some(Ufunc(row)) = value.downcast() {
            return Arc::new(library::of_ufunc(row));
        }
        if let Some(traced) = value.downcast::<TracedFn>() {
            let mut subject = (*self.describe(cx, &traced.func().clone(), depth)).clone();
            subject.facts.push(("Traced", traced.stats()));
            return Arc::new(subject);
        }
        if let Some(StaticMethod(inner)) = value.downcast() {
            return self.describe(cx, &inner.clone(), depth);
        }
        if let Some(ClassMethod(inner)) = value.downcast() {
            return self.describe(cx, &inner.clone(), depth);
        }
        if let Some(property) = value.downcast::<Property>() {
            return Arc::new(computed(property));
        }
        if let Some(proxy) = proxy::of(value) {
            return python::subject(cx, proxy, value, &mut self.packages);
        }
        match value {
            Value::Native(row) => Arc::new(Subject::of_row(Row::Function(row))),
            Value::Func(func) => Arc::new(function(cx, func)),
            Value::Method(it) => self.describe(cx, &it.func.clone(), depth),
            Value::Class(class) => self.class(cx, class, depth),
            Value::Module(module) => self.module(cx, module, depth),
            _ => Arc::new(self.instance(cx, value, depth)),
        }
    }

    fn describe_all(&mut self, cx: &mut Cx, all: Vec<(Sym, Value)>, depth: u32) -> Members {
        let depth = depth.saturating_sub(1);
        let one = |(name, value): (Sym, Value)| {
            (name.as_str().to_owned(), self.describe(cx, &value, depth))
        };
        all.into_iter().map(one).collect()
    }

    fn module(&mut self, cx: &mut Cx, module: &Module, depth: u32) -> Arc<Subject> {
        if let Some(known) = library::module_value(&module.name) {
            return known;
        }
        let entries = if depth == 0 { Vec::new() } else { module.globals.entries() };
        let own_members = Arc::new(self.describe_all(cx, entries, depth));
        let (name, own_doc) = (module.name.clone(), module.doc.clone());
        Arc::new(Subject { name, own_doc, own_members, ..Subject::of("module") })
    }

    fn class(&mut self, cx: &mut Cx, class: &Rc<Class>, depth: u32) -> Arc<Subject> {
        if let Some(row) = class.native {
            return Arc::new(Subject::of_row(Row::Type(row)));
        }
        let key = Rc::as_ptr(class).addr();
        if let Some(known) = self.met.get(&key) {
            return known.clone();
        }
        let contents = contents(class);
        if let Some((_, known)) = self.classes.get(&key).filter(|it| it.0 == contents) {
            let known = known.clone();
            self.met.insert(key, known.clone());
            return known;
        }
        // Until it is known: nothing, so that a class that holds itself comes to an end.
        self.met.insert(key, Arc::default());
        let made = Arc::new(self.new_class(cx, class, depth));
        self.met.insert(key, made.clone());
        self.classes.insert(key, (contents, made.clone()));
        made
    }

    fn new_class(&mut self, cx: &mut Cx, class: &Rc<Class>, depth: u32) -> Subject {
        let base = class.base.as_ref().map(|it| self.class(cx, it, depth));
        let mut members = base.map(|it| (*it.members()).clone()).unwrap_or_default();
        let own: Vec<(Sym, Value)> =
            class.attrs.borrow().iter().map(|(name, value)| (*name, value.clone())).collect();
        let head = format!("class {}", class.name);
        let holds = |it: &Span| cx.sources.get(it.source).is_some_and(|it| it.text.contains(&head));
        let mut methods = own.iter().filter_map(|(_, it)| defined_at(it));
        let defined = methods.find(holds).or_else(|| dataclass::place_of_class(cx, class));
        let own = self.describe_all(cx, own, depth.clamp(1, 2));
        let written = defined.and_then(|it| self.written(cx, class, it));
        if let Some(written) = &written {
            // Attributes that methods set are known from the text alone.
            members.extend(written.own_members.iter().map(|(name, it)| (name.clone(), it.clone())));
        }
        members.extend(own);
        if let Some(init) = dataclass::init(class, &mut |it| default_text(cx, it)) {
            members.insert("__init__".to_owned(), Arc::new(init));
        }
        let text = |value: Option<Value>| value.and_then(|it| it.as_str().map(str::to_owned));
        Subject {
            name: class.name.as_str().to_owned(),
            own_doc: text(class.lookup(Sym::DOC)).unwrap_or_default(),
            source: written.as_ref().map(|it| it.source.clone()).unwrap_or_default(),
            place: defined.map(|it| place_of_class(cx, it, class)).unwrap_or_default(),
            own_members: Arc::new(members),
            ..Subject::of("class")
        }
    }

    /// The class as the text of its definition has it.
    fn written(&mut self, cx: &Cx, class: &Class, defined: Span) -> Option<Arc<Subject>> {
        let source = cx.sources.get(defined.source)?;
        let name = class.name.as_str();
        if let Some(module) = library::module(&source.name) {
            return module.member(name);
        }
        let known = Snapshot::default();
        Outline::new(&source.text, &known).names().get(name).cloned()
    }

    fn instance(&mut self, cx: &mut Cx, value: &Value, depth: u32) -> Subject {
        let of_class = self.class(cx, &type_of(value), depth.max(1));
        let mut own: Vec<(Sym, Value)> = Vec::new();
        if let Value::Instance(it) = value
            && depth > 0
        {
            own.extend(it.attrs.borrow().iter().map(|(name, value)| (*name, value.clone())));
        }
        let class_members = of_class.members();
        let mut own_members = self.describe_all(cx, own, depth);
        // What tensors compute is among the methods of their type already.
        let native = value.as_native().filter(|_| !matches!(value, Value::Tensor(_)));
        for name in native.map(|it| it.attributes()).unwrap_or_default() {
            if !class_members.contains_key(name.as_str()) {
                let unknown = || Arc::new(Subject::of("instance"));
                own_members.entry(name.as_str().to_owned()).or_insert_with(unknown);
            }
        }
        let (entries, item) = self.contents(cx, value, depth);
        Subject {
            type_name: type_name(value).to_owned(),
            shows: self.shows(cx, value),
            form: value.as_tensor().map(|it| it.get().meta().to_string()).unwrap_or_default(),
            facts: facts(value),
            own_doc: of_class.doc(),
            own_members: Arc::new(own_members),
            class_members,
            entries: Arc::new(entries),
            item,
            ..Subject::of("instance")
        }
    }

    /// Entries of a dict, and what an index leads to.
    fn contents(
        &mut self,
        cx: &mut Cx,
        value: &Value,
        depth: u32,
    ) -> (Entries, Option<Arc<Subject>>) {
        let below = depth.saturating_sub(1);
        if let Some(dict) = value.as_dict() {
            let mut entries = Entries::new();
            let mut from = 0;
            while let Some((next, key, value)) =
                dict.next_from(from).filter(|_| entries.len() < ENTRIES)
            {
                from = next;
                if let Some(key) = key_text(&key) {
                    let leads_to =
                        if depth > 0 { self.describe(cx, &value, below) } else { Arc::default() };
                    entries.push((key, leads_to));
                }
            }
            return (entries, None);
        }
        let first = match value.core() {
            _ if depth == 0 => None,
            Value::List(it) => it.items.borrow().first().cloned(),
            Value::Tuple(it) => it.first().cloned(),
            // Rows of modules: what they hold is named by its place.
            Value::Instance(it) => it.get(Sym::new("_items")).and_then(|it| {
                it.as_dict().and_then(|it| it.next_from(0)).map(|(_, _, first)| first)
            }),
            _ => None,
        };
        (Vec::new(), first.map(|it| self.describe(cx, &it, below)))
    }

    /// A short form of plain values and small tensors; containers say how long they are.
    fn shows(&mut self, cx: &mut Cx, value: &Value) -> String {
        match value {
            Value::Tensor(it) => {
                let is_small = it.get().shape().iter().product::<usize>() <= SMALL;
                if !is_small || self.texts == 0 {
                    return String::new();
                }
                self.texts -= 1;
                cx.repr(value).unwrap_or_default()
            }
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => {
                short(&plain_text(cx, value))
            }
            Value::List(it) => list_text(cx, &it.items.borrow(), ["[", "]"]),
            Value::Tuple(it) => list_text(cx, it, ["(", ")"]),
            Value::Dict(it) => counted(it.len(), "entry", "entries"),
            Value::Set(it) => counted(it.len(), "item", "items"),
            _ => String::new(),
        }
    }
}

/// Says where a value got its name, unless it knows where it was made.
fn placed(session: &Session, name: Sym, mut subject: Arc<Subject>) -> Arc<Subject> {
    if let Some(span) = session.places.get(&name)
        && subject.place.is_empty()
        && matches!(subject.row, Row::None)
    {
        Arc::make_mut(&mut subject).place = place(&session.cx.sources, *span);
    }
    subject
}

/// Changes when an attribute of the class or of a base is bound to something else.
fn contents(class: &Rc<Class>) -> u64 {
    let mut hasher = FxHasher::default();
    for class in class.chain() {
        for (name, value) in class.attrs.borrow().iter() {
            name.as_str().hash(&mut hasher);
            value.address().hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// An attribute that a property computes: its value is not known, its help is that of the function.
fn computed(property: &Property) -> Subject {
    let own_doc = match &property.get {
        Get::Native(getter) => getter.doc.to_owned(),
        Get::Func(Value::Func(it)) => it.code.doc.clone().unwrap_or_default(),
        Get::Func(_) => String::new(),
    };
    Subject { own_doc, ..Subject::of("property") }
}

/// Where a function of a class stands in its text.
fn defined_at(value: &Value) -> Option<Span> {
    match value {
        Value::Func(it) => Some(it.code.span),
        _ => None,
    }
}

/// A class is found in the text by its name, above its first method.
fn place_of_class(cx: &Cx, method: Span, class: &Class) -> String {
    let Some(source) = cx.sources.get(method.source) else { return String::new() };
    let before = source.text.get(..method.start as usize).unwrap_or_default();
    let at = before.rfind(&format!("class {}", class.name)).unwrap_or(method.start as usize);
    place(&cx.sources, Span { start: at as u32, ..method })
}

/// A function written in the language.
fn function(cx: &mut Cx, func: &Func) -> Subject {
    let code = &func.code;
    Subject {
        name: code.name.as_str().to_owned(),
        own_params: params(cx, func),
        own_doc: code.doc.clone().unwrap_or_default(),
        source: cx.sources.text(code.span).into(),
        place: place(&cx.sources, code.span),
        ..Subject::of("function")
    }
}

fn params(cx: &mut Cx, func: &Func) -> Vec<Param> {
    let (code, of) = (&func.code, &func.code.params);
    let hint = |name: Sym| {
        let found = code.annotations.iter().find(|it| it.0 == name);
        found.map(|it| it.1.clone()).unwrap_or_default()
    };
    let param = |name: Sym, kind, default| Param {
        name: name.as_str().to_owned(),
        kind,
        hint: hint(name),
        default,
    };
    let mut list = Vec::new();
    for (idx, name) in of.names.iter().enumerate() {
        if idx == of.positional && of.has_rest {
            list.push(param(code.locals[of.names.len()], Kind::Rest, None));
        }
        let kind = match idx {
            _ if idx < of.positional_only => Kind::PositionalOnly,
            _ if idx < of.positional => Kind::Both,
            _ => Kind::KeywordOnly,
        };
        list.push(param(*name, kind, func.default_of(idx).map(|it| default_text(cx, &it))));
    }
    let mut star = of.names.len();
    if of.has_rest {
        if of.positional == of.names.len() {
            list.push(param(code.locals[star], Kind::Rest, None));
        }
        star += 1;
    }
    if of.has_keywords {
        list.push(param(code.locals[star], Kind::Keywords, None));
    }
    list
}

/// The text of a default; values whose text would run code of the user are left out.
fn default_text(cx: &mut Cx, value: &Value) -> String {
    match value {
        Value::Func(it) => it.code.name.as_str().to_owned(),
        Value::Native(it) => it.name.to_owned(),
        Value::Class(it) => it.name.as_str().to_owned(),
        Value::Tuple(it) => {
            let parts: Vec<String> = it.iter().take(8).map(|it| default_text(cx, it)).collect();
            let comma = if parts.len() == 1 { "," } else { "" };
            format!("({}{comma})", parts.join(", "))
        }
        Value::Instance(_) | Value::Tensor(_) | Value::List(_) | Value::Dict(_) | Value::Set(_) => {
            "...".to_owned()
        }
        _ => short(&plain_text(cx, value)),
    }
}

/// The text of a value without parts; of long text, only what will be shown is looked at.
fn plain_text(cx: &mut Cx, value: &Value) -> String {
    match value {
        Value::Str(it) if it.len() > LONG => {
            let head = &it[..it.floor_char_boundary(LONG)];
            cx.repr(&Value::str(head)).unwrap_or_default()
        }
        _ => cx.repr(value).unwrap_or_else(|_| "...".to_owned()),
    }
}

/// A key as it is written; `None` for keys that nobody writes out.
fn key_text(key: &Value) -> Option<Key> {
    match key {
        Value::Str(it) if it.len() <= SHOWN => Some(Key::Text(it.to_string())),
        Value::Int(it) => Some(Key::Plain(it.to_string())),
        _ => None,
    }
}

/// Plain items in full if they are few, else how many there are.
fn list_text(cx: &mut Cx, items: &[Value], brackets: [&str; 2]) -> String {
    let is_plain = |it: &Value| {
        matches!(it, Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_))
    };
    if items.len() > 20 || !items.iter().all(is_plain) {
        return counted(items.len(), "item", "items");
    }
    let parts: Vec<String> = items.iter().map(|it| plain_text(cx, it)).collect();
    let comma = if items.len() == 1 && brackets[0] == "(" { "," } else { "" };
    short(&format!("{}{}{comma}{}", brackets[0], parts.join(", "), brackets[1]))
}

fn facts(value: &Value) -> Vec<(&'static str, String)> {
    if let Value::Instance(it) = value {
        let text = parameters(it);
        return if text.is_empty() { Vec::new() } else { vec![("Parameters", text)] };
    }
    let Value::Tensor(it) = value else { return Vec::new() };
    let tensor = it.get();
    let elements: usize = tensor.shape().iter().product();
    let sizes: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
    let mut facts = vec![
        ("Shape", format!("[{}]", sizes.join(", "))),
        ("Dtype", tensor.dtype().name().to_owned()),
        ("Device", tensor.device().to_string()),
        ("Memory", bytes(elements * tensor.dtype().size())),
    ];
    if tensor.requires_grad() {
        let is_leaf = tensor.edge().is_none_or(engine::autograd::Edge::is_leaf);
        let what = match (is_leaf, it.grad()) {
            (true, Some(_)) => "collected; .grad is set",
            (true, None) => "will be collected; .grad is not set yet",
            (false, _) => "flows through",
        };
        facts.push(("Gradient", what.to_owned()));
    }
    facts
}

fn bytes(count: usize) -> String {
    match count {
        0..10_000 => counted(count, "byte", "bytes"),
        10_000..10_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
