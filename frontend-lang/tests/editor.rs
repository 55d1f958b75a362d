//! Completion and help in a session that has run cells, from the cursor's place to what is offered.

use std::rc::Rc;

use frontend_lang::editor::complete::{Completions, complete};
use frontend_lang::editor::describe::Describer;
use frontend_lang::editor::inspect::inspect;
use frontend_lang::editor::{Files, Snapshot};
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const SETUP: &[&str] = &[
    r#"
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

class Net(nn.Module):
    """Two layers."""

    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width)
        self.last = nn.Linear(width, 2)

    def forward(self, inputs, mask=None):
        return self.last(self.first(inputs))

model = Net()
opt = optim.SGD(model.parameters(), lr=0.1)
"#,
    r#"
config = {"lr": 0.1, "layers": [1, 2], "it's": 1, 3: "three", "müll 🙂": {"deep": 1}}
names = ["a", "b"]
é = torch.ones(3, 4)
_hidden = 1

def scale(x, factor: float = 2.0, *, bias=None):
    """Scales.

    A second line.
    """
    return x * factor

big = torch.zeros(100, 100, requires_grad=True)
quilt = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.ModuleList([nn.Linear(3, 1)]))
"#,
];

struct Folder;

impl Files for Folder {
    fn list(&self, folder: &str) -> Vec<(String, bool)> {
        match folder {
            "" => vec![
                ("data".into(), true),
                ("model.ngm".into(), false),
                ("helpers.ng".into(), false),
                ("helpers.py".into(), false),
                ("hellos.py".into(), false),
                ("tools".into(), true),
                (".ipynb_checkpoints".into(), true),
                ("my-data".into(), true),
                ("01-intro.ng".into(), false),
            ],
            "tools" => vec![("__init__.ng".into(), false), ("shapes.ng".into(), false)],
            "data/" => vec![("mnist.csv".into(), false)],
            _ => Vec::new(),
        }
    }
}

fn snapshot() -> Snapshot {
    let mut session = Session::new(Box::new(Recording { record: Rc::new(Record::default()) }));
    for cell in SETUP {
        let result = session.run_cell(cell, &Options::default());
        assert!(result.error.is_none(), "{:?}", result.error.map(|it| it.plain));
    }
    Describer::default().snapshot(&mut session)
}

/// The text without the mark `|`, and where it was.
fn marked(text: &str) -> (String, usize) {
    let at = text.find('|').expect("a cursor");
    (text.replacen('|', "", 1), at)
}

fn asked(known: &Snapshot, text: &str) -> (String, Completions) {
    let (text, at) = marked(text);
    let found = complete(&text, at, known, &Folder);
    (text[found.start..at].to_owned(), found)
}

/// All completions, and the word that they replace.
fn check(known: &Snapshot, text: &str, word: &str, expected: &[&str]) {
    let (replaced, found) = asked(known, text);
    let texts: Vec<&str> = found.matches.iter().map(|it| it.text.as_str()).collect();
    assert_eq!((replaced.as_str(), texts), (word, expected.to_vec()), "{text}");
}

/// Some of the completions.
fn offers(known: &Snapshot, text: &str, expected: &[&str]) {
    let (_, found) = asked(known, text);
    let texts: Vec<&str> = found.matches.iter().map(|it| it.text.as_str()).collect();
    let missing: Vec<_> = expected.iter().filter(|it| !texts.contains(it)).collect();
    assert!(missing.is_empty(), "{text}: {missing:?} not in {texts:?}");
}

fn help(known: &Snapshot, text: &str, detail: u8) -> Option<String> {
    let (text, at) = marked(text);
    inspect(&text, at, detail, known).map(|it| it.plain())
}

/// Help that contains each of these.
fn explains(known: &Snapshot, text: &str, expected: &[&str]) {
    let found = help(known, text, 0).unwrap_or_else(|| panic!("no help on {text}"));
    for it in expected {
        assert!(found.contains(it), "{text}: `{it}` not in\n{found}");
    }
}

#[test]
fn dataclasses_and_properties() {
    let code = "from dataclasses import dataclass, field
@dataclass
class Run:
    rate: float
    steps: int = 5
    tags: list = field(default_factory=list)

    @property
    def size(self):
        \"\"\"How many.\"\"\"
        return 5

    @staticmethod
    def read(path, limit=3):
        return Run(1.0)

run = Run(0.1)
";
    let mut session = Session::new(Box::new(Recording { record: Rc::new(Record::default()) }));
    assert!(session.run_cell(code, &Options::default()).error.is_none());
    let known = Describer::default().snapshot(&mut session);
    offers(&known, "Run(ra|", &["rate="]);
    offers(&known, "Run.read(li|", &["limit="]);
    explains(&known, "Run|", &["Run(rate: float, steps: int = 5, tags: list = ...)"]);
    let source = help(&known, "Run|", 1).unwrap_or_default();
    assert!(source.contains("rate: float"), "{source}");
    assert!(!source.contains("line 154"), "{source}");
    check(&known, "run.size.|", "", &[]);
    explains(&known, "run.size|", &["How many."]);
    let known = snapshot();
    offers(&known, "quilt[0].we|", &["weight"]);
}

#[test]
fn of_long_text_only_the_beginning_is_looked_at() {
    let code = "s = 'é' * 100_000\nparts = ['a' * 100_000]\ndef f(text=s): pass";
    let mut session = Session::new(Box::new(Recording { record: Rc::new(Record::default()) }));
    assert!(session.run_cell(code, &Options::default()).error.is_none());
    // What looks at all of it is stopped by this.
    let flag = session.interrupt_handle();
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let known = Describer::default().snapshot(&mut session);
    flag.store(false, std::sync::atomic::Ordering::Relaxed);
    explains(&known, "s|", &["'éééééééé"]);
    explains(&known, "parts|", &["['aaaaaaaa"]);
    explains(&known, "f|", &["f(text='éééé"]);
}

#[test]
fn arrays() {
    let code = "import numpy as np\na = np.zeros((2, 3))\ns = a.sum()";
    let mut session = Session::new(Box::new(Recording { record: Rc::new(Record::default()) }));
    assert!(session.run_cell(code, &Options::default()).error.is_none());
    let known = Describer::default().snapshot(&mut session);
    check(&known, "a.arg|", "arg", &["argmax", "argmin", "argpartition", "argsort"]);
    offers(&known, "a.|", &["shape", "T", "sum", "mean", "reshape", "astype", "std", "tolist"]);
    offers(
        &known,
        "np.|",
        &["array", "exp", "float32", "linalg", "linspace", "mgrid", "pi", "random"],
    );
    check(&known, "np.kind_|", "kind_", &[]);
    check(&known, "np.tens|", "tens", &["tensordot"]);
    check(
        &known,
        "np.random.stand|",
        "stand",
        &[
            "standard_cauchy",
            "standard_exponential",
            "standard_gamma",
            "standard_normal",
            "standard_t",
        ],
    );
    check(&known, "from numpy import linsp|", "linsp", &["linspace"]);
    explains(&known, "a|", &["ndarray", "[2, 3]", "float64"]);
    explains(&known, "np.exp|", &["exp(x, /, *, out=None", "e to this power"]);
    explains(&known, "np.linspace|", &["linspace(start, stop, num=50", "Help"]);
    let fresh = Snapshot::default();
    offers(&fresh, "import numpy as np\nnp.lin|", &["linalg", "linspace"]);
    check(&fresh, "import numpy as np\nnp.made|", "made", &[]);
}

#[test]
fn names() {
    let known = snapshot();
    check(&known, "x = sca|", "sca", &["scale"]);
    check(&known, "pri|nt", "pri", &["print"]);
    check(&known, "whi|", "whi", &["while"]);
    check(&known, "f'{sca|", "sca", &["scale"]);
    check(&known, "f'{config[\"lr\"]} {sca|}'", "sca", &["scale"]);
    check(&known, "x = 1  # sca|", "", &[]);
    check(&known, "'sca|", "sca", &[]);
    check(&known, "_hid|", "_hid", &["_hidden"]);
    check(&known, "SCA|", "SCA", &["scale"]);
    check(&known, "'🙂é', sca|", "sca", &["scale"]);
    let (_, found) = asked(&known, "|");
    assert!(!found.matches.iter().any(|it| it.text.starts_with('_')));
    offers(&known, "|", &["model", "opt", "config", "print", "for", "é"]);
}

#[test]
fn names_that_the_text_binds() {
    let known = snapshot();
    check(&known, "def triangle(height):\n    return 1\n\ntria|", "tria", &["triangle"]);
    check(&known, "def f(height, weight=2):\n    heig|", "heig", &["height"]);
    check(&known, "def f(height):\n    pass\nheig|", "heig", &[]);
    check(&known, "for number in range(3):\n    num|", "num", &["number"]);
    check(&known, "import math as maths\nmaths.sq|", "sq", &["sqrt"]);
    check(&known, "from math import floor as down\ndow|", "dow", &["down"]);
    check(&known, "layer = nn.Linear(2, 3)\nlayer.in_f|", "in_f", &["in_features"]);
    check(&known, "w = model.first.weight * 2\nw.resha|", "resha", &["reshape", "reshape_as"]);
    check(&known, "s = 'a'\ns.upp|", "upp", &["upper"]);
    check(&known, "d = {'alpha': 1}\nd['a|']", "a", &["alpha"]);
    let class = "class A(nn.Module):\n    def __init__(self, size: int):\n        self.own_thing = 'x'\n\n    def forward(self, x):\n        self.";
    check(&known, &format!("{class}own|"), "own", &["own_thing"]);
    check(&known, &format!("{class}named_par|"), "named_par", &["named_parameters"]);
    check(&known, &format!("{class}own_thing.upp|"), "upp", &["upper"]);
    check(&known, &format!("{class}parameters()\n\nA(si|"), "si", &["size="]);
}

#[test]
fn names_of_the_cell_that_runs() {
    let known = snapshot().with_text("def train(steps):\n    pass\n\nlosses = []\nmodel = None\n");
    check(&known, "los|", "los", &["losses"]);
    check(&known, "losses.app|", "app", &["append"]);
    check(&known, "train(st|", "st", &["steps=", "staticmethod", "str"]);
    check(&known, "model.fir|", "fir", &["first"]);
}

#[test]
fn attributes() {
    let known = snapshot();
    check(&known, "model.fir|", "fir", &["first"]);
    check(
        &known,
        "model.first.weight.requires_gr|",
        "requires_gr",
        &["requires_grad", "requires_grad_"],
    );
    check(&known, "print(é.resha|)", "resha", &["reshape", "reshape_as"]);
    check(&known, "é.T.resha|", "resha", &["reshape", "reshape_as"]);
    check(&known, "é.sum().ite|", "ite", &["item", "itemsize"]);
    check(&known, "F.relu(é).resha|", "resha", &["reshape", "reshape_as"]);
    check(&known, "model(é).resha|", "resha", &["reshape", "reshape_as"]);
    check(&known, "(é + 1).resha|", "resha", &["reshape", "reshape_as"]);
    check(&known, "names[0].uppe|", "uppe", &["upper"]);
    check(&known, "'a b'.spli|", "spli", &["split", "splitlines"]);
    check(&known, "config[\"müll 🙂\"].ke|", "ke", &["keys"]);
    check(&known, "torch.nn.functional.silu|", "silu", &["silu"]);
    check(&known, "nn.Line|", "Line", &["Linear", "LinearCrossEntropyLoss"]);
    check(&known, "Net.forw|", "forw", &["forward"]);
    check(&known, "nosuch.|", "", &[]);
    offers(&known, "opt.|", &["step", "zero_grad", "param_groups"]);
    offers(&known, "é.|", &["shape", "backward", "relu", "add_", "tolist"]);
}

#[test]
fn arguments() {
    let known = snapshot();
    let first = |text: &str| {
        let (_, found) = asked(&known, text);
        found.matches.into_iter().map(|it| (it.text, it.kind, it.signature)).next().unwrap()
    };
    let param = |text: &str, signature: &str| (text.to_owned(), "param", signature.to_owned());
    assert_eq!(first("optim.SGD(model.parameters(), l|"), param("lr=", "lr=1e-3"));
    assert_eq!(first("scale(|"), param("x=", "x"));
    assert_eq!(first("scale(1, |"), param("factor=", "factor: float = 2.0"));
    assert_eq!(first("scale(factor=1, |"), param("x=", "x"));
    assert_eq!(first("scale(1, f|"), param("factor=", "factor: float = 2.0"));
    assert_eq!(first("F.linear(é, wei|"), param("weight=", "weight: Tensor"));
    assert_eq!(first("é.sum(d|"), param("dim=", "dim: int | tuple[int] | None = None"));
    assert_eq!(first("model(ma|"), param("mask=", "mask=None"));
    assert_eq!(first("Net(|)"), param("width=", "width=8"));
    assert_eq!(first("torch.optim.Adam(é, wei|"), param("weight_decay=", "weight_decay=0"));
    check(&known, "scale(1, factor=2, b|", "b", &["bias=", "big", "bin", "bool", "break"]);
    check(&known, "scale(1, fac|=3)", "fac", &["factor"]);
    check(&known, "scale(x=fac|", "fac", &[]);
    check(&known, "def scale(fac|", "", &[]);
}

#[test]
fn keys() {
    let known = snapshot();
    check(&known, "config[\"l|", "l", &["lr\"]", "layers\"]"]);
    check(&known, "config['l|']", "l", &["lr", "layers"]);
    check(&known, "config['it|", "it", &["it\\'s']"]);
    check(&known, "config[\"it|\"]", "it", &["it's"]);
    check(&known, "config[\"mü|", "mü", &["müll 🙂\"]"]);
    check(&known, "config[\"müll 🙂\"][\"d|", "d", &["deep\"]"]);
    check(&known, "f'{config[\"l|", "l", &["lr\"]", "layers\"]"]);
    offers(&known, "config[|]", &["\"lr\"", "3", "model"]);
}

#[test]
fn imports() {
    let known = snapshot();
    check(&known, "import tor|", "tor", &["torch"]);
    check(&known, "import torch.nn.fu|", "fu", &["functional"]);
    check(&known, "from torch.ut|", "ut", &["utils"]);
    check(&known, "from torch import rel|", "rel", &["relu", "relu6", "relu_"]);
    check(
        &known,
        "from torch.nn import (Linear, Embedding|",
        "Embedding",
        &["Embedding", "EmbeddingBag"],
    );
    check(&known, "import help|", "help", &["helpers"]);
    check(&known, "import tool|", "tool", &["tools"]);
    check(&known, "import dat|", "dat", &["dataclasses", "datetime", "data"]);
    for word in ["ipynb", "my"] {
        check(&known, &format!("import {word}|"), word, &[]);
    }
    check(&known, "import _i|", "_i", &["_inspect", "_io"]);
    check(&known, "import io|", "io", &["io"]);
    check(&known, "from tools.|", "", &["shapes"]);
    check(&known, "from math import sq|", "sq", &["sqrt"]);
    check(&known, "from collections import Cou|", "Cou", &["Counter"]);
    check(&known, "import torch as t|", "", &[]);
}

#[test]
fn files() {
    let known = snapshot();
    check(&known, "load(\"mo|\")", "mo", &["model.ngm"]);
    check(&known, "load('data/|", "", &["mnist.csv"]);
    check(&known, "open('da|", "da", &["data/"]);
    check(&known, "'''da|", "da", &[]);
}

#[test]
fn help_on_values() {
    let known = snapshot();
    explains(
        &known,
        "é|",
        &["Type:", "Tensor", "Shape:", "[3, 4]", "float32", "cpu", "In[2], line 4"],
    );
    explains(&known, "big?|", &["[100, 100]", "will be collected", "40.0 kB", "In[2], line 14"]);
    explains(&known, "names|", &["list", "['a', 'b']"]);
    explains(&known, "conf|ig", &["dict", "5 entries", "\"lr\""]);
    explains(&known, "model|", &["Net", "In[1], line 18", "Two layers."]);
    explains(
        &known,
        "model|",
        &["Parameters:\nfirst.weight: f32[8, 4]\nfirst.bias: f32[8]", "58 numbers in all"],
    );
    explains(&known, "model.last|", &["weight: f32[2, 8]\nbias: f32[2]\n18 numbers"]);
    explains(&known, "quilt|", &["\n0.weight: f32[3, 2]\n0.bias: f32[3]\n2.0.weight: f32[1, 3]"]);
    explains(&known, "model.first.weight|", &["[8, 4]", "Parameter"]);
    assert_eq!(help(&known, "nosuch|", 0), None);
    assert_eq!(help(&known, "# print|", 0), None);
}

#[test]
fn help_on_functions() {
    let known = snapshot();
    let signature = "scale(x, factor: float = 2.0, *, bias=None)";
    explains(&known, "scale|", &[signature, "Scales.\n\nA second line.", "In[2], line 7"]);
    explains(&known, "y = scale(|1)", &[signature]);
    explains(&known, "scale(1, [2, |", &[signature]);
    explains(&known, "scale(1)|", &[signature]);
    explains(&known, "print('🙂', sca|le(3))", &[signature]);
    explains(&known, "scale(1, factor|=2)", &["Parameter:", "factor: float = 2.0"]);
    explains(&known, "scale(1, factor=|", &["Parameter:", "factor: float = 2.0"]);
    explains(&known, "Net(|", &["Net(width=8)", "Two layers."]);
    explains(&known, "model(|", &["inputs, mask=None"]);
    explains(&known, "nn.Linear|", &["Linear(in_features, out_features, bias=True"]);
    explains(&known, "from torch.nn import Linear|", &["Linear(in_features"]);
    explains(&known, "import math|", &["Functions of real numbers"]);
    explains(&known, "def twice(n=1):\n    'Twice.'\n\ntwice(|", &["twice(n=1)", "Twice."]);
    assert!(help(&known, "nn.Linear|", 1).unwrap().contains("def forward(self, input):"));
    assert!(help(&known, "scale??|", 0).unwrap().contains("return x * factor"));
    assert!(help(&known, "Net??|", 0).unwrap().contains("class Net(nn.Module):"));
}

/// What is said beside a completion.
fn beside(known: &Snapshot, text: &str, name: &str) -> String {
    let (_, found) = asked(known, text);
    let found = found.matches.iter().find(|it| it.text == name);
    found.map(|it| it.signature.clone()).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn completions_say_shapes_and_parameters() {
    let known = snapshot();
    assert_eq!(beside(&known, "model.first.|", "weight"), "Parameter f32[8, 4]");
    assert_eq!(beside(&known, "|", "big"), "Tensor f32[100, 100]");
    assert_eq!(beside(&known, "F.sil|", "silu"), "silu(input: Tensor)");
    assert_eq!(beside(&known, "big.clamp(|", "min="), "min: float | None = None");
    assert_eq!(beside(&known, "F.linear(big, |", "weight="), "weight: Tensor");
}

#[test]
fn help_on_ops() {
    let known = snapshot();
    explains(&known, "torch.matmul|", &["Shapes:", "[..., N, K] @ [..., K, M] gives [..., N, M]"]);
    explains(&known, "F.conv2d|", &["input [N, C, H, W], weight [O, C / groups, kh, kw]"]);
    explains(&known, "big.mean|", &["keepdim=True"]);
    explains(&known, "F.cross_entropy|", &["input [N, C]"]);
    let silu = ["silu(input: Tensor)", "Formula:", "Gradient:", ">>> silu("];
    explains(&known, "F.silu|", &silu);
    explains(&known, "?F.silu|", &silu);
    explains(&known, "é.clamp(|", &["clamp(", "min"]);
    explains(
        &known,
        "F.linear(é, |",
        &["linear(input: Tensor, weight: Tensor, bias: Tensor | None = None)", "[out, in]"],
    );
}

#[test]
fn an_unfinished_text_is_no_obstacle() {
    let known = snapshot();
    for text in [
        "def f(\n|",
        "class A:\n    def |",
        "x = [1, (2, {|",
        "f'{x!|",
        "@|",
        "lambda |",
        "x[|:",
        "...|",
        "\u{feff}x.|",
        "'\\|",
    ] {
        asked(&known, text);
        help(&known, text, 1);
    }
    for bracket in ["(", "[", "{"] {
        let deep = format!("{}|", bracket.repeat(50_000));
        asked(&known, &deep);
        help(&known, &deep, 0);
    }
}
