//! Frames over a socket: the length as four bytes, little-endian, then so many bytes.
//!
//! Both directions give up after a tick, so that the caller can look around, and go on later where they were.

use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::wait::{self, Wait};

/// The longest frame, in bytes.
pub(super) const LONGEST: usize = 1 << 30;
/// The time after which a read or write returns for the caller to look around.
const TICK: Duration = Duration::from_millis(20);
/// Bytes that are read at once, and up to which a frame is put behind its length before it is sent.
const SMALL: usize = 1 << 16;

/// Why no frame will come any more.
#[derive(Debug)]
pub(super) enum Broken {
    /// The other side has gone.
    Closed,
    /// It wants to send so many bytes.
    TooLong(usize),
    /// It did not stop when asked.
    Stubborn,
}

/// One end of the socket.
pub(super) struct Channel {
    stream: UnixStream,
    wait: Wait,
    /// What was read: `start..end` belongs to no frame yet.
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// The frame that comes, and how much of it is there.
    coming: Option<(Vec<u8>, usize)>,
    /// The frame that goes.
    going: Vec<u8>,
}

impl Channel {
    /// A channel over `stream`.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        stream.set_nonblocking(true)?;
        let (wait, buffer) = (Wait::new(), vec![0; SMALL].into_boxed_slice());
        Ok(Self { stream, wait, buffer, start: 0, end: 0, coming: None, going: Vec::new() })
    }

    /// The next frame; `None` if a tick has passed without it.
    pub(super) fn read(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        loop {
            if let Some(frame) = self.next_frame()? {
                return Ok(Some(frame));
            }
            match self.read_some() {
                Ok(0) => return Err(Broken::Closed),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_tick(&error) => return Ok(None),
                Err(_) => return Err(Broken::Closed),
            }
        }
    }

    /// Sends a frame, of at most `LONGEST` bytes; `tick` is called whenever that has to wait, and can end it.
    pub(super) fn write(
        &mut self,
        frame: &[u8],
        tick: impl FnMut() -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let length = u32::try_from(frame.len()).map_err(|_| Broken::TooLong(frame.len()))?;
        self.going.clear();
        self.going.extend(length.to_le_bytes());
        let is_small = frame.len() < SMALL;
        self.going.extend(if is_small { frame } else { &[] });
        let parts = [self.going.as_slice(), if is_small { &[] } else { frame }];
        write_parts(&self.stream, parts, tick)
    }

    /// Tells the other side that nothing comes any more.
    pub(super) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// The next frame, if all of it was read.
    fn next_frame(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        if self.coming.is_none() {
            let unread = &self.buffer[self.start..self.end];
            let Some((length, rest)) = unread.split_first_chunk() else { return Ok(None) };
            let length = u32::from_le_bytes(*length) as usize;
            if length > LONGEST {
                return Err(Broken::TooLong(length));
            }
            let mut frame = vec![0; length];
            let here = length.min(rest.len());
            frame[..here].copy_from_slice(&rest[..here]);
            self.start += 4 + here;
            self.coming = Some((frame, here));
        }
        let whole = self.coming.take_if(|it| it.0.len() == it.1);
        Ok(whole.map(|it| it.0))
    }

    /// Reads into the frame that comes if much of it is missing, and into the buffer otherwise.
    fn read_some(&mut self) -> io::Result<usize> {
        if let Some((frame, filled)) = &mut self.coming {
            let rest = &mut frame[*filled..];
            let count = self.wait.awake(&self.stream, |mut it| it.read(rest))?;
            *filled += count;
            return Ok(count);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= mem::take(&mut self.start);
        let rest = &mut self.buffer[self.end..];
        let count = self.wait.awake(&self.stream, |mut it| it.read(rest))?;
        self.end += count;
        Ok(count)
    }
}

fn write_parts(
    stream: &UnixStream,
    parts: [&[u8]; 2],
    mut tick: impl FnMut() -> Result<(), Broken>,
) -> Result<(), Broken> {
    for mut part in parts {
        while !part.is_empty() {
            match wait::asleep(stream, |mut it| it.write(part)) {
                Ok(0) => return Err(Broken::Closed),
                Ok(count) => part = &part[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_tick(&error) => tick()?,
                Err(_) => return Err(Broken::Closed),
            }
        }
    }
    Ok(())
}

fn is_tick(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn pair() -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Channel::new(ours).unwrap(), theirs)
    }

    /// Frames as they are sent.
    fn sent(frames: &[&[u8]]) -> Vec<u8> {
        let one = |it: &&[u8]| [&(it.len() as u32).to_le_bytes(), *it].concat();
        frames.iter().flat_map(one).collect()
    }

    #[test]
    fn frames_come_apart_and_together() {
        let (mut channel, mut theirs) = pair();
        let bytes = sent(&[b"abc", b"", b"defgh"]);
        for part in [&bytes[..2], &bytes[2..5]] {
            theirs.write_all(part).unwrap();
            assert_eq!(channel.read().unwrap(), None);
        }
        theirs.write_all(&bytes[5..]).unwrap();
        for frame in ["abc", "", "defgh"] {
            assert_eq!(channel.read().unwrap(), Some(frame.as_bytes().to_vec()));
        }
        assert_eq!(channel.read().unwrap(), None);
        drop(theirs);
        assert!(matches!(channel.read(), Err(Broken::Closed)));
    }

    #[test]
    fn large_frames_pass() {
        let large: Vec<u8> = (0..5_000_000_u32).map(|it| it as u8).collect();
        let (mut channel, mut theirs) = pair();
        let bytes = sent(&[&large, b"small", &large]);
        let sender = thread::spawn(move || theirs.write_all(&bytes).map(|()| theirs));
        for frame in [&large[..], b"small", &large] {
            let came = std::iter::repeat_with(|| channel.read().unwrap()).flatten().next();
            assert!(came.unwrap() == frame);
        }
        let mut theirs = sender.join().unwrap().unwrap();
        let mut bytes = vec![0; large.len() + 4];
        let reader = thread::spawn(move || {
            thread::sleep(TICK * 3);
            theirs.read_exact(&mut bytes).map(|()| bytes)
        });
        let mut ticks = 0;
        let count = || {
            ticks += 1;
            Ok(())
        };
        channel.write(&large, count).unwrap();
        assert!(ticks > 0);
        assert!(reader.join().unwrap().unwrap() == sent(&[&large]));
    }

    #[test]
    fn a_wait_can_be_ended() {
        let (mut channel, theirs) = pair();
        let large = vec![0; 5_000_000];
        let ended = channel.write(&large, || Err(Broken::Stubborn));
        assert!(matches!(ended, Err(Broken::Stubborn)));
        drop(theirs);
        let closed = channel.write(b"abc", || Ok(()));
        assert!(matches!(closed, Err(Broken::Closed)));
    }

    #[test]
    fn lengths_that_are_too_long_are_refused() {
        let (mut channel, mut theirs) = pair();
        theirs.write_all(&[1, 0, 0, 64]).unwrap();
        assert!(matches!(channel.read(), Err(Broken::TooLong(it)) if it == LONGEST + 1));
    }
}
