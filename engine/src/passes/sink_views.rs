//! `sink-views`: elementwise ops on a view of what a kernel gives come before the view, so that the kernel runs them on its parts.
//!
//! A convolution along one dimension is one of images that are a row high, and what follows on it, such as `relu`, is on a view of that. Only
//! views that leave all elements in their order are moved, and only over ops whose other operands are single numbers.

use smallvec::SmallVec;

use crate::Layout;
use crate::graph::{Graph, Kind, NodeId, Value};
use crate::op::Body;
use crate::rewrite::{Pass, Replacement, Rule};

pub static PASS: Pass = Pass {
    name: "sink-views",
    doc: "Puts elementwise ops before a view of what a kernel gives, which then runs them on its parts.",
    level: 2,
    rules: &[Rule::whole("behind-kernels", behind_kernels)],
};

fn behind_kernels(graph: &Graph) -> Vec<(Value, Replacement)> {
    let mut n_uses = vec![0_usize; graph.nodes().len()];
    let operands = graph.nodes().iter().flat_map(|it| it.inputs());
    operands.copied().chain(graph.results()).for_each(|it| n_uses[it.node as usize] += 1);
    let search = Search { graph, n_uses, users: graph.users() };
    (0..graph.nodes().len() as NodeId).filter_map(|it| search.sunk(it)).collect()
}

struct Search<'a> {
    graph: &'a Graph,
    /// How often each node is an operand or a result.
    n_uses: Vec<usize>,
    users: Vec<SmallVec<[NodeId; 2]>>,
}

impl Search<'_> {
    /// The last of the elementwise ops that follow on a view of what a kernel gives, and what it is with the view behind it.
    fn sunk(&self, view: NodeId) -> Option<(Value, Replacement)> {
        let node = self.graph.node(view);
        let &[seen] = node.inputs() else { return None };
        let device = self.graph.device;
        let finishes = self.graph.node(seen.node).op().is_some_and(|op| op.body.finishes(device));
        if !finishes || seen.output != 0 || !self.keeps_order(view) {
            return None;
        }
        let (mut last, mut sunk) = (view, Replacement::Value(seen));
        while let Some((user, applied)) = self.applied(last, sunk.clone()) {
            (last, sunk) = (user, applied);
        }
        let (op, attrs) = (node.op()?, node.attrs()?.clone());
        let behind = Replacement::Apply { op, attrs, inputs: vec![sunk] };
        (last != view).then_some((Value::of(last), behind))
    }

    /// The only user of a value, if that is an elementwise op whose other operands are single numbers, with this in the value's place.
    fn applied(&self, id: NodeId, value: Replacement) -> Option<(NodeId, Replacement)> {
        let &[user] = &self.users[id as usize][..] else { return None };
        let (node, of) = (self.graph.node(user), Value::of(id));
        let Kind::Op { op, attrs, inputs } = &node.kind else { return None };
        let n_times = inputs.iter().filter(|it| **it == of).count();
        let is_number = |it: &Value| *it == of || self.graph.meta(*it).shape.rank() == 0;
        let fits = op.body.is_elementwise()
            && !node.draws()
            && n_times == self.n_uses[id as usize]
            && inputs.iter().all(is_number)
            && node.metas[0].shape == self.graph.meta(of).shape;
        let place = |it: &Value| if *it == of { value.clone() } else { Replacement::Value(*it) };
        let inputs = inputs.iter().map(place).collect();
        fits.then(|| (user, Replacement::Apply { op, attrs: attrs.clone(), inputs }))
    }

    /// Whether a view of elements side by side shows all of them in the same order, as elements of the same dtype.
    fn keeps_order(&self, view: NodeId) -> bool {
        let node = self.graph.node(view);
        let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return false };
        let Body::View(shown) = op.body else { return false };
        let (from, to) = (self.graph.meta(node.inputs()[0]), &node.metas[0]);
        let layout = shown(&Layout::contiguous(from.shape.clone()), attrs, &to.shape);
        from.dtype == to.dtype
            && from.shape.numel() == to.shape.numel()
            && layout.is_some_and(|it| it.offset == 0 && it.is_contiguous())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::tests::check;

    #[test]
    fn views_go_behind_what_follows_on_a_kernel() {
        check(
            &PASS,
            "(neg (mul (t_reshape (softmax %2 dim=-1) shape=[3, 2]) 2.0))",
            "(t_reshape (neg (mul (softmax %2 dim=-1) 2.0)) shape=[3, 2])",
        );
    }

    #[test]
    fn views_stay_where_elements_move_or_others_look() {
        let moves = "(neg (t_t (softmax %2 dim=-1)))";
        check(&PASS, moves, moves);
        let no_kernel = "(neg (t_reshape (neg %2) shape=[3, 2]))";
        check(&PASS, no_kernel, no_kernel);
    }
}
