//! What is asked and answered on the control channel.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-control-router-dealer-channel>

use serde::Deserialize;
use serde_json::{Value, json};

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
