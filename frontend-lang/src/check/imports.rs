//! Modules that a cell imports and that are not there: looked up before the check, which itself sees no files.
//!
//! **Invariant:** nothing is loaded, and only names are noted for which neither the language has a module nor the folder a file or a folder.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::builtins::ng_modules;
use crate::bytecode::{Code, Op};
use crate::cx::Cx;
use crate::vm::import::is_built_in;

impl Cx {
    /// The full names in imports of a cell, its functions included, that name no module, and what is to be said of them.
    pub(super) fn absent_modules(&self, code: &Code) -> FxHashMap<String, String> {
        let mut names = FxHashSet::default();
        imported(code, &mut names);
        names.retain(|name| {
            !self.modules.contains_key(name)
                && !is_built_in(name)
                && ng_modules::real_name(name).is_none()
                && self.module_file(name).is_ok_and(|it| it.is_none())
        });
        let said = |name: String| {
            let words = self.no_module_words(&name);
            (name, words)
        };
        names.into_iter().map(said).collect()
    }
}

fn imported(code: &Code, names: &mut FxHashSet<String>) {
    let mut module = "";
    for op in &code.ops {
        match op {
            Op::Import(idx) | Op::ImportLeaf(idx) => {
                module = code.consts[*idx as usize].as_str().unwrap_or_default();
                let ends = module.match_indices('.').map(|it| it.0);
                names.extend(ends.chain([module.len()]).map(|end| module[..end].to_owned()));
            }
            // Relative names are wrong in a cell whether there are such files or not.
            Op::ImportFrom(name) if !module.starts_with('.') => {
                names.insert(format!("{module}.{name}"));
            }
            _ => {}
        }
    }
    code.children.iter().for_each(|it| imported(it, names));
}
