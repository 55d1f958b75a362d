//! Sizes at which a template is compared with what the program does: those at which programs often do something else, such as 1, even
//! ones, and two sizes in another order. What depends on a size in another way (`N == 17`) is not found.

use super::{Graph, Template, listed, refused, text};
use crate::{Result, Tensor};

/// Below this, every size under the one that was seen is tried.
const SMALL: usize = 16;

/// All sizes at once: equal and even, rising, falling, large.
const TOGETHER: [[usize; super::MOST]; 4] =
    [[4, 4, 4], [6, 10, 14], [48, 24, 12], [4098, 4100, 4102]];

type Record<'a> = dyn FnMut(&[usize]) -> Result<Graph> + 'a;

/// What a program does at some sizes.
#[derive(PartialEq)]
enum Trial {
    Same,
    Other,
    /// It takes no inputs of these sizes.
    Fails,
}

impl Template {
    /// The lowest size of each dimension from which on the template is what the program does, the others being as `seen`; an error where
    /// it does something else at larger sizes. `weights` are the constants of its graph.
    pub fn lowest(
        &self,
        seen: &[usize],
        weights: &[Tensor],
        record: &mut Record<'_>,
    ) -> Result<Vec<usize>> {
        let mut lowest = Vec::with_capacity(seen.len());
        for dim in 0..seen.len() {
            let mut at = |size: usize| {
                let mut sizes = seen.to_vec();
                sizes[dim] = size;
                self.trial(&sizes, weights, record)
            };
            lowest.push(lowest_of(seen[dim], &mut at));
        }
        for sizes in TOGETHER {
            let sizes: Vec<usize> = sizes.iter().zip(&lowest).map(|it| *it.0.max(it.1)).collect();
            if self.trial(&sizes, weights, record) == Trial::Other {
                return Err(refused(&format!(
                    "at {} its ops are others than at most sizes",
                    listed(&self.names, &sizes)
                )));
            }
        }
        Ok(lowest)
    }

    fn trial(&self, sizes: &[usize], weights: &[Tensor], record: &mut Record<'_>) -> Trial {
        let Ok(graph) = record(sizes) else { return Trial::Fails };
        let here = text::constants(&graph);
        let known = here.len() == weights.len()
            && here.iter().zip(weights).all(|it| it.0.has_bits_of(it.1));
        let own = || self.graph(sizes, weights).map(|it| it.to_string());
        match known && own().is_ok_and(|it| it == graph.to_string()) {
            true => Trial::Same,
            false => Trial::Other,
        }
    }
}

/// The lowest size that gives the same, going down from `seen`, at which it does.
fn lowest_of(seen: usize, at: &mut dyn FnMut(usize) -> Trial) -> usize {
    // Between small sizes and the one that was seen, the border is looked for by halving.
    let mut same = seen;
    if seen > SMALL {
        let mut other = SMALL - 1;
        if at(other) == Trial::Same {
            same = other;
        } else {
            while same - other > 1 {
                let middle = other + (same - other) / 2;
                match at(middle) {
                    Trial::Same => same = middle,
                    Trial::Other | Trial::Fails => other = middle,
                }
            }
            return same;
        }
    }
    while same > 0 && at(same - 1) == Trial::Same {
        same -= 1;
    }
    same
}
