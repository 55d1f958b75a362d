//! Names of NumPy 2 (`tests/numpy/names.txt`, written by `tests/expected/generate_numpy_programs.py`): what is here has one of them, and
//! for what is not here the error says what to use.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

struct Here {
    record: Rc<Record>,
    session: Session,
}

impl Here {
    fn new() -> Here {
        let record = Rc::new(Record::default());
        let session = Session::new(Box::new(Recording { record: record.clone() }));
        let mut here = Here { record, session };
        here.run("import numpy\na = numpy.zeros((2, 2))");
        here
    }

    /// What a cell prints, or its error in full.
    fn run(&mut self, code: &str) -> String {
        self.record.stdout.borrow_mut().clear();
        let result = self.session.run_cell(code, &Options::default());
        result
            .error
            .map_or_else(|| self.record.stdout.borrow().clone(), |it| it.traceback.join("\n"))
    }

    fn names(&mut self, of: &str) -> BTreeSet<String> {
        let printed = self.run(&format!("print(*dir({of}), sep='\\n')"));
        printed.lines().filter(|it| !it.starts_with('_')).map(str::to_owned).collect()
    }
}

/// NumPy's names of a module or class.
fn numpys(of: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("numpy/names.txt");
    let text = std::fs::read_to_string(path).expect("NumPy's names");
    let names = text.lines().filter_map(|it| it.rsplit_once('.')).filter(|it| it.0 == of);
    names.map(|it| it.1.to_owned()).collect()
}

/// Where NumPy's names stand: as NumPy calls the place, and as a program reaches it.
const PLACES: [(&str, &str); 4] = [
    ("numpy", "numpy"),
    ("numpy.linalg", "numpy.linalg"),
    ("numpy.random", "numpy.random"),
    ("numpy.ndarray", "a"),
];

#[test]
fn names_are_numpys() {
    let mut here = Here::new();
    for (of, shown) in PLACES {
        let (own, theirs) = (here.names(shown), numpys(of));
        let extra: Vec<&String> = own.difference(&theirs).filter(|it| *it != "device").collect();
        assert!(extra.is_empty(), "{of} of NumPy has no {extra:?}");
        assert!(own.len() > 15, "{of}: {own:?}");
    }
}

#[test]
fn what_is_not_here_says_what_to_use() {
    let mut here = Here::new();
    for (of, shown) in PLACES {
        let own = here.names(shown);
        for name in numpys(of).difference(&own) {
            let told = here.run(&format!("{shown}.{name}"));
            assert!(told.contains(&format!("has no attribute '{name}'")), "{of}.{name}: {told}");
            assert!(told.contains("It is not in this language: "), "{of}.{name}: {told}");
        }
    }
    let told = here.run("from numpy import uint32");
    assert!(told.contains("unsigned numbers are np.uint8 and np.uint16"), "{told}");
    let told = here.run("numpy.linspce(0, 1)");
    assert!(told.contains("Did you mean: 'linspace'?"), "{told}");
}

#[test]
fn a_star_brings_the_same_names() {
    let mut here = Here::new();
    here.run("from numpy import *");
    assert_eq!(
        here.run("print(linspace(0, 1, 3), sum([1, 2]), 'kind_of' in dir())"),
        "[0.  0.5 1. ] 3 False\n"
    );
}
