//! Code that replaces what it reads without a copy: it reads the elements of the first output where they are, and the instruction that
//! writes them takes them as its destination.

use super::loops::Loop;
use super::machine::{Code, Source};

/// An input that is read from the first output.
#[derive(Clone, Copy)]
pub(super) struct InPlace {
    /// Which input.
    pub(super) input: usize,
    /// The instruction that writes the output, if it reads the input itself, and how it runs then.
    pub(super) writer: Option<(usize, Loop)>,
}

impl InPlace {
    /// How code replaces what it reads, if it can do so without a copy: one input is replaced, nothing reads it after the one instruction
    /// that writes the output, and that one can write onto it.
    pub(super) fn of(code: &Code, sources: &[Source<'_>]) -> Option<Self> {
        let replaced = |it: &Source<'_>| matches!(it, Source::Replaced);
        let input = sources.iter().position(replaced)?;
        if sources[input + 1..].iter().any(replaced) {
            return None;
        }
        let (reg, output) = (input as u16, code.inputs.len() as u16);
        let mut writes = code.instrs.iter().enumerate().filter(|it| it.1.dst == output);
        let (at, writer) = writes.next()?;
        let reads = |src: &[u16]| src.contains(&reg) || src.contains(&output);
        let later = &code.instrs[at + 1..];
        if writes.next().is_some() || later.iter().any(|it| reads(&it.src[..it.kern.arity])) {
            return None;
        }
        let src = &writer.src[..writer.kern.arity];
        let mut places = src.iter().enumerate().filter(|it| *it.1 == reg).map(|it| it.0);
        let Some(place) = places.next() else { return Some(Self { input, writer: None }) };
        let onto = writer.kern.onto.get(place).copied().flatten();
        // What is refused is looked for after an instruction has run, among what it has read.
        let onto = onto.filter(|_| places.next().is_none() && writer.kern.refuses.is_none())?;
        Some(Self { input, writer: Some((at, onto)) })
    }
}
