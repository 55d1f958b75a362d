//! What waits to be written to one peer, counted in bytes.

use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use crate::lock::lock;

/// Bytes above which a silent peer is cut off.
const GIVE_UP: usize = 256 << 20;
/// Bytes that are written at once, if there are that many.
const CHUNK: usize = 64 << 10;

/// A peer that takes nothing of what waits for so long is silent.
pub(super) const SILENT: Duration = Duration::from_secs(5);

/// The queue of one peer.
#[derive(Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Bytes>,
    /// Bytes that wait or are being written.
    bytes: usize,
    /// When the peer last took something, or had nothing left to take.
    taken: Option<Instant>,
    is_closed: bool,
}

impl Outbox {
    /// Adds an encoded message.
    pub(super) fn push(&self, message: Bytes) {
        let mut state = lock(&self.state);
        if !state.is_closed {
            if state.bytes == 0 {
                state.taken = Some(Instant::now());
            }
            state.bytes += message.len();
            state.messages.push_back(message);
        }
        if state.bytes > GIVE_UP && state.is_silent(Instant::now()) {
            state.close();
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Bytes that have not been handed to the system.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.state).bytes
    }

    /// Whether something waits that the peer does not take.
    pub(super) fn is_silent(&self) -> bool {
        lock(&self.state).is_silent(Instant::now())
    }

    /// As if the peer had taken nothing for a while.
    #[cfg(test)]
    pub(super) fn fall_silent(&self) {
        lock(&self.state).taken = Instant::now().checked_sub(SILENT);
    }

    /// Writes what is queued until the peer has gone or the outbox is closed.
    pub(super) async fn drain(&self, write: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        loop {
            while let Some(mut chunk) = self.take() {
                while chunk.has_remaining() {
                    let written = write.write_buf(&mut chunk).await?;
                    if written == 0 {
                        return Err(io::ErrorKind::WriteZero.into());
                    }
                    let mut state = lock(&self.state);
                    state.bytes = state.bytes.saturating_sub(written);
                    state.taken = Some(Instant::now());
                }
            }
            if lock(&self.state).is_closed {
                return Ok(());
            }
            self.wake.notified().await;
        }
    }

    /// What is to be written next: small messages are put together. `None` if nothing waits.
    pub(super) fn take(&self) -> Option<Bytes> {
        let mut state = lock(&self.state);
        let first = state.messages.pop_front()?;
        if first.len() >= CHUNK || state.messages.is_empty() {
            return Some(first);
        }
        let mut chunk = BytesMut::from(&first[..]);
        while let Some(next) = state.messages.pop_front_if(|it| chunk.len() + it.len() <= CHUNK) {
            chunk.extend_from_slice(&next);
        }
        Some(chunk.freeze())
    }
}

impl State {
    fn is_silent(&self, now: Instant) -> bool {
        let waits = |since| now.saturating_duration_since(since) >= SILENT;
        self.bytes > 0 && self.taken.is_some_and(waits)
    }

    fn close(&mut self) {
        *self = Self { is_closed: true, ..Self::default() };
    }
}
