//! Waiting at a socket that does not block. To be woken up takes longer than most answers, so these are met awake.
//!
//! Where that is in vain, as the machine is busy or the answers take long, it is tried ever more rarely.

use std::hint;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// For this long a socket is asked again and again before we sleep.
const AWAKE: Duration = Duration::from_micros(60);
/// The longest pause between two times that it is tried is two to the power of this, in waits.
const RAREST: u32 = 8;

/// How it went before.
pub(super) struct Wait {
    /// How often it was in vain lately; a vain time counts twice as much as a good one.
    vain: u32,
    /// Waits that are left until it is tried again.
    pause: u32,
}

impl Wait {
    /// Where there is one processor, being awake keeps the other side from running: then it is not tried.
    pub(super) fn new() -> Self {
        let has_more = thread::available_parallelism().is_ok_and(|it| it.get() > 1);
        Self { vain: 0, pause: if has_more { 0 } else { u32::MAX } }
    }

    /// Does something with `stream` as soon as it does not block, at first without sleep.
    ///
    /// An error that would block: the time limit of the stream has passed.
    pub(super) fn awake(
        &mut self,
        stream: &UnixStream,
        mut act: impl FnMut(&UnixStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.pause > 0 {
            self.pause = if self.pause == u32::MAX { self.pause } else { self.pause - 1 };
            return asleep(stream, act);
        }
        let begin = Instant::now();
        loop {
            match act(stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => {
                    self.vain = self.vain.saturating_sub(1);
                    return done;
                }
            }
            if begin.elapsed() >= AWAKE {
                break;
            }
            hint::spin_loop();
        }
        self.vain = RAREST.min(self.vain + 2);
        self.pause = (1 << self.vain) - 1;
        asleep(stream, act)
    }
}

/// Does something with `stream`, at once or when it does not block any more.
///
/// An error that would block: the time limit of the stream has passed.
pub(super) fn asleep(
    stream: &UnixStream,
    mut act: impl FnMut(&UnixStream) -> io::Result<usize>,
) -> io::Result<usize> {
    match act(stream) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        done => return done,
    }
    stream.set_nonblocking(false)?;
    let done = act(stream);
    stream.set_nonblocking(true)?;
    done
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn pair() -> (UnixStream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        ours.set_nonblocking(true).unwrap();
        (ours, theirs)
    }

    #[test]
    fn vain_times_make_it_rare_and_a_good_one_often() {
        let (ours, mut theirs) = pair();
        let mut wait = Wait { vain: 0, pause: 0 };
        let mut byte = [0];
        let mut pauses = Vec::new();
        for _ in 0..400 {
            let tick = wait.awake(&ours, |mut it| it.read(&mut byte)).unwrap_err();
            assert_eq!(tick.kind(), ErrorKind::WouldBlock);
            pauses.push(wait.pause);
        }
        assert_eq!(pauses[..6], [3, 2, 1, 0, 15, 14]);
        assert_eq!(pauses.iter().max(), Some(&255));
        for round in 0..255 {
            theirs.write_all(&[round]).unwrap();
            assert_eq!(wait.awake(&ours, |mut it| it.read(&mut byte)).unwrap(), 1);
            assert_eq!(byte, [round]);
        }
        // It is tried again, and one vain time counts little after many good ones.
        for _ in 0..20 {
            theirs.write_all(&[0]).unwrap();
            wait.awake(&ours, |mut it| it.read(&mut byte)).unwrap();
        }
        assert_eq!((wait.vain, wait.pause), (0, 0));
    }

    #[test]
    fn it_is_not_tried_where_it_harms() {
        let (ours, _theirs) = pair();
        let mut wait = Wait { vain: 0, pause: u32::MAX };
        assert!(wait.awake(&ours, |mut it| it.read(&mut [0])).is_err());
        assert_eq!((wait.vain, wait.pause), (0, u32::MAX));
    }

    #[test]
    fn sleep_ends_with_what_comes() {
        let (ours, mut theirs) = pair();
        ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let sender = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            theirs.write_all(b"a").map(|()| theirs)
        });
        assert_eq!(asleep(&ours, |mut it| it.read(&mut [0])).unwrap(), 1);
        drop(sender.join());
        assert_eq!(asleep(&ours, |mut it| it.read(&mut [0])).unwrap(), 0);
    }
}
