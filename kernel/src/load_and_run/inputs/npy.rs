//! `.npy` files: NumPy's array format, versions 1 to 3.
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use super::{Data, Values, numel, permuted};

/// What the header says.
struct Header {
    /// Kind of the elements (`f`, `i`, `u`, `b`) and bytes of one.
    kind: (char, usize),
    is_big_endian: bool,
    is_fortran_order: bool,
    shape: Vec<usize>,
}

/// The array in the content of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<Data, String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("this is not an .npy file")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or("the header is cut off")?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|it| (u16::from_le_bytes(*it.0) as usize, it.1)),
        2 | 3 => rest.split_first_chunk().map(|it| (u32::from_le_bytes(*it.0) as usize, it.1)),
        other => return Err(format!("version {other} of the format is not known")),
    }
    .ok_or("the header is cut off")?;
    let (header, data) = rest.split_at_checked(length).ok_or("the header is cut off")?;
    let header = String::from_utf8_lossy(header);
    let header = parse(&header)?;
    let (kind, size) = header.kind;
    let n = numel(&header.shape).and_then(|it| it.checked_mul(size));
    let n = n.ok_or("the shape is too large")?;
    if data.len() != n {
        return Err(format!(
            "the shape {:?} needs {n} bytes, {} are there",
            header.shape,
            data.len()
        ));
    }
    let (dtype, mut values) = elements(kind, size, data, header.is_big_endian)?;
    if header.is_fortran_order {
        values = row_major(values, &header.shape);
    }
    Ok(Data { shape: header.shape, dtype: dtype.to_owned(), values })
}

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse(header: &str) -> Result<Header, String> {
    let descr = field(header, "descr").ok_or("the header has no `descr`")?;
    let descr = descr.strip_prefix(['\'', '"']).and_then(|it| it.split(['\'', '"']).next());
    let descr = descr.ok_or("arrays of records are not taken")?;
    let mut letters = descr.chars();
    let order = letters.next();
    let kind = letters.next().ok_or("the header has no dtype")?;
    let size = letters.as_str().parse::<usize>().ok().filter(|it| (1..=16).contains(it));
    let size = size.ok_or_else(|| format!("arrays of dtype `{descr}` are not taken"))?;
    let is_fortran_order = match field(header, "fortran_order") {
        Some(it) if it.starts_with("True") => true,
        Some(it) if it.starts_with("False") => false,
        _ => return Err("the header has no `fortran_order`".into()),
    };
    let shape = field(header, "shape").and_then(|it| it.strip_prefix('('));
    let shape = shape.and_then(|it| it.split_once(')')).ok_or("the header has no `shape`")?.0;
    let sizes = shape.split(',').map(str::trim).filter(|it| !it.is_empty());
    let size_of = |it: &str| it.parse().map_err(|_| format!("`{it}` is no size"));
    let shape: Vec<usize> = sizes.map(size_of).collect::<Result<_, String>>()?;
    Ok(Header { kind: (kind, size), is_big_endian: order == Some('>'), is_fortran_order, shape })
}

/// What follows `'name':`.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{name}'"))? + name.len() + 2;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

fn elements(
    kind: char,
    size: usize,
    data: &[u8],
    is_big: bool,
) -> Result<(&'static str, Values), String> {
    let ints = |values: Vec<i64>| Values::Ints(values);
    Ok(match (kind, size) {
        ('b', 1) => ("bool", ints(data.iter().map(|&it| i64::from(it != 0)).collect())),
        ('u', 1) => ("uint8", ints(data.iter().map(|&it| i64::from(it)).collect())),
        ('i', 1) => ("int8", ints(each(data, is_big, |it| i64::from(i8::from_le_bytes(it))))),
        ('u', 2) => ("uint16", ints(each(data, is_big, |it| i64::from(u16::from_le_bytes(it))))),
        ('i', 2) => ("int16", ints(each(data, is_big, |it| i64::from(i16::from_le_bytes(it))))),
        ('u', 4) => ("uint32", ints(each(data, is_big, |it| i64::from(u32::from_le_bytes(it))))),
        ('i', 4) => ("int32", ints(each(data, is_big, |it| i64::from(i32::from_le_bytes(it))))),
        ('i', 8) => ("int64", ints(each(data, is_big, i64::from_le_bytes))),
        ('f', 4) => {
            let values = each(data, is_big, |it| f64::from(f32::from_le_bytes(it)));
            ("float32", Values::Floats(values))
        }
        ('f', 8) => ("float64", Values::Floats(each(data, is_big, f64::from_le_bytes))),
        _ => return Err(format!("arrays of dtype `{kind}{size}` are not taken")),
    })
}

fn each<const N: usize, T>(data: &[u8], is_big: bool, of: impl Fn([u8; N]) -> T) -> Vec<T> {
    let one = |chunk: &[u8; N]| {
        let mut chunk = *chunk;
        if is_big {
            chunk.reverse();
        }
        of(chunk)
    };
    data.as_chunks::<N>().0.iter().map(one).collect()
}

/// Column-major elements are the row-major ones of the array with its dimensions reversed.
fn row_major(values: Values, shape: &[usize]) -> Values {
    let dims: Vec<usize> = shape.iter().rev().copied().collect();
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    match values {
        Values::Ints(it) => Values::Ints(permuted(&it, &dims, &order)),
        Values::Floats(it) => Values::Floats(permuted(&it, &dims, &order)),
        Values::Ones => Values::Ones,
    }
}
