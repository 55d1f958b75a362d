//! From values of the language to artifacts: which facts and elements are shown.

use std::cmp::Reverse;

use engine::dtype::Kind;
use engine::{DType, Tensor, autograd, functional};
use frontend_lang::builtins::modules::pyplot::Figure;
use frontend_lang::objects::shown::Shown;
use frontend_lang::value::Value;

use crate::artifact::{Artifact, Foreign, TensorCell, TensorView, shown_indices};

/// What a value shows; `text` is its `repr`.
pub fn artifact_of(value: &Value, text: &str) -> Artifact {
    if let Some(shown) = value.downcast::<Shown>() {
        return match shown.clone() {
            Shown::Figure(it) => Artifact::Figure(it),
            Shown::Images(it) => Artifact::Images(it),
            Shown::Table(it) => Artifact::Table(it),
            Shown::Progress(it) => Artifact::Progress(it),
            Shown::Html(it) => Artifact::Html(it),
            Shown::Markdown(it) => Artifact::Markdown(it),
            Shown::Foreign(it) => Artifact::Foreign(Foreign { text: text.into(), ..it }),
        };
    }
    if let Some(figure) = value.downcast::<Figure>() {
        return Artifact::Figure(figure.shown());
    }
    match value.as_tensor() {
        Some(it) => tensor(&it.get(), text).unwrap_or_else(|| Artifact::Text(text.into())),
        None => Artifact::Text(text.into()),
    }
}

/// A summary of a tensor; `None` when its elements cannot be read. Of those only the ones that are shown are looked at.
pub fn tensor(tensor: &Tensor, text: &str) -> Option<Artifact> {
    let shown = shown_indices(tensor.shape());
    let elements = Elements::read(&picked(tensor, &shown).ok()?)?;
    let mut places = 0..elements.values.len();
    let mut cell = |_: &[usize]| elements.cell(places.next().unwrap_or_default());
    let (dtype, device) = (tensor.dtype().name(), tensor.device().to_string());
    let mut view = TensorView::summarise(tensor.shape(), dtype, device, &mut cell);
    view.repr = text.into();
    view.requires_grad = tensor.requires_grad();
    view.range = elements.range();
    Some(Artifact::Tensor(view))
}

/// The elements at these indices of each axis. The longest axes are cut first, so that little is copied.
fn picked(tensor: &Tensor, shown: &[Vec<usize>]) -> engine::Result<Tensor> {
    let mut axes: Vec<usize> = (0..shown.len()).collect();
    axes.sort_by_key(|&axis| Reverse(tensor.shape()[axis]));
    let cut = |part: Tensor, axis: usize| {
        if shown[axis].len() == part.shape()[axis] {
            return Ok(part);
        }
        let runs = shown[axis].chunk_by(|a, b| a + 1 == *b);
        let slice = |run: &[usize]| {
            functional::slice(&part, axis as i64, run[0] as i64, (run[0] + run.len()) as i64, 1)
        };
        let runs = runs.map(slice).collect::<engine::Result<Vec<_>>>()?;
        functional::cat(&runs, axis as i64)
    };
    autograd::no_grad(|| axes.into_iter().try_fold(tensor.detach(), cut))
}

/// The elements of a tensor, one after the other.
struct Elements {
    dtype: DType,
    values: Vec<f64>,
    /// Exact, for integers.
    ints: Vec<i64>,
    digits: Digits,
}

/// How floats are written.
#[derive(Clone, Copy)]
enum Digits {
    Fixed,
    Scientific,
}

impl Elements {
    fn read(tensor: &Tensor) -> Option<Self> {
        let values = tensor.to_f64_vec().ok()?;
        let ints = if tensor.dtype().is_int() { tensor.to_i64_vec().ok()? } else { Vec::new() };
        let magnitudes = values.iter().map(|it| it.abs()).filter(|it| it.is_finite() && *it > 0.0);
        let high = magnitudes.clone().fold(0.0, f64::max);
        let low = magnitudes.fold(f64::INFINITY, f64::min);
        let wide = high >= 1e5 || (low < 1e-4 && high < 1e-2);
        let digits = if wide { Digits::Scientific } else { Digits::Fixed };
        Some(Self { dtype: tensor.dtype(), values, ints, digits })
    }

    fn cell(&self, at: usize) -> TensorCell {
        let value = self.values[at];
        let text = match self.dtype.kind() {
            Kind::Bool => if value != 0.0 { "True" } else { "False" }.into(),
            Kind::Int => self.ints[at].to_string(),
            Kind::Complex => format!("{value:.0}"),
            Kind::Float => self.float(value),
        };
        TensorCell { text, value }
    }

    fn float(&self, value: f64) -> String {
        if value.is_nan() {
            return "nan".into();
        }
        if value.is_infinite() {
            return if value > 0.0 { "inf" } else { "-inf" }.into();
        }
        match self.digits {
            Digits::Fixed => format!("{value:.4}"),
            Digits::Scientific => format!("{value:.3e}"),
        }
    }

    fn range(&self) -> Option<(f64, f64)> {
        let finite = self.values.iter().copied().filter(|it| it.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        (low < high && self.dtype != DType::Bool).then_some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use engine::Shape;
    use engine::cpu::memory::HOST;

    use super::*;

    #[test]
    fn shows_the_ends_of_each_axis() {
        let shape = [40, 3, 50];
        let values: Vec<i64> = (0..6000).collect();
        let whole = Tensor::from_vec(&values, Shape::new(&shape)).unwrap();
        // As it lies, and turned.
        for turned in [false, true] {
            let shown = match turned {
                false => whole.clone(),
                true => functional::transpose(&whole, 0, 2).unwrap(),
            };
            let Some(Artifact::Tensor(view)) = tensor(&shown, "") else { panic!("no tensor") };
            assert!(view.is_summary());
            let all = shown.to_vec::<i64>().unwrap();
            let (mut at, sizes) = (0, shown.shape());
            for &i in &view.shown[0] {
                for &j in &view.shown[1] {
                    for &k in &view.shown[2] {
                        let expected = all[(i * sizes[1] + j) * sizes[2] + k];
                        assert_eq!(view.cells[at].text, expected.to_string());
                        at += 1;
                    }
                }
            }
            assert_eq!(view.cells.len(), at);
        }
    }

    #[test]
    fn copies_little_of_a_large_tensor() {
        let large = functional::full(&Shape::new(&[3000, 2000]), 1.5, DType::F32).unwrap();
        let before = HOST.stats().live;
        HOST.reset_peak();
        assert!(tensor(&large, "").is_some());
        assert!(HOST.stats().peak < before + (8 << 20), "{:?}", HOST.stats());
    }
}
