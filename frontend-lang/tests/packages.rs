//! Modules beside the notebook: files, and folders of them.

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
    ] {
        assert_eq!(printed_by(cell), expected, "{cell}");
    }
}

#[test]
fn what_holds_no_module_is_not_imported() {
    for (cell, expected) in [
        ("import tables", "ModuleNotFoundError: No module named 'tables'"),
        ("import whole.second", "ModuleNotFoundError: No module named 'whole.second'"),
        ("from whole import second", "ImportError: cannot import name 'second' from 'whole'"),
        ("from broken.part import x", "ZeroDivisionError: division by zero"),
    ] {
        let printed = printed_by(cell);
        assert!(printed.starts_with(expected), "{cell}: {printed}");
    }
}
