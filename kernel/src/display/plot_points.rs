//! The points of a series as they are drawn: placed, cut at the edges of the plot, and thinned.

use magics::artifact::Series;

use super::plot_axes::Axis;

/// The most points of one series that are drawn.
pub(crate) const POINTS: usize = 4000;

/// A point in drawn units.
type Point = (f64, f64);

/// The points inside the plot, each with its number in the series.
pub(crate) fn dots(series: &Series, x_axis: Axis, y_axis: Axis) -> Vec<(usize, Point)> {
    let placed = series.xs.iter().zip(&series.ys).enumerate();
    let placed =
        placed.filter_map(|(at, (x, y))| Some((at, (x_axis.place(*x)?, y_axis.place(*y)?))));
    let inside = |(_, (x, y)): &(usize, Point)| x_axis.holds(*x) && y_axis.holds(*y);
    let mut dots: Vec<(usize, Point)> = placed.filter(inside).collect();
    if dots.len() > POINTS {
        let stride = dots.len().div_ceil(POINTS);
        dots = dots.into_iter().step_by(stride).collect();
    }
    dots
}

/// The line through the points, in unbroken runs inside the plot.
pub(crate) fn runs(series: &Series, x_axis: Axis, y_axis: Axis) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = Vec::new();
    for piece in pieces(series, x_axis, y_axis) {
        let mut last = None;
        for pair in piece.windows(2) {
            let Some((from, to)) = clip(pair[0], pair[1], x_axis, y_axis) else { continue };
            match runs.last_mut().filter(|_| last == Some(from)) {
                Some(run) => run.push(to),
                None => runs.push(vec![from, to]),
            }
            last = Some(to);
        }
    }
    runs
}

/// The points that have a place, broken where one has none, thinned if they are very many.
fn pieces(series: &Series, x_axis: Axis, y_axis: Axis) -> Vec<Vec<Point>> {
    let mut pieces = vec![Vec::new()];
    for (x, y) in series.xs.iter().zip(&series.ys) {
        match (x_axis.place(*x), y_axis.place(*y)) {
            (Some(x), Some(y)) => pieces.last_mut().into_iter().for_each(|it| it.push((x, y))),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces.truncate(POINTS);
    let total: usize = pieces.iter().map(Vec::len).sum();
    if total > POINTS {
        let stride = (2 * total).div_ceil(POINTS);
        pieces = pieces.iter().map(|piece| thin(piece, stride)).collect();
    }
    pieces
}

/// The lowest and the highest point of each group, in their order: peaks stay.
fn thin(piece: &[Point], stride: usize) -> Vec<Point> {
    let mut kept = Vec::new();
    for group in piece.chunks(stride) {
        let by_height = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let low = (0..group.len()).min_by(by_height).unwrap_or(0);
        let high = (0..group.len()).max_by(by_height).unwrap_or(0);
        kept.push(group[low.min(high)]);
        if low != high {
            kept.push(group[low.max(high)]);
        }
    }
    kept
}

/// The part of a segment inside the plot (Liang and Barsky).
fn clip(from: Point, to: Point, x_axis: Axis, y_axis: Axis) -> Option<(Point, Point)> {
    let (step_x, step_y) = (to.0 - from.0, to.1 - from.1);
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    let borders = [
        (-step_x, from.0 - x_axis.low),
        (step_x, x_axis.high - from.0),
        (-step_y, from.1 - y_axis.low),
        (step_y, y_axis.high - from.1),
    ];
    for (outward, room) in borders {
        if outward == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if outward < 0.0 {
            enters = enters.max(room / outward);
        } else {
            leaves = leaves.min(room / outward);
        }
    }
    let at = |part: f64| {
        let (x, y) = (from.0 + part * step_x, from.1 + part * step_y);
        (x.clamp(x_axis.low, x_axis.high), y.clamp(y_axis.low, y_axis.high))
    };
    let start = if enters > 0.0 { at(enters) } else { from };
    let end = if leaves < 1.0 { at(leaves) } else { to };
    (enters <= leaves).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64) -> Axis {
        Axis::new(std::iter::empty(), Some((low, high)), &Default::default())
    }

    fn series(ys: Vec<f64>) -> Series {
        Series { xs: (0..ys.len()).map(|x| x as f64).collect(), ys, ..Series::default() }
    }

    #[test]
    fn keeps_peaks_of_long_series() {
        let ys = (0..100_000).map(|at| if at == 50_001 { 9.0 } else { 0.0 }).collect();
        let runs = runs(&series(ys), axis(0.0, 1e5), axis(0.0, 10.0));
        assert!(runs[0].len() <= POINTS + 2);
        assert!(runs[0].iter().any(|(_, y)| *y == 9.0));
    }

    #[test]
    fn breaks_lines_at_gaps_and_cuts_them_at_edges() {
        let line = series(vec![0.0, 1.0, f64::NAN, 1.0, 3.0, 1.0]);
        let drawn = runs(&line, axis(0.0, 5.0), axis(0.0, 2.0));
        let expected = [
            vec![(0.0, 0.0), (1.0, 1.0)],
            vec![(3.0, 1.0), (3.5, 2.0)],
            vec![(4.5, 2.0), (5.0, 1.0)],
        ];
        assert_eq!(drawn, expected);
    }
}
