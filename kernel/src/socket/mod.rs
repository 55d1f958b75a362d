//! The sockets. `transport` is what the rest sees; `router` and `publisher` are the two kinds over
//! `zmtp`; each other file is one channel's loop.

pub mod control;
pub mod heartbeat;
pub mod iopub;
mod outbox;
pub mod publisher;
pub mod router;
pub mod shell;
pub mod stdin;
pub mod transport;
mod zmtp;
