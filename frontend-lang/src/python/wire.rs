//! What is sent between the session and the process: plain data, as Python's `marshal` module writes it.
//!
//! Of the format (version 2, which every Python 3 reads and writes) this is the part without code and references:
//! <https://github.com/python/cpython/blob/3.13/Python/marshal.c>.

use std::fmt;

/// Plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    Str(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Datum>),
    List(Vec<Datum>),
}

/// Why bytes are no data: they were cut off, or hold what is not of the form above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message from Python cannot be read")
    }
}

/// How deep data may lie in each other.
const DEEPEST: usize = 200;

/// Digits of whole numbers are of 15 bits.
const DIGIT: u32 = 15;

impl Datum {
    /// A text.
    pub fn str(text: impl Into<String>) -> Datum {
        Datum::Str(text.into())
    }

    /// The bytes of the data.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Datum::None => out.push(b'N'),
            Datum::Ellipsis => out.push(b'.'),
            Datum::Bool(it) => out.push(if *it { b'T' } else { b'F' }),
            Datum::Int(it) => write_int(*it, out),
            Datum::Float(it) => {
                out.push(b'g');
                out.extend(it.to_le_bytes());
            }
            Datum::Complex(real, imag) => {
                out.push(b'y');
                out.extend(real.to_le_bytes());
                out.extend(imag.to_le_bytes());
            }
            Datum::Str(it) => write_bytes(b'u', it.as_bytes(), out),
            Datum::Bytes(it) => write_bytes(b's', it, out),
            Datum::Tuple(items) => write_items(b'(', items, out),
            Datum::List(items) => write_items(b'[', items, out),
        }
    }

    /// The data that bytes hold.
    pub fn read(bytes: &[u8]) -> Result<Datum, Malformed> {
        let mut rest = bytes;
        let datum = read(&mut rest, 0)?;
        if rest.is_empty() { Ok(datum) } else { Err(Malformed) }
    }

    /// The items of a tuple or list.
    pub fn items(self) -> Result<Vec<Datum>, Malformed> {
        match self {
            Datum::Tuple(it) | Datum::List(it) => Ok(it),
            _ => Err(Malformed),
        }
    }

    /// The whole number.
    pub fn int(&self) -> Result<i64, Malformed> {
        match self {
            Datum::Int(it) => Ok(*it),
            Datum::Bool(it) => Ok(i64::from(*it)),
            _ => Err(Malformed),
        }
    }

    /// The text.
    pub fn text(self) -> Result<String, Malformed> {
        match self {
            Datum::Str(it) => Ok(it),
            _ => Err(Malformed),
        }
    }
}

/// The first items of a tuple; others are dropped.
pub fn parts<const N: usize>(items: Vec<Datum>) -> Result<[Datum; N], Malformed> {
    let mut items = items;
    items.truncate(N);
    items.try_into().map_err(|_| Malformed)
}

fn write_int(it: i64, out: &mut Vec<u8>) {
    if let Ok(small) = i32::try_from(it) {
        out.push(b'i');
        return out.extend(small.to_le_bytes());
    }
    let size = it.unsigned_abs();
    let count = (u64::BITS - size.leading_zeros()).div_ceil(DIGIT);
    out.push(b'l');
    let signed = count as i32 * if it < 0 { -1 } else { 1 };
    out.extend(signed.to_le_bytes());
    for digit in 0..count {
        out.extend(((size >> (digit * DIGIT)) as u16 & 0x7fff).to_le_bytes());
    }
}

fn write_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

fn write_items(kind: u8, items: &[Datum], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((items.len() as u32).to_le_bytes());
    items.iter().for_each(|it| it.write(out));
}

fn read(rest: &mut &[u8], depth: usize) -> Result<Datum, Malformed> {
    if depth > DEEPEST {
        return Err(Malformed);
    }
    let [kind] = take(rest)?;
    Ok(match kind {
        b'N' => Datum::None,
        b'.' => Datum::Ellipsis,
        b'T' => Datum::Bool(true),
        b'F' => Datum::Bool(false),
        b'i' => Datum::Int(i32::from_le_bytes(take(rest)?).into()),
        b'l' => Datum::Int(read_long(rest)?),
        b'g' => Datum::Float(f64::from_le_bytes(take(rest)?)),
        b'y' => Datum::Complex(f64::from_le_bytes(take(rest)?), f64::from_le_bytes(take(rest)?)),
        b'u' => Datum::Str(String::from_utf8_lossy(read_bytes(rest)?).into_owned()),
        b's' => Datum::Bytes(read_bytes(rest)?.to_vec()),
        b'(' => Datum::Tuple(read_items(rest, depth)?),
        b'[' => Datum::List(read_items(rest, depth)?),
        _ => return Err(Malformed),
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (first, more) = rest.split_first_chunk().ok_or(Malformed)?;
    *rest = more;
    Ok(*first)
}

fn length(rest: &mut &[u8]) -> Result<usize, Malformed> {
    let length = u32::from_le_bytes(take(rest)?) as usize;
    // Whatever has a length takes a byte for each of its parts at least.
    if length > rest.len() { Err(Malformed) } else { Ok(length) }
}

fn read_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = length(rest)?;
    let (bytes, more) = rest.split_at(length);
    *rest = more;
    Ok(bytes)
}

fn read_items(rest: &mut &[u8], depth: usize) -> Result<Vec<Datum>, Malformed> {
    let length = length(rest)?;
    let mut items = Vec::with_capacity(length.min(1 << 16));
    for _ in 0..length {
        items.push(read(rest, depth + 1)?);
    }
    Ok(items)
}

fn read_long(rest: &mut &[u8]) -> Result<i64, Malformed> {
    let signed = i32::from_le_bytes(take(rest)?);
    let mut size: u128 = 0;
    for digit in 0..signed.unsigned_abs() {
        let bits = u16::from_le_bytes(take(rest)?);
        if digit > 4 || bits > 0x7fff {
            return Err(Malformed);
        }
        size |= u128::from(bits) << (digit * DIGIT);
    }
    let size = i128::try_from(size).map_err(|_| Malformed)?;
    i64::try_from(if signed < 0 { -size } else { size }).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `marshal.dumps(x, 2)` of Python 3.11 writes them.
    #[test]
    fn bytes_are_those_of_python() {
        let cases: [(Datum, &[u8]); 11] = [
            (Datum::None, b"N"),
            (Datum::Bool(true), b"T"),
            (Datum::Int(-2), b"i\xfe\xff\xff\xff"),
            (Datum::Int(1 << 40), b"l\x03\x00\x00\x00\x00\x00\x00\x00\x00\x04"),
            (Datum::Int(-(1 << 31) - 1), b"l\xfd\xff\xff\xff\x01\x00\x00\x00\x02\x00"),
            (Datum::Float(1.5), b"g\x00\x00\x00\x00\x00\x00\xf8?"),
            (
                Datum::Complex(1.0, -2.0),
                b"y\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\xc0",
            ),
            (Datum::str("h\u{e9}"), b"u\x03\x00\x00\x00h\xc3\xa9"),
            (Datum::Bytes(vec![0, 1]), b"s\x02\x00\x00\x00\x00\x01"),
            (
                Datum::Tuple(vec![Datum::Int(1), Datum::Ellipsis]),
                b"(\x02\x00\x00\x00i\x01\x00\x00\x00.",
            ),
            (Datum::List(vec![Datum::Bool(false)]), b"[\x01\x00\x00\x00F"),
        ];
        for (datum, bytes) in cases {
            let mut written = Vec::new();
            datum.write(&mut written);
            assert_eq!(written, bytes, "{datum:?}");
            assert_eq!(Datum::read(bytes), Ok(datum));
        }
    }

    #[test]
    fn the_ends_of_whole_numbers_are_kept() {
        for it in [i64::MIN, i64::MAX, i64::MIN + 1, 1 << 31, -(1 << 31)] {
            let mut bytes = Vec::new();
            Datum::Int(it).write(&mut bytes);
            assert_eq!(Datum::read(&bytes), Ok(Datum::Int(it)));
        }
    }

    #[test]
    fn what_is_cut_off_too_large_or_unknown_is_refused() {
        let bytes: [&[u8]; 7] = [
            b"",
            b"i\x01\x00",
            b"(\xff\xff\xff\xff",
            b"l\x05\x00\x00\x00\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f",
            b"{0",
            b"NN",
            b"u\x05\x00\x00\x00abc",
        ];
        for it in bytes {
            assert_eq!(Datum::read(it), Err(Malformed), "{it:?}");
        }
        let deep = [b"(\x01\x00\x00\x00".repeat(100_000), b"N".to_vec()].concat();
        assert_eq!(Datum::read(&deep), Err(Malformed));
    }
}
