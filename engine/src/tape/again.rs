//! Steps of the tape that are made anew for other values, where no walk from them comes to a gradient.

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;

use super::{Edge, Mark, NODE_BYTES, Node, OpStep, Saved};
use crate::cpu::local::Held;
use crate::sync::Mutex;

/// Most steps in a row that are made anew.
const DEEPEST: usize = 16;

/// Steps that were made anew at one time; those that several values come from are one again.
#[derive(Default)]
pub struct Again(FxHashMap<u64, Arc<Node>>);

impl Edge {
    /// Whether a walk backwards from here fails for what an earlier one took away, whatever the value is: this step was passed, or it saved shapes
    /// alone and each walk from it comes to one that was.
    pub fn is_spent(&self) -> bool {
        self.is_taken() || self.leads_to_taken(DEEPEST)
    }

    fn leads_to_taken(&self, depth: usize) -> bool {
        let (Some(step), Some(below)) = (self.node.op(), depth.checked_sub(1)) else {
            return false;
        };
        let mut leads = step.edges.iter().flatten().peekable();
        step.saved_shapes()
            && leads.peek().is_some()
            && leads.all(|it| it.is_taken() || it.leads_to_taken(below))
    }
}

impl OpStep {
    /// Whether its rule looks at nothing but shapes.
    fn saved_shapes(&self) -> bool {
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        self.op.pure && saved.as_ref().is_some_and(Saved::is_light)
    }
}

impl Again {
    /// The same place of the tape for another value: a spent step that was not passed itself is made anew, so that what becomes of one value is
    /// nothing to the other.
    pub fn edge(&mut self, of: &Edge) -> Edge {
        let copied = if of.is_leaf() || of.is_taken() { None } else { self.node(of) };
        Edge { node: copied.unwrap_or_else(|| of.node.clone()), output: of.output }
    }

    fn node(&mut self, of: &Edge) -> Option<Arc<Node>> {
        if let Some(known) = self.0.get(&of.id()) {
            return Some(known.clone());
        }
        let step = of.node.op()?;
        // What it comes from first, which has smaller numbers.
        let edges = step.edges.iter().map(|it| it.as_ref().map(|it| self.edge(it))).collect();
        let saved = step.saved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let composed = *step.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let step = OpStep {
            op: step.op,
            attrs: step.attrs.clone(),
            edges,
            n_outputs: step.n_outputs,
            site: step.site,
            scope: step.scope.clone(),
            composed: Mutex::new(composed),
            saved: Mutex::new(saved),
        };
        let held = Held::new(NODE_BYTES).ok()?;
        let node = Arc::new(Node::of_step(step, Mark::NONE, held));
        self.0.insert(of.id(), node.clone());
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autograd::{backward, grad};
    use crate::functional::{add, mul, sum};
    use crate::{Error, Shape, Tensor};

    fn walked(leaf: &Tensor) -> Tensor {
        let loss = sum(&mul(leaf, leaf).unwrap(), &[], false).unwrap();
        backward(&[(loss.clone(), None)], None, false, false).unwrap();
        loss
    }

    #[test]
    fn sums_of_what_was_walked_are_spent_and_made_anew() {
        let leaf = Tensor::from_vec(&[1.0, 2.0], Shape::new(&[2])).unwrap().leaf();
        let (a, b) = (walked(&leaf), walked(&leaf));
        let both = add(&a, &b).unwrap();
        let three = add(&both, &a).unwrap();
        let is_spent = |it: &Tensor| it.edge().unwrap().is_spent();
        assert!([&a, &both, &three].into_iter().all(is_spent));
        let product = mul(&a, &b).unwrap();
        let beside_leaf = add(&a, &sum(&leaf, &[], false).unwrap()).unwrap();
        assert!(![&leaf, &product, &beside_leaf].into_iter().any(is_spent));
        let mut again = Again::default();
        let other = |it: &Tensor, again: &mut Again| {
            let edge = again.edge(it.edge().unwrap());
            Tensor::from_vec(&[7.0], Shape::new(&[])).unwrap().at_edge(Some(edge))
        };
        let [a2, both2, three2] = [&a, &both, &three].map(|it| other(it, &mut again));
        // A gradient that comes to nothing that was taken away is there, and the others fail as they do.
        for (of, from, to) in [(&three, &both, &a), (&three2, &both2, &a2)] {
            let found =
                grad(&[(of.clone(), None)], &[from.clone(), to.clone()], true, false).unwrap();
            let found = found.iter().map(|it| it.as_ref().unwrap().to_f64_vec().unwrap());
            assert_eq!(found.collect::<Vec<_>>(), [[1.0], [2.0]]);
            for _ in 0..2 {
                let res = backward(&[(of.clone(), None)], None, false, false);
                assert!(matches!(res, Err(Error::Freed { .. })), "{res:?}");
            }
        }
        // The walks have passed those, and not what is made anew of one that nobody walked.
        assert!(both.edge().unwrap().is_passed() && both2.edge().unwrap().is_passed());
    }
}
