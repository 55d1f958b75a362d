//! The sockets. `transport` is what the rest sees; `router` and `publisher` are the two kinds over
//! `zmtp`; `dial` is a frontend's end; each other file is one channel's loop.

pub mod control;
pub(crate) mod dial;
pub mod heartbeat;
pub mod iopub;
mod outbox;
pub mod publisher;
pub mod router;
pub mod shell;
pub mod stdin;
pub mod transport;
mod zmtp;
