//! Expressions as text, for help: `x * sigmoid(x)`.

use super::{BinOp, Expr, Term, UnOp};

/// How tightly a piece of text binds; operands that bind less get parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Choice,
    Or,
    And,
    Compare,
    Bits,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Expr {
    /// The formula, with the given names for inputs and attributes.
    pub fn formula(&self, inputs: &[&str], params: &[&str]) -> String {
        Names { inputs, params }.text(self).0
    }
}

struct Names<'a> {
    inputs: &'a [&'a str],
    params: &'a [&'a str],
}

impl Names<'_> {
    fn text(&self, expr: &Expr) -> (String, Level) {
        match &*expr.0 {
            Term::Input(idx) => (name(self.inputs, *idx, "x"), Level::Atom),
            Term::Param(idx) => (name(self.params, *idx, "p"), Level::Atom),
            Term::Const(value) => number(*value),
            Term::Unary(UnOp::Neg, x) => (format!("-{}", self.at(x, Level::Sign)), Level::Sign),
            Term::Unary(UnOp::Not, x) => {
                (format!("not {}", self.at(x, Level::Compare)), Level::And)
            }
            Term::Unary(UnOp::BitNot, x) => (format!("~{}", self.at(x, Level::Sign)), Level::Sign),
            Term::Unary(UnOp::Recip, x) => {
                (format!("1 / {}", self.at(x, Level::Sign)), Level::Product)
            }
            Term::Unary(op, x) => {
                let op = format!("{op:?}").to_lowercase();
                (format!("{op}({})", self.text(x).0), Level::Atom)
            }
            Term::Binary(op, x, y) => self.binary(*op, x, y),
            Term::Select(cond, x, y) => {
                let (cond, x) = (self.at(cond, Level::Or), self.at(x, Level::Or));
                (format!("{x} if {cond} else {}", self.at(y, Level::Choice)), Level::Choice)
            }
        }
    }

    fn binary(&self, op: BinOp, x: &Expr, y: &Expr) -> (String, Level) {
        let Some((sign, level, right)) = infix(op) else {
            let op = format!("{op:?}").to_lowercase();
            let text = format!("{op}({}, {})", self.text(x).0, self.text(y).0);
            return (text, Level::Atom);
        };
        // `x > 0` is kept as `0 < x`.
        let turned = matches!(op, BinOp::Lt | BinOp::Le) && x.is_number() && !y.is_number();
        let (x, y, sign) =
            if turned { (y, x, if op == BinOp::Lt { ">" } else { ">=" }) } else { (x, y, sign) };
        (format!("{} {sign} {}", self.at(x, level), self.at(y, right)), level)
    }

    /// The text, in parentheses when it binds less than `level`.
    fn at(&self, expr: &Expr, level: Level) -> String {
        let (text, own) = self.text(expr);
        if own < level { format!("({text})") } else { text }
    }
}

/// (sign, its level, what its right operand needs).
fn infix(op: BinOp) -> Option<(&'static str, Level, Level)> {
    use Level::{And, Atom, Bits, Compare, Or, Power, Product, Sign, Sum};
    Some(match op {
        BinOp::Add => ("+", Sum, Sum),
        BinOp::Sub => ("-", Sum, Product),
        BinOp::Mul => ("*", Product, Product),
        BinOp::Div => ("/", Product, Sign),
        BinOp::FloorDiv => ("//", Product, Sign),
        BinOp::Rem => ("%", Product, Sign),
        BinOp::Pow => ("**", Power, Atom),
        BinOp::Eq => ("==", Compare, Bits),
        BinOp::Ne => ("!=", Compare, Bits),
        BinOp::Lt => ("<", Compare, Bits),
        BinOp::Le => ("<=", Compare, Bits),
        BinOp::And => ("and", And, Compare),
        BinOp::Or => ("or", Or, And),
        BinOp::BitAnd => ("&", Bits, Sum),
        BinOp::BitOr => ("|", Bits, Sum),
        BinOp::BitXor => ("^", Bits, Sum),
        BinOp::Shl => ("<<", Bits, Sum),
        BinOp::Shr => (">>", Bits, Sum),
        BinOp::Fmod | BinOp::Atan2 | BinOp::Hypot | BinOp::Min | BinOp::Max | BinOp::Xor => {
            return None;
        }
    })
}

fn name(names: &[&str], idx: usize, stem: &str) -> String {
    names.get(idx).map_or_else(|| format!("{stem}{idx}"), ToString::to_string)
}

/// Whole numbers without a point; others with at most six digits.
fn number(value: f64) -> (String, Level) {
    let rounded = format!("{value:.6}").parse::<f64>().unwrap_or(value);
    let text = if rounded == value || value.abs() >= 1e-3 {
        format!("{rounded}")
    } else {
        format!("{value:e}")
    };
    (text, if value < 0.0 { Level::Sign } else { Level::Atom })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expr: Expr, expected: &str) {
        assert_eq!(expr.formula(&["x", "y"], &["alpha"]), expected);
    }

    #[test]
    fn prints_as_people_write() {
        let (x, y) = (|| Expr::input(0), || Expr::input(1));
        check(x() * x().sigmoid(), "x * sigmoid(x)");
        check((x() - y()) * 2.0 - (x() - 1.5), "(x - y) * 2 - (x - 1.5)");
        check(-(x() + y()), "-(x + y)");
        check(Expr::select(x().gt(0.0), x(), x() * Expr::param(0)), "x if x > 0 else x * alpha");
        check((-x()).pow(2.0), "(-x) ** 2");
    }
}
