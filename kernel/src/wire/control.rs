//! What is asked and answered on the control channel.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-control-router-dealer-channel>

use serde::Deserialize;
use serde_json::{Value, json};

use crate::handler::Failure;

/// `shutdown_request`.
#[derive(Debug, Default, Deserialize)]
pub struct ShutdownRequest {
    /// Whether a new kernel takes this one's place.
    #[serde(default)]
    pub restart: bool,
}

/// `shutdown_reply`, on the control channel and to all subscribers.
pub fn shutdown(restart: bool) -> Value {
    json!({"status": "ok", "restart": restart})
}

/// `interrupt_reply`.
pub fn interrupt() -> Value {
    json!({"status": "ok"})
}

/// Why there are no subshells.
/// <https://jupyter.org/enhancement-proposals/91-kernel-subshells/kernel-subshells.html>
pub const NO_SUBSHELLS: &str =
    "this kernel has no subshells; completion and help are answered while a cell runs";

/// `delete_subshell_request`.
#[derive(Debug, Deserialize)]
pub struct DeleteSubshellRequest {
    pub subshell_id: String,
}

/// `list_subshell_reply`: there are none.
pub fn subshells() -> Value {
    json!({"status": "ok", "subshell_id": []})
}

/// `debug_request`: a request of the Debug Adapter Protocol.
#[derive(Debug, Deserialize)]
pub struct DebugRequest {
    #[serde(default)]
    pub seq: i64,
    #[serde(default)]
    pub command: String,
}

/// `debug_reply`: there is no debugger, said as that protocol and as ours say it.
pub fn debug(request: &DebugRequest) -> Value {
    let message = "this kernel has no debugger; print values, or look at them in the next cell";
    let failure = Failure::new("NotImplementedError", message);
    let mut reply = super::shell::error(failure);
    reply["type"] = json!("response");
    reply["request_seq"] = json!(request.seq);
    reply["seq"] = json!(0);
    reply["success"] = json!(false);
    reply["command"] = json!(request.command);
    reply["message"] = json!(message);
    reply
}
