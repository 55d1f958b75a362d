//! What errors mean: one row per code. Tracebacks show the next step, `notegrad explain CODE` and `docs/errors` the rest.
//!
//! Errors of the engine carry a code from the moment they enter the language; others are explained by their class.
//!
//! **Invariant:** the example of a row ends with an error of that code, or shows a warning of it.

mod cells;
mod exceptions;
mod exceptions_more;
mod tensors;

use engine::Error;
use engine::op::Body;

/// The code of errors about tensors on two devices.
pub(crate) const MIXED_DEVICES: &str = "device::mixed";

/// One kind of error.
pub struct Topic {
    /// `shape::matmul`, or a class such as `NameError`.
    pub code: &'static str,
    pub title: &'static str,
    /// What has happened, and the rule behind it.
    pub why: &'static str,
    /// What to do, as shown below a traceback.
    pub next: &'static str,
    /// A cell that ends so, or is warned of.
    pub example: &'static str,
}

/// Every code: classes of exceptions, what is told of cells, errors about tensors; each group sorted.
pub fn all() -> impl Iterator<Item = &'static Topic> {
    let groups = [exceptions::ALL, exceptions_more::ALL, cells::ALL, tensors::ALL];
    groups.into_iter().flatten()
}

/// One line for each code.
pub fn list() -> String {
    all().map(|it| format!("{:<20} {}\n", it.code, it.title)).collect()
}

/// What to say when there is no such code; `command` lists all of them.
pub fn unknown(code: &str, command: &str) -> String {
    let (wanted, is_class) = stem(code);
    let alike = all().map(|it| stem(it.code)).filter(|it| it.1 == is_class).map(|it| it.0);
    let near = crate::suggest::nearest(wanted, alike);
    let near =
        near.and_then(|near| all().find(|it| stem(it.code) == (near, is_class))).map(|it| it.code);
    // An ending that is misspelt is compared with the rest.
    let near = near.or_else(|| match is_class {
        true => None,
        false => crate::suggest::nearest(code, all().map(|it| it.code)),
    });
    let hint = near.map_or_else(String::new, |it| format!("; did you mean {it}?"));
    format!("no kind of error is called `{code}`{hint}; `{command}` lists them all")
}

/// What distinguishes a name: `Shape` of `ShapeError`, which is a class.
fn stem(code: &str) -> (&str, bool) {
    match ["Error", "error", "Warning"].iter().find_map(|it| code.strip_suffix(it)) {
        Some(stem) if !stem.is_empty() => (stem, true),
        _ => (code, false),
    }
}

/// The row of a code, also by the last part of it or in other letters.
pub fn find(code: &str) -> Option<&'static Topic> {
    let exact = all().find(|it| it.code == code);
    exact.or_else(|| {
        let wanted = code.to_lowercase();
        let part = |it: &&'static Topic| {
            let code = it.code.to_lowercase();
            code == wanted || code.rsplit("::").next() == Some(wanted.as_str())
        };
        all().find(part)
    })
}

/// The code of an engine's error.
pub fn code_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Shapes { rule, .. } if rule.starts_with("the bias") => "shape::bias",
        Error::Shapes { op, .. } | Error::Unequal { op, .. } => code_of_shapes(op),
        Error::Devices(_) => MIXED_DEVICES,
        Error::DType { .. } => "dtype::op",
        Error::DTypes { .. } => "dtype::mixed",
        Error::DimRange { .. } => "index::dim",
        Error::IndexRange { .. } | Error::TableRow { .. } => "index::range",
        Error::TooLarge { .. } | Error::OutOfMemory { .. } => "memory",
        Error::NotScalar { .. } => "tensor::not-scalar",
        Error::Anomaly(_) => "grad::anomaly",
        Error::Backward { .. } => "grad::backward",
        Error::Freed { .. } => "grad::freed",
        _ => return None,
    })
}

/// What to do about this error, where that is more than what its code says.
pub fn next_of(error: &Error) -> Option<String> {
    match error {
        Error::Shapes { op, shapes, rule }
            if op.starts_with("conv") && !rule.starts_with("the bias") =>
        {
            tensors::channels(shapes)
        }
        // What `.float()` would do: lose the imaginary parts.
        Error::DType { dtype, .. } if dtype.is_complex() => Some(tensors::PARTS.to_owned()),
        Error::DTypes { dtypes, .. } if dtypes.iter().any(|it| it.is_complex()) => {
            Some(tensors::PROMOTED.to_owned())
        }
        _ => None,
    }
}

fn code_of_shapes(op: &str) -> &'static str {
    match op {
        "matmul" | "linear" | "bmm" | "mm" | "mv" | "addmm" => "shape::matmul",
        "reshape" | "view" | "unflatten" => "shape::reshape",
        "cat" | "stack" => "shape::cat",
        _ if op.starts_with("conv") || op.contains("pool") => "shape::conv",
        _ => match engine::ops::find(op).map(|it| &it.body) {
            Some(Body::Binary(_) | Body::Ternary(_)) => "shape::broadcast",
            _ => "shape::op",
        },
    }
}

impl Topic {
    /// The page of the code, as Markdown.
    pub fn page(&self) -> String {
        let next = match self.next.chars().next() {
            Some(first) => format!("{}{}.", first.to_uppercase(), &self.next[first.len_utf8()..]),
            None => String::new(),
        };
        format!(
            "# {}: {}\n\n{}\n\n**Next:** {next}\n\n```python\n{}\n```\n",
            self.code, self.title, self.why, self.example
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{all, cells, exceptions, exceptions_more, find, tensors, unknown};

    #[test]
    fn codes_are_sorted_and_found() {
        for group in [exceptions::ALL, exceptions_more::ALL, cells::ALL, tensors::ALL] {
            assert!(group.is_sorted_by_key(|it| it.code));
        }
        for topic in all() {
            assert!(find(topic.code).is_some_and(|it| it.code == topic.code));
        }
        assert_eq!(find("matmul").map(|it| it.code), Some("shape::matmul"));
        assert_eq!(find("nameerror").map(|it| it.code), Some("NameError"));
        assert!(find("shape::nothing").is_none());
    }

    #[test]
    fn near_names_are_of_the_same_kind() {
        assert!(unknown("ShapeErorr", "x").contains("did you mean ShapeError?"));
        assert!(unknown("TyepError", "x").contains("did you mean TypeError?"));
        assert!(!unknown("FooError", "x").contains("did you mean"));
    }

    #[test]
    fn everything_that_is_shown_has_a_row() {
        let classes = crate::error::EXCEPTIONS.iter().map(|it| it.name);
        let lints = crate::check::lint::ALL.iter().map(|it| it.name);
        let missing: Vec<_> = classes.chain(lints).filter(|it| find(it).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
