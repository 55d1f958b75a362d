//! `nonzero`: where the elements that are not zero are: one row of indices for each, in row-major order.

use smallvec::{SmallVec, smallvec};

use crate::cpu::hits;
use crate::dtype::Kind;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, DTypeRule, Form, Grad, InferCx, Is, Kernel, KernelCx, Onnx, Param, Surface, When,
};
use crate::{DType, Meta, Metas, OpDef, Result, Shape, Tensor, apply, with_size};

pub static OP: OpDef = OpDef {
    name: "nonzero",
    doc: "Where the elements that are not zero are: one row of indices for each, in row-major order.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("nonzero.loop", run).on_cuda(super::cuda::nonzero)]),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::new("nonzero", When::Arg("as_tuple", Is::Given))),
        shapes: "[n, number of dimensions], a row for each element that is not 0",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["torch.argwhere", "oneflow.nonzero", "oneflow.argwhere"],
    examples: &[
        ("nonzero(tensor([0, 3, 0, 5]))", "tensor([[1],\n        [3]])"),
        ("nonzero(tensor([[1.0, 0.0], [0.0, 2.0]]))", "tensor([[0, 0],\n        [1, 1]])"),
        ("nonzero(tensor([False]))", "tensor([], size=(0, 1), dtype=torch.int64)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let truths = cx.input(0).truths();
    let hits: Vec<_> = truths.indexed_iter().filter(|it| *it.1).map(|it| it.0).collect();
    by_index(&[hits.len(), truths.ndim()], |at| hits[at[0]][at[1]] as i64).into()
}

/// The shape depends on the elements, so a tensor without elements is refused.
fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_rows = match cx.inputs[0].is_on_gpu() && !cx.dtype(0).is_complex() {
        true => counted_there(&cx.inputs[0])?,
        false => counted(&cx.inputs[0])?,
    };
    Ok(smallvec![Meta::new(Shape::from([n_rows, cx.shape(0).rank()]), DType::I64)])
}

fn counted(input: &Tensor) -> Result<usize> {
    input.with_view(|view| {
        with_size!(view.dtype(), T => {
            hits::count(&view.to_slice::<T>(), kept_bits(view.dtype()) as T)
        })
    })
}

/// The same on a GPU, of which one number is read.
fn counted_there(input: &Tensor) -> Result<usize> {
    static COUNT: &OpDef = &crate::ops::reduce::count_nonzero::OP;
    let input = std::slice::from_ref(input);
    let found = apply::run_on(input[0].device(), COUNT, input, &COUNT.default_attrs())?;
    Ok(found[0].to_vec::<i64>()?[0] as usize)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.inputs[0];
    let mut line = Line::new(input.shape());
    let out = cx.outputs[0].as_mut_slice::<i64>();
    let mut rows = out.chunks_exact_mut(input.shape().rank().max(1));
    with_size!(input.dtype(), T => {
        let kept = kept_bits(input.dtype()) as T;
        hits::for_each(&input.to_slice::<T>(), kept, |at| {
            line.go_to(at);
            if let Some(row) = rows.next() {
                line.write(at, row);
            }
        });
    });
    Ok(())
}

/// The line along the last dimension that elements are looked for in, one behind the other.
struct Line {
    sizes: Shape,
    /// The indices of the line in the other dimensions.
    index: SmallVec<[i64; 6]>,
    /// Its first element, and the first of the next.
    start: usize,
    end: usize,
}

impl Line {
    fn new(sizes: &Shape) -> Self {
        let index = SmallVec::from_elem(0, sizes.rank().saturating_sub(1));
        Self { sizes: sizes.clone(), index, start: 0, end: sizes.last().copied().unwrap_or(1) }
    }

    /// Goes on to the line of element `at`.
    #[inline(always)]
    fn go_to(&mut self, at: usize) {
        if at >= self.end {
            let len = self.end - self.start;
            match at < self.end + len {
                true => self.next(len),
                false => self.leap(at, len),
            }
        }
    }

    fn next(&mut self, len: usize) {
        (self.start, self.end) = (self.end, self.end + len);
        for (slot, &size) in self.index.iter_mut().zip(self.sizes.iter()).rev() {
            *slot += 1;
            if *slot < size as i64 {
                break;
            }
            *slot = 0;
        }
    }

    fn leap(&mut self, at: usize, len: usize) {
        let mut number = at / len;
        (self.start, self.end) = (number * len, (number + 1) * len);
        for (slot, &size) in self.index.iter_mut().zip(self.sizes.iter()).rev() {
            *slot = (number % size) as i64;
            number /= size;
        }
    }

    /// Writes the indices of an element of the line.
    #[inline(always)]
    fn write(&self, at: usize, row: &mut [i64]) {
        let place = (at - self.start) as i64;
        match (row, &self.index[..]) {
            ([slot], []) => *slot = place,
            ([first, slot], &[line]) => (*first, *slot) = (line, place),
            (row, index) => {
                let (last, others) = row.split_last_mut().unzip();
                others.into_iter().flatten().zip(index).for_each(|(slot, it)| *slot = *it);
                last.into_iter().for_each(|slot| *slot = place);
            }
        }
    }
}

/// The bits of an element that say whether it is zero, in the lowest ones: all but the signs of floats.
fn kept_bits(dtype: DType) -> u128 {
    let n_bits = 8 * dtype.size();
    let all = u128::MAX >> (128 - n_bits);
    match dtype.kind() {
        Kind::Float => all >> 1,
        Kind::Complex => all & !(1 << (n_bits - 1)) & !(1 << (n_bits / 2 - 1)),
        Kind::Int | Kind::Bool => all,
    }
}
