//! What comes with the language, read from rows and from the text of its modules: nothing is imported for it.
//!
//! Made when first asked for, once per process, by whoever asks.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::outline::Outline;
use super::subject::{Members, Param, Row, Snapshot, Subject};
use crate::array::{object, ufunc, ufunc_rows};
use crate::builtins::{self, MODULES, NG_MODULES, ng_modules};
use crate::error;
use crate::native::{Member, NativeModule, NativeType};
use crate::ops_binding;
use crate::params::Kind;
use crate::tensor::{attribute, dtype, methods};
use crate::vm::import::modules_within;

/// Keywords of the language.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "break", "case", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
    "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

type Modules = HashMap<&'static str, Arc<Subject>>;

static KNOWN: LazyLock<Mutex<Modules>> = LazyLock::new(Mutex::default);

/// A module under way, and whether it lacks names of another that is.
struct Pending {
    name: &'static str,
    lacks: bool,
}

thread_local! {
    /// Modules under way, so that modules which import each other come to an end.
    static PENDING: RefCell<Vec<Pending>> = RefCell::default();
}

/// Reads what most notebooks use, ahead of the first question.
pub fn warm_up() {
    members_of(&methods::TENSOR);
    for name in ["torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils.data"] {
        module(name);
    }
}

/// Names that need no import, and keywords.
pub(super) fn builtins() -> &'static Members {
    static BUILTINS: LazyLock<Members> = LazyLock::new(|| {
        let keywords = KEYWORDS.iter().map(|it| named(it, Subject::of("keyword")));
        let functions =
            builtins::FUNCTIONS.iter().copied().flatten().map(|it| (it.name, Row::Function(it)));
        let types =
            builtins::TYPES.iter().chain(error::EXCEPTIONS).map(|it| (it.name, Row::Type(it)));
        let rows = functions.chain(types).map(|(name, row)| named(name, Subject::of_row(row)));
        keywords.chain(rows).collect()
    });
    &BUILTINS
}

/// Full names of all modules that `import` finds, without those that are parts of others.
pub(super) fn module_names() -> impl Iterator<Item = &'static str> {
    builtins::module_names().filter(|it| it.starts_with('_') || !ng_modules::is_internal(it))
}

/// A module that comes with the language.
pub(super) fn module(name: &str) -> Option<Arc<Subject>> {
    let name = full_name(name)?;
    if let Some(known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
        return Some(known.clone());
    }
    if is_pending(name) {
        return None;
    }
    PENDING.with_borrow_mut(|it| it.push(Pending { name, lacks: false }));
    let made = make(name).map(Arc::new);
    let done = PENDING.with_borrow_mut(Vec::pop);
    if let Some(made) = made.as_ref().filter(|_| done.is_some_and(|it| !it.lacks)) {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(name, made.clone());
    }
    made
}

/// Whether the module is under way; then all that were begun after it lack its names.
fn is_pending(name: &str) -> bool {
    PENDING.with_borrow_mut(|list| {
        let Some(at) = list.iter().position(|it| it.name == name) else { return false };
        list[at + 1..].iter_mut().for_each(|it| it.lacks = true);
        true
    })
}

/// The module as a value whose members are found when they are asked for.
pub(super) fn module_value(name: &str) -> Option<Arc<Subject>> {
    Some(Arc::new(Subject::of_row(Row::Module(full_name(name)?))))
}

/// Methods and properties of a type and its bases.
pub(super) fn members_of(row: &'static NativeType) -> Arc<Members> {
    static MADE: LazyLock<Mutex<BTreeMap<usize, Arc<Members>>>> = LazyLock::new(Mutex::default);
    let key = std::ptr::from_ref(row).addr();
    if let Some(known) = MADE.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known.clone();
    }
    let mut members = row.base.map(|it| (*members_of(it)).clone()).unwrap_or_default();
    if std::ptr::eq(row, &methods::TENSOR) {
        members.extend(of_tensors());
    }
    if std::ptr::eq(row, &object::NDARRAY) {
        members.extend(written("numpy._core.methods", "ArrayMethods"));
        members.extend(object::NAMES.iter().map(|it| named(it, Subject::of("property"))));
    }
    let functions = row.methods.iter().copied().flatten().chain(row.statics);
    members.extend(functions.map(|it| named(it.name, Subject::of_row(Row::Function(it)))));
    let property = |doc: &str| Subject { own_doc: doc.to_owned(), ..Subject::of("property") };
    members.extend(row.getters.iter().map(|it| named(it.name, property(it.doc))));
    let members = Arc::new(members);
    MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(key, members.clone());
    members
}

/// A universal function of NumPy.
pub(super) fn of_ufunc(row: &'static ufunc::Row) -> Subject {
    let param = |name: &str, kind, default: Option<&str>| Param {
        name: name.to_owned(),
        kind,
        hint: String::new(),
        default: default.map(str::to_owned),
    };
    let operands: &[&str] = if row.n_operands() == 1 { &["x"] } else { &["x1", "x2"] };
    let operands = operands.iter().map(|it| param(it, Kind::PositionalOnly, None));
    let options = [("out", "None"), ("where", "True"), ("dtype", "None")];
    let options = options.map(|it| param(it.0, Kind::KeywordOnly, Some(it.1)));
    Subject {
        name: row.name.to_owned(),
        own_doc: format!("{} Of each element.", row.doc),
        own_params: operands.chain(options).collect(),
        ..Subject::of("function")
    }
}

/// Methods and properties that a class of the language keeps for a built-in type.
fn written(of: &str, class: &str) -> Members {
    let class = module(of).and_then(|it| it.member(class));
    class.map(|it| (*it.members()).clone()).unwrap_or_default()
}

/// What tensors have beside the methods of their row; later ones win.
fn of_tensors() -> Members {
    let mut members = Members::new();
    members.extend(written("torch.methods", "TensorMethods"));
    let of_rows = ops_binding::methods_of_rows();
    members.extend(
        of_rows.map(|(name, op, _)| named(name.as_str(), Subject::of_row(Row::Method(op)))),
    );
    members.extend(attribute::NAMES.iter().map(|it| named(it, Subject::of("property"))));
    members
}

/// The name under which a module is kept, for any of its names.
fn full_name(name: &str) -> Option<&'static str> {
    if let Some(row) = row_of(name) {
        return Some(row.name);
    }
    let text = |name: &str| NG_MODULES.iter().find(|it| it.0 == name).map(|it| it.0);
    text(name).or_else(|| ng_modules::real_name(name).and_then(|it| full_name(&it)))
}

fn row_of(name: &str) -> Option<&'static NativeModule> {
    MODULES.iter().copied().find(|it| it.name == name || it.aliases.contains(&name))
}

fn make(name: &'static str) -> Option<Subject> {
    let mut subject = row_of(name).map(of_rows).or_else(|| of_text(name))?;
    let members = Arc::make_mut(&mut subject.own_members);
    for within in modules_within(name) {
        if let Some(module) = module_value(&format!("{name}.{within}")) {
            members.entry(within.to_owned()).or_insert(module);
        }
    }
    Some(subject)
}

fn of_text(name: &'static str) -> Option<Subject> {
    let text = NG_MODULES.iter().find(|it| it.0 == name)?.1;
    let snapshot = Snapshot::default();
    let outline = Outline::of_library(text, &snapshot);
    let mut members = outline.names();
    if let Some(public) = outline.exports() {
        members.retain(|name, _| public.contains(&name.as_str()));
    }
    Some(Subject {
        name: name.to_owned(),
        own_doc: outline.doc().unwrap_or_default(),
        own_members: Arc::new(members),
        ..Subject::of("module")
    })
}

fn of_rows(row: &'static NativeModule) -> Subject {
    let mut members = Members::new();
    for member in row.members {
        add(&mut members, row.name, member);
    }
    Subject {
        name: row.name.to_owned(),
        own_doc: row.doc.to_owned(),
        own_members: Arc::new(members),
        ..Subject::of("module")
    }
}

fn add(members: &mut Members, module_name: &str, member: &Member) {
    let value = |shows: String, type_name: &str| Subject {
        shows,
        type_name: type_name.to_owned(),
        ..Subject::of("instance")
    };
    match member {
        Member::Functions(list) => {
            members
                .extend(list.iter().map(|it| named(it.name, Subject::of_row(Row::Function(it)))));
        }
        Member::Types(list) => {
            members.extend(list.iter().map(|it| named(it.name, Subject::of_row(Row::Type(it)))));
        }
        Member::Int(name, it) => members.extend([named(name, value(it.to_string(), "int"))]),
        Member::Float(name, it) => members.extend([named(name, value(format!("{it:?}"), "float"))]),
        Member::Str(name, it) => members.extend([named(name, value(format!("{it:?}"), "str"))]),
        Member::Make(name, _) => members.extend([named(name, Subject::of("instance"))]),
        Member::From(name, from, there) => {
            let found = module(from).and_then(|it| it.member(there)).unwrap_or_default();
            members.insert((*name).to_owned(), found);
        }
        Member::These(from, names) => {
            let found = |name: &str| module(from).and_then(|it| it.member(name));
            members.extend(
                names.iter().map(|name| ((*name).to_owned(), found(name).unwrap_or_default())),
            );
        }
        Member::AllOf(from) => {
            let found = module(from).map(|it| it.members()).unwrap_or_default();
            let public = found.iter().filter(|it| !it.0.starts_with('_'));
            members.extend(public.map(|(name, it)| (name.clone(), it.clone())));
        }
        Member::Module(name, full) => {
            members.extend(module_value(full).map(|it| ((*name).to_owned(), it)));
        }
        Member::Each(_) => made_at_run_time(members, module_name),
    }
}

/// Ops under the names that their rows give for a module, and dtypes.
fn made_at_run_time(members: &mut Members, module: &str) {
    let op = |name: &str, op| named(name, Subject::of_row(Row::Op(op)));
    if module.starts_with("numpy") {
        members.extend(ufunc_rows::ALL.iter().map(|it| named(it.name, of_ufunc(it))));
        return;
    }
    if module == "torch.random" {
        members.extend(engine::ops::all().filter(|it| !it.pure).map(|it| op(it.name, it)));
        return;
    }
    if module == "torch._rows" {
        members.extend(engine::ops::all().map(|it| op(it.name, it)));
        return;
    }
    if module == "torch._linalg" {
        members.extend(engine::ops::linalg::ALL.iter().map(|it| op(it.name, it)));
        return;
    }
    for prefix in ["torch.", "torch.nn.functional."] {
        members.extend(ops_binding::named(prefix).map(|(name, it)| op(name, it)));
    }
    let prefix = format!("{module}.");
    members.extend(ops_binding::named(&prefix).map(|(name, it)| op(name, it)));
    members.extend(engine::ops::public().map(|it| op(it.name, it)));
    if ["torch", "torch.nn.functional"].contains(&module) {
        // Those that are methods too; PyTorch has no others but a few activations.
        let offered = ops_binding::in_place_names().filter(|it| it.1.method);
        members.extend(offered.map(|(name, it)| op(&name, it)));
    }
    if module == "torch" {
        let dtype = |it: &(&'static str, engine::DType)| {
            let shows = format!("torch.{}", it.0);
            named(it.0, Subject { type_name: "dtype".to_owned(), shows, ..Subject::of("instance") })
        };
        members.extend(dtype::NAMES.iter().map(dtype));
    }
}

fn named(name: &str, subject: Subject) -> (String, Arc<Subject>) {
    (name.to_owned(), Arc::new(subject))
}
