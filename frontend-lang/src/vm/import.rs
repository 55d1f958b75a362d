//! Imports: modules written in Rust, in the language, and beside the notebook.

use std::io::ErrorKind;
use std::rc::Rc;

use crate::builtins::{MODULES, NG_MODULES, ng_modules};
use crate::cx::{Cx, Mode};
use crate::error::{
    MODULE_NOT_FOUND_ERROR, Raised, SYNTAX_ERROR, import_error, os_error, type_error,
};
use crate::host::FileError;
use crate::native::{Member, NativeModule, Res};
use crate::objects::class::class_of;
use crate::objects::module::{Globals, Module};
use crate::python::proxy;
use crate::suggest::nearest;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// The module of a full name, loaded once.
    pub fn import(&mut self, name: &str) -> Res {
        let known = self.modules.get(name).cloned();
        let module = known.map_or_else(|| self.import_new(name), Ok)?;
        if self.mode == Mode::Follow {
            self.find(&module)?;
        }
        Ok(module)
    }

    fn import_new(&mut self, name: &str) -> Res {
        if self.mode == Mode::Shadow {
            return self.import_in_earnest(name);
        }
        if let Some(row) = find_row(name) {
            return self.load_rows(name, row);
        }
        if let Some((_, text)) = NG_MODULES.iter().find(|(known, _)| *known == name) {
            return self.run_module(name, text, Rc::default());
        }
        if let Some(real) = ng_modules::real_name(name) {
            let module = self.import(&real).map_err(|raised| match names(&raised, &real) {
                true => self.no_module(name),
                false => raised,
            })?;
            self.modules.insert(name.to_owned(), module.clone());
            return Ok(module);
        }
        self.write_all()?;
        // What comes with the language is not mixed with what stands beside the notebook.
        if !is_built_in(name.split('.').next().unwrap_or(name))
            && let Some(file) = self.module_file(name).map_err(os_error)?
        {
            return self.run_file(name, file, Rc::default());
        }
        if !is_built_in(name.split('.').next().unwrap_or(name))
            && let Some(module) = self.import_python(name)?
        {
            self.modules.insert(name.to_owned(), module.clone());
            return Ok(module);
        }
        self.object_within(name)?.ok_or_else(|| self.no_module(name))
    }

    /// What stands in a module of the library in place of one below it: `torch.backends.cudnn`.
    fn object_within(&mut self, name: &str) -> Result<Option<Value>, Raised> {
        let Some((outer, leaf)) = name.rsplit_once('.') else { return Ok(None) };
        if !is_built_in(name.split('.').next().unwrap_or(name)) {
            return Ok(None);
        }
        let Value::Module(outer) = self.import(outer)? else { return Ok(None) };
        let object = outer.globals.get(Sym::new(leaf));
        Ok(object.filter(|it| matches!(it, Value::Instance(_))))
    }

    /// A module beside the notebook: for `a.b` the file `a/b/__init__.ng` or `a/b.ng`, the same with `.py`, or the folder `a/b`, whose
    /// text is empty.
    pub(crate) fn module_file(&self, name: &str) -> Result<Option<ModuleFile>, FileError> {
        if name.split('.').any(str::is_empty) {
            return Ok(None);
        }
        let base = name.replace('.', "/");
        let files = ENDINGS.iter().flat_map(|ending| {
            [(format!("{base}/__init__{ending}"), true), (format!("{base}{ending}"), false)]
        });
        for (path, is_package) in files {
            match self.host.read_file(&path) {
                Ok(bytes) => return Ok(Some(ModuleFile { path, bytes, is_package })),
                Err(error) if is_absence(error.kind) => {}
                Err(error) => return Err(error),
            }
        }
        let is_folder = self.host.metadata(&base).is_ok_and(|it| it.is_dir);
        Ok(is_folder.then_some(ModuleFile { path: base, bytes: Vec::new(), is_package: true }))
    }

    /// Runs the text of a file, which binds its names in `globals`.
    fn run_file(&mut self, name: &str, file: ModuleFile, globals: Rc<Globals>) -> Res {
        let text = String::from_utf8(file.bytes)
            .map_err(|_| import_error(format!("{} is not UTF-8 text", file.path)))?;
        let package = match file.is_package {
            true => name,
            false => name.rsplit_once('.').map_or("", |it| it.0),
        };
        globals.set(Sym::new("__package__"), Value::str(package));
        globals.set(Sym::new("__file__"), Value::str(file.path));
        self.run_module(name, &text, globals)
    }

    /// Reads and runs a module beside the notebook again; its names are bound anew, and others that it had stay.
    pub(crate) fn reload(&mut self, module: &Value) -> Res {
        let Value::Module(it) = module else {
            return Err(type_error("reload() argument must be a module"));
        };
        if is_built_in(&it.name) {
            return Ok(module.clone());
        }
        self.write_all()?;
        let file = self.module_file(&it.name).map_err(os_error)?;
        let file = file.ok_or_else(|| self.no_module(&it.name))?;
        let run = self.run_file(&it.name, file, it.globals.clone());
        self.modules.insert(it.name.clone(), module.clone());
        run.map(|_| module.clone())
    }

    /// `import a.b`: loads both, makes each an attribute of the one before, and gives `a`.
    pub(crate) fn import_first(&mut self, name: &str) -> Res {
        let ends = name.match_indices('.').map(|it| it.0).chain([name.len()]);
        let mut outer: Option<Value> = None;
        for end in ends {
            let module = self.import(&name[..end])?;
            let leaf = Sym::new(name[..end].rsplit('.').next().unwrap_or(name));
            if let Some(Value::Module(outer)) = &outer
                && outer.globals.get(leaf).is_none()
            {
                outer.globals.set(leaf, module.clone());
            }
            outer = Some(module);
        }
        self.import(name.split('.').next().unwrap_or(name))
    }

    /// The module of the library that lies in another one under this name, which loads it.
    pub(crate) fn module_within(
        &mut self,
        outer: &Module,
        name: Sym,
    ) -> Result<Option<Value>, Raised> {
        if !modules_within(&outer.name).any(|it| it == name.as_str()) {
            return Ok(None);
        }
        let module = self.import(&format!("{}.{name}", outer.name))?;
        if self.mode != Mode::Shadow {
            outer.globals.set(name, module.clone());
        }
        Ok(Some(module))
    }

    /// `from module import name`.
    pub fn import_name(&mut self, module: &Value, name: Sym) -> Res {
        if let Some(found) = self.opt_getattr(module, name)? {
            return Ok(found);
        }
        if proxy::of(module).is_some() {
            return self.import_python_name(module, name);
        }
        let Value::Module(it) = module else { return Err(import_error("not a module")) };
        let full = format!("{}.{name}", it.name);
        match self.import(&full) {
            Err(raised) if names(&raised, &full) => {}
            Ok(found) => {
                it.globals.set(name, found.clone());
                return Ok(found);
            }
            failed => return failed,
        }
        let known = self.dir(module);
        let near = nearest(name.as_str(), known.iter().map(|it| it.as_str()));
        let hint = match crate::absent::attribute(&it.name, name.as_str()) {
            Some(way_out) => format!(". It is not in this language: {way_out}"),
            None => near.map(|near| format!(". Did you mean '{near}'?")).unwrap_or_default(),
        };
        let message = match self.loading.contains(&it.name) {
            true => format!(
                "cannot import name '{name}' from partially initialized module '{}' (most likely due to a circular import: it imports \
                 what imports it, and has not come to '{name}' yet)",
                it.name
            ),
            false => format!("cannot import name '{name}' from '{}'{hint}", it.name),
        };
        Err(import_error(message).with_name(Sym::new(&it.name)))
    }

    /// The names that `import *` gives.
    pub(crate) fn star_names(&mut self, module: &Value) -> Result<Vec<(Sym, Value)>, Raised> {
        if proxy::of(module).is_some() {
            return self.python_star_names(module);
        }
        let Value::Module(it) = module else { return Ok(Vec::new()) };
        if let Some(all) = it.globals.get(Sym::ALL) {
            let mut names = Vec::new();
            for name in self.collect(&all)? {
                let name = Sym::new(name.as_str().unwrap_or_default());
                names.push((name, self.import_name(module, name)?));
            }
            return Ok(names);
        }
        let entries = it.globals.entries().into_iter();
        Ok(entries.filter(|(name, _)| !name.as_str().starts_with('_')).collect())
    }

    fn load_rows(&mut self, name: &str, row: &'static NativeModule) -> Res {
        if let Some(module) = self.modules.get(row.name).cloned() {
            self.modules.insert(name.to_owned(), module.clone());
            return Ok(module);
        }
        let globals = Rc::new(Globals::default());
        let module = Value::Module(Rc::new(Module {
            name: row.name.to_owned(),
            doc: row.doc.to_owned(),
            globals: globals.clone(),
        }));
        self.modules.insert(row.name.to_owned(), module.clone());
        self.modules.insert(name.to_owned(), module.clone());
        for member in row.members {
            if let Err(raised) = self.add_member(&globals, member) {
                self.modules.remove(row.name);
                self.modules.remove(name);
                return Err(raised);
            }
        }
        Ok(module)
    }

    fn add_member(&mut self, globals: &Globals, member: &Member) -> Result<(), Raised> {
        match member {
            Member::Functions(rows) => {
                for row in *rows {
                    globals.set(Sym::of(row.name), Value::Native(row));
                }
            }
            Member::Types(rows) => {
                for row in *rows {
                    globals.set(Sym::of(row.name), Value::Class(class_of(row)));
                }
            }
            Member::Int(name, it) => globals.set(Sym::of(name), Value::Int(*it)),
            Member::Float(name, it) => globals.set(Sym::of(name), Value::Float(*it)),
            Member::Str(name, it) => globals.set(Sym::of(name), Value::str(*it)),
            Member::Make(name, make) => {
                let value = make(self)?;
                globals.set(Sym::of(name), value);
            }
            Member::From(name, module, there) => {
                let module = self.import(module)?;
                let value = self.import_name(&module, Sym::of(there))?;
                globals.set(Sym::of(name), value);
            }
            Member::These(module, names) => {
                let module = self.import(module)?;
                for name in names.iter().map(|name| Sym::of(name)) {
                    let value = self.import_name(&module, name)?;
                    globals.set(name, value);
                }
            }
            Member::AllOf(module) => {
                let module = self.import(module)?;
                for (name, value) in self.star_names(&module)? {
                    globals.set(name, value);
                }
            }
            Member::Each(make) => {
                for (name, value) in make(self)? {
                    globals.set(name, value);
                }
            }
            Member::Module(name, module) => {
                let module = self.import(module)?;
                globals.set(Sym::of(name), module);
            }
        }
        Ok(())
    }

    /// Runs the text of a module, which binds its names in `globals`.
    fn run_module(&mut self, name: &str, text: &str, globals: Rc<Globals>) -> Res {
        globals.set(Sym::NAME, Value::str(name));
        let source = self.sources.add(name.to_owned(), text.to_owned());
        let code = self.compile_source(source, &globals, false).map_err(|diagnostics| {
            let texts: Vec<String> =
                diagnostics.iter().map(|it| it.render(&self.sources, false)).collect();
            Raised::new(&SYNTAX_ERROR, format!("in module {name}\n{}", texts.join("\n")))
        })?;
        let doc = match code.ops.first() {
            _ if text.trim_start().starts_with("\"\"\"") => {
                text.trim_start()[3..].split("\"\"\"").next().unwrap_or("").to_owned()
            }
            _ => String::new(),
        };
        let module = Value::Module(Rc::new(Module { name: name.to_owned(), doc, globals }));
        let before = self.modules.insert(name.to_owned(), module.clone());
        self.loading.push(name.to_owned());
        let run = self.run_code(code);
        self.loading.pop();
        if let Err(raised) = run {
            match before {
                Some(before) => self.modules.insert(name.to_owned(), before),
                None => self.modules.remove(name),
            };
            return Err(raised);
        }
        Ok(module)
    }

    /// The full name in an import: a relative one begins with a dot for the package of the code, and one more for each package around
    /// that.
    pub(crate) fn full_name(&self, name: &str, globals: &Globals) -> Result<String, Raised> {
        let rest = name.trim_start_matches('.');
        let dots = name.len() - rest.len();
        if dots == 0 {
            return Ok(name.to_owned());
        }
        let package = globals.get(Sym::new("__package__"));
        let package = package.as_ref().and_then(|it| it.as_str()).unwrap_or_default();
        if package.is_empty() {
            return Err(import_error(format!(
                "attempted relative import with no known parent package: `from {name} import ...` works in files of a package; here, \
                 write the name of the module without the dots in front"
            )));
        }
        let mut parts: Vec<&str> = package.split('.').collect();
        if dots > parts.len() {
            return Err(import_error("attempted relative import beyond top-level package"));
        }
        parts.truncate(parts.len() + 1 - dots);
        parts.extend(Some(rest).filter(|it| !it.is_empty()));
        Ok(parts.join("."))
    }
}

/// How names of files end that are modules; where there are several of one name, the first counts.
const ENDINGS: [&str; 2] = [".ng", ".py"];

/// The module that a file of this name is; none if it is no module, or the text of a package.
pub(crate) fn module_of_file(name: &str) -> Option<&str> {
    let stem = ENDINGS.iter().find_map(|it| name.strip_suffix(it))?;
    Some(stem).filter(|it| *it != "__init__")
}

/// A module beside the notebook.
pub(crate) struct ModuleFile {
    path: String,
    bytes: Vec<u8>,
    /// Whether other modules are in it.
    is_package: bool,
}

/// Whether the error says that there is no file of this name.
fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}

/// Whether a module could not be imported because there is none of this name.
fn names(raised: &Raised, module: &str) -> bool {
    let name = raised.instance().and_then(|it| it.get(Sym::of("name")));
    raised.is(&MODULE_NOT_FOUND_ERROR) && name.is_some_and(|it| it.as_str() == Some(module))
}

/// Whether a module comes with the language.
pub(crate) fn is_built_in(name: &str) -> bool {
    is_of_library(name) || ng_modules::real_name(name).is_some_and(|it| is_of_library(&it))
}

/// The names of the modules of the library that lie in another one, under which it has them as attributes. What is another name of a module,
/// such as `torch.jit`, is imported, and no attribute.
pub(crate) fn modules_within(outer: &str) -> impl Iterator<Item = &'static str> {
    let names = MODULES.iter().map(|it| it.name).chain(NG_MODULES.iter().map(|it| it.0));
    names.filter(|it| !ng_modules::is_internal(it)).filter_map(move |it| {
        let within = it.strip_prefix(outer)?.strip_prefix('.')?;
        (!within.contains('.')).then_some(within)
    })
}

fn is_of_library(name: &str) -> bool {
    find_row(name).is_some() || NG_MODULES.iter().any(|(known, _)| *known == name)
}

fn find_row(name: &str) -> Option<&'static NativeModule> {
    MODULES.iter().copied().find(|it| it.name == name || it.aliases.contains(&name))
}
