//! Passes and plans against what graphs mean, on graphs of rows drawn at random.

use std::collections::BTreeSet;

use crate::attr::Attr;
use crate::graph::{Graph, Value};
use crate::meaning::Meaning;
use crate::op::{Body, Grad, ParamKind};
use crate::rewrite::run::{Log, run};
use crate::test_draws::Draws;
use crate::{Attrs, DType, Layout, Number, OpDef, Shape, Tensor, lower, ops, oracle, passes};

/// An attribute that has no default, or the default.
fn attr(draws: &mut Draws, kind: ParamKind, default: Attr) -> Attr {
    let small = |draws: &mut Draws| draws.below(3) as i64;
    match (default, kind) {
        (Attr::None, ParamKind::Int | ParamKind::OptInt) => Attr::Int(small(draws)),
        (Attr::None, ParamKind::Float | ParamKind::OptFloat) => Attr::Float(0.5),
        (Attr::None, ParamKind::Ints) => Attr::ints(&[small(draws), small(draws)]),
        (Attr::None, ParamKind::OptInts) if draws.below(2) == 0 => Attr::ints(&[small(draws)]),
        (default, _) => default,
    }
}

/// Rows whose results jump: what is a hair apart before is not after, or one of several that mean the same.
fn jumps(op: &OpDef) -> bool {
    matches!(op.grad, Grad::Stops(_)) || matches!(op.meaning, Meaning::Defined(..))
}

/// Rows that graphs are made of.
pub(crate) fn rows() -> Vec<&'static OpDef> {
    let primitive = |it: &&OpDef| it.pure && !matches!(it.body, Body::Composed(_));
    ops::all().filter(primitive).filter(|it| !jumps(it)).collect()
}

/// A graph of up to `n_ops` rows on two matrices, a vector and numbers; what a row does not take is drawn again.
pub(crate) fn graph_of(draws: &mut Draws, rows: &[&'static OpDef], n_ops: usize) -> Graph {
    let mut graph = Graph::new();
    let mut values: Vec<Value> = [&[3, 4][..], &[4, 3], &[4]]
        .map(|it| graph.input(DType::F64, Layout::contiguous(Shape::new(it))))
        .into();
    let numbers = [Number::Int(0), Number::Int(1), Number::Float(1.0), Number::Float(-0.5)];
    values.extend(numbers.map(|it| graph.number(it)));
    for _ in 0..200 * n_ops {
        if graph.n_ops() >= n_ops {
            break;
        }
        let op = rows[draws.below(rows.len())];
        let inputs: Vec<Value> =
            (0..op.n_tensors()).map(|_| values[draws.below(values.len())]).collect();
        let attrs: Attrs = op
            .attr_params()
            .zip(op.default_attrs())
            .map(|(param, it)| attr(draws, param.kind, it))
            .collect();
        if let Ok(value) = graph.apply_one(op, &inputs, &attrs)
            && (1..200).contains(&graph.meta(value).shape.numel())
            && is_exact(graph.meta(value).dtype)
        {
            values.push(value);
        }
    }
    graph.outputs = values.iter().rev().take(2).copied().collect();
    graph
}

/// Whether results of this dtype go on: what ops on numbers alone give in 32 bits is rounded to these, which shows in 64.
fn is_exact(dtype: DType) -> bool {
    !dtype.is_differentiable() || dtype.part() == DType::F64
}

pub(crate) fn inputs_of(graph: &Graph) -> Vec<Tensor> {
    let one = |(idx, &id): (usize, &crate::graph::NodeId)| {
        let shape = graph.node(id).metas[0].shape.clone();
        let value =
            |at: usize| ((at * 37 + idx * 11 + 3) as f64 * 0.618_033_988).fract() * 1.6 - 0.7;
        Tensor::from_vec(&(0..shape.numel()).map(value).collect::<Vec<_>>(), shape).unwrap()
    };
    graph.inputs().iter().enumerate().map(one).collect()
}

/// The first element of the outputs that differs by more than rounding, of which each step of a graph adds some.
pub(crate) fn differs(got: &[Tensor], want: &[Tensor]) -> Option<String> {
    got.iter().zip(want).find_map(|(got, want)| {
        if got.meta() != want.meta() {
            return Some(format!("{} instead of {}", got.meta(), want.meta()));
        }
        let limit = if want.dtype().part() == DType::F64 { 1e-9 } else { 1e-5 };
        let (got, want) = (got.to_parts().unwrap().concat(), want.to_parts().unwrap().concat());
        let finite = want.iter().filter(|it| it.is_finite());
        let most = finite.fold(1.0, |most: f64, it| most.max(it.abs()));
        let far = |(a, b): (&f64, &f64)| {
            !(a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= limit * most)
        };
        let at = got.iter().zip(&want).position(far)?;
        Some(format!("[{at}]: {} instead of {}", got[at], want[at]))
    })
}

/// Where a pass by itself, all of them, or a plan is not what the graph means.
fn problem(graph: &Graph, inputs: &[Tensor], want: &[Tensor]) -> Option<String> {
    let check = |what: &str, got: crate::Result<Vec<Tensor>>| match got {
        Ok(got) => differs(&got, want).map(|it| format!("{what}{it}")),
        Err(error) => Some(format!("{what}: {error}")),
    };
    let by_pass = passes::ALL.iter().find_map(|pass| {
        let changed = run(pass, graph, &mut Log::default());
        check(pass.name, changed.and_then(|it| oracle::evaluate(&it, inputs)))
    });
    let by_plan = || {
        [0, 3, 4].into_iter().find_map(|level| {
            let plan = passes::optimize(graph.clone(), level, &mut Log::default())
                .and_then(|it| lower::compile(&it, level > 0));
            check(&format!("plan of level {level}"), plan.and_then(|it| it.run(inputs)))
        })
    };
    by_pass.or_else(by_plan).map(|it| format!("{it}\n{graph}"))
}

#[test]
fn passes_and_plans_keep_what_random_graphs_mean() {
    let rows = rows();
    let set = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let (seed, n_wanted) =
        (set("NOTEGRAD_SEED").unwrap_or(7), set("NOTEGRAD_GRAPHS").unwrap_or(300));
    let mut draws = Draws(seed);
    let (mut n_graphs, mut used, mut problems) = (0, BTreeSet::new(), Vec::new());
    while n_graphs < n_wanted {
        let graph = graph_of(&mut draws, &rows, 8);
        let inputs = inputs_of(&graph);
        // Ops refuse some elements: indices outside, what is no probability.
        let Ok(want) = oracle::evaluate(&graph, &inputs) else { continue };
        n_graphs += 1;
        used.extend(graph.nodes().iter().filter_map(|it| Some(it.op()?.name)));
        problems.extend(problem(&graph, &inputs, &want));
    }
    println!("{} rows in {n_graphs} graphs", used.len());
    assert!(n_wanted < 300 || used.len() > 100, "only {used:?}");
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
