//! Lane programs behind kernels of a GPU: what a template of a kernel needs to run one on each element of its first result.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Program;
use super::cuda::{self, Access};
use super::expand::expand;
use super::on_gpu::{bits_of, in_memory};
use crate::cuda::driver::Address;
use crate::cuda::parameters::Parameters;
use crate::math::recorded::Type;
use crate::op::Finish;
use crate::{Error, Number, Result, Tensor};

/// Programs that a thread remembers; more are forgotten together.
const KNOWN: usize = 1024;

/// The program, how its inputs lie but the first, and whether it takes the place of the result.
type Key = (u64, SmallVec<[Access; 4]>, bool);

thread_local! {
    static WRITTEN: RefCell<FxHashMap<Key, Rc<Written>>> = RefCell::default();
}

/// A program behind a kernel. Its first input is the kernel's first result.
pub(crate) struct Finisher<'a> {
    numbers: &'a [Number],
    inputs: &'a [Tensor],
    outputs: &'a [Tensor],
    accesses: SmallVec<[Access; 4]>,
    written: Rc<Written>,
}

/// A program as a template takes it, and the types of the numbers of the run that it takes.
struct Written {
    text: String,
    numbers: Vec<Option<Type>>,
}

impl<'a> Finisher<'a> {
    /// For a kernel whose first result has `n` elements. The other inputs of the program lie in row-major order like that, or are one
    /// element; its outputs go to `outputs`, but for the first if that `replaces` the result.
    pub(crate) fn new(
        program: &Program,
        numbers: &'a [Number],
        inputs: &'a [Tensor],
        outputs: &'a [Tensor],
        (n, replaces): (usize, bool),
    ) -> Result<Self> {
        let access = |it: &Tensor| match () {
            () if !it.is_on_gpu() => Access::Held,
            () if it.numel() == n => Access::Flat,
            () => Access::One,
        };
        let accesses: SmallVec<[Access; 4]> = inputs.iter().map(access).collect();
        let written = written(program, &accesses, replaces)?;
        Ok(Self { numbers, inputs, outputs, accesses, written })
    }
}

impl Finish for Finisher<'_> {
    fn text(&self) -> &str {
        &self.written.text
    }

    fn places(&self) -> Result<SmallVec<[(Address, usize); 4]>> {
        let read = self.inputs.iter().zip(&self.accesses).filter(|it| *it.1 == Access::Flat);
        let all = read.map(|it| it.0).chain(self.outputs);
        all.map(|it| Ok((it.address()?, it.dtype().size()))).collect()
    }

    fn put(&self, parameters: Parameters) -> Result<Parameters> {
        let mut fields = Parameters::default();
        for (it, access) in self.inputs.iter().zip(&self.accesses) {
            fields = match access {
                Access::Held => {
                    let (bits, size) = bits_of(it)?;
                    fields.bits(bits, size.next_multiple_of(8))
                }
                _ => fields.address(it.address()?),
            };
        }
        for (number, ty) in self.numbers.iter().zip(&self.written.numbers) {
            if let Some(ty) = ty {
                fields = fields.bits(in_memory(*ty).bits(*number).into(), 8);
            }
        }
        for it in self.outputs {
            fields = fields.address(it.address()?);
        }
        // A structure has something in it.
        let fields = fields.long(0);
        Ok(parameters.structure(|it| it.bytes(fields.all_bytes())))
    }
}

fn written(program: &Program, accesses: &[Access], replaces: bool) -> Result<Rc<Written>> {
    let key = (program.id(), SmallVec::from_slice(accesses), replaces);
    if let Some(known) = WRITTEN.with_borrow(|it| it.get(&key).cloned()) {
        return Ok(known);
    }
    let no_text = || Error::Trace { problem: "a lane program has no expansion".into() };
    let text = cuda::finish(program, accesses, replaces).ok_or_else(no_text)?;
    let numbers = expand(program.ssa()).ok_or_else(no_text)?.params;
    let made = Rc::new(Written { text, numbers });
    WRITTEN.with_borrow_mut(|it| {
        if it.len() >= KNOWN {
            it.clear();
        }
        it.insert(key, made.clone());
    });
    Ok(made)
}
