//! From values of the language to artifacts: which facts and elements are shown.

use engine::{DType, Tensor};
use frontend_lang::builtins::modules::pyplot::Figure;
use frontend_lang::objects::shown::Shown;
use frontend_lang::value::Value;

use crate::artifact::{Artifact, Foreign, TensorCell, TensorView};

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

/// A summary of a tensor; `None` when its elements cannot be read.
pub fn tensor(tensor: &Tensor, text: &str) -> Option<Artifact> {
    let elements = Elements::read(tensor)?;
    let dtype = tensor.dtype().name();
    let mut cell = |at: &[usize]| elements.cell(at);
    let mut view =
        TensorView::summarise(tensor.shape(), dtype, tensor.device().to_string(), &mut cell);
    view.repr = text.into();
    view.requires_grad = tensor.requires_grad();
    view.range = elements.range();
    Some(Artifact::Tensor(view))
}

/// The elements of a tensor, to be asked for by index.
struct Elements<'a> {
    tensor: &'a Tensor,
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

impl<'a> Elements<'a> {
    fn read(tensor: &'a Tensor) -> Option<Self> {
        let values = tensor.to_f64_vec().ok()?;
        let ints = match tensor.dtype() {
            DType::I64 => tensor.to_vec::<i64>().ok()?,
            _ => Vec::new(),
        };
        let magnitudes = values.iter().map(|it| it.abs()).filter(|it| it.is_finite() && *it > 0.0);
        let high = magnitudes.clone().fold(0.0, f64::max);
        let low = magnitudes.fold(f64::INFINITY, f64::min);
        let wide = high >= 1e5 || (low < 1e-4 && high < 1e-2);
        let digits = if wide { Digits::Scientific } else { Digits::Fixed };
        Some(Self { tensor, values, ints, digits })
    }

    fn cell(&self, at: &[usize]) -> TensorCell {
        let flat =
            at.iter().zip(self.tensor.shape().iter()).fold(0, |sum, (idx, size)| sum * size + idx);
        let value = self.values[flat];
        let text = match self.tensor.dtype() {
            DType::Bool => if value != 0.0 { "True" } else { "False" }.into(),
            DType::I64 => self.ints[flat].to_string(),
            dtype if !dtype.is_float() => format!("{value:.0}"),
            _ => self.float(value),
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
        (low < high && self.tensor.dtype() != DType::Bool).then_some((low, high))
    }
}
