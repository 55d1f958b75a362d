//! The connecting end of ZMTP 3.0: what a frontend of ours holds, for `doctor` and the tests.

use std::io::{self, ErrorKind};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::zmtp::{COMMAND, LONG, MORE, Stream, encode, introduce};

/// Between two tries while nobody listens.
const PAUSE: Duration = Duration::from_millis(1);

/// One socket of a frontend, connected.
pub(crate) struct Dialled {
    stream: Box<dyn Stream>,
    /// What has come and is not yet a whole message.
    pending: BytesMut,
}

impl Dialled {
    /// A DEALER of that identity; waits for a ROUTER to listen.
    pub(crate) async fn dealer(endpoint: &str, identity: &str) -> io::Result<Self> {
        Self::new(endpoint, "DEALER", identity, "ROUTER").await
    }

    /// A SUB that hears everything; waits for a publisher to listen.
    pub(crate) async fn subscriber(endpoint: &str) -> io::Result<Self> {
        let mut subscriber = Self::new(endpoint, "SUB", "", "XPUB").await?;
        subscriber.send(&[Bytes::from_static(b"\x01")]).await?;
        Ok(subscriber)
    }

    async fn new(endpoint: &str, kind: &str, identity: &str, other: &str) -> io::Result<Self> {
        let mut stream = connect(endpoint).await?;
        introduce(&mut stream, kind, identity, &[other]).await?;
        Ok(Self { stream, pending: BytesMut::new() })
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, frames: &[Bytes]) -> io::Result<()> {
        self.stream.write_all(&encode(frames)).await
    }

    /// The frames of the next message. Nothing is lost when this is given up before it is done.
    pub(crate) async fn receive(&mut self) -> io::Result<Vec<Bytes>> {
        loop {
            if let Some((frames, len)) = whole_message(&self.pending) {
                self.pending.advance(len);
                return Ok(frames);
            }
            if self.stream.read_buf(&mut self.pending).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// The frames of the message at the front of `bytes` and its length; commands before it are skipped.
fn whole_message(bytes: &[u8]) -> Option<(Vec<Bytes>, usize)> {
    let (mut frames, mut rest) = (Vec::new(), bytes);
    loop {
        let (flags, after) = rest.split_first()?;
        let (len, after) = if flags & LONG == 0 {
            let (len, after) = after.split_first()?;
            (u64::from(*len), after)
        } else {
            let (len, after) = after.split_first_chunk()?;
            (u64::from_be_bytes(*len), after)
        };
        let (body, after) = after.split_at_checked(usize::try_from(len).ok()?)?;
        rest = after;
        if flags & COMMAND != 0 {
            continue;
        }
        frames.push(Bytes::copy_from_slice(body));
        if flags & MORE == 0 {
            return Some((frames, bytes.len() - rest.len()));
        }
    }
}

async fn connect(endpoint: &str) -> io::Result<Box<dyn Stream>> {
    loop {
        let connected: io::Result<Box<dyn Stream>> = match endpoint.split_once("://") {
            Some(("tcp", address)) => TcpStream::connect(address).await.map(|it| {
                let _ = it.set_nodelay(true);
                Box::new(it) as Box<dyn Stream>
            }),
            #[cfg(unix)]
            Some(("ipc", path)) => tokio::net::UnixStream::connect(path)
                .await
                .map(|it| Box::new(it) as Box<dyn Stream>),
            _ => return Err(ErrorKind::Unsupported.into()),
        };
        match connected {
            Err(error)
                if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {}
            other => return other,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
