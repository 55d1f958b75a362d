//! Zip archives, which several arrays and PyTorch's tensors are kept in.
//!
//! **Invariant:** a reader trusts nothing: a file of the archive that is longer than it says, or has another checksum, is damaged.

use std::borrow::Cow;
use std::io::{Cursor, Read, Write};

use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// An archive that is read.
pub(super) struct Archive<B: AsRef<[u8]>>(ZipArchive<Cursor<B>>);

impl<B: AsRef<[u8]>> Archive<B> {
    pub(super) fn new(bytes: B) -> Result<Self, String> {
        let archive = ZipArchive::new(Cursor::new(bytes));
        archive.map(Self).map_err(|it| format!("the archive is damaged: {it}"))
    }

    /// Names of its files, in the archive's order.
    pub(super) fn names(&self) -> Result<Vec<String>, String> {
        let names = self.0.file_names().map(|it| it.map(Cow::into_owned));
        names.collect::<ZipResult<_>>().map_err(|it| format!("the archive is damaged: {it}"))
    }

    /// What one of them holds.
    pub(super) fn content(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let damaged = |it: &dyn std::fmt::Display| format!("{name} is damaged: {it}");
        let file = self.0.by_name(name).map_err(|it| damaged(&it))?;
        let (size, mut content) = (file.size(), Vec::new());
        // One byte more than it may have, so that the checksum is looked at where the file ends.
        let length = file.take(size.saturating_add(1)).read_to_end(&mut content);
        match length.map_err(|it| damaged(&it))? as u64 == size {
            true => Ok(content),
            false => Err(damaged(&"it is not as long as it says")),
        }
    }
}

/// An archive of these files, dated 1980-01-01; a `packed` one is smaller and takes time.
pub(super) fn write<C: AsRef<[u8]>>(
    members: &[(String, C)],
    packed: bool,
) -> Result<Vec<u8>, String> {
    written(members, packed).map_err(|it| it.to_string())
}

fn written<C: AsRef<[u8]>>(members: &[(String, C)], packed: bool) -> ZipResult<Vec<u8>> {
    let method = if packed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let options = options.last_modified_time(DateTime::default());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let content = content.as_ref();
        let is_large = u32::try_from(content.len()).is_err();
        writer.start_file(name, options.large_file(is_large))?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
