//! A notebook as one HTML page that stands alone: no script, no network, light and dark.

mod markdown;

use notebooks::{Cell, CellKind, Notebook};
use serde_json::{Map, Value};

use crate::display::html::Html;
use crate::display::{ansi, data_uri, highlight};

const STYLE: &str = include_str!("html_page/style.css");
/// Nothing may be loaded or run but styles of this page and pictures.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: https: http: file:";

/// The page; its title is the first heading of the notebook, else `name`.
pub(crate) fn render(notebook: &Notebook, name: &str) -> String {
    let body = Html::build(|html| {
        html.tag("html").attr("lang", "en").within(|html| {
            html.tag("head").within(|html| head(html, &title(notebook, name)));
            html.line();
            html.tag("body").within(|html| {
                html.tag("main").within(|html| notebook.cells.iter().for_each(|it| cell(html, it)));
            });
        });
    });
    format!("<!DOCTYPE html>\n{body}\n")
}

fn head(html: &mut Html, title: &str) {
    html.tag("meta").attr("charset", "utf-8").empty();
    html.tag("meta")
        .attr("name", "viewport")
        .attr("content", "width=device-width, initial-scale=1")
        .empty();
    html.tag("meta").attr("http-equiv", "Content-Security-Policy").attr("content", POLICY).empty();
    html.tag("meta").attr("name", "color-scheme").attr("content", "light dark").empty();
    html.line();
    html.tag("title").text(title);
    html.tag("style").within(|html| html.trusted(STYLE));
}

fn title(notebook: &Notebook, name: &str) -> String {
    let texts = notebook.cells.iter().filter(|cell| cell.kind == CellKind::Markdown);
    let heading =
        texts.flat_map(|cell| cell.source.lines()).find_map(|line| line.strip_prefix("# "));
    heading.map_or(name, str::trim).to_string()
}

fn cell(html: &mut Html, cell: &Cell) {
    html.line();
    match cell.kind {
        CellKind::Markdown => html.tag("section").attr("class", "text").within(|html| {
            html.trusted(&markdown::to_html(&cell.source, cell.extra.get("attachments")));
        }),
        CellKind::Raw => html
            .tag("section")
            .attr("class", "text")
            .within(|html| html.tag("pre").text(&cell.source)),
        CellKind::Code => html.tag("section").attr("class", "code").within(|html| code(html, cell)),
    }
}

fn code(html: &mut Html, cell: &Cell) {
    if !cell.source.trim().is_empty() {
        let number = cell.execution_count.map_or(" ".to_string(), |it| it.to_string());
        html.tag("div").attr("class", "input").within(|html| {
            html.tag("span").attr("class", "count").text(&format!("[{number}]"));
            source(html, &cell.source);
        });
    }
    for output in &cell.outputs {
        html.line();
        html.tag("div").attr("class", "output").within(|html| show(html, output));
    }
}

/// Highlighted code.
fn source(html: &mut Html, code: &str) {
    html.tag("pre").attr("class", "source").within(|html| {
        html.tag("code").within(|html| highlight::to_html(html, code));
    });
}

fn show(html: &mut Html, output: &Value) {
    let text = |field: &str| output[field].as_str().unwrap_or_default();
    match text("output_type") {
        "stream" => {
            let class = if text("name") == "stderr" { "stderr" } else { "stdout" };
            html.tag("pre").attr("class", class).within(|html| ansi::to_html(html, text("text")));
        }
        "error" => html.tag("pre").attr("class", "error").within(|html| {
            let lines = output["traceback"].as_array().into_iter().flatten();
            let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
            let bare = format!("{}: {}", text("ename"), text("evalue"));
            ansi::to_html(html, if lines.is_empty() { bare } else { lines.join("\n") }.as_str());
        }),
        _ => {
            if let Some(forms) = output["data"].as_object() {
                richest(html, forms);
            }
        }
    }
}

/// The form that says most.
fn richest(html: &mut Html, forms: &Map<String, Value>) {
    let form = |mime: &str| forms.get(mime).and_then(Value::as_str);
    let plain = form("text/plain").unwrap_or_default();
    let picture = |html: &mut Html, source: String| {
        html.tag("img").attr("src", source).attr("alt", plain).empty()
    };
    if let Some(markup) = form("text/html") {
        html.trusted(markup);
    } else if let Some(drawing) = form("image/svg+xml") {
        picture(html, data_uri::svg(drawing));
    } else if let Some((mime, data)) =
        ["image/png", "image/jpeg"].iter().find_map(|it| Some((it, form(it)?)))
    {
        picture(html, format!("data:{mime};base64,{}", data.replace('\n', "")));
    } else if let Some(text) = form("text/markdown") {
        html.trusted(&markdown::to_html(text, None));
    } else {
        html.tag("pre").within(|html| ansi::to_html(html, plain));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(cells: Vec<Cell>) -> String {
        render(&Notebook { cells, ..Notebook::default() }, "name")
    }

    #[test]
    fn shows_code_and_its_richest_output() {
        let mut cell = Cell::new(CellKind::Code, "a", "x < 1");
        cell.execution_count = Some(3);
        cell.outputs = vec![
            json!({"output_type": "stream", "name": "stdout", "text": "<script>\u{1b}[31mred"}),
            json!({"output_type": "execute_result", "data": {"text/plain": "1", "text/html": "<b>1</b>"}}),
            json!({"output_type": "error", "ename": "E", "evalue": "<v>", "traceback": []}),
        ];
        let page = page(vec![cell]);
        for part in [
            "[3]",
            "&lt;script&gt;<span class=\"ansi-red-fg\">red</span>",
            "<b>1</b>",
            "E: &lt;v&gt;",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script"));
    }

    #[test]
    fn long_lines_of_code_are_wrapped() {
        let rule = STYLE.lines().find(|it| it.starts_with(".source {")).unwrap();
        assert!(rule.contains("white-space: pre-wrap") && rule.contains("overflow-wrap: anywhere"));
    }

    #[test]
    fn takes_its_title_from_the_first_heading() {
        assert!(
            page(vec![Cell::new(CellKind::Markdown, "a", "# A & b\n")])
                .contains("<title>A &amp; b</title>")
        );
        assert!(page(vec![]).contains("<title>name</title>"));
    }
}
