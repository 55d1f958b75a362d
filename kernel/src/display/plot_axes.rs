//! One axis of a plot: which part of the numbers it shows, in which unit, and how it names them.
//!
//! Values are divided by a unit, so that the drawing library always sees spans near one.

use std::ops::Range;

use magics::artifact::Scale;

/// A piece of the number line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Ends in drawn units, ascending and apart.
    pub(crate) low: f64,
    pub(crate) high: f64,
    unit: f64,
    log: bool,
    /// Whether it runs from right to left, or downwards.
    flipped: bool,
}

/// Numbers beyond this are treated as infinite, so that differences stay finite.
const FAR: f64 = 1e300;

impl Axis {
    /// An axis for all values that can be drawn, or for the fixed ends.
    pub(crate) fn new(
        values: impl Iterator<Item = f64>,
        fixed: Option<(f64, f64)>,
        scale: &Scale,
    ) -> Self {
        let (log, flipped) = (scale.log, scale.flipped);
        let plain = Self { low: 0.0, high: 1.0, unit: 1.0, log, flipped };
        let fixed = fixed.and_then(|(low, high)| Some((plain.place(low)?, plain.place(high)?)));
        let seen = values.filter_map(|value| plain.place(value)).fold(
            None,
            |seen: Option<(f64, f64)>, it| {
                Some(seen.map_or((it, it), |(low, high)| (low.min(it), high.max(it))))
            },
        );
        let padded = seen.map(|(low, high)| {
            let pad = 0.04 * (high - low);
            (low - pad, high + pad)
        });
        let (low, high) = fixed.or(padded).unwrap_or((0.0, 1.0));
        let (low, high) = widen(low.min(high), low.max(high));
        let span = high - low;
        let unit = if (1e-4..1e9).contains(&span) { 1.0 } else { 10f64.powf(span.log10().floor()) };
        Self { low: low / unit, high: high / unit, unit, log, flipped }
    }

    /// From left to right, or from bottom to top.
    pub(crate) fn ends(&self) -> Range<f64> {
        if self.flipped { self.high..self.low } else { self.low..self.high }
    }

    /// How much it spans: of values, or of powers of ten.
    pub(crate) fn length(&self) -> f64 {
        (self.high - self.low) * self.unit
    }

    /// The same axis with the same middle, of another length if that is greater.
    pub(crate) fn widened(self, length: f64) -> Self {
        let more = (length / self.unit - (self.high - self.low)) / 2.0;
        if !(more > 0.0 && more.is_finite()) || self.log {
            return self;
        }
        Self { low: self.low - more, high: self.high + more, ..self }
    }

    /// The place that so large a part of the way leads to.
    pub(crate) fn at(&self, part: f64) -> Option<f64> {
        let ends = self.ends();
        Some(ends.start + part * (ends.end - ends.start)).filter(|it| it.is_finite())
    }

    /// Which part of the way, from 0 at the start to 1 at the end, leads to a place.
    pub(crate) fn part(&self, place: f64) -> f64 {
        let part = (place - self.low) / (self.high - self.low);
        if self.flipped { 1.0 - part } else { part }
    }

    /// Where a value is drawn; `None` if it cannot be.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let value = if self.log { value.log10() } else { value };
        (value.abs() <= FAR).then_some(value / self.unit)
    }

    /// Whether a place lies on the axis.
    pub(crate) fn holds(&self, place: f64) -> bool {
        (self.low..=self.high).contains(&place)
    }

    /// The nearest place on the axis.
    pub(crate) fn clamp(&self, place: f64) -> f64 {
        place.clamp(self.low, self.high)
    }

    /// Round places on the axis, about so many at most.
    pub(crate) fn round_places(&self, most: usize) -> Vec<f64> {
        let inside = |it: &f64| self.holds(*it);
        if !self.log || self.unit != 1.0 {
            let step = round_step((self.high - self.low) / most as f64);
            let first = (self.low / step).ceil();
            return (0..most + 2).map(|at| (first + at as f64) * step).filter(inside).collect();
        }
        let decades = self.high.floor() - self.low.ceil() + 1.0;
        if decades >= 2.0 {
            let step = (decades / most as f64).ceil();
            let first = (self.low / step).ceil();
            return (0..most + 2).map(|at| (first + at as f64) * step).filter(inside).collect();
        }
        let first = self.low.floor();
        let between = |decade: f64| [1.0f64, 2.0, 5.0].map(|it| first + decade + it.log10());
        [0.0, 1.0, 2.0].into_iter().flat_map(between).filter(inside).collect()
    }

    /// The name of a place.
    pub(crate) fn label(&self, place: f64) -> String {
        let value = place * self.unit;
        if self.log {
            return short(10f64.powf(value), value.floor());
        }
        let span = (self.high - self.low) * self.unit;
        short(value, span.log10().floor() - 1.0)
    }
}

/// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below a step; these are matplotlib's.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0].map(|it| it * power);
    steps.into_iter().find(|it| *it >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// Ends that are apart by what can be told apart.
fn widen(low: f64, high: f64) -> (f64, f64) {
    let least = (low.abs().max(high.abs()) * 1e-9).max(1e-290);
    if high - low >= least {
        return (low, high);
    }
    let half = if low == 0.0 && high == 0.0 { 1.0 } else { (low.abs() * 0.1).max(least) };
    (low - half, high + half)
}

/// A number with digits down to the given power of ten, without trailing zeros.
fn short(value: f64, power: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) && power.abs() >= 4.0 {
        let digits = (magnitude.log10().floor() - power).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.digits$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trim(digits));
    }
    let decimals = (1.0 - power).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = trim(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[f64]) -> Axis {
        Axis::new(values.iter().copied(), None, &Scale::default())
    }

    #[test]
    fn ends_are_always_apart() {
        let cases: [&[f64]; 8] = [
            &[],
            &[f64::NAN, f64::INFINITY],
            &[3.0],
            &[0.0],
            &[1e-300, 1.1e-300],
            &[-1e300, 1e300],
            &[1e16, 1e16 + 2.0],
            &[f64::MIN_POSITIVE],
        ];
        for values in cases {
            let axis = axis(values);
            let span = axis.high - axis.low;
            assert!(span > 1e-7 && span < 1e10, "{values:?}: {axis:?}");
        }
    }

    #[test]
    fn names_the_places_that_matplotlib_names() {
        // matplotlib.ticker.MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values, those on the axis.
        let places = |low: f64, high: f64, most| {
            Axis::new([].into_iter(), Some((low, high)), &Scale::default()).round_places(most)
        };
        assert_eq!(places(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(places(-0.4, 1.1, 3), [0.0, 0.5, 1.0]);
        assert_eq!(places(0.0, 1.0, 4), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(places(-1.05, 21.05, 9), [0.0, 2.5, 5.0, 7.5, 10.0, 12.5, 15.0, 17.5, 20.0]);
        let scale = Scale { log: true, ..Scale::default() };
        let log = |low, high| Axis::new([].into_iter(), Some((low, high)), &scale).round_places(7);
        assert_eq!(log(1.0, 1e4), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(log(1.5, 8.0), [2f64.log10(), 5f64.log10()]);
    }

    #[test]
    fn names_places_briefly() {
        assert_eq!(axis(&[0.0, 1.0]).label(0.30000000000000004), "0.3");
        assert_eq!(axis(&[0.0, 1.0]).label(-0.0), "0");
        let tiny = axis(&[0.0, 2e-9]);
        assert_eq!(tiny.label(tiny.place(1e-9).unwrap()), "1e-9");
        let scale = Scale { log: true, ..Scale::default() };
        let log = Axis::new([1.0, 1000.0].into_iter(), None, &scale);
        assert_eq!([log.label(1.0), log.label(-2.0), log.label(2.0)], ["10", "0.01", "100"]);
    }
}
