//! What is said of a module that cannot be imported: the nearest name, here or beside the notebook, or what takes its place.

use crate::absent;
use crate::builtins::module_names;
use crate::cx::Cx;
use crate::error::{MODULE_NOT_FOUND_ERROR, Raised};
use crate::suggest::nearest;
use crate::sym::Sym;

impl Cx {
    /// `ModuleNotFoundError`.
    pub(crate) fn no_module(&self, name: &str) -> Raised {
        error(name, &self.no_module_words(name))
    }

    /// Its text.
    pub(crate) fn no_module_words(&self, name: &str) -> String {
        if let Some(way_out) = absent::module(name) {
            return format!("No module named '{name}'. It is not in this language: {way_out}");
        }
        let beside = self.modules_beside(name.rsplit_once('.').map_or("", |it| it.0));
        let mut known: Vec<&str> = beside.iter().map(String::as_str).collect();
        for name in built_in() {
            known.push(name);
        }
        let near = nearest(name, known);
        match near {
            Some(near) => format!("No module named '{name}'. Did you mean '{near}'?"),
            None => format!(
                "No module named '{name}'. Built-in modules ({}) and .ng files beside the notebook, or in folders there, can be imported; \
                 Python packages cannot",
                outermost().join(", ")
            ),
        }
    }

    /// Full names of the modules in a package beside the notebook; outermost ones if it is empty.
    fn modules_beside(&self, package: &str) -> Vec<String> {
        let folder = if package.is_empty() { ".".to_owned() } else { package.replace('.', "/") };
        let names = self.host.list_dir(&folder).unwrap_or_default();
        let is_folder =
            |name: &str| self.host.metadata(&format!("{folder}/{name}")).is_ok_and(|it| it.is_dir);
        let modules = names.iter().filter_map(|name| match name.strip_suffix(".ng") {
            Some(stem) => Some(stem).filter(|it| *it != "__init__"),
            None => Some(name.as_str()).filter(|it| !it.contains('.') && is_folder(it)),
        });
        let full =
            |it: &str| if package.is_empty() { it.to_owned() } else { format!("{package}.{it}") };
        modules.map(full).collect()
    }
}

/// `ModuleNotFoundError` with these words.
pub(crate) fn error(name: &str, words: &str) -> Raised {
    Raised::new(&MODULE_NOT_FOUND_ERROR, words).with_name(Sym::new(name))
}

/// Full names of the modules that come with the language, but for those that only its own modules use.
fn built_in() -> impl Iterator<Item = &'static str> {
    module_names().filter(|it| !it.split('.').any(|part| part.starts_with('_')))
}

/// Those that are in no other.
fn outermost() -> Vec<&'static str> {
    let mut names: Vec<&str> = built_in().filter(|it| !it.contains(['.', '_'])).collect();
    names.sort_unstable();
    names.dedup();
    names
}
