//! Which tensors take the most memory, and the lines that made them: for errors of memory, and `%mem`.

use engine::cpu::large::Large;
use engine::cpu::memory::HOST;
use engine::{Site, words};

use crate::site;

/// Tensors of one shape that one line has made, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// `float32[4096, 4096]`, or what else the memory is.
    pub what: String,
    pub count: usize,
    /// Bytes of all together.
    pub bytes: usize,
    /// `made by cell 3, line 7`; empty if no line is known.
    pub made: String,
}

/// What takes the most memory of what is over 64 kB, the largest first.
pub fn largest(most: usize) -> Vec<InUse> {
    HOST.largest(most).into_iter().map(in_use).collect()
}

fn in_use(large: Large) -> InUse {
    let what = match large.holds {
        Some((dtype, shape)) => format!("{dtype}{shape}"),
        None => "working memory".to_owned(),
    };
    let made = made(large.site).unwrap_or_default();
    InUse { what, count: large.count, bytes: large.bytes, made }
}

/// `made by cell 3, line 7`, if the line is known.
pub(super) fn made(site: Site) -> Option<String> {
    let place = site::place(site)?;
    Some(match site.is_gradient() {
        true => format!("a gradient of {place}"),
        false => format!("made by {place}"),
    })
}

/// `the largest of what is in use: float32[4096, 4096] 67.1 MB, made by cell 3, line 7`; `None` if nothing large is.
pub(super) fn sentence() -> Option<String> {
    let rows: Vec<String> = largest(3).iter().map(row).collect();
    let list = rows.join("; ");
    (!rows.is_empty()).then(|| format!("the largest of what is in use: {list}"))
}

fn row(it: &InUse) -> String {
    let (size, comma) = (words::size(it.bytes), if it.made.is_empty() { "" } else { ", " });
    match it.count {
        1 => format!("{} {size}{comma}{}", it.what, it.made),
        count => format!("{count} x {} {size}{comma}{}", it.what, it.made),
    }
}
