//! ZMTP 3.0 with NULL security: listening, greeting, handshake, frames.
//! <https://rfc.zeromq.org/spec/23/>
//!
//! Nothing that a peer sends ends more than its own connection, and memory is taken only for what
//! has come, never for what a length announces.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

pub(super) const MORE: u8 = 1;
pub(super) const LONG: u8 = 2;
pub(super) const COMMAND: u8 = 4;

/// A command is never longer.
const MAX_COMMAND: u64 = 64 << 10;
/// How long a peer may take to greet.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection, whatever it runs over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Serves the peers of one socket.
pub(super) trait Serve: Send + Sync + 'static {
    /// Serves one peer until it has gone.
    fn serve(self: Arc<Self>, stream: Box<dyn Stream>) -> impl Future<Output = ()> + Send;
}

/// Listens on a `tcp://` or `ipc://` endpoint, from a task of its own.
pub(super) async fn listen<S: Serve>(endpoint: &str, server: Arc<S>) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot listen on {endpoint}: {error}");
    if let Some(address) = endpoint.strip_prefix("tcp://") {
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        tokio::spawn(accept_tcp(listener, server));
        return Ok(());
    }
    #[cfg(unix)]
    if let Some(path) = endpoint.strip_prefix("ipc://") {
        // What an earlier run left behind would make the bind fail.
        let _ = std::fs::remove_file(path);
        let listener = tokio::net::UnixListener::bind(path).map_err(failed)?;
        tokio::spawn(accept_unix(listener, server));
        return Ok(());
    }
    Err(failed(ErrorKind::Unsupported.into()))
}

async fn accept_tcp<S: Serve>(listener: TcpListener, server: Arc<S>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                tokio::spawn(server.clone().serve(Box::new(stream)));
            }
            // Out of file handles, or the peer has gone already: others may have more luck.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

#[cfg(unix)]
async fn accept_unix<S: Serve>(listener: tokio::net::UnixListener, server: Arc<S>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(server.clone().serve(Box::new(stream)))),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Greets and introduces ourselves as a socket of type `kind`. Gives the identity that the peer asks
/// for, maybe empty; a peer that is not of a type in `accepted` is an error.
pub(super) async fn handshake(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    kind: &str,
    accepted: &[&str],
) -> io::Result<Bytes> {
    let greeted = introduce(stream, kind, "", accepted);
    tokio::time::timeout(PATIENCE, greeted).await.map_err(|_| ErrorKind::TimedOut)?
}

/// The same for either end, without a limit of time; `identity` is the name that we ask for.
pub(super) async fn introduce(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    kind: &str,
    identity: &str,
    accepted: &[&str],
) -> io::Result<Bytes> {
    stream.write_all(&greeting()).await?;
    let mut theirs = [0; 64];
    stream.read_exact(&mut theirs).await?;
    let is_null = theirs[12..32].iter().copied().eq(padded_null());
    if theirs[0] != 0xff || theirs[9] & 1 == 0 || theirs[10] < 3 || !is_null {
        return Err(ErrorKind::InvalidData.into());
    }
    stream.write_all(&ready(kind, identity)).await?;
    let (flags, body) = read_frame(stream, MAX_COMMAND).await?;
    let properties = body.strip_prefix(b"\x05READY").filter(|_| flags & COMMAND != 0);
    let properties = properties.ok_or(ErrorKind::InvalidData)?;
    let peer = property(properties, "Socket-Type").ok_or(ErrorKind::InvalidData)?;
    if !accepted.iter().any(|it| it.as_bytes() == peer) {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok(property(properties, "Identity").map(Bytes::copy_from_slice).unwrap_or_default())
}

/// Signature, version 3.0, mechanism, not a security server, filler.
pub(super) fn greeting() -> [u8; 64] {
    let mut greeting = [0; 64];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..32].iter_mut().zip(padded_null()).for_each(|(to, from)| *to = from);
    greeting
}

fn padded_null() -> impl Iterator<Item = u8> {
    b"NULL".iter().copied().chain(std::iter::repeat(0)).take(20)
}

fn ready(kind: &str, identity: &str) -> BytesMut {
    let mut body = BytesMut::from(&b"\x05READY"[..]);
    put_property(&mut body, "Socket-Type", kind);
    if !identity.is_empty() {
        put_property(&mut body, "Identity", identity);
    }
    let mut frame = BytesMut::new();
    put_frame(&mut frame, COMMAND, &body);
    frame
}

fn put_property(body: &mut BytesMut, name: &str, value: &str) {
    body.put_u8(name.len() as u8);
    body.extend_from_slice(name.as_bytes());
    body.put_u32(value.len() as u32);
    body.extend_from_slice(value.as_bytes());
}

/// One of a list of properties: a name behind its length, a value behind its length. Names are
/// compared without case, as the specification says.
fn property<'a>(mut properties: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    loop {
        let (len, rest) = properties.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*len))?;
        let (len, rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        if name.eq_ignore_ascii_case(wanted.as_bytes()) {
            return Some(value);
        }
        properties = rest;
    }
}

/// Flags and body of the next frame; one longer than `limit` is an error.
pub(super) async fn read_frame(
    read: &mut (impl AsyncRead + Unpin),
    limit: u64,
) -> io::Result<(u8, Bytes)> {
    let flags = read.read_u8().await?;
    let is_long = flags & LONG != 0;
    let len = if is_long { read.read_u64().await? } else { read.read_u8().await?.into() };
    if len > limit {
        return Err(ErrorKind::InvalidData.into());
    }
    // The buffer grows with what comes.
    let mut body = Vec::with_capacity(len.min(64 << 10) as usize);
    if read.take(len).read_to_end(&mut body).await? as u64 != len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok((flags, body.into()))
}

/// The whole messages of a peer whose bytes are known, from its greeting on.
pub(super) async fn read_messages(bytes: &[u8], limit: u64) -> Vec<Vec<Bytes>> {
    let mut stream = tokio::io::join(bytes, tokio::io::sink());
    let (mut messages, mut frames) = (Vec::new(), Vec::new());
    if introduce(&mut stream, "ROUTER", "", &["DEALER", "REQ"]).await.is_err() {
        return messages;
    }
    while let Ok((flags, body)) = read_frame(&mut stream, limit).await {
        if flags & COMMAND != 0 {
            let _ = pong(&body);
            continue;
        }
        frames.push(body);
        if flags & MORE == 0 {
            messages.push(std::mem::take(&mut frames));
        }
    }
    messages
}

/// A multipart message as bytes on the wire.
pub(super) fn encode(frames: &[Bytes]) -> Bytes {
    let mut out = BytesMut::with_capacity(frames.iter().map(|it| it.len() + 9).sum());
    for (idx, frame) in frames.iter().enumerate() {
        put_frame(&mut out, if idx + 1 < frames.len() { MORE } else { 0 }, frame);
    }
    out.freeze()
}

/// The answer to a PING: what follows its time-to-live goes back. `None` for another command.
pub(super) fn pong(command: &[u8]) -> Option<Bytes> {
    let [4, b'P', b'I', b'N', b'G', _, _, context @ ..] = command else { return None };
    let mut frame = BytesMut::new();
    put_frame(&mut frame, COMMAND, &[b"\x04PONG", context].concat());
    Some(frame.freeze())
}

fn put_frame(out: &mut BytesMut, flags: u8, body: &[u8]) {
    match u8::try_from(body.len()) {
        Ok(len) => out.extend_from_slice(&[flags, len]),
        Err(_) => {
            out.put_u8(flags | LONG);
            out.put_u64(body.len() as u64);
        }
    }
    out.extend_from_slice(body);
}

#[cfg(test)]
#[path = "zmtp_tests.rs"]
pub(super) mod tests;
