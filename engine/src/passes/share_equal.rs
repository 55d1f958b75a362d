//! `share-equal`: computes equal applications once.
//!
//! Graphs merge equal pure applications whenever they are built, so the pass has no rules of its own.

use crate::rewrite::Pass;

pub static PASS: Pass = Pass {
    name: "share-equal",
    doc: "Computes equal applications once; random draws are never equal.",
    level: 1,
    rules: &[],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::tests::check;

    #[test]
    fn shares_pure_applications_only() {
        check(&PASS, "(t_add (t_neg %0) (t_neg %0))", "(t_add (t_neg %0) (t_neg %0))");
        let metas = crate::rewrite::tests::kinds();
        let graph = crate::graph::parse::parse_compact("(t_add (t_neg %0) (t_neg %0))", &metas);
        assert_eq!(graph.unwrap().n_ops(), 2);
    }
}
