//! The process: its start, its frames, how it is asked to stop, and its end.
//!
//! What it is given: on 0 the channel of frames, on 1 the lifeline, on 2 a pipe for all other output, and the path of the shared memory
//! in `NOTEGRAD_SHARED`. A byte on the lifeline asks it to stop what it does; the end of the lifeline, to end.

use std::io::{self, Write};
use std::mem;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use frontend_lang::python::worker::{About, Arrival, Lost, Worker};

use super::channel::{Broken, Channel, LONGEST};
use super::ending;
use super::raw::Raw;
use super::shared::Shared;
use crate::handler::InterruptFlag;

/// How long a Python may take until it says hello.
const START: Duration = Duration::from_secs(20);
/// After this long without an answer, who asks again to stop ends the process.
const OBEY: Duration = Duration::from_secs(2);
/// How long a process that is not needed any more may take to end.
const END: Duration = Duration::from_millis(200);
/// How long one may take that has closed its channel by itself.
const EXIT: Duration = Duration::from_secs(1);
/// How long a killed one may take.
const KILL: Duration = Duration::from_millis(50);
/// The time between two looks at whether a process has ended.
const NAP: Duration = Duration::from_millis(1);
/// Bytes of output that are kept for the message about an end.
const RECENT: usize = 4096;
/// The oldest version that the program of the process runs in.
const OLDEST: [u32; 2] = [3, 8];
/// What to do when a process is gone.
const AGAIN: &str = "Import again to start another";

/// A process that runs a Python program.
pub(super) struct Process {
    about: About,
    channel: Channel,
    raw: Raw,
    shared: Shared,
    life: Life,
    /// A frame that came after output that is passed on first.
    ready: Option<Vec<u8>>,
    /// The end of the output since the last frame.
    recent: String,
    lost: Option<Lost>,
}

/// What is known of whether it runs and listens.
struct Life {
    state: State,
    lifeline: UnixStream,
    flag: InterruptFlag,
    /// When it was asked to stop; nothing was sent since.
    asked: Option<Instant>,
}

enum State {
    Runs(Child),
    /// By itself, with this status; `None`: by us, or the system does not say.
    Ended(Option<ExitStatus>),
}

impl Process {
    /// Starts `python` with the text of a program, and waits for its hello.
    ///
    /// Lost: it does not start, ends at once, takes too long, or is too old; or the flag was set.
    pub(super) fn start(python: &Path, program: &str, flag: &InterruptFlag) -> Result<Self, Lost> {
        let begin = Instant::now();
        let name = python.to_string_lossy();
        let spawned = Self::spawn(python, program, flag);
        let mut process = spawned.map_err(|error| {
            Lost(format!("Python cannot be started: {name}: {}", ending::words(&error)))
        })?;
        let hello =
            process.hello(begin + START).map_err(|words| process.no_start(&name, &words))?;
        process.shared.hide();
        process.about = about(&hello, &name, begin.elapsed())?;
        Ok(process)
    }

    fn spawn(python: &Path, program: &str, flag: &InterruptFlag) -> io::Result<Self> {
        let shared = Shared::new()?;
        let (channel, its_channel) = UnixStream::pair()?;
        let channel = Channel::new(channel)?;
        let (lifeline, its_lifeline) = UnixStream::pair()?;
        lifeline.set_nonblocking(true)?;
        let (raw, its_output) = Raw::new()?;
        // The ends that the process has are closed here when the command goes: only then is its end seen.
        let mut command = Command::new(python);
        command.args(["-c", program]).env("PYTHONUNBUFFERED", "1").process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(its_channel)));
        command.stdout(Stdio::from(OwnedFd::from(its_lifeline))).stderr(its_output);
        command.envs(shared.path().map(|it| ("NOTEGRAD_SHARED", it)));
        if std::env::var_os("MPLBACKEND").is_none() {
            command.env("MPLBACKEND", "agg");
        }
        let child = command.spawn()?;
        let life = Life { state: State::Runs(child), lifeline, flag: flag.clone(), asked: None };
        let about = About { path: String::new(), version: String::new(), seconds: 0.0 };
        let (ready, recent, lost) = (None, String::new(), None);
        Ok(Self { about, channel, raw, shared, life, ready, recent, lost })
    }

    /// The first frame, or the rest of a sentence about why there is none.
    fn hello(&mut self, end: Instant) -> Result<Vec<u8>, String> {
        loop {
            match self.channel.read() {
                Ok(Some(frame)) => return Ok(frame),
                Ok(None) if self.life.flag.load(Ordering::Relaxed) => {
                    return Err("was stopped while it started".to_owned());
                }
                Ok(None) if Instant::now() >= end => {
                    return Err(format!("did not answer within {} s", START.as_secs()));
                }
                Ok(None) if !self.life.has_ended() => {}
                _ => {
                    return Err(format!("{} before it answered", ending::how(self.life.end(EXIT))));
                }
            }
        }
    }

    fn no_start(&mut self, name: &str, words: &str) -> Lost {
        self.life.kill();
        let output = ending::last_lines(&self.raw.take_last());
        Lost(format!("Python cannot be started: {name} {words}{output}"))
    }

    /// Output that has not been passed on.
    fn take_raw(&mut self) -> Option<Arrival> {
        let is_last = matches!(self.life.state, State::Ended(_));
        let text = if is_last { self.raw.take_last() } else { self.raw.take() };
        if text.is_empty() {
            return None;
        }
        self.recent.push_str(&text);
        let cut = self.recent.ceil_char_boundary(self.recent.len().saturating_sub(RECENT));
        self.recent.drain(..cut);
        Some(Arrival::Raw(text))
    }

    /// The frame, after the output that was written before it.
    fn pass_on(&mut self, frame: Vec<u8>) -> Arrival {
        let raw = self.take_raw();
        self.recent.clear();
        match raw {
            Some(raw) => {
                self.ready = Some(frame);
                raw
            }
            None => Arrival::Frame(frame),
        }
    }

    /// Ends the process: its last output, and why there is none from here on.
    fn lose(&mut self, why: &Broken) -> (Option<Arrival>, Lost) {
        let how = match why {
            Broken::Closed => ending::how(self.life.end(EXIT)),
            Broken::Stubborn => "did not stop when asked, and was ended".to_owned(),
            Broken::TooLong(size) => {
                format!("sent {size} bytes at once, which is too much, and was ended")
            }
        };
        self.life.kill();
        let raw = self.take_raw();
        let output = ending::last_lines(&self.recent);
        let words = format!("The Python process {how}; its objects are gone. {AGAIN}{output}");
        (raw, self.lost.insert(Lost(words)).clone())
    }
}

impl Worker for Process {
    fn about(&self) -> &About {
        &self.about
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Lost> {
        self.life.asked = None;
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        if frame.len() > LONGEST {
            let size = frame.len();
            return Err(Lost(format!("{size} bytes are more than can be sent to Python at once")));
        }
        let life = &mut self.life;
        let sent = self.channel.write(frame, || life.look());
        sent.map_err(|why| self.lose(&why).1)
    }

    fn receive(&mut self) -> Result<Arrival, Lost> {
        if let Some(frame) = self.ready.take() {
            return Ok(Arrival::Frame(frame));
        }
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        loop {
            let had_ended = matches!(self.life.state, State::Ended(_));
            let why = match self.life.stop_if_asked().and_then(|()| self.channel.read()) {
                Ok(Some(frame)) => return Ok(self.pass_on(frame)),
                // All that it sent before its end was read: others hold its end of the channel.
                Ok(None) if had_ended => Broken::Closed,
                Ok(None) => match self.take_raw() {
                    Some(raw) => return Ok(raw),
                    None => {
                        self.life.has_ended();
                        continue;
                    }
                },
                Err(why) => why,
            };
            let (raw, lost) = self.lose(&why);
            return raw.ok_or(lost);
        }
    }

    fn write_shared(&mut self, at: u64, bytes: &[u8]) -> Result<(), Lost> {
        self.shared.write(at, bytes)
    }

    fn read_shared(&mut self, at: u64, into: &mut [u8]) -> Result<(), Lost> {
        self.shared.read(at, into)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.channel.close();
        self.life.end(END);
    }
}

impl Life {
    /// Whether it has ended.
    fn has_ended(&mut self) -> bool {
        let State::Runs(child) = &mut self.state else { return true };
        match child.try_wait() {
            Ok(None) => return false,
            Ok(status) => self.state = State::Ended(status),
            Err(_) => self.state = State::Ended(None),
        }
        true
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while !self.has_ended() {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(NAP);
        }
        true
    }

    /// Asks it to stop if the user wants that, and clears the flag.
    ///
    /// Stubborn: it has been asked before, and had time.
    fn stop_if_asked(&mut self) -> Result<(), Broken> {
        if !self.flag.load(Ordering::Relaxed) || !self.flag.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        if self.asked.is_some_and(|it| it.elapsed() >= OBEY) {
            return Err(Broken::Stubborn);
        }
        self.asked.get_or_insert_with(Instant::now);
        // If this fails, the end is seen at the next read.
        let _ = self.lifeline.write(b"i");
        Ok(())
    }

    /// What to look at while something is sent.
    fn look(&mut self) -> Result<(), Broken> {
        if self.has_ended() { Err(Broken::Closed) } else { self.stop_if_asked() }
    }

    /// Lets it end, and ends it if that takes longer than `limit`.
    fn end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let _ = self.lifeline.shutdown(Shutdown::Both);
        if !self.ends_within(limit) {
            self.kill();
        }
        match self.state {
            State::Ended(status) => status,
            State::Runs(_) => None,
        }
    }

    /// Ends it now. The system may take long for that; then somebody else waits.
    fn kill(&mut self) {
        if let State::Runs(child) = &mut self.state {
            let _ = child.kill();
            self.ends_within(KILL);
            let state = mem::replace(&mut self.state, State::Ended(None));
            if let State::Runs(mut child) = state {
                thread::spawn(move || child.wait());
            }
        }
    }
}

/// Reads a hello: the version, and the program in the next line.
///
/// Lost: it is none, or of a Python that is too old.
fn about(hello: &[u8], name: &str, took: Duration) -> Result<About, Lost> {
    let text = String::from_utf8_lossy(hello);
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default().to_owned();
    let path = lines.next().filter(|it| !it.is_empty()).unwrap_or(name).to_owned();
    let mut numbers = version.split('.').map(|it| it.parse().unwrap_or(0));
    let found = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    if found < OLDEST {
        let words = format!("{path} is Python {version}; Python 3.8 or newer is needed. ");
        return Err(Lost(words + "Name another: %python PATH"));
    }
    Ok(About { path, version, seconds: took.as_secs_f64() })
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
