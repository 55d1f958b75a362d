//! `_io`: text in files, for the classes of the module `io`. What a program writes is gathered and added to its file in large pieces:
//! when it closes the file, when a file is read, and at the end of the cell.
//!
//! **Invariant:** between cells nothing is unwritten, so that a session which ends loses no text.

use crate::memory;
use crate::native::*;
use crate::shown::Notice;

/// `_io`.
pub static MODULE: NativeModule = NativeModule {
    name: "_io",
    doc: "Text in files.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("characters", "text, at", "How many characters stand before a byte.", characters)
        .pure(),
    function("create", "path", "Makes an empty file, or empties the one that is there.", create)
        .opaque(),
    function("line_at", "text, at, ends", "A line from a byte on, with its end.", line_at).pure(),
    function(
        "part_at",
        "text, at, count",
        "So many characters from a byte on; -1 is all.",
        part_at,
    )
    .pure(),
    function("place_of", "text, count", "The byte at which so many characters end.", place_of)
        .pure(),
    function(
        "put_at",
        "text, at, part, cuts=False",
        "A text with a part in place of as many characters; or cut off behind it.",
        put_at,
    )
    .pure(),
    function("size_of", "text", "Bytes of a text in UTF-8.", |_cx, args| {
        Ok(Value::Int(args.str(0)?.len() as i64))
    })
    .pure(),
    function("add_text", "path, text", "Adds text to the end of a file, soon.", add_text).opaque(),
    function("flush", "path", "Makes the file hold what was added.", |cx, args| {
        cx.write_out(args.str(0)?)?;
        Ok(Value::None)
    })
    .opaque(),
    function("read_text", "path, errors='strict'", "The text of a file in UTF-8.", read_text)
        .opaque(),
    function("write_text", "path, text", "Replaces a file by one of this text.", write_text)
        .opaque(),
];

/// Bytes of text that are gathered before a file gets them.
const PIECE: usize = 1 << 16;

/// What stands in a text before and after a byte; what is beyond its end is filled with zeros when it is written.
fn parted(text: &str, at: i64) -> Result<(&str, &str), Raised> {
    let at = usize::try_from(at).unwrap_or(0).min(text.len());
    text.split_at_checked(at).ok_or_else(|| {
        value_error("this place is inside a character: seek() takes what tell() gave")
    })
}

fn characters(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, at) = (args.str(0)?, args.int(1)?);
    let beyond = at.saturating_sub(text.len() as i64).max(0);
    Ok(Value::Int(parted(text, at)?.0.chars().count() as i64 + beyond))
}

fn place_of(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, count) = (args.str(0)?, usize::try_from(args.int(1)?).unwrap_or(0));
    let place = match text.char_indices().nth(count) {
        Some((at, _)) => at,
        None => text.len() + (count - text.chars().count()),
    };
    Ok(Value::Int(place as i64))
}

fn part_at(_cx: &mut Cx, args: Args<'_>) -> Res {
    let rest = parted(args.str(0)?, args.int(1)?)?.1;
    let end = match usize::try_from(args.int(2)?) {
        Ok(count) => rest.char_indices().nth(count).map_or(rest.len(), |it| it.0),
        Err(_) => rest.len(),
    };
    Ok(Value::str(&rest[..end]))
}

fn line_at(_cx: &mut Cx, args: Args<'_>) -> Res {
    let rest = parted(args.str(0)?, args.int(1)?)?.1;
    let ends = args.opt_str(2)?.unwrap_or("\n");
    let end = match ends {
        "" => rest
            .find(['\r', '\n'])
            .map(|it| it + if rest[it..].starts_with("\r\n") { 2 } else { 1 }),
        ends => rest.find(ends).map(|it| it + ends.len()),
    };
    Ok(Value::str(&rest[..end.unwrap_or(rest.len())]))
}

fn put_at(cx: &mut Cx, args: Args<'_>) -> Res {
    let (text, at, part) = (args.str(0)?, args.int(1)?, args.str(2)?);
    let (before, after) = parted(text, at)?;
    let beyond = usize::try_from(at).unwrap_or(0).saturating_sub(text.len());
    memory::room(text.len().saturating_add(beyond).saturating_add(part.len()))?;
    let mut changed = before.to_owned();
    changed.extend(std::iter::repeat_n('\0', beyond));
    changed.push_str(part);
    if !cx.truth(&args[3])? {
        changed.extend(after.chars().skip(part.chars().count()));
    }
    Ok(Value::str(changed))
}

fn create(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = args.str(0)?;
    cx.unwritten.remove(path);
    cx.host.create_file(path).map_err(os_error)?;
    Ok(Value::None)
}

fn add_text(cx: &mut Cx, args: Args<'_>) -> Res {
    let (path, text) = (args.str(0)?, args.str(1)?);
    let rest = cx.unwritten.entry(path.to_owned()).or_default();
    rest.push_str(text);
    if rest.len() >= PIECE {
        cx.write_out(path)?;
    }
    Ok(Value::None)
}

fn write_text(cx: &mut Cx, args: Args<'_>) -> Res {
    let (path, text) = (args.str(0)?, args.str(1)?);
    cx.unwritten.remove(path);
    cx.host.write_file(path, text.as_bytes()).map_err(os_error)?;
    Ok(Value::None)
}

fn read_text(cx: &mut Cx, args: Args<'_>) -> Res {
    let (path, errors) = (args.str(0)?, args.str(1)?);
    let size = cx.host.metadata(path).map_or(0, |it| it.size);
    memory::room(usize::try_from(size).unwrap_or(usize::MAX))?;
    let bytes = cx.read_file(path)?;
    let text = match (String::from_utf8(bytes), errors) {
        (Ok(text), _) => text,
        (Err(found), "replace") => String::from_utf8_lossy(found.as_bytes()).into_owned(),
        (Err(found), "ignore") => {
            found.as_bytes().utf8_chunks().map(|it| it.valid().to_owned()).collect()
        }
        (Err(found), "strict") => {
            let at = found.utf8_error().valid_up_to();
            let message = format!(
                "{path} is not text in UTF-8: byte {at} is {:#04x}. Images and arrays are read by np.load and \
                 torch.load; errors='replace' reads the text around such bytes",
                found.as_bytes()[at]
            );
            return Err(Raised::new(&UNICODE_DECODE_ERROR, message));
        }
        _ => {
            let message = format!(
                "unknown error handler name '{errors}': it is 'strict', 'ignore' or 'replace'"
            );
            return Err(Raised::new(&LOOKUP_ERROR, message));
        }
    };
    Ok(Value::str(text))
}

impl Cx {
    /// The bytes of a file, what this program has added to files included.
    pub(crate) fn read_file(&mut self, path: &str) -> Result<Vec<u8>, Raised> {
        self.write_all()?;
        self.host.read_file(path).map_err(os_error)
    }

    /// Adds to all files what is gathered for them.
    pub(crate) fn write_all(&mut self) -> Result<(), Raised> {
        while let Some(path) = self.unwritten.keys().next().cloned() {
            self.write_out(&path)?;
        }
        Ok(())
    }

    /// Adds to a file what is gathered for it.
    pub(crate) fn write_out(&mut self, path: &str) -> Result<(), Raised> {
        match self.unwritten.remove(path) {
            Some(text) => self.host.append_file(path, text.as_bytes()).map_err(os_error),
            None => Ok(()),
        }
    }

    /// The same at the end of a cell, where a failure is told and no error.
    pub(crate) fn write_rest(&mut self) {
        for (path, text) in std::mem::take(&mut self.unwritten) {
            if let Err(error) = self.host.append_file(&path, text.as_bytes()) {
                let text = format!("what was written last is lost: {error}");
                self.host.notice(&Notice::line(text));
            }
        }
    }
}
