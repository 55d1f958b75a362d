//! Requests with their headers, and messages of our own.
//!
//! The header of a request is kept as the bytes that came, and goes back as they are in
//! `parent_header`: what a client put there (`subshell_id` and what comes later) survives.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::sign::{self, Key};

/// The protocol version that we speak.
pub const VERSION: &str = "5.5";

/// A message from a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the reply goes.
    pub identities: Vec<Bytes>,
    /// The header, byte for byte.
    pub header: Bytes,
    /// What is asked: `execute_request`.
    pub msg_type: String,
    /// Notes beside the content, as JSON.
    pub metadata: Bytes,
    /// What the request says, as JSON.
    pub content: Bytes,
}

impl Request {
    /// The content as one kind of request.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.content).map_err(|error| format!("{}: {error}", self.msg_type))
    }

    /// One string of the metadata.
    pub fn note(&self, name: &str) -> Option<String> {
        let metadata: Map<String, Value> = serde_json::from_slice(&self.metadata).ok()?;
        Some(metadata.get(name)?.as_str()?.to_owned())
    }
}

#[derive(Deserialize)]
struct Head {
    msg_type: String,
}

#[derive(Serialize)]
struct Header<'a> {
    msg_id: &'a str,
    session: &'a str,
    username: &'a str,
    date: &'a str,
    msg_type: &'a str,
    version: &'a str,
}

/// Reads and writes the messages of one connection.
pub struct Wire {
    key: Key,
    session: String,
    sent: AtomicU64,
}

impl Wire {
    /// A new session with this key.
    pub fn new(key: &str) -> Self {
        let session = uuid::Uuid::new_v4().simple().to_string();
        Self { key: Key::new(key), session, sent: AtomicU64::new(0) }
    }

    /// The name of this run of the kernel.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// A request from its frames; `None` if it is malformed or forged.
    pub fn read(&self, frames: &[Bytes]) -> Option<Request> {
        let frames = sign::split(frames, &self.key)?;
        let head: Head = serde_json::from_slice(&frames.header).ok()?;
        Some(Request {
            identities: frames.identities,
            header: frames.header,
            msg_type: head.msg_type,
            metadata: frames.metadata,
            content: frames.content,
        })
    }

    /// The frames of a message; an empty `parent` means that nobody asked for it.
    pub fn write<T: Serialize>(
        &self,
        prefix: Vec<Bytes>,
        msg_type: &str,
        parent: &Bytes,
        content: &T,
    ) -> Vec<Bytes> {
        let empty = Bytes::from_static(b"{}");
        let parent = if parent.is_empty() { empty.clone() } else { parent.clone() };
        // Only a map with keys that are not text can fail, and no content has one.
        let content = serde_json::to_vec(content).map_or_else(|_| empty.clone(), Bytes::from);
        sign::join(prefix, &self.key, [self.header(msg_type), parent, empty, content])
    }

    fn header(&self, msg_type: &str) -> Bytes {
        let msg_id = format!("{}_{}", self.session, self.sent.fetch_add(1, Ordering::Relaxed));
        let date = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let header = Header {
            msg_id: &msg_id,
            session: &self.session,
            username: "notegrad",
            date: &date,
            msg_type,
            version: VERSION,
        };
        Bytes::from(serde_json::to_vec(&header).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_header_goes_back_byte_for_byte() {
        let wire = Wire::new("key");
        let raw = Bytes::from_static(
            br#"{ "msg_type":"x", "msg_id":"1", "subshell_id" : "s", "n":1.50 }"#,
        );
        let frames = wire.write(vec![], "x_reply", &raw, &Map::new());
        assert_eq!(frames[3], raw);
        assert!(wire.read(&frames).is_some());
    }

    #[test]
    fn a_header_that_is_not_json_is_malformed() {
        let wire = Wire::new("");
        let frames: Vec<Bytes> = [sign::DELIMITER, b"", b"nonsense", b"{}", b"{}", b"{}"]
            .into_iter()
            .map(Bytes::copy_from_slice)
            .collect();
        assert!(wire.read(&frames).is_none());
    }
}
