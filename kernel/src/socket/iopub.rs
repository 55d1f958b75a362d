//! What the running cell shows, in order, to all subscribers.
//!
//! Text and updates are gathered for at most `LINGER`; everything else sends them first, so order is kept and
//! nothing comes after `idle`. When subscribers have too much to read the cell waits: what it shows is not lost.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;

use crate::capture::{FULL, Pending, Piece};
use crate::handler::{Bundle, InterruptFlag};
use crate::lock::lock;
use crate::wire::header::Wire;
use crate::wire::iopub::{ClearOutput, DisplayData, State, Stream, StreamName, welcome};

use super::pace::Pace;
use super::publisher::{Keep, SILENT, Voice};
use super::transport::Transport;

/// How long text may wait for more.
const LINGER: Duration = Duration::from_millis(20);
/// How long a cell that has to wait does so between two looks.
const NAP: Duration = Duration::from_millis(1);

/// Publishes in the name of a request.
pub struct IoPub {
    transport: Arc<dyn Transport>,
    wire: Arc<Wire>,
    interrupt: InterruptFlag,
    cell: Mutex<Cell>,
    written: Condvar,
}

struct Cell {
    parent: Bytes,
    pending: Pending,
    pace: Pace,
}

impl IoPub {
    /// A publisher with its own thread that sends what was gathered; `interrupt` ends the waiting of a cell.
    pub fn start(
        transport: Arc<dyn Transport>,
        wire: Arc<Wire>,
        interrupt: InterruptFlag,
    ) -> Result<Arc<Self>, String> {
        let cell =
            Cell { parent: Bytes::new(), pending: Pending::default(), pace: Pace::from_env() };
        let (cell, written) = (Mutex::new(cell), Condvar::new());
        let iopub = Arc::new(Self { transport, wire, interrupt, cell, written });
        let sender = iopub.clone();
        thread::Builder::new()
            .name("iopub".to_owned())
            .spawn(move || sender.send_often())
            .map_err(|error| format!("cannot start the output thread: {error}"))?;
        Ok(iopub)
    }

    fn send_often(&self) {
        loop {
            let mut cell = lock(&self.cell);
            while cell.pending.is_empty() {
                cell = self.written.wait(cell).unwrap_or_else(PoisonError::into_inner);
            }
            drop(cell);
            thread::sleep(LINGER);
            let mut cell = lock(&self.cell);
            // What there is no room for goes on waiting, and updates go on taking each other's place.
            while self.has_room(&mut cell) && self.send_piece(&mut cell) {}
        }
    }

    /// From here on outputs belong to the cell with this request header.
    pub fn begin(&self, parent: &Bytes) {
        lock(&self.cell).parent = parent.clone();
    }

    /// The running cell writes text; an interrupt ends long text between two messages.
    pub fn write(&self, name: StreamName, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && (rest.len() == text.len() || !self.is_interrupted()) {
            let (head, more) = rest.split_at(rest.floor_char_boundary(FULL.min(rest.len())));
            self.gather(|it| it.write(name, head));
            rest = more;
        }
    }

    /// The running cell replaces what a display shows.
    pub fn update(&self, id: &str, bundle: &Bundle) {
        self.gather(|it| it.update(id, bundle));
    }

    /// The running cell clears its output: now, or when the next output comes.
    pub fn clear(&self, wait: bool) {
        self.gather(|it| it.clear(wait));
    }

    /// The running cell shows something new.
    pub fn display(&self, display: &DisplayData<'_>) {
        let mut cell = self.wait_for_room(|_| true);
        cell.pending.comes_next();
        while self.send_piece(&mut cell) {}
        self.send(&mut cell, "display_data", display, Keep::IfRoom);
    }

    /// Something about the running cell that cannot wait: its input, its value, its error.
    pub fn show<T: Serialize>(&self, msg_type: &str, content: &T) {
        let mut cell = lock(&self.cell);
        cell.pending.comes_next();
        while self.send_piece(&mut cell) {}
        self.send(&mut cell, msg_type, content, Keep::Always);
    }

    /// Sends what was gathered: the cell is over, or waits for the user.
    pub fn flush(&self) {
        let mut cell = lock(&self.cell);
        while self.send_piece(&mut cell) {}
    }

    /// Says how far the kernel is with a request.
    pub fn status(&self, parent: &Bytes, state: State) {
        self.publish("status", parent, &state, Keep::Always);
        if state == State::Idle {
            lock(&self.cell).pace.start_anew();
        }
    }

    /// Publishes beside what the running cell shows.
    pub fn publish<T: Serialize>(&self, msg_type: &str, parent: &Bytes, content: &T, keep: Keep) {
        self.transport.publish(self.frames(msg_type, parent, content), keep);
    }

    /// Adds to what was gathered; when there is too much of it the cell waits until some is sent.
    fn gather(&self, add: impl FnOnce(&mut Pending)) {
        let mut cell = lock(&self.cell);
        let was_empty = cell.pending.is_empty();
        add(&mut cell.pending);
        if was_empty {
            self.written.notify_one();
        }
        let mut is_full = cell.pending.is_full();
        drop(cell);
        while is_full {
            let mut cell = self.wait_for_room(|it| it.is_full());
            is_full = cell.pending.is_full() && self.send_piece(&mut cell);
        }
    }

    /// Waits until subscribers can take more, the user interrupts, or `is_needed` says that nothing is left to wait for.
    fn wait_for_room(&self, is_needed: impl Fn(&Pending) -> bool) -> MutexGuard<'_, Cell> {
        loop {
            let mut cell = lock(&self.cell);
            if !is_needed(&cell.pending) || self.has_room(&mut cell) {
                return cell;
            }
            drop(cell);
            thread::sleep(NAP);
        }
    }

    fn has_room(&self, cell: &mut Cell) -> bool {
        let is_free = cell.pace.is_open(Instant::now()) && self.transport.has_room();
        is_free || self.is_interrupted()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Sends the first piece of what was gathered; `false` if there is none.
    fn send_piece(&self, cell: &mut Cell) -> bool {
        let Some(piece) = cell.pending.take() else { return false };
        match piece {
            Piece::Text(name, text) => {
                self.send(cell, "stream", &Stream { name, text: &text }, Keep::IfRoom);
            }
            Piece::Update(id, bundle) => {
                let display = DisplayData::new(&bundle, Some(&id));
                self.send(cell, "update_display_data", &display, Keep::IfRoom);
            }
            Piece::Clear(wait) => {
                self.send(cell, "clear_output", &ClearOutput { wait }, Keep::Always);
            }
        }
        true
    }

    fn send<T: Serialize>(&self, cell: &mut Cell, msg_type: &str, content: &T, keep: Keep) {
        let frames = self.frames(msg_type, &cell.parent, content);
        let bytes = || frames.iter().map(Bytes::len).sum();
        match msg_type {
            "execute_input" => {}
            "stream" => cell.pace.count(bytes(), Instant::now()),
            _ => cell.pace.count(0, Instant::now()),
        }
        self.transport.publish(frames, keep);
    }

    fn frames<T: Serialize>(&self, msg_type: &str, parent: &Bytes, content: &T) -> Vec<Bytes> {
        let topic = Bytes::from(format!("kernel.{}.{msg_type}", self.wire.session()));
        self.wire.write(vec![topic], msg_type, parent, content)
    }
}

/// What subscribers are told about their subscription.
pub struct Greeter(pub Arc<Wire>);

impl Voice for Greeter {
    fn welcome(&self, topic: &[u8]) -> Vec<Bytes> {
        // The topic itself: a subscriber drops what does not begin with it.
        let prefix = vec![Bytes::copy_from_slice(topic)];
        let content = welcome(&String::from_utf8_lossy(topic));
        self.0.write(prefix, "iopub_welcome", &Bytes::new(), &content)
    }

    fn notice(&self, before: &[Bytes], lost: usize) -> Vec<Bytes> {
        let prefix: Vec<Bytes> = before.first().cloned().into_iter().collect();
        // Behind the topic stand delimiter, signature, header and parent header.
        let parent = before.get(4).cloned().unwrap_or_default();
        let silent = SILENT.as_secs();
        let text = format!(
            "\n[{lost} outputs are not shown: this client had not read for {silent} seconds while they came]\n"
        );
        let stream = Stream { name: StreamName::Stdout, text: &text };
        self.0.write(prefix, "stream", &parent, &stream)
    }
}
