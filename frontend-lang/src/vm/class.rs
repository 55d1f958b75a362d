//! Making classes.

use std::rc::Rc;

use crate::annotated::Names;
use crate::builtins::types;
use crate::bytecode::Code;
use crate::cx::Cx;
use crate::cycles::{self, Candidate};
use crate::error::{Raised, type_error};
use crate::native::{CallArgs, Res};
use crate::objects::class::{AttrMap, Class, class_of, type_name};
use crate::objects::descriptor::{ClassMethod, StaticMethod};
use crate::objects::generic::Alias;
use crate::python::proxy;
use crate::sym::Sym;
use crate::table::Dict;
use crate::value::Value;
use crate::vm::frame::{ClassBuild, FrameKind};

impl Cx {
    /// `MakeClass`: pushes the frame of the body.
    pub(crate) fn class_op(&mut self, code: &Code, name: u32) -> Result<(), Raised> {
        let body = self.machine.stack.pop();
        let keywords = self.machine.stack.pop();
        let base = self.machine.stack.pop();
        let base = self.base_class(&base)?;
        let name = Sym::new(code.consts[name as usize].as_str().unwrap_or_default());
        let keywords = keywords.as_dict().map(|it| it.items()).unwrap_or_default();
        let keywords = keywords.into_iter();
        let build = ClassBuild {
            name,
            base,
            keywords: keywords
                .map(|(key, value)| (Sym::new(key.as_str().unwrap_or_default()), value))
                .collect(),
            namespace: AttrMap::default(),
        };
        let Value::Func(body) = body else { return Ok(()) };
        let height = self.machine.stack.len();
        self.push_func(body, height, height, FrameKind::Class(Box::new(build)))?;
        Ok(())
    }

    /// The names of the class whose body runs.
    pub(crate) fn namespace(&mut self) -> Option<&mut AttrMap> {
        match self.machine.frames.last_mut().map(|it| &mut it.kind) {
            Some(FrameKind::Class(build)) => Some(&mut build.namespace),
            _ => None,
        }
    }

    /// The class, once its body has run.
    pub(crate) fn finish_class(
        &mut self,
        build: ClassBuild,
        code: &Code,
        class_cell: Value,
    ) -> Res {
        let doc = code.doc.as_ref().map_or(Value::None, |it| Value::str(it.as_str()));
        let module = module_of(code);
        self.make_class(build, doc, (module, Sym::new(&code.qualname)), class_cell)
    }

    /// The module of the code that calls a native.
    pub(crate) fn calling_module(&self) -> Sym {
        self.machine.frames.last().map_or(Sym::of("__main__"), |it| module_of(&it.func.code))
    }

    /// `type(name, bases, dict)`.
    pub(crate) fn class_of_parts(&mut self, name: &Value, bases: &Value, dict: &Value) -> Res {
        let (Some(name), Some(bases), Some(dict)) =
            (name.as_str(), bases.as_tuple(), dict.as_dict())
        else {
            return Err(type_error("type() takes a name, a tuple of classes, and a dict"));
        };
        if bases.len() > 1 {
            return Err(type_error(
                "a class has one base here; hold an object of the other in an attribute",
            ));
        }
        let mut namespace = AttrMap::default();
        for (key, value) in dict.items() {
            let Some(key) = key.as_str() else { return Err(type_error("names must be strings")) };
            namespace.insert(Sym::new(key), value);
        }
        let base = self.base_class(bases.first().unwrap_or(&Value::None))?;
        let name = Sym::new(name);
        let build = ClassBuild { name, base, keywords: Vec::new(), namespace };
        let module = self.calling_module();
        self.make_class(build, Value::None, (module, name), Value::None)
    }

    /// The module of the code that called into the module whose code runs.
    pub(crate) fn module_outside(&self) -> Sym {
        let here = self.calling_module();
        let modules = self.machine.frames.iter().rev().map(|it| module_of(&it.func.code));
        modules.into_iter().find(|it| *it != here).unwrap_or(here)
    }

    fn make_class(
        &mut self,
        build: ClassBuild,
        doc: Value,
        (module, qualname): (Sym, Sym),
        class_cell: Value,
    ) -> Res {
        let mut namespace = build.namespace;
        if namespace.contains_key(&Sym::NEW) {
            return Err(type_error(
                "__new__ is not in this language; use __init__, or a class method that makes objects",
            ));
        }
        if namespace.contains_key(&Sym::of("__getattribute__")) {
            return Err(type_error(
                "__getattribute__ is not in this language; use __getattr__, which is asked for names that are not there, or a property",
            ));
        }
        namespace.insert_new(Sym::DOC, || doc);
        for name in [Sym::INIT_SUBCLASS, Sym::CLASS_GETITEM] {
            if let Some(func @ Value::Func(_)) = namespace.get(&name) {
                let bound = Value::object(ClassMethod(func.clone()));
                namespace.insert(name, bound);
            }
        }
        let named: Vec<(Sym, Value)> = namespace
            .iter()
            .filter(|(_, it)| matches!(it, Value::Instance(_)))
            .map(|(name, it)| (*name, it.clone()))
            .collect();
        let given = [Sym::MODULE, Sym::QUALNAME].map(|name| (name, namespace.shift_remove(&name)));
        let class = Class::new(build.name, qualname, module, build.base.clone(), namespace);
        let class = Rc::new(class);
        for (name, value) in given {
            value.map(|it| class.rename(name, &it));
        }
        build.base.note_subclass(&class);
        cycles::note(Candidate::Class(Rc::downgrade(&class)));
        let value = Value::Class(class.clone());
        if self.mode == crate::cx::Mode::Shadow {
            self.may_change_from_now(&value);
        }
        if let Value::Cell(cell) = class_cell {
            cell.assign(value.clone());
        }
        for (name, item) in named {
            self.call_special(&item, Sym::SET_NAME, &[value.clone(), name.value()])?;
        }
        self.init_subclass(&build.base, &class, &build.keywords)?;
        Ok(value)
    }

    fn init_subclass(
        &mut self,
        base: &Rc<Class>,
        class: &Rc<Class>,
        keywords: &[(Sym, Value)],
    ) -> Result<(), Raised> {
        let hook = base.lookup(Sym::INIT_SUBCLASS);
        let inner =
            hook.as_ref().and_then(|it| it.downcast::<ClassMethod>()).map(|it| it.0.clone());
        match inner {
            Some(func) => {
                let this = [Value::Class(class.clone())];
                self.call_with(&func, CallArgs { positional: &this, keywords })?;
                Ok(())
            }
            None => match keywords.first() {
                Some((name, _)) => Err(type_error(format!(
                    "{}.__init_subclass__() got an unexpected keyword argument '{name}'",
                    class.name
                ))),
                None => Ok(()),
            },
        }
    }

    /// `Annotate`: notes a name of a class body and its annotation.
    pub(crate) fn annotate(&mut self, pair: &Value) {
        let Some([name, text]) = pair.as_tuple().map(|it| &***it) else { return };
        let (Some(name), Some(text)) = (name.as_str(), text.as_str()) else { return };
        let Some(globals) = self.machine.frames.last().map(|it| it.func.code.globals.clone())
        else {
            return;
        };
        let Some(near) = self.namespace().map(|it| it.clone()) else { return };
        let near = |name: Sym| near.get(&name).cloned();
        let value = self.annotation(text, &Names { near: &near, globals: &globals });
        let Some(namespace) = self.namespace() else { return };
        namespace.insert_new(Sym::ANNOTATIONS, || Value::Dict(Rc::new(Dict::default())));
        if let Some(Value::Dict(dict)) = namespace.get(&Sym::ANNOTATIONS) {
            dict.insert_name(Sym::new(name), value);
        }
    }

    /// The class that a class is derived from, where `class A(base)` stands.
    fn base_class(&mut self, base: &Value) -> Result<Rc<Class>, Raised> {
        if let Some(alias) = base.downcast::<Alias>() {
            return base_class(alias.origin());
        }
        if let Value::Func(it) = base {
            let entries = it.attrs.borrow().get(&Sym::of("__mro_entries__")).cloned();
            if let Some(entries) = entries {
                let found = self.call(&entries, &[Value::tuple([base.clone()])])?;
                let found = found.as_tuple().and_then(|it| it.first().cloned());
                return base_class(&found.unwrap_or_default());
            }
        }
        if proxy::of(base).is_some_and(proxy::Proxy::is_class) {
            let name = self.getattr(base, Sym::NAME)?;
            let name = name.as_str().unwrap_or_default();
            let way_out = "write the class in a `%%python` cell, and take it out with `-o Name`";
            let words = format!(
                "'{name}' is a class of Python, and cannot be the base of a class here: {way_out}"
            );
            return Err(type_error(words));
        }
        base_class(base)
    }
}

/// `__name__` where the code stands.
fn module_of(code: &Code) -> Sym {
    let name = code.globals.get(Sym::NAME);
    Sym::new(name.as_ref().and_then(Value::as_str).unwrap_or("__main__"))
}

fn base_class(base: &Value) -> Result<Rc<Class>, Raised> {
    let final_rows = [&types::BOOL, &types::RANGE, &types::SLICE, &types::NONE_TYPE, &types::TYPE];
    match base {
        Value::None => Ok(class_of(&types::OBJECT)),
        Value::Class(class) => match class.native {
            Some(row) if final_rows.iter().any(|it| std::ptr::eq(*it, row)) => {
                Err(type_error(format!("type '{}' is not an acceptable base type", row.name)))
            }
            _ => Ok(class.clone()),
        },
        _ if base.downcast::<StaticMethod>().is_some() => Err(type_error("a base must be a class")),
        other => Err(type_error(format!("a base must be a class, not '{}'", type_name(other)))),
    }
}
