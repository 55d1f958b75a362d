//! Code that replaces what it reads without a copy: it reads the elements of an output where they are, and the instruction that writes
//! them takes them as its destination.

use smallvec::SmallVec;

use super::loops::Loop;
use super::machine::{Code, Source};

/// Inputs that are read from the outputs which replace them.
#[derive(Default)]
pub(super) struct InPlace {
    pub(super) inputs: SmallVec<[usize; 4]>,
    /// Instructions that write such an output and read its input themselves, and how they run then.
    pub(super) writers: Writers,
}

/// Instructions whose destination is also an operand, and how they run.
pub(super) type Writers = SmallVec<[(usize, Loop); 1]>;

impl InPlace {
    /// How code replaces what it reads, as far as it can do so without a copy.
    pub(super) fn of(code: &Code, sources: &[Source<'_>]) -> Self {
        let mut res = Self::default();
        let output_of = |it: &Source<'_>| match it {
            Source::Replaced(output) => Some(*output),
            Source::View(_) | Source::Number(_) => None,
        };
        for (input, source) in sources.iter().enumerate() {
            let Some(output) = output_of(source) else { continue };
            let is_it = |it: &&Source<'_>| output_of(it) == Some(output);
            if sources.iter().filter(is_it).count() > 1 {
                continue;
            }
            if let Some(writer) = written_last(code, input, output) {
                res.inputs.push(input);
                res.writers.extend(writer);
            }
        }
        res
    }
}

/// Whether nothing reads an input or the output that replaces it after the one instruction that writes the output; where that one reads
/// the input itself, it can write onto it, and is the result.
fn written_last(code: &Code, input: usize, output: usize) -> Option<Option<(usize, Loop)>> {
    let (reg, output) = (input as u16, (code.inputs.len() + output) as u16);
    let mut writes = code.instrs.iter().enumerate().filter(|it| it.1.dst == output);
    let (at, writer) = writes.next()?;
    let reads = |src: &[u16]| src.contains(&reg) || src.contains(&output);
    let later = &code.instrs[at + 1..];
    if writes.next().is_some() || later.iter().any(|it| reads(&it.src[..it.kern.arity])) {
        return None;
    }
    let src = &writer.src[..writer.kern.arity];
    let mut places = src.iter().enumerate().filter(|it| *it.1 == reg).map(|it| it.0);
    let Some(place) = places.next() else { return Some(None) };
    let onto = writer.kern.onto.get(place).copied().flatten();
    // What is refused is looked for after an instruction has run, among what it has read.
    let onto = onto.filter(|_| places.next().is_none() && writer.kern.refuses.is_none())?;
    Some(Some((at, onto)))
}
