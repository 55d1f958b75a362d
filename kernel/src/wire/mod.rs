//! Messages: signed frames, headers, and the content of each message by channel.

pub mod comm;
pub mod control;
pub mod header;
pub mod iopub;
pub mod shell;
pub mod sign;
pub mod stdin;
