//! What patterns say of dtypes: at which places they name one, and at which they take any.

use crate::tokens::{Token, closing, split};

/// A place inside a pattern (`/0` is the first part of a tuple), and what stands there.
pub(crate) type Leaf = (String, Said);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A dtype, or what a dtype's row says of it.
    Named,
    /// `_` or a name, which take anything.
    Any,
    Other,
}

/// What the patterns of a file can mean.
pub(crate) struct Scope<'a> {
    /// Names of the enums of dtypes here, with `Self` where it is one of them.
    pub(crate) enums: &'a [&'a str],
}

impl Scope<'_> {
    /// The leaves of a pattern.
    pub(crate) fn leaves(&self, pattern: &[Token]) -> Vec<Leaf> {
        let mut found = Vec::new();
        self.walk(pattern, "", &mut found);
        found
    }

    fn walk(&self, pattern: &[Token], place: &str, found: &mut Vec<Leaf>) {
        for pattern in split(pattern, "|") {
            let prefixes = ["&", "&&", "ref", "mut"];
            let skipped = pattern.iter().take_while(|it| prefixes.contains(&&*it.text)).count();
            self.one(&pattern[skipped..], place, found);
        }
    }

    fn one(&self, pattern: &[Token], place: &str, found: &mut Vec<Leaf>) {
        let texts: Vec<&str> = pattern.iter().map(|it| &*it.text).collect();
        match &texts[..] {
            [_, "@", ..] => self.walk(&pattern[2..], place, found),
            ["(", .., ")"] if closing(pattern, 0) + 1 == pattern.len() => {
                let inside = &pattern[1..pattern.len() - 1];
                if split(inside, ",").len() == 1 {
                    self.walk(inside, place, found);
                } else {
                    self.parts(inside, place, found);
                }
            }
            ["[", .., "]"] => {
                let parts = split(&pattern[1..pattern.len() - 1], ",");
                parts.iter().for_each(|it| self.walk(it, &format!("{place}/[]"), found));
            }
            [name] if is_binding(name) => found.push((place.into(), Said::Any)),
            [.., owner, "::", _] if self.enums.contains(owner) => {
                found.push((place.into(), Said::Named));
            }
            _ => self.with_fields(pattern, place, found),
        }
    }

    /// `Some(..)`, `Node::Wrap(.., ..)` or `Attr { name: .. }`, and what is none of these.
    fn with_fields(&self, pattern: &[Token], place: &str, found: &mut Vec<Leaf>) {
        let open = pattern.iter().position(|it| it.text == "(" || it.text == "{");
        let Some(open) = open.filter(|it| *it > 0) else {
            return found.push((place.into(), Said::Other));
        };
        let inside = &pattern[open + 1..closing(pattern, open)];
        let place = format!("{place}/{}", pattern[open - 1].text);
        if pattern[open].text == "(" {
            return self.parts(inside, &place, found);
        }
        for field in split(inside, ",") {
            let place = format!("{place}/{}", field[0].text);
            let value = if field.len() > 2 { &field[2..] } else { field };
            self.walk(value, &place, found);
        }
    }

    fn parts(&self, inside: &[Token], place: &str, found: &mut Vec<Leaf>) {
        for (at, part) in split(inside, ",").into_iter().enumerate() {
            self.walk(part, &format!("{place}/{at}"), found);
        }
    }
}

fn is_binding(name: &str) -> bool {
    let is_lower = name.starts_with(|it: char| it.is_lowercase() || it == '_');
    is_lower && !["true", "false"].contains(&name)
}

/// The place of the first leaf of these that takes any dtype, where others name some.
pub(crate) fn catch_all(arm: &[Leaf], named: &[String]) -> Option<String> {
    let takes = |place: &str| {
        named
            .iter()
            .any(|it| it == place || it.strip_prefix(place).is_some_and(|it| it.starts_with('/')))
    };
    arm.iter().find(|it| it.1 == Said::Any && takes(&it.0)).map(|it| it.0.clone())
}
