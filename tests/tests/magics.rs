//! Magics that need files or say what others are, those of other kernels: `%fastrun` with its cache and with tensors of no elements, and help on every magic.

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

#[test]
fn what_other_kernels_do_is_left_out_with_a_remark_and_the_cell_goes_on() {
    for row in magics::elsewhere::ALL {
        for name in row.names {
            let mut runner = Runner::default();
            for cell in [
                format!("%{name} x y\nprint('below')"),
                format!("!{name} x y\nprint('below')"),
                format!("if True:\n    %{name} x y\n    print('below')"),
                format!("for i in range(3):\n    !{name} x y\nprint('below')"),
            ] {
                let shown = show(&mut runner, &cell).unwrap_or_else(|it| panic!("{cell}: {it}"));
                assert_eq!(shown.matches("is left out: ").count(), 1, "{cell}: {shown}");
                assert!(shown.contains(row.says) && shown.contains("below"), "{cell}: {shown}");
            }
            let runs = row.on_cell == magics::OnCell::ThenRun;
            let shown = show(&mut runner, &format!("%%{name}\nprint('bel' + 'ow')")).unwrap();
            assert_eq!((shown.contains(row.says), shown.contains("below")), (true, runs), "{name}");
            let error = show(&mut runner, &format!("x = %{name} y")).unwrap_err();
            assert!(error.contains("x would be missing") && error.contains(row.says), "{error}");
        }
    }
}

#[test]
fn what_other_kernels_do_is_an_error_under_strict() {
    let mut runner = Runner::default();
    show(&mut runner, "%config Notegrad.strict = 'on'").unwrap();
    for row in magics::elsewhere::ALL {
        for name in row.names {
            for cell in [
                format!("%{name} x"),
                format!("!{name} x"),
                format!("%%{name}\nx"),
                format!("if True:\n    %{name} x"),
                format!("if True:\n    !{name} x"),
            ] {
                let error = show(&mut runner, &cell).unwrap_err();
                assert!(error.contains("cannot run: ") && error.contains(row.says), "{error}");
            }
        }
    }
    let error = show(&mut runner, "!my_program --all").unwrap_err();
    assert!(error.contains(magics::elsewhere::NO_SHELL), "{error}");
}

#[test]
fn files_imports_and_arrays_follow_the_folder() {
    let mut runner = Runner::default();
    let cells = [
        "import os, numpy as np\nos.mkdir('data')\nnp.save('data/a.npy', np.arange(3))",
        "%%writefile data/made.py\nx = 5",
        "%cd -q data",
        "import made\nprint(made.x, np.load('a.npy'), open('made.py').read().strip(), os.getcwd())",
        "%cd -q ..\nprint(os.path.exists('a.npy'), os.path.exists('data/a.npy'))\nos.chdir('data')\nprint(os.listdir())",
    ];
    let shown =
        cells.map(|it| show(&mut runner, it).unwrap_or_else(|error| panic!("{it}: {error}")));
    assert_eq!(shown[3], "5 [0 1 2] x = 5 /here/data");
    assert_eq!(shown[4], "False True\n['a.npy', 'made.py']");
    assert!(show(&mut runner, "%cd made.py").unwrap_err().contains("made.py"));
}

#[test]
fn code_runs_magics_and_offers_cells() {
    let mut runner = Runner::default();
    let cell = "shell = get_ipython()\nshell.run_line_magic('env', 'SHELL_A=3')\nimport os\nprint(os.environ['SHELL_A'])\n\
                shell.run_cell_magic('time', '', 'made = 4')\nprint(made, shell.__class__.__name__)\nshell.magic('%who')";
    let shown = show(&mut runner, cell).unwrap();
    let lines: Vec<&str> = shown.lines().filter(|it| !it.starts_with("Wall time")).collect();
    let expected = ["env: SHELL_A=3", "3", "4 ZMQInteractiveShell", "shell  os  made"];
    assert_eq!(lines, expected);
    let error = show(&mut runner, "get_ipython().run_line_magic('dmup', '')").unwrap_err();
    assert!(error.contains("did you mean %dump?"), "{error}");
    let cell = "get_ipython().run_line_magic('config', \"Notegrad.check = 'strict'\" + '')\n%check";
    assert!(show(&mut runner, cell).unwrap().contains("check: strict"));
    let cell = "try:\n    get_ipython().run_line_magic('run', 'missing.ng')\nexcept RuntimeError:\n    print('no file')";
    assert_eq!(show(&mut runner, cell).unwrap(), "no file");
    show(&mut runner, "get_ipython().set_next_input('x = 1')").unwrap();
    runner.give_file("made.py", b"y = 2\n".to_vec());
    show(&mut runner, "%load made.py").unwrap();
    let offered = [("x = 1".to_owned(), false), ("# %load made.py\ny = 2\n".to_owned(), true)];
    assert_eq!(runner.next_inputs(), offered);
    assert!(show(&mut runner, "%load nowhere.py").unwrap_err().contains("nowhere.py"));
}

#[test]
fn settings_and_cells_outlive_the_code_that_runs_between() {
    let mut runner = Runner::default();
    show(&mut runner, "%check strict").unwrap();
    show(&mut runner, "1 + 1").unwrap();
    assert!(show(&mut runner, "%check").unwrap().contains("strict"));
    assert!(show(&mut runner, "%history -n").unwrap().contains("2: 1 + 1"));
}

#[test]
fn help_says_what_a_thing_is() {
    let mut runner = Runner::default();
    for (cell, part) in [
        ("help(print)", "Signature: print("),
        ("import torch\nhelp(torch.nn.Linear)", "in_features"),
        ("help('torch.relu')", "relu"),
        ("help()", "help(thing)"),
        ("def f(x):\n    'Doubles.'\n    return 2 * x\nhelp(f)", "Doubles."),
        ("help(3)", "int"),
    ] {
        let shown = show(&mut runner, cell).unwrap_or_else(|it| panic!("{cell}: {it}"));
        assert!(shown.contains(part), "{cell}: {shown}");
    }
    assert!(show(&mut runner, "help('no_such_thing')").unwrap_err().contains("nothing is known"));
}

#[test]
fn large_values_are_not_kept_in_out() {
    let mut runner = Runner::default();
    for cell in
        ["import torch", "torch.ones(3)", "torch.zeros(1000, 1000)", "[torch.zeros(1000, 1000)]"]
    {
        show(&mut runner, cell).unwrap();
    }
    assert_eq!(
        show(&mut runner, "print(list(Out), _2.sum().item(), len(_), len(__))").unwrap(),
        "[2] 3.0 1 1000"
    );
}
