//! Modules beside the notebook: files, and folders of them; and modules within those of the library.

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const FILES: &[(&str, &str)] = &[
    ("alone.ng", "x = 1"),
    ("whole/__init__.ng", "from whole.first import one\nmade = 'whole'"),
    ("whole/first.ng", "one = 1"),
    ("whole/inner/__init__.ng", "import whole.inner.deep\ntwo = whole.made * 2"),
    ("whole/inner/deep.ng", "three = 3"),
    ("open/first.ng", "from open.second import two\none = two - 1"),
    ("open/second.ng", "two = 2"),
    ("both.ng", "kind = 'file'"),
    ("both/__init__.ng", "kind = 'folder'"),
    ("broken/__init__.ng", "1 / 0"),
    ("broken/part.ng", "x = 1"),
    ("tables/a.csv", "1,2"),
    ("tables/inner/m.ng", "x = 5"),
    ("inner_error/sub.ng", "import pandas"),
    ("near/__init__.ng", "from . import one\nfrom .one import x\nfrom .far.two import y"),
    ("near/one.ng", "x = 6"),
    ("near/far/two.ng", "from ..one import x\nfrom .. import one as again\ny = again.x + x"),
    ("near/far/high.ng", "from ... import alone"),
    ("math/extra.ng", "x = 1"),
    ("star/__init__.ng", "__all__ = ['leaf']"),
    ("star/leaf.ng", "x = 8"),
    ("round_a.ng", "import round_b\na = 1"),
    ("round_b.ng", "from round_a import a"),
    ("snake.py", "x = 4"),
    ("twice.ng", "kind = 'ng'"),
    ("twice.py", "kind = 'py'"),
    ("pack/__init__.py", "from .part import y"),
    ("pack/part.py", "y = 9"),
    ("shows.ng", "print(__name__, __file__, repr(__package__))"),
];

/// What a cell prints, or the class and text of its error.
fn printed_by(cell: &str) -> String {
    let record = Rc::new(Record::default());
    for (path, text) in FILES {
        record.files.borrow_mut().insert((*path).to_owned(), text.as_bytes().to_vec());
    }
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let options = Options { check: Level::On, ..Options::default() };
    match session.run_cell(cell, &options).error {
        Some(error) => format!("{}: {}", error.ename, error.evalue),
        None => record.stdout.take(),
    }
}

#[test]
fn files_and_folders_are_imported() {
    for (cell, expected) in [
        ("import alone; print(alone.x, alone.__name__)", "1 alone\n"),
        ("import whole; print(whole.made, whole.one, whole.first.one)", "whole 1 1\n"),
        (
            "import whole.inner.deep; print(whole.inner.two, whole.inner.deep.three)",
            "wholewhole 3\n",
        ),
        ("from whole.inner.deep import three; import whole; print(three, whole.made)", "3 whole\n"),
        ("from whole import first, inner; print(first.one, inner.__name__)", "1 whole.inner\n"),
        ("from open.first import one; import open.second as s; print(one, s.two)", "1 2\n"),
        ("from open import first; print(first.one)", "1\n"),
        ("import both; print(both.kind)", "folder\n"),
        ("import tables.inner.m; print(tables.inner.m.x)", "5\n"),
        ("from tables import inner; from tables.inner.m import x; print(x)", "5\n"),
        ("import snake, twice; print(snake.x, twice.kind, snake.__file__)", "4 ng snake.py\n"),
        ("import pack.part; print(pack.y, pack.part.__file__)", "9 pack/part.py\n"),
        ("import near; print(near.x, near.y, near.one.x)", "6 12 6\n"),
        ("from star import *; print(leaf.x)", "8\n"),
        ("import shows, near.far.two as two", "shows shows.ng ''\n"),
        (
            "import near.far.two as t; print(t.__package__, t.__file__)",
            "near.far near/far/two.ng\n",
        ),
        (
            "import importlib as i; m = i.import_module('.far.two', 'near'); print(m.y, i.reload(m) is m, m.y)",
            "12 True 12\n",
        ),
    ] {
        assert_eq!(printed_by(cell), expected, "{cell}");
    }
}

#[test]
fn what_holds_no_module_is_not_imported() {
    for (cell, expected) in [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("import alon", "ModuleNotFoundError: No module named 'alon'. Did you mean 'alone'?"),
        ("import snaky", "ModuleNotFoundError: No module named 'snaky'. Did you mean 'snake'?"),
        (
            "import pack.pat",
            "ModuleNotFoundError: No module named 'pack.pat'. Did you mean 'pack.part'?",
        ),
        (
            "import torchmetrics",
            "ModuleNotFoundError: No module named 'torchmetrics'. Built-in modules",
        ),
        (
            "import torch.metods",
            "ModuleNotFoundError: No module named 'torch.metods'. Built-in modules",
        ),
        (
            "import torch.nn.functionl",
            "ModuleNotFoundError: No module named 'torch.nn.functionl'. Did you mean 'torch.nn.functional'?",
        ),
        (
            "def f():\n    import whole.fist\nf()",
            "ModuleNotFoundError: No module named 'whole.fist'. Did you mean 'whole.first'?",
        ),
        ("import math.extra", "ModuleNotFoundError: No module named 'math.extra'"),
        ("import oneflow.wrong", "ModuleNotFoundError: No module named 'oneflow.wrong'"),
        ("from inner_error import sub", "ModuleNotFoundError: No module named 'pandas'"),
        (
            "from . import alone",
            "ImportError: attempted relative import with no known parent package",
        ),
        ("import near.far.high", "ImportError: attempted relative import beyond top-level package"),
        (
            "import round_a",
            "ImportError: cannot import name 'a' from partially initialized module 'round_a' (most likely due to a circular import",
        ),
        ("import whole.second", "ModuleNotFoundError: No module named 'whole.second'"),
        ("from whole import second", "ImportError: cannot import name 'second' from 'whole'"),
        ("from broken.part import x", "ZeroDivisionError: division by zero"),
    ] {
        let printed = printed_by(cell);
        assert!(printed.starts_with(expected), "{cell}: {printed}");
    }
}

#[test]
fn a_cell_may_make_the_module_that_it_imports() {
    let cell = "open('made.ng', 'w').write('x = 3')\nimport made\nprint(made.x)";
    assert_eq!(printed_by(cell), "3\n");
    let cell = "import importlib, alone\nwith open('alone.ng', 'w') as f: n = f.write('x = 2')\n\
                importlib.reload(alone); print(alone.x)";
    assert_eq!(printed_by(cell), "2\n");
    let cell = "import importlib, alone as kept\nn = open('alone.ng', 'w').write('x = 2')\nimportlib.reload(kept); print(kept.x)\n\
                for text in ['x = 3\\n1/0', 'x = ']:\n    with open('alone.ng', 'w') as f: n = f.write(text)\n    \
                try: importlib.reload(kept)\n    except Exception as e: print(type(e).__name__)\n    \
                import alone\n    print(alone is kept, kept.x)";
    assert_eq!(printed_by(cell), "2\nZeroDivisionError\nTrue 3\nSyntaxError\nTrue 3\n");
}

#[test]
fn modules_within_others_are_told_and_suggested_before_they_are_loaded() {
    let mut session = Session::new(Box::new(Recording::default()));
    let mut plain = |cell: &str| {
        let error = session.run_cell(cell, &Options::default()).error;
        error.map_or_else(String::new, |it| it.plain)
    };
    let told = plain("import torch\ntorch.distribution");
    assert!(told.contains("Did you mean: 'distributions'?"), "{told}");
    let told = plain("from torch.nn.utils import parametrise");
    assert!(told.contains("Did you mean 'parametrize'?"), "{told}");
    let right = "assert 'signal' in dir(torch) and 'jit' not in dir(torch) and 'pieces_of' not in dir(torch)
assert torch.utils.checkpoint.checkpoint and not hasattr(torch, 'jit') and not hasattr(torch.nn, 'ctc')";
    assert_eq!(plain(right), "");
}
