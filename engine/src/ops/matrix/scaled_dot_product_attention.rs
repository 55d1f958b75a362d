//! `scaled_dot_product_attention`: values averaged for each query, by the softmax of its scaled products with the keys.

use smallvec::smallvec;

use crate::functional::{expand, full, reshape, select_where, to, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface,
};
use crate::{Attr, DType, Error, OpDef, Outputs, Result, Shape, Tensor, apply, rules};

pub static OP: OpDef = OpDef {
    name: "scaled_dot_product_attention",
    doc: "`softmax(query @ key.mT * scale + attn_mask) @ value`; the scale is 1 / sqrt(width of a query) unless given. A bool mask says what may be looked at, with `is_causal` query i looks at the first i + 1 keys; queries that may look at nothing get 0. With `enable_gqa` groups of heads of the query share a head of key and value.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("query"),
        Param::tensor("key"),
        Param::tensor("value"),
        Param::with("attn_mask", ParamKind::OptTensor, Default::None),
        Param::with("is_causal", ParamKind::Bool, Default::Bool(false)),
        Param::with("scale", ParamKind::OptFloat, Default::None),
        Param::with("enable_gqa", ParamKind::Bool, Default::Bool(false)),
    ],
    // The row that computes it takes halves as they are; the body checks dtypes.
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "queries [..., L, E], keys [..., S, E], values [..., S, V], leading sizes and a mask [..., L, S] are broadcast: [..., L, V]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "scaled_dot_product_attention(tensor([[1.0, 0.0]]), tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([[1.0], [2.0]]), scale=1.0)",
            "tensor([[1.2689]])",
        ),
        (
            "scaled_dot_product_attention(ones(2, 1), ones(2, 1), tensor([[1.0], [3.0]]), is_causal=True)",
            "tensor([[1.],\n        [2.]])",
        ),
        (
            "scaled_dot_product_attention(ones(2, 4), ones(2, 4), tensor([[1.0], [3.0]]), tensor([[False, True], [False, False]]))",
            "tensor([[3.],\n        [0.]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let given = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    check(cx, &given)?;
    let heads = Heads::of(cx, &given)?;
    let [q, k, v] = given;
    let lead = |it: &Tensor| Shape::new(&it.shape()[..it.rank() - 2]);
    let [k, v] = [heads.shared(k)?, heads.shared(v)?];
    let q = heads.split(q)?;
    let refused = || refused(cx, "leading sizes must be broadcast, and the other sizes must fit");
    let batch = lead(&q).broadcast(&lead(&k)).and_then(|it| it.broadcast(&lead(&v)));
    let batch = batch.ok_or_else(refused)?;
    let of = |it: &Tensor| -> Result<Tensor> {
        let last = &it.shape()[it.rank() - 2..];
        expand(it, &batch.iter().chain(last).copied().collect())
    };
    let (q, k, v) = (of(&q)?, of(&k)?, of(&v)?);
    let mask = cx.opt_input(3).map(|it| mask_of(cx, it, [&q, &k], &heads)).transpose()?;
    let width = q.shape()[q.rank() - 1] as f64;
    let scale = match cx.attrs.get(1) {
        Some(Attr::Float(scale)) => *scale,
        _ => 1.0 / width.sqrt(),
    };
    let inputs: Vec<Tensor> = [q, k, v].into_iter().chain(mask).collect();
    let attrs = smallvec![Attr::Float(scale), Attr::Bool(cx.flag(0))];
    let out = apply(&super::native_attention::OP, &inputs, &attrs)?.swap_remove(0);
    Ok(smallvec![heads.joined(&out)?])
}

fn refused(cx: &ComposedCx<'_>, rule: &str) -> Error {
    let shapes = cx.inputs.iter().flatten().map(|it| it.shape().clone()).collect();
    Error::Shapes { op: cx.op.name, shapes, rule: rule.into() }
}

fn check(cx: &ComposedCx<'_>, given: &[&Tensor; 3]) -> Result<()> {
    let dtypes: Vec<DType> = given.iter().map(|it| it.dtype()).collect();
    if dtypes.iter().any(|it| *it != dtypes[0]) {
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    if !dtypes[0].is_float() {
        return Err(Error::DType { op: cx.op.name, dtype: dtypes[0], allowed: "floats" });
    }
    if given.iter().any(|it| it.rank() < 2) {
        return Err(refused(cx, "query, key and value need two dimensions at least"));
    }
    let size = |it: &Tensor, from_end: usize| it.shape()[it.rank() - from_end];
    let [q, k, v] = *given;
    if size(q, 1) != size(k, 1) {
        return Err(refused(cx, "queries [..., L, E] and keys [..., S, E] must be equally wide"));
    }
    if size(k, 2) != size(v, 2) {
        return Err(refused(cx, "there must be as many values [..., S, V] as keys [..., S, E]"));
    }
    if cx.flag(0) && cx.opt_input(3).is_some() {
        let problem = "goes without attn_mask: put the triangle into the mask".into();
        return Err(Error::Attr { op: cx.op.name, name: "is_causal", problem });
    }
    Ok(())
}

/// The mask as numbers of the shape of the scores: minus infinity where a bool one forbids.
fn mask_of(
    cx: &ComposedCx<'_>,
    mask: &Tensor,
    [q, k]: [&Tensor; 2],
    heads: &Heads,
) -> Result<Tensor> {
    let dtype = q.dtype();
    let own = mask.dtype();
    let mask = match (own.is_bool(), own == dtype || own == DType::F32) {
        (true, _) => {
            let [open, shut] =
                [0.0, f64::NEG_INFINITY].map(|it| full(&Shape::default(), it, dtype));
            select_where(mask, &open?, &shut?)?
        }
        (false, true) => to(mask, dtype)?,
        (false, false) => {
            let allowed = "a mask of bools, of float32, or of the dtype of the query";
            return Err(Error::DType { op: cx.op.name, dtype: own, allowed });
        }
    };
    let mask = heads.split(&mask)?;
    let (lead, keys) = (&q.shape()[..q.rank() - 1], k.shape()[k.rank() - 2]);
    let shape: Shape = lead.iter().copied().chain([keys]).collect();
    match mask.shape().broadcast(&shape) {
        Some(it) if it == shape => expand(&mask, &shape),
        _ => Err(refused(cx, "the mask must be broadcast to the scores, [..., L, S]")),
    }
}

/// How heads of queries share those of keys and values.
struct Heads {
    /// Heads of keys, and of queries for each of them.
    groups: Option<[usize; 2]>,
}

impl Heads {
    fn of(cx: &ComposedCx<'_>, given: &[&Tensor; 3]) -> Result<Self> {
        let refused = || {
            refused(
                cx,
                "there must be a whole number of heads of query for each head of key and value",
            )
        };
        let heads = |it: &Tensor| it.rank().checked_sub(3).map(|at| it.shape()[at]);
        if !cx.flag(2) || heads(given[0]) == heads(given[1]) {
            return Ok(Self { groups: None });
        }
        let [Some(q), Some(k), Some(v)] = given.map(heads) else { return Err(refused()) };
        if k != v || k == 0 || q % k != 0 {
            return Err(refused());
        }
        Ok(Self { groups: Some([k, q / k]) })
    }

    /// A dimension of 1 for the queries that share a head.
    fn shared(&self, x: &Tensor) -> Result<Tensor> {
        if self.groups.is_some() { unsqueeze(x, -3) } else { Ok(x.clone()) }
    }

    /// The heads of queries as two dimensions.
    fn split(&self, x: &Tensor) -> Result<Tensor> {
        let (Some([k, shared]), Some(at)) = (self.groups, x.rank().checked_sub(3)) else {
            return Ok(x.clone());
        };
        if x.shape()[at] != k * shared {
            return unsqueeze(x, -3);
        }
        let (before, after) = (&x.shape()[..at], &x.shape()[at + 1..]);
        reshape(x, &before.iter().chain(&[k, shared]).chain(after).copied().collect())
    }

    /// The two dimensions as one again.
    fn joined(&self, x: &Tensor) -> Result<Tensor> {
        let Some([k, shared]) = self.groups else { return Ok(x.clone()) };
        let at = x.rank() - 4;
        let (before, after) = (&x.shape()[..at], &x.shape()[at + 2..]);
        reshape(x, &before.iter().chain(&[k * shared]).chain(after).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let of = |sizes: &[usize]| full(&Shape::new(sizes), 0.0, DType::F32).unwrap();
        let error = |k: &[usize], v: &[usize]| {
            let inputs = [of(&[2, 4, 8]), of(k), of(v)];
            apply(&OP, &inputs, &OP.default_attrs()).unwrap_err().to_string()
        };
        assert!(error(&[2, 4, 7], &[2, 4, 8]).contains("equally wide"));
        assert!(error(&[2, 3, 8], &[2, 4, 8]).contains("as many values"));
        assert!(error(&[3, 4, 8], &[2, 4, 8]).contains("leading sizes"));
    }
}
