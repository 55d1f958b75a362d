//! Whose time a launch takes: the places in the program of the ops that it runs, each with its share.
//!
//! Shares of a launch that runs ops of several places are estimates from shapes and expressions. They say nothing of other launches.

use smallvec::{SmallVec, smallvec};

use crate::estimate;
use crate::expr::{Expr, Term, UnOp};
use crate::graph::{Graph, Node, NodeId};
use crate::lane::expr_of;
use crate::op::InferCx;
use crate::{Site, Tensor};

/// Places, each once, and their shares, which are 1 together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shares(SmallVec<[(Site, f32); 1]>);

/// What a step of an expression takes for an element, in seconds.
const PER_STEP: f64 = 1e-10;

/// Steps that a function such as `exp` comes to.
const FUNCTION: usize = 8;

/// So many steps of an expression are counted.
const MOST: usize = 200;

impl Shares {
    /// All of it is of one place.
    pub(super) fn of(site: Site) -> Self {
        Self(smallvec![(site, 1.0)])
    }

    /// Those of some nodes that run as one launch.
    pub(super) fn of_nodes(graph: &Graph, nodes: &[NodeId]) -> Self {
        let node = |it: &NodeId| graph.node(*it);
        let mut sites = nodes.iter().map(|it| node(it).origin.site);
        let Some(first) = sites.next() else { return Self::of(Site::NOWHERE) };
        if sites.all(|it| it == first) {
            return Self::of(first);
        }
        let each = nodes.iter().map(|it| (node(it).origin.site, seconds(graph, node(it))));
        Self::from_weights(each)
    }

    /// Those of launches that become one, which take the same time.
    pub(super) fn together<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        Self::from_weights(all.flat_map(|it| &it.0).map(|&(site, share)| (site, share.into())))
    }

    fn from_weights(all: impl Iterator<Item = (Site, f64)>) -> Self {
        let mut sums: SmallVec<[(Site, f64); 8]> = SmallVec::new();
        for (site, weight) in all {
            match sums.iter_mut().find(|it| it.0 == site) {
                Some(known) => known.1 += weight,
                None => sums.push((site, weight)),
            }
        }
        let sum: f64 = sums.iter().map(|it| it.1).sum();
        let even = 1.0 / sums.len() as f64;
        let share = |weight: f64| if sum > 0.0 { weight / sum } else { even };
        Self(sums.iter().map(|&(site, weight)| (site, share(weight) as f32)).collect())
    }

    /// The places and their shares.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Site, f32)> {
        self.0.iter().copied()
    }
}

/// What a node takes by itself, in seconds of a slow core.
fn seconds(graph: &Graph, node: &Node) -> f64 {
    let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return 0.0 };
    if let Some(expr) = expr_of(op, attrs) {
        return (node.metas[0].shape.numel() * steps(&expr)) as f64 * PER_STEP;
    }
    let inputs: SmallVec<[Tensor; 4]> =
        node.inputs().iter().map(|&it| graph.stand_in(it)).collect();
    estimate::seconds_of(&InferCx { op, inputs: &inputs, attrs }, &node.metas)
}

/// About how many steps an expression has.
fn steps(expr: &Expr) -> usize {
    let (mut count, mut left) = (0, vec![expr]);
    while let Some(expr) = left.pop().filter(|_| count < MOST) {
        match &*expr.0 {
            Term::Input(_) | Term::Param(_) | Term::Const(_) => {}
            Term::Unary(op, x) => {
                count += if is_plain(*op) { 1 } else { FUNCTION };
                left.push(x);
            }
            Term::Binary(_, x, y) => {
                count += 1;
                left.extend([x, y]);
            }
            Term::Select(x, y, z) => {
                count += 1;
                left.extend([x, y, z]);
            }
        }
    }
    count.max(1)
}

/// Whether it is an instruction or two.
fn is_plain(op: UnOp) -> bool {
    use UnOp::{Abs, BitNot, Ceil, Floor, Neg, Not, Recip, Round, Rsqrt, Sign, Sqrt, Trunc};
    matches!(
        op,
        Neg | Abs | Sign | Floor | Ceil | Round | Trunc | Sqrt | Rsqrt | Recip | Not | BitNot
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Value;
    use crate::ops;
    use crate::{Attrs, DType, Layout, Shape};

    /// Nodes at sites 1, 2, ... on a matrix of this size, each of the one before it.
    fn chain(size: usize, names: &[&str]) -> (Graph, Vec<NodeId>) {
        let mut graph = Graph::new();
        let mut x = graph.input(DType::F32, Layout::contiguous(Shape::from([size, size])));
        let mut nodes = Vec::new();
        for (at, name) in names.iter().enumerate() {
            graph.origin.site = Site::new(at as u32 + 1);
            let op = ops::find(name).unwrap();
            let inputs: &[Value] = if op.n_tensors() == 2 { &[x, x] } else { &[x] };
            x = graph.apply_one(op, inputs, &Attrs::new()).unwrap();
            nodes.push(x.node);
        }
        (graph, nodes)
    }

    #[test]
    fn a_product_takes_more_than_what_follows_and_a_function_more_than_a_sum() {
        let (graph, nodes) = chain(256, &["matmul", "add", "tanh"]);
        let shares: Vec<(Site, f32)> = Shares::of_nodes(&graph, &nodes).iter().collect();
        let [product, sum, function] = shares[..] else { panic!("{shares:?}") };
        assert_eq!([product.0, sum.0, function.0], [1, 2, 3].map(Site::new));
        assert!(product.1 > 2.0 * function.1 && function.1 > 2.0 * sum.1, "{shares:?}");
        assert!((shares.iter().map(|it| it.1).sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_place_stands_there_once() {
        let (mut graph, nodes) = chain(8, &["neg", "exp", "neg"]);
        assert_eq!(Shares::of_nodes(&graph, &nodes[..1]), Shares::of(Site::new(1)));
        assert_eq!(Shares::of_nodes(&graph, &[]), Shares::of(Site::NOWHERE));
        graph.origin.site = Site::new(1);
        let neg = ops::find("neg").unwrap();
        let last = graph.apply_one(neg, &[Value::of(nodes[2])], &Attrs::new()).unwrap();
        let both = Shares::of_nodes(&graph, &[nodes[0], nodes[2], last.node]);
        let both: Vec<u32> = both.iter().map(|it| (it.1 * 3.0).round() as u32).collect();
        assert_eq!(both, [2, 1]);
        let all = [Shares::of(Site::new(1)), Shares::of(Site::new(2)), Shares::of(Site::new(1))];
        let together: Vec<u32> =
            Shares::together(all.iter()).iter().map(|it| (it.1 * 3.0).round() as u32).collect();
        assert_eq!(together, [2, 1]);
    }
}
