//! Names that need no import, and the list of built-in modules.

pub mod attributes;
pub mod convert;
pub mod dict_methods;
pub mod exceptions;
pub mod files;
pub mod iteration;
pub mod leave;
pub mod list_methods;
pub mod modules;
pub mod ng_modules;
pub mod numbers;
pub(crate) mod operator_methods;
pub mod output;
pub mod set_methods;
pub mod shell;
pub mod show;
pub mod special_methods;
pub mod str_methods;
mod tensor_operators;
pub mod types;

use rustc_hash::FxHashMap;

use crate::native::{NativeFn, NativeModule, NativeType};
use crate::objects::class::class_of;
use crate::sym::Sym;
use crate::value::Value;

/// Functions that need no import, by family.
pub static FUNCTIONS: &[&[NativeFn]] = &[
    attributes::FUNCTIONS,
    files::FUNCTIONS,
    iteration::FUNCTIONS,
    leave::FUNCTIONS,
    numbers::FUNCTIONS,
    output::FUNCTIONS,
    shell::FUNCTIONS,
    show::FUNCTIONS,
];

/// Types that need no import; exceptions are listed in `error.rs`.
pub static TYPES: &[&NativeType] = &[
    &types::BOOL,
    &types::CLASSMETHOD,
    &types::DICT,
    &types::FLOAT,
    &types::FROZENSET,
    &types::INT,
    &types::LIST,
    &types::OBJECT,
    &types::PROPERTY,
    &types::RANGE,
    &types::SET,
    &types::SLICE,
    &types::STATICMETHOD,
    &types::STR,
    &types::SUPER,
    &crate::objects::complex::COMPLEX,
    &types::TUPLE,
    &types::TYPE,
    &types::BASE_EXCEPTION,
    &crate::error::STOP_ITERATION,
];

/// Modules written in Rust.
pub static MODULES: &[&NativeModule] = modules::ALL;

/// Modules written in the language: full name and text.
pub static NG_MODULES: &[ng_modules::NgModule] = ng_modules::ALL;

/// All names that need no import.
pub fn names() -> FxHashMap<Sym, Value> {
    let functions = FUNCTIONS.iter().copied().flatten();
    let functions = functions.map(|it| (Sym::of(it.name), Value::Native(it)));
    let types = TYPES.iter().chain(crate::error::EXCEPTIONS);
    let types = types.map(|it| (Sym::of(it.name), Value::Class(class_of(it))));
    let constants = [("NotImplemented", Value::NotImplemented), ("Ellipsis", Value::Ellipsis)];
    let constants = constants.into_iter().map(|(name, value)| (Sym::of(name), value));
    functions.chain(types).chain(constants).collect()
}

/// Full names of the modules that come with the language, private ones included.
pub fn module_names() -> impl Iterator<Item = &'static str> {
    let rows = MODULES.iter().flat_map(|it| it.aliases.iter().copied().chain([it.name]));
    rows.chain(NG_MODULES.iter().map(|it| it.0))
}
