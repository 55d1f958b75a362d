//! Whether two runs of a notebook showed the same, apart from what differs by nature.
//!
//! Ignored: execution counts, metadata, how a stream was cut into pieces, and times and speeds in
//! the text. Everything else counts.

use std::fmt;

use serde_json::{Value, json};

use crate::{Cell, Notebook};

/// One thing in which two notebooks differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The cell, from 1; 0: the notebook as a whole.
    pub cell: usize,
    /// What differs.
    pub what: String,
    /// As it is in the first notebook.
    pub expected: String,
    /// As it is in the second.
    pub actual: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, what, expected, actual } = self;
        write!(f, "cell {cell}: {what} differs\n  expected: {expected}\n  actual:   {actual}")
    }
}

/// All differences, in order.
pub fn compare(expected: &Notebook, actual: &Notebook) -> Vec<Difference> {
    let mut found = Vec::new();
    let counts = (expected.cells.len().to_string(), actual.cells.len().to_string());
    note(&mut found, 0, "number of cells", counts.0, counts.1);
    for (cell_idx, (expected, actual)) in expected.cells.iter().zip(&actual.cells).enumerate() {
        compare_cells(&mut found, cell_idx + 1, expected, actual);
    }
    found
}

fn compare_cells(found: &mut Vec<Difference>, cell: usize, expected: &Cell, actual: &Cell) {
    note(found, cell, "kind", expected.kind.name().into(), actual.kind.name().into());
    note(found, cell, "source", expected.source.clone(), actual.source.clone());
    let (expected, actual) = (normal_outputs(expected), normal_outputs(actual));
    note(found, cell, "number of outputs", expected.len().to_string(), actual.len().to_string());
    for (at, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
        note(found, cell, &format!("output {}", at + 1), expected.to_string(), actual.to_string());
    }
}

fn note(found: &mut Vec<Difference>, cell: usize, what: &str, expected: String, actual: String) {
    if expected != actual {
        found.push(Difference { cell, what: what.into(), expected, actual });
    }
}

/// Outputs as they are compared.
fn normal_outputs(cell: &Cell) -> Vec<Value> {
    let mut normal: Vec<Value> = Vec::new();
    for output in &cell.outputs {
        let mut output = output.clone();
        if let Some(fields) = output.as_object_mut() {
            fields.remove("execution_count");
            fields.remove("metadata");
            fields.sort_keys();
        }
        match normal.last_mut() {
            Some(last) if is_same_stream(last, &output) => {
                let text =
                    [&*last, &output].map(|it| it["text"].as_str().unwrap_or_default()).concat();
                last["text"] = text.into();
            }
            _ => normal.push(output),
        }
    }
    normal.iter_mut().for_each(hide_times);
    normal.iter_mut().for_each(Value::sort_all_objects);
    normal
}

fn is_same_stream(last: &Value, next: &Value) -> bool {
    last["output_type"] == "stream"
        && next["output_type"] == "stream"
        && last["name"] == next["name"]
}

fn hide_times(json: &mut Value) {
    match json {
        Value::String(text) => *json = json!(without_times(text)),
        Value::Array(items) => items.iter_mut().for_each(hide_times),
        Value::Object(fields) => fields.values_mut().for_each(hide_times),
        _ => {}
    }
}

/// The text with `#` for each number that a unit of time or speed follows, and for clocks (`01:23`).
fn without_times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        let in_word =
            rest[..start].chars().next_back().is_some_and(|it| it.is_alphanumeric() || it == '_');
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let number = number_len(rest);
        let unit = if in_word { None } else { unit_len(&rest[number..]) };
        match unit {
            Some(unit) => {
                out.push('#');
                out.push_str(
                    rest[number..number + unit]
                        .trim_start_matches(|it: char| it.is_ascii_digit() || it == ':'),
                );
                rest = &rest[number + unit..];
            }
            None => {
                out.push_str(&rest[..number]);
                rest = &rest[number..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn number_len(text: &str) -> usize {
    let digits = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    // A full stop that ends a sentence is no part of the number.
    text[..digits].trim_end_matches('.').len()
}

/// Length of the unit after a number; `None` if there is none.
fn unit_len(text: &str) -> Option<usize> {
    let space = text.len() - text.trim_start_matches([' ', '\u{a0}']).len();
    let word = &text[space..];
    let end = word.find(|it: char| !it.is_alphanumeric() && it != '/').unwrap_or(word.len());
    let units = [
        "ns", "us", "µs", "μs", "ms", "s", "sec", "seconds", "min", "it/s", "s/it", "GFLOP/s",
        "GB/s",
    ];
    if units.contains(&&word[..end]) {
        return Some(space + end);
    }
    let clock = text.find(|it: char| !it.is_ascii_digit() && it != ':').unwrap_or(text.len());
    (clock >= 3 && text.starts_with(':')).then_some(clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CellKind;

    fn check(text: &str, expected: &str) {
        assert_eq!(without_times(text), expected);
    }

    #[test]
    fn hides_times_only() {
        check("12.5 ms per loop, 3 loops", "# ms per loop, 3 loops");
        check("took 0.25s. Loss 0.25.", "took #s. Loss 0.25.");
        check("30/120 [00:02<00:07, 12.0 it/s]", "30/120 [#<#, # it/s]");
        check("conv2 s, 1:, [1, 2]", "conv2 s, 1:, [1, 2]");
    }

    fn notebook(outputs: Vec<Value>) -> Notebook {
        let cell = Cell { outputs, ..Cell::new(CellKind::Code, "a", "f()") };
        Notebook { cells: vec![cell], ..Notebook::default() }
    }

    #[test]
    fn ignores_counts_and_pieces_of_streams() {
        let stream = |text: &str| json!({"output_type": "stream", "name": "stdout", "text": text});
        let result = |count: u64, text: &str| json!({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": {"text/plain": text}});
        let first = notebook(vec![stream("a\nb\n"), result(1, "2")]);
        let second = notebook(vec![stream("a\n"), stream("b\n"), result(7, "2")]);
        assert_eq!(compare(&first, &second), []);
        let third = notebook(vec![stream("a\nb\n"), result(1, "3")]);
        let found = compare(&first, &third);
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("cell 1: output 2 differs\n"), "{}", found[0]);
        assert_eq!(compare(&first, &Notebook::default())[0].what, "number of cells");
    }
}
