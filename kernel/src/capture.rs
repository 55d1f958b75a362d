//! What a cell shows, gathered so that many small outputs become few messages.
//!
//! Pure: who sends it, and when, is decided elsewhere. Text of one stream is put together, of the updates of
//! one display the latest counts, and text that is cleared before anybody has seen it is not sent.

use std::collections::VecDeque;
use std::mem;

use crate::handler::Bundle;
use crate::wire::iopub::StreamName;

/// Bytes of one message of text, and of what waits before the cell must.
pub const FULL: usize = 128 << 10;
/// Outputs that wait before the cell must.
const MAX_PIECES: usize = 64;
/// Pieces of alternating streams above which each stream is put together.
const MAX_TEXTS: usize = 16;

/// One output that waits to be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Text of a stream.
    Text(StreamName, String),
    /// What the display with this id shows now.
    Update(String, Bundle),
    /// The output is cleared: now, or (`true`) when the next output comes.
    Clear(bool),
}

/// Outputs that wait to be sent, in order.
#[derive(Debug, Default)]
pub struct Pending {
    pieces: VecDeque<Piece>,
}

impl Pending {
    /// Adds text, at most `FULL` of it at once.
    pub fn write(&mut self, name: StreamName, text: &str) {
        self.comes_next();
        match self.pieces.back_mut() {
            _ if text.is_empty() => return,
            Some(Piece::Text(last, pending)) if *last == name => pending.push_str(text),
            _ => self.pieces.push_back(Piece::Text(name, text.to_owned())),
        }
        if self.pieces.iter().filter(|it| is_text(it)).count() > MAX_TEXTS {
            self.join_texts();
        }
    }

    /// The display with this id shows something else.
    pub fn update(&mut self, id: &str, bundle: &Bundle) {
        let waits = self.pieces.iter_mut().find_map(|it| match it {
            Piece::Update(of, waits) if of == id => Some(waits),
            _ => None,
        });
        match waits {
            Some(waits) => *waits = bundle.clone(),
            None => self.pieces.push_back(Piece::Update(id.to_owned(), bundle.clone())),
        }
    }

    /// The output is cleared: now, or when the next output comes.
    pub fn clear(&mut self, wait: bool) {
        if !wait {
            self.pieces.retain(|it| !is_text(it));
        }
        match self.pieces.back_mut() {
            Some(Piece::Clear(waits)) => *waits &= wait,
            _ => self.pieces.push_back(Piece::Clear(wait)),
        }
    }

    /// An output comes: text before a clearing is never seen.
    pub fn comes_next(&mut self) {
        if let Some(last @ Piece::Clear(_)) = self.pieces.pop_back_if(|it| is_clear(it)) {
            self.pieces.retain(|it| !is_text(it) && !is_clear(it));
            self.pieces.push_back(last);
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether so much waits that some must be sent before more comes.
    pub fn is_full(&self) -> bool {
        let text = |it: &Piece| if let Piece::Text(_, text) = it { text.len() } else { 0 };
        self.pieces.len() >= MAX_PIECES || self.pieces.iter().map(text).sum::<usize>() >= FULL
    }

    /// Takes the first piece; of long text, as much as fits a message.
    pub fn take(&mut self) -> Option<Piece> {
        let mut first = self.pieces.pop_front()?;
        if let Piece::Text(name, text) = &mut first
            && text.len() > FULL
        {
            let rest = text.split_off(text.floor_char_boundary(FULL));
            self.pieces.push_front(Piece::Text(*name, rest));
        }
        Some(first)
    }

    fn join_texts(&mut self) {
        let (mut out, mut err) = (String::new(), String::new());
        for piece in mem::take(&mut self.pieces) {
            match piece {
                Piece::Text(StreamName::Stdout, text) => out.push_str(&text),
                Piece::Text(StreamName::Stderr, text) => err.push_str(&text),
                other => self.pieces.push_back(other),
            }
        }
        self.pieces.push_back(Piece::Text(StreamName::Stdout, out));
        self.pieces.push_back(Piece::Text(StreamName::Stderr, err));
    }
}

fn is_text(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(..))
}

fn is_clear(piece: &Piece) -> bool {
    matches!(piece, Piece::Clear(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use StreamName::{Stderr, Stdout};

    fn all(pending: &mut Pending) -> Vec<Piece> {
        std::iter::from_fn(|| pending.take()).collect()
    }

    fn out(text: &str) -> Piece {
        Piece::Text(Stdout, text.to_owned())
    }

    #[test]
    fn small_writes_become_one_piece() {
        let mut pending = Pending::default();
        for piece in ["hello", ", ", "world", "\n", ""] {
            pending.write(Stdout, piece);
        }
        assert_eq!(all(&mut pending), [out("hello, world\n")]);
        assert!(pending.is_empty());
    }

    #[test]
    fn order_between_streams_is_kept() {
        let mut pending = Pending::default();
        pending.write(Stdout, "a");
        pending.write(Stderr, "b");
        pending.write(Stdout, "c");
        assert_eq!(all(&mut pending).len(), 3);
        for _ in 0..100 {
            pending.write(Stdout, "a");
            pending.write(Stderr, "b");
        }
        assert!(all(&mut pending).len() <= MAX_TEXTS + 1);
    }

    #[test]
    fn long_text_is_cut_between_characters_and_none_is_lost() {
        let mut pending = Pending::default();
        let text = "é".repeat(FULL) + "a";
        pending.write(Stdout, &format!("a{text}"));
        assert!(pending.is_full());
        let pieces = all(&mut pending);
        assert!(pieces.len() >= 3);
        let joined: String = pieces
            .iter()
            .map(|it| match it {
                Piece::Text(_, text) if text.len() <= FULL => text.as_str(),
                _ => panic!("too long"),
            })
            .collect();
        assert_eq!(joined, format!("a{text}"));
    }

    #[test]
    fn of_the_updates_of_one_display_the_latest_counts() {
        let mut pending = Pending::default();
        for step in 0..100_000 {
            pending.update("bar", &Bundle::plain(step.to_string()));
            assert!(!pending.is_full());
        }
        pending.update("other", &Bundle::plain("1"));
        pending.update("bar", &Bundle::plain("last"));
        let update = |id: &str, text: &str| Piece::Update(id.to_owned(), Bundle::plain(text));
        assert_eq!(all(&mut pending), [update("bar", "last"), update("other", "1")]);
        (0..MAX_PIECES).for_each(|it| pending.update(&it.to_string(), &Bundle::plain("x")));
        assert!(pending.is_full());
    }

    #[test]
    fn what_is_cleared_before_it_is_seen_is_not_sent() {
        let mut pending = Pending::default();
        for step in 0..1000 {
            pending.write(Stdout, &step.to_string());
            pending.clear(true);
        }
        // The last text stays until more comes.
        assert_eq!(all(&mut pending), [Piece::Clear(true), out("999"), Piece::Clear(true)]);
        pending.write(Stdout, "gone");
        pending.update("bar", &Bundle::plain("stays"));
        pending.clear(true);
        pending.clear(false);
        pending.write(Stdout, "new");
        let bar = Piece::Update("bar".to_owned(), Bundle::plain("stays"));
        assert_eq!(all(&mut pending), [bar, Piece::Clear(false), out("new")]);
    }
}
