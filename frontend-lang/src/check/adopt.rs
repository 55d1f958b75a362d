//! Copies of live objects for a check, made on first touch and once per object, so that what is the same object stays the same.
//!
//! Whatever a program can change is copied with all it reaches; what cannot change is shared. A class is shared unless it holds
//! something changeable. What cannot be copied, such as a running generator, becomes unknown.

use std::cell::RefCell;
use std::rc::Rc;

use crate::check::unknown::{self, Kind, unknown};
use crate::cx::Cx;
use crate::error::Raised;
use crate::native::Res;
use crate::objects::class::{AttrMap, Class, Instance, traits};
use crate::objects::function::{CellVar, Func};
use crate::objects::tensor::TensorObj;
use crate::sym::Sym;
use crate::table::{Dict, Set};
use crate::value::{List, Slice, Value};

/// Values copied before the check gives up.
const MOST: usize = 40_000;

/// Items of a list, set or dict that is copied; longer ones are unknown.
const LONGEST: usize = 4_000;

/// How deeply objects may lie in each other.
const DEEPEST: usize = 120;

impl Cx {
    /// The copy of a live value, or the value itself if it cannot change.
    pub(crate) fn adopt(&mut self, value: &Value) -> Res {
        if is_fixed(value) {
            return Ok(value.clone());
        }
        let Some(address) = value.address() else { return Ok(value.clone()) };
        if let Some(known) = self.shadow().copies.get(&address) {
            return Ok(known.clone());
        }
        if is_long(value) {
            return Ok(unknown(Kind::Any));
        }
        let shadow = self.shadow();
        shadow.n_copied += 1;
        shadow.depth += 1;
        if shadow.n_copied > MOST || shadow.depth > DEEPEST {
            return Err(self.uncertain());
        }
        let res = self.copy(value, address);
        self.shadow().depth -= 1;
        if let Ok(copy) = &res {
            self.know(address, copy.clone());
            self.shadow().note_copy(copy);
        }
        res
    }

    /// Notes the copy of an object; the copy may be changed, and is its own copy.
    fn know(&mut self, address: usize, copy: Value) {
        let shadow = self.shadow();
        if let Some(own) = copy.address().filter(|it| *it != address) {
            shadow.own.insert(own);
            shadow.copies.insert(own, copy.clone());
        }
        shadow.copies.insert(address, copy);
    }

    fn copy(&mut self, value: &Value, address: usize) -> Res {
        match value {
            Value::List(it) => {
                let copy = Rc::new(List::new(Vec::new()));
                self.know(address, Value::List(copy.clone()));
                let items = it.items.borrow().clone();
                let items = self.adopt_all(&items)?;
                for item in items {
                    copy.push(item)?;
                }
                Ok(Value::List(copy))
            }
            Value::Tuple(it) => {
                let items = self.adopt_all(it)?;
                let same = items.iter().zip(it.iter()).all(|(a, b)| a.is(b));
                Ok(if same { value.clone() } else { Value::tuple(items) })
            }
            Value::Slice(it) => {
                let (start, stop) = (self.adopt(&it.start)?, self.adopt(&it.stop)?);
                let step = self.adopt(&it.step)?;
                Ok(Value::Slice(Rc::new(Slice::new(start, stop, step))))
            }
            Value::Dict(it) => self.copy_dict(it, address),
            Value::Set(it) => self.copy_set(it),
            Value::Cell(it) => {
                let copy = Rc::new(CellVar::new(Value::Unbound));
                self.know(address, Value::Cell(copy.clone()));
                let inner = it.borrow().clone();
                let inner = self.adopt(&inner)?;
                copy.assign(inner);
                Ok(Value::Cell(copy))
            }
            Value::Func(it) => self.copy_func(it, address),
            Value::Method(it) => {
                let (func, this) = (self.adopt(&it.func)?, self.adopt(&it.this)?);
                Ok(Value::method(func, this))
            }
            Value::Class(it) => Ok(Value::Class(self.adopt_class(it)?)),
            Value::Instance(it) => self.copy_instance(it, address),
            Value::Tensor(it) => self.copy_tensor(it, address),
            Value::Object(it) => match it.adopt(self, value)? {
                Some(copy) => Ok(copy),
                None => Ok(unknown(Kind::Any)),
            },
            Value::Iter(_) | Value::Generator(_) => Ok(unknown::running()),
            _ => Ok(value.clone()),
        }
    }

    /// Copies of several values.
    pub(crate) fn adopt_all(&mut self, values: &[Value]) -> Result<Vec<Value>, Raised> {
        self.shadow().n_copied += values.len() / 16;
        values.iter().map(|it| self.adopt(it)).collect()
    }

    fn copy_dict(&mut self, live: &Rc<Dict>, address: usize) -> Res {
        let keys = live.keys();
        if keys.iter().chain(&live.values()).all(is_fixed) {
            return Ok(Value::Dict(Rc::new(live.copy()?)));
        }
        if keys.iter().any(has_own_hash) {
            return Ok(unknown(Kind::Any));
        }
        let copy = Rc::new(Dict::default());
        self.know(address, Value::Dict(copy.clone()));
        for (key, value) in live.items() {
            let (key, value) = (self.adopt(&key)?, self.adopt(&value)?);
            copy.insert(self, key, value)?;
        }
        Ok(Value::Dict(copy))
    }

    fn copy_set(&mut self, live: &Rc<Set>) -> Res {
        let items = live.items();
        if items.iter().all(is_fixed) {
            return Ok(Value::Set(Rc::new(live.copy(live.frozen)?)));
        }
        if items.iter().any(has_own_hash) {
            return Ok(unknown(Kind::Any));
        }
        let copy = Set::new(live.frozen);
        for item in items {
            let item = self.adopt(&item)?;
            copy.add(self, item)?;
        }
        Ok(Value::Set(Rc::new(copy)))
    }

    fn copy_func(&mut self, live: &Rc<Func>, address: usize) -> Res {
        let fixed = |it: &Value| is_fixed(it) || it.is_unbound();
        let plain = live.closure.is_empty() && live.attrs.borrow().is_empty();
        if plain && live.defaults.iter().chain(&live.keyword_defaults).all(fixed) {
            return Ok(Value::Func(live.clone()));
        }
        let defaults = self.adopt_all(&live.defaults)?;
        let keyword_defaults = self.adopt_all(&live.keyword_defaults)?;
        let mut closure = Vec::with_capacity(live.closure.len());
        for cell in &live.closure {
            let cell = Value::Cell(cell.clone());
            let known = cell.address().and_then(|it| self.shadow().copies.get(&it).cloned());
            // The function may be in its own closure; its cell is made first and filled below.
            let copy = known.unwrap_or_else(|| Value::Cell(Rc::default()));
            if let Value::Cell(copy) = &copy {
                closure.push(copy.clone());
            }
            if let Some(at) = cell.address() {
                let fresh = !self.shadow().copies.contains_key(&at);
                if fresh {
                    self.know(at, copy);
                }
            }
        }
        let attrs = RefCell::default();
        let code = live.code.clone();
        let func = Rc::new(Func {
            code,
            defaults,
            keyword_defaults,
            closure,
            attrs,
            _memory: Default::default(),
        });
        self.know(address, Value::Func(func.clone()));
        for (from, to) in live.closure.iter().zip(&func.closure) {
            if to.borrow().is_unbound() {
                let inner = from.borrow().clone();
                let inner = self.adopt(&inner)?;
                to.assign(inner);
            }
        }
        let attrs = self.adopt_attrs(&live.attrs)?;
        func.attrs.replace(attrs);
        Ok(Value::Func(func))
    }

    fn adopt_attrs(&mut self, live: &RefCell<AttrMap>) -> Result<AttrMap, Raised> {
        entries(live).into_iter().map(|(name, value)| Ok((name, self.adopt(&value)?))).collect()
    }

    fn copy_instance(&mut self, live: &Rc<Instance>, address: usize) -> Res {
        let class = self.adopt_class(&live.class)?;
        let base = self.adopt(&live.base)?;
        let copy = Rc::new(Instance::over(class, base));
        self.know(address, Value::Instance(copy.clone()));
        for (name, value) in entries(&live.attrs) {
            let value = self.adopt(&value)?;
            copy.set(name, value);
        }
        Ok(Value::Instance(copy))
    }

    /// The class itself if nothing in it can change, else a copy.
    fn adopt_class(&mut self, live: &Rc<Class>) -> Result<Rc<Class>, Raised> {
        if live.native.is_some() {
            return Ok(live.clone());
        }
        let address = Rc::as_ptr(live).addr();
        if let Some(Value::Class(known)) = self.shadow().copies.get(&address) {
            return Ok(known.clone());
        }
        let base = match &live.base {
            Some(base) => self.adopt_class(base)?,
            None => return Ok(live.clone()),
        };
        let same_base = live.base.as_ref().is_some_and(|it| Rc::ptr_eq(it, &base));
        if same_base && live.attrs.borrow().values().all(|it| is_shareable(it, live)) {
            self.shadow().copies.insert(address, Value::Class(live.clone()));
            return Ok(live.clone());
        }
        let (qualname, module) = (live.qualname(), live.module());
        let copy = Class::new(live.name, qualname, module, base, AttrMap::default());
        let copy = Rc::new(copy);
        self.know(address, Value::Class(copy.clone()));
        let attrs = self.adopt_attrs(&live.attrs)?;
        copy.attrs.replace(attrs);
        // What was cached about the class while it was empty no longer holds.
        copy.remove(crate::sym::Sym::new(""));
        Ok(copy)
    }

    fn copy_tensor(&mut self, live: &Rc<TensorObj>, address: usize) -> Res {
        let value = live.peek();
        let shape = engine::estimate::known(&value);
        let shape = if value.as_number().is_some() { value.detach() } else { shape };
        let copy = match live.base_object() {
            Some((object, view)) => {
                let Value::Tensor(base) = self.adopt(&Value::Tensor(object))? else {
                    return Err(self.uncertain());
                };
                let seen = if value.requires_grad() { view.apply(&base.get())? } else { shape };
                let copy = TensorObj::view_of(&base, view, seen);
                copy.show_as(live.look());
                if value.edge().is_some_and(|it| it.is_leaf()) {
                    copy.make_leaf();
                }
                copy
            }
            None => {
                let copy = Rc::new(TensorObj::with_look(shape, live.look()));
                match value.edge() {
                    Some(edge) if edge.is_leaf() => copy.make_leaf(),
                    Some(_) => self.cut(&copy)?,
                    None => {}
                }
                copy
            }
        };
        self.know(address, Value::Tensor(copy.clone()));
        if !live.hooks().is_empty() {
            self.trust_no_values();
        }
        copy.set_grad_cleared(live.is_grad_cleared());
        if let Some(grad) = live.grad()
            && let Value::Tensor(grad) = self.adopt(&Value::Tensor(grad))?
        {
            copy.set_grad(Some(grad));
        }
        Ok(Value::Tensor(copy))
    }

    /// Puts a tensor behind a leaf that stands for its whole history.
    fn cut(&mut self, copy: &Rc<TensorObj>) -> Result<(), Raised> {
        let before = engine::autograd::set_enabled(true);
        let leaf = copy.get().leaf();
        let one = engine::Tensor::int_number(1);
        let later = engine::estimate::uncounted(|| engine::functional::mul(&leaf, &one));
        engine::autograd::set_enabled(before);
        copy.replace_value(later?);
        if let Some(edge) = leaf.edge() {
            self.shadow().cut_leaves.insert(edge.id());
        }
        Ok(())
    }

    /// In a check: whether some tensors stand for histories that are not followed.
    pub(crate) fn follows_no_history(&mut self) -> bool {
        self.mode == crate::cx::Mode::Shadow && !self.shadow().cut_leaves.is_empty()
    }

    /// Whether an earlier cell has computed a value, whose history is not followed.
    pub(crate) fn is_cut(&self, value: &engine::Tensor) -> bool {
        let cut = self.check.as_ref().map(|it| &it.cut_leaves);
        cut.is_some_and(|it| value.edge().is_some_and(|edge| it.contains(&edge.id())))
    }

    /// Ends the check if a gradient would go on into what an earlier cell has computed.
    pub(crate) fn check_leaf(&mut self, leaf: u64) -> Result<(), Raised> {
        if self.mode == crate::cx::Mode::Shadow && self.shadow().cut_leaves.contains(&leaf) {
            return Err(self.uncertain());
        }
        Ok(())
    }
}

fn entries(attrs: &RefCell<AttrMap>) -> Vec<(Sym, Value)> {
    attrs.borrow().iter().map(|(name, value)| (*name, value.clone())).collect()
}

/// Whether calling a function changes nothing that it keeps.
pub(crate) fn is_stateless(value: &Value) -> bool {
    match value {
        Value::Func(it) => {
            let class = |cell: &Rc<CellVar>| matches!(*cell.borrow(), Value::Class(_));
            it.closure.iter().all(class) && it.defaults.iter().all(is_fixed)
        }
        other => is_fixed(other),
    }
}

fn is_long(value: &Value) -> bool {
    let len = match value {
        Value::List(it) => it.items.borrow().len(),
        Value::Tuple(it) => it.len(),
        Value::Dict(it) => it.len(),
        Value::Set(it) => it.len(),
        _ => 0,
    };
    len > LONGEST
}

/// Values that no program can change.
fn is_fixed(value: &Value) -> bool {
    use Value as V;
    matches!(
        value,
        V::Unbound
            | V::None
            | V::Bool(_)
            | V::Int(_)
            | V::Float(_)
            | V::Ellipsis
            | V::NotImplemented
            | V::Str(_)
            | V::Range(_)
            | V::Native(_)
            | V::Module(_)
    )
}

/// Attributes that let a class be shared: nothing to change, in functions only the class itself.
fn is_shareable(value: &Value, class: &Rc<Class>) -> bool {
    match value {
        Value::Func(it) => {
            let of_class = |cell: &Rc<CellVar>| match &*cell.borrow() {
                Value::Class(it) => class.is_subclass(it),
                _ => false,
            };
            let fixed = |it: &Value| is_fixed(it) || it.is_unbound();
            it.closure.iter().all(of_class)
                && it.attrs.borrow().is_empty()
                && it.defaults.iter().chain(&it.keyword_defaults).all(fixed)
        }
        Value::Object(it) => it.is_constant(),
        Value::Tuple(it) => it.iter().all(is_fixed),
        Value::Class(it) => it.native.is_some(),
        Value::Dict(_) => is_annotations(value, class),
        other => is_fixed(other),
    }
}

/// The annotations of a class are a dict of types that programs read only.
fn is_annotations(value: &Value, class: &Rc<Class>) -> bool {
    class.attrs.borrow().get(&crate::sym::Sym::ANNOTATIONS).is_some_and(|it| it.is(value))
}

/// Whether code of the user says where a value lies in sets and dicts, by attributes that its copy does not have yet.
fn has_own_hash(value: &Value) -> bool {
    match value {
        Value::Instance(it) => it.class.has(traits::HASH),
        Value::Tuple(it) => it.iter().any(has_own_hash),
        _ => false,
    }
}
