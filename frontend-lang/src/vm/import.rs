//! Imports: modules written in Rust, in the language, and beside the notebook.

use std::rc::Rc;

use crate::builtins::{MODULES, NG_MODULES, ng_modules};
use crate::cx::{Cx, Mode};
use crate::error::{MODULE_NOT_FOUND_ERROR, Raised, SYNTAX_ERROR, import_error};
use crate::native::{Member, NativeModule, Res};
use crate::objects::class::class_of;
use crate::objects::module::{Globals, Module};
use crate::suggest::nearest;
use crate::sym::Sym;
use crate::value::Value;

impl Cx {
    /// The module of a full name, loaded once.
    pub fn import(&mut self, name: &str) -> Res {
        if let Some(module) = self.modules.get(name) {
            return Ok(module.clone());
        }
        if self.mode == Mode::Shadow {
            return self.import_in_earnest(name);
        }
        if let Some(row) = find_row(name) {
            return self.load_rows(name, row);
        }
        if let Some((_, text)) = NG_MODULES.iter().find(|(known, _)| *known == name) {
            return self.load_text(name, text);
        }
        if let Some(real) = ng_modules::real_name(name) {
            let module = self.import(&real)?;
            self.modules.insert(name.to_owned(), module.clone());
            return Ok(module);
        }
        if let Some((path, bytes)) = self.module_file(name) {
            return self.load_file(name, &path, bytes);
        }
        Err(no_module(name))
    }

    /// A module beside the notebook, its path and text: for `a.b` the file `a/b/__init__.ng` or `a/b.ng`, or the folder
    /// `a/b`, whose own text is empty, if it holds modules.
    pub(crate) fn module_file(&self, name: &str) -> Option<(String, Vec<u8>)> {
        let base = name.replace('.', "/");
        for path in [format!("{base}/__init__.ng"), format!("{base}.ng")] {
            if let Ok(bytes) = self.host.read_file(&path) {
                return Some((path, bytes));
            }
        }
        let names = self.host.list_dir(&base).ok()?;
        names.iter().any(|it| it.ends_with(".ng")).then(|| (base, Vec::new()))
    }

    /// Loads a module of a file, the packages around it first, and makes it an attribute of the innermost.
    fn load_file(&mut self, name: &str, path: &str, bytes: Vec<u8>) -> Res {
        let text = String::from_utf8(bytes)
            .map_err(|_| import_error(format!("{path} is not UTF-8 text")))?;
        let Some((package, leaf)) = name.rsplit_once('.') else {
            return self.load_text(name, &text);
        };
        let package = self.import(package)?;
        // The package may have imported it.
        let module = match self.modules.get(name) {
            Some(module) => module.clone(),
            None => self.load_text(name, &text)?,
        };
        if let Value::Module(it) = &package {
            it.globals.set(Sym::new(leaf), module.clone());
        }
        Ok(module)
    }

    /// `import a.b`: loads both, and gives `a`.
    pub(crate) fn import_first(&mut self, name: &str) -> Res {
        let first = name.split('.').next().unwrap_or(name);
        let mut prefix = String::new();
        let mut outer: Option<Value> = None;
        for part in name.split('.') {
            if !prefix.is_empty() {
                prefix.push('.');
            }
            prefix.push_str(part);
            let module = self.import(&prefix)?;
            if let Some(Value::Module(outer)) = &outer
                && outer.globals.get(Sym::new(part)).is_none()
            {
                outer.globals.set(Sym::new(part), module.clone());
            }
            outer = Some(module);
        }
        self.import(first)
    }

    /// `from module import name`.
    pub(crate) fn import_name(&mut self, module: &Value, name: Sym) -> Res {
        if let Some(found) = self.opt_getattr(module, name)? {
            return Ok(found);
        }
        let Value::Module(it) = module else { return Err(import_error("not a module")) };
        let full = format!("{}.{name}", it.name);
        match self.import(&full) {
            Err(raised) if raised.is(&MODULE_NOT_FOUND_ERROR) => {}
            found => return found,
        }
        let names = self.dir(module);
        let near = nearest(name.as_str(), names.iter().map(|it| it.as_str()));
        let hint = match crate::absent::attribute(&it.name, name.as_str()) {
            Some(way_out) => format!(". It is not in this language: {way_out}"),
            None => near.map(|near| format!(". Did you mean '{near}'?")).unwrap_or_default(),
        };
        let message = format!("cannot import name '{name}' from '{}'{hint}", it.name);
        Err(import_error(message).with_name(Sym::new(&it.name)))
    }

    /// The names that `import *` gives.
    pub(crate) fn star_names(&mut self, module: &Value) -> Result<Vec<(Sym, Value)>, Raised> {
        let Value::Module(it) = module else { return Ok(Vec::new()) };
        if let Some(all) = it.globals.get(Sym::ALL) {
            let mut names = Vec::new();
            for name in self.collect(&all)? {
                let name = Sym::new(name.as_str().unwrap_or_default());
                names.push((name, self.getattr(module, name)?));
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

    fn load_text(&mut self, name: &str, text: &str) -> Res {
        let globals = Rc::new(Globals::default());
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
        self.modules.insert(name.to_owned(), module.clone());
        if let Err(raised) = self.run_code(code) {
            self.modules.remove(name);
            return Err(raised);
        }
        Ok(module)
    }
}

/// Whether a module comes with the language.
pub(crate) fn is_built_in(name: &str) -> bool {
    let is_known =
        |name: &str| find_row(name).is_some() || NG_MODULES.iter().any(|(known, _)| *known == name);
    is_known(name) || ng_modules::real_name(name).is_some_and(|it| is_known(&it))
}

fn find_row(name: &str) -> Option<&'static NativeModule> {
    MODULES.iter().copied().find(|it| it.name == name || it.aliases.contains(&name))
}

/// The modules that come with the language, without those inside others.
fn built_in_names() -> Vec<&'static str> {
    let known = MODULES.iter().flat_map(|it| it.aliases.iter().chain([&it.name])).copied();
    let known = known.chain(NG_MODULES.iter().map(|(name, _)| *name));
    let mut names: Vec<&str> = known.filter(|it| !it.contains(['.', '_'])).collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(crate) fn no_module(name: &str) -> Raised {
    let known = MODULES.iter().flat_map(|it| it.aliases.iter().chain([&it.name])).copied();
    let known = known.chain(NG_MODULES.iter().map(|(name, _)| *name));
    let message = match nearest(name, known) {
        _ if crate::absent::module(name).is_some() => {
            let way_out = crate::absent::module(name).unwrap_or_default();
            format!("No module named '{name}'. It is not in this language: {way_out}")
        }
        Some(near) => format!("No module named '{name}'. Did you mean '{near}'?"),
        None => format!(
            "No module named '{name}'. Built-in modules ({}) and .ng files beside the notebook, or in folders there, can be imported; \
             Python packages cannot",
            built_in_names().join(", ")
        ),
    };
    Raised::new(&MODULE_NOT_FOUND_ERROR, message).with_name(Sym::new(name))
}
