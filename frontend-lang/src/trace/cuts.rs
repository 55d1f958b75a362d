//! Where a step is cut: a statement that acts outside of the tensors, such as a line that prints, runs as written, and the pieces around
//! it run without being interpreted.
//!
//! A step begins whole. Where an attempt to leave out its body comes to nothing, and the statement is known for which, that one is
//! taken out; so is another one in a piece. It is only worth it while most ops stay in pieces, and a piece must not need what a run without its body would
//! lose, such as the history of a tensor that the next one walks: then the step is whole again, and for good.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use engine::trace::Options;

use super::home::{Name, read_in};
use super::piece::{Piece, Stand};
use crate::bytecode::{Code, Op};

/// Statements of one step that are taken out, at most.
const MOST_CUTS: usize = 8;

/// The stretches of one step.
#[derive(Default)]
pub(super) struct Cuts {
    /// Where its statements begin, and where the last one ends, in the operations of the cell; none before it has been entered.
    marks: RefCell<Vec<usize>>,
    /// The names that each of its statements reads.
    reads: RefCell<Vec<Vec<Name>>>,
    /// One after the other; none where the step is whole.
    stretches: RefCell<Vec<Stretch>>,
    n_cuts: Cell<usize>,
    /// Why it is whole for good, if it is.
    why_whole: OnceCell<String>,
    /// Whether it is known that enough ops are in pieces.
    is_weighed: Cell<bool>,
    /// What was taken out and why, in words.
    reasons: RefCell<Vec<String>>,
}

/// Statements that are a piece, or run as written.
struct Stretch {
    ops: Range<usize>,
    piece: Option<Rc<Piece>>,
}

impl Cuts {
    /// Looks where the statements of a step lie, whose body are these operations and which is kept in this slot.
    pub(super) fn look(&self, code: &Code, body: &Range<usize>) {
        let mut marks = self.marks.borrow_mut();
        if !marks.is_empty() {
            return;
        }
        let Some(Op::EnterStep(own, _)) = body.start.checked_sub(1).map(|it| code.ops[it]) else {
            return;
        };
        let is_own = |at: &usize| matches!(code.ops[*at], Op::CutStep(slot, _) if slot == own);
        marks.extend(body.clone().filter(is_own));
        self.reads.replace(marks.windows(2).map(|it| read_in(code, it[0]..it[1])).collect());
    }

    /// Whether the step runs in pieces.
    pub(super) fn is_cut(&self) -> bool {
        !self.stretches.borrow().is_empty()
    }

    /// Whether a stretch ends here, or begins.
    pub(super) fn is_edge(&self, at: usize) -> bool {
        self.stretches.borrow().iter().any(|it| it.ops.start == at || it.ops.end == at)
    }

    /// Where the last statement ends.
    pub(super) fn end(&self) -> Option<usize> {
        self.marks.borrow().last().copied()
    }

    /// The piece that begins here, if one does, and where it stands.
    pub(super) fn piece_at(&self, at: usize) -> Option<(Rc<Piece>, Stand)> {
        let stretches = self.stretches.borrow();
        let stretch = stretches.iter().find(|it| it.ops.start == at)?;
        let piece = stretch.piece.clone()?;
        Some((piece, Stand { ops: stretch.ops.clone(), step: *self.marks.borrow().first()? }))
    }

    /// Takes out the statement around operation `at`, for this reason, of a whole step or of one of its pieces.
    pub(super) fn cut_at(&self, at: usize, reason: String, options: &Options) {
        let marks = self.marks.borrow();
        if let Some(statement) = marks.windows(2).rfind(|it| it[0] < at) {
            self.cut(statement[0]..statement[1], reason, options);
        }
    }

    /// Takes out all statements that read a name.
    pub(super) fn cut_out(&self, name: Name, reason: String, options: &Options) {
        let (marks, reads) = (self.marks.borrow(), self.reads.borrow());
        let mut is_read = false;
        for (statement, names) in marks.windows(2).zip(reads.iter()) {
            if names.contains(&name) {
                is_read = true;
                self.cut(statement[0]..statement[1], reason.clone(), options);
            }
        }
        if !is_read && self.is_cut() {
            self.give_up(&reason);
        }
    }

    /// Takes out a statement.
    fn cut(&self, statement: Range<usize>, reason: String, options: &Options) {
        let marks = self.marks.borrow();
        let (Some(first), Some(last)) = (marks.first(), marks.last()) else { return };
        if self.why_whole.get().is_some() {
            return;
        }
        let Range { start, end } = statement;
        let mut stretches = self.stretches.borrow_mut();
        let is_whole = stretches.is_empty();
        if is_whole {
            stretches.push(Stretch { ops: *first..*last, piece: None });
        }
        let Some(at) = stretches.iter().position(|it| it.ops.contains(&start)) else { return };
        if !is_whole && stretches[at].piece.is_none() {
            return;
        }
        let of = stretches[at].ops.clone();
        let piece = |ops: Range<usize>| {
            let piece = Some(Rc::new(Piece::new(options.clone()).soon()));
            (!ops.is_empty()).then_some(Stretch { ops, piece })
        };
        let out = Some(Stretch { ops: start..end, piece: None });
        let parts = [piece(of.start..start), out, piece(end..of.end)];
        stretches.splice(at..at + 1, parts.into_iter().flatten());
        drop(stretches);
        let mut reasons = self.reasons.borrow_mut();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
        drop(reasons);
        self.n_cuts.set(self.n_cuts.get() + 1);
        self.is_weighed.set(false);
        if self.n_cuts.get() > MOST_CUTS {
            self.give_up("too many lines would run as written");
        } else if self.pieces().is_empty() {
            self.give_up("nothing is left around it");
        }
    }

    /// A round has come to its end, of a step with so many ops: the first one after a cut shows where they are.
    pub(super) fn weigh(&self, n_ops: usize) {
        if self.is_weighed.get() {
            return;
        }
        let in_pieces: Option<Vec<usize>> = self.pieces().iter().map(|it| it.n_ops.get()).collect();
        let Some(in_pieces) = in_pieces else { return };
        self.is_weighed.set(true);
        for stretch in self.stretches.borrow_mut().iter_mut() {
            stretch.piece = stretch.piece.take().filter(|it| it.n_ops.get() != Some(0));
        }
        // Ops that put a batch together may be many, and are small: where a step of training is in pieces, time tells whether that pays.
        let trains = self.pieces().iter().any(|it| it.has_walked.get());
        if !trains && in_pieces.iter().sum::<usize>() * 4 < n_ops * 3 {
            self.give_up("most ops are in lines that would run as written");
        }
    }

    /// The piece that has most ops, where the step is cut.
    pub(super) fn largest(&self) -> Option<Rc<Piece>> {
        self.pieces().into_iter().max_by_key(|it| it.n_ops.get())
    }

    /// What runs as written and why, and what prevents that pieces run without being interpreted.
    pub(super) fn words(&self) -> String {
        let mut words = self.reasons.borrow().clone();
        words.extend(self.pieces().iter().map(|it| it.prevented()).filter(|it| !it.is_empty()));
        words.join("; ")
    }

    fn pieces(&self) -> Vec<Rc<Piece>> {
        self.stretches.borrow().iter().filter_map(|it| it.piece.clone()).collect()
    }

    /// Why the step is whole for good, if it is.
    pub(super) fn why_whole(&self) -> Option<&str> {
        self.why_whole.get().map(String::as_str)
    }

    /// The step is whole from here on, for this reason.
    pub(super) fn give_up(&self, why: &str) {
        self.why_whole.get_or_init(|| why.to_owned());
        self.stretches.take();
        self.reasons.take();
    }
}
