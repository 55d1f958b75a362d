//! JSON to a notebook. Every departure from the format is an error that names the cell.
//!
//! Spec: <https://nbformat.readthedocs.io/en/latest/format_description.html>.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::{Cell, CellKind, Error, Notebook};

/// What is wrong, without the place.
type Checked<T> = Result<T, String>;

/// The most bytes that are read: a device such as `/dev/zero` has no end.
const MOST_BYTES: u64 = 1 << 28;

/// The text of a file, or of standard input (`-`), which must have an end. Devices, pipes and sockets are refused unread.
pub fn read_text(path: &Path) -> io::Result<String> {
    if path == Path::new(STDIN) {
        return read_at_most(io::stdin().lock(), MOST_BYTES);
    }
    let found = fs::metadata(path)?;
    if !found.is_file() && !is_given_open(path) {
        return Err(io::Error::other(if found.is_dir() { FOLDER } else { NO_FILE }));
    }
    if found.len() > MOST_BYTES {
        return Err(too_long(MOST_BYTES));
    }
    read_at_most(File::open(path)?, MOST_BYTES)
}

/// The path that stands for standard input.
pub const STDIN: &str = "-";

const FOLDER: &str = "this is a folder; name a file in it";
const NO_FILE: &str =
    "this is a device, pipe or socket; copy what it gives into a file, and name that";

/// Whether the path is one of the files that the process was started with, such as `/dev/stdin` or what `<(...)` of a shell makes.
fn is_given_open(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd")
}

fn too_long(most: u64) -> io::Error {
    io::Error::other(format!("more than {} MiB, which is no notebook or program", most >> 20))
}

fn read_at_most(file: impl Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_long(most));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8 text"))
}

impl Notebook {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| Error::whole(&name, error))?;
        Self::parse(&name, &text)
    }

    /// Reads text; `file` is named in errors. Missing cell ids are filled in.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let json: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| Error::whole(file, format!("not JSON: {error}")))?;
        let mut extra =
            object(json, "the notebook").map_err(|reason| Error::whole(file, reason))?;
        let (metadata, cells) = whole(&mut extra).map_err(|reason| Error::whole(file, reason))?;
        let mut notebook = Self { metadata, cells: Vec::with_capacity(cells.len()), extra };
        let mut ids = HashSet::new();
        for (cell_idx, json) in cells.into_iter().enumerate() {
            let cell = cell(json).and_then(|cell| {
                let is_new = cell.id.is_empty() || ids.insert(cell.id.clone());
                if is_new {
                    Ok(cell)
                } else {
                    Err(format!("another cell has the id `{}`", cell.id))
                }
            });
            let place = |reason| Error { file: file.into(), cell: Some(cell_idx + 1), reason };
            notebook.cells.push(cell.map_err(place)?);
        }
        for cell_idx in 0..notebook.cells.len() {
            if notebook.cells[cell_idx].id.is_empty() {
                notebook.cells[cell_idx].id = notebook.free_id(&format!("cell-{}", cell_idx + 1));
            }
        }
        Ok(notebook)
    }
}

/// Takes what is known out of the notebook's fields.
fn whole(fields: &mut Map<String, Value>) -> Checked<(Map<String, Value>, Vec<Value>)> {
    match fields.remove("nbformat").as_ref().and_then(Value::as_u64) {
        Some(4) => {}
        Some(other) => return Err(format!("nbformat {other} is not known; expected nbformat 4")),
        None => return Err("`nbformat` is missing; expected 4".into()),
    }
    fields.remove("nbformat_minor");
    let metadata = object(take(fields, "metadata")?, "`metadata`")?;
    Ok((metadata, array(take(fields, "cells")?, "`cells`")?))
}

fn cell(json: Value) -> Checked<Cell> {
    let mut fields = object(json, "the cell")?;
    let kind = match string(take(&mut fields, "cell_type")?, "`cell_type`")?.as_str() {
        "code" => CellKind::Code,
        "markdown" => CellKind::Markdown,
        "raw" => CellKind::Raw,
        other => return Err(format!("`cell_type` is `{other}`; expected code, markdown or raw")),
    };
    let id = fields
        .remove("id")
        .map_or(Ok(String::new()), |id| string(id, "`id`").and_then(checked_id))?;
    let metadata = object(take(&mut fields, "metadata")?, "`metadata`")?;
    let mut cell =
        Cell { metadata, ..Cell::new(kind, id, joined(take(&mut fields, "source")?, "`source`")?) };
    if kind == CellKind::Code {
        cell.execution_count = count(fields.remove("execution_count"))?;
        let outputs = array(take(&mut fields, "outputs")?, "`outputs`")?.into_iter().enumerate();
        let outputs = outputs.map(|(at, json)| {
            output(json).map_err(|reason| format!("output {}: {reason}", at + 1))
        });
        cell.outputs = outputs.collect::<Checked<_>>()?;
    }
    cell.extra = fields;
    Ok(cell)
}

fn checked_id(id: String) -> Checked<String> {
    let legal = (1..=64).contains(&id.len())
        && id.chars().all(|it| it.is_ascii_alphanumeric() || "-_".contains(it));
    if legal {
        Ok(id)
    } else {
        Err(format!("the id `{id}` is not 1 to 64 letters, digits, `-` or `_`"))
    }
}

fn output(json: Value) -> Checked<Value> {
    let mut fields = object(json, "it")?;
    match fields.get("output_type").and_then(Value::as_str).unwrap_or_default() {
        "stream" => {
            field(&fields, "name", Value::is_string, "a string")?;
            join_field(&mut fields, "text")?;
        }
        "display_data" => join_bundle(&mut fields)?,
        "execute_result" => {
            count(fields.get("execution_count").cloned())?;
            join_bundle(&mut fields)?;
        }
        "error" => {
            field(&fields, "ename", Value::is_string, "a string")?;
            field(&fields, "evalue", Value::is_string, "a string")?;
            field(&fields, "traceback", Value::is_array, "an array")?;
        }
        other => return Err(format!("`output_type` is `{other}`")),
    }
    Ok(Value::Object(fields))
}

/// Joins the multi-line forms of a MIME bundle.
fn join_bundle(fields: &mut Map<String, Value>) -> Checked<()> {
    field(fields, "metadata", Value::is_object, "an object")?;
    let Some(Value::Object(data)) = fields.get_mut("data") else {
        return Err("`data` is not an object".into());
    };
    let mimes: Vec<String> = data.keys().filter(|mime| !is_json(mime)).cloned().collect();
    mimes.iter().try_for_each(|mime| join_field(data, mime))
}

/// Forms under these types are JSON values, all others are text.
pub(crate) fn is_json(mime: &str) -> bool {
    mime == "application/json" || (mime.starts_with("application/") && mime.ends_with("+json"))
}

fn join_field(fields: &mut Map<String, Value>, name: &str) -> Checked<()> {
    let text = joined(fields.get(name).cloned().unwrap_or_default(), &format!("`{name}`"))?;
    fields.insert(name.into(), text.into());
    Ok(())
}

/// A string, or an array of strings.
fn joined(json: Value, name: &str) -> Checked<String> {
    match json {
        Value::String(text) => Ok(text),
        Value::Array(lines) => {
            lines.into_iter().map(|line| string(line, &format!("a line of {name}"))).collect()
        }
        _ => Err(format!("{name} is neither a string nor an array of strings")),
    }
}

fn count(json: Option<Value>) -> Checked<Option<u64>> {
    match json {
        None | Some(Value::Null) => Ok(None),
        Some(json) => {
            json.as_u64().map(Some).ok_or_else(|| "`execution_count` is not a count".into())
        }
    }
}

fn field(
    fields: &Map<String, Value>,
    name: &str,
    is: fn(&Value) -> bool,
    kind: &str,
) -> Checked<()> {
    if fields.get(name).is_some_and(is) { Ok(()) } else { Err(format!("`{name}` is not {kind}")) }
}

fn take(fields: &mut Map<String, Value>, name: &str) -> Checked<Value> {
    // `remove` would put the last field in its place.
    fields.shift_remove(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn object(json: Value, name: &str) -> Checked<Map<String, Value>> {
    if let Value::Object(fields) = json {
        Ok(fields)
    } else {
        Err(format!("{name} is not an object"))
    }
}

fn array(json: Value, name: &str) -> Checked<Vec<Value>> {
    if let Value::Array(items) = json { Ok(items) } else { Err(format!("{name} is not an array")) }
}

fn string(json: Value, name: &str) -> Checked<String> {
    if let Value::String(text) = json { Ok(text) } else { Err(format!("{name} is not a string")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cells: &str, expected: &str) {
        let text = format!(
            "{{\"nbformat\": 4, \"nbformat_minor\": 5, \"metadata\": {{}}, \"cells\": [{cells}]}}"
        );
        assert_eq!(Notebook::parse("a.ipynb", &text).unwrap_err().to_string(), expected);
    }

    #[test]
    fn errors_name_file_cell_and_reason() {
        let good = r#"{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ""}"#;
        check("3", "a.ipynb: cell 1: the cell is not an object");
        check(&format!("{good}, {good}"), "a.ipynb: cell 2: another cell has the id `a`");
        check(
            &good.replace("\"\"", "4"),
            "a.ipynb: cell 1: `source` is neither a string nor an array of strings",
        );
        check(
            &good.replace("\"a\"", "\"a b\""),
            "a.ipynb: cell 1: the id `a b` is not 1 to 64 letters, digits, `-` or `_`",
        );
        check(
            &good.replace("markdown", "x"),
            "a.ipynb: cell 1: `cell_type` is `x`; expected code, markdown or raw",
        );
        check(&good.replace("markdown", "code"), "a.ipynb: cell 1: `outputs` is missing");
        let code = good
            .replace("markdown", "code")
            .replace("\"source\"", "\"outputs\": [{\"output_type\": \"stream\"}], \"source\"");
        check(&code, "a.ipynb: cell 1: output 1: `name` is not a string");
    }

    #[test]
    fn errors_about_the_whole_name_the_file() {
        let read = |text: &str| Notebook::parse("a.ipynb", text).unwrap_err().to_string();
        assert!(read("{").starts_with("a.ipynb: not JSON: "));
        assert_eq!(read("[]"), "a.ipynb: the notebook is not an object");
        assert_eq!(
            read(r#"{"nbformat": 3}"#),
            "a.ipynb: nbformat 3 is not known; expected nbformat 4"
        );
        assert_eq!(read(r#"{"nbformat": 4, "metadata": {}}"#), "a.ipynb: `cells` is missing");
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let error = read_at_most(io::repeat(0), 3 << 20).unwrap_err().to_string();
        assert_eq!(error, "more than 3 MiB, which is no notebook or program");
        assert_eq!(read_at_most(&b"x = 1"[..], 5).unwrap(), "x = 1");
        let giant = tempfile::NamedTempFile::new().unwrap();
        giant.as_file().set_len(1 << 40).unwrap();
        let error = read_text(giant.path()).unwrap_err().to_string();
        assert_eq!(error, "more than 256 MiB, which is no notebook or program");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in
            [&socket, Path::new("/dev/zero"), Path::new("/dev/null"), Path::new("/dev/full")]
        {
            let error = read_text(path).unwrap_err().to_string();
            assert!(error.starts_with("this is a device, pipe or socket"), "{path:?}: {error}");
        }
        let error = read_text(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "this is a folder; name a file in it");
    }
}
