//! Parts of tensors at places that differ from call to call: `x[i]`, `x[i:i + 20]`.
//!
//! A run without the body picks the rows at a number that it is given. In the call that is followed what comes of it is a view all the same,
//! so that writes through it arrive; where there were some, or what it is a part of was written meanwhile, the place has to be the same each
//! time.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use engine::index::Index;

use super::looks::Place;
use super::slice::Operand;
use super::tracked::is_tracked;
use crate::bytecode::Op;
use crate::cx::Cx;
use crate::objects::tensor::{TensorObj, View};
use crate::value::Value;

/// A part that was taken at a tracked number.
pub(super) struct Part {
    view: Weak<TensorObj>,
    /// Held, so that what was written to it is known where the program has let go of it.
    of: Rc<TensorObj>,
    /// Version of `of` when it was taken.
    version: u32,
    /// The first row.
    start: u32,
    count: usize,
    /// Which operation has taken it.
    at: Option<Place>,
}

/// All parts that were taken in a call.
#[derive(Default)]
pub(in crate::trace) struct Parts(RefCell<Vec<Part>>);

impl Parts {
    pub(super) fn add(&self, part: Part) {
        self.0.borrow_mut().push(part);
    }

    /// The places that have to be the same each time, and which operations have taken the parts.
    pub(super) fn fixed(&self) -> Vec<(u32, Option<Place>)> {
        self.0.borrow().iter().filter_map(Part::fixed).collect()
    }

    /// Where a view begins in what it is a part of, and how many rows it has, if it is one of these.
    pub(super) fn place_of(&self, view: &Rc<TensorObj>) -> Option<(Operand, usize)> {
        self.0.borrow().iter().find_map(|it| it.place_of(view))
    }

    /// The call is over: those that outlive it see the elements where they lie, as those of any other call do. What a call is made with would be
    /// told apart by where a view begins, and copies begin all at one place.
    pub(in crate::trace) fn settle(&self) {
        let outlive = self.0.take();
        outlive.iter().filter_map(|it| it.view.upgrade()).for_each(|it| it.look_anew());
    }
}

/// The view that shows so many rows from this one on.
pub(in crate::trace) fn view_of_rows(start: i64, count: usize) -> View {
    let stop = start.saturating_add(count as i64);
    View::Index(vec![Index::Slice { start: Some(start), stop: Some(stop), step: None }])
}

impl Part {
    pub(super) fn new(
        view: &Rc<TensorObj>,
        of: &Rc<TensorObj>,
        (start, count): (u32, usize),
        at: Option<Place>,
    ) -> Self {
        let version = of.current_version();
        Self { view: Rc::downgrade(view), of: of.clone(), version, start, count, at }
    }

    /// The place, if it has to be the same each time.
    fn fixed(&self) -> Option<(u32, Option<Place>)> {
        (self.of.current_version() != self.version).then_some((self.start, self.at))
    }

    /// Where the view begins and how long it is, if it is this one.
    fn place_of(&self, view: &Rc<TensorObj>) -> Option<(Operand, usize)> {
        let is_this = std::ptr::eq(self.view.as_ptr(), Rc::as_ptr(view));
        is_this.then(|| (Operand::Step(self.start), self.count))
    }
}

impl Cx {
    /// `Index`, or `Slice` with `Index` behind it, is about to take a part of a tensor at a tracked number: it gets rows that were picked at a
    /// number which is computed anew, all of which it takes. False, with nothing changed, where that cannot be.
    pub(super) fn track_part(&mut self, op: Op, next: Option<Op>) -> bool {
        let Some(tracking) = &self.follow.tracking else { return false };
        let recorder = tracking.recorder.clone();
        let stack = &mut self.machine.stack;
        match (op, next, &mut stack[..]) {
            (Op::Index, _, [.., of, at]) if is_tracked(at) => {
                let Some((rows, _)) = recorder.rows(of, at, None) else { return false };
                (*of, *at) = (rows, Value::Int(0));
                true
            }
            (Op::Slice, Some(Op::Index), [.., of, start, stop, Value::None])
                if is_tracked(start) =>
            {
                let Some((rows, count)) = recorder.rows(of, start, Some(stop)) else {
                    return false;
                };
                *of = rows;
                (*start, *stop) = (Value::Int(0), Value::Int(count as i64));
                true
            }
            _ => false,
        }
    }
}
