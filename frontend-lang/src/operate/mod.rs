//! What operators and protocols do to values: arithmetic, comparison, containers, attributes, text.

pub mod attribute;
pub mod binary;
pub mod call;
pub mod compare;
pub mod container;
pub mod equal;
pub mod iterate;
pub mod text;

use crate::sym::Sym;

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    TrueDiv,
    FloorDiv,
    Mod,
    Pow,
    MatMul,
    LShift,
    RShift,
    And,
    Or,
    Xor,
}

/// Operators with one operand; `not` is not among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum UnaryOp {
    Neg,
    Pos,
    Invert,
}

/// Rich comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    /// All of them, in order of their numbers.
    pub const ALL: [BinaryOp; 13] = {
        use BinaryOp::*;
        [Add, Sub, Mul, TrueDiv, FloorDiv, Mod, Pow, MatMul, LShift, RShift, And, Or, Xor]
    };

    /// The sign: `+`.
    pub fn sign(self) -> &'static str {
        ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"][self as usize]
    }

    /// The method: `__add__`.
    pub fn method(self) -> Sym {
        const NAMES: [Sym; 13] = [
            Sym::ADD,
            Sym::SUB,
            Sym::MUL,
            Sym::TRUEDIV,
            Sym::FLOORDIV,
            Sym::MOD,
            Sym::POW,
            Sym::MATMUL,
            Sym::LSHIFT,
            Sym::RSHIFT,
            Sym::AND,
            Sym::OR,
            Sym::XOR,
        ];
        NAMES[self as usize]
    }

    /// The reflected method: `__radd__`.
    pub fn reflected(self) -> Sym {
        const NAMES: [Sym; 13] = [
            Sym::RADD,
            Sym::RSUB,
            Sym::RMUL,
            Sym::RTRUEDIV,
            Sym::RFLOORDIV,
            Sym::RMOD,
            Sym::RPOW,
            Sym::RMATMUL,
            Sym::RLSHIFT,
            Sym::RRSHIFT,
            Sym::RAND,
            Sym::ROR,
            Sym::RXOR,
        ];
        NAMES[self as usize]
    }

    /// The in-place method: `__iadd__`.
    pub fn inplace(self) -> Sym {
        const NAMES: [Sym; 13] = [
            Sym::IADD,
            Sym::ISUB,
            Sym::IMUL,
            Sym::ITRUEDIV,
            Sym::IFLOORDIV,
            Sym::IMOD,
            Sym::IPOW,
            Sym::IMATMUL,
            Sym::ILSHIFT,
            Sym::IRSHIFT,
            Sym::IAND,
            Sym::IOR,
            Sym::IXOR,
        ];
        NAMES[self as usize]
    }
}

impl UnaryOp {
    /// The sign: `-`.
    pub fn sign(self) -> &'static str {
        ["-", "+", "~"][self as usize]
    }

    /// The method: `__neg__`.
    pub fn method(self) -> Sym {
        [Sym::NEG, Sym::POS, Sym::INVERT][self as usize]
    }
}

impl CompareOp {
    /// All of them, in order of their numbers.
    pub const ALL: [CompareOp; 6] = {
        use CompareOp::*;
        [Eq, Ne, Lt, Le, Gt, Ge]
    };

    /// The sign: `<`.
    pub fn sign(self) -> &'static str {
        ["==", "!=", "<", "<=", ">", ">="][self as usize]
    }

    /// The method: `__lt__`.
    pub fn method(self) -> Sym {
        [Sym::EQ, Sym::NE, Sym::LT, Sym::LE, Sym::GT, Sym::GE][self as usize]
    }

    /// The operator that means the same with sides swapped.
    pub fn mirrored(self) -> CompareOp {
        use CompareOp::*;
        [Eq, Ne, Gt, Ge, Lt, Le][self as usize]
    }

    /// Whether an ordering satisfies the operator.
    pub fn accepts(self, order: std::cmp::Ordering) -> bool {
        match self {
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        }
    }
}
