//! Boxes in images.

use super::super::args::Cx;
use super::super::calls::{of_ints, reshape};
use super::{Operator, one};
use crate::functional::to;
use crate::{DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[one("NonMaxSuppression", non_max_suppression)];

/// Opposite corners.
struct Area {
    low: [f64; 2],
    high: [f64; 2],
}

impl Area {
    fn of(given: &[f64], by_center: bool) -> Self {
        let [a, b, c, d] = [given[0], given[1], given[2], given[3]];
        match by_center {
            true => Self { low: [a - c / 2.0, b - d / 2.0], high: [a + c / 2.0, b + d / 2.0] },
            false => Self { low: [a.min(c), b.min(d)], high: [a.max(c), b.max(d)] },
        }
    }

    fn size(&self) -> f64 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// The common part as a share of the whole.
    fn overlap(&self, other: &Self) -> f64 {
        let side = |at: usize| self.high[at].min(other.high[at]) - self.low[at].max(other.low[at]);
        let (width, height) = (side(0), side(1));
        if width <= 0.0 || height <= 0.0 || self.size() <= 0.0 || other.size() <= 0.0 {
            return 0.0;
        }
        let common = width * height;
        common / (self.size() + other.size() - common)
    }
}

/// The places `[batch, class, box]` of boxes of high scores that overlap little with each other.
fn non_max_suppression(cx: &Cx<'_>) -> Result<Tensor> {
    let (boxes, scores) = (cx.input(0)?, cx.input(1)?);
    let fits = boxes.rank() == 3 && scores.rank() == 3 && boxes.shape()[2] == 4;
    if !fits || boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2] {
        return Err(cx.bad(format!("scores {} are not for {}", scores.shape(), boxes.shape())));
    }
    let (n_classes, n_boxes) = (scores.shape()[1], scores.shape()[2]);
    let most = cx.int_at(2)?.unwrap_or(0).max(0) as usize;
    let allowed = cx.float_at(3)?.unwrap_or(0.0);
    let lowest = cx.float_at(4)?;
    let areas: Vec<Area> = to(boxes, DType::F64)?
        .to_vec::<f64>()?
        .chunks_exact(4)
        .map(|it| Area::of(it, cx.flag("center_point_box")))
        .collect();
    let scores: Vec<f64> = to(scores, DType::F64)?.to_vec()?;
    let mut chosen = Vec::new();
    for (line, scores) in scores.chunks_exact(n_boxes.max(1)).enumerate() {
        let (batch, class) = (line / n_classes, line % n_classes);
        let areas = &areas[batch * n_boxes..][..n_boxes];
        let mut order: Vec<usize> =
            (0..n_boxes).filter(|&at| lowest.is_none_or(|it| scores[at] > it)).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut kept: Vec<usize> = Vec::new();
        for at in order {
            if kept.len() == most {
                break;
            }
            if kept.iter().all(|&it| areas[at].overlap(&areas[it]) <= allowed) {
                kept.push(at);
                chosen.extend([batch as i64, class as i64, at as i64]);
            }
        }
    }
    reshape(&of_ints(&chosen)?, &[chosen.len() / 3, 3])
}
