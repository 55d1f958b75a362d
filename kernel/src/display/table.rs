//! `table`: rows under a head; long ones are cut in the middle.

use magics::Artifact;
use magics::artifact::Table;

use super::Renderer;
use super::html::Html;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "table",
    wants: |art| matches!(art, Artifact::Table(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// The most rows drawn; of a longer table both ends are.
const ROWS: usize = 120;

/// A caption stands on one line, however narrow the table, and does not make it wider.
const CAPTION: &str = "white-space:nowrap;text-align:left;width:0";

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Table(table) = art else { return None };
    let columns = columns(table);
    let wrap = |html: &mut Html| {
        html.tag("div").attr("style", "overflow:auto").within(|html| {
            html.tag("table")
                .attr("class", "ng-table")
                .within(|html| html_rows(html, table, columns));
        });
    };
    Some(Html::build(wrap))
}

fn html_rows(html: &mut Html, table: &Table, columns: usize) {
    if !table.caption.is_empty() {
        html.tag("caption").attr("style", CAPTION).text(&table.caption);
    }
    if !table.head.is_empty() {
        html.tag("thead").within(|html| {
            html.tag("tr").within(|html| {
                for column in 0..columns {
                    let style = align(table, column);
                    html.tag("th")
                        .attr("scope", "col")
                        .attr("style", style)
                        .text(cell(&table.head, column));
                }
            });
        });
        html.line();
    }
    html.tag("tbody").within(|html| {
        for row in drawn_rows(table) {
            html.tag("tr").within(|html| match row {
                Ok(row) => {
                    for column in 0..columns {
                        html.tag("td").attr("style", align(table, column)).text(cell(row, column));
                    }
                }
                Err(left_out) => {
                    html.tag("td")
                        .attr("colspan", columns)
                        .text(&format!("... {left_out} more rows ..."));
                }
            });
            html.line();
        }
    });
}

fn align(table: &Table, column: usize) -> &'static str {
    if table.numeric.contains(&column) { "text-align:right" } else { "text-align:left" }
}

fn cell(row: &[String], column: usize) -> &str {
    row.get(column).map_or("", String::as_str)
}

fn columns(table: &Table) -> usize {
    table.rows.iter().map(Vec::len).max().unwrap_or(0).max(table.head.len())
}

/// The rows to draw; `Err` stands for so many that are left out.
fn drawn_rows(table: &Table) -> Vec<Result<&[String], usize>> {
    let rows = &table.rows;
    if rows.len() <= ROWS {
        return rows.iter().map(|row| Ok(row.as_slice())).collect();
    }
    let half = ROWS / 2;
    let head = rows[..half].iter().map(|row| Ok(row.as_slice()));
    let tail = rows[rows.len() - half..].iter().map(|row| Ok(row.as_slice()));
    head.chain([Err(rows.len() - 2 * half)]).chain(tail).collect()
}

fn plain(art: &Artifact) -> String {
    let Artifact::Table(table) = art else { return String::new() };
    let columns = columns(table);
    let rows = drawn_rows(table);
    let width = |column| {
        let cells = rows.iter().filter_map(|row| row.ok()).map(|row| cell(row, column));
        cells.chain([cell(&table.head, column)]).map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut lines = Vec::new();
    if !table.caption.is_empty() {
        lines.push(table.caption.clone());
    }
    if !table.head.is_empty() {
        lines.push(plain_row(table, &table.head, &widths));
        lines.push(widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  "));
    }
    lines.extend(rows.iter().map(|row| match row {
        Ok(row) => plain_row(table, row, &widths),
        Err(left_out) => format!("... {left_out} more rows ..."),
    }));
    lines.join("\n")
}

fn plain_row(table: &Table, row: &[String], widths: &[usize]) -> String {
    let cells = widths.iter().enumerate().map(|(column, width)| {
        let text = cell(row, column).replace('\n', " ");
        let right = table.numeric.contains(&column);
        if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
}

fn samples() -> Vec<Artifact> {
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let small = Table {
        caption: "Chosen algorithms".into(),
        head: row(["op", "algorithm", "time (us)"]),
        rows: vec![row(["matmul", "packed", "12.5"]), row(["<b>add</b>", "\"tile\"", "0.8"])],
        numeric: vec![2],
    };
    let long = Table {
        head: vec!["n".into()],
        rows: (0..200).map(|n| vec![n.to_string()]).collect(),
        numeric: vec![0],
        ..Table::default()
    };
    vec![Artifact::Table(small), Artifact::Table(long)]
}
