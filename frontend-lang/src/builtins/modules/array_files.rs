//! `numpy._core.native`'s files: `.npy` and `.npz` as NumPy 2 writes them, byte for byte. An `.npz` file is a zip archive of
//! `.npy` files; written it is not compressed, read it may be (deflate).
//!
//! **Invariant:** a reader trusts nothing: lengths, offsets and checksums are looked at before they are used.

use engine::{DType, Shape, Tensor};

use crate::array::{self, dtype};
use crate::native::*;
use crate::tensor::convert;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("write_npy", "path, array", "Writes one array.", write_npy).session(),
    function("write_npz", "path, names, arrays", "Writes arrays under names.", write_npz).session(),
    function(
        "read_arrays",
        "path",
        "The array of an .npy file, or names and arrays of an .npz file; None for other files.",
        read_arrays,
    )
    .session(),
];

const MAGIC: &[u8] = b"\x93NUMPY";
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

fn write_npy(cx: &mut Cx, args: Args<'_>) -> Res {
    let bytes = npy(&convert::variable(&args[1])?.get())?;
    cx.host.write_file(args.str(0)?, &bytes).map_err(os_error)?;
    Ok(Value::None)
}

/// A header of text, padded so that elements begin at a multiple of 64, then the elements.
fn npy(tensor: &Tensor) -> Result<Vec<u8>, Raised> {
    let code = dtype::code(tensor.dtype());
    let order = if tensor.dtype().size() == 1 { '|' } else { '<' };
    let columns = array::by_columns(tensor)?;
    let by_columns = columns.is_some();
    let shape = match tensor.shape().as_ref() {
        [one] => format!("({one},)"),
        many => {
            let sizes: Vec<String> = many.iter().map(ToString::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    };
    let truth = if by_columns { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{order}{code}', 'fortran_order': {truth}, 'shape': {shape}, }}");
    // NumPy leaves room for the first size to grow to 21 digits.
    let grows = tensor.shape().get(if by_columns { tensor.rank() - 1 } else { 0 });
    let room = grows.map_or(0, |it| 21_usize.saturating_sub(it.to_string().len()));
    header.push_str(&" ".repeat(room));
    let padding = 64 - (MAGIC.len() + 4 + header.len() + 1) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| value_error("too many dimensions"))?;
    let mut bytes = [MAGIC, &[1, 0], &length.to_le_bytes()].concat();
    bytes.extend_from_slice(header.as_bytes());
    columns.as_ref().unwrap_or(tensor).append_le_bytes(&mut bytes)?;
    Ok(bytes)
}

fn read_arrays(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    let bytes = cx.read_file(path)?;
    let said = |about: String| value_error(format!("{path}: {about}"));
    if bytes.starts_with(MAGIC) {
        return decode(&bytes).map(value).map_err(said);
    }
    if !bytes.starts_with(b"PK") {
        return Ok(Value::None);
    }
    let mut arrays = Vec::new();
    for (name, content) in members(&bytes).map_err(said)? {
        let array = decode(&content).map_err(|it| said(format!("{name}: {it}")))?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        arrays.push(Value::tuple([Value::str(name), value(array)]));
    }
    Ok(Value::list(arrays))
}

/// An array; of complex numbers a tensor, since arrays hold none.
fn value(elements: Tensor) -> Value {
    match elements.dtype().is_complex() {
        true => Value::tensor(elements),
        false => array::array(elements),
    }
}

/// The array in the content of an `.npy` file.
fn decode(bytes: &[u8]) -> Result<Tensor, String> {
    let cut = || "the header is cut off".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("this is not an .npy file")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|it| (u16::from_le_bytes(*it.0) as usize, it.1)),
        2 | 3 => rest.split_first_chunk().map(|it| (u32::from_le_bytes(*it.0) as usize, it.1)),
        other => return Err(format!("version {other} of the format is not known")),
    }
    .ok_or_else(cut)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = String::from_utf8_lossy(header);
    let field = |name: &str| {
        let after = header.split_once(&format!("'{name}'"))?.1;
        Some(after.trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = field("descr").and_then(|it| it.strip_prefix('\'')?.split('\'').next());
    let descr = descr.ok_or("arrays of records are not there")?;
    let by_columns = field("fortran_order").is_some_and(|it| it.starts_with("True"));
    let shape = field("shape").and_then(|it| it.strip_prefix('(')?.split(')').next());
    let shape = shape.ok_or("the header has no shape")?;
    let sizes = shape.split(',').map(str::trim).filter(|it| !it.is_empty());
    let sizes: Result<Vec<usize>, _> = sizes.map(str::parse).collect();
    let mut sizes = sizes.map_err(|_| format!("the shape ({shape}) is not one"))?;
    if by_columns {
        sizes.reverse();
    }
    let tensor = elements(descr, &sizes, data)?;
    if !by_columns {
        return Ok(tensor);
    }
    array::reversed(&tensor).map_err(|it| it.message())
}

fn elements(descr: &str, sizes: &[usize], data: &[u8]) -> Result<Tensor, String> {
    let width: usize = descr.get(2..).and_then(|it| it.parse().ok()).unwrap_or(0);
    let count = sizes.iter().try_fold(1_usize, |all, it| all.checked_mul(*it));
    let needed = count.and_then(|it| it.checked_mul(width)).ok_or("the shape is too large")?;
    let data = data.get(..needed).ok_or_else(|| {
        format!("the shape {sizes:?} needs {needed} bytes, {} are there", data.len())
    })?;
    let mut data = data.to_vec();
    if let Some(kind) = descr.strip_prefix('>') {
        // Of complex numbers each part stands for itself. A header may name a dtype without bytes.
        let part = if kind.starts_with('c') { width / 2 } else { width };
        data.chunks_mut(part.max(1)).for_each(<[u8]>::reverse);
    }
    let shape = Shape::new(sizes);
    // What arrays here cannot hold becomes the next wider kind.
    let known = match &descr[1..] {
        "u4" => {
            data = data.chunks_exact(4).flat_map(|it| [it, &[0; 4]].concat()).collect();
            DType::I64
        }
        "u8" if data.chunks_exact(8).all(|it| it[7] < 128) => DType::I64,
        "u8" => return Err("its uint64 numbers do not fit into int64".into()),
        other => dtype::of_tensor_code(other)
            .ok_or(format!("arrays of dtype '{other}' are not there"))?,
    };
    Tensor::from_le_bytes(&data, shape, known).map_err(|it| it.to_string())
}

fn write_npz(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?.to_owned();
    let (names, arrays) = (cx.collect(&args[1])?, cx.collect(&args[2])?);
    let mut members = Vec::new();
    for (name, array) in names.iter().zip(&arrays) {
        let content = npy(&convert::variable(array)?.get())?;
        members.push((format!("{}.npy", name.as_str().unwrap_or_default()), content));
    }
    let bytes =
        archive(&members).ok_or_else(|| value_error("the arrays are too large for a zip"))?;
    cx.host.write_file(&path, &bytes).map_err(os_error)?;
    Ok(Value::None)
}

/// A zip archive of files that are stored as they are; `None` from 4 GiB on.
/// <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>
fn archive(members: &[(String, Vec<u8>)]) -> Option<Vec<u8>> {
    // Version 2.0; names in UTF-8; stored; 1980-01-01, as zip counts days.
    const COMMON: [u16; 5] = [20, 0x0800, 0, 0, 0x0021];
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let offset = u32::try_from(bytes.len()).ok()?;
        let size = u32::try_from(content.len()).ok()?;
        let mut facts: Vec<u8> = COMMON.iter().flat_map(|it| it.to_le_bytes()).collect();
        facts.extend(crc32fast::hash(content).to_le_bytes());
        facts.extend([size, size].iter().flat_map(|it| it.to_le_bytes()));
        facts.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
        facts.extend([0, 0]);
        bytes.extend(LOCAL.to_le_bytes());
        bytes.extend(&facts);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&facts);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, count) = (u32::try_from(bytes.len()).ok()?, u16::try_from(members.len()).ok()?);
    let size = u32::try_from(directory.len()).ok()?;
    bytes.extend(directory);
    bytes.extend(END.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend([count, count].iter().flat_map(|it| it.to_le_bytes()));
    bytes.extend([size, start].iter().flat_map(|it| it.to_le_bytes()));
    bytes.extend([0, 0]);
    Some(bytes)
}

/// Names and contents of the files in a zip archive.
fn members(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let cut = || "the archive is cut off".to_owned();
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    let half = |at: usize| -> Option<usize> {
        let two = bytes.get(at..at.checked_add(2)?)?;
        Some(usize::from(u16::from_le_bytes(two.try_into().ok()?)))
    };
    let last = bytes.len().checked_sub(22).ok_or_else(cut)?;
    let first = last.saturating_sub(0xffff);
    let end = (first..=last).rev().find(|at| word(*at) == Some(END)).ok_or_else(cut)?;
    let count = half(end + 10).ok_or_else(cut)?;
    let mut at = word(end + 16).ok_or_else(cut)? as usize;
    let mut found = Vec::new();
    for _ in 0..count {
        let entry = (|| {
            let method = half(at + 10)?;
            let (crc, packed, size) = (word(at + 16)?, word(at + 20)?, word(at + 24)?);
            let name = bytes.get(at + 46..at + 46 + half(at + 28)?)?;
            let local = word(at + 42)? as usize;
            let data = local + 30 + half(local + 26)? + half(local + 28)?;
            let data = bytes.get(data..data.checked_add(packed as usize)?)?;
            at += 46 + name.len() + half(at + 30)? + half(at + 32)?;
            Some((method, crc, size as usize, String::from_utf8_lossy(name).into_owned(), data))
        })();
        let (method, crc, size, name, data) = entry.ok_or_else(cut)?;
        let content = match method {
            0 => data.to_vec(),
            8 => decompress_to_vec_with_limit(data, size)
                .map_err(|_| format!("{name} is damaged"))?,
            other => return Err(format!("{name} is compressed by method {other}")),
        };
        if content.len() != size || crc32fast::hash(&content) != crc {
            return Err(format!("{name} is damaged"));
        }
        found.push((name, content));
    }
    Ok(found)
}
