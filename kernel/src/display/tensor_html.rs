//! The table form of a tensor: rows and columns by index, slices folded, a colour per value.
//!
//! Meaning is carried by real elements (`caption`, `th scope`), since sanitisers remove `aria-*`.

use magics::artifact::{TensorCell, TensorView};

use super::contrast::letters_on;
use super::html::Html;
use super::tensor::facts;

/// The most indices of one axis that are drawn.
const LINES: usize = 32;
/// The most slices that are drawn of a tensor of three or more axes.
const SLICES: usize = 16;

/// One place along an axis: the position among the shown indices, or a gap.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    At(usize),
    Gap,
}

/// The table of a complete view.
pub(crate) fn draw(view: &TensorView) -> String {
    if let ([], [cell]) = (&view.shape[..], &view.cells[..]) {
        return scalar(view, cell);
    }
    Html::build(|html| {
        html.tag("div").attr("class", "ng-tensor").attr("style", "overflow:auto").within(|html| {
            if view.shape.len() <= 2 {
                table(html, view, &facts(view), &view.cells);
            } else {
                html.tag("div").text(&facts(view));
                html.line();
                slices(html, view);
            }
        });
    })
}

/// One number takes one line.
fn scalar(view: &TensorView, cell: &TensorCell) -> String {
    let text = match view.repr.as_str() {
        "" => format!("tensor({})", cell.text.trim()),
        text => text.to_owned(),
    };
    Html::build(|html| {
        let tag = html.tag("div").attr("class", "ng-tensor").attr("title", facts(view));
        tag.within(|html| html.tag("code").text(&text));
    })
}

/// Each matrix over the last two axes in a fold of its own.
fn slices(html: &mut Html, view: &TensorView) {
    let rank = view.shape.len();
    let leading = &view.shown[..rank - 2];
    let count: usize = leading.iter().map(Vec::len).product();
    let size = view.shown[rank - 2].len() * view.shown[rank - 1].len();
    for step in steps(&(0..count).collect::<Vec<_>>(), SLICES) {
        let Step::At(slice) = step else {
            html.tag("div").text("...");
            continue;
        };
        let name = format!("[{}, :, :]", slice_index(leading, slice));
        let fold = html.tag("details").maybe("open", (slice == 0).then_some("open"));
        fold.within(|html| {
            html.tag("summary").text(&name);
            table(html, view, &name, &view.cells[slice * size..(slice + 1) * size]);
        });
        html.line();
    }
    if count == 0 {
        html.tag("div").text("no elements");
    }
}

fn slice_index(leading: &[Vec<usize>], slice: usize) -> String {
    let mut parts = Vec::new();
    let mut rest = slice;
    for shown in leading.iter().rev() {
        parts.push(shown[rest % shown.len()].to_string());
        rest /= shown.len();
    }
    parts.reverse();
    parts.join(", ")
}

/// One matrix, one row or one number.
fn table(html: &mut Html, view: &TensorView, caption: &str, cells: &[TensorCell]) {
    let (rows, columns) = match view.shown.as_slice() {
        [] => (None, None),
        [columns] => (None, Some(columns)),
        [.., rows, columns] => (Some(rows), Some(columns)),
    };
    let one = vec![Step::At(0)];
    let row_steps = rows.map_or(one.clone(), |rows| steps(rows, LINES));
    let column_steps = columns.map_or(one, |columns| steps(columns, LINES));
    let width = columns.map_or(1, Vec::len);
    html.tag("table").within(|html| {
        let style = "white-space:nowrap;text-align:left";
        html.tag("caption").attr("style", style).text(caption);
        if let Some(columns) = columns.filter(|columns| !columns.is_empty()) {
            html.tag("thead").within(|html| head(html, columns, &column_steps, rows.is_some()));
            html.line();
        }
        html.tag("tbody").within(|html| {
            for step in &row_steps {
                html.tag("tr").within(|html| {
                    if let Some(rows) = rows {
                        html.tag("th").attr("scope", "row").text(&index(rows, *step));
                    }
                    for column in &column_steps {
                        data(html, view, cell_at(cells, *step, *column, width));
                    }
                });
                html.line();
            }
            if cells.is_empty() {
                html.tag("tr").within(|html| html.tag("td").text("no elements"));
            }
        });
    });
}

fn head(html: &mut Html, columns: &[usize], steps: &[Step], has_row_names: bool) {
    html.tag("tr").within(|html| {
        if has_row_names {
            html.tag("td").text("");
        }
        for step in steps {
            html.tag("th").attr("scope", "col").text(&index(columns, *step));
        }
    });
}

fn index(shown: &[usize], step: Step) -> String {
    match step {
        Step::At(at) => shown[at].to_string(),
        Step::Gap => "...".into(),
    }
}

fn cell_at(cells: &[TensorCell], row: Step, column: Step, width: usize) -> Option<&TensorCell> {
    match (row, column) {
        (Step::At(row), Step::At(column)) => cells.get(row * width + column),
        _ => None,
    }
}

fn data(html: &mut Html, view: &TensorView, cell: Option<&TensorCell>) {
    let Some(cell) = cell else { return html.tag("td").text("...") };
    html.tag("td").maybe("style", heat(view.range, cell.value)).text(cell.text.trim());
}

/// What is drawn of an axis: at most so many places, and a gap wherever indices are left out.
fn steps(shown: &[usize], most: usize) -> Vec<Step> {
    let kept: Vec<usize> = if shown.len() <= most {
        (0..shown.len()).collect()
    } else {
        (0..most / 2).chain(shown.len() - most / 2..shown.len()).collect()
    };
    let mut steps = Vec::with_capacity(kept.len() + 1);
    let mut before: Option<usize> = None;
    for at in kept {
        if before.is_some_and(|before| before + 1 < shown[at]) {
            steps.push(Step::Gap);
        }
        steps.push(Step::At(at));
        before = Some(shown[at]);
    }
    steps
}

/// Ground and letters for a value: white to blue, or red through white to blue around zero.
fn heat(range: Option<(f64, f64)>, value: f64) -> Option<String> {
    let (low, high) = range?;
    if !value.is_finite() || !low.is_finite() || !high.is_finite() || low >= high {
        return None;
    }
    const BLUES: [[f64; 3]; 4] =
        [[247.0, 251.0, 255.0], [158.0, 202.0, 225.0], [66.0, 146.0, 198.0], [8.0, 69.0, 148.0]];
    const REDS: [[f64; 3]; 4] =
        [[247.0, 251.0, 255.0], [252.0, 187.0, 161.0], [239.0, 92.0, 66.0], [153.0, 16.0, 28.0]];
    let (ramp, part) = if low >= 0.0 || high <= 0.0 {
        // Halved, so that the difference of the ends cannot overflow.
        (&BLUES, (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
    } else {
        let reach = high.max(-low);
        (if value < 0.0 { &REDS } else { &BLUES }, value.abs() / reach)
    };
    let color = blend(ramp, part.clamp(0.0, 1.0));
    Some(format!("background-color:{};color:{}", hex(color), hex(letters_on(color))))
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn blend(ramp: &[[f64; 3]; 4], part: f64) -> [u8; 3] {
    let place = part * (ramp.len() - 1) as f64;
    let lower = (place as usize).min(ramp.len() - 2);
    let share = place - lower as f64;
    let channel =
        |it: usize| (ramp[lower][it] * (1.0 - share) + ramp[lower + 1][it] * share).round() as u8;
    [channel(0), channel(1), channel(2)]
}

#[cfg(test)]
mod tests {
    use super::super::contrast::luminance;
    use super::*;

    #[test]
    fn letters_stand_out_from_the_heat_map() {
        for step in -50..=50 {
            let style = heat(Some((-5.0, 5.0)), f64::from(step) / 10.0).unwrap();
            let hex = |at: usize| u8::from_str_radix(&style[at..at + 2], 16).unwrap();
            let ground = luminance([hex(18), hex(20), hex(22)]);
            let ink = if style.ends_with("#000000") { 0.0 } else { 1.0 };
            let contrast = (ground.max(ink) + 0.05) / (ground.min(ink) + 0.05);
            assert!(contrast >= 4.5, "{style}: {contrast}");
        }
    }

    #[test]
    fn has_no_heat_without_a_range() {
        assert_eq!(heat(None, 1.0), None);
        assert_eq!(heat(Some((1.0, 1.0)), 1.0), None);
        assert_eq!(heat(Some((0.0, 1.0)), f64::NAN), None);
        assert!(heat(Some((-f64::MAX, f64::MAX)), 1e308).is_some());
    }
}
