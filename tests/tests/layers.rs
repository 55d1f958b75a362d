//! Inside the engine, too, arrows run downwards: no more than three of its modules name each other in a ring. What the language
//! does for every op, it does as rows say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that may name each other: an idea now and then takes more than one file.
const LARGEST_RING: usize = 3;

/// Modules by name, each with those that it names.
type Arrows = BTreeMap<String, BTreeSet<String>>;

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A source without comments, and without what is there for tests alone.
fn code(text: &str) -> String {
    let kept = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = kept.lines().filter(|it| !it.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Names of the modules that a file declares, but for those of tests.
fn declared(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_for_tests = false;
    for line in text.lines() {
        let words = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        let name = words.strip_prefix("mod ").and_then(|it| it.strip_suffix(';'));
        names.extend(name.filter(|_| !is_for_tests));
        // Other attributes may stand between.
        is_for_tests = line == "#[cfg(test)]" || is_for_tests && line.starts_with("#[");
    }
    names
}

/// The code of a module and of all modules in it.
fn gather(folder: &Path, name: &str, out: &mut String) {
    let alone = folder.join(format!("{name}.rs"));
    let below = folder.join(name);
    let text = read(&if alone.exists() { alone } else { below.join("mod.rs") });
    out.push_str(&code(&text));
    for inner in declared(&text) {
        gather(&below, inner, out);
    }
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

/// First names of the paths in a list `{a::b, c, d::{e, f}}`, of which `text` begins behind the brace.
fn first_names(text: &str) -> Vec<&str> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, it) in text.char_indices() {
        match it {
            '{' => depth += 1,
            ',' if depth == 0 => {
                names.push(identifier(text[start..at].trim_start()));
                start = at + 1;
            }
            '}' if depth == 0 => {
                names.push(identifier(text[start..at].trim_start()));
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// The names behind `crate::` in a source.
fn named(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.push(identifier(rest)),
        }
    }
    names
}

/// Where names that stand at the root of the crate come from: what `lib.rs` hands on, and macros.
fn homes(lib: &str, modules: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut homes = BTreeMap::new();
    for line in lib.lines() {
        let Some(path) = line.strip_prefix("pub use ") else { continue };
        let Some((module, names)) = path.split_once("::") else { continue };
        let names = names.split(|it: char| !it.is_alphanumeric() && it != '_');
        homes.extend(names.map(|it| (it.to_owned(), module.to_owned())));
    }
    for (module, code) in modules {
        let macros = code.match_indices("macro_rules! ").map(|it| identifier(&code[it.0 + 13..]));
        homes.extend(macros.map(|it| (it.to_owned(), module.clone())));
    }
    homes
}

fn arrows() -> Arrows {
    let lib = read(&engine().join("lib.rs"));
    let mut modules = BTreeMap::new();
    for name in declared(&lib) {
        let mut code = String::new();
        gather(&engine(), name, &mut code);
        modules.insert(name.to_owned(), code);
    }
    let homes = homes(&lib, &modules);
    let mut arrows = Arrows::new();
    for (module, code) in &modules {
        let home = |it: &str| match modules.contains_key(it) {
            true => it.to_owned(),
            false => homes.get(it).cloned().unwrap_or_default(),
        };
        let to = named(code).into_iter().map(home);
        let to = to.filter(|it| modules.contains_key(it) && it != module).collect();
        arrows.insert(module.clone(), to);
    }
    arrows
}

/// All modules that can be come to from one, step by step.
fn reached(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut rest = vec![from];
    while let Some(module) = rest.pop() {
        for next in &arrows[module] {
            if seen.insert(next.clone()) {
                rest.push(next);
            }
        }
    }
    seen
}

/// Sets of modules that come to each other.
fn rings(arrows: &Arrows) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&String, _> = arrows.keys().map(|it| (it, reached(arrows, it))).collect();
    let ring_of = |module: &String| -> Vec<String> {
        let back = reached[module].iter().filter(|it| reached[it].contains(module));
        back.cloned().collect()
    };
    arrows.keys().map(ring_of).filter(|it| it.len() > 1).collect()
}

#[test]
fn modules_of_the_engine_point_downwards() {
    let arrows = arrows();
    assert!(arrows["ops"].contains("apply") && arrows["tensor"].contains("shape"), "{arrows:?}");
    let rings = rings(&arrows);
    let large: Vec<_> = rings.iter().filter(|it| it.len() > LARGEST_RING).collect();
    assert!(large.is_empty(), "modules that name each other: {large:?}");
}

#[test]
fn a_ring_is_found() {
    let code = "use crate::{Tensor, lower::plan, ops::{self, find}};\nfn f() { crate::apply(1) }";
    assert_eq!(named(code), ["Tensor", "lower", "ops", "apply"]);
    let to = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    let arrows = Arrows::from([
        ("a".into(), to(&["b"])),
        ("b".into(), to(&["c", "d"])),
        ("c".into(), to(&["a"])),
        ("d".into(), to(&[])),
    ]);
    assert_eq!(rings(&arrows).into_iter().collect::<Vec<_>>(), [["a", "b", "c"]]);
}

/// Files of the language that speak of ops in general.
const OF_ALL_OPS: &[&str] =
    &["ops_binding.rs", "ops_binding/forms.rs", "editor/shape_rule.rs", "editor/help.rs"];

#[test]
fn what_speaks_of_all_ops_names_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend-lang/src");
    let mut named = Vec::new();
    for file in OF_ALL_OPS {
        let text = code(&read(&folder.join(file)));
        named.extend(engine::ops::all().filter_map(|op| {
            let forms = [format!("\"{}\"", op.name), format!("::{}::OP", op.name)];
            forms.iter().any(|it| text.contains(it)).then(|| format!("{file}: {}", op.name))
        }));
    }
    assert!(named.is_empty(), "say it in the row: {named:?}");
}
