//! Signatures and frames.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#the-wire-protocol>

use std::fmt::Write as _;

use bytes::Bytes;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Stands between the routing frames and the message.
pub const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The key of a connection; without one nothing is signed.
#[derive(Clone)]
pub struct Key(Option<Hmac<Sha256>>);

impl Key {
    /// A key from the connection file; empty means none.
    pub fn new(key: &str) -> Self {
        // HMAC takes a key of any length, so this never fails.
        Self(if key.is_empty() { None } else { Hmac::new_from_slice(key.as_bytes()).ok() })
    }

    /// The signature of header, parent header, metadata and content, in lower-case hex.
    pub fn sign<'a>(&self, frames: impl IntoIterator<Item = &'a [u8]>) -> String {
        let Some(mac) = self.mac(frames) else { return String::new() };
        let mut hex = String::with_capacity(64);
        for byte in mac.finalize().into_bytes() {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// Whether the signature fits, compared in constant time.
    pub fn verify<'a>(&self, signature: &[u8], frames: impl IntoIterator<Item = &'a [u8]>) -> bool {
        let Some(mac) = self.mac(frames) else { return true };
        from_hex(signature).is_some_and(|it| mac.verify_slice(&it).is_ok())
    }

    fn mac<'a>(&self, frames: impl IntoIterator<Item = &'a [u8]>) -> Option<Hmac<Sha256>> {
        let mut mac = self.0.clone()?;
        frames.into_iter().for_each(|frame| mac.update(frame));
        Some(mac)
    }
}

fn from_hex(hex: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|it| it as u8);
    if !hex.len().is_multiple_of(2) {
        return None;
    }
    hex.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// A message as it came, checked and cut into its frames.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Routing frames in front of the delimiter.
    pub identities: Vec<Bytes>,
    /// The four signed frames.
    pub header: Bytes,
    pub parent_header: Bytes,
    pub metadata: Bytes,
    pub content: Bytes,
}

/// Cuts a multipart message; `None` if it is malformed or its signature does not fit.
pub fn split(frames: &[Bytes], key: &Key) -> Option<Frames> {
    let at = frames.iter().position(|frame| frame.as_ref() == DELIMITER)?;
    let [signature, header, parent_header, metadata, content, ..] = &frames[at + 1..] else {
        return None;
    };
    let signed = [header, parent_header, metadata, content].map(|it| it.as_ref());
    if !key.verify(signature, signed) {
        return None;
    }
    Some(Frames {
        identities: frames[..at].to_vec(),
        header: header.clone(),
        parent_header: parent_header.clone(),
        metadata: metadata.clone(),
        content: content.clone(),
    })
}

/// Signs and puts together a multipart message.
pub fn join(prefix: Vec<Bytes>, key: &Key, parts: [Bytes; 4]) -> Vec<Bytes> {
    let signature = key.sign(parts.iter().map(|it| it.as_ref()));
    let mut frames = prefix;
    frames.reserve(6);
    frames.push(Bytes::from_static(DELIMITER));
    frames.push(Bytes::from(signature));
    frames.extend(parts);
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> [Bytes; 4] {
        ["{\"a\":1}", "{}", "{}", "{}"].map(Bytes::from_static_str)
    }

    trait FromStaticStr {
        fn from_static_str(text: &'static str) -> Bytes;
    }

    impl FromStaticStr for Bytes {
        fn from_static_str(text: &'static str) -> Bytes {
            Bytes::from_static(text.as_bytes())
        }
    }

    #[test]
    fn signs_like_the_standard() {
        // RFC 4231, test case 2.
        let key = Key::new("Jefe");
        assert_eq!(
            key.sign([b"what do ya want ".as_slice(), b"for nothing?"]),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn what_is_joined_can_be_split() {
        let key = Key::new("k");
        let frames = join(vec![Bytes::from_static(b"id")], &key, parts());
        let back = split(&frames, &key).unwrap();
        assert_eq!((back.identities.len(), &back.header[..]), (1, &b"{\"a\":1}"[..]));
    }

    #[test]
    fn refuses_what_is_malformed_or_forged() {
        let key = Key::new("k");
        let good = join(vec![], &key, parts());
        assert!(split(&good, &Key::new("other")).is_none());
        assert!(split(&good[..4], &key).is_none());
        assert!(split(&[], &key).is_none());
        let mut odd = good.clone();
        odd[1] = Bytes::from_static(b"zz\xff");
        assert!(split(&odd, &key).is_none());
        assert!(split(&good, &Key::new("")).is_some());
    }
}
