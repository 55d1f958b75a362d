//! Runs the examples of every op row through the language: each must show the text that stands beside it, which comes from PyTorch.
//!
//! Numbers may differ in their last printed digits and in the sign of zero; all else is the same text.

use engine::OpDef;
use frontend_lang::editor::complete::complete;
use frontend_lang::editor::{NoFiles, Snapshot};
use frontend_lang::ops_binding::function_of;
use tests::spec::{Runner, Runs};

/// What the examples take for granted. Names of dtypes hide functions of the same name.
const NAMES: &str = "
from torch import *
from torch.nn.functional import *
del float, int, bool";

#[test]
fn examples_of_ops_show_what_they_say() {
    let mut runner = Runner::default();
    let ran = runner.run(NAMES);
    assert!(ran.error.is_none(), "{}", ran.error.unwrap_or_default().plain);
    let is_hidden = |op: &&OpDef| op.internal || op.name.starts_with('_');
    for op in engine::ops::all().filter(is_hidden) {
        runner.set(op.name, function_of(op));
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for (call, expected) in engine::ops::all().flat_map(|it| it.examples) {
        count += 1;
        let ran = runner.run(&format!("print(repr({call}))"));
        if let Some(error) = ran.error {
            wrong.push(format!("{call}\n{}", error.plain));
        } else if !agree(expected, &ran.output) {
            wrong.push(format!("{call}\nsays:\n{expected}\nshows:\n{}", ran.output));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count > 500, "{count} examples");
    println!("{count} examples of ops hold");
}

#[test]
fn ops_that_only_others_use_are_not_offered() {
    let of_gradients = |name: &str| name.ends_with("_backward") || name.ends_with("_grad");
    for op in engine::ops::all() {
        assert!(op.internal || !of_gradients(op.name), "{} is not marked as internal", op.name);
    }
    // PyTorch has functions of these names, which are written in the language.
    let functions = ["cond", "while_loop"];
    let internal: Vec<&str> = engine::ops::all()
        .filter(|it| it.internal && !functions.contains(&it.name))
        .map(|it| it.name)
        .collect();
    assert!(internal.contains(&"conv2d_weight_grad"));
    let mut runner = Runner::default();
    for module in ["torch", "torch.nn.functional", "megengine.functional", "oneflow"] {
        let code = format!("import {module}\n{module}.");
        let offered = complete(&code, code.len(), &Snapshot::default(), &NoFiles).matches;
        assert!(offered.iter().any(|it| it.text == "relu"), "{module}");
        let hidden = offered.iter().find(|it| internal.contains(&it.text.as_str()));
        assert!(hidden.is_none(), "{module}: {}", hidden.map_or("", |it| &it.text));
        let code =
            format!("import {module}\nprint([it for it in {internal:?} if it in dir({module})])");
        assert_eq!(runner.run(&code).output, "[]\n", "{module}");
    }
}

#[test]
fn wrong_examples_are_noticed() {
    assert!(agree("tensor([1.0000, -0.])", "tensor([1., 0.0000])\n"));
    assert!(agree("tensor([1e-44, nan])", "tensor([2e-44, nan])"));
    assert!(!agree("tensor([1.0])", "tensor([1.1])"));
    assert!(!agree("tensor([1.0])", "tensor([1.0, 2.0])"));
    assert!(!agree("tensor([nan])", "tensor([1.0])"));
    assert!(!agree("(2, 3)", "torch.Size([2, 3])"));
}

fn agree(expected: &str, shown: &str) -> bool {
    let (expected, shown) = (words(expected), words(shown));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * a.abs().max(1e-4);
    let same = |(a, b): (&String, &String)| {
        a == b || matches!((a.parse(), b.parse()), (Ok(a), Ok(b)) if near(a, b))
    };
    expected.len() == shown.len() && expected.iter().zip(&shown).all(same)
}

/// Numbers and names on one hand, brackets and commas on the other.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for it in text.chars() {
        let of_word = it.is_alphanumeric() || "+-._".contains(it);
        if !of_word {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !it.is_whitespace()) {
            word.push(it);
        }
        if !of_word {
            words.push(String::new());
        }
    }
    words.retain(|it| !it.is_empty());
    words
}
