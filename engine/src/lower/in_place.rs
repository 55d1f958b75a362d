//! Launches that change what their first operand holds: what they make takes its place.

use super::compile::{Compiler, Draft, Slot};
use super::plan::Work;

impl Compiler<'_> {
    /// Lets the output of a kernel that updates take the place of what it changes, if nobody looks at that later.
    pub(super) fn update_in_place(&mut self) {
        for at in 0..self.drafts.len() {
            let Draft { work, inputs, outputs, .. } = &mut self.drafts[at];
            let Work::Kernel { kernel, in_place, .. } = work else { continue };
            if !kernel.kernel.updates || *in_place {
                continue;
            }
            let Some(changed) = inputs[0].whole_slot(&self.slots) else { continue };
            let is_read = inputs[1..].iter().any(|it| it.slot() == Some(changed));
            let slot = &self.slots[changed];
            if is_read || slot.kept.is_some() || slot.to > at {
                continue;
            }
            *in_place = true;
            inputs.remove(0);
            self.slots[outputs[0]].instead_of = Some(changed);
        }
        self.hand_down();
    }

    /// A slot whose place others take lives as long as these, and is kept as they are.
    pub(super) fn hand_down(&mut self) {
        for at in (0..self.slots.len()).rev() {
            let Some(before) = self.slots[at].instead_of else { continue };
            let kept = self.slots[at].kept.take();
            let Slot { to, site, .. } = self.slots[at];
            let before = &mut self.slots[before];
            before.to = before.to.max(to);
            if kept.is_some() {
                (before.kept, before.site) = (kept, site);
            }
        }
    }
}
