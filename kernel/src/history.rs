//! The cells of this session and how they are asked for.
//! <https://jupyter-client.readthedocs.io/en/stable/messaging.html#history>

use std::collections::{HashSet, VecDeque};

use serde_json::{Value, json};

use crate::wire::shell::HistoryRequest;

/// This run of the kernel; clients may also call it 0, the current one.
const SESSION: i64 = 1;

/// Cells that are kept.
const CAPACITY: usize = 10_000;

#[derive(Debug)]
struct Entry {
    line: i64,
    input: String,
    output: Option<String>,
}

/// Inputs and outputs, oldest first.
#[derive(Debug, Default)]
pub struct History {
    entries: VecDeque<Entry>,
}

impl History {
    /// Notes a cell that is about to run.
    pub fn push(&mut self, line: u32, input: &str) {
        if self.entries.len() == CAPACITY {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { line: line.into(), input: input.to_owned(), output: None });
    }

    /// Notes what the newest cell gave.
    pub fn set_output(&mut self, output: &str) {
        if let Some(entry) = self.entries.back_mut() {
            entry.output = Some(output.to_owned());
        }
    }

    /// The rows that a request asks for, as `[session, line, input]` or `[session, line, [input, output]]`.
    pub fn answer(&self, request: &HistoryRequest) -> Value {
        let found = match request.hist_access_type.as_str() {
            "range" => self.range(request),
            "search" => self.search(request),
            _ => last(self.entries.iter().collect(), request.n),
        };
        let rows: Vec<Value> = found.into_iter().map(|it| row(it, request.output)).collect();
        json!({"status": "ok", "history": rows})
    }

    fn range(&self, request: &HistoryRequest) -> Vec<&Entry> {
        if !matches!(request.session, None | Some(0 | SESSION)) {
            return Vec::new();
        }
        let (start, stop) = (request.start.unwrap_or(0), request.stop.unwrap_or(i64::MAX));
        self.entries.iter().filter(|it| (start..stop).contains(&it.line)).collect()
    }

    fn search(&self, request: &HistoryRequest) -> Vec<&Entry> {
        let pattern: Vec<char> = request.pattern.as_deref().unwrap_or("*").chars().collect();
        let mut found: Vec<&Entry> =
            self.entries.iter().filter(|it| glob(&pattern, &it.input)).collect();
        if request.unique == Some(true) {
            let mut seen = HashSet::new();
            // The newest of each stays.
            found.reverse();
            found.retain(|it| seen.insert(it.input.as_str()));
            found.reverse();
        }
        last(found, request.n)
    }
}

fn last(mut found: Vec<&Entry>, n: Option<i64>) -> Vec<&Entry> {
    let n = n.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(0));
    found.split_off(found.len().saturating_sub(n))
}

fn row(entry: &Entry, output: bool) -> Value {
    if output {
        json!([SESSION, entry.line, [entry.input, entry.output]])
    } else {
        json!([SESSION, entry.line, entry.input])
    }
}

/// Whether the whole text fits a pattern of `*`, `?` and `[a-z]` sets, in time O(pattern * text).
fn glob(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on if what follows the latest `*` does not fit.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            retry = Some((p + 1, t));
            p += 1;
        } else if let Some(width) = fits_one(&pattern[p..], text[t]) {
            p += width;
            t += 1;
        } else if let Some((after_star, from)) = retry {
            (p, t) = (after_star, from + 1);
            retry = Some((after_star, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|it| *it == '*')
}

/// If the pattern's first element takes this character: how long that element is.
fn fits_one(pattern: &[char], x: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match pattern.iter().skip(2).position(|it| *it == ']') {
            Some(at) => {
                let set = &pattern[1..at + 2];
                in_set(set, x).then_some(at + 3)
            }
            None => (x == '[').then_some(1),
        },
        it => (*it == x).then_some(1),
    }
}

fn in_set(set: &[char], x: char) -> bool {
    let (negated, set) = match set {
        ['^' | '!', rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, set),
    };
    let mut at = 0;
    let mut found = false;
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == '-' {
            found |= (set[at]..=set[at + 2]).contains(&x);
            at += 3;
        } else {
            found |= set[at] == x;
            at += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let mut history = History::default();
        for (line, input) in (1..).zip(["a = 1", "6*7", "b = 2", "6*7"]) {
            history.push(line, input);
        }
        history.set_output("42");
        history
    }

    fn check(request: &str, expected: &str) {
        let request: HistoryRequest = serde_json::from_str(request).unwrap();
        assert_eq!(history().answer(&request)["history"].to_string(), expected);
    }

    #[test]
    fn tail() {
        check(r#"{"hist_access_type":"tail","n":2}"#, r#"[[1,3,"b = 2"],[1,4,"6*7"]]"#);
        check(
            r#"{"hist_access_type":"tail","n":2,"output":true}"#,
            r#"[[1,3,["b = 2",null]],[1,4,["6*7","42"]]]"#,
        );
        check(r#"{"hist_access_type":"tail","n":-1}"#, "[]");
    }

    #[test]
    fn range_leaves_the_end_out() {
        check(r#"{"hist_access_type":"range","session":1,"start":2,"stop":3}"#, r#"[[1,2,"6*7"]]"#);
        check(r#"{"hist_access_type":"range","session":0,"start":4}"#, r#"[[1,4,"6*7"]]"#);
        check(r#"{"hist_access_type":"range","session":7,"start":1,"stop":9}"#, "[]");
    }

    #[test]
    fn search_by_pattern() {
        check(r#"{"hist_access_type":"search","pattern":"?[*]7"}"#, r#"[[1,2,"6*7"],[1,4,"6*7"]]"#);
        check(r#"{"hist_access_type":"search","pattern":"6*7","unique":true}"#, r#"[[1,4,"6*7"]]"#);
        check(r#"{"hist_access_type":"search","pattern":"[a-b] =*","n":1}"#, r#"[[1,3,"b = 2"]]"#);
        check(r#"{"hist_access_type":"search","pattern":"*7*"}"#, r#"[[1,2,"6*7"],[1,4,"6*7"]]"#);
        check(r#"{"hist_access_type":"search","pattern":"x"}"#, "[]");
    }
}
