//! `sink-views`: views between a kernel and elementwise ops go to their other side, so that the kernel runs them on its parts.
//!
//! A convolution along one dimension is one of images that are a row high, and what follows on it, such as `relu`, is on a view of that; groups
//! of channels are a view of what comes before their norm. Only views that leave all elements in their order are moved, and only over ops
//! whose other operands are single numbers.

use smallvec::SmallVec;

use crate::graph::{Graph, Kind, Node, NodeId, Value};
use crate::op::{Body, InferCx};
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Layout, OpDef};

pub static PASS: Pass = Pass {
    name: "sink-views",
    doc: "Moves views from between a kernel and elementwise ops, which it then runs on its parts.",
    level: 2,
    rules: &[
        Rule::whole("behind-kernels", |it| Search::of(it).all(Search::sunk)),
        Rule::whole("before-kernels", |it| Search::of(it).all(Search::raised)),
    ],
};

/// So many elementwise ops are looked at between a view and a kernel.
const MOST_BETWEEN: usize = 16;

struct Search<'a> {
    graph: &'a Graph,
    /// How often each node is an operand or a result.
    n_uses: Vec<usize>,
    users: Vec<SmallVec<[NodeId; 2]>>,
}

impl<'a> Search<'a> {
    fn of(graph: &'a Graph) -> Self {
        let mut n_uses = vec![0_usize; graph.nodes().len()];
        let operands = graph.nodes().iter().flat_map(|it| it.inputs());
        operands.copied().chain(graph.results()).for_each(|it| n_uses[it.node as usize] += 1);
        Self { graph, n_uses, users: graph.users() }
    }

    fn all(
        &self,
        found: fn(&Self, NodeId) -> Option<(Value, Replacement)>,
    ) -> Vec<(Value, Replacement)> {
        (0..self.graph.nodes().len() as NodeId).filter_map(|it| found(self, it)).collect()
    }

    /// The last of the elementwise ops that follow on a view of what a kernel gives, and what it is with the view behind it.
    fn sunk(&self, view: NodeId) -> Option<(Value, Replacement)> {
        let node = self.graph.node(view);
        let &[seen] = node.inputs() else { return None };
        if !self.is_finished(seen) || !self.keeps_order(view) {
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

    /// Whether it is the first output of a kernel that runs what follows on its parts, or what a few elementwise ops make of that alone.
    fn is_finished(&self, mut value: Value) -> bool {
        for _ in 0..MOST_BETWEEN {
            let node = self.graph.node(value.node);
            let Some(op) = node.op() else { return false };
            if op.body.finishes(self.graph.device) {
                return value.output == 0;
            }
            let is_whole = |it: &&Value| {
                self.n_uses[it.node as usize] == 1
                    && self.graph.meta(**it).shape == node.metas[0].shape
            };
            match node.inputs().iter().find(is_whole) {
                Some(it) if op.body.is_elementwise() && !node.draws() => value = *it,
                _ => return false,
            }
        }
        false
    }

    /// The only user of a value, if that is an elementwise op whose other operands are single numbers, with this in the value's place.
    fn applied(&self, id: NodeId, value: Replacement) -> Option<(NodeId, Replacement)> {
        let &[user] = &self.users[id as usize][..] else { return None };
        let (node, of) = (self.graph.node(user), Value::of(id));
        let (op, inputs) = (node.op()?, node.inputs());
        let n_times = inputs.iter().filter(|it| **it == of).count();
        let is_number = |it: &Value| *it == of || self.graph.meta(*it).shape.rank() == 0;
        let fits = op.body.is_elementwise()
            && !node.draws()
            && n_times == self.n_uses[id as usize]
            && inputs.iter().all(is_number)
            && node.metas[0].shape == self.graph.meta(of).shape;
        Some((user, self.in_place_of(node, of, &value)?)).filter(|_| fits)
    }

    /// A view that a kernel takes in pieces, and the elementwise ops that made what it shows on a view of what they were applied to.
    fn raised(&self, view: NodeId) -> Option<(Value, Replacement)> {
        let node = self.graph.node(view);
        let (&[user], &[shown]) = (&self.users[view as usize][..], node.inputs()) else {
            return None;
        };
        if !self.takes_pieces(user, view) || !self.keeps_order(view) {
            return None;
        }
        let mut made = Vec::new();
        let mut base = shown;
        while let Some(operand) = self.made_of(base) {
            made.push(base);
            base = operand;
        }
        // What a view of a view shows may lie apart, and what finishes runs what follows on it.
        let device = self.graph.device;
        let stays = |op: &OpDef| matches!(op.body, Body::View(_)) || op.body.finishes(device);
        if made.is_empty() || self.graph.node(base.node).op().is_some_and(stays) {
            return None;
        }
        let (op, attrs) = (node.op()?, node.attrs()?.clone());
        let mut raised = Replacement::Apply { op, attrs, inputs: vec![Replacement::Value(base)] };
        for of in made.into_iter().rev() {
            let maker = self.graph.node(of.node);
            let operand = self.made_of(of)?;
            raised = self.in_place_of(maker, operand, &raised)?;
        }
        Some((Value::of(view), raised))
    }

    /// Whether a kernel of the node takes this, its first operand, in pieces.
    fn takes_pieces(&self, id: NodeId, operand: NodeId) -> bool {
        let node = self.graph.node(id);
        let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return false };
        let is_first = node.inputs().first() == Some(&Value::of(operand));
        let stand_ins: SmallVec<[_; 3]> =
            node.inputs().iter().map(|&it| self.graph.stand_in(it)).collect();
        is_first
            && self.n_uses[operand as usize] == 1
            && op.body.takes_pieces(&InferCx { op, inputs: &stand_ins, attrs })
    }

    /// What a value is made of, if nobody else takes it, by an elementwise op whose other operands are single numbers.
    fn made_of(&self, value: Value) -> Option<Value> {
        let node = self.graph.node(value.node);
        node.op().filter(|op| op.body.is_elementwise() && !node.draws())?;
        let meta = &node.metas[0];
        let mut all = node.inputs().iter().filter(|it| self.graph.meta(**it).shape == meta.shape);
        let operand = *all.next()?;
        let is_number = |it: &Value| *it == operand || self.graph.meta(*it).shape.rank() == 0;
        let fits = self.n_uses[value.node as usize] == 1
            && meta.shape.rank() > 0
            && node.inputs().iter().all(is_number);
        fits.then_some(operand)
    }

    /// The application of a node with something else in the place of an operand.
    fn in_place_of(&self, node: &Node, operand: Value, by: &Replacement) -> Option<Replacement> {
        let Kind::Op { op, attrs, inputs } = &node.kind else { return None };
        let place = |it: &Value| if *it == operand { by.clone() } else { Replacement::Value(*it) };
        let inputs = inputs.iter().map(place).collect();
        Some(Replacement::Apply { op, attrs: attrs.clone(), inputs })
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
    fn views_go_behind_what_follows_on_what_a_kernel_has_finished() {
        check(
            &PASS,
            "(neg (t_reshape (mul (softmax %2 dim=-1) %1) shape=[3, 2]))",
            "(t_reshape (neg (mul (softmax %2 dim=-1) %1)) shape=[3, 2])",
        );
    }

    #[test]
    fn views_go_before_what_makes_the_operand_of_a_kernel() {
        check(
            &PASS,
            "(softmax (t_reshape (neg (mul %2 2.0)) shape=[3, 2]) dim=-1)",
            "(softmax (neg (mul (t_reshape %2 shape=[3, 2]) 2.0)) dim=-1)",
        );
        let other_operand = "(softmax (t_reshape (mul %0 %1) shape=[3, 2]) dim=-1)";
        check(&PASS, other_operand, other_operand);
    }

    #[test]
    fn views_stay_where_elements_move_or_others_look() {
        let moves = "(neg (t_t (softmax %2 dim=-1)))";
        check(&PASS, moves, moves);
        let no_kernel = "(neg (t_reshape (neg %2) shape=[3, 2]))";
        check(&PASS, no_kernel, no_kernel);
    }
}
