//! Modules that a cell imports and that are not there: looked up before the check, which itself sees no files.
//!
//! **Invariant:** nothing is loaded, and only names are noted for which neither the language has a module nor the folder a file or a folder.

use rustc_hash::FxHashMap;

use crate::builtins::ng_modules;
use crate::bytecode::{Code, Op};
use crate::cx::Cx;
use crate::vm::import::is_built_in;

impl Cx {
    /// The full names in imports of a cell, its functions included, that name no module, and what is to be said of them.
    pub(super) fn absent_modules(&mut self, code: &Code) -> FxHashMap<String, String> {
        let mut names = Vec::new();
        imported(code, &mut names);
        names.retain(|(name, _)| self.is_absent(name));
        let mut absent = FxHashMap::default();
        for (name, is_module) in names {
            // Of `name` in `from module import name` the message of the import speaks.
            let words = if is_module { self.no_module_words(&name) } else { String::new() };
            let said: &mut String = absent.entry(name).or_default();
            if said.is_empty() {
                *said = words;
            }
        }
        absent
    }

    fn is_absent(&mut self, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or(name);
        !self.modules.contains_key(name)
            && !is_built_in(name)
            && ng_modules::real_name(name).is_none()
            && (is_built_in(first)
                || self.module_file(name).is_ok_and(|it| it.is_none()) && !self.is_in_python(first))
    }
}

/// Adds full names, and whether each must be a module.
fn imported(code: &Code, names: &mut Vec<(String, bool)>) {
    let mut module = "";
    for op in &code.ops {
        match op {
            Op::Import(idx) | Op::ImportLeaf(idx) => {
                module = code.consts[*idx as usize].as_str().unwrap_or_default();
                let ends = module.match_indices('.').map(|it| it.0).chain([module.len()]);
                names.extend(ends.map(|end| (module[..end].to_owned(), true)));
            }
            // Relative names are wrong in a cell whether there are such files or not.
            Op::ImportFrom(name) if !module.starts_with('.') => {
                names.push((format!("{module}.{name}"), false));
            }
            _ => {}
        }
    }
    code.children.iter().for_each(|it| imported(it, names));
}
