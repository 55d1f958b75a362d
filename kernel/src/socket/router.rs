//! A ROUTER socket: what comes has its sender in front, and so has what goes out.
//!
//! The sender is two frames: the connection and the identity. Clients may share an identity (those
//! of one `KernelManager` do), and each has its own answers back over its own connection; when that
//! has gone, or was another socket's, the answer goes to the newest peer of that identity, who is
//! the same client connecting again or another of its sockets.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Names of connections are never used twice, whatever the socket.
static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// All peers, in the order in which they came.
pub struct Router {
    receive: Receive,
    peers: Mutex<Vec<Arc<Peer>>>,
}

struct Peer {
    connection: Bytes,
    /// The name that the peer gave itself, or else that of its connection.
    identity: Bytes,
    outbox: Outbox,
}

impl Peer {
    fn new(identity: Bytes) -> Self {
        // A peer's own name never begins with a zero byte.
        let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let connection = Bytes::from([&[0][..], &number].concat());
        let identity = if identity.is_empty() { connection.clone() } else { identity };
        Self { connection, identity, outbox: Outbox::default() }
    }
}

impl Router {
    /// Listens on an endpoint.
    pub async fn bind(endpoint: &str, receive: Receive) -> Result<Arc<Self>, String> {
        let router = Arc::new(Self { receive, peers: Mutex::default() });
        listen(endpoint, router.clone()).await?;
        Ok(router)
    }

    /// Sends to the peer that the first two frames name. One that has gone is no error.
    pub fn send(&self, frames: &[Bytes]) {
        let [connection, identity, message @ ..] = frames else { return };
        let peers = lock(&self.peers);
        let peer = peers.iter().find(|it| it.connection == *connection);
        let peer = peer.or_else(|| peers.iter().rfind(|it| it.identity == *identity));
        if let Some(peer) = peer {
            peer.outbox.push(encode(message));
        }
    }

    /// Whether nothing waits for anybody.
    pub fn is_flushed(&self) -> bool {
        lock(&self.peers).iter().all(|it| it.outbox.waiting() == 0)
    }

    async fn receive_all(
        &self,
        peer: &Peer,
        read: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<()> {
        loop {
            let mut message = vec![peer.connection.clone(), peer.identity.clone()];
            let mut room = MAX_MESSAGE;
            loop {
                let (flags, body) = read_frame(read, room).await?;
                if flags & COMMAND != 0 {
                    pong(&body).into_iter().for_each(|it| peer.outbox.push(it));
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
        let peer = Arc::new(Peer::new(identity));
        lock(&self.peers).push(peer.clone());
        // Many small reads otherwise: a message has a dozen of lengths and frames.
        let (read, mut write) = tokio::io::split(stream);
        let mut read = tokio::io::BufReader::new(read);
        tokio::select! {
            _ = self.receive_all(&peer, &mut read) => {}
            _ = peer.outbox.drain(&mut write) => {}
        }
        lock(&self.peers).retain(|it| !Arc::ptr_eq(it, &peer));
    }
}
