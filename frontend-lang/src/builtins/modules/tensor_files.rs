//! `torch.tensor_files`: the bytes of files with tensors, safetensors' and PyTorch's own. What they stand for is decided in
//! `std/torch/files.ng` and `std/torch/pickled.ng`.
//!
//! **Invariant:** a reader trusts nothing: lengths and offsets are checked before they are used.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use engine::{Shape, Tensor};

use super::archive::{self, Archive};
use super::{pickle, pickle_dump};
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
        "Writes a safetensors file: a header and tensors, one after the other.",
        write,
    )
    .session(),
    function(
        "write_archive",
        "path, members",
        "Writes a zip archive of pairs of a name and a text, Data or a tensor's elements.",
        write_archive,
    )
    .session(),
    function("read", "path", "What a file holds.", read).session(),
    function("dumps", "value, describe", "The pickle of a value.", dumps).pure(),
    function("characters", "tensor", "A tensor's bytes as characters below 256.", characters),
    function("octets", "text", "Bytes that are written as characters below 256.", octets_of),
];

/// The first pickle of PyTorch's files before 1.6: a number by which they are known.
const LEGACY: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// Bytes, and what they are told by in errors.
struct Data {
    file: String,
    bytes: Bytes,
}

/// Bytes that a file and its archive share.
#[derive(Clone)]
struct Bytes(Rc<Vec<u8>>);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

static DATA: NativeType = NativeType {
    methods: &[&[
        function(
            "kind",
            "self",
            "`safetensors`, `archive`, `legacy` (PyTorch's before 1.6) or `pickle`, or None.",
            kind,
        ),
        function("header", "self", "The header of a safetensors file, and what follows.", header),
        function("archive", "self", "The zip archive that this is.", opened),
        function("text", "self", "The text that this is.", text),
        function(
            "unpickle",
            "self, start, find, persistent, build",
            "The value of the pickle that begins at start, and where it ends.",
            unpickle,
        ),
        function("int", "self, start", "The number in the eight bytes from start.", int),
        function(
            "tensor",
            "self, dtype, shape, start, end",
            "The tensor whose elements are the bytes from start to end.",
            tensor,
        ),
    ]],
    ..NativeType::plain("Data", "Bytes of a file with tensors.")
};

impl NativeObject for Data {
    fn native_type(&self) -> &'static NativeType {
        &DATA
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(Some(self.bytes.len()))
    }
}

impl Data {
    fn value(file: &str, bytes: Vec<u8>) -> Value {
        Value::object(Self { file: file.to_owned(), bytes: Bytes(Rc::new(bytes)) })
    }

    fn wrong(&self, about: impl std::fmt::Display) -> Raised {
        value_error(format!("{}: {about}", self.file))
    }
}

/// Bytes as a value.
pub(super) fn octets(file: &str, bytes: &[u8]) -> Value {
    Data::value(file, bytes.to_vec())
}

/// A zip archive that is read.
struct Members {
    file: String,
    archive: RefCell<Archive<Bytes>>,
}

static MEMBERS: NativeType = NativeType {
    methods: &[&[
        function("names", "self", "Names of its files.", names),
        function("read", "self, name", "What one of them holds.", member),
    ]],
    ..NativeType::plain("Archive", "A zip archive.")
};

impl NativeObject for Members {
    fn native_type(&self) -> &'static NativeType {
        &MEMBERS
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

fn write_archive(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    let mut members = Vec::new();
    for pair in cx.collect(&args[1])? {
        let [name, content] = &cx.collect(&pair)?[..] else {
            return Err(type_error("a member is a name and what it holds"));
        };
        let name = name.as_str().ok_or_else(|| type_error("a name is a str"))?.to_owned();
        let content = match (content.as_str(), content.downcast::<Data>()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(data)) => data.bytes.to_vec(),
            (None, None) => {
                let mut bytes = Vec::new();
                convert::variable(content)?.get().append_le_bytes(&mut bytes)?;
                bytes
            }
        };
        members.push((name, content));
    }
    let bytes = archive::write(&members, false);
    let bytes = bytes.map_err(|it| value_error(format!("{path}: {it}")))?;
    cx.host.write_file(path, &bytes).map_err(os_error)?;
    Ok(Value::None)
}

fn read(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    let bytes = cx.read_file(path)?;
    Ok(Data::value(path, bytes))
}

fn dumps(cx: &mut Cx, args: Args<'_>) -> Res {
    let bytes = pickle_dump::write(cx, &args[0], &args[1])?;
    Ok(Data::value("a pickle", bytes))
}

fn octets_of(_cx: &mut Cx, args: Args<'_>) -> Res {
    let bytes: Result<Vec<u8>, _> = args.str(0)?.chars().map(u8::try_from).collect();
    bytes.map(|it| Data::value("bytes", it)).map_err(|_| value_error("a character is no byte"))
}

fn characters(_cx: &mut Cx, args: Args<'_>) -> Res {
    let mut bytes = Vec::new();
    convert::variable(&args[0])?.get().append_le_bytes(&mut bytes)?;
    Ok(Value::str(bytes.into_iter().map(char::from).collect::<String>()))
}

fn kind(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    Ok(match &data.bytes[..] {
        [b'P', b'K', 3 | 5, ..] => Value::str("archive"),
        it if it.starts_with(LEGACY) => Value::str("legacy"),
        [b'\x80', 2..=5, ..] => Value::str("pickle"),
        _ if safetensors(&data.bytes).is_some() => Value::str("safetensors"),
        _ => Value::None,
    })
}

/// The text of the header, whose length stands before it, and what follows it.
fn safetensors(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (header, rest) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, rest))
}

fn header(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let (header, rest) = safetensors(&data.bytes)
        .ok_or_else(|| data.wrong("the header of a safetensors file is missing"))?;
    Ok(Value::tuple([Value::str(header), octets(&data.file, rest)]))
}

fn opened(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let archive = Archive::new(data.bytes.clone()).map_err(|it| data.wrong(it))?;
    Ok(Value::object(Members { file: data.file.clone(), archive: RefCell::new(archive) }))
}

fn names(_cx: &mut Cx, args: Args<'_>) -> Res {
    let members = args.object::<Members>(0)?;
    let names = members.archive.borrow().names();
    let names = names.map_err(|it| value_error(format!("{}: {it}", members.file)))?;
    Ok(Value::list(names.into_iter().map(Value::str).collect()))
}

fn member(_cx: &mut Cx, args: Args<'_>) -> Res {
    let members = args.object::<Members>(0)?;
    let content = members.archive.borrow_mut().content(args.str(1)?);
    let bytes = content.map_err(|it| value_error(format!("{}: {it}", members.file)))?;
    Ok(Data::value(&members.file, bytes))
}

fn text(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let text = std::str::from_utf8(&data.bytes).map_err(|_| data.wrong("a text is not UTF-8"))?;
    Ok(Value::str(text))
}

fn unpickle(cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let start = usize::try_from(args.int(1)?).unwrap_or(usize::MAX);
    let asked = pickle::Asked { find: &args[2], persistent: &args[3], build: &args[4] };
    let (value, end) = pickle::read(cx, (&data.file, &data.bytes), start, &asked)?;
    Ok(Value::tuple([value, Value::from(end)]))
}

fn int(_cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let word = usize::try_from(args.int(1)?).ok();
    let word = word.and_then(|start| data.bytes.get(start..)?.first_chunk::<8>());
    word.map(|it| Value::Int(i64::from_le_bytes(*it))).ok_or_else(|| data.wrong("it is cut off"))
}

fn tensor(cx: &mut Cx, args: Args<'_>) -> Res {
    let data = args.object::<Data>(0)?;
    let dtype = dtype::from_value(&args[1])?;
    let sizes = convert::ints(cx, &args[2])?;
    let (start, end) = (args.int(3)?, args.int(4)?);
    let damaged = || data.wrong("what it says of its tensors does not fit its data");
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&it| usize::try_from(it).ok()).collect();
    let sizes = sizes.ok_or_else(damaged)?;
    let count =
        sizes.iter().try_fold(1_usize, |all, &it| all.checked_mul(it)).ok_or_else(damaged)?;
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let bytes = range.and_then(|(start, end)| data.bytes.get(start..end)).ok_or_else(damaged)?;
    if count.checked_mul(dtype.size()) != Some(bytes.len()) {
        return Err(damaged());
    }
    Ok(Value::tensor(Tensor::from_le_bytes(bytes, Shape::new(&sizes), dtype)?))
}
