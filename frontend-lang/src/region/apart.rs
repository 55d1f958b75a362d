//! The host of a part of a function: it does nothing, and notes that it was asked.

use std::cell::Cell;

use crate::host::{FileError, Host, Metadata};
use crate::shown::Notice;
use crate::value::Value;

thread_local! {
    static USED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// What the host was asked for since the last call, in words.
pub(super) fn take_use() -> Option<&'static str> {
    USED.take()
}

fn used(what: &'static str) {
    USED.set(Some(what));
}

/// The answer of a host that does nothing.
fn nothing<T, E: From<String>>(what: &'static str) -> Result<T, E> {
    used(what);
    Err(format!("{what} cannot stand here").into())
}

/// A host that is not asked.
pub(super) struct Apart;

const FILES: &str = "work with files";

impl Host for Apart {
    fn stdout(&mut self, _text: &str) {
        used("`print`");
    }

    fn stderr(&mut self, _text: &str) {
        used("`print`");
    }

    fn display(&mut self, _value: &Value, _text: &str, _id: Option<&str>, _update: bool) {
        used("`display`");
    }

    fn notice(&mut self, _notice: &Notice) {}

    fn clear_output(&mut self, _wait: bool) {
        used("`clear_output`");
    }

    fn input(&mut self, _prompt: &str, _password: bool) -> Result<String, String> {
        nothing("`input`")
    }

    fn monotonic(&self) -> f64 {
        used("a look at the clock");
        0.0
    }

    fn wall(&self) -> f64 {
        used("a look at the clock");
        0.0
    }

    fn sleep(&mut self, _seconds: f64) {
        used("`sleep`");
    }

    fn read_file(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        nothing(FILES)
    }

    fn write_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn current_dir(&self) -> Result<String, FileError> {
        nothing(FILES)
    }

    fn set_current_dir(&mut self, _path: &str) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn create_file(&mut self, _path: &str) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn append_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn remove_file(&mut self, _path: &str) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn rename(&mut self, _path: &str, _to: &str) -> Result<(), FileError> {
        nothing(FILES)
    }

    fn metadata(&self, _path: &str) -> Result<Metadata, FileError> {
        nothing(FILES)
    }

    fn list_dir(&self, _path: &str) -> Result<Vec<String>, FileError> {
        nothing(FILES)
    }
}
