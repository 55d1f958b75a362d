//! Packages of a real Python, which run in a process beside the session.
//!
//! An import that finds no module of ours asks the process (`modules`); what stays there is a [`proxy`], what travels is written by
//! `values` as plain data ([`wire`]). Objects of the session that Python holds are `guests`: their calls come back while the
//! session waits for an answer. Both sides take turns strictly, so nothing here runs beside the session.
//!
//! **Invariants:** a proxy counts how often its object was passed, and gives back as many when it is dropped; one object has one proxy.
//! While a frame is read or written nothing is asked, since the next frame takes its place in shared memory. A call back is always answered.
//! Proxies of a process that has ended say so. Nothing here names a package.

mod cell;
pub(crate) mod errors;
mod figures;
mod guests;
mod modules;
pub mod proxy;
mod request;
mod values;
pub mod wire;
pub mod worker;

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cx::{Cx, Mode};
use crate::error::{Raised, memory_error, runtime_error};
use crate::native::NativeType;
use crate::objects::class::Class;
use crate::value::{Boxed, Value};

use guests::Guests;
use request::Request;
use wire::{Datum, Malformed, parts};
use worker::{About, Arrival, Lost, Wanted, Worker};

/// Numbers of objects that are not needed any more, and how often each was passed.
type Released = Rc<RefCell<Vec<(i64, i64)>>>;

/// The session's side.
#[derive(Default)]
pub struct Python {
    wanted: Wanted,
    link: Option<Link>,
    /// Why the latest start has failed; it is not tried again until another Python is wanted.
    failed: Option<Lost>,
    /// Counts the processes that were started.
    generation: u32,
    guests: Guests,
    /// Keys of guests that Python does not need any more, as it told them.
    gone: Vec<Datum>,
    /// Classes of exceptions by name and by the built-in one that they derive from.
    exceptions: FxHashMap<(String, usize), Rc<Class>>,
    /// Packages that it has, as far as was asked.
    has: FxHashSet<String>,
    /// Whether something was asked since figures were shown last.
    used: bool,
    /// Keys of guests in the frame under way.
    sent: Vec<i64>,
    /// Bytes of shared memory that the frame under way takes.
    shared_end: u64,
}

/// A process that runs.
struct Link {
    worker: Box<dyn Worker>,
    /// Objects that are held here, by number.
    held: FxHashMap<i64, Weak<Boxed>>,
    released: Released,
    /// Types of objects, by the process's number.
    rows: FxHashMap<i64, &'static NativeType>,
    frame: Vec<u8>,
}

/// Kinds of frames from the process.
const DONE: i64 = 0;
const FAILED: i64 = 1;
const CALL_BACK: i64 = 2;
const OUTPUT: i64 = 3;

impl Python {
    /// The interpreter that runs, if one does.
    pub fn about(&self) -> Option<&About> {
        self.link.as_ref().map(|it| it.worker.about())
    }

    /// Whether it holds objects of the session.
    pub(crate) fn holds_ours(&self) -> bool {
        !self.guests.is_empty()
    }

    /// Forgets why a start has failed.
    pub fn try_again(&mut self) {
        self.failed = None;
    }

    /// Whether it is known that Python has the package of this name.
    pub(crate) fn has(&self, package: &str) -> bool {
        self.has.contains(package)
    }

    fn end(&mut self) {
        self.link = None;
        self.guests = Guests::default();
        self.gone.clear();
        self.has.clear();
    }
}

impl Cx {
    /// Starts the process if none runs. An error says why there is none.
    pub fn start_python(&mut self) -> Result<About, Lost> {
        if let Some(about) = self.python.about() {
            return Ok(about.clone());
        }
        if let Some(failed) = &self.python.failed {
            return Err(failed.clone());
        }
        match self.host.start_python(&self.python.wanted.clone()) {
            Ok(worker) => Ok(self.begin_python(worker)),
            Err(lost) => {
                self.python.failed = Some(lost.clone());
                Err(lost)
            }
        }
    }

    /// Sends a request and gives its answer; the process must run.
    fn ask(&mut self, request: Request, args: Vec<Datum>) -> Result<Datum, Raised> {
        if self.mode == Mode::Follow {
            self.refuse_python()?;
        }
        if !self.regions.is_empty() {
            self.refuse_python_in_part()?;
        }
        self.enter_native()?;
        self.python.used = true;
        let answer = self.ask_within(request, args);
        self.leave_native();
        answer
    }

    fn ask_within(&mut self, request: Request, args: Vec<Datum>) -> Result<Datum, Raised> {
        // The values of the answer before, which may be among them, have been read.
        for gone in std::mem::take(&mut self.python.gone) {
            self.python.guests.give_back(gone);
        }
        let generation = self.python.generation;
        let link = self.python.link.as_mut().ok_or_else(ended)?;
        let mut frame = vec![Datum::Int(request as i64), link.take_released()];
        frame.extend(args);
        self.send_python(&Datum::Tuple(frame))?;
        loop {
            let frame = match self.receive_python()? {
                Arrival::Raw(text) => {
                    self.host.stdout(&text);
                    continue;
                }
                Arrival::Frame(frame) => frame,
            };
            let read = Datum::read(&frame).and_then(Datum::items);
            let mut items = self.understood(read)?;
            let kind = self.understood(items.first().ok_or(Malformed).and_then(Datum::int))?;
            items.remove(0);
            match kind {
                DONE => {
                    let [value, gone] = self.understood(parts(items))?;
                    self.python.gone.push(gone);
                    return Ok(value);
                }
                FAILED => {
                    let [told, gone] = self.understood(parts(items))?;
                    self.python.gone.push(gone);
                    return Err(self.raised_in_python(told));
                }
                CALL_BACK => {
                    let answer = self.answer_python(items)?;
                    // The function may have lost the process that called it, and started another.
                    if self.python.generation != generation {
                        return Err(ended());
                    }
                    self.send_python(&answer)?;
                }
                OUTPUT => self.show_output(items),
                _ => return Err(self.lose(Lost(Malformed.to_string()))),
            }
        }
    }

    fn show_output(&mut self, items: Vec<Datum>) {
        if let Ok([is_error, Datum::Str(text)]) = parts(items) {
            match is_error {
                Datum::Bool(true) => self.host.stderr(&text),
                _ => self.host.stdout(&text),
            }
        }
    }

    fn send_python(&mut self, frame: &Datum) -> Result<(), Raised> {
        let link = self.python.link.as_mut().ok_or_else(ended)?;
        link.frame.clear();
        frame.write(&mut link.frame);
        if link.frame.len() > LARGEST {
            link.frame = Vec::new();
            return Err(memory_error("more than 1 GiB cannot be passed to Python at once"));
        }
        let sent = link.worker.send(&link.frame);
        if link.frame.capacity() > KEPT {
            link.frame = Vec::new();
        }
        sent.map_err(|lost| self.lose(lost))
    }

    fn receive_python(&mut self) -> Result<Arrival, Raised> {
        let link = self.python.link.as_mut().ok_or_else(ended)?;
        let arrival = link.worker.receive();
        arrival.map_err(|lost| self.lose(lost))
    }

    /// What was read, if it could be; a process that speaks otherwise is ended.
    fn understood<T>(&mut self, read: Result<T, Malformed>) -> Result<T, Raised> {
        read.map_err(|it| self.lose(Lost(it.to_string())))
    }

    /// The process is gone.
    fn lose(&mut self, lost: Lost) -> Raised {
        self.end_python();
        runtime_error(lost.0)
    }

    /// Ends the process; its proxies say so from now on, and imports load its packages anew.
    pub fn end_python(&mut self) {
        self.modules.retain(|_, it| proxy::of(it).is_none());
        self.python.end();
    }

    /// Another Python instead of the one that runs, if it can be started.
    pub(crate) fn change_python(&mut self, wanted: Wanted) -> Result<About, Lost> {
        let worker = self.host.start_python(&wanted)?;
        self.end_python();
        self.python.wanted = wanted;
        Ok(self.begin_python(worker))
    }

    fn begin_python(&mut self, worker: Box<dyn Worker>) -> About {
        let about = worker.about().clone();
        self.python.generation += 1;
        self.python.failed = None;
        self.python.link = Some(Link::new(worker));
        about
    }
}

/// Bytes of the largest frame.
const LARGEST: usize = 1 << 30;

/// Bytes of a frame whose room is kept for the next.
const KEPT: usize = 1 << 20;

impl Link {
    fn new(worker: Box<dyn Worker>) -> Link {
        let (held, rows, released) = Default::default();
        Link { worker, held, released, rows, frame: Vec::new() }
    }

    fn take_released(&mut self) -> Datum {
        let released = self.released.take();
        for (number, _) in &released {
            if self.held.get(number).is_some_and(|it| it.strong_count() == 0) {
                self.held.remove(number);
            }
        }
        let pair = |(number, count)| Datum::Tuple(vec![Datum::Int(number), Datum::Int(count)]);
        Datum::List(released.into_iter().map(pair).collect())
    }
}

/// The error of an object whose process is gone.
fn ended() -> Raised {
    runtime_error(
        "the Python process in which this object was has ended; import its package again, and make it anew",
    )
}

/// The live object of a number, if one is held.
fn upgrade(held: &FxHashMap<i64, Weak<Boxed>>, number: i64) -> Option<Value> {
    held.get(&number)?.upgrade().map(Value::Object)
}
