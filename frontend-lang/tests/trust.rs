//! What the check before running trusts: cells that are quick run up to their mistake, and nothing is refused that might run.

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// Runs cells: what was printed, and the whole text of the last error.
fn run(cells: &[&str], level: Level) -> (String, String) {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let options = Options { check: level, ..Options::default() };
    let mut error = String::new();
    for cell in cells {
        error = session.run_cell(cell, &options).error.map(|it| it.plain).unwrap_or_default();
    }
    (record.stdout.borrow().clone(), error)
}

fn under_check(cells: &[&str]) -> (String, String) {
    run(cells, Level::On)
}

/// Runs to its end where the check refuses whatever it holds for wrong.
#[track_caller]
fn runs(cells: &[&str], expected: &str) {
    let (printed, error) = run(cells, Level::Early);
    assert_eq!(error, "", "{cells:?}");
    assert_eq!(printed.trim_end(), expected);
}

#[test]
fn what_is_quick_runs_up_to_its_mistake() {
    let (printed, error) = under_check(&["import math\nprint('start')\nmissing", "print(math.pi)"]);
    assert_eq!((printed.as_str(), error.as_str()), ("start\n3.141592653589793\n", ""));
    let (printed, error) = under_check(&["print('start')\nmissing"]);
    assert_eq!(printed, "start\n");
    assert!(error.ends_with("NameError: name 'missing' is not defined"), "{error}");
}

#[test]
fn what_is_long_does_not_run_into_its_mistake() {
    let train = "for i in range(100_000_000):\n    x = i * i\nprint('done')\nmissing";
    let product = "import torch\nx = torch.zeros(20_000, 20_000)\nx = x @ x\nmissing";
    let pause = "import time\ntime.sleep(3000)\nmissing";
    for (cell, words) in [(train, "s until then"), (product, "s until then"), (pause, "50 minutes")]
    {
        let (printed, error) = under_check(&[cell]);
        assert_eq!(printed, "", "{cell}");
        assert!(error.contains("for it would have run about ") && error.contains(words), "{error}");
        assert!(error.contains("`%check off` runs cells unchecked"), "{error}");
    }
}

#[test]
fn a_name_that_a_failed_cell_would_have_bound_says_so() {
    let failed = "import nobody_has_this\nimport math as m";
    let (_, error) = under_check(&[failed, "m.pi"]);
    assert!(error.contains("name 'm' is not defined"), "{error}");
    let words =
        "In[1], line 2 would have bound it, but that cell ended before, with ModuleNotFoundError";
    assert!(error.contains(words), "{error}");
    let refused = "for i in range(10**9):\n    pass\nscale = 3\nmissing";
    let (_, error) = under_check(&[refused, "print(scale)"]);
    let words = "In[1], line 3 would have bound it, but that cell did not run: the check found";
    assert!(error.contains(words), "{error}");
    let (_, error) = under_check(&["def f(:\n    pass\nscale = 3", "print(scale)"]);
    assert!(error.contains("its text is no program"), "{error}");
    let (_, error) = under_check(&[failed, "m = 3", "del m", "m"]);
    assert!(!error.contains("would have bound"), "{error}");
}

#[test]
fn a_written_element_hides_no_mistake() {
    for write in ["x[0] = 3", "x[:1] = x[1:]", "x[0] += 1", "x.view(-1)[1] = 2"] {
        let cell = format!("x = torch.tensor([1.0, 2.0])\n{write}\nmissing");
        let (_, error) = run(&["import torch", &cell], Level::Early);
        assert!(error.contains("Found before the cell ran"), "{write}: {error}");
    }
}

#[test]
fn is_silent_about_what_an_unknown_may_have_done() {
    let grads = "import torch, random\nw = torch.ones(3, requires_grad=True)\n";
    let drawn = "g = torch.Generator().manual_seed(1)\n(w * torch.rand(3, generator=g)).sum().backward()\nprint(w.grad.shape)";
    runs(&[grads, drawn], "torch.Size([3])");
    runs(&[grads, "w[w > 0].sum().backward()\nprint(w.grad.shape)"], "torch.Size([3])");
    runs(
        &[
            grads,
            "w.requires_grad_(random.random() < 2)\n(w * 2).sum().backward()\nprint(w.grad[0])",
        ],
        "tensor(2.)",
    );
    let chosen = "import random\nbins = [[], []]\nrandom.choice(bins).append(1)\nprint([it for it in bins if it][0])";
    runs(&[chosen], "[1]");
    runs(&["import torch\na = []\nb = a\nb += torch.ones(1).tolist()\nprint(a[0])"], "1.0");
    let keys = "import random\nseen = []\nmax([1, 2], key=lambda x: (seen.append(x), random.random())[1])\nprint(seen[1])";
    runs(&[keys], "2");
    runs(&["log = []\nit = map(log.append, [1])", "next(it)\nprint(log[0])"], "1");
    let caught = "import random\ntry:\n    int(random.choice(['x', 'y']))\nexcept ValueError:\n    found = 1\nprint(found)";
    runs(&[caught], "1");
    let suppressed = "import contextlib, os\ndone = []\nwith contextlib.suppress(OSError):\n    os.remove('nowhere')\n    done.append(1)\nif done: missing\nprint(done)";
    runs(&[suppressed], "[]");
    let duck = "import random\nclass A: pass\no = random.choice([A(), A()])\nif not hasattr(o, 'size'): found = 1\nprint(found)";
    runs(&[duck], "1");
    let chain = "y = ((w * 2).sum() + 1).exp()";
    let look =
        "print(y.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0].name())";
    runs(&[grads, chain, look], "MulBackward0");
}

#[test]
fn is_silent_about_what_rounds_left_out_may_have_done() {
    runs(&["print([i for i in range(5000) if i == 3000][0])"], "3000");
    runs(
        &["xs = [None] * 5000\nfor i in range(5000):\n    xs[i] = i\nprint(xs[3000] + 1)"],
        "3001",
    );
    let late = "kept = []\ndef late(i):\n    kept.append(i)\nfor i in range(9000):\n    if i == 5000:\n        late(i)\nprint(kept[0])";
    runs(&[late], "5000");
    let flips = "class Flip:\n    on = True\n    def step(self):\n        self.on = not self.on\nf = Flip()\nfor i in range(5001):\n    f.step()\nif f.on:\n    missing\nprint('off')";
    runs(&[flips], "off");
}

#[test]
fn a_leaf_that_is_a_view_stays_a_leaf() {
    let leaf = "import torch\nw = torch.ones(3).detach().requires_grad_()";
    let step = "w.data -= 1\n(w * 2).sum().backward()\nprint(w.grad, w)";
    let expected = "tensor([2., 2., 2.]) tensor([0., 0., 0.], requires_grad=True)";
    runs(&[leaf, step], expected);
    runs(&["import torch", &format!("{leaf}\n{step}")], expected);
}
