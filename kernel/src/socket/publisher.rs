//! An XPUB socket: subscribers, their topics, and what each is sent.
//!
//! Each subscriber has an outbox of its own. While one that reads has a full outbox the cell waits (`has_room`).
//! One that has not read for `SILENT` is waited for no longer: outputs that its outbox has no room for are left out,
//! and it is told; status and errors never are.

use std::io;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::io::AsyncRead;

use crate::lock::lock;

pub(super) use super::outbox::SILENT;

use super::outbox::Outbox;
use super::zmtp::{COMMAND, Serve, Stream, encode, handshake, listen, pong, read_frame};

/// Whether a message may be left out for a subscriber that does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Always,
    IfRoom,
}

/// Bytes that wait for a subscriber above which outputs wait, or are left out.
const ROOM: usize = 64 << 20;
/// A subscription or command is never longer.
const MAX_INCOMING: u64 = 64 << 10;
/// Subscriptions of one peer.
const MAX_TOPICS: usize = 1024;

/// Messages that the publisher itself sends.
pub trait Voice: Send + Sync {
    /// The first message to a new subscriber of a topic.
    fn welcome(&self, topic: &[u8]) -> Vec<Bytes>;
    /// Says, before the message with these frames, that `lost` outputs were left out.
    fn notice(&self, before: &[Bytes], lost: usize) -> Vec<Bytes>;
}

/// All subscribers.
pub struct Publisher {
    voice: Box<dyn Voice>,
    subscribers: Mutex<Vec<Arc<Subscriber>>>,
}

#[derive(Default)]
struct Subscriber {
    wants: Mutex<Wants>,
    outbox: Outbox,
}

#[derive(Default)]
struct Wants {
    topics: Vec<Bytes>,
    lost: usize,
}

impl Publisher {
    /// Listens on an endpoint.
    pub async fn bind(endpoint: &str, voice: Box<dyn Voice>) -> Result<Arc<Self>, String> {
        let publisher = Arc::new(Self { voice, subscribers: Mutex::default() });
        listen(endpoint, publisher.clone()).await?;
        Ok(publisher)
    }

    /// Queues a message, whose first frame is its topic, for all who want it.
    pub fn publish(&self, frames: &[Bytes], keep: Keep) {
        let subscribers = lock(&self.subscribers);
        if subscribers.is_empty() {
            return;
        }
        let message = encode(frames);
        for subscriber in subscribers.iter() {
            subscriber.offer(self.voice.as_ref(), frames, &message, keep);
        }
    }

    /// Whether all who read can take more.
    pub fn has_room(&self) -> bool {
        lock(&self.subscribers).iter().all(|it| it.has_room() || it.outbox.is_silent())
    }

    /// Whether nothing waits for anybody.
    pub fn is_flushed(&self) -> bool {
        lock(&self.subscribers).iter().all(|it| it.outbox.waiting() == 0)
    }
}

impl Serve for Publisher {
    async fn serve(self: Arc<Self>, mut stream: Box<dyn Stream>) {
        if handshake(&mut stream, "XPUB", &["SUB", "XSUB"]).await.is_err() {
            return;
        }
        let subscriber = Arc::new(Subscriber::default());
        lock(&self.subscribers).push(subscriber.clone());
        let (mut read, mut write) = tokio::io::split(stream);
        tokio::select! {
            _ = subscriber.obey_all(&mut read, self.voice.as_ref()) => {}
            _ = subscriber.outbox.drain(&mut write) => {}
        }
        lock(&self.subscribers).retain(|it| !Arc::ptr_eq(it, &subscriber));
    }
}

impl Subscriber {
    fn offer(&self, voice: &dyn Voice, frames: &[Bytes], message: &Bytes, keep: Keep) {
        let mut wants = lock(&self.wants);
        let topic = frames.first().map_or(&[][..], |it| it.as_ref());
        if !wants.topics.iter().any(|it| topic.starts_with(it)) {
            return;
        }
        if keep == Keep::IfRoom && !self.has_room() && self.outbox.is_silent() {
            wants.lost += 1;
            return;
        }
        if wants.lost > 0 {
            self.outbox.push(encode(&voice.notice(frames, wants.lost)));
            wants.lost = 0;
        }
        self.outbox.push(message.clone());
    }

    fn has_room(&self) -> bool {
        self.outbox.waiting() < ROOM
    }

    async fn obey_all(
        &self,
        read: &mut (impl AsyncRead + Unpin),
        voice: &dyn Voice,
    ) -> io::Result<()> {
        loop {
            let (flags, body) = read_frame(read, MAX_INCOMING).await?;
            self.obey(flags & COMMAND != 0, &body, voice);
        }
    }

    /// Carries out what a peer sends; a frame that makes no sense is ignored. Version 3.0 subscribes
    /// by message, 3.1 by command.
    fn obey(&self, is_command: bool, body: &[u8], voice: &dyn Voice) {
        let (prefixes, body) = match is_command {
            true => ([&b"\x09SUBSCRIBE"[..], b"\x06CANCEL"], body),
            false => ([&[1][..], &[0]], body),
        };
        if let Some(topic) = body.strip_prefix(prefixes[0]) {
            self.subscribe(topic, voice);
        } else if let Some(topic) = body.strip_prefix(prefixes[1]) {
            let topics = &mut lock(&self.wants).topics;
            if let Some(at) = topics.iter().position(|it| it.as_ref() == topic) {
                topics.swap_remove(at);
            }
        } else if let Some(answer) = pong(body).filter(|_| is_command) {
            self.outbox.push(answer);
        }
    }

    fn subscribe(&self, topic: &[u8], voice: &dyn Voice) {
        let mut wants = lock(&self.wants);
        if wants.topics.len() < MAX_TOPICS {
            wants.topics.push(Bytes::copy_from_slice(topic));
            self.outbox.push(encode(&voice.welcome(topic)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::zmtp::tests::{SayBack, frames};

    #[test]
    fn a_peer_that_is_silent_loses_outputs_only_and_is_told() {
        let subscriber = Subscriber::default();
        lock(&subscriber.wants).topics.push(Bytes::new());
        let big = [Bytes::from_static(b"t"), Bytes::from(vec![0; ROOM / 3])];
        for _ in 0..3 {
            assert!(subscriber.has_room());
            subscriber.offer(&SayBack, &big, &encode(&big), Keep::IfRoom);
        }
        assert!(!subscriber.has_room() && !subscriber.outbox.is_silent());
        // One that was not waited for loses nothing before it is silent.
        subscriber.offer(&SayBack, &big, &encode(&big), Keep::IfRoom);
        subscriber.outbox.fall_silent();
        for _ in 0..3 {
            subscriber.offer(&SayBack, &big, &encode(&big), Keep::IfRoom);
        }
        let idle = frames("t", "idle");
        subscriber.offer(&SayBack, &idle, &encode(&idle), Keep::Always);
        let kept: Vec<Bytes> = std::iter::from_fn(|| subscriber.outbox.take()).collect();
        assert_eq!(kept.len(), 5);
        let last = String::from_utf8_lossy(&kept[4]).into_owned();
        assert!(last.contains("lost 3") && last.ends_with("idle"), "{last:?}");
    }

    #[test]
    fn a_ping_is_answered() {
        let subscriber = Subscriber::default();
        subscriber.obey(true, b"\x04PING\0\x01ctx", &SayBack);
        assert_eq!(subscriber.outbox.take().unwrap()[..], *b"\x04\x08\x04PONGctx");
    }
}
