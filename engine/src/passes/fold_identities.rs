//! `fold-identities`: removes arithmetic that cannot change its input.
//!
//! `x * 0` stays: it is NaN when `x` is infinite. `x + 0` stays: it turns -0.0 into 0.0. The sign of a NaN is not kept.

use crate::rewrite::{Pass, Rule};

pub static PASS: Pass = Pass {
    name: "fold-identities",
    doc: "Removes arithmetic that cannot change its input.",
    level: 2,
    rules: &[
        Rule::new("mul-one", "(mul ?x 1)", "?x"),
        Rule::new("one-mul", "(mul 1 ?x)", "?x"),
        Rule::new("div-one", "(div ?x 1)", "?x"),
        Rule::new("sub-zero", "(sub ?x 0)", "?x"),
        Rule::new("add-negative-zero", "(add ?x -0)", "?x"),
        Rule::new("neg-neg", "(neg (neg ?x))", "?x"),
        Rule::new("abs-abs", "(abs (abs ?x))", "(abs ?x)"),
        Rule::new("abs-neg", "(abs (neg ?x))", "(abs ?x)"),
        Rule::new("relu-relu", "(relu (relu ?x))", "(relu ?x)"),
        Rule::new("neg-mul-neg", "(mul (neg ?x) (neg ?y))", "(mul ?x ?y)"),
        Rule::new("add-neg", "(add ?x (neg ?y))", "(sub ?x ?y)"),
        Rule::new("sub-neg", "(sub ?x (neg ?y))", "(add ?x ?y)"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::RuleBody;
    use crate::rewrite::pattern::Pattern;
    use crate::rewrite::tests::check;

    #[test]
    fn folds() {
        check(&PASS, "(neg (neg (tanh %0)))", "(tanh %0)");
        check(&PASS, "(mul 1 (div (sub (add %0 -0.0) 0) 1))", "%0");
        check(&PASS, "(add %0 (neg %2))", "(sub %0 %2)");
        check(&PASS, "(sub %0 (neg %2))", "(add %0 %2)");
        check(&PASS, "(mul (neg %0) (neg %2))", "(mul %0 %2)");
        check(&PASS, "(abs (neg (abs %0)))", "(abs %0)");
        check(&PASS, "(relu (relu %0))", "(relu %0)");
    }

    #[test]
    fn keeps_what_ieee_keeps() {
        for text in ["(mul %0 0)", "(add %0 0)", "(sub %0 -0.0)", "(sub %0 %0)", "(div %0 %0)"] {
            check(&PASS, text, text);
        }
    }

    #[test]
    fn keeps_what_changes_the_kind() {
        check(&PASS, "(mul %3 %0)", "(mul %3 %0)");
        check(&PASS, "(mul (gt %0 0) 1)", "(mul (gt %0 0) 1)");
    }

    #[test]
    fn all_patterns_parse() {
        for rule in PASS.rules {
            let RuleBody::Text { from, to } = rule.body else { continue };
            Pattern::parse(from).unwrap();
            Pattern::parse(to).unwrap();
        }
    }
}
