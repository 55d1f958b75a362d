//! Questions to the user and the answers.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#messages-on-the-stdin-router-dealer-channel>

use serde::{Deserialize, Serialize};

/// `input_request`.
#[derive(Debug, Serialize)]
pub struct InputRequest<'a> {
    pub prompt: &'a str,
    pub password: bool,
}

/// `input_reply`.
#[derive(Debug, Deserialize)]
pub struct InputReply {
    pub value: String,
}
