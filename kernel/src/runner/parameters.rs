//! Values from the command line, put into the notebook as a cell of their own.
//!
//! As papermill does it: the cell stands after the one tagged `parameters`, or first.

use notebooks::{Cell, CellKind, Notebook};
use serde_json::json;

const TAG: &str = "injected-parameters";

/// Puts the values in; a cell put in by an earlier run is replaced.
pub(super) fn inject(notebook: &mut Notebook, set: &[(String, String)]) -> Result<(), String> {
    if set.is_empty() {
        return Ok(());
    }
    let mut source = String::from("# Parameters");
    for (name, value) in set {
        if !is_name(name) {
            return Err(format!(
                "--set {name}={value}: `{name}` is not a name; write --set NAME=VALUE"
            ));
        }
        source += &format!("\n{name} = {}", literal(value));
    }
    notebook.cells.retain(|cell| !cell.has_tag(TAG));
    let place =
        notebook.cells.iter().position(|cell| cell.has_tag("parameters")).map_or(0, |at| at + 1);
    let mut cell = Cell::new(CellKind::Code, notebook.free_id(TAG), source);
    cell.metadata.insert("tags".into(), json!([TAG]));
    notebook.cells.insert(place, cell);
    Ok(())
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|it| it.is_alphabetic() || it == '_')
        && letters.all(|it| it.is_alphanumeric() || it == '_')
}

/// A number, a truth value, a quoted or a bracketed value as it is; anything else as text.
fn literal(value: &str) -> String {
    match value.trim() {
        "true" | "True" => "True".into(),
        "false" | "False" => "False".into(),
        "null" | "None" => "None".into(),
        value if is_number(value) || value.starts_with(['"', '\'', '[', '{', '(']) => value.into(),
        _ => quoted(value),
    }
}

fn is_number(value: &str) -> bool {
    let digits = value.trim_start_matches(['-', '+']);
    let octal =
        digits.len() > 1 && digits.starts_with('0') && digits.chars().all(|it| it.is_ascii_digit());
    digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && !octal
        && value.parse::<f64>().is_ok()
}

fn quoted(value: &str) -> String {
    let letter = |it: char| match it {
        '"' | '\\' => format!("\\{it}"),
        '\n' => "\\n".into(),
        it if it.is_control() => format!("\\u{:04x}", it as u32),
        it => it.to_string(),
    };
    format!("\"{}\"", value.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_literals() {
        let cases = [
            ("3", "3"),
            ("-1e-3", "-1e-3"),
            ("true", "True"),
            ("[1, 2]", "[1, 2]"),
            ("'x'", "'x'"),
            ("adam", "\"adam\""),
            ("a\"\\b\n", "\"a\\\"\\\\b\\n\""),
            ("007", "\"007\""),
            ("nan", "\"nan\""),
            ("", "\"\""),
        ];
        for (value, expected) in cases {
            assert_eq!(literal(value), expected);
        }
    }

    #[test]
    fn the_cell_stands_after_the_tagged_one_once() {
        let mut notebook =
            notebooks::from_source("# %%\nx\n# %% tags=[\"parameters\"]\nlr = 1\n# %%\nlr\n");
        let set = [("lr".to_string(), "0.5".to_string())];
        inject(&mut notebook, &set).unwrap();
        inject(&mut notebook, &set).unwrap();
        let sources: Vec<_> = notebook.cells.iter().map(|cell| cell.source.as_str()).collect();
        assert_eq!(sources, ["x", "lr = 1", "# Parameters\nlr = 0.5", "lr"]);
        let error = inject(&mut notebook, &[("1x".into(), "2".into())]).unwrap_err();
        assert_eq!(error, "--set 1x=2: `1x` is not a name; write --set NAME=VALUE");
    }
}
