//! What CPython says of a built-in function that gets too few, too many or unknown arguments. It has three ways, by how the
//! function takes them; functions of the language and of other modules say it as functions written in Python do.

use super::{Kind, Params};
use crate::builtins::{FUNCTIONS, MODULES, TYPES};
use crate::error::{Raised, type_error};
use crate::native::{Member, NativeFn};

/// Functions of one kind of argument only that are told of as those with several are.
const WITHOUT_BRACKETS: &[&str] = &["filter", "reversed", "sorted"];

/// Methods that count all their arguments, as old code in C does.
const COUNTING: &[&str] = &["count", "endswith", "find", "index", "rfind", "rindex", "startswith"];

/// What a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Builtins,
    Module(&'static str),
    Type(&'static str),
}

/// A row that is told of in CPython's way.
struct Told<'a> {
    params: &'a Params,
    name: &'a str,
    owner: Owner,
}

/// The error of a call with `given` positional arguments, where that is too few or too many; `None` for what has no such words.
pub(super) fn wrong_count(params: &Params, name: &str, given: usize) -> Option<Raised> {
    let told = Told { params, name, owner: owner_of(params)? };
    told.wrong_count(given).map(type_error)
}

/// The error of a keyword that is no parameter.
pub(super) fn unknown_keyword(params: &Params, name: &str, key: &str) -> Option<Raised> {
    let makes = params.makes();
    let told = match owner_of(params) {
        Some(owner) => Told { params, name, owner },
        None if makes && TYPES.iter().any(|it| it.name == name) => {
            Told { params, name, owner: Owner::Builtins }
        }
        None => return None,
    };
    let takes_none = params.list().iter().all(|it| it.kind == Kind::PositionalOnly);
    let text = match takes_none || matches!(name, "bool" | "range" | "slice") {
        true => format!("{}() takes no keyword arguments", told.full_name()),
        false if name == "sorted" => format!("'{key}' is an invalid keyword argument for sort()"),
        false => format!("'{key}' is an invalid keyword argument for {name}()"),
    };
    let names: Vec<&str> = params.list().iter().map(|it| it.name).collect();
    Some(type_error(text).with_hint(crate::suggest::nearest(key, names.iter().copied())))
}

/// Where a row stands that is told of in CPython's way; methods of user code and of other modules are not.
fn owner_of(params: &Params) -> Option<Owner> {
    let holds = |rows: &[NativeFn]| rows.iter().any(|it| std::ptr::eq(&it.params, params));
    if FUNCTIONS.iter().any(|it| holds(it)) {
        return Some(Owner::Builtins);
    }
    if let Some(row) = TYPES.iter().find(|it| {
        it.module.is_empty() && (it.methods.iter().any(|it| holds(it)) || holds(it.statics))
    }) {
        return Some(Owner::Type(row.name));
    }
    let module = MODULES.iter().find(|it| it.name == "math")?;
    let found = module.members.iter().any(|it| matches!(it, Member::Functions(it) if holds(it)));
    found.then_some(Owner::Module(module.name))
}

impl Told<'_> {
    fn full_name(&self) -> String {
        match self.owner {
            Owner::Builtins => self.name.to_owned(),
            Owner::Module(owner) | Owner::Type(owner) => format!("{owner}.{}", self.name),
        }
    }

    /// Arguments that are there before those that one writes: the object of a method.
    fn hidden(&self) -> usize {
        self.params.list().first().is_some_and(|it| it.name == "self").into()
    }

    fn wrong_count(&self, given: usize) -> Option<String> {
        let (params, name, full) = (self.params, self.name, self.full_name());
        let hidden = self.hidden();
        if given < hidden {
            return Some(format!("unbound method {full}() needs an argument"));
        }
        let given = given - hidden;
        let (least, most) =
            (params.required_positional() - hidden, params.positional as usize - hidden);
        if name == "map" {
            return Some("map() must have at least two arguments.".into());
        }
        let short = given < least;
        let bound = if short { least } else { most };
        let kinds = &params.list()[hidden..];
        let only_positional = kinds.iter().all(|it| it.kind == Kind::PositionalOnly);
        if name.starts_with("__") {
            return Some(format!("expected {bound} argument{}, got {given}", plural(bound)));
        }
        let compared = if short { "least" } else { "most" };
        if matches!(self.owner, Owner::Type("str")) && COUNTING.contains(&name) {
            return Some(format!(
                "{name}() takes at {compared} {bound} argument{} ({given} given)",
                plural(bound)
            ));
        }
        let in_words = WITHOUT_BRACKETS.contains(&name)
            || only_positional && most > 1
            || only_positional && least != most
            || params.has_keywords;
        if in_words {
            let range = if least == most { String::new() } else { format!("at {compared} ") };
            return Some(format!(
                "{name} expected {range}{bound} argument{}, got {given}",
                plural(bound)
            ));
        }
        if only_positional {
            let takes = if most == 0 { "no arguments" } else { "exactly one argument" };
            return Some(format!("{full}() takes {takes} ({given} given)"));
        }
        if !short {
            return Some(match most {
                0 => format!("{name}() takes no positional arguments"),
                _ => format!(
                    "{name}() takes at most {most} argument{} ({given} given)",
                    plural(most)
                ),
            });
        }
        let missing = kinds.get(given)?;
        Some(match missing.kind {
            Kind::PositionalOnly => {
                format!(
                    "{name}() takes at least {least} positional argument{} ({given} given)",
                    plural(least)
                )
            }
            _ if name == "enumerate" => {
                format!("{name}() missing required argument '{}'", missing.name)
            }
            _ => {
                format!("{name}() missing required argument '{}' (pos {})", missing.name, given + 1)
            }
        })
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
