//! Which part of a program ops belong to: composed ops and what the language calls a module, inside each other.
//!
//! A part is noted while a trace listens, so that graphs can be shown by parts; eager ops pay nothing for it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One call of a part, inside others.
#[derive(Clone, Debug, Default)]
pub struct Scope(Option<Arc<Part>>);

/// What was called.
#[derive(Debug)]
pub struct Part {
    outer: Scope,
    /// What the part outside calls it: `fc1`; empty where that has no name for it.
    pub name: Cow<'static, str>,
    /// What it is: `Linear`, `gelu`.
    pub kind: &'static str,
}

thread_local! {
    static HERE: RefCell<Scope> = const { RefCell::new(Scope(None)) };
}

/// Equal scopes are the same call.
impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Scope {}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ref().map(Arc::as_ptr).hash(state);
    }
}

impl Scope {
    /// Outside of all parts.
    pub const NONE: Self = Self(None);

    /// Where this thread is.
    pub fn here() -> Self {
        HERE.with_borrow(Clone::clone)
    }

    /// This thread is here from now on; gives where it was.
    pub fn enter(self) -> Self {
        HERE.replace(self)
    }

    /// A new call of a part from here.
    pub fn inside(self, name: impl Into<Cow<'static, str>>, kind: &'static str) -> Self {
        Self(Some(Arc::new(Part { outer: self, name: name.into(), kind })))
    }

    /// Runs `body` in a new call of a part.
    pub(crate) fn within<R>(kind: &'static str, body: impl FnOnce() -> R) -> R {
        let before = Self::here();
        let _entered = Entered(before.clone());
        before.inside("", kind).enter();
        body()
    }

    /// The innermost part.
    pub fn part(&self) -> Option<&Part> {
        self.0.as_deref()
    }

    /// Outside of the innermost part.
    pub fn outer(&self) -> Self {
        self.part().map_or(Self::NONE, |it| it.outer.clone())
    }

    /// `layer1.0.conv1`: the names of the parts from the outside in; empty outside of what has a name.
    pub fn path(&self) -> String {
        let parts = std::iter::successors(self.part(), |it| it.outer.part());
        let mut names: Vec<&str> = parts.map(|it| &*it.name).filter(|it| !it.is_empty()).collect();
        names.reverse();
        names.join(".")
    }

    /// How many parts are inside each other here.
    pub fn depth(&self) -> usize {
        std::iter::successors(self.part(), |it| it.outer.part()).count()
    }

    /// The outermost parts, `depth` of them at most.
    pub fn up_to(&self, depth: usize) -> Self {
        let deeper = self.depth().saturating_sub(depth);
        (0..deeper).fold(self.clone(), |it, _| it.outer())
    }
}

/// Goes back where the thread was.
pub(crate) struct Entered(Scope);

impl Entered {
    /// What is done until this is dropped is done elsewhere in between.
    pub(crate) fn here() -> Self {
        Self(Scope::here())
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        std::mem::take(&mut self.0).enter();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_inside_each_other() {
        let net = Scope::here().inside("", "Net");
        let layer = net.clone().inside("fc1", "Linear");
        assert_eq!(layer.depth(), 2);
        assert_eq!(layer.up_to(1), net);
        assert_eq!(layer.up_to(2), layer);
        assert_eq!(layer.up_to(0), Scope::NONE);
        assert_ne!(layer, net.inside("fc1", "Linear"), "another call");
    }

    #[test]
    fn a_part_is_left_also_when_its_body_panics() {
        let left = std::panic::catch_unwind(|| Scope::within("gelu", || panic!("for the test")));
        assert!(left.is_err());
        assert_eq!(Scope::here(), Scope::NONE);
        let inside = Scope::within("gelu", Scope::here);
        assert_eq!(inside.part().map(|it| it.kind), Some("gelu"));
        assert_eq!(Scope::here(), Scope::NONE);
    }
}
