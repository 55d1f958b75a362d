//! Editor services: what could stand at the cursor, what a name means, whether a cell is whole.
//!
//! All of it reads a [`Snapshot`] and the text under edit, on any thread, also while a cell runs. The snapshot is made between
//! cells by [`describe`]; it is plain data. Places in the text are bytes; who speaks to clients converts them.

pub mod complete;
mod dataclass;
pub mod describe;
pub mod help;
mod infer;
pub mod inspect;
pub mod is_complete;
mod library;
mod module_shapes;
mod outline;
pub(crate) mod places;
mod python;
mod shape_rule;
mod site;
mod subject;
mod tokens;

pub use complete::file::paths;
pub use library::warm_up;
pub use site::command;
pub use subject::{Entries, Key, Members, Param, Row, Snapshot, Subject};

/// Files, as completion sees them.
pub trait Files: Send + Sync {
    /// Names in a folder, and which of them are folders; empty if it cannot be read.
    fn list(&self, folder: &str) -> Vec<(String, bool)>;
}

/// A world without files.
pub struct NoFiles;

impl Files for NoFiles {
    fn list(&self, _folder: &str) -> Vec<(String, bool)> {
        Vec::new()
    }
}
