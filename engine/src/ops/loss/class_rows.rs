//! Scores and target classes of a loss as rows: `[n, classes]` and `[n]`.

use smallvec::smallvec;

use super::Reduction;
use crate::functional::{div, expand, mul, ne, permute, reshape, sum, to};
use crate::op::InferCx;
use crate::{Attr, DType, Error, Outputs, Result, Shape, Tensor, apply_one};

/// Classes are int64, or uint8 where there is one for each row of a matrix; shares are floats.
pub(super) fn refuse_narrow(cx: &InferCx<'_>) -> Result<()> {
    let (op, dtype) = (cx.op.name, cx.dtype(1));
    let is_plain = cx.shape(0).rank() < 3;
    let fits = dtype == DType::I64 || dtype == DType::U8 && is_plain || !dtype.is_int();
    let allowed = match is_plain {
        true => "int64 or uint8 classes: write target.long()",
        false => "int64 classes: write target.long()",
    };
    if fits { Ok(()) } else { Err(Error::DType { op, dtype, allowed }) }
}

/// Scores and classes, one row per element of the target.
pub(crate) struct Rows {
    op: &'static str,
    pub(crate) scores: Tensor,
    pub(crate) target: Tensor,
}

impl Rows {
    /// From scores `[n, classes, ...]` and targets `[n, ...]`, or `[classes]` and a single target.
    pub(crate) fn new(op: &'static str, scores: &Tensor, target: &Tensor) -> Result<Self> {
        let refuse = |rule: &str| {
            let shapes = vec![scores.shape().clone(), target.shape().clone()];
            Error::Unequal { op, shapes, rule: rule.into() }
        };
        if !target.dtype().is_int() {
            let allowed = "int64 classes, or probabilities of the shape of the scores";
            return Err(Error::DType { op, dtype: target.dtype(), allowed });
        }
        let (rank, shape) = (scores.rank(), scores.shape());
        let class_dim = usize::from(rank > 1);
        let Some(&n_classes) = shape.get(class_dim) else {
            return Err(refuse("scores need a dimension of classes"));
        };
        let others: Shape = (0..rank).filter(|&it| it != class_dim).map(|it| shape[it]).collect();
        if &others != target.shape() {
            return Err(refuse(
                "the target must have the shape of the scores without their classes",
            ));
        }
        let flat = Shape::from([others.numel()]);
        let scores = if rank > 2 {
            let order: Vec<i64> =
                (0..rank).filter(|&it| it != 1).chain([1]).map(|it| it as i64).collect();
            permute(scores, &order)?
        } else {
            scores.clone()
        };
        let scores = reshape(&scores, &Shape::from([others.numel(), n_classes]))?;
        Ok(Self { op, scores, target: reshape(target, &flat)? })
    }

    /// What rows of numbers hold at the target class of each; 0 for ignored rows.
    pub(crate) fn picked(&self, from: &Tensor, ignored: i64) -> Result<Tensor> {
        let inputs = [from.clone(), self.target.clone()];
        apply_one(&super::pick_class::OP, &inputs, &smallvec![Attr::Int(ignored)])
    }

    fn kept(&self, ignored: i64) -> Result<Tensor> {
        ne(&self.target, &Tensor::int_number(ignored))
    }

    /// Weight of each row: that of its class, 0 for ignored rows.
    fn weights(&self, weight: Option<&Tensor>, ignored: i64) -> Result<Tensor> {
        match weight {
            Some(weight) if weight.shape()[..] != self.scores.shape()[1..] => Err(Error::Shapes {
                op: self.op,
                shapes: vec![self.scores.shape().clone(), weight.shape().clone()],
                rule: format!(
                    "the weight needs one number for each of {} classes",
                    self.scores.shape()[1]
                ),
            }),
            Some(weight) if weight.dtype() != self.scores.dtype() => Err(Error::DTypes {
                op: self.op,
                dtypes: vec![self.scores.dtype(), weight.dtype()],
            }),
            Some(weight) => self.picked(&expand(weight, self.scores.shape())?, ignored),
            None => to(&self.kept(ignored)?, self.scores.dtype()),
        }
    }

    /// Losses of rows, weighted and reduced; a mean divides by the sum of the weights.
    pub(crate) fn finish(
        &self,
        losses: Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
        how: Reduction,
        target: &Tensor,
    ) -> Result<Outputs> {
        let weights = self.weights(weight, ignored)?;
        let losses = mul(&losses, &weights)?;
        Ok(smallvec![total(&losses, &weights, how, target)?])
    }

    /// As `finish`, for losses that hold the class weights already.
    pub(crate) fn finish_smooth(
        &self,
        losses: Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
        how: Reduction,
        target: &Tensor,
    ) -> Result<Tensor> {
        let losses = mul(&losses, &to(&self.kept(ignored)?, self.scores.dtype())?)?;
        total(&losses, &self.weights(weight, ignored)?, how, target)
    }
}

fn total(losses: &Tensor, weights: &Tensor, how: Reduction, target: &Tensor) -> Result<Tensor> {
    match how {
        Reduction::None => reshape(losses, target.shape()),
        Reduction::Sum => sum(losses, &[], false),
        Reduction::Mean => div(&sum(losses, &[], false)?, &sum(weights, &[], false)?),
    }
}
