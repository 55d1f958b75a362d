//! Texts from CPython 3.11's `format`, as `value | spec | text` or `value | spec | ! error`.

use super::*;

const CASES: &str = include_str!("format_cases.txt");

fn formatted(value: &str, spec: &str) -> Result<String, Raised> {
    if let Some(text) = value.strip_prefix('\'') {
        format_str(text.trim_end_matches('\''), spec)
    } else if let Ok(int) = value.parse::<i64>() {
        format_int(int, spec, "int")
    } else {
        format_float(value.parse().unwrap(), spec)
    }
}

#[test]
fn formats_like_cpython() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let [value, spec, expected] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let got = match formatted(value, spec) {
            Ok(text) => format!("[{text}]"),
            Err(raised) => format!("! {}", raised.message()),
        };
        if got != expected {
            wrong.push(format!("{value} | {spec} | {expected} | got {got}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1000);
}
