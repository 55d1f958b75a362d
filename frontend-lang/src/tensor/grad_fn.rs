//! `x.grad_fn`: the step of the tape that made a value, as an object of a class with PyTorch's name for it.

use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

use engine::autograd::Edge;
use rustc_hash::FxHashMap;

use super::steps;
use crate::check::unknown;
use crate::native::*;
use crate::objects::attr_map::AttrMap;
use crate::objects::class::{Class, Instance, class_of};
use crate::objects::tensor::TensorObj;

/// The class under those of all steps.
static NODE: NativeType = NativeType {
    methods: &[METHODS],
    getters: &[
        Getter { name: "next_functions", doc: "The steps of its inputs.", get: next_functions },
        Getter { name: "variable", doc: "The leaf that gradients are added to.", get: variable },
        Getter { name: "metadata", doc: "Nothing.", get: |_cx, _it| Ok(Value::dict()) },
    ],
    ..NativeType::plain("Node", "A step that a gradient goes back through.")
};

static METHODS: &[NativeFn] = &[function("name", "self", "The name of the step.", |_cx, args| {
    let step = args.object::<GradFn>(0)?;
    Ok(Value::str(match step.leaf() {
        Some(_) => format!("torch::autograd::{ACCUMULATE}"),
        None => step.name.clone(),
    }))
})
.pure()];

const ACCUMULATE: &str = "AccumulateGrad";

/// Where classes of functions that programs define stand.
const OF_FUNCTIONS: &str = "torch.autograd.function";

struct GradFn {
    edge: Edge,
    name: String,
}

impl GradFn {
    /// The variable of the leaf, if this is the end of a path.
    fn leaf(&self) -> Option<u64> {
        self.edge.is_leaf().then(|| self.edge.id())
    }
}

thread_local! {
    static CLASSES: RefCell<FxHashMap<String, Rc<Class>>> = RefCell::default();
    /// Objects by step: a step has one, for as long as somebody holds it.
    static OBJECTS: RefCell<FxHashMap<u64, Weak<Instance>>> = RefCell::default();
}

/// What made the value of a variable; `None` for a leaf.
pub(super) fn of(object: &TensorObj) -> Value {
    let value = object.get();
    let edge = value.edge().filter(|it| !it.is_leaf());
    edge.map_or(Value::None, |it| node(it, Some(value.rank())))
}

/// PyTorch's name of the step that made a value of `rank` dimensions; `None` for a leaf.
pub(super) fn name(edge: &Edge, rank: Option<usize>) -> Option<String> {
    match edge.step_name(rank) {
        Some(name) => Some(name.into_owned()),
        None => steps::name_of(edge).map(|it| format!("{it}Backward")),
    }
}

fn node(edge: &Edge, rank: Option<usize>) -> Value {
    if let Some(known) = OBJECTS.with_borrow(|it| it.get(&edge.id()).and_then(Weak::upgrade)) {
        return Value::Instance(known);
    }
    let id = edge.id();
    let name = name(edge, rank).unwrap_or_else(|| ACCUMULATE.to_owned());
    let module = if steps::name_of(edge).is_some() { OF_FUNCTIONS } else { "" };
    let class = CLASSES.with_borrow_mut(|it| {
        let new = || {
            let name = Sym::new(&name);
            let base = class_of(&NODE);
            Rc::new(Class::new(name, name, Sym::new(module), base, AttrMap::default()))
        };
        it.entry(format!("{module}.{name}")).or_insert_with(new).clone()
    });
    let object = Rc::new(Instance::over(class, Value::object(GradFn { edge: edge.clone(), name })));
    OBJECTS.with_borrow_mut(|it| {
        it.retain(|_, object| object.strong_count() > 0);
        it.insert(id, Rc::downgrade(&object));
    });
    Value::Instance(object)
}

/// Unknown to the check, for which the tape of what is there already is cut short.
fn next_functions(cx: &mut Cx, this: &Value) -> Res {
    if cx.check.is_some() {
        return Ok(unknown::unknown(unknown::Kind::Any));
    }
    let Some(step) = this.downcast::<GradFn>() else { return Ok(Value::None) };
    let pair = |edge: Option<Edge>| {
        let output = edge.as_ref().map_or(0, Edge::output);
        let next = edge.map_or(Value::None, |it| node(&it, None));
        Value::tuple([next, Value::from(output)])
    };
    Ok(Value::tuple(step.edge.inputs().into_iter().map(pair).collect::<Vec<_>>()))
}

fn variable(_cx: &mut Cx, this: &Value) -> Res {
    let step = this.downcast::<GradFn>();
    if let Some(leaf) = step.and_then(GradFn::leaf) {
        return Ok(TensorObj::of_leaf(leaf).map_or(Value::None, Value::Tensor));
    }
    let name = step.map_or("", |it| it.name.as_str());
    Err(attribute_error(format!("'{name}' object has no attribute 'variable'")))
}

impl NativeObject for GradFn {
    fn native_type(&self) -> &'static NativeType {
        &NODE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let module =
            if steps::name_of(&self.edge).is_some() { "torch.autograd.function." } else { "" };
        let address = std::ptr::from_ref(self).addr();
        Ok(format!("<{module}{} object at {address:#014x}>", self.name))
    }
}
