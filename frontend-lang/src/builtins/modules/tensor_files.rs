//! `torch.tensor_files`: the bytes of safetensors files. What stands in their header is decided in `std/torch/files.ng`.
//!
//! **Invariant:** a reader trusts nothing: lengths and offsets are checked before they are used.

use std::any::Any;

use engine::{Shape, Tensor};

use crate::native::*;
use crate::tensor::{convert, dtype};

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "torch.tensor_files",
    doc: "Bytes of files with tensors.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "write",
        "path, header, tensors",
        "Writes a header and tensors, one after the other.",
        write,
    )
    .session(),
    function("read", "path", "The header of a file, and its data.", read).session(),
];

/// What follows the header of a file.
struct Data(Vec<u8>);

static DATA: NativeType = NativeType {
    methods: &[&[function(
        "tensor",
        "self, dtype, shape, start, end",
        "The tensor whose elements are the bytes from start to end.",
        tensor,
    )]],
    ..NativeType::plain("Data", "The tensors of a file.")
};

impl NativeObject for Data {
    fn native_type(&self) -> &'static NativeType {
        &DATA
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn write(cx: &mut Cx, args: Args<'_>) -> Res {
    let (path, mut header) = (args.str(0)?, args.str(1)?.to_owned());
    // Data begins at a multiple of 8.
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    for value in cx.collect(&args[2])? {
        convert::variable(&value)?.get().append_le_bytes(&mut bytes)?;
    }
    cx.host.write_file(path, &bytes).map_err(os_error)?;
    Ok(Value::None)
}

fn read(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    let bytes = cx.read_file(path)?;
    let damaged = || match bytes.starts_with(b"PK") || bytes.starts_with(b"\x80") {
        true => value_error(format!(
            "{path} is in PyTorch's own format, which holds code and is not read here; in PyTorch, write the tensors with \
             `safetensors.torch.save_file(model.state_dict(), path)`, and torch.load reads them"
        )),
        false => value_error(format!("{path} is not a file that torch.save wrote")),
    };
    let length: [u8; 8] = bytes.get(..8).and_then(|it| it.try_into().ok()).ok_or_else(damaged)?;
    let end = usize::try_from(u64::from_le_bytes(length)).ok().and_then(|it| it.checked_add(8));
    let header = end.and_then(|end| bytes.get(8..end)).ok_or_else(damaged)?;
    let header = std::str::from_utf8(header).map_err(|_| damaged())?.to_owned();
    let data = bytes[8 + header.len()..].to_vec();
    Ok(Value::tuple(vec![Value::str(header), Value::object(Data(data))]))
}

fn tensor(cx: &mut Cx, args: Args<'_>) -> Res {
    let data = &args.object::<Data>(0)?.0;
    let dtype = dtype::from_value(&args[1])?;
    let sizes = convert::ints(cx, &args[2])?;
    let (start, end) = (args.int(3)?, args.int(4)?);
    let damaged = || value_error("the file's header does not fit its data");
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&it| usize::try_from(it).ok()).collect();
    let sizes = sizes.ok_or_else(damaged)?;
    let count =
        sizes.iter().try_fold(1_usize, |all, &it| all.checked_mul(it)).ok_or_else(damaged)?;
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let bytes = range.and_then(|(start, end)| data.get(start..end)).ok_or_else(damaged)?;
    if count.checked_mul(dtype.size()) != Some(bytes.len()) {
        return Err(damaged());
    }
    Ok(Value::tensor(Tensor::from_le_bytes(bytes, Shape::new(&sizes), dtype)?))
}
