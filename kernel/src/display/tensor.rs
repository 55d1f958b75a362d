//! `tensor`: an accessible table with a heat map, LaTeX for small ones, and plain text.

use magics::Artifact;
use magics::artifact::{TensorCell, TensorView};

use super::{Renderer, tensor_html};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "tensor",
    wants: |art| matches!(art, Artifact::Tensor(_)),
    plain,
    rich: &[("text/html", html), ("text/latex", latex)],
    samples,
};

/// The longest axis that is written in LaTeX.
const LATEX: usize = 10;

/// The facts of a tensor in one line.
pub(crate) fn facts(view: &TensorView) -> String {
    let shape = view.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let comma = if view.shape.len() == 1 { "," } else { "" };
    let grad = if view.requires_grad { " · requires grad" } else { "" };
    format!("shape ({shape}{comma}) · {} · {}{grad}", view.dtype, view.device)
}

/// Whether as many cells came as the shown indices ask for.
fn is_complete(view: &TensorView) -> bool {
    let asked = view.shown.iter().fold(1usize, |count, shown| count.saturating_mul(shown.len()));
    view.shown.len() == view.shape.len() && view.cells.len() == asked
}

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Tensor(view) = art else { return None };
    is_complete(view).then(|| tensor_html::draw(view))
}

fn latex(art: &Artifact) -> Option<String> {
    let Artifact::Tensor(view) = art else { return None };
    let small = view.shape.len() <= 2 && view.shape.iter().all(|len| (1..=LATEX).contains(len));
    if !small || !is_complete(view) || view.is_summary() {
        return None;
    }
    let numbers: Vec<String> =
        view.cells.iter().map(|cell| latex_number(cell.text.trim())).collect();
    let Some(columns) = view.shape.last() else { return Some(format!("${}$", numbers.first()?)) };
    let rows: Vec<String> = numbers.chunks(*columns).map(|row| row.join(" & ")).collect();
    Some(format!("$\\begin{{bmatrix}}\n{}\n\\end{{bmatrix}}$", rows.join(" \\\\\n")))
}

/// A number as it is, with a power of ten written out; anything else upright and escaped.
fn latex_number(text: &str) -> String {
    if let Some((digits, power)) = text.split_once('e')
        && let (Ok(_), Ok(power)) = (digits.parse::<f64>(), power.parse::<i32>())
    {
        return format!("{digits} \\times 10^{{{power}}}");
    }
    let sign = text.strip_prefix('-').map_or("", |_| "-");
    match text.trim_start_matches('-') {
        "inf" => format!("{sign}\\infty"),
        "nan" => "\\mathrm{nan}".into(),
        digits if digits.parse::<f64>().is_ok() => text.into(),
        _ => {
            let safe: String =
                text.chars().filter(|it| it.is_alphanumeric() || " .,+-*".contains(*it)).collect();
            format!("\\mathrm{{{safe}}}")
        }
    }
}

fn plain(art: &Artifact) -> String {
    let Artifact::Tensor(view) = art else { return String::new() };
    if !view.repr.is_empty() {
        return view.repr.clone();
    }
    if !is_complete(view) {
        return format!("tensor({})", facts(view));
    }
    let width = view.cells.iter().map(|cell| cell.text.trim().chars().count()).max().unwrap_or(0);
    let mut cells = view.cells.iter();
    let body = plain_axis(view, 0, &mut cells, width);
    format!("tensor({body})  # {}", facts(view))
}

fn plain_axis(
    view: &TensorView,
    axis: usize,
    cells: &mut std::slice::Iter<'_, TensorCell>,
    width: usize,
) -> String {
    let Some(shown) = view.shown.get(axis) else {
        return cells.next().map_or(String::new(), |cell| format!("{:>width$}", cell.text.trim()));
    };
    let mut parts = Vec::new();
    for (at, index) in shown.iter().enumerate() {
        if at > 0 && shown[at - 1] + 1 < *index {
            parts.push("...".to_string());
        }
        parts.push(plain_axis(view, axis + 1, cells, width));
    }
    let deeper = view.shape.len() - axis - 1;
    let indent = " ".repeat("tensor(".len() + axis + 1);
    let joint = if deeper == 0 { ", ".into() } else { format!(",{}{indent}", "\n".repeat(deeper)) };
    format!("[{}]", parts.join(&joint))
}

fn samples() -> Vec<Artifact> {
    let shapes: [&[usize]; 7] =
        [&[], &[5], &[2, 3], &[2, 2, 3], &[60, 1000], &[0, 3], &[20, 30, 2, 2]];
    let mut views: Vec<TensorView> = shapes.iter().map(|shape| sample(shape)).collect();
    views[1].cells[3] = TensorCell { text: "nan".into(), value: f64::NAN };
    views[2].requires_grad = true;
    views[2].repr = "tensor([[<1>, ...]])".into();
    views[2].dtype = "<script>\"'".into();
    views.into_iter().map(Artifact::Tensor).collect()
}

fn sample(shape: &[usize]) -> TensorView {
    let mut cell = |at: &[usize]| {
        let value = at.iter().fold(0.0, |sum, it| sum * 0.5 + (*it % 7) as f64) - 2.0;
        TensorCell { text: format!("{value:.4}"), value }
    };
    let view = TensorView::summarise(shape, "float32", "cpu", &mut cell);
    TensorView { range: (!shape.is_empty()).then_some((-2.0, 10.0)), ..view }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_for_latex() {
        let cases = [
            ("1.5", "1.5"),
            ("-2e-05", "-2 \\times 10^{-5}"),
            ("-inf", "-\\infty"),
            ("True", "\\mathrm{True}"),
        ];
        for (text, expected) in cases {
            assert_eq!(latex_number(text), expected);
        }
        assert_eq!(latex_number("}\\input{x}"), "\\mathrm{inputx}");
    }

    #[test]
    fn says_the_facts_when_cells_are_missing() {
        let view = TensorView {
            shape: vec![2],
            dtype: "bool".into(),
            device: "cpu".into(),
            ..TensorView::default()
        };
        let forms = super::super::bundle(&Artifact::Tensor(view));
        assert_eq!(forms, [("text/plain", "tensor(shape (2,) · bool · cpu)".to_string())]);
    }
}
