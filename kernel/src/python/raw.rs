//! What a process writes to its outputs past all frames: read at once, so that it never waits for us, and kept until it is asked for.
//!
//! Both the thread that reads and who asks read under one lock. So text is in order, and whoever asks has all that was written before.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::net::unix::pipe::Receiver;
use tokio::runtime::{Builder, Runtime};

use crate::lock::lock;

/// Bytes that are kept.
const FULL: usize = 1 << 20;
/// How long a process waits for its output to be taken before the oldest is dropped. Who listens takes it more often.
const PATIENCE: Duration = Duration::from_secs(1);

/// The outputs of a process.
pub(super) struct Raw {
    pile: Arc<Pile>,
    pipe: PipeReader,
}

struct Pile {
    waiting: Mutex<Waiting>,
    taken: Condvar,
}

/// What nobody has asked for yet.
struct Waiting {
    bytes: Vec<u8>,
    part: Box<[u8]>,
    /// Bytes that were dropped.
    left_out: usize,
    /// Whether output was dropped, and none was taken since.
    nobody_listens: bool,
}

impl Raw {
    /// The outputs, and the end of the pipe that the process writes to.
    pub(super) fn new() -> io::Result<(Self, PipeWriter)> {
        let (pipe, writer) = io::pipe()?;
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let receiver = {
            let _entered = runtime.enter();
            // This makes all handles of the reading end non-blocking, and no handle of the writing end.
            Receiver::from_owned_fd(OwnedFd::from(pipe.try_clone()?))?
        };
        let part = vec![0; 1 << 16].into_boxed_slice();
        let waiting = Waiting { bytes: Vec::new(), part, left_out: 0, nobody_listens: false };
        let pile = Arc::new(Pile { waiting: Mutex::new(waiting), taken: Condvar::new() });
        let raw = Self { pile: pile.clone(), pipe };
        let thread = thread::Builder::new().name("python output".to_owned());
        thread.spawn(move || collect(&runtime, &receiver, &pile))?;
        Ok((raw, writer))
    }

    /// What was written up to here, at most about a MiB; the bytes of a character that is not complete yet stay.
    pub(super) fn take(&self) -> String {
        self.take_up_to(|bytes| bytes.len() - unfinished(bytes))
    }

    /// What was written up to here, of a process that writes nothing any more.
    pub(super) fn take_last(&self) -> String {
        self.take_up_to(<[u8]>::len)
    }

    fn take_up_to(&self, end: impl Fn(&[u8]) -> usize) -> String {
        let mut waiting = lock(&self.pile.waiting);
        let mut pipe = &self.pipe;
        while waiting.bytes.len() < FULL
            && matches!(waiting.add_from(|part| pipe.read(part)), Ok(1..))
        {}
        let end = end(&waiting.bytes);
        if end == 0 {
            return String::new();
        }
        self.pile.taken.notify_one();
        waiting.take(end)
    }
}

impl Waiting {
    /// Reads once; the number of bytes.
    fn add_from(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let count = read(&mut self.part)?;
        self.bytes.extend_from_slice(&self.part[..count]);
        Ok(count)
    }

    /// The first `end` bytes as text, after a note about what was dropped before them.
    fn take(&mut self, end: usize) -> String {
        self.nobody_listens = false;
        let rest = self.bytes.split_off(end);
        let text = mem::replace(&mut self.bytes, rest);
        let text = String::from_utf8_lossy(&text).into_owned();
        match mem::take(&mut self.left_out) {
            0 => text,
            count => format!("[{count} bytes of output are left out here]\n{text}"),
        }
    }

    /// Drops the older half.
    fn drop_oldest(&mut self) {
        let half = self.bytes.len() / 2;
        let is_inside = |it: &&u8| **it & 0xC0 == 0x80;
        let end = half + self.bytes[half..].iter().take_while(is_inside).count();
        self.bytes.drain(..end);
        self.left_out += end;
        self.nobody_listens = true;
    }
}

/// Reads until nobody can write any more.
fn collect(runtime: &Runtime, receiver: &Receiver, pile: &Pile) {
    let all = async {
        while receiver.readable().await.is_ok() {
            let mut waiting = lock(&pile.waiting);
            match waiting.add_from(|part| receiver.try_read(part)) {
                Ok(0) => return,
                Ok(_) => make_room(pile, waiting),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    runtime.block_on(all);
}

/// Waits until something is taken, or drops something.
fn make_room(pile: &Pile, mut waiting: MutexGuard<'_, Waiting>) {
    let is_full = |it: &mut Waiting| it.bytes.len() >= FULL;
    if is_full(&mut waiting) && !waiting.nobody_listens {
        let waited = pile.taken.wait_timeout_while(waiting, PATIENCE, is_full);
        waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    if is_full(&mut waiting) {
        waiting.drop_oldest();
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let Some(last) = tail.utf8_chunks().last().map(|it| it.invalid()) else { return 0 };
    let is_open = std::str::from_utf8(last).is_err_and(|it| it.error_len().is_none());
    if is_open { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_is_written_is_there_at_once() {
        let (raw, mut writer) = Raw::new().unwrap();
        assert_eq!(raw.take(), "");
        for round in 0..1000 {
            let text = format!("line {round}\n");
            writer.write_all(text.as_bytes()).unwrap();
            assert_eq!(raw.take(), text);
        }
    }

    #[test]
    fn characters_stay_whole() {
        let (raw, mut writer) = Raw::new().unwrap();
        let text = "a\u{e9}\u{20ac}\u{1f600}z";
        let mut came = String::new();
        for byte in text.as_bytes() {
            writer.write_all(&[*byte]).unwrap();
            came += &raw.take();
        }
        assert_eq!(came, text);
        writer.write_all(b"\xFF\xC3").unwrap();
        assert_eq!(raw.take(), "\u{fffd}");
        drop(writer);
        assert_eq!((raw.take(), raw.take_last()), (String::new(), "\u{fffd}".to_owned()));
    }

    #[test]
    fn much_comes_whole_to_one_who_listens() {
        let (raw, mut writer) = Raw::new().unwrap();
        let text: String = (0..1_000_000).map(|it| format!("{it}\n")).collect();
        let bytes = text.clone().into_bytes();
        let sender = thread::spawn(move || writer.write_all(&bytes));
        let mut came = String::new();
        let end = Instant::now() + Duration::from_secs(30);
        while came.len() < text.len() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
            came += &raw.take();
        }
        assert!(came == text);
        sender.join().unwrap().unwrap();
    }

    #[test]
    fn a_writer_does_not_wait_for_one_who_does_not_listen() {
        let (raw, mut writer) = Raw::new().unwrap();
        let start = Instant::now();
        writer.write_all(&vec![b'a'; 50 << 20]).unwrap();
        writer.write_all(b"the end").unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        let text = raw.take();
        assert!(text.starts_with('[') && text.len() < 2 * FULL, "{}", text.len());
        assert!(text.ends_with("the end"));
        let left_out: usize = text[1..].split(' ').next().unwrap().parse().unwrap();
        assert_eq!(left_out + text.split_once('\n').unwrap().1.len(), (50 << 20) + 7);
    }
}
