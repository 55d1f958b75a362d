//! The names under which programs find ops: those of their rows, as functions of modules and as methods of tensors.

use engine::OpDef;
use rustc_hash::FxHashMap;

use super::cached;
use crate::native::*;
use crate::value::Value;

/// The op that is the method `name` of tensors: `relu`, or `relu_` for the form in place.
pub fn method(name: Sym) -> Option<Value> {
    thread_local! {
        static METHODS: FxHashMap<Sym, Value> = methods();
    }
    METHODS.with(|it| it.get(&name).cloned())
}

fn methods() -> FxHashMap<Sym, Value> {
    methods_of_rows().map(|(name, op, in_place)| (name, cached(name, op, in_place))).collect()
}

/// Ops under the other names that their rows list for a module: `("mm", matmul)` for `torch.`.
pub fn named(module: &str) -> impl Iterator<Item = (&'static str, &'static OpDef)> {
    engine::ops::all().flat_map(move |op| {
        let names = op.aliases.iter().filter_map(move |it| it.strip_prefix(module));
        names.filter(|it| !it.contains('.')).map(move |it| (it, op)).collect::<Vec<_>>()
    })
}

/// The forms in place of ops on one tensor, as functions: `torch.sigmoid_(x)`, `F.relu_(x)`.
pub fn in_place() -> impl Iterator<Item = (Sym, Value)> {
    in_place_names().map(|(name, op)| {
        let name = Sym::new(&name);
        (name, cached(name, op, true))
    })
}

/// Their names, and what they apply.
pub fn in_place_names() -> impl Iterator<Item = (String, &'static OpDef)> {
    let own = engine::ops::public().map(|op| (op.name, op));
    let others = named("torch.").chain(named("torch.nn.functional."));
    let of_one = others.chain(own).filter(|(_, op)| op.works_in_place() && op.n_tensors() == 1);
    of_one.map(|(name, op)| (format!("{name}_"), op))
}

/// The methods that ops give to tensors: the name, the op, and whether it works in place. What is a method under its own name is one
/// under each other name that it has in `torch`.
pub fn methods_of_rows() -> impl Iterator<Item = (Sym, &'static OpDef, bool)> {
    let own = engine::ops::all().filter(|it| it.method).map(|it| (it.name, it));
    let others = named("torch.").filter(|it| it.1.method);
    named("Tensor.").chain(others).chain(own).flat_map(|(name, op)| {
        let in_place = op.works_in_place().then(|| (Sym::new(&format!("{name}_")), op, true));
        std::iter::once((Sym::of(name), op, false)).chain(in_place)
    })
}
