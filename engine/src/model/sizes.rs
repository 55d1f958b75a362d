//! Models that take inputs of any size along some dimensions: the batch, say.

use std::fmt;

use super::{Model, Port};
use crate::graph::sizes::{MOST, Template};
use crate::graph::text::constants;
use crate::{Error, Meta, Result, Tensor};

/// Dimensions of inputs that share one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnySize {
    /// What the size is called.
    pub name: String,
    /// Inputs, by number, and their dimensions.
    pub places: Vec<(usize, usize)>,
    /// The lowest size that the model takes.
    pub lowest: usize,
}

/// The graph of a model for all sizes, and where these come from.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    pub(super) template: Template,
    pub(super) any: Vec<AnySize>,
    /// What inputs and outputs are, in words.
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Sizes that no model has by chance, for names in what it gives.
const MARKS: [[usize; MOST]; 2] = [[211, 223, 227], [233, 239, 241]];

impl Model {
    /// Lets dimensions of inputs have any size. The template gives the graph of this model at the sizes that its inputs have now.
    pub fn with_any_sizes(mut self, template: Template, any: Vec<AnySize>) -> Result<Self> {
        let refuse = |problem: &str| Err(Error::Trace { problem: problem.into() });
        let ports = self.inputs();
        let meant = |&(input, dim): &(usize, usize)| {
            ports.get(input).is_some_and(|it| dim < it.meta.shape.rank())
        };
        let names = any.iter().map(|it| &it.name);
        if !names.eq(template.names()) || any.iter().any(|it| it.places.is_empty()) {
            return refuse("each dimension of any size needs a name and a place");
        }
        if !any.iter().all(|it| it.places.iter().all(meant)) {
            return refuse("a dimension of any size is one that an input has");
        }
        let metas: Vec<Meta> = ports.into_iter().map(|it| it.meta).collect();
        let (seen, weights) = (bound(&any, &metas)?, constants(&self.graph));
        if template.graph(&seen, &weights)?.to_string() != self.graph.to_string() {
            return refuse("the graph for any sizes is not that of the model");
        }
        let marks = MARKS.map(|marks| -> Vec<usize> {
            marks.iter().zip(&any).map(|it| mark(*it.0, it.1.lowest)).collect()
        });
        let [first, second] =
            [template.graph(&marks[0], &weights)?, template.graph(&marks[1], &weights)?];
        let kind = |[a, b]: [&Meta; 2]| {
            let sizes = a.shape.iter().zip(b.shape.iter());
            let sizes: Vec<String> =
                sizes.map(|it| in_words([*it.0, *it.1], &marks, &any)).collect();
            format!("{}[{}]", a.dtype.short(), sizes.join(", "))
        };
        let both = first.inputs().iter().zip(second.inputs());
        let inputs = both
            .map(|(a, b)| kind([&first.node(*a).metas[0], &second.node(*b).metas[0]]))
            .collect();
        let both = first.outputs.iter().zip(&second.outputs);
        let outputs = both.map(|(a, b)| kind([first.meta(*a), second.meta(*b)])).collect();
        self.sizes = Some(Sizes { template, any, inputs, outputs });
        Ok(self)
    }

    /// The dimensions of any size.
    pub fn any_sizes(&self) -> &[AnySize] {
        self.sizes.as_ref().map_or(&[], |it| &it.any)
    }

    /// The sizes that these inputs give to the dimensions of any size; an error where two disagree.
    pub(super) fn sizes_of(&self, inputs: &[Tensor]) -> Result<Vec<usize>> {
        let metas: Vec<Meta> = inputs.iter().map(Tensor::meta).collect();
        bound(self.any_sizes(), &metas).map_err(|error| match error {
            Error::Trace { problem } => Error::Trace { problem: self.with_names(&problem) },
            other => other,
        })
    }

    fn with_names(&self, problem: &str) -> String {
        let names: Vec<String> = self.inputs().into_iter().map(|it| it.name).collect();
        format!("{problem}; the inputs are {}", names.join(", "))
    }

    pub(super) fn words(&self, is_input: bool, at: usize) -> Option<String> {
        let sizes = self.sizes.as_ref()?;
        let words = if is_input { &sizes.inputs } else { &sizes.outputs };
        words.get(at).cloned()
    }
}

/// A mark that the model takes.
fn mark(mark: usize, lowest: usize) -> usize {
    if mark >= lowest { mark } else { lowest.saturating_add(mark) }
}

/// A size in words, by what it is at two marks: `4*N`, `N*T`, `N-1`, `2*N+3`; `?` for other formulas.
fn in_words([a, b]: [usize; 2], marks: &[Vec<usize>; 2], any: &[AnySize]) -> String {
    if a == b {
        return a.to_string();
    }
    let (mut rests, mut words) = ([a, b], Vec::new());
    for (dim, any) in any.iter().enumerate() {
        let [m, n] = [marks[0][dim], marks[1][dim]];
        if rests[0].is_multiple_of(m) && rests[1].is_multiple_of(n) {
            rests = [rests[0] / m, rests[1] / n];
            words.push(any.name.clone());
        }
    }
    if rests[0] == rests[1] {
        let factor = (rests[0] != 1).then(|| rests[0].to_string());
        return factor.into_iter().chain(words).collect::<Vec<_>>().join("*");
    }
    let linear = any.iter().enumerate().find_map(|(dim, any)| {
        let [m, n, a, b] = [marks[0][dim], marks[1][dim], a, b].map(|it| it as i128);
        let factor = (a - b).checked_div(m - n)?;
        let rest = a - factor.checked_mul(m)?;
        let is_it = factor > 0 && b - rest == factor.checked_mul(n)?;
        let factor = if factor == 1 { String::new() } else { format!("{factor}*") };
        is_it.then(|| format!("{factor}{}{rest:+}", any.name))
    });
    linear.unwrap_or_else(|| "?".into())
}

fn bound(any: &[AnySize], metas: &[Meta]) -> Result<Vec<usize>> {
    let one = |it: &AnySize| {
        let mut sizes = it
            .places
            .iter()
            .filter_map(|&(input, dim)| Some((input, *metas.get(input)?.shape.get(dim)?)));
        let first = sizes.next().ok_or_else(|| Error::Trace {
            problem: format!("no input has the dimension {}", it.name),
        })?;
        if first.1 < it.lowest {
            return Err(Error::Trace {
                problem: format!(
                    "{} is {} in input {}, and this model takes it from {} on: below, the function does something else",
                    it.name, first.1, first.0, it.lowest
                ),
            });
        }
        match sizes.find(|other| other.1 != first.1) {
            None => Ok(first.1),
            Some(other) => Err(Error::Trace {
                problem: format!(
                    "{} is {} in input {} and {} in input {}",
                    it.name, first.1, first.0, other.1, other.0
                ),
            }),
        }
    };
    any.iter().map(one).collect()
}

impl Port {
    /// Whether it takes tensors of this kind: dimensions of any size are left out of the comparison.
    pub fn takes(&self, meta: &Meta) -> bool {
        let is_free = |dim: usize| self.free.contains(&dim);
        meta.dtype == self.meta.dtype && self.takes_shape(&meta.shape, is_free)
    }

    /// The same for a shape alone.
    pub fn takes_sizes(&self, sizes: &[usize]) -> bool {
        self.takes_shape(sizes, |dim| self.free.contains(&dim))
    }

    fn takes_shape(&self, sizes: &[usize], is_free: impl Fn(usize) -> bool) -> bool {
        let fits = |(dim, (a, b)): (usize, (&usize, &usize))| a == b || is_free(dim);
        sizes.len() == self.meta.shape.rank()
            && sizes.iter().zip(self.meta.shape.iter()).enumerate().all(fits)
    }
}

/// `f32[N, 784]`.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.words {
            Some(words) => f.write_str(words),
            None => write!(f, "{}", self.meta),
        }
    }
}
