//! What a cell prints, gathered so that many small writes become few messages.
//!
//! Pure: who flushes, and when, is decided elsewhere. Each stream has a cap per cell: the first half
//! is shown as it comes; of the rest the newest half is kept and shown at the end, after a note.

use std::mem;

use crate::wire::iopub::StreamName;

/// The cap in bytes per stream and cell when the environment does not say otherwise.
const DEFAULT_CAP: usize = 1 << 20;

/// Pieces of alternating streams above which each stream is put together.
const MAX_PIECES: usize = 16;

/// The two streams of the running cell.
#[derive(Debug)]
pub struct Streams {
    cap: usize,
    pending: Vec<(StreamName, String)>,
    shown: [usize; 2],
    held: [Held; 2],
}

/// What is past the first half of the cap.
#[derive(Debug, Default)]
struct Held {
    tail: String,
    left_out: usize,
}

impl Default for Streams {
    fn default() -> Self {
        Self::new(DEFAULT_CAP)
    }
}

impl Streams {
    /// Streams with a cap in bytes; 0 means none.
    pub fn new(cap: usize) -> Self {
        let (shown, held) = Default::default();
        Self { cap, pending: Vec::new(), shown, held }
    }

    /// Streams with the cap of `NOTEGRAD_STREAM_CAP`, or else 1 MiB.
    pub fn from_env() -> Self {
        let cap = std::env::var("NOTEGRAD_STREAM_CAP").ok().and_then(|it| it.trim().parse().ok());
        Self::new(cap.unwrap_or(DEFAULT_CAP))
    }

    /// Adds text.
    pub fn push(&mut self, name: StreamName, text: &str) {
        let shown = &mut self.shown[name as usize];
        let room = if self.cap == 0 { usize::MAX } else { (self.cap / 2).saturating_sub(*shown) };
        let (head, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
        *shown = shown.saturating_add(head.len());
        if !rest.is_empty() {
            // From here on everything is held back, or order would be lost.
            *shown = self.cap;
            self.held[name as usize].push(rest, self.cap / 2);
        }
        self.append(name, head);
    }

    fn append(&mut self, name: StreamName, text: &str) {
        match self.pending.last_mut() {
            _ if text.is_empty() => return,
            Some((last, pending)) if *last == name => pending.push_str(text),
            _ => self.pending.push((name, text.to_owned())),
        }
        if self.pending.len() > MAX_PIECES {
            let (out, err): (Vec<_>, Vec<_>) =
                mem::take(&mut self.pending).into_iter().partition(|it| it.0 == StreamName::Stdout);
            let join = |name, pieces: Vec<(_, String)>| {
                (name, pieces.into_iter().map(|it| it.1).collect::<String>())
            };
            self.pending = vec![join(StreamName::Stdout, out), join(StreamName::Stderr, err)];
        }
    }

    /// Bytes that wait to be flushed.
    pub fn pending(&self) -> usize {
        self.pending.iter().map(|it| it.1.len()).sum()
    }

    /// Takes what waits.
    pub fn take(&mut self) -> Vec<(StreamName, String)> {
        mem::take(&mut self.pending)
    }

    /// At the end of a cell: what was held back, behind a note, joins what waits.
    pub fn finish(&mut self) {
        for name in [StreamName::Stdout, StreamName::Stderr] {
            let held = mem::take(&mut self.held[name as usize]);
            if held.left_out > 0 {
                self.append(name, &note(held.left_out));
            }
            self.append(name, &held.tail);
        }
        self.shown = [0; 2];
    }

    /// The output was cleared: the cap counts anew, and what was held back is gone.
    pub fn clear(&mut self) {
        self.shown = [0; 2];
        self.held = Default::default();
    }
}

impl Held {
    fn push(&mut self, text: &str, room: usize) {
        self.tail.push_str(text);
        // Cut seldom: the tail may grow to twice its room.
        if self.tail.len() > room.saturating_mul(2) {
            self.cut(room);
        }
    }

    fn cut(&mut self, room: usize) {
        let from = self.tail.len() - room;
        let line = self.tail.as_bytes()[from..].iter().take(4096).position(|it| *it == b'\n');
        let from = self.tail.floor_char_boundary(line.map_or(from, |at| from + at + 1));
        self.tail.drain(..from);
        self.left_out += from;
    }
}

fn note(left_out: usize) -> String {
    format!("\n[... {left_out} bytes left out; NOTEGRAD_STREAM_CAP=0 shows all ...]\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use StreamName::{Stderr, Stdout};

    fn text(streams: &mut Streams) -> String {
        streams.take().into_iter().map(|it| it.1).collect()
    }

    #[test]
    fn small_writes_become_one_piece() {
        let mut streams = Streams::default();
        for piece in ["hello", ", ", "world", "\n"] {
            streams.push(Stdout, piece);
        }
        assert_eq!(streams.take(), [(Stdout, "hello, world\n".to_owned())]);
        assert_eq!(streams.pending(), 0);
    }

    #[test]
    fn order_between_streams_is_kept() {
        let mut streams = Streams::default();
        streams.push(Stdout, "a");
        streams.push(Stderr, "b");
        streams.push(Stdout, "c");
        assert_eq!(streams.take().len(), 3);
        for _ in 0..100 {
            streams.push(Stdout, "a");
            streams.push(Stderr, "b");
        }
        assert!(streams.take().len() <= MAX_PIECES + 1);
    }

    #[test]
    fn below_the_cap_nothing_is_lost() {
        let mut streams = Streams::new(100);
        streams.push(Stdout, &"é".repeat(45));
        streams.finish();
        assert_eq!(text(&mut streams), "é".repeat(45));
    }

    #[test]
    fn above_the_cap_head_and_tail_stay() {
        let mut streams = Streams::new(1000);
        for line in 0..10_000 {
            streams.push(Stdout, &format!("line {line}\n"));
        }
        streams.finish();
        let text = text(&mut streams);
        assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 9998\nline 9999\n"));
        assert!(text.contains("bytes left out") && text.len() < 2000);
    }

    #[test]
    fn zero_turns_the_cap_off() {
        let mut streams = Streams::new(0);
        streams.push(Stdout, &"x".repeat(3 << 20));
        assert_eq!(streams.pending(), 3 << 20);
    }

    #[test]
    fn clearing_starts_the_count_anew() {
        let mut streams = Streams::new(10);
        streams.push(Stdout, "0123456789abc");
        streams.clear();
        streams.push(Stdout, "xyz");
        streams.finish();
        assert_eq!(text(&mut streams), "01234xyz");
    }
}
