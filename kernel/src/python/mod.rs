//! The process in which Python packages run: which interpreter, how it is started, talked to, interrupted and ended.
//!
//! What the frames say is none of its business; the language and the program of the process know.

#[cfg(unix)]
mod channel;
#[cfg(unix)]
mod ending;
#[cfg(unix)]
mod find;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod raw;
#[cfg(unix)]
mod shared;
#[cfg(unix)]
mod wait;

use frontend_lang::python::worker::{Lost, Wanted, Worker};

use crate::handler::InterruptFlag;

/// Starts the process. A flag that is set meanwhile stops the start and stays set; afterwards it asks the process to stop what it does.
///
/// Lost: there is no such Python, it is older than 3.8, or it does not come up.
#[cfg(unix)]
pub(crate) fn start(wanted: &Wanted, flag: &InterruptFlag) -> Result<Box<dyn Worker>, Lost> {
    let python = find::find(wanted, |name| std::env::var_os(name))?;
    let program = frontend_lang::python::worker::PROGRAM;
    Ok(Box::new(process::Process::start(&python, program, flag)?))
}

/// Starts no process: there is no way to talk to it here.
#[cfg(not(unix))]
pub(crate) fn start(_: &Wanted, _: &InterruptFlag) -> Result<Box<dyn Worker>, Lost> {
    Err(Lost("Python packages need Linux or macOS (on Windows: WSL)".to_owned()))
}
