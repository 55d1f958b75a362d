//! Ranges and slices.

use std::rc::Rc;

use crate::memory::Fixed;
use crate::value::Value;

/// `range(start, stop, step)`; `step` is never 0.
#[derive(Clone, Copy, PartialEq)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

/// A range as an object.
pub struct RangeObj {
    range: Range,
    _memory: Fixed<40>,
}

impl From<Range> for Rc<RangeObj> {
    fn from(range: Range) -> Self {
        Rc::new(RangeObj { range, _memory: Fixed::default() })
    }
}

impl std::ops::Deref for RangeObj {
    type Target = Range;

    fn deref(&self) -> &Range {
        &self.range
    }
}

/// `start:stop:step` inside square brackets; missing parts are `None`.
pub struct Slice {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
    _memory: Fixed<64>,
}

impl Slice {
    /// A slice of these parts.
    pub fn new(start: Value, stop: Value, step: Value) -> Slice {
        Slice { start, stop, step, _memory: Fixed::default() }
    }

    /// Start, stop and step.
    pub fn parts(&self) -> [Value; 3] {
        [&self.start, &self.stop, &self.step].map(Value::clone)
    }
}

impl Range {
    /// Number of items.
    pub fn len(&self) -> usize {
        let (low, high) =
            if self.step > 0 { (self.start, self.stop) } else { (self.stop, self.start) };
        if low >= high {
            return 0;
        }
        // The distance fits without a sign.
        let distance = high.wrapping_sub(low) as u64;
        ((distance - 1) / self.step.unsigned_abs()).saturating_add(1) as usize
    }

    /// True if there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Item number `index`, which must be below `len`.
    pub fn at(&self, index: usize) -> i64 {
        self.start.wrapping_add((index as i64).wrapping_mul(self.step))
    }

    /// True if `item` is one of the items.
    pub fn contains(&self, item: i64) -> bool {
        let inside = if self.step > 0 {
            self.start <= item && item < self.stop
        } else {
            self.stop < item && item <= self.start
        };
        inside && (item as i128 - self.start as i128) % self.step as i128 == 0
    }
}
