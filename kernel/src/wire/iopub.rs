//! What is published to all subscribers.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-iopub-pub-sub-channel>

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::handler::{Bundle, Failure};

/// `status`: whether somebody's request is being worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "execution_state", rename_all = "lowercase")]
pub enum State {
    Starting,
    Busy,
    Idle,
}

/// The two streams of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamName {
    Stdout,
    Stderr,
}

/// `stream`: text as it is written.
#[derive(Debug, Serialize)]
pub struct Stream<'a> {
    pub name: StreamName,
    pub text: &'a str,
}

/// `execute_input`: what is being run, for the other frontends.
#[derive(Debug, Serialize)]
pub struct ExecuteInput<'a> {
    pub code: &'a str,
    pub execution_count: u32,
}

/// `execute_result`: the value of a cell.
#[derive(Debug, Serialize)]
pub struct ExecuteResult<'a> {
    pub execution_count: u32,
    pub data: &'a Map<String, Value>,
    pub metadata: &'a Map<String, Value>,
    pub transient: Map<String, Value>,
}

/// `display_data` and `update_display_data`.
#[derive(Debug, Serialize)]
pub struct DisplayData<'a> {
    pub data: &'a Map<String, Value>,
    pub metadata: &'a Map<String, Value>,
    pub transient: Map<String, Value>,
}

impl<'a> DisplayData<'a> {
    /// A bundle, under an id if it has one.
    pub fn new(bundle: &'a Bundle, id: Option<&str>) -> Self {
        let transient =
            id.map(|id| ("display_id".to_owned(), Value::from(id))).into_iter().collect();
        Self { data: &bundle.data, metadata: &bundle.metadata, transient }
    }
}

/// `clear_output`.
#[derive(Debug, Serialize)]
pub struct ClearOutput {
    pub wait: bool,
}

/// `error`: what ended a cell.
pub fn error(failure: &Failure) -> Value {
    json!({"ename": failure.ename, "evalue": failure.evalue, "traceback": failure.traceback})
}

/// `iopub_welcome`: the first message to a new subscriber.
/// <https://jupyter.org/enhancement-proposals/65-jupyter-xpub/jupyter-xpub.html>
pub fn welcome(subscription: &str) -> Value {
    json!({"subscription": subscription})
}
