//! The world as the language sees it: the outputs of the running cell, files, clock.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::atomic_file;
use frontend_lang::host::{FileError, Host, Metadata};
use frontend_lang::python::worker::{Lost, Wanted, Worker};
use frontend_lang::shown::{Drawing, Figure, Notice};
use frontend_lang::value::Value;
use magics::Artifact;
use magics::from_value::artifact_of;

use crate::display;
use crate::handler::{InterruptFlag, Outputs, Payload};
use crate::python;

/// The longest sleep between two looks at the interrupt flag.
const NAP: Duration = Duration::from_millis(2);

/// The outputs of the cell that runs; none between cells.
#[derive(Clone, Default)]
pub(super) struct Port(Rc<RefCell<Option<Rc<dyn Outputs>>>>);

impl Port {
    /// From here on outputs go there.
    pub(super) fn open(&self, out: &Rc<dyn Outputs>) {
        *self.0.borrow_mut() = Some(out.clone());
    }

    /// From here on outputs go nowhere.
    pub(super) fn close(&self) {
        self.0.borrow_mut().take();
    }

    /// The outputs, if a cell runs.
    pub(super) fn get(&self) -> Option<Rc<dyn Outputs>> {
        self.0.borrow().clone()
    }
}

/// The host of one session.
pub(super) struct World {
    port: Port,
    interrupt: InterruptFlag,
    start: Instant,
}

impl World {
    /// A world whose outputs go through a port.
    pub(super) fn new(port: Port, interrupt: InterruptFlag) -> Self {
        Self { port, interrupt, start: Instant::now() }
    }
}

impl Host for World {
    fn stdout(&mut self, text: &str) {
        self.port.get().inspect(|out| out.stdout(text));
    }

    fn stderr(&mut self, text: &str) {
        self.port.get().inspect(|out| out.stderr(text));
    }

    fn display(&mut self, value: &Value, text: &str, display_id: Option<&str>, update: bool) {
        let Some(out) = self.port.get() else { return };
        let artifact = artifact_of(value, text);
        let id = display_id.or(artifact.display_id());
        out.display(&super::forms(&artifact), id, update);
    }

    fn notice(&mut self, notice: &Notice) {
        let Some(out) = self.port.get() else { return };
        out.notice(&super::forms(&Artifact::Notice(notice.clone())));
    }

    fn clear_output(&mut self, wait: bool) {
        self.port.get().inspect(|out| out.clear_output(wait));
    }

    fn input(&mut self, prompt: &str, password: bool) -> Result<String, String> {
        let out = self.port.get().ok_or("input() works only while a cell runs")?;
        out.input(prompt, password).map_err(|error| error.to_string())
    }

    fn monotonic(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn wall(&self) -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64())
    }

    fn sleep(&mut self, seconds: f64) {
        let Ok(time) = Duration::try_from_secs_f64(seconds) else { return };
        let start = Instant::now();
        while !self.interrupt.load(Ordering::Relaxed) {
            let Some(left) = time.checked_sub(start.elapsed()) else { return };
            thread::sleep(left.min(NAP));
        }
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileError> {
        atomic_file::read(Path::new(path)).map_err(|error| FileError::new(path, &error))
    }

    fn draw_figure(&self, figure: &Figure, drawing: Drawing) -> Result<Vec<u8>, String> {
        display::figure_file(figure, drawing)
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        let written = atomic_file::write(Path::new(path), bytes);
        written.map_err(|error| FileError::new(path, &error))
    }

    fn create_file(&mut self, path: &str) -> Result<(), FileError> {
        atomic_file::create_empty(Path::new(path)).map_err(|error| FileError::new(path, &error))
    }

    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        let added = atomic_file::append(Path::new(path), bytes);
        added.map_err(|error| FileError::new(path, &error))
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        fs::remove_file(path).map_err(|error| FileError::new(path, &error))
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), FileError> {
        fs::remove_dir(path).map_err(|error| FileError::new(path, &error))
    }

    fn rename(&mut self, path: &str, to: &str) -> Result<(), FileError> {
        fs::rename(path, to).map_err(|error| FileError::new(&format!("{path} -> {to}"), &error))
    }

    fn metadata(&self, path: &str) -> Result<Metadata, FileError> {
        let found = fs::metadata(path).map_err(|error| FileError::new(path, &error))?;
        let since = found.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0.0, |it| it.as_secs_f64());
        Ok(Metadata { size: found.len(), is_dir: found.is_dir(), modified })
    }

    fn current_dir(&self) -> Result<String, FileError> {
        let dir = std::env::current_dir().map_err(|error| FileError::new(".", &error))?;
        Ok(dir.to_string_lossy().into_owned())
    }

    fn set_current_dir(&mut self, path: &str) -> Result<(), FileError> {
        std::env::set_current_dir(path).map_err(|error| FileError::new(path, &error))
    }

    fn set_next_input(&mut self, text: &str, replace: bool) {
        let payload = Payload::NextInput { text: text.to_owned(), replace };
        self.port.get().inspect(|out| out.payload(payload));
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, FileError> {
        let failed = |error: std::io::Error| FileError::new(path, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        fs::create_dir_all(path).map_err(|error| FileError::new(path, &error))
    }

    fn environment(&self) -> Vec<(String, String)> {
        let as_text = |it: (std::ffi::OsString, std::ffi::OsString)| {
            Some((it.0.into_string().ok()?, it.1.into_string().ok()?))
        };
        std::env::vars_os().filter_map(as_text).collect()
    }

    fn cache_dir(&self) -> Option<String> {
        let set = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let dir = match () {
            _ if cfg!(windows) => set("LOCALAPPDATA"),
            _ if cfg!(target_os = "macos") => set("HOME").map(|it| it.join("Library/Caches")),
            _ => set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|it| it.join(".cache"))),
        };
        dir?.join("notegrad").to_str().map(str::to_owned)
    }

    fn start_python(&mut self, wanted: &Wanted) -> Result<Box<dyn Worker>, Lost> {
        python::start(wanted, &self.interrupt)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    fn world() -> World {
        World::new(Port::default(), InterruptFlag::default())
    }

    #[test]
    fn files_are_written_whole_and_listed_sorted() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
        let mut world = world();
        for name in ["b", "a"] {
            world.write_file(&path(name), name.as_bytes()).unwrap();
            world.write_file(&path(name), b"again").unwrap();
        }
        assert_eq!(world.list_dir(&path("")).unwrap(), ["a", "b"]);
        assert_eq!(world.read_file(&path("a")).unwrap(), b"again");
        assert!(world.read_file(&path("c")).unwrap_err().message.contains('c'));
        let kind = |it: Result<Vec<u8>, FileError>| it.unwrap_err().kind;
        assert_eq!(kind(world.read_file(&path(""))), ErrorKind::IsADirectory);
        assert_eq!(kind(world.read_file(&path("a/b"))), ErrorKind::NotADirectory);
        assert_eq!(kind(world.read_file(&path("c"))), ErrorKind::NotFound);
        assert!(world.write_file(&path("no/such"), b"").is_err());
    }

    #[test]
    fn files_grow_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a").to_string_lossy().into_owned();
        let mut world = world();
        for text in ["old", "new"] {
            world.create_file(&path).unwrap();
            world.append_file(&path, text.as_bytes()).unwrap();
        }
        world.append_file(&path, b"er").unwrap();
        assert_eq!(world.read_file(&path).unwrap(), b"newer");
        let facts = world.metadata(&path).unwrap();
        assert_eq!((facts.size, facts.is_dir), (5, false));
        world.rename(&path, &format!("{path}b")).unwrap();
        assert_eq!(world.remove_file(&path).unwrap_err().kind, ErrorKind::NotFound);
        world.remove_file(&format!("{path}b")).unwrap();
        assert!(world.create_file(&format!("{path}/b")).is_err());
        // The null device takes everything; other devices are no files.
        world.create_file("/dev/null").unwrap();
        world.append_file("/dev/null", b"lost").unwrap();
        assert!(world.append_file("/dev/zero", b"lost").is_err());
    }

    #[test]
    fn an_interrupt_ends_a_sleep_and_odd_times_do_not_sleep() {
        let mut world = world();
        let start = Instant::now();
        world.sleep(-1.0);
        world.sleep(f64::NAN);
        world.sleep(0.001);
        world.interrupt.store(true, Ordering::Relaxed);
        world.sleep(1000.0);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
