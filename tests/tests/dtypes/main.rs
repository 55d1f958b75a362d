//! A new dtype is a row, and what else has to be decided about it does not compile until it is: no `match` on dtypes, or on what rows
//! say of them, has an arm that takes any other one. `matches!`, `if let` and `let ... else` on them have no place at all: what
//! they would ask is a question that the row answers, with a name.
//!
//! The lints of clippy for this (`wildcard_enum_match_arm`) are silent on tuples, options and `matches!`, and speak of all enums alike;
//! so the sources are read.

mod patterns;
mod tokens;

use std::path::{Path, PathBuf};

use patterns::{Said, Scope, catch_all};
use tokens::{Token, closing, outside, split, tokens};

/// The enums that grow with the dtypes.
const ENUMS: &[&str] = &["DType", "Arithmetic", "Width", "Format", "Mem", "Lane", "Element"];
/// What kind of numbers a dtype holds: other enums have this name, too.
const KIND: &str = "Kind";
/// Where variants are imported, to be written as a table.
const TABLE: &str = "promotion.rs";

/// The catch-alls of a source, each with its line.
fn catch_alls(text: &str) -> Vec<(usize, String)> {
    let tokens = tokens(text);
    let mut enums = ENUMS.to_vec();
    enums.extend(kind_of_numbers(&tokens));
    let (mut found, mut owners) = (Vec::new(), Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        owners.retain(|(end, _)| *end > at);
        if let Some(owner) = owner_of(&tokens, at) {
            owners.push(owner);
        }
        let mut here = enums.clone();
        if owners.last().is_some_and(|(_, it)| enums.contains(&&**it)) {
            here.push("Self");
        }
        let what = what_is_wrong(&tokens, at, &Scope { enums: &here });
        found.extend(what.map(|it| (token.line, it)));
    }
    found
}

/// What the kinds of dtypes are called here: `use ...dtype::{DType, Kind}`, `use ...dtype::Kind as Numbers`, or where they are made.
fn kind_of_numbers(tokens: &[Token]) -> Option<&str> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|it| it.text == text);
    (0..tokens.len()).find_map(|at| {
        if is(at, "enum") && is(at + 1, KIND) {
            let variants = &tokens[at + 2..closing(tokens, at + 2)];
            return variants.iter().any(|it| it.text == "Complex").then_some(KIND);
        }
        if !is(at, "dtype") || !is(at + 1, "::") {
            return None;
        }
        let end = if is(at + 2, "{") { closing(tokens, at + 2) } else { at + 3 };
        let place = (at + 2..end).find(|it| is(*it, KIND))?;
        Some(if is(place + 1, "as") { &*tokens[place + 2].text } else { KIND })
    })
}

/// The end of an `impl` that begins at a token, and what it is of.
fn owner_of(tokens: &[Token], at: usize) -> Option<(usize, String)> {
    let starts = at == 0 || matches!(&*tokens[at - 1].text, "}" | ";" | "]" | "{" | "unsafe");
    if tokens[at].text != "impl" || !starts {
        return None;
    }
    let open = outside(tokens, at, &["{"]);
    let head = &tokens[at..open];
    let end = head.iter().position(|it| it.text == "where").unwrap_or(head.len());
    let from = head.iter().position(|it| it.text == "for").map_or(1, |it| it + 1);
    let name = head[from..end].iter().find(|it| it.text.starts_with(char::is_uppercase))?;
    Some((closing(tokens, open), name.text.clone()))
}

/// What is wrong with what begins at a token.
fn what_is_wrong(tokens: &[Token], at: usize, scope: &Scope<'_>) -> Option<String> {
    let names = |pattern: &[Token]| scope.leaves(pattern).iter().any(|it| it.1 == Said::Named);
    let next = tokens.get(at + 1)?;
    match &*tokens[at].text {
        "match" => in_match(tokens, at, scope),
        "matches" if next.text == "!" => {
            let inside = &tokens[at + 3..closing(tokens, at + 2)];
            let pattern = split(inside, ",").get(1).copied()?;
            let guard = outside(pattern, 0, &["if"]);
            names(&pattern[..guard]).then(|| "`matches!`".into())
        }
        "let" => {
            let end = outside(tokens, at, &["=", ";", ":"]);
            names(&tokens[at + 1..end]).then(|| "`let`".into())
        }
        "use" => {
            let path = &tokens[at..outside(tokens, at, &[";"])];
            let opens = |it: &[Token]| {
                ENUMS.contains(&&*it[0].text)
                    && it[1].text == "::"
                    && (matches!(&*it[2].text, "{" | "*")
                        || it[2].text.starts_with(char::is_uppercase))
            };
            path.windows(3).any(opens).then(|| "variants are imported".into())
        }
        _ => None,
    }
}

/// The arm of a `match` that takes any dtype, if one does.
fn in_match(tokens: &[Token], at: usize, scope: &Scope<'_>) -> Option<String> {
    let open = outside(tokens, at + 1, &["{"]);
    let arms = arms(&tokens[open + 1..closing(tokens, open)]);
    let leaves: Vec<_> = arms.iter().map(|it| (scope.leaves(it.0), it.1)).collect();
    let all = leaves.iter().flat_map(|it| &it.0);
    let mut named: Vec<String> =
        all.filter(|it| it.1 == Said::Named).map(|it| it.0.clone()).collect();
    if arms.iter().all(|it| it.0[0].text != "\"\"") {
        named.extend(asked(&tokens[at + 1..open]));
    }
    let caught = leaves.iter().filter(|it| !it.1).find_map(|it| catch_all(&it.0, &named));
    caught.map(|it| format!("an arm of a `match` takes any, at `{it}`"))
}

/// The patterns of a body of `match`, and whether a guard stands behind them.
fn arms(body: &[Token]) -> Vec<(&[Token], bool)> {
    let (mut arms, mut at) = (Vec::new(), 0);
    while at < body.len() {
        while at + 1 < body.len() && body[at].text == "#" {
            at = closing(body, at + 1) + 1;
        }
        let arrow = outside(body, at, &["=>"]);
        if arrow == body.len() {
            break;
        }
        let guard = outside(&body[..arrow], at, &["if"]);
        arms.push((&body[at..guard], guard < arrow));
        at = match body.get(arrow + 1).map(|it| &*it.text) {
            Some("{") => closing(body, arrow + 1) + 1,
            _ => outside(body, arrow + 1, &[","]),
        };
        // Behind a block an arm may go on, as in `{ .. }.into()`, or end without a comma.
        if body.get(at).is_some_and(|it| it.text == "." || it.text == "?") {
            at = outside(body, at, &[","]);
        }
        if body.get(at).is_some_and(|it| it.text == ",") {
            at += 1;
        }
    }
    arms
}

/// The places of what is matched that are dtypes by their names, whatever the patterns say.
fn asked(matched: &[Token]) -> Vec<String> {
    let is_dtype = |it: &[Token]| {
        let texts: Vec<&str> = it.iter().map(|it| &*it.text).collect();
        matches!(texts[..], [.., "dtype" | "arithmetic" | "width", "(", ")"] | [.., "dtype"])
    };
    let is_tuple = matched.first().is_some_and(|it| it.text == "(")
        && closing(matched, 0) + 1 == matched.len();
    if !is_tuple {
        return if is_dtype(matched) { vec![String::new()] } else { Vec::new() };
    }
    let parts = split(&matched[1..matched.len() - 1], ",");
    let places = parts.iter().enumerate().filter(|it| is_dtype(it.1));
    places.map(|it| format!("/{}", it.0)).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_new_dtype_falls_into_no_arm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut problems = Vec::new();
    for krate in ["engine", "frontend-lang", "magics", "kernel"] {
        let mut paths = Vec::new();
        sources(&root.join(krate).join("src"), &mut paths);
        sources(&root.join(krate).join("tests"), &mut paths);
        paths.sort();
        for path in paths.iter().filter(|it| !it.ends_with(TABLE)) {
            let text = std::fs::read_to_string(path).unwrap();
            let name = path.strip_prefix(&root).unwrap().display();
            let lines = catch_alls(&text);
            problems.extend(lines.iter().map(|(line, what)| format!("{name}:{line}: {what}")));
        }
    }
    let (n, list) = (problems.len(), problems.join("\n"));
    assert!(problems.is_empty(), "{n} places take a new dtype unasked:\n{list}");
}

#[test]
fn catch_alls_are_found_however_they_are_written() {
    let caught = [
        "fn f() { match dtype { DType::F32 => 1, _ => 2 } }",
        "fn f() { match it { DType::F32 => 1, other => 2 } }",
        "fn f() { match it { DType::F32 | DType::F64 => { 1 } it @ _ => 2 } }",
        "fn f() { match x.dtype() { it if it.is_float() => 1, _ => 2 } }",
        "fn f() { match (a, b) { (DType::I8, DType::I32) => 1, (a, b) => 2 } }",
        "fn f() { match (rule, b) { (Rule::Any, _) => 1, (Rule::One, DType::I32) => 2 } }",
        "fn f() { match it { Some(DType::F32) => 1, Some(_) | None => 2 } }",
        "fn f() { match it { Some(DType::F32) => 1, _ => 2 } }",
        "fn f() { match it { Node::Wrap(DType::Bool, _) => 1, Node::Wrap(other, _) => 2 } }",
        "fn f() { match it { Meta { dtype: DType::Bool, .. } => 1, Meta { dtype, .. } => 2 } }",
        "fn f() { match it { $crate::dtype::Arithmetic::F32 => {} _ => {} } }",
        "impl DType { fn f(self) { match self { Self::F16 => 1, _ => 2 } } }",
        "impl fmt::Display for Mem { fn f(self) { match self { Self::F16 => 1, _ => 2 } } }",
        "use crate::dtype::{DType, Kind}; fn f() { match it { Kind::Int => 1, _ => 2 } }",
        "use engine::dtype::Kind as Numbers; fn f() { match it { Numbers::Int => 1, _ => 2 } }",
        "fn f() { matches!(it, DType::F32 | DType::F64) }",
        "fn f() { if let Some(DType::F32) = it {} }",
        "fn f() { let DType::F32 = it else { return }; }",
        "use Arithmetic::{F32, F64};",
        "fn f() { match a { 'x' => match b { DType::F32 => 1, _ => 2 }, _ => 3 } }",
    ];
    for text in caught {
        assert_eq!(catch_alls(text).len(), 1, "{text}");
    }
}

#[test]
fn what_is_decided_for_each_is_let_be() {
    let decided = [
        "fn f() { match it { DType::F32 if x => 1, _ if y => 2, DType::F32 | DType::F64 => 3 } }",
        "fn f() { match (rule, it) { (_, DType::F32) => 1, (_, DType::F64) => 2 } }",
        "fn f() { match it { Some(DType::F32) => 1, Some(DType::F64) | None => 2 } }",
        "fn f() { match it { Node::Wrap(DType::Bool, x) => 1, Node::Wrap(DType::F32, _) => 2 } }",
        "fn f() { match it.kind { Kind::Int => 1, _ => 2 } }",
        "impl Other { fn f(self) { match self { Self::F16 => 1, _ => 2 } } }",
        "fn f() { match it { Attr::DType(it) => 1, _ => 2 } }",
        "// match it { DType::F32 => 1, _ => 2 }\nconst A: &str = \"match it { DType::F32 => 1, _ => 2 }\";",
        "fn f<'a>(it: &'a str) { let dtype: DType = DType::F32; let c = '{'; }",
        "use crate::dtype::{self, DType};",
        "fn f() { match dtype { \"float32\" => 1, _ => 2 } }",
    ];
    for text in decided {
        assert_eq!(catch_alls(text), [], "{text}");
    }
}
