//! The kernel: Jupyter's protocol, how results look, the notebook runner and the command line.
//!
//! Sockets, shell, control and stdin each have a thread; so has the interpreter, and nothing waits
//! for it. `handler` is the boundary: what stands behind it knows no sockets, what stands before it
//! knows no language.

pub mod allocator;
pub mod capture;
pub mod cli;
pub mod client;
pub mod connection;
pub mod display;
pub mod doctor;
pub mod echo;
pub mod explain;
pub mod handler;
pub mod history;
mod html_page;
pub mod install;
pub mod interpreter;
pub mod language;
pub mod load_and_run;
mod lock;
mod python;
pub mod queue;
pub mod runner;
pub mod running;
pub mod server;
pub mod signals;
pub mod socket;
pub mod terminal;
pub mod usage;
pub mod wire;
