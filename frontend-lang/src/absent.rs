//! Names of CPython that are not in this language, and what to use in their place.

mod numpy;
mod torch;
mod torch_modules;

/// A name and the next step.
type Row = (&'static str, &'static str);

/// Functions and types that need no import in CPython.
static NAMES: &[Row] = &[
    ("FALSE", "write `False`"),
    ("NULL", "write `None`"),
    ("NaN", "write `float('nan')`"),
    ("TRUE", "write `True`"),
    ("__import__", "write an import statement"),
    ("breakpoint", "print what you want to see, or look at it in a cell of its own"),
    ("bytearray", "there are no bytes; use a list of whole numbers, or a tensor of dtype uint8"),
    ("bytes", "there are no bytes; use text, or a tensor of dtype uint8"),
    ("compile", "code is compiled by `%trace`; text cannot be run as code"),
    ("eval", "text cannot be run as code; json.loads() reads data, int() and float() read numbers"),
    ("exec", "text cannot be run as code; write a function, or `%run FILE`"),
    ("false", "write `False`"),
    ("globals", "`%who` lists the names of the session; keep your own in a dict"),
    ("inf", "write `float('inf')` or `import math` and `math.inf`"),
    ("locals", "`%who` lists the names of the session; keep your own in a dict"),
    ("memoryview", "there are no bytes; a slice of a tensor is a view"),
    ("nan", "write `float('nan')` or `import math` and `math.nan`"),
    ("nil", "write `None`"),
    ("null", "write `None`"),
    ("raw_input", "write `input()`"),
    ("reduce", "write `from functools import reduce`"),
    ("reload", "write `import importlib` and `importlib.reload(module)`"),
    ("this", "methods take the object as their first parameter, `self`"),
    ("true", "write `True`"),
    ("undefined", "write `None`"),
    ("unichr", "write `chr()`"),
    ("unicode", "write `str`: all text is Unicode"),
    ("xrange", "write `range`"),
];

/// Modules and packages that notebooks import.
static MODULES: &[Row] = &[
    ("PIL", "images are tensors here; plt.imshow shows one"),
    ("argparse", "assign the options in the first cell"),
    ("asyncio", "code runs from top to bottom"),
    ("calendar", "datetime has days, and time the clock"),
    ("concurrent", "operations on tensors use all cores by themselves"),
    ("cupy", "import numpy or torch: operations use all cores"),
    ("cv2", "images are tensors here; plt.imshow shows one"),
    ("datasets", "nothing is fetched from a network here; put the file beside the notebook"),
    ("decimal", "use floats, or whole numbers of the smallest unit"),
    ("doctest", "`assert` in a cell tests a function"),
    ("fractions", "use floats, or math.gcd and two whole numbers"),
    ("gym", "write the environment as a class with reset() and step()"),
    ("gymnasium", "write the environment as a class with reset() and step()"),
    ("hashlib", "there are no bytes; hash() gives a number for a value"),
    ("jax", "import torch: its functions, gradients and %trace are here"),
    ("keras", "import torch: torch.nn has the layers"),
    ("lightning", "write the loop over the batches yourself, or trace it with `%trace`"),
    ("logging", "use print()"),
    ("mpl_toolkits", "plots are flat here; plt.contourf and plt.imshow show a surface from above"),
    ("multiprocessing", "operations on tensors use all cores by themselves"),
    ("pandas", "notegrad.read_csv reads tables of numbers; keep columns in a dict of arrays"),
    ("pickle", "torch.save and torch.load keep objects; json keeps plain data"),
    ("platform", "`%device` and `notegrad doctor` describe the machine"),
    ("plotly", "import matplotlib.pyplot: it is built in"),
    ("polars", "notegrad.read_csv reads tables of numbers; keep columns in a dict of arrays"),
    ("pytorch_lightning", "write the loop over the batches yourself, or trace it with `%trace`"),
    ("requests", "nothing is fetched from a network here; put the file beside the notebook"),
    ("scipy", "import numpy or torch: numpy.linalg and torch have the common functions"),
    ("seaborn", "import matplotlib.pyplot: it is built in"),
    ("shutil", "os.rename moves a file, os.remove and os.rmdir remove files and empty folders"),
    ("skimage", "images are tensors here; plt.imshow shows one"),
    (
        "sklearn",
        "import torch: torch.nn, torch.optim and torch.utils.data; torch.randperm splits data into parts",
    ),
    ("socket", "nothing is fetched from a network here"),
    ("struct", "there are no bytes; torch.load, np.load and json read data"),
    ("subprocess", "other programs cannot be started"),
    ("sympy", "there are no symbolic computations; autograd gives derivatives as numbers"),
    ("tempfile", "os.makedirs makes a folder, and os.remove removes what was written"),
    ("tensorboard", "print the figures, or plot them with matplotlib.pyplot"),
    ("tensorflow", "import torch: its functions, gradients and %trace are here"),
    ("threading", "operations on tensors use all cores by themselves"),
    ("timeit", "`%timeit` before a line, or `%%timeit` in the first line of a cell"),
    ("torchaudio", "sounds are tensors here; torch.load reads what PyTorch has saved"),
    (
        "torchvision",
        "there are no data sets or pretrained models; images are tensors here, torch.nn has the layers, and torch.utils.data loads batches",
    ),
    (
        "transformers",
        "there are no pretrained models; torch.nn.Transformer and its layers are here, and torch.load reads weights",
    ),
    (
        "unittest",
        "`assert` in a cell tests a function; torch.testing.assert_close compares tensors",
    ),
    ("urllib", "nothing is fetched from a network here; put the file beside the notebook"),
    ("uuid", "random.getrandbits(32) makes a number that nobody else has"),
    ("wandb", "print the figures, or plot them with matplotlib.pyplot"),
    ("weakref", "`del` a name that is no longer needed"),
    ("xgboost", "import torch: torch.nn, torch.optim and torch.utils.data"),
];

/// Names of modules here that their counterparts have.
static ATTRIBUTES: &[Row] = &[
    (
        "matplotlib.animation",
        "plots do not move; draw one for each moment, or clear_output(wait=True) before the next",
    ),
    ("matplotlib.pyplot.hist2d", "np.histogram2d counts, and plt.pcolormesh shows the counts"),
    (
        "matplotlib.pyplot.polar",
        "plt.plot(r * np.cos(t), r * np.sin(t)) draws a curve around a centre",
    ),
    (
        "matplotlib.pyplot.quiver",
        "plt.plot draws lines, and plt.annotate with arrowprops leads to a place",
    ),
    ("matplotlib.pyplot.violinplot", "plt.boxplot and plt.hist show how values are distributed"),
    (
        "str.encode",
        "there are no bytes; ord() gives the number of a character, torch.tensor([ord(c) for c in text]) those of a text",
    ),
];

/// What to use in place of a name that a module or a class does not have.
pub(crate) fn attribute(module: &str, name: &str) -> Option<&'static str> {
    below(module, &format!("{module}.{name}"))
}

/// What to use in place of a name that needs no import in CPython.
pub(crate) fn name(name: &str) -> Option<&'static str> {
    find(NAMES, name)
}

/// What to use in place of a module, or of one that it would lie in.
pub(crate) fn module(name: &str) -> Option<&'static str> {
    let first = name.split('.').next().unwrap_or(name);
    let mut outwards =
        std::iter::successors(Some(name), |it| it.rsplit_once('.').map(|(outer, _)| outer));
    outwards.find_map(|it| below(first, it)).or_else(|| find(MODULES, first))
}

/// The row of a full name in the library of a module.
fn below(module: &str, full: &str) -> Option<&'static str> {
    match module.split('.').next() {
        Some("numpy") => find(numpy::ATTRIBUTES, full),
        Some("torch") => {
            find(torch::ATTRIBUTES, full).or_else(|| find(torch_modules::ATTRIBUTES, full))
        }
        _ => find(ATTRIBUTES, full),
    }
}

fn find(rows: &[Row], name: &str) -> Option<&'static str> {
    rows.binary_search_by_key(&name, |it| it.0).ok().map(|at| rows[at].1)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use crate::host::Recording;
    use crate::session::{Options, Session};

    fn tables() -> [&'static [super::Row]; 4] {
        [
            super::ATTRIBUTES,
            super::numpy::ATTRIBUTES,
            super::torch::ATTRIBUTES,
            super::torch_modules::ATTRIBUTES,
        ]
    }

    #[test]
    fn rows_name_what_is_not_there() {
        let mut session = Session::new(Box::new(Recording { record: Rc::default() }));
        for (name, _) in tables().into_iter().flatten() {
            let (module, _) = name.rsplit_once('.').expect("a module and a name");
            if session.run_cell(&format!("import {module}"), &Options::default()).error.is_some() {
                continue; // A class, or a part of one.
            }
            let told = session.run_cell(name, &Options::default()).error;
            assert!(told.is_some_and(|it| it.ename == "AttributeError"), "{name} is there");
        }
    }

    #[test]
    fn rows_are_sorted() {
        assert!(super::NAMES.is_sorted_by_key(|it| it.0));
        assert!(super::MODULES.is_sorted_by_key(|it| it.0));
        assert!(tables().iter().all(|rows| rows.is_sorted_by_key(|it| it.0)));
    }
}
