//! Epilogues: code that a kernel runs on each part of its output once that is done, while it is near.

use std::ops::Range;

use smallvec::SmallVec;

use super::faults::{Faults, stopped_by};
use super::machine::{Code, Run, RunError, Source};
use super::operands::{Made, Numbers, check};
use crate::Layout;
use crate::cpu::view::OutView;
use crate::dtype::Number;

/// A run of elementwise code over what a kernel gives, part by part. The code makes of each element of the kernel's output the
/// elements of its own outputs at the same place.
pub(crate) struct Finish<'a> {
    run: Run<'a>,
    faults: Faults,
}

/// What follows on an output, from one of its elements on; nothing where there is no epilogue.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    finish: Option<&'a Finish<'a>>,
    start: usize,
}

impl Finish<'_> {
    /// Calls `kernel` with the first `n_own` outputs; of the first of them it is to hand over the parts, each once. The first input of
    /// the code is that output, and so is its first result with `replaces`; it takes `inputs` besides and makes the other outputs.
    pub(crate) fn with<'a, E: From<RunError>>(
        code: &Code,
        inputs: &[Source<'a>],
        outputs: &mut [OutView<'a>],
        params: &[Number],
        (n_own, replaces): (usize, bool),
        kernel: impl FnOnce(&mut [OutView<'a>], Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((own @ [_, ..], made)) = outputs.split_at_mut_checked(n_own) else {
            return Err(RunError::Operands.into());
        };
        let numbers = Numbers::of(&code.inputs[1..], inputs);
        let run = run(code, inputs, &mut own[0], made, params, replaces, &numbers)?;
        let finish = Finish { run, faults: Faults::default() };
        kernel(own, Part { finish: Some(&finish), start: 0 })?;
        Ok(stopped_by(finish.faults.first())?)
    }
}

/// The run on these operands.
fn run<'a>(
    code: &'a Code,
    inputs: &[Source<'_>],
    first: &mut OutView<'_>,
    made: &mut [OutView<'_>],
    params: &'a [Number],
    replaces: bool,
    numbers: &'a Numbers,
) -> Result<Run<'a>, RunError> {
    let layout = Layout::contiguous(first.shape().clone());
    let mut sources: SmallVec<[Source<'_>; 8]> = SmallVec::from_iter([Source::Replaced(0)]);
    sources.extend(inputs.iter().copied());
    if replaces {
        let others = made.iter_mut().map(OutView::reborrow);
        let all: SmallVec<[OutView<'_>; 4]> =
            std::iter::once(first.reborrow()).chain(others).collect();
        check(code, &sources, &all, params)?;
        return Run::new(code, &sources, Made::into(&all), params, numbers);
    }
    sources[0] = Source::View(first.held(&layout).ok_or(RunError::Operands)?);
    check(code, &sources, made, params)?;
    Run::new(code, &sources, Made::into(made), params, numbers)
}

impl Part<'_> {
    /// Nothing follows.
    pub const NONE: Self = Self { finish: None, start: 0 };

    /// The same from `count` elements further on.
    #[must_use]
    pub(crate) fn skip(self, count: usize) -> Self {
        Self { start: self.start + count, ..self }
    }

    /// Whether nothing follows.
    pub(crate) fn is_empty(&self) -> bool {
        self.finish.is_none()
    }

    /// These elements, counted from where the part begins, are done.
    ///
    /// # Safety
    /// The kernel has written them, will not write them again, and no other thread uses them.
    pub(crate) unsafe fn done(&self, elements: Range<usize>) {
        if let Some(Finish { run, faults }) = self.finish
            && !elements.is_empty()
        {
            assert!(self.start + elements.end <= run.numel, "a part beyond the output");
            faults.note(run.range(self.start + elements.start, self.start + elements.end));
        }
    }

    /// All elements are done.
    ///
    /// # Safety
    /// As [`done`](Self::done).
    pub(crate) unsafe fn all_done(&self) {
        if let Some(Finish { run, faults }) = self.finish {
            run.shared(faults);
        }
    }
}
