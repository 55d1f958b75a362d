//! Shapes in annotations: `x: f32["N", 784]`, `def f[N](x: f32[N, 784]) -> f32[N, 10]`.
//!
//! A dimension is a size, a name, a name with arithmetic (`2*N`, `N+1`), `...` or `*B` for any number of dimensions. A name stands for one
//! size throughout one call. Other annotations are free text, as in Python.
//!
//! **Invariant:** a function without such annotations pays nothing.

use std::any::Any;
use std::rc::Rc;

use engine::{DType, Meta};

use crate::native::*;
use crate::objects::text::is_identifier;
use crate::value::Tuple;

/// What an annotation says of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    text: String,
    /// `None` for `Tensor[...]`.
    dtype: Option<DType>,
    dims: Vec<Dim>,
}

/// One dimension, or several.
#[derive(Clone, Debug, PartialEq)]
enum Dim {
    Size(usize),
    /// `times * name + plus`.
    Name {
        name: String,
        times: i64,
        plus: i64,
    },
    /// Any number of dimensions; the same ones wherever the name stands.
    Any(Option<String>),
}

/// Sizes of names so far, with what they were read from.
type Sizes = Vec<(String, Vec<usize>, String)>;

/// The annotations of a function, as a constant of its code.
pub struct Signature {
    /// Slot, name and pattern of each parameter that has one.
    pub params: Vec<(u32, Sym, Pattern)>,
    pub result: Option<Pattern>,
}

static SIGNATURE: NativeType =
    NativeType::plain("signature", "Shapes that a function takes and gives.");

impl NativeObject for Signature {
    fn native_type(&self) -> &'static NativeType {
        &SIGNATURE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }
}

impl Signature {
    /// The signature in annotations, if any of them gives a shape; `slot_of` finds a parameter.
    pub fn read(
        annotations: &[(Sym, String)],
        slot_of: impl Fn(Sym) -> Option<u32>,
    ) -> Option<Signature> {
        let mut found = Signature { params: Vec::new(), result: None };
        for (name, text) in annotations {
            let Some(pattern) = Pattern::parse(text) else { continue };
            match slot_of(*name) {
                Some(slot) => found.params.push((slot, *name, pattern)),
                None if name.as_str() == "return" => found.result = Some(pattern),
                None => {}
            }
        }
        (!found.params.is_empty() || found.result.is_some()).then_some(found)
    }

    /// Checks arguments; gives the sizes of names, for [`Signature::check_result`].
    pub fn check_params(&self, slots: &[Value]) -> Res {
        let mut sizes = Sizes::new();
        for (slot, name, pattern) in &self.params {
            match &slots[*slot as usize] {
                // A default of None says that the argument may be left out.
                Value::None | Value::Unbound => {}
                value => pattern.check(name.as_str(), value, &mut sizes)?,
            }
        }
        let entry = |(name, sizes, from): (String, Vec<usize>, String)| {
            let sizes: Vec<Value> = sizes.into_iter().map(Value::from).collect();
            Value::tuple([Value::str(name), Value::tuple(sizes), Value::str(from)])
        };
        Ok(Value::tuple(sizes.into_iter().map(entry).collect::<Vec<_>>()))
    }

    /// Checks a result against the sizes of the call.
    pub fn check_result(&self, value: &Value, sizes: &Value) -> Result<(), Raised> {
        let Some(pattern) = &self.result else { return Ok(()) };
        let mut known = Sizes::new();
        for entry in sizes.as_tuple().map(|it| it.to_vec()).unwrap_or_default() {
            let Some([name, sizes, from]) = entry.as_tuple().map(|it: &Rc<Tuple>| &***it) else {
                continue;
            };
            let sizes = sizes.as_tuple().map(|it| it.to_vec()).unwrap_or_default();
            let sizes = sizes.iter().filter_map(Value::as_int).map(|it| it as usize).collect();
            known.push((
                name.as_str().unwrap_or_default().into(),
                sizes,
                from.as_str().unwrap_or_default().into(),
            ));
        }
        pattern.check("the result", value, &mut known)
    }
}

/// Where the parameter of a message (`x: expected ...`) is annotated, in the text of a function that begins at `start`.
pub fn place_of_parameter(text: &str, start: usize, message: &str) -> Option<(usize, usize)> {
    let name = message.split(':').next().filter(|it| is_identifier(it))?;
    let head = text.get(start..)?;
    let in_word = |it: char| it.is_alphanumeric() || it == '_';
    let found = head.match_indices(name).find(|(at, _)| {
        let after = &head[at + name.len()..];
        !head[..*at].ends_with(in_word) && after.trim_start().starts_with(':')
    })?;
    Some((start + found.0, start + found.0 + name.len()))
}

impl Pattern {
    /// The pattern in an annotation's text; `None` if it is about something else.
    pub fn parse(text: &str) -> Option<Pattern> {
        let text = text.trim();
        let (base, inside) = text.strip_suffix(']')?.split_once('[')?;
        let base = base.trim();
        let dtype = match base.rsplit('.').next()? {
            "Tensor" => None,
            name => Some(DType::parse(name)?),
        };
        let inside = inside.trim();
        let dims = match inside {
            "" | "()" => Vec::new(),
            _ => split(inside).map(parse_dim).collect::<Option<Vec<_>>>()?,
        };
        let many = dims.iter().filter(|it| matches!(it, Dim::Any(_))).count();
        (many <= 1).then(|| Pattern { text: text.to_owned(), dtype, dims })
    }

    /// Dimensions that a name alone stands for, by their numbers.
    pub fn named_dims(&self) -> impl Iterator<Item = (usize, &str)> {
        let fixed = self.dims.iter().take_while(|it| !matches!(it, Dim::Any(_)));
        fixed.enumerate().filter_map(|(at, dim)| match dim {
            Dim::Name { name, times: 1, plus: 0 } => Some((at, name.as_str())),
            _ => None,
        })
    }

    /// Raises if `value` is no tensor of this kind.
    pub fn check(&self, what: &str, value: &Value, sizes: &mut Sizes) -> Result<(), Raised> {
        let Some(tensor) = value.as_tensor() else {
            if crate::check::unknown::kind_of(value).is_some() {
                return Ok(());
            }
            return Err(type_error(format!(
                "{what}: expected {}, got {}",
                self.text,
                type_name(value)
            )));
        };
        let meta = tensor.get().meta();
        self.fits(what, &meta, sizes).map_err(|why| {
            let got = format!("{}{}", meta.dtype.name(), list(&meta.shape));
            let message = format!("{what}: expected {}, got {got}: {why}", self.text);
            if self.dtype.is_some_and(|it| it != meta.dtype) {
                dtype_error(message)
            } else {
                shape_error(message)
            }
        })
    }

    fn fits(&self, what: &str, meta: &Meta, sizes: &mut Sizes) -> Result<(), String> {
        if let Some(wanted) = self.dtype.filter(|it| *it != meta.dtype) {
            return Err(format!("the dtype is {}, not {}", meta.dtype.name(), wanted.name()));
        }
        let shape: &[usize] = &meta.shape;
        let many = self.dims.iter().position(|it| matches!(it, Dim::Any(_)));
        let least = self.dims.len() - many.is_some() as usize;
        if shape.len() < least || (many.is_none() && shape.len() != least) {
            let exactly = if many.is_some() { "at least " } else { "" };
            return Err(format!("it has {} dimensions, not {exactly}{least}", shape.len()));
        }
        let spread = shape.len() - least;
        let mut at = 0;
        for dim in &self.dims {
            let width = if matches!(dim, Dim::Any(_)) { spread } else { 1 };
            dim.fits(what, at, &shape[at..at + width], sizes)?;
            at += width;
        }
        Ok(())
    }
}

impl Dim {
    fn fits(&self, what: &str, at: usize, got: &[usize], sizes: &mut Sizes) -> Result<(), String> {
        match self {
            Dim::Size(wanted) if got[0] == *wanted => Ok(()),
            Dim::Size(wanted) => Err(format!("dimension {at} is {}, not {wanted}", got[0])),
            Dim::Any(None) => Ok(()),
            Dim::Any(Some(name)) => bind(name, got, what, at, sizes),
            Dim::Name { name, times: 1, plus: 0 } => bind(name, got, what, at, sizes),
            Dim::Name { name, times, plus } => {
                let Some((_, known, from)) = sizes.iter().find(|it| it.0 == *name) else {
                    return Ok(());
                };
                let size = known.first().copied().unwrap_or(0) as i64;
                let wanted = times.saturating_mul(size).saturating_add(*plus);
                if wanted == got[0] as i64 {
                    return Ok(());
                }
                Err(format!(
                    "dimension {at} is {}, not {wanted} ({name} is {size}, from {from})",
                    got[0]
                ))
            }
        }
    }
}

/// Gives a name its size, or compares with the one it has.
fn bind(name: &str, got: &[usize], what: &str, at: usize, sizes: &mut Sizes) -> Result<(), String> {
    let Some((_, known, from)) = sizes.iter().find(|it| it.0 == name) else {
        sizes.push((name.to_owned(), got.to_vec(), format!("{what}, dimension {at}")));
        return Ok(());
    };
    if known == got {
        return Ok(());
    }
    let text = |sizes: &[usize]| match sizes {
        [one] => one.to_string(),
        many => list(many),
    };
    Err(format!("{name} is {} here, but {} in {from}", text(got), text(known)))
}

fn list(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

fn split(inside: &str) -> impl Iterator<Item = &str> {
    inside.split(',').map(str::trim).filter(|it| !it.is_empty())
}

fn parse_dim(text: &str) -> Option<Dim> {
    let text = text.trim_matches(|it| it == '"' || it == '\'').trim();
    if text == "..." {
        return Some(Dim::Any(None));
    }
    if let Some(name) = text.strip_prefix('*') {
        return is_identifier(name).then(|| Dim::Any(Some(name.to_owned())));
    }
    if let Ok(size) = text.parse() {
        return Some(Dim::Size(size));
    }
    let (product, plus) = match text.split_once(['+', '-']) {
        Some((product, number)) => {
            let number: i64 = number.trim().parse().ok()?;
            (product.trim(), if text.contains('-') { -number } else { number })
        }
        None => (text, 0),
    };
    let (name, times) = match product.split_once('*') {
        None => (product, 1),
        Some((a, b)) => match (a.trim().parse(), b.trim().parse()) {
            (Ok(times), Err(_)) => (b.trim(), times),
            (Err(_), Ok(times)) => (a.trim(), times),
            _ => return None,
        },
    };
    is_identifier(name).then(|| Dim::Name { name: name.to_owned(), times, plus })
}

#[cfg(test)]
mod tests {
    use super::{Dim, Pattern};

    #[test]
    fn reads_dimensions() {
        let dims = |text: &str| Pattern::parse(text).map(|it| it.dims);
        let name = |name: &str, times, plus| Dim::Name { name: name.into(), times, plus };
        assert_eq!(dims("f32[\"N\", 784]"), Some(vec![name("N", 1, 0), Dim::Size(784)]));
        assert_eq!(dims("f32[..., C]"), Some(vec![Dim::Any(None), name("C", 1, 0)]));
        assert_eq!(
            dims("Tensor['*B', '2*N', 'N+1']"),
            Some(vec![Dim::Any(Some("B".into())), name("N", 2, 0), name("N", 1, 1),])
        );
        assert_eq!(dims("i64[()]"), Some(vec![]));
        for other in ["int", "list[int]", "Optional[Tensor]", "dict[str, int]", "f32[a.b]"] {
            assert_eq!(dims(other), None, "{other}");
        }
    }
}
