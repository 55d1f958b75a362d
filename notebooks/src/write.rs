//! A notebook to JSON, laid out as Jupyter does it: keys sorted, one space of indent, texts as lines.

use serde_json::{Map, Value, json};

use crate::{Cell, CellKind, Notebook};

impl Notebook {
    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut fields = self.extra.clone();
        fields.insert("cells".into(), self.cells.iter().map(cell).collect());
        fields.insert("metadata".into(), Value::Object(self.metadata.clone()));
        fields.insert("nbformat".into(), 4.into());
        fields.insert("nbformat_minor".into(), 5.into());
        let mut json = Value::Object(fields);
        json.sort_all_objects();
        let mut text = Vec::new();
        let layout = serde_json::ser::PrettyFormatter::with_indent(b" ");
        let mut writer = serde_json::Serializer::with_formatter(&mut text, layout);
        // Writing a `Value` to memory cannot fail.
        let _ = serde::Serialize::serialize(&json, &mut writer);
        text.push(b'\n');
        String::from_utf8(text).unwrap_or_default()
    }
}

fn cell(cell: &Cell) -> Value {
    let mut fields = cell.extra.clone();
    fields.insert("cell_type".into(), cell.kind.name().into());
    fields.insert("id".into(), cell.id.clone().into());
    fields.insert("metadata".into(), Value::Object(cell.metadata.clone()));
    fields.insert("source".into(), lines(&cell.source));
    if cell.kind == CellKind::Code {
        fields.insert("execution_count".into(), json!(cell.execution_count));
        fields.insert("outputs".into(), cell.outputs.iter().map(output).collect());
    }
    Value::Object(fields)
}

fn output(output: &Value) -> Value {
    let mut output = output.clone();
    if let Some(text) = output.get("text").and_then(Value::as_str).map(lines) {
        output["text"] = text;
    }
    if let Some(data) = output.get_mut("data").and_then(Value::as_object_mut) {
        split_bundle(data);
    }
    output
}

fn split_bundle(data: &mut Map<String, Value>) {
    for (mime, form) in data.iter_mut() {
        let is_text = mime.starts_with("text/")
            || mime == "image/svg+xml"
            || mime == "application/javascript";
        if let Some(text) = form.as_str().filter(|_| is_text) {
            *form = lines(text);
        }
    }
}

/// Lines with their ends.
fn lines(text: &str) -> Value {
    text.split_inclusive('\n').map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As written by `nbformat.write` of nbformat 5.11.
    const WRITTEN: &str = include_str!("../tests/written_by_nbformat.ipynb");

    #[test]
    fn writes_what_jupyter_writes() {
        let notebook = Notebook::parse("a.ipynb", WRITTEN).unwrap();
        assert_eq!(notebook.to_json(), WRITTEN);
    }

    #[test]
    fn takes_sources_as_text_or_lines() {
        let lines = "[\n    \"x = 1\\n\",\n    \"x\"\n   ]";
        let text = WRITTEN.replace(lines, "\"x = 1\\nx\"");
        assert_ne!(text, WRITTEN);
        assert_eq!(Notebook::parse("a.ipynb", &text).unwrap().to_json(), WRITTEN);
    }

    #[test]
    fn strips_what_running_leaves() {
        let mut notebook = Notebook::parse("a.ipynb", WRITTEN).unwrap();
        notebook.strip();
        assert!(
            notebook
                .cells
                .iter()
                .all(|cell| cell.outputs.is_empty() && cell.execution_count.is_none())
        );
        assert!(notebook.cells.iter().any(|cell| cell.has_tag("parameters")));
        assert!(!notebook.to_json().contains("iopub"));
    }
}
