//! The process that runs Python packages, as the language sees it: frames there and back, and a piece of shared memory.

use std::fmt;

/// The program that the process runs; it speaks the other side of [`crate::python::wire`].
pub const PROGRAM: &str = concat!(
    include_str!("worker/channel.py"),
    "\n\n",
    include_str!("worker/values.py"),
    "\n\n",
    include_str!("worker/guests.py"),
    "\n\n",
    include_str!("worker/requests.py"),
);

/// Which Python to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Program or folder of a virtual environment; `None`: what the system finds.
    pub path: Option<String>,
}

/// The interpreter that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Its program.
    pub path: String,
    /// Its version, such as `3.11.2`.
    pub version: String,
    /// Seconds from the start until it answered.
    pub seconds: f64,
}

/// Why there is no Python, or none any more; a sentence for the user that also says how to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What came from the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame.
    Frame(Vec<u8>),
    /// What programs and libraries there wrote to the outputs of the process, past Python.
    Raw(String),
}

/// A running process. It is ended, with all that it holds, when this is dropped.
pub trait Worker {
    /// The interpreter.
    fn about(&self) -> &About;

    /// Sends a frame.
    fn send(&mut self, frame: &[u8]) -> Result<(), Lost>;

    /// Waits for what comes next. When the user asks to stop meanwhile, the process is told (it then raises `KeyboardInterrupt` and
    /// answers); the flag is cleared, and the wait goes on. A process that does not obey is ended when the user asks again.
    fn receive(&mut self) -> Result<Arrival, Lost>;

    /// Writes into the shared memory, which grows as needed.
    fn write_shared(&mut self, at: u64, bytes: &[u8]) -> Result<(), Lost>;

    /// Reads from the shared memory.
    fn read_shared(&mut self, at: u64, into: &mut [u8]) -> Result<(), Lost>;
}
