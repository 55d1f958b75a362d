//! The rows of universal functions, sorted.

use super::ufunc::Row;

/// How a function chooses the dtype that it computes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One operand, as floats.
    ToFloat,
    /// One operand, in its own dtype; truths stay what they are.
    Same,
    /// One operand; whole numbers stay what they are.
    Rounds,
    /// One operand, a truth about each element.
    Tests,
    /// One operand, whether it is zero.
    Not,
    /// One operand, all bits turned.
    Invert,
    /// One operand, its negative.
    Negative,
    /// Two operands, in the dtype they have in common.
    Adds,
    Subtracts,
    Multiplies,
    /// One of the two operands.
    Picks,
    /// Two operands, as floats.
    Divides,
    /// Quotients and rests.
    Whole,
    Powers,
    /// Whole numbers and truths only.
    Bits,
    Compares,
    Logical,
    MatMul,
}

impl Kind {
    /// Whether it stands for functions of one operand.
    pub fn is_unary(self) -> bool {
        use Kind::*;
        matches!(self, ToFloat | Same | Rounds | Tests | Not | Invert | Negative)
    }
}

const fn row(name: &'static str, op: &'static str, kind: Kind, doc: &'static str) -> Row {
    Row::new(name, op, kind, doc)
}

/// All of them.
pub static ALL: [Row; 70] = [
    row("abs", "abs", Kind::Same, "Without its sign."),
    row("absolute", "abs", Kind::Same, "Without its sign."),
    row("add", "add", Kind::Adds, "The sum."),
    row("arccos", "acos", Kind::ToFloat, "The angle with this cosine."),
    row("arccosh", "acosh", Kind::ToFloat, "The inverse of cosh."),
    row("arcsin", "asin", Kind::ToFloat, "The angle with this sine."),
    row("arcsinh", "asinh", Kind::ToFloat, "The inverse of sinh."),
    row("arctan", "atan", Kind::ToFloat, "The angle with this tangent."),
    row("arctan2", "atan2", Kind::Divides, "The angle of the point (b, a)."),
    row("arctanh", "atanh", Kind::ToFloat, "The inverse of tanh."),
    row("bitwise_and", "bitwise_and", Kind::Bits, "Bits that both have."),
    row("bitwise_not", "bitwise_not", Kind::Invert, "All bits turned."),
    row("bitwise_or", "bitwise_or", Kind::Bits, "Bits that one of them has."),
    row("bitwise_xor", "bitwise_xor", Kind::Bits, "Bits that just one of them has."),
    row("ceil", "ceil", Kind::Rounds, "Rounded up."),
    row("cos", "cos", Kind::ToFloat, "The cosine."),
    row("cosh", "cosh", Kind::ToFloat, "The hyperbolic cosine."),
    row("divide", "div", Kind::Divides, "The quotient."),
    row("equal", "eq", Kind::Compares, "Whether both are equal."),
    row("exp", "exp", Kind::ToFloat, "e to this power."),
    row("exp2", "exp2", Kind::ToFloat, "2 to this power."),
    row("expm1", "expm1", Kind::ToFloat, "e to this power, minus 1."),
    row("fabs", "abs", Kind::ToFloat, "Without its sign, as a float."),
    row("float_power", "pow", Kind::Divides, "A power, in floats."),
    row("floor", "floor", Kind::Rounds, "Rounded down."),
    row("floor_divide", "floor_divide", Kind::Whole, "The quotient, rounded down."),
    row("fmod", "fmod", Kind::Whole, "The rest, with the sign of the first."),
    row("greater", "gt", Kind::Compares, "Whether the first is more."),
    row("greater_equal", "ge", Kind::Compares, "Whether the first is not less."),
    row("hypot", "hypot", Kind::Divides, "The length of the hypotenuse."),
    row("invert", "bitwise_not", Kind::Invert, "All bits turned."),
    row("isfinite", "isfinite", Kind::Tests, "Whether it is neither infinite nor NaN."),
    row("isinf", "isinf", Kind::Tests, "Whether it is infinite."),
    row("isnan", "isnan", Kind::Tests, "Whether it is NaN."),
    row("left_shift", "bitwise_left_shift", Kind::Bits, "Bits moved to the left."),
    row("less", "lt", Kind::Compares, "Whether the first is less."),
    row("less_equal", "le", Kind::Compares, "Whether the first is not more."),
    row("log", "log", Kind::ToFloat, "The natural logarithm."),
    row("log10", "log10", Kind::ToFloat, "The logarithm to base 10."),
    row("log1p", "log1p", Kind::ToFloat, "The natural logarithm of 1 + x."),
    row("log2", "log2", Kind::ToFloat, "The logarithm to base 2."),
    row("logaddexp", "logaddexp", Kind::Divides, "log(exp(a) + exp(b))."),
    row("logical_and", "logical_and", Kind::Logical, "Whether both hold."),
    row("logical_not", "logical_not", Kind::Not, "Whether it is zero."),
    row("logical_or", "logical_or", Kind::Logical, "Whether one of them holds."),
    row("logical_xor", "logical_xor", Kind::Logical, "Whether just one of them holds."),
    row("matmul", "matmul", Kind::MatMul, "The matrix product."),
    row("maximum", "maximum", Kind::Picks, "The larger; NaN if one is."),
    row("minimum", "minimum", Kind::Picks, "The smaller; NaN if one is."),
    row("mod", "remainder", Kind::Whole, "The rest, with the sign of the second."),
    row("multiply", "mul", Kind::Multiplies, "The product."),
    row("negative", "neg", Kind::Negative, "Its negative."),
    row("not_equal", "ne", Kind::Compares, "Whether both differ."),
    row("positive", "clone", Kind::Same, "Itself."),
    row("pow", "pow", Kind::Powers, "A power."),
    row("power", "pow", Kind::Powers, "A power."),
    row("reciprocal", "reciprocal", Kind::ToFloat, "1 divided by it."),
    row("remainder", "remainder", Kind::Whole, "The rest, with the sign of the second."),
    row("right_shift", "bitwise_right_shift", Kind::Bits, "Bits moved to the right."),
    row("rint", "round", Kind::ToFloat, "Rounded, halves to even."),
    row("sign", "sign", Kind::Same, "-1, 0 or 1."),
    row("sin", "sin", Kind::ToFloat, "The sine."),
    row("sinh", "sinh", Kind::ToFloat, "The hyperbolic sine."),
    row("sqrt", "sqrt", Kind::ToFloat, "The square root."),
    row("square", "square", Kind::Same, "Times itself."),
    row("subtract", "sub", Kind::Subtracts, "The difference."),
    row("tan", "tan", Kind::ToFloat, "The tangent."),
    row("tanh", "tanh", Kind::ToFloat, "The hyperbolic tangent."),
    row("true_divide", "div", Kind::Divides, "The quotient."),
    row("trunc", "trunc", Kind::Rounds, "Rounded towards zero."),
];

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn rows_are_sorted_and_their_ops_exist() {
        assert!(ALL.is_sorted_by_key(|it| it.name));
        for row in &ALL {
            let op = engine::ops::find(row.op);
            assert!(op.is_some_and(|op| op.n_tensors() == row.n_operands()), "{}", row.name);
        }
    }
}
