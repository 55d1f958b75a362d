//! Lane programs behind kernels of a GPU: what a template of a kernel needs to run one on each element of its first result.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cuda::{self, Access};
use super::expand::expand;
use super::on_gpu::{bits_of, in_memory};
use crate::cuda::parameters::Parameters;
use crate::math::recorded::Type;
use crate::op::Finish;
use crate::{Error, Result, Tensor};

/// Programs that a thread remembers; more are forgotten together.
const KNOWN: usize = 1024;

/// The program, how its inputs lie but the first, and whether it takes the place of the result.
type Key = (u64, SmallVec<[Access; 4]>, bool);

thread_local! {
    static WRITTEN: RefCell<FxHashMap<Key, Rc<Finisher>>> = RefCell::default();
}

/// A program behind a kernel, as the kernel's template takes it.
pub(crate) struct Finisher {
    /// What `NG_FINISH` of the template is: the structure `ng_finish`.
    pub(crate) text: String,
    accesses: SmallVec<[Access; 4]>,
    /// Types of the numbers of the run that it takes.
    numbers: Vec<Option<Type>>,
}

impl Finisher {
    /// For a kernel whose first result has `n` elements.
    pub(crate) fn of(finish: &Finish<'_>, n: usize) -> Result<Rc<Self>> {
        let access = |it: &Tensor| match () {
            () if !it.is_on_gpu() => Access::Held,
            () if it.numel() == n => Access::Flat,
            () => Access::One,
        };
        let accesses: SmallVec<[Access; 4]> = finish.inputs.iter().map(access).collect();
        let key = (finish.program.id(), accesses, finish.replaces);
        if let Some(known) = WRITTEN.with_borrow(|it| it.get(&key).cloned()) {
            return Ok(known);
        }
        let no_text = || Error::Trace { problem: "a lane program has no expansion".into() };
        let text = cuda::finish(finish.program, &key.1, finish.replaces).ok_or_else(no_text)?;
        let numbers = expand(finish.program.ssa()).ok_or_else(no_text)?.params;
        let made = Rc::new(Self { text, accesses: key.1.clone(), numbers });
        WRITTEN.with_borrow_mut(|it| {
            if it.len() >= KNOWN {
                it.clear();
            }
            it.insert(key, made.clone());
        });
        Ok(made)
    }

    /// The structure, as a parameter of the kernel.
    pub(crate) fn put(&self, finish: &Finish<'_>, parameters: Parameters) -> Result<Parameters> {
        let mut fields = Parameters::default();
        for (it, access) in finish.inputs.iter().zip(&self.accesses) {
            fields = match access {
                Access::Held => {
                    let (bits, size) = bits_of(it)?;
                    fields.bits(bits, size.next_multiple_of(8))
                }
                _ => fields.address(it.address()?),
            };
        }
        for (number, ty) in finish.numbers.iter().zip(&self.numbers) {
            if let Some(ty) = ty {
                fields = fields.bits(in_memory(*ty).bits(*number).into(), 8);
            }
        }
        for it in finish.outputs {
            fields = fields.address(it.address()?);
        }
        Ok(parameters.structure(|it| it.bytes(fields.all_bytes())))
    }
}
