//! `plot`: lines, dots and bars on one set of axes, drawn by `plotters`.
//!
//! Drawn on a white panel, so that all colours can be read on light and dark pages.

use magics::Artifact;
use magics::artifact::{Plot, Series, SeriesStyle};
use plotters::chart::SeriesAnno;
use plotters::coord::types::RangedCoordf64;
use plotters::element::IntoDynElement;
use plotters::prelude::*;

use super::html::Html;
use super::plot_axes::Axis;
use super::plot_points::{POINTS, bar_width, dots, runs};
use super::{Renderer, data_uri};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "plot",
    wants: |art| matches!(art, Artifact::Plot(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// Colours that can be told apart, also by most people who see fewer (after Okabe and Ito).
const PALETTE: [[u8; 3]; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [120, 94, 60],
    [90, 90, 90],
];
const INK: RGBColor = RGBColor(55, 61, 70);
const PALE: RGBColor = RGBColor(222, 226, 232);

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Plot(plot) = art else { return None };
    let mut html = Html::default();
    draw(&mut html, plot)?;
    Some(html.finish())
}

/// The plot as an image.
pub(crate) fn draw(html: &mut Html, plot: &Plot) -> Option<()> {
    let (width, height) = size(plot);
    let mut document = String::new();
    document_of(plot, &mut document).ok()?;
    let tag = html.tag("img").attr("src", data_uri::svg(&document)).attr("alt", describe(plot));
    tag.attr("width", width)
        .attr("height", height)
        .attr("style", "border-radius:6px;vertical-align:top")
        .empty();
    Some(())
}

fn size(plot: &Plot) -> (u32, u32) {
    let (width, height) = plot.size.unwrap_or((560, 340));
    (width.clamp(160, 2000), height.clamp(120, 2000))
}

fn document_of(plot: &Plot, document: &mut String) -> Drawn {
    let root = SVGBackend::with_string(document, size(plot)).into_drawing_area();
    root.fill(&WHITE)?;
    let (x_axis, y_axis) = axes(plot);
    let mut builder = ChartBuilder::on(&root);
    builder.margin(10).margin_right(18);
    builder.x_label_area_size(if plot.x_label.is_empty() { 28 } else { 46 });
    builder.y_label_area_size(if plot.y_label.is_empty() { 48 } else { 64 });
    let title = clean(&plot.title);
    if !title.is_empty() {
        builder.caption(title, ("sans-serif", 20).into_font().color(&INK));
    }
    let mut chart = builder.build_cartesian_2d(x_axis.low..x_axis.high, y_axis.low..y_axis.high)?;
    mesh(&mut chart, plot, x_axis, y_axis)?;
    for (series_idx, series) in plot.series.iter().enumerate() {
        let [red, green, blue] = series.color.unwrap_or(PALETTE[series_idx % PALETTE.len()]);
        draw_series(&mut chart, series, x_axis, y_axis, RGBColor(red, green, blue))?;
    }
    if plot.legend && plot.series.iter().any(|series| !series.name.is_empty()) {
        let mut labels = chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperRight).margin(8).legend_area_size(22);
        labels.background_style(WHITE.mix(0.85)).border_style(PALE);
        labels.label_font(("sans-serif", 15).into_font().color(&INK)).draw()?;
    }
    drop(chart);
    root.present()
}

/// Both axes; bars reach to zero, and their width counts.
fn axes(plot: &Plot) -> (Axis, Axis) {
    let points = || {
        plot.series
            .iter()
            .flat_map(|series| series.xs.iter().zip(&series.ys).map(move |it| (series, it)))
    };
    let xs = points().flat_map(|(series, (x, _))| {
        let half = if series.style == SeriesStyle::Bar { bar_width(series) / 2.0 } else { 0.0 };
        [x - half, x + half]
    });
    let has_bars = plot.series.iter().any(|series| series.style == SeriesStyle::Bar);
    let ys = points().map(|(_, (_, y))| *y).chain((has_bars && !plot.y_log).then_some(0.0));
    (Axis::new(xs, plot.x_range, plot.x_log), Axis::new(ys, plot.y_range, plot.y_log))
}

fn mesh(chart: &mut Chart<'_>, plot: &Plot, x_axis: Axis, y_axis: Axis) -> Drawn {
    let x_label = |place: &f64| x_axis.label(*place);
    let y_label = |place: &f64| y_axis.label(*place);
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(if plot.x_names.is_empty() { 8 } else { 0 }).y_labels(7).max_light_lines(0);
    mesh.x_label_formatter(&x_label).y_label_formatter(&y_label);
    mesh.axis_style(INK.mix(0.6)).bold_line_style(PALE).light_line_style(TRANSPARENT);
    mesh.label_style(("sans-serif", 14).into_font().color(&INK));
    mesh.axis_desc_style(("sans-serif", 15).into_font().color(&INK));
    mesh.x_desc(clean(&plot.x_label)).y_desc(clean(&plot.y_label));
    if !plot.grid {
        mesh.disable_mesh();
    }
    mesh.draw()?;
    x_names(chart, plot, x_axis, y_axis)
}

/// Names at 0, 1, 2 ... below the axis, as many as there is room for.
fn x_names(chart: &Chart<'_>, plot: &Plot, x_axis: Axis, y_axis: Axis) -> Drawn {
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    let font = ("sans-serif", 14).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
    let root = chart.plotting_area().strip_coord_spec();
    let (left, top) = root.get_base_pixel();
    let mut free_from = i32::MIN;
    for (place, name) in plot.x_names.iter().enumerate() {
        let Some(place) =
            x_axis.place(place as f64).filter(|it| (x_axis.low..=x_axis.high).contains(it))
        else {
            continue;
        };
        let (x, y) = chart.backend_coord(&(place, y_axis.low));
        let name: String = clean(name).chars().take(24).collect();
        let half = name.chars().count() as i32 * 4;
        if x - half < free_from {
            continue;
        }
        free_from = x + half;
        root.draw(&Text::new(name, (x - left, y - top + 14), font.clone()))?;
    }
    Ok(())
}

fn draw_series(
    chart: &mut Chart<'_>,
    series: &Series,
    x_axis: Axis,
    y_axis: Axis,
    color: RGBColor,
) -> Drawn {
    match series.style {
        SeriesStyle::Bar => draw_bars(chart, series, x_axis, y_axis, color),
        SeriesStyle::Scatter => {
            let dots = dots(series, x_axis, y_axis).into_iter();
            let drawn =
                chart.draw_series(dots.map(|at| Circle::new(at, 3, color.mix(0.8).filled())))?;
            name(drawn, series, move |(x, y)| Circle::new((x + 8, y), 3, color.filled()));
            Ok(())
        }
        SeriesStyle::Line => draw_line(chart, series, x_axis, y_axis, color),
    }
}

fn draw_bars(
    chart: &mut Chart<'_>,
    series: &Series,
    x_axis: Axis,
    y_axis: Axis,
    color: RGBColor,
) -> Drawn {
    let fill = color.mix(0.85).filled();
    let base = y_axis.clamp(y_axis.place(0.0).unwrap_or(y_axis.low));
    let width = bar_width(series);
    let bars = series.xs.iter().zip(&series.ys).filter_map(|(x, y)| {
        let (left, right) = (x_axis.place(x - width / 2.0)?, x_axis.place(x + width / 2.0)?);
        let outside = right < x_axis.low || left > x_axis.high;
        let corners =
            [(x_axis.clamp(left), base), (x_axis.clamp(right), y_axis.clamp(y_axis.place(*y)?))];
        (!outside).then(|| Rectangle::new(corners, fill))
    });
    let drawn = chart.draw_series(bars.take(POINTS))?;
    name(drawn, series, move |(x, y)| Rectangle::new([(x, y - 4), (x + 16, y + 4)], fill));
    Ok(())
}

fn draw_line(
    chart: &mut Chart<'_>,
    series: &Series,
    x_axis: Axis,
    y_axis: Axis,
    color: RGBColor,
) -> Drawn {
    let stroke = color.stroke_width(2);
    for run in runs(series, x_axis, y_axis) {
        if series.dashed {
            chart.draw_series(DashedLineSeries::new(run, 7, 5, stroke))?;
        } else {
            chart.draw_series(LineSeries::new(run, stroke))?;
        }
    }
    let marked = series.markers || series.xs.len() == 1;
    let marks = if marked { dots(series, x_axis, y_axis) } else { Vec::new() };
    let drawn =
        chart.draw_series(marks.into_iter().map(|at| Circle::new(at, 3, color.filled())))?;
    name(drawn, series, move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
    Ok(())
}

/// Puts the series in the legend if it has a name.
fn name<'a, E>(
    drawn: &mut SeriesAnno<'a, SVGBackend<'a>>,
    series: &Series,
    key: impl Fn((i32, i32)) -> E + 'a,
) where
    E: IntoDynElement<'a, SVGBackend<'a>, (i32, i32)>,
{
    if !series.name.is_empty() {
        drawn.label(clean(&series.name)).legend(key);
    }
}

/// Without letters that XML does not allow; the drawing library escapes the rest.
fn clean(text: &str) -> String {
    text.chars()
        .map(|it| if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') { ' ' } else { it })
        .collect()
}

/// What the plot shows, for readers without it.
pub(crate) fn describe(plot: &Plot) -> String {
    let title = if plot.title.is_empty() { "plot" } else { &plot.title };
    let labels = [("x", &plot.x_label), ("y", &plot.y_label)];
    let labels = labels
        .iter()
        .filter(|(_, label)| !label.is_empty())
        .map(|(axis, label)| format!("{axis}: {label}"));
    let mut text = [title.to_string()].into_iter().chain(labels).collect::<Vec<_>>().join(", ");
    for series in plot.series.iter().take(20) {
        text += &format!("\n  {}", describe_series(series));
    }
    text
}

fn describe_series(series: &Series) -> String {
    let kind = match series.style {
        SeriesStyle::Line => "line",
        SeriesStyle::Scatter => "points",
        SeriesStyle::Bar => "bars",
    };
    let name = if series.name.is_empty() { String::new() } else { format!(" {}", series.name) };
    let count = series.xs.len().min(series.ys.len());
    let finite = || series.ys.iter().copied().filter(|y| y.is_finite());
    let (Some(first), Some(last)) = (finite().next(), finite().next_back()) else {
        return format!("{kind}{name}: {count} points");
    };
    let (low, high) = finite().fold((first, first), |(low, high), y| (low.min(y), high.max(y)));
    let brief = |value: f64| {
        let axis = Axis::new([0.0, value].into_iter(), None, false);
        axis.place(value).map_or(value.to_string(), |place| axis.label(place))
    };
    let [first, last, low, high] = [first, last, low, high].map(brief);
    format!("{kind}{name}: {count} points, from {first} to {last}, between {low} and {high}")
}

fn plain(art: &Artifact) -> String {
    let Artifact::Plot(plot) = art else { return String::new() };
    describe(plot)
}

fn samples() -> Vec<Artifact> {
    let xs: Vec<f64> = (0..40).map(f64::from).collect();
    let of = |name: &str, f: &dyn Fn(f64) -> f64| Series {
        name: name.into(),
        xs: xs.clone(),
        ys: xs.iter().map(|x| f(*x)).collect(),
        ..Series::default()
    };
    let mut train = of("train", &|x| 2.0 / (1.0 + x / 4.0));
    train.ys[20] = f64::NAN;
    let valid = Series { dashed: true, ..of("<valid> & \"test\"", &|x| 2.2 / (1.0 + x / 6.0)) };
    let dots =
        Series { style: SeriesStyle::Scatter, ..of("steps", &|x| 1.0 + (x * 7.0 % 11.0) / 20.0) };
    let loss = Plot {
        title: "Loss <script>".into(),
        x_label: "epoch".into(),
        y_label: "loss".into(),
        series: vec![train, valid, dots],
        grid: true,
        legend: true,
        ..Plot::default()
    };
    let bars = Series {
        xs: vec![0.0, 1.0, 2.0],
        ys: vec![3.0, 5.5, -1.0],
        style: SeriesStyle::Bar,
        ..Series::default()
    };
    let counts = Plot {
        series: vec![bars],
        x_names: ["cat", "dog", "<b>"].map(String::from).to_vec(),
        size: Some((320, 220)),
        ..Plot::default()
    };
    let powers = Series {
        markers: true,
        xs: vec![1.0, 2.0, 3.0],
        ys: vec![1.0, 100.0, 1e4],
        ..Series::default()
    };
    let log = Plot {
        series: vec![powers],
        y_log: true,
        grid: true,
        size: Some((320, 220)),
        ..Plot::default()
    };
    vec![
        Artifact::Plot(loss),
        Artifact::Plot(counts),
        Artifact::Plot(log),
        Artifact::Plot(Plot::default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_hostile_numbers() {
        let odd = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -0.0, 1e16, -1e-320];
        for style in [SeriesStyle::Line, SeriesStyle::Scatter, SeriesStyle::Bar] {
            for (x, y) in odd.iter().flat_map(|x| odd.iter().map(move |y| (*x, *y))) {
                let series =
                    Series { xs: vec![x, 0.0], ys: vec![y, 1.0, 2.0], style, ..Series::default() };
                for log in [false, true] {
                    let fixed = Some((x, y));
                    let series = vec![Series { dashed: log, ..series.clone() }];
                    let plot =
                        Plot { series, x_range: fixed, y_log: log, x_log: log, ..Plot::default() };
                    assert!(html(&Artifact::Plot(plot.clone())).is_some(), "{x} {y}");
                    assert!(
                        html(&Artifact::Plot(Plot { x_range: None, ..plot })).is_some(),
                        "{x} {y}"
                    );
                }
            }
        }
    }
}
