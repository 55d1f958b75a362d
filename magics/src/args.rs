//! From the words after a magic's name to its declared arguments; usage lines and completion come from the same rows.

use crate::{Magic, MagicError};

/// One argument that a magic declares.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// A word that must be given.
    Word { name: &'static str, help: &'static str },
    /// A word that may be left out.
    Optional { name: &'static str, help: &'static str },
    /// All remaining words.
    Rest { name: &'static str, help: &'static str },
    /// The rest of the line as written, such as code to time.
    Line { name: &'static str, help: &'static str },
    /// `-o VALUE` or `--out=VALUE`; may come several times, the last counts.
    Flag { name: &'static str, value: &'static str, help: &'static str },
    /// `--quiet`: given or not.
    Switch { name: &'static str, help: &'static str },
}

impl Arg {
    /// How it stands in the usage line.
    pub fn usage(&self) -> String {
        match self {
            Self::Word { name, .. } => (*name).into(),
            Self::Optional { name, .. } => format!("[{name}]"),
            Self::Rest { name, .. } => format!("[{name} ...]"),
            Self::Line { name, .. } => format!("[{name}]"),
            Self::Flag { name, value, .. } => format!("[{name} {value}]"),
            Self::Switch { name, .. } => format!("[{name}]"),
        }
    }

    /// Its name and what it means.
    pub fn help(&self) -> (&'static str, &'static str) {
        match self {
            Self::Word { name, help }
            | Self::Optional { name, help }
            | Self::Rest { name, help }
            | Self::Line { name, help }
            | Self::Flag { name, help, .. }
            | Self::Switch { name, help } => (name, help),
        }
    }
}

/// Parsed arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args {
    words: Vec<String>,
    flags: Vec<(&'static str, String)>,
    switches: Vec<&'static str>,
    line: String,
}

impl Args {
    /// Parses the text after the name of `magic`.
    pub fn parse(magic: &Magic, text: &str) -> Result<Self, MagicError> {
        let mut res = Self::default();
        if magic.args.iter().any(|it| matches!(it, Arg::Line { .. })) {
            let mut rest = text.trim();
            while let Some((flag, after)) = res.leading_flag(magic, rest)? {
                rest = after;
                debug_assert!(!flag.is_empty());
            }
            res.line = rest.to_string();
            return Ok(res);
        }
        let words = split_words(text)?;
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            if word.len() > 1 && word.starts_with('-') && word.parse::<f64>().is_err() {
                let (name, inline) = match word.split_once('=') {
                    Some((name, value)) => (name.to_string(), Some(value.to_string())),
                    None => (word, None),
                };
                res.option(magic, &name, inline, &mut words)?;
            } else {
                res.words.push(word);
            }
        }
        res.check(magic)?;
        Ok(res)
    }

    /// A switch or flag before the line of a magic that takes a line; gives what follows it.
    fn leading_flag<'a>(
        &mut self,
        magic: &Magic,
        text: &'a str,
    ) -> Result<Option<(String, &'a str)>, MagicError> {
        let word = text.split_whitespace().next().unwrap_or("");
        let declared = magic.args.iter().find(|it| it.help().0 == word);
        let after = text[word.len()..].trim_start();
        match declared {
            Some(Arg::Switch { name, .. }) => {
                self.switches.push(name);
                Ok(Some((word.into(), after)))
            }
            Some(Arg::Flag { name, value, .. }) => {
                let given = after.split_whitespace().next().ok_or_else(|| missing(magic, value))?;
                self.flags.push((name, given.into()));
                Ok(Some((word.into(), after[given.len()..].trim_start())))
            }
            _ => Ok(None),
        }
    }

    fn option(
        &mut self,
        magic: &Magic,
        name: &str,
        inline: Option<String>,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), MagicError> {
        let declared = magic.args.iter().find(|it| it.help().0 == name);
        match declared {
            Some(Arg::Switch { name, .. }) => self.switches.push(name),
            Some(Arg::Flag { name, value, .. }) => {
                let value = inline.or_else(|| rest.next()).ok_or_else(|| missing(magic, value))?;
                self.flags.push((name, value));
            }
            _ => {
                let known =
                    magic.args.iter().map(|it| it.help().0).filter(|it| it.starts_with('-'));
                let near = frontend_lang::suggest::nearest(name, known);
                let hint = near.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
                return Err(MagicError::usage(magic, format!("unknown option `{name}`{hint}")));
            }
        }
        Ok(())
    }

    fn check(&self, magic: &Magic) -> Result<(), MagicError> {
        let required = magic.args.iter().filter(|it| matches!(it, Arg::Word { .. }));
        let required: Vec<_> = required.collect();
        if let Some(absent) = required.get(self.words.len()) {
            return Err(missing(magic, absent.help().0));
        }
        let optional = magic.args.iter().filter(|it| matches!(it, Arg::Optional { .. })).count();
        let takes_rest = magic.args.iter().any(|it| matches!(it, Arg::Rest { .. }));
        if !takes_rest && self.words.len() > required.len() + optional {
            let extra = &self.words[required.len() + optional];
            return Err(MagicError::usage(magic, format!("`{extra}` is one word too many")));
        }
        Ok(())
    }

    /// Word number `at`.
    pub fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(String::as_str)
    }

    /// All words from number `from` on.
    pub fn words_from(&self, from: usize) -> &[String] {
        self.words.get(from..).unwrap_or(&[])
    }

    /// The value of a flag; the last one counts.
    pub fn flag(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// All values of a flag, in order.
    pub fn flags(&self, name: &str) -> impl Iterator<Item = &str> {
        self.flags.iter().filter(move |it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Whether a switch was given.
    pub fn switch(&self, name: &str) -> bool {
        self.switches.contains(&name)
    }

    /// The rest of the line, for magics that declare one.
    pub fn line(&self) -> &str {
        &self.line
    }
}

fn missing(magic: &Magic, what: &str) -> MagicError {
    MagicError::usage(magic, format!("`{what}` is missing"))
}

/// Words as a shell has them: blanks separate, quotes keep together.
fn split_words(text: &str) -> Result<Vec<String>, MagicError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for it in text.chars() {
        match quote {
            Some(open) if it == open => quote = None,
            Some(_) => word.get_or_insert_default().push(it),
            None if it == '"' || it == '\'' => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            None if it.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(it),
        }
    }
    if let Some(open) = quote {
        return Err(MagicError::Failed { message: format!("the quote {open} is not closed") });
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_words_as_a_shell() {
        let words = split_words("f 'my model.ngm'  -o \"\"").unwrap();
        assert_eq!(words, ["f", "my model.ngm", "-o", ""]);
        assert!(split_words("f 'x").is_err());
    }
}
