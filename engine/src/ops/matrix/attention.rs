//! What the rows of attention share: their shapes, their operands as kernels see them, and the same in other ops.

use ndarray::ArrayD;

use crate::cpu::attention::Sizes;
use crate::functional::{
    add, eq, exp, full, matmul, matrix_transpose, mul, num, select_where, sub, to, unsqueeze,
};
use crate::meaning::{Array, MeaningCx, by_index};
use crate::op::InferCx;
use crate::{Attr, DType, Error, Result, Shape, Tensor, apply_one, ops};

/// The sizes of an attention of queries `[..., L, E]`, keys `[..., S, E]` and values `[..., S, V]`.
pub(super) fn sizes([q, k, v]: [&Shape; 3], scale: f64, causal: bool) -> Sizes {
    let lead = q.rank() - 2;
    Sizes {
        batch: q[..lead].iter().product(),
        queries: q[lead],
        keys: k[lead],
        width: q[lead + 1],
        values: v[lead + 1],
        causal,
        scale,
    }
}

/// Checks operands from `first` on: queries, keys and values of one batch, and a mask `[..., L, S]` at `mask` if it is there. Gives the
/// shape of the result, `[..., L, V]`.
pub(super) fn checked(cx: &InferCx<'_>, first: usize, mask: usize) -> Result<Shape> {
    let [q, k, v] = [0, 1, 2].map(|it| cx.shape(first + it));
    let lead = q.rank().wrapping_sub(2);
    let fits = q.rank() >= 2
        && [k, v].iter().all(|it| it.rank() == q.rank() && it[..lead] == q[..lead])
        && q[lead + 1] == k[lead + 1]
        && k[lead] == v[lead];
    if !fits {
        return Err(cx.bad_shapes(
            "queries [..., L, E], keys [..., S, E] and values [..., S, V] must have the same leading sizes",
        ));
    }
    let of = |last: [usize; 2]| -> Shape { q[..lead].iter().copied().chain(last).collect() };
    if cx.inputs.get(mask).is_some_and(|it| *it.shape() != of([q[lead], k[lead]])) {
        return Err(cx.bad_shapes("the mask must have the shape of the scores, [..., L, S]"));
    }
    Ok(of([q[lead], v[lead + 1]]))
}

/// Checks that all operands have the dtype of the first, but for those at `computed`, which have the dtype that it is computed in.
pub(super) fn check_dtypes(cx: &InferCx<'_>, computed: Option<usize>) -> Result<()> {
    let dtype = cx.dtype(0);
    let wanted = |at: usize| if Some(at) == computed { dtype.computed() } else { dtype };
    match cx.inputs.iter().enumerate().all(|(at, it)| it.dtype() == wanted(at)) {
        true => Ok(()),
        false => {
            let dtypes = cx.inputs.iter().map(Tensor::dtype).collect();
            Err(Error::DTypes { op: cx.op.name, dtypes })
        }
    }
}

/// What the scores mean, by the operands at these places: query, key and mask.
pub(super) fn meant(cx: &MeaningCx<'_>, [q, k, mask]: [usize; 3]) -> ArrayD<f64> {
    let (q, k, mask) = (cx.input(q).floats(), cx.input(k).floats(), cx.inputs.get(mask));
    let mask = mask.map(Array::floats);
    let lead = q.ndim() - 2;
    let [keys, width] = [0, 1].map(|it| k.shape()[lead + it]);
    by_index(&[&q.shape()[..=lead], &[keys]].concat(), |at| {
        let (query, key) = (&at[..=lead], at[lead + 1]);
        if cx.flag(1) && key > at[lead] {
            return f64::NEG_INFINITY;
        }
        let of = |it: usize| {
            q[&[query, &[it]].concat()[..]] * k[&[&at[..lead], &[key, it]].concat()[..]]
        };
        let product = (0..width).map(of).sum::<f64>() * cx.float(0);
        product + mask.as_ref().map_or(0.0, |it| it[at])
    })
}

/// The operands in the dtype that is computed in, and scores made of them by other ops.
pub(super) struct Terms {
    pub(super) q: Tensor,
    pub(super) k: Tensor,
    pub(super) v: Tensor,
    pub(super) scale: Tensor,
    mask: Option<Tensor>,
    causal: bool,
}

impl Terms {
    pub(super) fn of(
        [q, k, v]: [&Tensor; 3],
        mask: Option<&Tensor>,
        scale: f64,
        causal: bool,
    ) -> Result<Self> {
        let dtype = q.dtype().computed();
        let mask = mask.map(|it| to(it, dtype)).transpose()?;
        let [q, k, v] = [to(q, dtype)?, to(k, dtype)?, to(v, dtype)?];
        Ok(Self { q, k, v, scale: num(scale), mask, causal })
    }

    /// `(q * scale) k^T + mask`, minus infinity where a query does not see a key.
    pub(super) fn scores(&self) -> Result<Tensor> {
        let scaled = mul(&self.q, &self.scale)?;
        let mut scores = matmul(&scaled, &matrix_transpose(&self.k)?)?;
        if let Some(mask) = &self.mask {
            scores = add(&scores, mask)?;
        }
        match self.causal {
            true => select_where(&seen(&scores)?, &scores, &num(f64::NEG_INFINITY)),
            false => Ok(scores),
        }
    }

    /// `exp(scores - log_sums)`, 0 for queries that see nothing.
    pub(super) fn shares(&self, scores: &Tensor, log_sums: &Tensor) -> Result<Tensor> {
        let nothing = eq(log_sums, &num(f64::NEG_INFINITY))?;
        let shift = select_where(&nothing, &num(f64::INFINITY), log_sums)?;
        exp(&sub(scores, &unsqueeze(&shift, -1)?)?)
    }
}

/// Which keys come no later than the query, for scores `[..., L, S]`.
fn seen(scores: &Tensor) -> Result<Tensor> {
    let every = full(&Shape::new(&scores.shape()[scores.rank() - 2..]), 1.0, DType::Bool)?;
    apply_one(&ops::shape::tril::OP, &[every], &[Attr::Int(0)].into_iter().collect())
}
