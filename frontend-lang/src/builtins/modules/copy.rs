//! `copy`: shallow and deep copies.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::native::*;
use crate::objects::class::Instance;
use crate::objects::tensor::TensorObj;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "copy",
    doc: "Shallow and deep copies.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("copy", "x, /", "A copy that shares its items.", copy).pure(),
    function("deepcopy", "x, memo=None, _nil=None, /", "A copy of everything inside.", deepcopy)
        .pure(),
];

fn copy(cx: &mut Cx, args: Args<'_>) -> Res {
    let value = &args[0];
    if let Some(copied) = cx.call_special(value, Sym::new("__copy__"), &[])? {
        return Ok(copied);
    }
    Ok(match value {
        Value::List(it) => Value::list(it.copied()?),
        Value::Dict(it) => Value::Dict(Rc::new(it.copy()?)),
        Value::Set(it) => Value::Set(Rc::new(it.copy(it.frozen)?)),
        Value::Instance(it) => {
            let base = match &it.base {
                Value::List(it) => Value::list(it.copied()?),
                Value::Dict(it) => Value::Dict(Rc::new(it.copy()?)),
                Value::Set(it) => Value::Set(Rc::new(it.copy(it.frozen)?)),
                other => other.clone(),
            };
            let copied = Instance::over(it.class.clone(), base);
            copied.attrs.replace(it.attrs.borrow().clone());
            Value::Instance(Rc::new(copied))
        }
        other => other.clone(),
    })
}

fn deepcopy(cx: &mut Cx, args: Args<'_>) -> Res {
    let memo = match args.opt(1).and_then(Value::as_dict) {
        Some(memo) => memo.clone(),
        None => Rc::default(),
    };
    Deep { done: FxHashMap::default(), memo }.copy(cx, &args[0])
}

/// One deep copy: what is copied already, by address; originals are kept alive meanwhile.
struct Deep {
    done: FxHashMap<usize, (Value, Value)>,
    /// What `__deepcopy__` methods are given.
    memo: Rc<Dict>,
}

impl Deep {
    fn copy(&mut self, cx: &mut Cx, value: &Value) -> Res {
        let Some(address) = value.address() else { return Ok(value.clone()) };
        if let Some((_, copied)) = self.done.get(&address) {
            return Ok(copied.clone());
        }
        cx.enter_native()?;
        let copied = self.copy_new(cx, value, address);
        cx.leave_native();
        copied
    }

    fn remember(&mut self, address: usize, original: &Value, copied: &Value) {
        self.done.insert(address, (original.clone(), copied.clone()));
    }

    fn copy_new(&mut self, cx: &mut Cx, value: &Value, address: usize) -> Res {
        let memo = Value::Dict(self.memo.clone());
        if let Some(copied) = cx.call_special(value, Sym::new("__deepcopy__"), &[memo])? {
            self.remember(address, value, &copied);
            return Ok(copied);
        }
        match value {
            Value::Instance(it) => self.instance(cx, value, it, address),
            Value::Tensor(_) => {
                let copied = tensor(cx, value)?;
                self.remember(address, value, &copied);
                Ok(copied)
            }
            _ => self.container(cx, value, address),
        }
    }

    fn container(&mut self, cx: &mut Cx, value: &Value, address: usize) -> Res {
        match value {
            Value::List(it) => {
                let copied = Value::list(Vec::new());
                self.remember(address, value, &copied);
                let items = it.items.borrow().clone();
                for item in &items {
                    let item = self.copy(cx, item)?;
                    if let Value::List(list) = &copied {
                        list.push(item)?;
                    }
                }
                Ok(copied)
            }
            Value::Tuple(it) => self.tuple(cx, value, it, address),
            Value::Dict(it) => {
                let dict: Rc<Dict> = Rc::default();
                let copied = Value::Dict(dict.clone());
                self.remember(address, value, &copied);
                for (key, item) in it.items() {
                    let (key, item) = (self.copy(cx, &key)?, self.copy(cx, &item)?);
                    dict.store(cx, key, item)?;
                }
                Ok(copied)
            }
            Value::Set(it) => {
                let items: Result<Vec<Value>, Raised> =
                    it.items().iter().map(|item| self.copy(cx, item)).collect();
                let copied = Value::Set(Rc::new(Set::from_items(cx, items?, it.frozen)?));
                self.remember(address, value, &copied);
                Ok(copied)
            }
            Value::Object(_) => match cx.opt_getattr(value, Sym::new("copy"))? {
                Some(method) => cx.call(&method, &[]),
                None => Ok(value.clone()),
            },
            other => Ok(other.clone()),
        }
    }

    /// A tuple whose items are unchanged is its own copy, as in CPython.
    fn tuple(&mut self, cx: &mut Cx, value: &Value, items: &[Value], address: usize) -> Res {
        let copies: Result<Vec<Value>, Raised> =
            items.iter().map(|item| self.copy(cx, item)).collect();
        let copies = copies?;
        if let Some((_, copied)) = self.done.get(&address) {
            return Ok(copied.clone());
        }
        let changed = copies.iter().zip(items).any(|(new, old)| !new.is(old));
        let copied = if changed { Value::tuple(copies) } else { value.clone() };
        self.remember(address, value, &copied);
        Ok(copied)
    }

    fn instance(&mut self, cx: &mut Cx, value: &Value, it: &Rc<Instance>, address: usize) -> Res {
        let base = match &it.base {
            Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Tuple(_) => {
                self.copy(cx, &it.base)?
            }
            Value::Tensor(_) => tensor(cx, &it.base)?,
            other => other.clone(),
        };
        let copied = Rc::new(Instance::over(it.class.clone(), base));
        self.remember(address, value, &Value::Instance(copied.clone()));
        let attrs: Vec<(Sym, Value)> =
            it.attrs.borrow().iter().map(|(name, value)| (*name, value.clone())).collect();
        for (name, attr) in attrs {
            let attr = self.copy(cx, &attr)?;
            copied.set(name, attr);
        }
        Ok(Value::Instance(copied))
    }
}

/// A tensor with data of its own; a leaf that asks for gradients goes on asking, and a parameter stays one.
fn tensor(cx: &mut Cx, value: &Value) -> Res {
    if let Value::Tensor(it) = value
        && it.is_parameter()
    {
        return parameter(it);
    }
    if let Value::Tensor(it) = value
        && it.seen().edge().is_some_and(|edge| !edge.is_leaf())
    {
        return Err(runtime_error(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment; copy x.detach() or x.clone()",
        ));
    }
    let detached = cx.call_method(value, Sym::new("detach"), &[])?;
    let copied = cx.call_method(&detached, Sym::new("clone"), &[])?;
    let asks = cx.getattr(value, Sym::new("requires_grad"))?;
    if cx.truth(&asks)? {
        cx.setattr(&copied, Sym::new("requires_grad"), Value::Bool(true))?;
    }
    Ok(copied)
}

/// A parameter with data and a gradient of its own.
fn parameter(object: &TensorObj) -> Res {
    let value = object.get();
    let copied = TensorObj::parameter(&value, value.requires_grad());
    copied.set_grad(object.grad().map(|it| Rc::new(TensorObj::new(it.get()))));
    Ok(Value::Tensor(copied))
}
