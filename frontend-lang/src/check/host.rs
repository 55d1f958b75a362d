//! The host of a check: it hears nothing and tells nothing. What is asked of it makes the answer unknown.

use crate::check::unknown::touch;
use crate::host::{FileError, Host, Metadata};
use crate::shown::Notice;
use crate::value::Value;

/// A host that is not there.
pub(crate) struct Nobody;

fn absent<T, E: From<String>>() -> Result<T, E> {
    touch();
    Err("there is no world in a check".to_owned().into())
}

impl Host for Nobody {
    fn stdout(&mut self, _text: &str) {}

    fn stderr(&mut self, _text: &str) {}

    fn display(&mut self, _value: &Value, _text: &str, _id: Option<&str>, _update: bool) {}

    fn notice(&mut self, _notice: &Notice) {}

    fn clear_output(&mut self, _wait: bool) {}

    fn input(&mut self, _prompt: &str, _password: bool) -> Result<String, String> {
        absent()
    }

    fn monotonic(&self) -> f64 {
        touch();
        0.0
    }

    fn wall(&self) -> f64 {
        touch();
        0.0
    }

    fn sleep(&mut self, _seconds: f64) {}

    fn read_file(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        absent()
    }

    fn write_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), FileError> {
        absent()
    }

    fn current_dir(&self) -> Result<String, FileError> {
        absent()
    }

    fn set_current_dir(&mut self, _path: &str) -> Result<(), FileError> {
        absent()
    }

    fn create_file(&mut self, _path: &str) -> Result<(), FileError> {
        absent()
    }

    fn append_file(&mut self, _path: &str, _bytes: &[u8]) -> Result<(), FileError> {
        absent()
    }

    fn remove_file(&mut self, _path: &str) -> Result<(), FileError> {
        absent()
    }

    fn rename(&mut self, _path: &str, _to: &str) -> Result<(), FileError> {
        absent()
    }

    fn metadata(&self, _path: &str) -> Result<Metadata, FileError> {
        absent()
    }

    fn list_dir(&self, _path: &str) -> Result<Vec<String>, FileError> {
        absent()
    }
}
