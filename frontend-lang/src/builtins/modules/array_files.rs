//! `numpy._core.native`'s files: `.npy` as NumPy 2 writes them, byte for byte, and `.npz`, which are zip archives of `.npy` files.
//!
//! **Invariant:** a reader trusts nothing: lengths and offsets are looked at before they are used.

use engine::{DType, Shape, Tensor};

use super::archive::{self, Archive};
use crate::array::{self, dtype};
use crate::native::*;
use crate::tensor::convert;

pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("write_npy", "path, array", "Writes one array.", write_npy).session(),
    function("write_npz", "path, names, arrays, packed", "Writes arrays under names.", write_npz)
        .session(),
    function(
        "read_arrays",
        "path",
        "The array of an .npy file, or names and arrays of an .npz file; None for other files, torch.save's among them.",
        read_arrays,
    )
    .session(),
];

const MAGIC: &[u8] = b"\x93NUMPY";

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
    let (mut arrays, mut members) = (Vec::new(), Archive::new(&bytes).map_err(said)?);
    let names = members.names().map_err(said)?;
    if names.iter().any(|it| it.ends_with("data.pkl")) {
        return Ok(Value::None);
    }
    for name in names {
        let content = members.content(&name).map_err(said)?;
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
    let said = |about: String| value_error(format!("{path}: {about}"));
    let bytes = archive::write(&members, cx.truth(&args[3])?).map_err(said)?;
    cx.host.write_file(&path, &bytes).map_err(os_error)?;
    Ok(Value::None)
}
