//! Values in the text of `--input`: `[[1,2],[3,4]]`, `1,2,3`, `0.5`, and shapes to fill with ones: `{2,3}`.
//!
//! Brackets mean what they mean to NumPy; a list without brackets is one dimension, a bare number none.

use super::{Data, Values};

/// Deepest nesting of brackets.
const DEPTH: usize = 32;

/// The data that a text describes.
pub(super) fn parse(text: &str) -> Result<Data, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the data is empty".into());
    }
    if let Some(rest) = text.strip_prefix('{') {
        let shape = rest.strip_suffix('}').ok_or("braces not closed for --input")?;
        return Ok(Data { shape: sizes(shape)?, dtype: "ones".into(), values: Values::Ones });
    }
    let mut nest = Nest::default();
    let is_list = text.contains(',') && !text.starts_with('[');
    if is_list {
        nest.open()?;
    }
    let mut rest = text;
    let mut is_after_item = false;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '[' | ']' | ',' => 1,
            _ => rest.find(['[', ']', ',']).unwrap_or(rest.len()),
        };
        let (token, tail) = rest.split_at(length);
        rest = tail.trim_start();
        is_after_item = match letter {
            '[' if is_after_item => return Err("a `,` is missing before `[`".into()),
            '[' => nest.open()?,
            ']' => nest.close(is_list)?,
            ',' if !is_after_item => return Err("there is nothing before a `,`".into()),
            ',' if nest.counts.is_empty() => return Err("there is a `,` after the last `]`".into()),
            ',' => false,
            _ if is_after_item => return Err(format!("a `,` is missing before `{token}`")),
            _ => nest.number(token.trim())?,
        };
    }
    if is_list {
        nest.close(false)?;
    }
    nest.finish()
}

fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let sizes = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    sizes.map(|it| it.parse().map_err(|_| format!("`{it}` is no size"))).collect()
}

/// Brackets that are open, and what has been seen at each depth.
#[derive(Default)]
struct Nest<'a> {
    /// Items so far in each open bracket.
    counts: Vec<usize>,
    /// By depth: the length of every closed list.
    dims: Vec<Option<usize>>,
    /// By depth: whether items are lists.
    is_list: Vec<Option<bool>>,
    numbers: Vec<&'a str>,
    is_complete: bool,
}

impl<'a> Nest<'a> {
    /// Starts a list; what follows is no item yet.
    fn open(&mut self) -> Result<bool, String> {
        self.item(true)?;
        if self.counts.len() == DEPTH {
            return Err(format!("brackets are nested more than {DEPTH} deep"));
        }
        self.counts.push(0);
        if self.dims.len() < self.counts.len() {
            self.dims.push(None);
        }
        Ok(false)
    }

    fn close(&mut self, keeps_outer: bool) -> Result<bool, String> {
        if self.counts.len() <= usize::from(keeps_outer) {
            return Err("braces not closed for --input: a `]` has no `[`".into());
        }
        let count = self.counts.pop().unwrap_or(0);
        let dim = &mut self.dims[self.counts.len()];
        if dim.is_some_and(|it| it != count) {
            return Err("lists at the same depth must have the same length".into());
        }
        *dim = Some(count);
        self.is_complete = self.counts.is_empty();
        Ok(true)
    }

    fn number(&mut self, token: &'a str) -> Result<bool, String> {
        self.item(false)?;
        self.numbers.push(token);
        self.is_complete = self.counts.is_empty();
        Ok(true)
    }

    fn item(&mut self, is_list: bool) -> Result<(), String> {
        if self.is_complete {
            return Err("there is more after the last `]`".into());
        }
        let depth = self.counts.len();
        if self.is_list.len() == depth {
            self.is_list.push(Some(is_list));
        }
        if self.is_list[depth] != Some(is_list) {
            return Err("numbers and lists stand at the same depth".into());
        }
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<Data, String> {
        if !self.counts.is_empty() {
            return Err("braces not closed for --input".into());
        }
        let shape = self.dims.into_iter().flatten().collect();
        let is_float = |it: &&str| it.contains(['.', 'e', 'E', 'n', 'N']);
        if self.numbers.iter().any(is_float) {
            let values =
                self.numbers.iter().map(|it| number::<f64>(it)).collect::<Result<_, _>>()?;
            return Ok(Data { shape, dtype: "float32".into(), values: Values::Floats(values) });
        }
        let values = self.numbers.iter().map(|it| number::<i64>(it)).collect::<Result<_, _>>()?;
        Ok(Data { shape, dtype: "int32".into(), values: Values::Ints(values) })
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is neither a number nor a file this command reads (.npy .json .ppm .pgm)")
    })
}
