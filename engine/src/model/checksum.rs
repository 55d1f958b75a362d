//! The checksum of a model file: CRC-32 of all its bytes, with zeros in the checksum's own place, as
//! eight hexadecimal digits in the metadata. One flipped bit is always found.

/// What stands in the metadata while the sum is taken.
pub(super) const NONE_YET: &str = "00000000";

const KEY: &[u8] = b"\"checksum\":\"";

/// Writes the sum into its place: at the end of writing, or after bytes were changed on purpose.
pub fn put(bytes: &mut [u8]) {
    if let Some(at) = place(bytes) {
        let sum = sum(bytes, at);
        bytes[at..at + sum.len()].copy_from_slice(sum.as_bytes());
    }
}

/// Whether the file is as it was written.
pub(super) fn holds(bytes: &[u8]) -> bool {
    place(bytes).is_some_and(|at| bytes[at..].starts_with(sum(bytes, at).as_bytes()))
}

/// Where the digits begin. Quotes inside of JSON texts have a backslash before them, so that only the key itself is found.
fn place(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(KEY.len()).position(|it| it == KEY)? + KEY.len();
    (at + NONE_YET.len() <= bytes.len()).then_some(at)
}

fn sum(bytes: &[u8], at: usize) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..at]);
    sum.update(NONE_YET.as_bytes());
    sum.update(&bytes[at + NONE_YET.len()..]);
    format!("{:08x}", sum.finalize())
}
