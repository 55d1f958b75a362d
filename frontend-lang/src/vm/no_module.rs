//! What is said of a module that cannot be imported: the nearest name, here or beside the notebook, or what takes its place.

use crate::absent;
use crate::builtins::module_names;
use crate::builtins::ng_modules::is_internal;
use crate::cx::Cx;
use crate::error::{MODULE_NOT_FOUND_ERROR, Raised};
use crate::suggest::nearest;
use crate::sym::Sym;
use crate::vm::import::module_of_file;

impl Cx {
    /// `ModuleNotFoundError`.
    pub(crate) fn no_module(&self, name: &str) -> Raised {
        error(name, &self.no_module_words(name))
    }

    /// Its text.
    pub(crate) fn no_module_words(&self, name: &str) -> String {
        let python = self.no_package_words(name);
        if let Some(way_out) = absent::module(name) {
            let is = "It is not in this language";
            return format!("No module named '{name}'. {is}: {way_out}{python}");
        }
        let (package, last) = name.rsplit_once('.').unwrap_or(("", name));
        let mut known = self.modules_beside(package);
        known.extend(built_in().filter_map(|it| right_below(it, package)).map(str::to_owned));
        let near = nearest(last, known.iter().map(String::as_str));
        let near = near.map(|near| match package {
            "" => near.to_owned(),
            _ => format!("{package}.{near}"),
        });
        match near {
            Some(near) => format!("No module named '{name}'. Did you mean '{near}'?"),
            None if self.python.about().is_some() && !python.is_empty() => {
                format!("No module named '{name}', neither here nor beside the notebook{python}")
            }
            None => format!(
                "No module named '{name}'. Built-in modules ({}) and .ng or .py files beside the notebook, or in folders there, can be \
                 imported{python}",
                outermost().join(", ")
            ),
        }
    }

    /// The modules right below a package beside the notebook; outermost ones if it is empty.
    fn modules_beside(&self, package: &str) -> Vec<String> {
        let folder = if package.is_empty() { ".".to_owned() } else { package.replace('.', "/") };
        let names = self.host.list_dir(&folder).unwrap_or_default();
        let is_folder =
            |name: &str| self.host.metadata(&format!("{folder}/{name}")).is_ok_and(|it| it.is_dir);
        let is_package = |it: &&str| !it.contains('.') && is_folder(it);
        let module = |it: &String| {
            module_of_file(it).or(Some(it.as_str()).filter(is_package)).map(str::to_owned)
        };
        names.iter().filter_map(module).collect()
    }
}

/// `ModuleNotFoundError` with these words.
pub(crate) fn error(name: &str, words: &str) -> Raised {
    Raised::new(&MODULE_NOT_FOUND_ERROR, words).with_name(Sym::new(name))
}

/// Full names of the modules that come with the language, but for those that only its own modules use.
fn built_in() -> impl Iterator<Item = &'static str> {
    module_names().filter(|it| !is_internal(it))
}

/// The last part of a full name that stands right below `package`.
fn right_below<'a>(name: &'a str, package: &str) -> Option<&'a str> {
    let (above, last) = name.rsplit_once('.').unwrap_or(("", name));
    (above == package).then_some(last)
}

/// Those that are in no other.
fn outermost() -> Vec<&'static str> {
    let mut names: Vec<&str> = built_in().filter(|it| !it.contains(['.', '_'])).collect();
    names.sort_unstable();
    names.dedup();
    names
}
