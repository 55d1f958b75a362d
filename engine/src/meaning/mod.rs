//! What ops mean: their results by definition, in exact numbers and plain loops over indices.
//!
//! A row says its meaning beside its kernels and shares nothing with them: no layouts, no threads, no order of adding up. Elements
//! are [`Array`]s, floats as doubles. Nothing is rounded to a dtype here; who asks for a meaning does that.
//!
//! The oracle alone asks: without it (feature `oracle`, and in tests) rows forget the functions that they say here, and no code is made of them.

mod lines;
mod places;
mod scalar;
mod windows;

use std::ops::RangeInclusive;

use ndarray::{ArrayD, Dimension, IxDyn};

pub(crate) use lines::{along, best, in_order, is_before, lines_of, log_sum_exp, over, picked};
pub(crate) use places::{broadcast, slice_places};
pub(crate) use scalar::Scalar;
pub(crate) use windows::{Meeting, Windows};

use crate::Result;
use crate::attr::{Attr, Attrs, attr_readers};
use crate::dtype::{DType, Kind, Number};

/// The elements of a tensor: floats and the parts of complex numbers as doubles, whole numbers and bools (0 and 1) as 64-bit integers, which wrap.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    Float(ArrayD<f64>),
    Int(ArrayD<i64>),
    /// Real and imaginary parts.
    Complex(ArrayD<f64>, ArrayD<f64>),
}

/// What an op means.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// The scalar expression of its body, for each element.
    Expression,
    /// What the ops mean that it is composed of.
    Composed,
    /// Its result by definition, for operands that `infer` and `admits` take.
    Of(fn(&MeaningCx<'_>) -> Array),
    /// As `Of`, for ops of several results.
    Each(fn(&MeaningCx<'_>) -> Vec<Array>),
    /// As `Each`, where other results may mean the same, such as vectors that may be turned: the second function tells how far any results are
    /// from what defines them, as a share of what goes into that.
    Defined(fn(&MeaningCx<'_>) -> Vec<Array>, fn(&MeaningCx<'_>, &[Array]) -> f64),
    /// As `Each`, for ops that run graphs: the function given runs the one that an attribute is.
    Control(fn(&MeaningCx<'_>, RunRegion<'_>) -> Result<Vec<Array>>),
    /// Any array that could be drawn: the function tells whether one could.
    Drawn(fn(&MeaningCx<'_>, &Array) -> bool),
    /// Said in the row, and forgotten: this build has no oracle.
    Forgotten,
}

/// What rows say; each is the variant of its name where there is an oracle.
impl Meaning {
    pub const fn of(result: fn(&MeaningCx<'_>) -> Array) -> Self {
        Self::Of(result).or_forgotten()
    }

    pub const fn each(results: fn(&MeaningCx<'_>) -> Vec<Array>) -> Self {
        Self::Each(results).or_forgotten()
    }

    pub const fn defined(
        results: fn(&MeaningCx<'_>) -> Vec<Array>,
        far: fn(&MeaningCx<'_>, &[Array]) -> f64,
    ) -> Self {
        Self::Defined(results, far).or_forgotten()
    }

    pub const fn control(results: fn(&MeaningCx<'_>, RunRegion<'_>) -> Result<Vec<Array>>) -> Self {
        Self::Control(results).or_forgotten()
    }

    pub const fn drawn(could_be: fn(&MeaningCx<'_>, &Array) -> bool) -> Self {
        Self::Drawn(could_be).or_forgotten()
    }

    const fn or_forgotten(self) -> Self {
        if cfg!(any(test, feature = "oracle")) { self } else { Self::Forgotten }
    }
}

/// Gives what the graph means that attribute `idx` is.
pub type RunRegion<'a> = &'a dyn Fn(usize, &[Array]) -> Result<Vec<Array>>;

/// What a meaning sees.
pub struct MeaningCx<'a> {
    pub inputs: &'a [Array],
    pub attrs: &'a Attrs,
    /// Dtypes of the inputs.
    pub given: &'a [DType],
    /// Dtypes of the outputs.
    pub dtypes: &'a [DType],
}

attr_readers!(MeaningCx<'_>);

/// Runs `$body` on the elements of an array, whatever their kind; it gives an array of theirs. On complex numbers it is run for each part:
/// what moves elements or adds them does it with their parts.
macro_rules! of_kind {
    ($array:expr, $x:ident => $body:expr) => {
        match $array {
            $crate::meaning::Array::Float($x) => $crate::meaning::Array::from($body),
            $crate::meaning::Array::Int($x) => $crate::meaning::Array::from($body),
            $crate::meaning::Array::Complex(real, imag) => {
                let [real, imag] =
                    [real, imag].map(|$x| $crate::meaning::Array::from($body).floats());
                $crate::meaning::Array::Complex(real, imag)
            }
        }
    };
    ($array:expr, $other:expr, ($x:ident, $y:ident) => $body:expr) => {
        match ($array, $other) {
            ($crate::meaning::Array::Int($x), $crate::meaning::Array::Int($y)) => {
                $crate::meaning::Array::from($body)
            }
            ($crate::meaning::Array::Complex(a, b), $crate::meaning::Array::Complex(c, d)) => {
                let [real, imag] =
                    [(a, c), (b, d)].map(|($x, $y)| $crate::meaning::Array::from($body).floats());
                $crate::meaning::Array::Complex(real, imag)
            }
            (x, y) => {
                let ($x, $y) = (&x.floats(), &y.floats());
                $crate::meaning::Array::from($body)
            }
        }
    };
}
pub(crate) use of_kind;

impl From<ArrayD<f64>> for Array {
    fn from(elements: ArrayD<f64>) -> Self {
        Self::Float(elements)
    }
}

impl From<ArrayD<i64>> for Array {
    fn from(elements: ArrayD<i64>) -> Self {
        Self::Int(elements)
    }
}

impl From<ArrayD<bool>> for Array {
    fn from(elements: ArrayD<bool>) -> Self {
        Self::Int(elements.mapv(i64::from))
    }
}

impl Array {
    /// An array of `shape` with the element that `at` gives for each index, of the kind that `dtype` holds.
    pub fn from_fn(shape: &[usize], dtype: DType, at: impl Fn(&[usize]) -> Number) -> Self {
        match dtype.kind() {
            Kind::Complex => Self::Complex(
                by_index(shape, |it| at(it).as_f64()),
                by_index(shape, |it| at(it).imag()),
            ),
            Kind::Float => by_index(shape, |it| at(it).as_f64()).into(),
            Kind::Int | Kind::Bool => by_index(shape, |it| at(it).as_i64()).into(),
        }
    }

    /// Sizes.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Float(it) => it.shape(),
            Self::Int(it) => it.shape(),
            Self::Complex(it, _) => it.shape(),
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The elements as doubles, whole numbers as the nearest ones; of complex numbers the real parts.
    pub fn floats(&self) -> ArrayD<f64> {
        match self {
            Self::Float(it) | Self::Complex(it, _) => it.clone(),
            Self::Int(it) => it.mapv(|it| it as f64),
        }
    }

    /// Real and imaginary parts.
    pub fn parts(&self) -> [ArrayD<f64>; 2] {
        match self {
            Self::Complex(real, imag) => [real.clone(), imag.clone()],
            real => [real.floats(), ArrayD::zeros(real.shape())],
        }
    }

    /// The elements as integers, floats truncated.
    pub fn ints(&self) -> ArrayD<i64> {
        match self {
            Self::Float(it) | Self::Complex(it, _) => it.mapv(|it| it as i64),
            Self::Int(it) => it.clone(),
        }
    }

    /// Which elements count as true: all but 0.
    pub fn truths(&self) -> ArrayD<bool> {
        match self {
            Self::Float(it) => it.mapv(|it| it != 0.0),
            Self::Complex(real, imag) => {
                by_index(real.shape(), |at| real[at] != 0.0 || imag[at] != 0.0)
            }
            Self::Int(it) => it.mapv(|it| it != 0),
        }
    }

    /// The elements as those of a dtype, not rounded to it: in its kind, integers within its width.
    pub fn to(&self, dtype: DType) -> Self {
        match dtype.kind() {
            Kind::Bool => self.truths().into(),
            Kind::Int => self.ints().mapv(|it| dtype.wrapped(it)).into(),
            Kind::Float => self.floats().into(),
            Kind::Complex => {
                let [real, imag] = self.parts();
                Self::Complex(real, imag)
            }
        }
    }

    /// As [`to`](Self::to), floats rounded to the nearest that the dtype has.
    pub fn rounded(&self, dtype: DType) -> Self {
        match self.to(dtype) {
            Self::Float(it) => it.mapv(|it| dtype.nearest(it)).into(),
            Self::Complex(real, imag) => {
                let [real, imag] = [real, imag].map(|it| it.mapv(|it| dtype.nearest(it)));
                Self::Complex(real, imag)
            }
            ints => ints,
        }
    }

    /// The absolute values.
    pub fn abs(&self) -> Self {
        match self {
            Self::Float(it) => it.mapv(f64::abs).into(),
            Self::Int(it) => it.mapv(i64::wrapping_abs).into(),
            Self::Complex(real, imag) => {
                by_index(real.shape(), |at| real[at].hypot(imag[at])).into()
            }
        }
    }
}

impl MeaningCx<'_> {
    /// Operand `idx`.
    pub fn input(&self, idx: usize) -> &Array {
        &self.inputs[idx]
    }

    /// Sizes of operand `idx`.
    pub fn shape(&self, idx: usize) -> &[usize] {
        self.inputs[idx].shape()
    }

    /// The dimension that attribute `idx` names for an operand of `rank`; a scalar counts as a vector.
    pub fn dim(&self, idx: usize, rank: usize) -> usize {
        from_end(self.int(idx), rank.max(1))
    }

    /// The dimensions that attribute `idx` names, in order; all of them where it names none.
    pub fn dims(&self, idx: usize, rank: usize) -> Vec<usize> {
        let named = self.ints(idx).unwrap_or_default();
        let mut dims: Vec<usize> = match named.is_empty() {
            true => (0..rank).collect(),
            false => named.iter().map(|it| from_end(*it, rank.max(1))).collect(),
        };
        dims.retain(|it| *it < rank);
        dims.sort_unstable();
        dims
    }

    /// Attribute `idx` where an integer is given.
    pub fn opt_int(&self, idx: usize) -> Option<i64> {
        match self.attrs.get(idx) {
            Some(Attr::Int(it)) => Some(*it),
            _ => None,
        }
    }

    /// Attribute `idx` as a number; absent gives `default`.
    pub fn number(&self, idx: usize, default: Number) -> Number {
        match self.attrs.get(idx) {
            Some(Attr::Bool(it)) => Number::Bool(*it),
            Some(Attr::Int(it)) => Number::Int(*it),
            Some(Attr::Float(it)) => Number::Float(*it),
            Some(Attr::Complex(real, imag)) => Number::Complex(*real, *imag),
            _ => default,
        }
    }

    /// The word that attribute `idx` is; empty where it is none.
    pub fn word(&self, idx: usize) -> &str {
        match self.attrs.get(idx) {
            Some(Attr::Str(it)) => it,
            _ => "",
        }
    }

    /// Attribute `idx` as sizes.
    pub fn sizes(&self, idx: usize) -> Vec<usize> {
        self.ints(idx).unwrap_or_default().iter().map(|it| *it as usize).collect()
    }

    /// Attribute `idx` as (height, width): one number stands for both, an absent one is `default`.
    pub fn pair(&self, idx: usize, default: [usize; 2]) -> [usize; 2] {
        match self.sizes(idx)[..] {
            [] => default,
            [both] => [both, both],
            [height, width, ..] => [height, width],
        }
    }
}

/// An array of `shape` with what `at` gives for each index.
pub(crate) fn by_index<T>(shape: &[usize], at: impl Fn(&[usize]) -> T) -> ArrayD<T> {
    ArrayD::from_shape_fn(shape, |it| at(index(&it)))
}

fn index(at: &IxDyn) -> &[usize] {
    at.as_array_view().to_slice().unwrap_or_default()
}

/// A position among `size` that counts from the end where it is negative.
pub(crate) fn from_end(at: i64, size: usize) -> usize {
    (if at < 0 { at + size as i64 } else { at }) as usize
}

/// Whether an array that was drawn has this shape, and its elements lie in a range.
pub(crate) fn lies_in(drawn: &Array, shape: &[usize], range: RangeInclusive<f64>) -> bool {
    drawn.shape() == shape && drawn.floats().iter().all(|it| range.contains(it))
}
