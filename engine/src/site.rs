//! Where in a program things are made: a number that the language sets at each call of an op, and that it alone understands.
//!
//! Buffers, steps of the tape, nodes of graphs and launches of plans carry it.

use std::cell::Cell;

/// A place in a program; 0 is nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(u32);

/// Set where a gradient of what the place made is computed.
const GRADIENT: u32 = 1 << 31;

thread_local! {
    static HERE: Cell<u32> = const { Cell::new(0) };
}

impl Site {
    /// No place that is known.
    pub const NOWHERE: Self = Self(0);

    /// Numbers of places are smaller than this one.
    pub const MOST: u32 = GRADIENT;

    /// The place of this number.
    #[inline]
    pub fn new(number: u32) -> Self {
        Self(number & !GRADIENT)
    }

    /// The number that the language has given to the place.
    pub fn number(self) -> u32 {
        self.0 & !GRADIENT
    }

    /// Whether what is made belongs to the gradient of what the place made.
    pub fn is_gradient(self) -> bool {
        self.0 & GRADIENT != 0
    }

    /// The place of the gradients of what this one made.
    pub(crate) fn gradient(self) -> Self {
        if self == Self::NOWHERE { self } else { Self(self.0 | GRADIENT) }
    }

    /// Where this thread is.
    #[inline]
    pub fn here() -> Self {
        // As in `enter`.
        Self(HERE.with(Cell::get))
    }

    /// Runs `body` here.
    #[inline]
    pub(crate) fn within<R>(self, body: impl FnOnce() -> R) -> R {
        let before = HERE.replace(self.0);
        let res = body();
        HERE.set(before);
        res
    }

    /// This thread is here from now on.
    #[inline]
    pub fn enter(self) {
        // `LocalKey::set` is a call, which each step of a program would pay for.
        HERE.with(|it| it.set(self.0));
    }
}
