//! Names of CPython that are not in this language, and what to use in their place.

/// A name and the next step.
type Row = (&'static str, &'static str);

/// Functions and types that need no import in CPython.
static NAMES: &[Row] = &[
    ("__import__", "write an import statement"),
    ("breakpoint", "print what you want to see, or look at it in a cell of its own"),
    ("bytearray", "there are no bytes; use a list of whole numbers, or a tensor of dtype uint8"),
    ("bytes", "there are no bytes; use text, or a tensor of dtype uint8"),
    ("compile", "code is compiled by `%trace`; text cannot be run as code"),
    ("complex", "there are no complex numbers; keep the two parts in two floats"),
    ("eval", "text cannot be run as code; json.loads() reads data, int() and float() read numbers"),
    ("exec", "text cannot be run as code; write a function, or `%run FILE`"),
    ("exit", "a cell ends at its last line; restart the kernel from its menu"),
    ("globals", "`%who` lists the names of the session; keep your own in a dict"),
    ("help", "write `name?` for help and `name??` for its source"),
    ("locals", "`%who` lists the names of the session; keep your own in a dict"),
    ("memoryview", "there are no bytes; a slice of a tensor is a view"),
    (
        "open",
        "tables of numbers are read by notegrad.read_csv, tensors by torch.load, code by `%load`",
    ),
    ("quit", "a cell ends at its last line; restart the kernel from its menu"),
    ("raw_input", "write `input()`"),
    ("reduce", "write `from functools import reduce`"),
    ("reload", "restart the kernel, then import again"),
    ("unichr", "write `chr()`"),
    ("unicode", "write `str`: all text is Unicode"),
    ("xrange", "write `range`"),
];

/// Modules and packages that notebooks import.
static MODULES: &[Row] = &[
    ("PIL", "images are tensors here; plt.imshow shows one"),
    ("argparse", "assign the options in the first cell"),
    ("asyncio", "code runs from top to bottom"),
    ("concurrent", "operations on tensors use all cores by themselves"),
    ("csv", "notegrad.read_csv reads tables of numbers"),
    ("cv2", "images are tensors here; plt.imshow shows one"),
    ("decimal", "use floats, or whole numbers of the smallest unit"),
    ("fractions", "use floats, or math.gcd and two whole numbers"),
    ("jax", "import torch: its functions, gradients and %trace are here"),
    ("keras", "import torch: torch.nn has the layers"),
    ("logging", "use print()"),
    ("multiprocessing", "operations on tensors use all cores by themselves"),
    ("pandas", "notegrad.read_csv reads tables of numbers; keep columns in a dict of arrays"),
    ("pickle", "torch.save and torch.load keep objects; json keeps plain data"),
    ("requests", "nothing is fetched from a network here; put the file beside the notebook"),
    ("scipy", "import numpy or torch: numpy.linalg and torch have the common functions"),
    ("seaborn", "import matplotlib.pyplot: it is built in"),
    ("sklearn", "import torch: torch.nn, torch.optim and torch.utils.data"),
    ("socket", "nothing is fetched from a network here"),
    ("subprocess", "other programs cannot be started"),
    ("tensorflow", "import torch: its functions, gradients and %trace are here"),
    ("threading", "operations on tensors use all cores by themselves"),
    ("urllib", "nothing is fetched from a network here; put the file beside the notebook"),
];

/// What to use in place of a name that needs no import in CPython.
pub(crate) fn name(name: &str) -> Option<&'static str> {
    find(NAMES, name)
}

/// What to use in place of a module.
pub(crate) fn module(name: &str) -> Option<&'static str> {
    find(MODULES, name.split('.').next().unwrap_or(name))
}

fn find(rows: &[Row], name: &str) -> Option<&'static str> {
    rows.binary_search_by_key(&name, |it| it.0).ok().map(|at| rows[at].1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_sorted() {
        assert!(super::NAMES.is_sorted_by_key(|it| it.0));
        assert!(super::MODULES.is_sorted_by_key(|it| it.0));
    }
}
