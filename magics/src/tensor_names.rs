//! What tensors are called in a session: `net.0.weight`, `net.0.weight: exp_avg`, `xb`. Found by looking through the globals when
//! somebody asks, so that nothing has to carry names.

use std::sync::Arc;

use engine::Tensor;
use engine::trace::Place;
use frontend_lang::cx::Cx;
use frontend_lang::sym::Sym;
use frontend_lang::value::Value;

/// Most entries of a container that are looked at.
const MOST: usize = 256;

/// Tensors with their names; the first that fits counts.
pub(crate) struct TensorNames {
    known: Vec<(String, Tensor)>,
    /// How many of them, from the first on, are of modules.
    of_modules: usize,
}

impl TensorNames {
    /// Of everything that global names lead to: modules, optimisers, tensors, and containers of these.
    pub(crate) fn gather(cx: &mut Cx) -> Self {
        let globals = cx.globals.entries().into_iter();
        let globals: Vec<(String, Value)> = globals
            .map(|(name, value)| (name.to_string(), value))
            .filter(|(name, _)| !name.starts_with('_'))
            .collect();
        let mut names = Self { known: Vec::new(), of_modules: 0 };
        for (name, value) in flat(&globals) {
            names.add_module(cx, &name, &value);
        }
        names.of_modules = names.known.len();
        for (name, value) in &globals {
            names.add_tensor(name, value);
        }
        for (name, value) in flat(&globals) {
            names.add_tensor(&name, &value);
        }
        for (_, value) in &globals {
            names.add_optimizer(cx, value);
        }
        names
    }

    /// The name of a value that a traced call took in or left.
    pub(crate) fn of(&self, place: &Place) -> Option<&str> {
        self.find(|it| place.is(it))
    }

    /// The name of a tensor, by its elements.
    pub(crate) fn of_tensor(&self, tensor: &Tensor) -> Option<&str> {
        self.find(|it| is_same(it, tensor))
    }

    /// Whether this is the name of a parameter or buffer of a module.
    pub(crate) fn is_of_module(&self, name: &str) -> bool {
        self.known[..self.of_modules].iter().any(|it| it.0 == name)
    }

    fn find(&self, is: impl Fn(&Tensor) -> bool) -> Option<&str> {
        self.known.iter().find(|it| is(&it.1)).map(|it| it.0.as_str())
    }

    fn add_module(&mut self, cx: &mut Cx, name: &str, value: &Value) {
        for method in ["named_parameters", "named_buffers"] {
            for (path, tensor) in pairs(cx, value, method) {
                self.add_tensor(&format!("{name}.{path}"), &tensor);
            }
        }
    }

    fn add_tensor(&mut self, name: &str, value: &Value) {
        let Some(object) = value.as_tensor() else { return };
        self.known.push((name.to_string(), object.get()));
        if let Some(grad) = object.grad() {
            self.known.push((format!("{name}.grad"), grad.get()));
        }
    }

    /// The state that an optimiser keeps for each parameter.
    fn add_optimizer(&mut self, cx: &mut Cx, value: &Value) {
        if !matches!(value, Value::Instance(_)) || attribute(cx, value, "param_groups").is_none() {
            return;
        }
        let Some(Value::Dict(state)) = attribute(cx, value, "state") else { return };
        for (param, entries) in state.items() {
            let (Some(param), Value::Dict(entries)) = (param.as_tensor(), entries) else {
                continue;
            };
            let param = param.get();
            let leaf = |it: &Tensor| it.edge().map(|it| it.id());
            let same = |it: &Tensor| leaf(it).is_some() && leaf(it) == leaf(&param);
            let Some(of) = self.find(same).map(str::to_string) else { continue };
            for (key, value) in entries.items() {
                if let Value::Str(key) = &key {
                    self.add_tensor(&format!("{of}: {}", &***key), &value);
                }
            }
        }
    }
}

/// Values by name, and those in lists, tuples and dicts among them: `weights[0]`, `params['w']`.
fn flat(globals: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, value) in globals {
        match value.core() {
            Value::List(it) => {
                let items = it.items.borrow();
                let items = items.iter().take(MOST).enumerate();
                all.extend(items.map(|(at, it)| (format!("{name}[{at}]"), it.clone())));
            }
            Value::Tuple(it) => {
                let items = it.iter().take(MOST).enumerate();
                all.extend(items.map(|(at, it)| (format!("{name}[{at}]"), it.clone())));
            }
            Value::Dict(it) => {
                for (key, value) in it.items().into_iter().take(MOST) {
                    if let Value::Str(key) = &key {
                        all.push((format!("{name}['{}']", &***key), value));
                    }
                }
            }
            _ => all.push((name.clone(), value.clone())),
        }
    }
    all
}

fn is_same(a: &Tensor, b: &Tensor) -> bool {
    let elements = || Some((a.storage().ok()?, b.storage().ok()?));
    a.dtype() == b.dtype()
        && a.layout() == b.layout()
        && elements().is_some_and(|(a, b)| Arc::ptr_eq(&a, &b))
}

fn attribute(cx: &mut Cx, value: &Value, name: &str) -> Option<Value> {
    cx.opt_getattr(value, Sym::new(name)).ok()?
}

/// What `value.method()` gives as pairs of name and value; nothing if there is no such method, or it fails.
fn pairs(cx: &mut Cx, value: &Value, method: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    if !matches!(value, Value::Instance(_)) {
        return found;
    }
    let Some(method) = attribute(cx, value, method) else { return found };
    let Ok(all) = cx.call(&method, &[]) else { return found };
    for pair in cx.collect(&all).unwrap_or_default() {
        let Value::Tuple(pair) = pair else { continue };
        if let [Value::Str(name), value] = &pair[..] {
            found.push((name.to_string(), value.clone()));
        }
    }
    found
}
