//! `_io`: text in files, for the classes of the module `io`. What a program writes is gathered and added to its file in large pieces:
//! when it closes the file, when a file is read, and at the end of the cell.
//!
//! **Invariant:** between cells nothing is unwritten, so that a session which ends loses no text.

use crate::native::*;

/// `_io`.
pub static MODULE: NativeModule = NativeModule {
    name: "_io",
    doc: "Text in files.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
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
                self.host.stderr(&format!("what was written last is lost: {error}\n"));
            }
        }
    }
}
