//! What is asked and answered on the shell channel.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-shell-router-dealer-channel>

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::handler::{Bundle, Completeness, Completion, Completions, Failure};

use super::header::VERSION;

/// `execute_request`. Fields that clients leave out have the values that the specification gives.
#[derive(Clone, Debug, Deserialize)]
pub struct ExecuteRequest {
    pub code: String,
    #[serde(default)]
    pub silent: bool,
    pub store_history: Option<bool>,
    #[serde(default)]
    pub user_expressions: Option<Map<String, Value>>,
    #[serde(default = "yes")]
    pub allow_stdin: bool,
    #[serde(default = "yes")]
    pub stop_on_error: bool,
}

fn yes() -> bool {
    true
}

/// `complete_request`; the cursor counts code points.
#[derive(Debug, Deserialize)]
pub struct CompleteRequest {
    pub code: String,
    pub cursor_pos: Option<usize>,
}

/// `inspect_request`; the cursor counts code points.
#[derive(Debug, Deserialize)]
pub struct InspectRequest {
    pub code: String,
    pub cursor_pos: Option<usize>,
    #[serde(default)]
    pub detail_level: u8,
}

/// `is_complete_request`.
#[derive(Debug, Deserialize)]
pub struct IsCompleteRequest {
    pub code: String,
}

/// `history_request`; which fields matter depends on `hist_access_type`.
#[derive(Debug, Default, Deserialize)]
pub struct HistoryRequest {
    #[serde(default)]
    pub output: bool,
    #[serde(default)]
    pub hist_access_type: String,
    pub session: Option<i64>,
    pub start: Option<i64>,
    pub stop: Option<i64>,
    pub n: Option<i64>,
    pub pattern: Option<String>,
    #[serde(default)]
    pub unique: Option<bool>,
}

/// `execute_reply`: all fields, whatever the status.
#[derive(Debug, Serialize)]
pub struct ExecuteReply {
    #[serde(flatten)]
    pub status: Status,
    pub execution_count: u32,
    pub user_expressions: Map<String, Value>,
    pub payload: Vec<Value>,
}

/// Whether a request was answered.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Status {
    Ok,
    Error {
        ename: String,
        evalue: String,
        traceback: Vec<String>,
    },
    /// Not run because a cell before it failed; clients look for the fields of an error, too.
    Aborted {
        ename: String,
        evalue: String,
        traceback: Vec<String>,
    },
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        let Failure { ename, evalue, traceback } = failure;
        Self::Error { ename, evalue, traceback }
    }
}

/// A reply that only says what went wrong.
pub fn error(failure: Failure) -> Value {
    serde_json::to_value(Status::from(failure)).unwrap_or_default()
}

/// `kernel_info_reply`.
pub fn kernel_info() -> Value {
    json!({
        "status": "ok",
        "protocol_version": VERSION,
        "implementation": "notegrad",
        "implementation_version": env!("CARGO_PKG_VERSION"),
        "language_info": {
            "name": "notegrad",
            "version": env!("CARGO_PKG_VERSION"),
            // A type of its own: tools for Python leave the cells alone.
            "mimetype": "text/x-notegrad",
            "file_extension": ".ng",
            "pygments_lexer": "ipython3",
            "codemirror_mode": {"name": "ipython", "version": 3},
            "nbconvert_exporter": "script",
        },
        "banner": concat!("Notegrad ", env!("CARGO_PKG_VERSION"), ": a tensor notebook. %lsmagic lists the magics, name? shows help."),
        "help_links": [
            {"text": "Jupyter messaging", "url": "https://jupyter-client.readthedocs.io/en/stable/messaging.html"},
            {"text": "Python language", "url": "https://docs.python.org/3/reference/"},
        ],
        "debugger": false,
        "supported_features": [],
    })
}

/// `complete_reply`.
pub fn complete(found: &Completions) -> Value {
    let typed = |it: &Completion| {
        let (start, end) = (found.start, found.end);
        json!({"text": it.text, "type": it.kind, "signature": it.signature, "start": start, "end": end})
    };
    let typed: Vec<Value> = found.matches.iter().map(typed).collect();
    json!({
        "status": "ok",
        "matches": found.matches.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(),
        "cursor_start": found.start,
        "cursor_end": found.end,
        // Read by index, so parallel to `matches`.
        "metadata": {"_jupyter_types_experimental": typed},
    })
}

/// `inspect_reply`.
pub fn inspect(found: Option<Bundle>) -> Value {
    let is_found = found.is_some();
    let Bundle { data, metadata } = found.unwrap_or_default();
    json!({"status": "ok", "found": is_found, "data": data, "metadata": metadata})
}

/// `is_complete_reply`.
pub fn is_complete(answer: &Completeness) -> Value {
    match answer {
        Completeness::Complete => json!({"status": "complete"}),
        Completeness::Incomplete { indent } => json!({"status": "incomplete", "indent": indent}),
        Completeness::Invalid => json!({"status": "invalid"}),
    }
}

/// One value of `user_expressions` in the reply.
pub fn user_expression(value: Result<Bundle, Failure>) -> Value {
    match value {
        Ok(Bundle { data, metadata }) => {
            json!({"status": "ok", "data": data, "metadata": metadata})
        }
        Err(failure) => error(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_may_leave_fields_out() {
        let request: ExecuteRequest = serde_json::from_str(r#"{"code":"1"}"#).unwrap();
        assert!(request.allow_stdin && request.stop_on_error && !request.silent);
        let search: HistoryRequest =
            serde_json::from_str(r#"{"hist_access_type":"search","pattern":"*"}"#).unwrap();
        assert_eq!((search.n, search.unique), (None, None));
    }

    #[test]
    fn an_error_reply_has_all_fields() {
        let reply = ExecuteReply {
            status: Failure::new("E", "v").into(),
            execution_count: 3,
            user_expressions: Map::new(),
            payload: vec![],
        };
        assert_eq!(
            serde_json::to_string(&reply).unwrap(),
            r#"{"status":"error","ename":"E","evalue":"v","traceback":["E: v"],"execution_count":3,"user_expressions":{},"payload":[]}"#
        );
    }
}
