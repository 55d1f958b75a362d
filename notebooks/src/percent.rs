//! Source files as notebooks: cells begin at `# %%` lines, the "percent" form that editors know.

use serde_json::{Value, json};

use crate::{Cell, CellKind, Notebook};

/// A source file as a notebook; without markers it is one cell.
///
/// `# %% title` begins a code cell, `# %% [markdown]` a cell whose lines are comments. Tags are read:
/// `# %% tags=["parameters"]`. The lines of `# %% language="bash"` are comments, too, below a `%%bash`.
pub fn from_source(source: &str) -> Notebook {
    let mut notebook = Notebook::default();
    let mut lines: Vec<&str> = Vec::new();
    let (mut kind, mut tags, mut language) = (CellKind::Code, None, None);
    for line in source.lines() {
        if let Some(marker) =
            line.strip_prefix("# %%").filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            close(&mut notebook, kind, tags.take(), language.take(), &lines);
            lines.clear();
            (tags, language) = (tags_of(marker), language_of(marker));
            kind = match marker.trim_start().get(..4) {
                Some("[mar") | Some("[md]") => CellKind::Markdown,
                Some("[raw") => CellKind::Raw,
                _ => CellKind::Code,
            };
        } else {
            lines.push(line);
        }
    }
    close(&mut notebook, kind, tags, language, &lines);
    if let Value::Object(metadata) = metadata() {
        notebook.metadata = metadata;
    }
    notebook
}

/// The list after `tags=`.
fn tags_of(marker: &str) -> Option<Value> {
    let list = marker.split_once("tags=")?.1;
    serde_json::from_str(&list[..=list.find(']')?]).ok()
}

/// The name after `language=`.
fn language_of(marker: &str) -> Option<&str> {
    marker.split_once("language=\"")?.1.split('"').next()
}

fn close(
    notebook: &mut Notebook,
    kind: CellKind,
    tags: Option<Value>,
    language: Option<&str>,
    lines: &[&str],
) {
    let bare = |line: &&str| {
        line.strip_prefix("# ").or(line.strip_prefix('#')).unwrap_or(line).to_string()
    };
    let head = language.map(|it| format!("%%{it}"));
    let lines: Vec<String> = match kind {
        _ if head.is_some() => head.into_iter().chain(lines.iter().map(bare)).collect(),
        CellKind::Code => lines.iter().map(|line| line.to_string()).collect(),
        _ => lines.iter().map(bare).collect(),
    };
    // Blank lines at the start count, or lines in messages would be wrong for files of one cell.
    let source = lines.join("\n").trim_end().to_string();
    if !source.trim().is_empty() {
        let id = format!("cell-{}", notebook.cells.len() + 1);
        let mut cell = Cell::new(kind, id, source);
        cell.metadata.extend(tags.map(|tags| ("tags".to_string(), tags)));
        notebook.cells.push(cell);
    }
}

/// Names the kernel, so that the notebook opens with it.
fn metadata() -> Value {
    json!({
        "kernelspec": {"display_name": "Notegrad", "language": "python", "name": "notegrad"},
        "language_info": {
            "codemirror_mode": {"name": "ipython", "version": 3},
            "file_extension": ".ng",
            "mimetype": "text/x-notegrad",
            "name": "notegrad",
            "pygments_lexer": "ipython3",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(CellKind, &str)]) {
        let notebook = from_source(source);
        let cells: Vec<_> =
            notebook.cells.iter().map(|cell| (cell.kind, cell.source.as_str())).collect();
        assert_eq!(cells, expected);
    }

    #[test]
    fn splits_at_markers() {
        check("x = 1\n\nx\n", &[(CellKind::Code, "x = 1\n\nx")]);
        check(
            "# %% [markdown]\n# # Title\n#\n# text\n# %%\nx = 1\n# %% named\n# %%x\nx\n",
            &[
                (CellKind::Markdown, "# Title\n\ntext"),
                (CellKind::Code, "x = 1"),
                (CellKind::Code, "# %%x\nx"),
            ],
        );
        check("# %% language=\"bash\"\n# ls\n#\n# pwd", &[(CellKind::Code, "%%bash\nls\n\npwd")]);
        check("", &[]);
    }
}
