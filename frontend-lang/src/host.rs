//! `Host`: the only door from the language to the world. This crate does no input or output itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::rc::Rc;

use crate::python::worker::{Lost, Wanted, Worker};
use crate::shown::{Drawing, Figure, Notice};
use crate::value::Value;

/// Why a file or a folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Decides the class of the exception.
    pub kind: ErrorKind,
    /// For the user; names the file.
    pub message: String,
    /// The file.
    pub path: Option<String>,
}

impl FileError {
    /// An error of the system about `path`.
    pub fn new(path: &str, error: &std::io::Error) -> Self {
        let text = error.to_string();
        // The number of the system says nothing that the words do not.
        let words = text.split(" (os error ").next().unwrap_or(&text);
        let message = format!("{path}: {words}");
        Self { kind: error.kind(), message, path: Some(path.to_owned()) }
    }
}

impl From<String> for FileError {
    fn from(message: String) -> Self {
        Self { kind: ErrorKind::Other, message, path: None }
    }
}

impl From<&str> for FileError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<FileError> for String {
    fn from(error: FileError) -> Self {
        error.message
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is known of a file or folder without reading it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metadata {
    /// Bytes.
    pub size: u64,
    pub is_dir: bool,
    /// When it was last written, in seconds since 1970.
    pub modified: f64,
}

/// What a session can ask of the program it runs in. Errors are messages for the user.
pub trait Host {
    /// Writes to standard output.
    fn stdout(&mut self, text: &str);

    /// Writes to standard error.
    fn stderr(&mut self, text: &str);

    /// Shows a value, `text` being its plain form; with `update`, replaces what `display_id` showed.
    fn display(&mut self, value: &Value, text: &str, display_id: Option<&str>, update: bool);

    /// Tells the user a remark: a lint, a warning, what a trace did. It is no output of the program.
    fn notice(&mut self, notice: &Notice);

    /// Clears the output of the cell, at once or when the next output comes.
    fn clear_output(&mut self, wait: bool);

    /// Asks the user for a line.
    fn input(&mut self, prompt: &str, password: bool) -> Result<String, String>;

    /// Seconds on a clock that never goes back.
    fn monotonic(&self) -> f64;

    /// Seconds since 1970.
    fn wall(&self) -> f64;

    /// Waits; returns early when the session is interrupted.
    fn sleep(&mut self, seconds: f64);

    /// Reads a whole file, which is a regular one.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// Writes a whole file; a crash leaves the old one. Links are followed, and only regular files replaced.
    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError>;

    /// Makes an empty file, or empties the regular one that is there.
    fn create_file(&mut self, path: &str) -> Result<(), FileError>;

    /// Adds to the end of a regular file, which is made if it is not there.
    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError>;

    /// Removes a file or link.
    fn remove_file(&mut self, path: &str) -> Result<(), FileError>;

    /// Gives a file or folder another name; a file that has it already is replaced.
    fn rename(&mut self, path: &str, to: &str) -> Result<(), FileError>;

    /// Facts about a file or folder; links are followed.
    fn metadata(&self, path: &str) -> Result<Metadata, FileError>;

    /// Names in a folder, sorted.
    fn list_dir(&self, path: &str) -> Result<Vec<String>, FileError>;

    /// The folder that paths start from, as a full path.
    fn current_dir(&self) -> Result<String, FileError>;

    /// Makes paths start from another folder.
    fn set_current_dir(&mut self, path: &str) -> Result<(), FileError>;

    /// Offers the text of the next cell; with `replace`, puts it in place of the one that runs. Where nobody edits cells, nothing happens.
    fn set_next_input(&mut self, _text: &str, _replace: bool) {}

    /// Makes a folder and those above it; no error if it exists.
    fn make_dir(&mut self, _path: &str) -> Result<(), FileError> {
        Err("folders cannot be made here".into())
    }

    /// Removes an empty folder.
    fn remove_dir(&mut self, _path: &str) -> Result<(), FileError> {
        Err("folders cannot be removed here".into())
    }

    /// The bytes of a file that shows a figure, or why there are none.
    fn draw_figure(&self, _figure: &Figure, _drawing: Drawing) -> Result<Vec<u8>, String> {
        Err("figures cannot be drawn here".to_owned())
    }

    /// The variables of the environment that the session starts with.
    fn environment(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The user's folder for what can be computed anew; `None`: nothing is kept.
    fn cache_dir(&self) -> Option<String> {
        None
    }

    /// Starts a process that runs Python packages.
    fn start_python(&mut self, _wanted: &Wanted) -> Result<Box<dyn Worker>, Lost> {
        Err(Lost("Python packages cannot be used here".to_owned()))
    }
}

/// What a [`Recording`] host has seen; shared, so that a test can look while the session owns the host.
#[derive(Default)]
pub struct Record {
    pub stdout: RefCell<String>,
    pub stderr: RefCell<String>,
    pub displays: RefCell<Vec<String>>,
    /// The full texts.
    pub notices: RefCell<Vec<String>>,
    pub clears: Cell<usize>,
    pub answers: RefCell<Vec<String>>,
    /// By path from the first folder on.
    pub files: RefCell<BTreeMap<String, Vec<u8>>>,
    /// The folder that paths start from; empty for the first one.
    pub folder: RefCell<String>,
    /// Texts of cells that were offered.
    pub next_inputs: RefCell<Vec<(String, bool)>>,
    pub clock: Cell<f64>,
}

/// Bytes that all files of a [`Recording`] host have room for.
const DISK: usize = 64 << 20;

/// A host for tests: collects output, answers from lists, and has a clock that only `sleep` moves.
#[derive(Default)]
pub struct Recording {
    pub record: Rc<Record>,
}

/// The folder that paths of a [`Recording`] host start from at first.
const FIRST: &str = "/here";

impl Recording {
    /// A path from the first folder on, `.` for that folder itself. As it is written, as long as no other folder was gone to.
    fn full(&self, path: &str) -> String {
        let folder = self.record.folder.borrow();
        if folder.is_empty() && !path.contains("..") && !path.starts_with(FIRST) {
            return path.to_owned();
        }
        let from_root = path.strip_prefix(FIRST);
        let mut parts: Vec<&str> = match from_root {
            Some(_) => Vec::new(),
            None => folder.split('/').collect(),
        };
        for part in from_root.unwrap_or(path).split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.retain(|it| !it.is_empty());
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }
}

impl Host for Recording {
    fn stdout(&mut self, text: &str) {
        self.record.stdout.borrow_mut().push_str(text);
    }

    fn stderr(&mut self, text: &str) {
        self.record.stderr.borrow_mut().push_str(text);
    }

    fn display(&mut self, _value: &Value, text: &str, _display_id: Option<&str>, _update: bool) {
        self.record.displays.borrow_mut().push(text.to_owned());
    }

    fn notice(&mut self, notice: &Notice) {
        self.record.notices.borrow_mut().push(notice.text.clone());
    }

    fn clear_output(&mut self, _wait: bool) {
        self.record.clears.set(self.record.clears.get() + 1);
    }

    fn input(&mut self, _prompt: &str, _password: bool) -> Result<String, String> {
        let mut answers = self.record.answers.borrow_mut();
        if answers.is_empty() {
            return Err("this session cannot ask for input".into());
        }
        Ok(answers.remove(0))
    }

    fn monotonic(&self) -> f64 {
        self.record.clock.get()
    }

    fn wall(&self) -> f64 {
        self.record.clock.get()
    }

    fn sleep(&mut self, seconds: f64) {
        self.record.clock.set(self.record.clock.get() + seconds);
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let full = self.full(path);
        let files = self.record.files.borrow();
        let folder = format!("{full}/");
        let is_folder = full == "." || files.keys().any(|it| it.starts_with(&folder));
        files.get(&full).cloned().ok_or_else(|| match is_folder {
            true => FileError::new(path, &ErrorKind::IsADirectory.into()),
            false => FileError::new(path, &ErrorKind::NotFound.into()),
        })
    }

    fn draw_figure(&self, figure: &Figure, drawing: Drawing) -> Result<Vec<u8>, String> {
        Ok(format!("{drawing:?} of {} panels", figure.panels.len()).into_bytes())
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.record.files.borrow_mut().remove(&self.full(path));
        self.append_file(path, bytes)
    }

    fn create_file(&mut self, path: &str) -> Result<(), FileError> {
        match path.rsplit_once('/') {
            Some((folder, _)) if self.metadata(folder).is_err() => {
                Err(FileError::new(path, &ErrorKind::NotFound.into()))
            }
            _ => self.write_file(path, b""),
        }
    }

    fn current_dir(&self) -> Result<String, FileError> {
        let folder = self.record.folder.borrow();
        Ok(if folder.is_empty() { FIRST.to_owned() } else { format!("{FIRST}/{folder}") })
    }

    fn set_current_dir(&mut self, path: &str) -> Result<(), FileError> {
        let full = self.full(path);
        if !self.metadata(path)?.is_dir {
            return Err(FileError::new(path, &ErrorKind::NotADirectory.into()));
        }
        self.record.folder.replace(if full == "." { String::new() } else { full });
        Ok(())
    }

    fn set_next_input(&mut self, text: &str, replace: bool) {
        self.record.next_inputs.borrow_mut().push((text.to_owned(), replace));
    }

    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        let full = self.full(path);
        let mut files = self.record.files.borrow_mut();
        if files.values().map(Vec::len).sum::<usize>() + bytes.len() > DISK {
            return Err(FileError::new(path, &ErrorKind::StorageFull.into()));
        }
        files.entry(full).or_default().extend(bytes);
        Ok(())
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        let removed = self.record.files.borrow_mut().remove(&self.full(path));
        removed.map(drop).ok_or_else(|| FileError::new(path, &ErrorKind::NotFound.into()))
    }

    fn rename(&mut self, path: &str, to: &str) -> Result<(), FileError> {
        let bytes = self.read_file(path)?;
        self.remove_file(path)?;
        self.write_file(to, &bytes)
    }

    /// A folder without files is kept as a file of no name in it.
    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        let full = self.full(path);
        let path = full.trim_end_matches('/');
        let ends = path.match_indices('/').map(|it| it.0).chain([path.len()]);
        let folders = ends.map(|end| (format!("{}/", &path[..end]), Vec::new()));
        self.record.files.borrow_mut().extend(folders);
        Ok(())
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), FileError> {
        if self.list_dir(path)?.is_empty() {
            return self.remove_file(&format!("{path}/"));
        }
        Err(FileError::new(path, &ErrorKind::DirectoryNotEmpty.into()))
    }

    fn metadata(&self, path: &str) -> Result<Metadata, FileError> {
        let size = match self.read_file(path) {
            Ok(bytes) => Some(bytes.len() as u64),
            Err(error) if error.kind == ErrorKind::IsADirectory => None,
            Err(error) => return Err(error),
        };
        Ok(Metadata { size: size.unwrap_or(0), is_dir: size.is_none(), modified: 0.0 })
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, FileError> {
        let full = self.full(path);
        let prefix = if full == "." { String::new() } else { format!("{full}/") };
        let files = self.record.files.borrow();
        let below: Vec<&str> = files.keys().filter_map(|it| it.strip_prefix(&prefix)).collect();
        if below.is_empty() && full != "." {
            return Err(FileError::new(path, &ErrorKind::NotFound.into()));
        }
        let first = |it: &&str| it.split('/').next().unwrap_or_default().to_owned();
        let mut names: Vec<String> = below.iter().map(first).filter(|it| !it.is_empty()).collect();
        names.dedup();
        Ok(names)
    }
}
