//! Where one text stands in another, with a look at the interrupt flag now and then.

use memchr::memchr;
use memchr::memmem::{Finder, FinderRev};

use crate::patience;

/// Bytes that are searched between two looks.
const PIECE: usize = 1 << 18;

/// Whether `part` stands in `text`.
pub fn contains(text: &str, part: &str) -> bool {
    if text.len() <= PIECE { text.contains(part) } else { places(text, part).next().is_some() }
}

/// Where `part` begins in `text`, byte positions that do not overlap, each a step. An empty part stands before each character and at
/// the end.
pub fn places<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = usize> + 'a {
    let needle = Needle::new(part);
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let at = first(text, &needle, from?)?;
        from = match part.len() {
            0 => text[at..].chars().next().map(|it| at + it.len_utf8()),
            len => Some(at + len),
        };
        Some(at)
    })
}

/// The same from the end on.
pub fn places_from_end<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = usize> + 'a {
    let finder = FinderRev::new(part);
    let mut end = Some(text.len());
    std::iter::from_fn(move || {
        let at = last(text, &finder, end?)?;
        end = match part.len() {
            0 => text[..at].chars().next_back().map(|it| at - it.len_utf8()),
            _ => Some(at),
        };
        Some(at)
    })
}

/// What is searched for: most often one byte, for which no searcher has to be made.
#[expect(clippy::large_enum_variant, reason = "it stays where it is made, for one search")]
enum Needle<'a> {
    Byte(u8),
    Part(Finder<'a>),
}

impl<'a> Needle<'a> {
    #[inline]
    fn new(part: &'a str) -> Self {
        match part.as_bytes() {
            [byte] => Self::Byte(*byte),
            part => Self::Part(Finder::new(part)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Byte(_) => 1,
            Self::Part(finder) => finder.needle().len(),
        }
    }

    #[inline]
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte(byte) => memchr(*byte, bytes),
            Self::Part(finder) => finder.find(bytes),
        }
    }
}

/// The first place that begins at `from` or behind. Bytes are searched: a text in UTF-8 begins at characters alone.
#[inline]
fn first(text: &str, needle: &Needle<'_>, mut from: usize) -> Option<usize> {
    let (bytes, len) = (text.as_bytes(), needle.len());
    patience::tick();
    while from + len <= bytes.len() {
        let end = from.saturating_add(PIECE.max(len) + len).min(bytes.len());
        if let Some(at) = needle.find(&bytes[from..end]) {
            return Some(from + at);
        }
        if end == bytes.len() {
            return None;
        }
        patience::look();
        from = end + 1 - len;
    }
    None
}

/// The last place that ends at `end` or before.
fn last(text: &str, finder: &FinderRev<'_>, mut end: usize) -> Option<usize> {
    let (bytes, len) = (text.as_bytes(), finder.needle().len());
    patience::tick();
    while end >= len {
        let from = end.saturating_sub(PIECE.max(len) + len);
        if let Some(at) = finder.rfind(&bytes[from..end]) {
            return Some(from + at);
        }
        if from == 0 {
            return None;
        }
        patience::look();
        end = from + len - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_standard_library() {
        let long = format!("{}née{}né", "a".repeat(PIECE - 1), "ab".repeat(2 * PIECE));
        let all = long.clone();
        let texts = ["", "a", "aaaa", "née né", "ab\u{10348}ab", &long];
        let parts =
            ["", "a", "aa", "é", "né", "ba", "\u{10348}", "née", &long[PIECE - 3..2 * PIECE], &all];
        for text in texts {
            for part in parts {
                assert_eq!(contains(text, part), text.contains(part));
                let expected: Vec<_> = text.match_indices(part).map(|it| it.0).collect();
                assert!(places(text, part).eq(expected), "{} in {}", part.len(), text.len());
                let expected: Vec<_> = text.rmatch_indices(part).map(|it| it.0).collect();
                assert!(places_from_end(text, part).eq(expected), "{} {}", part.len(), text.len());
            }
        }
    }
}
