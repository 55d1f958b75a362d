//! Variables that are lent to a graph, which writes them where they lie: parameters and the state of optimisers take no second buffer.

use std::rc::Rc;

use engine::Tensor;

use super::asked::Asked;
use super::variant::{Slot, Variant, Way};
use crate::objects::tensor::TensorObj;

/// Lent variables, and what stands in all variables meanwhile. When this is dropped they have their elements again.
pub(super) struct Lent<'a> {
    pub(super) asked: &'a Asked<'a>,
    homes: Vec<(Rc<TensorObj>, Slot)>,
    /// The handles on their elements.
    pub(super) tensors: Vec<Tensor>,
    /// What the graph reads of variables besides, by their places.
    pub(super) others: Vec<Option<Tensor>>,
    is_written: bool,
}

impl<'a> Lent<'a> {
    /// What the graph of a way writes where it lies; `None` if that is nothing, or others look at the elements.
    pub(super) fn of(variant: &Variant, asked: &'a Asked<'a>, way: &Way) -> Option<Self> {
        let lent: Vec<usize> = way.graph.onto().collect();
        if lent.is_empty() {
            return None;
        }
        let mut is_lent = vec![false; way.slots.len()];
        lent.iter().for_each(|it| is_lent[*it] = true);
        let other = |at: usize| match variant.object(asked, way.slots[at]) {
            Some(object) if !is_lent[at] => Some(object.get()),
            // What is lent, and gradients that there are none of yet, which are not read.
            _ => Some(Tensor::number(0.0)),
        };
        // They hold what they look at, so that nothing is lent of it.
        let others = (0..way.slots.len()).map(other).collect();
        let mut res =
            Self { asked, homes: Vec::new(), tensors: Vec::new(), others, is_written: false };
        for at in lent {
            res.lend(variant.object(asked, way.slots[at])?, way.slots[at])?;
        }
        Some(res)
    }

    fn lend(&mut self, object: Rc<TensorObj>, slot: Slot) -> Option<()> {
        if let Slot::Arg(at) = slot {
            self.asked.tensors_mut()[at] = Tensor::number(0.0);
        }
        let lent = object.lend();
        if lent.is_none() {
            self.asked.sees_again(slot, &object);
        }
        self.tensors.push(lent?);
        self.homes.push((object, slot));
        Some(())
    }

    /// They hold what the graph has left in them.
    pub(super) fn are_written(&mut self) {
        self.is_written = true;
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for ((object, slot), tensor) in self.homes.drain(..).zip(self.tensors.drain(..)) {
            object.take_home(tensor, self.is_written);
            self.asked.sees_again(slot, &object);
        }
    }
}
