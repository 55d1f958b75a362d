//! A ROUTER socket: what comes has its sender's identity in front, and so has what goes out.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::io::AsyncRead;

use crate::lock::lock;

use super::outbox::Outbox;
use super::zmtp::{COMMAND, MORE, Serve, Stream, encode, handshake, listen, pong, read_frame};

/// Bytes and frames of one message above which its sender is cut off.
const MAX_MESSAGE: u64 = 256 << 20;
const MAX_FRAMES: usize = 1024;

/// Takes a message; must not block.
type Receive = Box<dyn Fn(&Router, Vec<Bytes>) + Send + Sync>;

/// All peers, by identity.
pub struct Router {
    receive: Receive,
    peers: Mutex<HashMap<Bytes, Arc<Outbox>>>,
    named: AtomicU32,
}

impl Router {
    /// Listens on an endpoint.
    pub async fn bind(endpoint: &str, receive: Receive) -> Result<Arc<Self>, String> {
        let router =
            Arc::new(Self { receive, peers: Mutex::default(), named: AtomicU32::default() });
        listen(endpoint, router.clone()).await?;
        Ok(router)
    }

    /// Sends to the peer that the first frame names. One that has gone is no error.
    pub fn send(&self, frames: &[Bytes]) {
        let Some((identity, message)) = frames.split_first() else { return };
        let peer = lock(&self.peers).get(identity).cloned();
        if let Some(peer) = peer {
            peer.push(encode(message));
        }
    }

    /// Whether nothing waits for anybody.
    pub fn is_flushed(&self) -> bool {
        lock(&self.peers).values().all(|it| it.waiting() == 0)
    }

    /// The peer's own name, or a new one; a name that is taken goes over to the newcomer, who is the
    /// same client connecting again.
    fn join(&self, identity: Bytes, outbox: &Arc<Outbox>) -> Bytes {
        let identity = if identity.is_empty() { self.new_name() } else { identity };
        if let Some(old) = lock(&self.peers).insert(identity.clone(), outbox.clone()) {
            old.close();
        }
        identity
    }

    /// Names that a router gives begin with a zero byte, which a peer's own never does.
    fn new_name(&self) -> Bytes {
        let number = self.named.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        Bytes::from([&[0][..], &number].concat())
    }

    async fn receive_all(
        &self,
        identity: &Bytes,
        read: &mut (impl AsyncRead + Unpin),
        outbox: &Outbox,
    ) -> io::Result<()> {
        loop {
            let mut message = vec![identity.clone()];
            let mut room = MAX_MESSAGE;
            loop {
                let (flags, body) = read_frame(read, room).await?;
                if flags & COMMAND != 0 {
                    pong(&body).into_iter().for_each(|it| outbox.push(it));
                    continue;
                }
                room -= body.len() as u64;
                message.push(body);
                if message.len() > MAX_FRAMES {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                if flags & MORE == 0 {
                    break;
                }
            }
            (self.receive)(self, message);
        }
    }
}

impl Serve for Router {
    async fn serve(self: Arc<Self>, mut stream: Box<dyn Stream>) {
        let accepted = ["DEALER", "REQ", "ROUTER"];
        let Ok(identity) = handshake(&mut stream, "ROUTER", &accepted).await else { return };
        let outbox = Arc::new(Outbox::default());
        let identity = self.join(identity, &outbox);
        // Many small reads otherwise: a message has a dozen of lengths and frames.
        let (read, mut write) = tokio::io::split(stream);
        let mut read = tokio::io::BufReader::new(read);
        tokio::select! {
            _ = self.receive_all(&identity, &mut read, &outbox) => {}
            _ = outbox.drain(&mut write) => {}
        }
        let mut peers = lock(&self.peers);
        if peers.get(&identity).is_some_and(|it| Arc::ptr_eq(it, &outbox)) {
            peers.remove(&identity);
        }
    }
}
