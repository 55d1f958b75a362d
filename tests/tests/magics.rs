//! Magics that need files or say what others are: `%fastrun` with its cache and with tensors of no elements, and help on every magic.

use std::path::Path;

use tests::spec::{Runner, Runs};

/// What a cell showed, or its error.
fn show(runner: &mut Runner, cell: &str) -> Result<String, String> {
    let ran = runner.run(cell);
    match ran.error {
        Some(error) => Err(error.plain),
        None => Ok(ran.output.trim_end().to_owned()),
    }
}

const IMPORTS: &str = "import torch\nimport torch.nn.functional as F\nfrom torch import ones as o\n\
    def grads(x, w, **options):\n    x.requires_grad_()\n    w.requires_grad_()\n    \
    F.conv2d(x, w, **options).sum().backward()\n    return list(x.grad.shape), float(w.grad.abs().sum())";

/// Expressions with what PyTorch gives.
const EMPTY: &[(&str, &str)] = &[
    ("list(F.conv2d(o(0, 3, 16, 16), o(4, 3, 3, 3)).shape)", "[0, 4, 14, 14]"),
    ("list(F.conv2d(o(0, 3, 16, 16), o(4, 3, 3, 3), o(4), padding=1).shape)", "[0, 4, 16, 16]"),
    ("list(F.conv2d(o(0, 64, 16, 16), o(64, 64, 3, 3)).shape)", "[0, 64, 14, 14]"),
    ("list(F.conv1d(o(0, 3, 16), o(4, 3, 3)).shape)", "[0, 4, 14]"),
    ("list(F.conv_transpose2d(o(0, 3, 16, 16), o(3, 4, 3, 3)).shape)", "[0, 4, 18, 18]"),
    ("list(F.max_pool2d(o(0, 3, 8, 8), 2).shape)", "[0, 3, 4, 4]"),
    ("grads(o(0, 3, 16, 16), o(4, 3, 3, 3))", "([0, 3, 16, 16], 0.0)"),
    ("grads(o(0, 3, 16, 16), o(4, 3, 3, 3), padding=1)", "([0, 3, 16, 16], 0.0)"),
    ("grads(o(0, 4, 16, 16), o(4, 1, 3, 3), groups=4)", "([0, 4, 16, 16], 0.0)"),
    ("list((o(0, 5) @ o(5, 3)).shape)", "[0, 3]"),
    ("list((o(2, 5) @ o(5, 0)).shape)", "[2, 0]"),
    ("(o(2, 0) @ o(0, 3)).tolist()", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    (
        "(o(2, 2, 0) @ o(0, 3)).tolist()",
        "[[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]",
    ),
    ("list((o(0, 2, 5) @ o(0, 5, 3)).shape)", "[0, 2, 3]"),
    ("(o(0) @ o(0)).tolist()", "0.0"),
    ("(o(2, 0) @ o(0)).tolist()", "[0.0, 0.0]"),
    ("list(F.linear(o(0, 5), o(3, 5), o(3)).shape)", "[0, 3]"),
    ("F.linear(o(2, 0), o(3, 0), o(3)).tolist()", "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"),
    ("F.linear(o(2, 0), o(3, 0)).tolist()", "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    ("list(F.linear(o(2, 5), o(0, 5)).shape)", "[2, 0]"),
    ("list(F.linear(o(0), o(3, 0)).shape)", "[3]"),
];

#[test]
fn tensors_of_no_elements_under_every_strategy() {
    let strategies = [
        "off",
        "on",
        "full",
        "reproducible",
        "full --workspace-limit 0",
        "full --shared-batch 2",
        "off --workspace-limit 1000",
    ];
    let mut wrong = Vec::new();
    for strategy in strategies {
        let mut runner = Runner::default();
        show(&mut runner, IMPORTS).unwrap();
        show(&mut runner, &format!("%fastrun {strategy}")).unwrap();
        for (expr, expected) in EMPTY {
            let got = show(&mut runner, &format!("print({expr})"));
            if got.as_deref() != Ok(*expected) {
                wrong.push(format!("{strategy}: {expr}: {got:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_fastrun_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("garbage"), "garbage").unwrap();
    let (garbage, good, absent) = (path("garbage"), path("good"), path("no/such/folder/x"));
    let dir = folder.path().display().to_string();
    let mut runner = Runner::default();
    let status = show(&mut runner, "%fastrun status").unwrap();
    for (options, named) in [
        (format!("on --cache {garbage}"), garbage.as_str()),
        (format!("off --cache {garbage}"), &garbage),
        (format!("--cache {garbage}"), &garbage),
        (format!("never --cache {good}"), "never"),
        (format!("on --cache {absent}"), &absent),
        (format!("on --cache {dir}"), &dir),
        (format!("on --cache {good} --shared-batch 0"), "--shared-batch"),
        (format!("on --cache {good} --shared-batch -1"), "--shared-batch"),
        (format!("on --cache {good} --workspace-limit much"), "--workspace-limit"),
        (format!("status --cache {garbage}"), &garbage),
    ] {
        let error = show(&mut runner, &format!("%fastrun {options}")).unwrap_err();
        assert!(error.contains(named), "{options}: {error}");
        assert_eq!(show(&mut runner, "%fastrun status").unwrap(), status, "{options}");
    }
    assert!(!Path::new(&good).exists());
    show(&mut runner, "%fastrun on").unwrap();
    let cell =
        format!("%fastrun --cache {good}\nimport torch\nx = torch.ones(3, 3) @ torch.ones(3, 3)");
    assert!(show(&mut runner, &cell).unwrap().contains("choices"));
    assert!(Path::new(&good).exists());
    assert!(show(&mut runner, "%fastrun status").unwrap().ends_with(&good));
}

#[test]
fn what_is_measured_while_fastrun_is_on_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.jsonl");
    let mut runner = Runner::default();
    show(&mut runner, &format!("import torch\n%fastrun on --cache {}", path.display())).unwrap();
    assert!(!path.exists());
    show(&mut runner, "x = torch.ones(5, 7) @ torch.ones(7, 3)").unwrap();
    let first = std::fs::read_to_string(&path).unwrap();
    assert!(first.lines().count() > 1, "{first}");
    show(&mut runner, "1 + 1").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
    show(&mut runner, "x = torch.ones(9, 7) @ torch.ones(7, 4)\n%fastrun off").unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().lines().count() > first.lines().count());
}

#[test]
fn usage_is_that_of_the_form_which_was_written() {
    let mut runner = Runner::default();
    let error = show(&mut runner, "%%capture --nosuch\n1").unwrap_err();
    assert!(error.contains("%%capture: ") && error.contains("usage: %%capture ["), "{error}");
    let error = show(&mut runner, "%who --nosuch").unwrap_err();
    assert!(error.contains("%who: ") && !error.contains("%%who"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_cache_is_a_regular_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let cell = format!("%fastrun on --cache {}", path.display());
    let error = show(&mut Runner::default(), &cell).unwrap_err();
    assert!(error.contains("socket") && error.contains("regular file"), "{error}");
}

#[test]
fn help_on_every_magic() {
    let mut runner = Runner::default();
    for magic in magics::all::ALL {
        let name = magic.name;
        let asked = [
            format!("%{name}?"),
            format!("%{name}??"),
            format!("?%{name}"),
            format!("??%{name}"),
            format!("%%{name}?"),
            format!("?%%{name}"),
            format!("x = 1\n%{name}?"),
        ];
        for cell in asked {
            let shown = show(&mut runner, &cell).unwrap_or_else(|it| panic!("{cell}: {it}"));
            let usage = magics::usage(magic);
            assert!(shown.contains(&usage) && shown.contains(magic.summary), "{cell}: {shown}");
        }
    }
    let cell = "%%capture?\nprint('below')";
    let shown = show(&mut runner, cell).unwrap();
    assert!(shown.contains("below") && shown.contains("%capture"), "{shown}");
    assert!(show(&mut runner, "%dmup?").unwrap_err().contains("did you mean %dump?"));
}
