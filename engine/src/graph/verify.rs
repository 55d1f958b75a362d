//! What a legal graph is: inputs before uses, declared kinds as inferred, inputs and outputs that exist.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Graph, Kind, Store, Value};
use crate::op::{Block, Body};
use crate::{Attr, Error, Result, Tensor, apply};

/// An error that names the first node that breaks a rule.
pub fn verify(graph: &Graph) -> Result<()> {
    for (id, node) in graph.nodes().iter().enumerate() {
        if let Some(bad) = node.inputs().iter().find(|it| it.node as usize >= id) {
            return Err(broken(id, &format!("uses %{}, which comes later", bad.node)));
        }
        for &input in node.inputs() {
            graph.checked(input)?;
        }
        let Kind::Op { op, attrs, inputs } = &node.kind else { continue };
        if matches!(op.body, Body::Composed(_)) {
            return Err(broken(id, &format!("{} is not a primitive op", op.name)));
        }
        for region in attrs.iter().filter_map(regional) {
            verify(region)?;
        }
        let stand_ins: SmallVec<[Tensor; 3]> =
            inputs.iter().map(|&it| graph.stand_in(it)).collect();
        apply::check_arity(op, &stand_ins)?;
        if apply::infer(op, &stand_ins, attrs)? != node.metas {
            return Err(broken(id, &format!("{} gives other shapes or dtypes", op.name)));
        }
    }
    for &id in graph.inputs() {
        if !graph.node(id).kind.is_fed() {
            return Err(broken(id as usize, "is not an input"));
        }
    }
    graph.outputs.iter().try_for_each(|&it| graph.checked(it).map(drop))?;
    for (at, &store) in graph.stores.iter().enumerate() {
        if let Some(problem) = store_problem(graph, at, store)? {
            return Err(broken(store.variable as usize, &problem));
        }
    }
    Ok(())
}

/// The graph that an attribute is, if it is one.
fn regional(attr: &Attr) -> Option<&Graph> {
    let Attr::Region(region) = attr else { return None };
    region.block().downcast_ref::<Arc<dyn Block>>()?.graph().downcast_ref()
}

/// Why a store may not follow the first `at` ones of a graph, if so.
pub(crate) fn store_problem(graph: &Graph, at: usize, store: Store) -> Result<Option<String>> {
    let (variable, stored) =
        (graph.checked(Value::of(store.variable))?, graph.checked(store.value)?);
    let is_variable = matches!(graph.node(store.variable).kind, Kind::Variable { .. });
    let again = graph.stores[..at].iter().any(|it| it.variable == store.variable);
    Ok(match (is_variable, again) {
        (false, _) => Some("is stored to, but is no variable".into()),
        (true, true) => Some("is stored to twice".into()),
        (true, false) if stored != variable => {
            Some(format!("is {variable}, but {stored} is stored to it"))
        }
        _ => None,
    })
}

/// Whether graphs are verified after every pass: always in tests, with `ENGINE_VERIFY=1` elsewhere.
pub fn wanted() -> bool {
    use crate::sync::OnceLock;
    static WANTED: OnceLock<bool> = OnceLock::new();
    cfg!(test)
        || *WANTED.get_or_init(|| std::env::var_os("ENGINE_VERIFY").is_some_and(|it| it == "1"))
}

fn broken(id: usize, problem: &str) -> Error {
    Error::Trace { problem: format!("%{id}: {problem}") }
}
