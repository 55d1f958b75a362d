//! Comms: channels between widgets and a kernel. We offer no target, and say so.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#custom-messages>

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// `comm_open`, as far as we read it.
#[derive(Debug, Deserialize)]
pub struct CommOpen {
    pub comm_id: String,
}

/// `comm_close`: the answer to a target that nobody has.
#[derive(Debug, Serialize)]
pub struct CommClose {
    pub comm_id: String,
    pub data: Map<String, Value>,
}

/// `comm_info_reply`: no comm is open.
pub fn comm_info() -> Value {
    json!({"status": "ok", "comms": {}})
}
