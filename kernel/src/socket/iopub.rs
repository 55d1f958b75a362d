//! What the running cell shows, in order, to all subscribers.
//!
//! Text is gathered for at most `LINGER`; everything else flushes it first, so order is kept and
//! nothing comes after `idle`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;

use crate::capture::Streams;
use crate::lock::lock;
use crate::wire::header::Wire;
use crate::wire::iopub::{State, Stream, StreamName, welcome};

use super::publisher::{Keep, Voice};
use super::transport::Transport;

/// How long text may wait for more.
const LINGER: Duration = Duration::from_millis(20);
/// Bytes of text that are not made to wait.
const FULL: usize = 256 << 10;

/// Publishes in the name of a request.
pub struct IoPub {
    transport: Arc<dyn Transport>,
    wire: Arc<Wire>,
    cell: Mutex<Cell>,
    written: Condvar,
}

struct Cell {
    parent: Bytes,
    streams: Streams,
}

impl IoPub {
    /// A publisher with its own thread that flushes text.
    pub fn start(transport: Arc<dyn Transport>, wire: Arc<Wire>) -> Result<Arc<Self>, String> {
        let cell = Mutex::new(Cell { parent: Bytes::new(), streams: Streams::from_env() });
        let iopub = Arc::new(Self { transport, wire, cell, written: Condvar::new() });
        let flusher = iopub.clone();
        thread::Builder::new()
            .name("iopub".to_owned())
            .spawn(move || flusher.flush_often())
            .map_err(|error| format!("cannot start the output thread: {error}"))?;
        Ok(iopub)
    }

    fn flush_often(&self) {
        loop {
            let mut cell = lock(&self.cell);
            while cell.streams.pending() == 0 {
                cell = self.written.wait(cell).unwrap_or_else(PoisonError::into_inner);
            }
            drop(cell);
            thread::sleep(LINGER);
            self.flush();
        }
    }

    /// From here on text belongs to the cell with this request header.
    pub fn begin(&self, parent: &Bytes) {
        lock(&self.cell).parent = parent.clone();
    }

    /// The running cell writes text.
    pub fn write(&self, name: StreamName, text: &str) {
        let mut cell = lock(&self.cell);
        let was_empty = cell.streams.pending() == 0;
        cell.streams.push(name, text);
        if cell.streams.pending() >= FULL {
            self.publish_text(&mut cell);
        } else if was_empty {
            self.written.notify_one();
        }
    }

    /// The running cell shows something else than text.
    pub fn show<T: Serialize>(&self, msg_type: &str, content: &T) {
        let mut cell = lock(&self.cell);
        self.publish_text(&mut cell);
        let keep = match msg_type {
            "display_data" | "update_display_data" => Keep::IfRoom,
            _ => Keep::Always,
        };
        self.publish(msg_type, &cell.parent, content, keep);
    }

    /// The output of the cell is cleared: text counts anew.
    pub fn clear(&self) {
        lock(&self.cell).streams.clear();
    }

    /// The cell is over: shows what text there is left.
    pub fn end(&self) {
        let mut cell = lock(&self.cell);
        cell.streams.finish();
        self.publish_text(&mut cell);
    }

    /// Publishes the text that waits.
    pub fn flush(&self) {
        self.publish_text(&mut lock(&self.cell));
    }

    fn publish_text(&self, cell: &mut Cell) {
        for (name, text) in cell.streams.take() {
            let stream = Stream { name, text: &text };
            self.publish("stream", &cell.parent, &stream, Keep::IfRoom);
        }
    }

    /// Says how far the kernel is with a request.
    pub fn status(&self, parent: &Bytes, state: State) {
        self.publish("status", parent, &state, Keep::Always);
    }

    /// Publishes beside what the running cell shows.
    pub fn publish<T: Serialize>(&self, msg_type: &str, parent: &Bytes, content: &T, keep: Keep) {
        let topic = Bytes::from(format!("kernel.{}.{msg_type}", self.wire.session()));
        self.transport.publish(self.wire.write(vec![topic], msg_type, parent, content), keep);
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
        let text = format!("\n[{lost} outputs were left out: this client reads too slowly]\n");
        let stream = Stream { name: StreamName::Stdout, text: &text };
        self.0.write(prefix, "stream", &parent, &stream)
    }
}
