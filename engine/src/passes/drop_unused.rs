//! `drop-unused`: removes applications whose results nobody needs.
//!
//! The driver keeps only what outputs and effects need whenever it rebuilds a graph, so the pass has no rules of its own.

use crate::rewrite::Pass;

pub static PASS: Pass = Pass {
    name: "drop-unused",
    doc: "Removes applications whose results nobody needs; random draws stay.",
    level: 1,
    rules: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::parse::parse;
    use crate::rewrite::run::{Log, run};

    #[test]
    fn drops_what_nobody_needs() {
        let text =
            "graph(%0: f32[2]) { %1 = t_neg(%0) : f32[2] %2 = t_draw(%0) : f32[2] return %0 }";
        let graph = parse(text, &[]).unwrap();
        let mut log = Log::default();
        let res = run(&PASS, &graph, &mut log).unwrap();
        assert_eq!(
            res.to_string(),
            "graph(%0: f32[2]) {\n  %1 = t_draw(%0) : f32[2]\n  return %0\n}\n"
        );
        assert_eq!(
            (log.entries[0].before.as_str(), log.entries[0].after.as_str()),
            ("2 ops", "1 ops")
        );
    }
}
