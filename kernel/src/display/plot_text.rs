//! A plot in words, for terminals, logs and readers who do not see it.

use magics::artifact::{Plot, Series, SeriesStyle};

use super::plot_axes::Axis;

/// Without letters that XML does not allow; the drawing library escapes the rest.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|it| if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') { ' ' } else { it })
        .collect()
}

/// What the plot shows.
pub(crate) fn describe(plot: &Plot) -> String {
    let title = if plot.title.is_empty() { "plot" } else { &plot.title };
    let labels = [("x", &plot.x_label), ("y", &plot.y_label)];
    let labels = labels
        .iter()
        .filter(|(_, label)| !label.is_empty())
        .map(|(axis, label)| format!("{axis}: {label}"));
    let mut text = [title.to_string()].into_iter().chain(labels).collect::<Vec<_>>().join(", ");
    for raster in plot.rasters.iter().take(20) {
        text += &format!("\n  picture: {} by {} pixels", raster.image.width, raster.image.height);
    }
    if let Some((low, high)) = plot.color_bar.as_ref().and_then(|it| it.scale.range) {
        let label = plot.color_bar.as_ref().map_or("", |it| &it.label);
        let label = if label.is_empty() { String::new() } else { format!(" {label}") };
        text += &format!("\n  colours:{label} from {} to {}", brief(low), brief(high));
    }
    for series in plot.series.iter().take(20) {
        text += &format!("\n  {}", describe_series(series));
    }
    if let Some(twin) = &plot.twin {
        let label = if twin.y_label.is_empty() { "" } else { &twin.y_label };
        text += &format!("\n  right axis: {label}");
        for series in twin.series.iter().take(20) {
            text += &format!("\n    {}", describe_series(series));
        }
    }
    text
}

fn describe_series(series: &Series) -> String {
    let kind = match series.style {
        SeriesStyle::Line => "line",
        SeriesStyle::Scatter => "points",
        SeriesStyle::Bar | SeriesStyle::LyingBar => "bars",
        SeriesStyle::Area | SeriesStyle::Polygon => "area",
    };
    let name =
        if series.look.name.is_empty() { String::new() } else { format!(" {}", series.look.name) };
    let (_, values) = series.along_and_across();
    let count = series.xs.len().min(series.ys.len());
    let finite = || values.iter().copied().filter(|y| y.is_finite());
    let (Some(first), Some(last)) = (finite().next(), finite().next_back()) else {
        return format!("{kind}{name}: {count} points");
    };
    let (low, high) = finite().fold((first, first), |(low, high), y| (low.min(y), high.max(y)));
    let [first, last, low, high] = [first, last, low, high].map(brief);
    format!("{kind}{name}: {count} points, from {first} to {last}, between {low} and {high}")
}

/// A number with few digits.
fn brief(value: f64) -> String {
    let axis = Axis::new([0.0, value].into_iter(), None, &Default::default());
    axis.place(value).map_or(value.to_string(), |place| axis.label(place))
}
