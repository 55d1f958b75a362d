//! `fold-constants`: computes what depends on constants alone, with the kernels that would run it later.
//!
//! Results that are much larger than their operands stay ops, so that a model file does not grow.

use smallvec::SmallVec;

use crate::graph::{Graph, Kind, NodeId, Value};
use crate::op::Body;
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Tensor, apply};

pub static PASS: Pass = Pass {
    name: "fold-constants",
    doc: "Computes what depends on constants alone.",
    level: 2,
    rules: &[Rule::code("run-now", run_now)],
};

/// Bytes that a folded constant may always have.
const SMALL: usize = 4096;

fn run_now(graph: &Graph, node: NodeId) -> Option<Replacement> {
    let Kind::Op { op, attrs, inputs } = &graph.node(node).kind else { return None };
    // A loop may take long, or not end; what only checks stays, as it is there for no value.
    if op.only_checks()
        || !op.is_pure(attrs)
        || inputs.is_empty()
        || matches!(op.body, Body::Control(_))
    {
        return None;
    }
    let inputs = inputs.iter().map(|&it| known(graph, it));
    let inputs = inputs.collect::<Option<SmallVec<[Tensor; 3]>>>()?;
    let given: usize = inputs.iter().map(|it| it.meta().bytes()).sum();
    if graph.node(node).metas[0].bytes() > SMALL.max(2 * given) {
        return None;
    }
    let output = apply::run(op, &inputs, attrs).ok()?.pop()?;
    Some(Replacement::Const(output))
}

fn known(graph: &Graph, value: Value) -> Option<Tensor> {
    match &graph.node(value.node).kind {
        Kind::Const(tensor) => Some(tensor.clone()),
        Kind::Number(number) => Some(Tensor::from_number(*number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::parse::parse;
    use crate::graph::text::constants;
    use crate::rewrite::run::{Log, run};
    use crate::test_ops::tensor;

    #[test]
    fn folds_what_depends_on_constants_alone() {
        let text = "graph(%0: f32[2]) { %1 = const(0) : f32[2] %2 = t_neg(%1) : f32[2]
            %3 = t_mul(%2, 3) : f32[2] %4 = t_add(%0, %3) : f32[2] return %4 }";
        let graph = parse(text, &[tensor(&[1.0, -2.0])]).unwrap();
        let res = run(&PASS, &graph, &mut Log::default()).unwrap();
        assert_eq!(res.n_ops(), 1);
        let folded = constants(&res);
        assert_eq!(folded[0].to_f64_vec().unwrap(), [-3.0, 6.0]);
    }

    #[test]
    fn draws_are_not_folded() {
        let text =
            "graph(%0: f32[2]) { %1 = const(0) : f32[2] %2 = t_draw(%1) : f32[2] return %2 }";
        let graph = parse(text, &[tensor(&[1.0, -2.0])]).unwrap();
        assert_eq!(run(&PASS, &graph, &mut Log::default()).unwrap().n_ops(), 1);
    }
}
