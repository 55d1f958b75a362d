//! Imports of packages that only Python has.

use super::proxy;
use super::request::Request;
use super::wire::Datum;
use crate::native::*;
use crate::shown::Notice;
use crate::vm::import::is_built_in;

impl Cx {
    /// Whether Python has a package of this name, which starts it.
    pub(crate) fn is_in_python(&mut self, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or(name);
        if self.python.has(first) {
            return true;
        }
        let started = self.python.about().is_none();
        let Ok(about) = self.start_python() else { return false };
        let found = self.ask(Request::Find, vec![Datum::str(first)]);
        let found = matches!(found, Ok(Datum::Bool(true)));
        if started && found {
            let text = format!(
                "Python {} ({}) runs beside this session, for `{first}`; started in {:.0} ms",
                about.version,
                about.path,
                about.seconds * 1e3
            );
            self.host.notice(&Notice::line(text));
        }
        if found {
            self.python.has.insert(first.to_owned());
        }
        found
    }

    /// What an error of an import says of Python, as a further sentence.
    pub(crate) fn no_package_words(&self, name: &str) -> String {
        let first = name.split('.').next().unwrap_or(name);
        if is_built_in(first) {
            return String::new();
        }
        match (self.python.about(), &self.python.failed) {
            (Some(about), _) => format!(
                ". Python {} has no package of this name either: `{} -m pip install {first}` may add it",
                about.version, about.path
            ),
            (None, Some(lost)) => format!(". {lost}"),
            (None, None) => String::new(),
        }
    }

    /// A module of a package that Python has; `None` if it has no such package.
    pub(crate) fn import_python(&mut self, name: &str) -> Result<Option<Value>, Raised> {
        if !self.is_in_python(name) {
            return Ok(None);
        }
        let module = self.ask(Request::Import, vec![Datum::str(name)])?;
        self.python_value(module).map(Some)
    }

    /// `from module import name`, the module being one of Python.
    pub(crate) fn import_python_name(&mut self, module: &Value, name: Sym) -> Res {
        let own = self.getattr(module, Sym::NAME)?;
        let own = own.as_str().unwrap_or_default();
        let full = format!("{own}.{name}");
        match self.ask(Request::Import, vec![Datum::str(&full)]) {
            Ok(found) => self.python_value(found),
            Err(raised) if raised.is(&IMPORT_ERROR) && raised.message().contains(&full) => {
                let words =
                    format!("cannot import name '{name}' from '{own}' (a package of Python)");
                Err(import_error(words).with_name(Sym::new(own)))
            }
            Err(raised) => Err(raised),
        }
    }

    /// The names that `import *` gives of a module of Python.
    pub(crate) fn python_star_names(
        &mut self,
        module: &Value,
    ) -> Result<Vec<(Sym, Value)>, Raised> {
        let Some(it) = proxy::of(module) else { return Ok(Vec::new()) };
        let names: Vec<Sym> = match self.opt_getattr(module, Sym::ALL)? {
            Some(all) => {
                let all = self.collect(&all)?;
                all.iter().filter_map(Value::as_str).map(Sym::new).collect()
            }
            None => {
                let names = self.python_dir(it)?;
                names.into_iter().filter(|it| !it.as_str().starts_with('_')).collect()
            }
        };
        names.into_iter().map(|name| Ok((name, self.import_name(module, name)?))).collect()
    }
}
