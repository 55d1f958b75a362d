//! How fast a cell shows things to clients behind a Jupyter server.
//!
//! A server drops what comes faster than 1000 messages (`iopub_msg_rate_limit`) or 1,000,000 bytes of text
//! (`iopub_data_rate_limit`) a second, averaged over 3 s (`rate_limit_window`); an idle status starts its count
//! anew. The cell is slowed down to stay below that. Other clients drop nothing, and nothing is slowed down for them.

use std::time::Instant;

/// Messages a second that a server passes on.
const MESSAGES: f64 = 1000.0;
/// Bytes of text a second that a server passes on.
const BYTES: f64 = 1e6;
/// Seconds' worth of what a server passes on that may be sent at once.
const BURST: f64 = 0.8;
/// The part of what a server passes on that is sent for long. In 3 s, `BURST + 3 * SHARE` = 2.6 s' worth is sent:
/// the rest is for one more message, and for a server that stalls for a moment and then reads all at once.
const SHARE: f64 = 0.6;

/// Counts what is sent.
#[derive(Debug)]
pub(super) struct Pace {
    is_on: bool,
    /// Seconds' worth of messages and of bytes that were sent lately.
    spent: [f64; 2],
    at: Instant,
}

impl Pace {
    /// A pace that holds nobody up unless `is_on`.
    pub(super) fn new(is_on: bool, now: Instant) -> Self {
        Self { is_on, spent: [0.0; 2], at: now }
    }

    /// Servers name the notebook in the environment of the kernels that they start.
    pub(super) fn from_env() -> Self {
        Self::new(std::env::var_os("JPY_SESSION_NAME").is_some(), Instant::now())
    }

    /// Whether another message may be sent.
    pub(super) fn is_open(&mut self, now: Instant) -> bool {
        self.pass_time(now);
        !self.is_on || self.spent.iter().all(|it| *it < BURST)
    }

    /// A message was sent, with so many bytes of text.
    pub(super) fn count(&mut self, text: usize, now: Instant) {
        self.pass_time(now);
        self.spent[0] += 1.0 / MESSAGES;
        self.spent[1] += text as f64 / BYTES;
    }

    /// An idle status was sent.
    pub(super) fn start_anew(&mut self) {
        self.spent = [0.0; 2];
    }

    fn pass_time(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.spent = self.spent.map(|it| (it - passed * SHARE).max(0.0));
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Times in milliseconds at which messages with `text` bytes of text are sent by a cell that never rests.
    fn sent(text: usize, count: usize) -> Vec<u64> {
        let start = Instant::now();
        let mut pace = Pace::new(true, start);
        let mut times = Vec::new();
        for ms in 0.. {
            let now = start + Duration::from_millis(ms);
            while times.len() < count && pace.is_open(now) {
                pace.count(text, now);
                times.push(ms);
            }
            if times.len() == count {
                break;
            }
        }
        times
    }

    /// The most of `times` that lie within a server's window.
    fn most_in_window(times: &[u64]) -> usize {
        let within = |from: usize| {
            let end = times[from] + 3000;
            times[from..].iter().take_while(move |it| **it < end)
        };
        (0..times.len()).map(|from| within(from).count()).max().unwrap_or(0)
    }

    #[test]
    fn a_server_passes_everything_on() {
        assert!((2000..=3000).contains(&most_in_window(&sent(0, 9000))));
        let large = 200_000;
        assert!((2_000_000..=3_000_000).contains(&(most_in_window(&sent(large, 60)) * large)));
    }

    #[test]
    fn idle_and_clients_without_a_limit_are_not_held_up() {
        let now = Instant::now();
        for (is_on, resets) in [(true, true), (false, false)] {
            let mut pace = Pace::new(is_on, now);
            for _ in 0..100_000 {
                assert!(pace.is_open(now));
                pace.count(1000, now);
                if resets {
                    pace.start_anew();
                }
            }
        }
    }
}
