//! Machine code for lane programs, written at run time: one loop over the elements, in which all that lies between stays in registers.
//!
//! The tile machine runs one compiled loop per instruction and passes what lies between through the first-level cache. Code that is written
//! for a program loads each element once and stores each result once, by vectors as wide as the processor has them. It is written from the
//! steps that the loops themselves are compiled from ([`crate::math::recorded`]), operation by operation, so it gives the same bits.
//!
//! **Invariant:** a program that cannot be written (functions of the C library, integers of 64 bits among floats of 32, another processor)
//! runs on the tile machine, as does one that is too rarely run for writing to pay. Nothing but time depends on which of the two runs.

mod code;
#[cfg(target_arch = "x86_64")]
mod divide;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "x86_64")]
mod registers;
#[cfg(target_arch = "x86_64")]
mod text;
#[cfg(target_arch = "x86_64")]
mod values;
#[cfg(target_arch = "x86_64")]
mod vectors;
#[cfg(target_arch = "x86_64")]
mod writer;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use code::MachineCode;

use super::features::Isa;
use super::lane::{Expansion, Mem};
use crate::dtype::Number;
use crate::math::recorded::Type;
use crate::sync::OnceLock;

/// Elements times instructions that the tile machine computes before code is written: in about the time that writing takes.
const WORTH: usize = 1 << 18;
/// Most steps of a program that is written.
const MOST_STEPS: usize = 400;
/// Most versions of one program.
const MOST_FORMS: usize = 8;

/// How many bits a vector has that code computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// With AVX2 and FMA.
    Bits256,
    /// With AVX-512 F, BW, DQ and VL.
    Bits512,
}

impl Vectors {
    /// The widest of an instruction set; `None` where no code is written for it.
    pub(crate) fn of(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Portable => None,
            Isa::Avx2 => Some(Self::Bits256),
            Isa::Avx512 => Some(if is_narrow() { Self::Bits256 } else { Self::Bits512 }),
        }
    }

    /// Bytes of one.
    fn bytes(self) -> usize {
        match self {
            Self::Bits256 => 32,
            Self::Bits512 => 64,
        }
    }
}

/// What gives the expansion of a program, once it is wanted; `None` where there is none.
pub(crate) type Source = Box<dyn Fn() -> Option<Expansion> + Send + Sync>;

/// A program that code may be written for, and what has been written.
pub(crate) struct Writable {
    source: Source,
    expansion: OnceLock<Option<Expansion>>,
    n_instructions: usize,
    vectors: Vectors,
    /// Elements times instructions that ran without.
    ran: AtomicUsize,
    first: OnceLock<Box<Form>>,
}

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").field("first", &self.first).finish_non_exhaustive()
    }
}

/// The code for one way in which the inputs lie.
#[derive(Debug)]
struct Form {
    /// A bit for each input of which there is one element for all.
    held: u64,
    /// `None` where it cannot be written.
    code: Option<MachineCode>,
    next: OnceLock<Box<Form>>,
}

impl Writable {
    /// `None` where code would not be better than `n_instructions` of the tile machine for this instruction set: it is not better than one.
    pub(crate) fn new(source: Source, n_instructions: usize, isa: Isa) -> Option<Self> {
        let vectors = Vectors::of(isa)?;
        if n_instructions < 2 {
            return None;
        }
        match mode() {
            Mode::Off => None,
            Mode::WhereItPays => {
                let worthy = move || source().filter(|it| pays(it, vectors));
                Some(Self::with(Box::new(worthy), n_instructions, vectors, 0))
            }
            Mode::AtOnce => Some(Self::with(source, n_instructions, vectors, WORTH)),
        }
    }

    fn with(source: Source, n_instructions: usize, vectors: Vectors, ran: usize) -> Self {
        Self {
            source,
            expansion: OnceLock::new(),
            n_instructions,
            vectors,
            ran: AtomicUsize::new(ran),
            first: OnceLock::new(),
        }
    }

    /// The expansion, if code may be written from it.
    fn expansion(&self) -> Option<&Expansion> {
        let fits = |it: &Expansion| it.ops.len() <= MOST_STEPS && it.inputs.len() < 64;
        self.expansion.get_or_init(|| (self.source)().filter(fits)).as_ref()
    }

    /// The code for inputs of which those in `held` have one element for all; `None` if there is none, or none yet, as so few of so many elements
    /// have been computed.
    #[inline]
    pub(crate) fn form(&self, held: u64, numel: usize) -> Option<&MachineCode> {
        let mut place = &self.first;
        for _ in 0..MOST_FORMS {
            match place.get() {
                Some(form) if form.held == held => return form.code.as_ref(),
                Some(form) => place = &form.next,
                None => return self.written(place, held, numel),
            }
        }
        None
    }

    #[cold]
    fn written<'a>(
        &'a self,
        place: &'a OnceLock<Box<Form>>,
        held: u64,
        numel: usize,
    ) -> Option<&'a MachineCode> {
        let work = numel.saturating_mul(self.n_instructions);
        if self.ran.fetch_add(work, Ordering::Relaxed).saturating_add(work) < WORTH {
            return None;
        }
        let form = place.get_or_init(|| {
            // Narrow vectors leave more of them room beside the registers.
            let code = self.expansion().and_then(|it| {
                let code = write(it, held, self.vectors);
                code.or_else(|| write(it, held, Vectors::Bits256))
            });
            Box::new(Form { held, code, next: OnceLock::new() })
        });
        // Another thread may have put another form there.
        (form.held == held).then_some(form.code.as_ref()).flatten()
    }

    /// The numbers of a run, as code takes them.
    pub(crate) fn numbers<A: Extend<u64>>(&self, params: &[Number], to: &mut A) {
        let Some(expansion) = self.expansion() else { return };
        let bits = |(number, ty): (&Number, &Option<Type>)| match ty {
            Some(Type::F32) => Mem::F32.bits(*number),
            Some(Type::F64) => Mem::F64.bits(*number),
            Some(Type::Bool | Type::I32 | Type::I64) => Mem::I64.bits(*number),
            None => 0,
        };
        to.extend(params.iter().zip(&expansion.params).map(bits));
    }

    /// A program that code with such vectors is written for at the first run, whether that pays or not.
    #[cfg(test)]
    pub(crate) fn at_once(source: Source, vectors: Vectors) -> Self {
        Self::with(source, 1, vectors, WORTH)
    }

    /// How many versions have been written, and how many could not be.
    #[cfg(test)]
    pub(crate) fn n_forms(&self) -> (usize, usize) {
        let forms = std::iter::successors(self.first.get(), |it| it.next.get());
        let (written, not): (Vec<_>, Vec<_>) = forms.partition(|it| it.code.is_some());
        (written.len(), not.len())
    }
}

/// Whether code with such vectors takes less time than the tile machine. Rounding to bfloat16 is a chain of a dozen steps behind each operation, for
/// which a loop waits that computes one vector at a time; the 512-bit loops of the tile machine compute several (BENCHMARKS.md, "Code of its own").
fn pays(expansion: &Expansion, vectors: Vectors) -> bool {
    let outputs = expansion.outputs.iter().map(|it| &it.1);
    let rounds = outputs.chain(&expansion.inputs).any(|it| *it == Mem::BF16);
    vectors == Vectors::Bits256 || !rounds
}

/// When code is written in this process.
#[derive(Clone, Copy)]
enum Mode {
    Off,
    WhereItPays,
    AtOnce,
}

/// `NOTEGRAD_JIT=0` leaves all to the tile machine, for comparisons and for systems that forbid written code; `NOTEGRAD_JIT=1` has all code written
/// before it first runs, for tests.
fn mode() -> Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    *MODE.get_or_init(|| match std::env::var("NOTEGRAD_JIT").as_deref() {
        Ok("0") => Mode::Off,
        Ok("1") => Mode::AtOnce,
        _ => Mode::WhereItPays,
    })
}

/// `NOTEGRAD_JIT_BITS=256` has no wider vectors written, for comparisons.
fn is_narrow() -> bool {
    static NARROW: OnceLock<bool> = OnceLock::new();
    *NARROW.get_or_init(|| std::env::var("NOTEGRAD_JIT_BITS").as_deref() == Ok("256"))
}

#[cfg(target_arch = "x86_64")]
fn write(expansion: &Expansion, held: u64, vectors: Vectors) -> Option<MachineCode> {
    let values = values::Values::of(expansion, held, vectors)?;
    let text = writer::write(expansion, &values)?;
    let reads =
        (0..expansion.inputs.len()).map(|it| (expansion.inputs[it].size(), held >> it & 1 == 1));
    let makes = expansion.outputs.iter().map(|it| it.1.size());
    let lanes = values.lanes().count();
    MachineCode::new(&text.bytes, text.entry, lanes, reads.collect(), makes.collect())
}

#[cfg(not(target_arch = "x86_64"))]
fn write(_expansion: &Expansion, _held: u64, _vectors: Vectors) -> Option<MachineCode> {
    None
}
