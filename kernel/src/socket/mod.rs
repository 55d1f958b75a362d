//! The sockets. `transport` is what the rest sees; `router` and `publisher` are the two kinds over
//! `zmtp`; `dial` is a frontend's end; each other file is one channel's loop.

pub mod control;
pub(crate) mod dial;
pub mod heartbeat;
pub mod iopub;
mod outbox;
mod pace;
pub mod publisher;
pub mod router;
pub mod shell;
pub mod stdin;
pub mod transport;
mod zmtp;

/// The messages of a peer that sends `bytes`, from its greeting on; for looking at what was sent, and for the fuzzer.
pub fn messages_in(bytes: &[u8]) -> Vec<Vec<bytes::Bytes>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.map(|it| it.block_on(zmtp::read_messages(bytes, 1 << 20))).unwrap_or_default()
}
