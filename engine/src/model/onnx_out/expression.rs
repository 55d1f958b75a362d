//! Elementwise ops as ONNX nodes: the operator of the row's name where there is one that means the same, else the expression of the row,
//! term by term.

use rustc_hash::FxHashMap;

use crate::attr::Attr;
use crate::dtype::Number;
use crate::expr::{BinOp, Expr, Term, UnOp};
use crate::op::{Body, DTypeRule, InferCx, Onnx, ParamKind};
use crate::{DType, Result, Tensor, rules};

use crate::op::{NO_COMPLEX, NodeCx, Wire, attr};

/// Writes one application of an elementwise op.
pub(super) fn elementwise(cx: &mut NodeCx<'_>, operands: &[Tensor]) -> Result<()> {
    let infer = InferCx { op: cx.op, inputs: operands, attrs: cx.attrs };
    let (compute, _) = rules::elementwise_dtypes(&infer)?;
    if compute.is_complex() {
        return cx.refuse(NO_COMPLEX);
    }
    match named(cx, compute) {
        Some((op_type, attrs)) => {
            let inputs: Vec<Wire> =
                (0..cx.n_inputs()).map(|at| cx.operand_as(at, compute)).collect::<Result<_>>()?;
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            let res = cx.node(op_type, &inputs, attrs);
            let is_truth = cx.output(0).dtype == DType::Bool;
            cx.give_as(&res, if is_truth { DType::Bool } else { compute });
            Ok(())
        }
        None => by_expression(cx, compute),
    }
}

/// The operator with its attributes, if it means the same for these attributes and this dtype.
fn named(
    cx: &NodeCx<'_>,
    compute: DType,
) -> Option<(&'static str, Vec<crate::onnx::proto::AttributeProto>)> {
    let Onnx::Named { op_type, since, attrs: names } = cx.op.onnx else { return None };
    let is_number_op = match cx.op.body {
        Body::Binary(_) => true,
        _ => matches!(op_type, "Abs" | "Neg" | "Relu" | "Identity"),
    };
    let takes = match compute {
        DType::Bool => matches!(cx.op.dtypes, DTypeRule::LogicToBool),
        DType::I32 | DType::I64 => is_number_op,
        // ONNX keeps attributes, and what Selu multiplies by, as float32.
        DType::F64 => names.is_empty() && op_type != "Selu",
        DType::F32 | DType::F16 => true,
        DType::U8 | DType::I8 | DType::I16 | DType::U16 => false,
        DType::BF16 | DType::C64 | DType::C128 => false,
    };
    if cx.sink.opset < since || !takes {
        return None;
    }
    let mut attrs = Vec::new();
    let given = cx.op.attr_params().zip(cx.attrs).zip(cx.op.default_attrs()).enumerate();
    for (at, ((param, value), default)) in given {
        let theirs = names.iter().find(|it| it.0 == param.name).map(|it| it.1);
        match (theirs, value) {
            (None, value) if *value == default => {}
            (Some(name), Attr::Str(it)) => attrs.push(attr::text(name, it)),
            (Some(name), Attr::Float(_) | Attr::Int(_) | Attr::Bool(_)) => {
                let value = cx.float(at);
                attrs.push(match param.kind {
                    ParamKind::Float | ParamKind::OptFloat => attr::float(name, value),
                    _ => attr::int(name, value as i64),
                });
            }
            _ => return None,
        }
    }
    Some((op_type, attrs))
}

fn by_expression(cx: &mut NodeCx<'_>, compute: DType) -> Result<()> {
    let input = Expr::input;
    let expr = match cx.op.body {
        Body::Unary(of) => of(input(0)),
        Body::Binary(of) => of(input(0), input(1)),
        Body::Ternary(of) => of(input(0), input(1), input(2)),
        Body::Scalar(of) => {
            let inputs: Vec<Expr> = (0..cx.n_inputs()).map(input).collect();
            of(&inputs, cx.attrs)
        }
        _ => return cx.refuse("it has no operator there"),
    };
    // Truths are counted as whole numbers, narrow ones are converted, and halves are rounded once.
    let work = compute.arithmetic().dtype().at_least_i32();
    let mut terms = Terms { cx, work, compute, done: FxHashMap::default() };
    let wanted = terms.cx.output(0).dtype;
    if wanted.is_bool() {
        let wire = terms.truth(&expr)?;
        return cx.give(wire);
    }
    // A narrow dtype wraps where the operation does.
    let wire = terms.number(&expr)?;
    let wire = cx.cast(&wire, work, wanted);
    cx.give(wire)
}

/// The terms of an expression that have been written.
struct Terms<'a, 'b> {
    cx: &'a mut NodeCx<'b>,
    /// The dtype in which numbers are computed.
    work: DType,
    /// The dtype that the row computes in.
    compute: DType,
    done: FxHashMap<*const Term, (Wire, DType)>,
}

impl Terms<'_, '_> {
    fn term(&mut self, expr: &Expr) -> Result<(Wire, DType)> {
        let key: *const Term = &raw const *expr.0;
        if let Some(done) = self.done.get(&key) {
            return Ok(done.clone());
        }
        let res = self.write(expr)?;
        self.done.insert(key, res.clone());
        Ok(res)
    }

    fn number(&mut self, expr: &Expr) -> Result<Wire> {
        let (wire, dtype) = self.term(expr)?;
        Ok(self.cx.cast(&wire, dtype, self.work))
    }

    fn truth(&mut self, expr: &Expr) -> Result<Wire> {
        if let Term::Input(at) = *expr.0 {
            return self.cx.operand_as(at, DType::Bool);
        }
        let (wire, dtype) = self.term(expr)?;
        Ok(self.cx.cast(&wire, dtype, DType::Bool))
    }

    fn constant(&mut self, value: f64) -> Result<Wire> {
        self.cx.sink.number(Number::Float(value), self.work)
    }

    fn node(&mut self, op_type: &str, inputs: &[&str]) -> Wire {
        let attrs = match op_type {
            "Mod" if self.work.is_float() => vec![attr::int("fmod", 1)],
            _ => Vec::new(),
        };
        self.cx.node(op_type, inputs, attrs)
    }

    fn write(&mut self, expr: &Expr) -> Result<(Wire, DType)> {
        let work = self.work;
        Ok(match &*expr.0 {
            Term::Input(at) => (self.cx.operand_as(*at, work)?, work),
            Term::Param(at) => (self.constant(self.cx.float(*at))?, work),
            Term::Const(value) => (self.constant(*value)?, work),
            Term::Unary(op, x) => self.unary(*op, x)?,
            Term::Binary(op, x, y) => self.binary(*op, x, y)?,
            Term::Select(cond, yes, no) => {
                let (cond, yes, no) = (self.truth(cond)?, self.number(yes)?, self.number(no)?);
                (self.node("Where", &[&cond, &yes, &no]), work)
            }
        })
    }

    fn unary(&mut self, op: UnOp, x: &Expr) -> Result<(Wire, DType)> {
        if op == UnOp::Not || (op == UnOp::BitNot && self.compute == DType::Bool) {
            let x = self.truth(x)?;
            return Ok((self.node("Not", &[&x]), DType::Bool));
        }
        let x = self.number(x)?;
        let wire = match op {
            UnOp::Neg => self.node("Neg", &[&x]),
            UnOp::Abs => self.node("Abs", &[&x]),
            UnOp::Sign => self.sign(&x)?,
            UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc if self.work.is_int() => x,
            UnOp::Floor => self.node("Floor", &[&x]),
            UnOp::Ceil => self.node("Ceil", &[&x]),
            UnOp::Round => self.node("Round", &[&x]),
            UnOp::Trunc => self.trunc(&x)?,
            UnOp::Exp => self.node("Exp", &[&x]),
            UnOp::Exp2 => {
                let two = self.constant(2.0)?;
                self.node("Pow", &[&two, &x])
            }
            UnOp::Expm1 => self.expm1(&x)?,
            UnOp::Log => self.node("Log", &[&x]),
            UnOp::Log2 => self.log_over(&x, std::f64::consts::LN_2)?,
            UnOp::Log10 => self.log_over(&x, std::f64::consts::LN_10)?,
            UnOp::Log1p => self.log1p(&x)?,
            UnOp::Sqrt => self.node("Sqrt", &[&x]),
            UnOp::Rsqrt => {
                let root = self.node("Sqrt", &[&x]);
                self.node("Reciprocal", &[&root])
            }
            UnOp::Recip => self.node("Reciprocal", &[&x]),
            UnOp::Sin => self.node("Sin", &[&x]),
            UnOp::Cos => self.node("Cos", &[&x]),
            UnOp::Tan => self.node("Tan", &[&x]),
            UnOp::Asin => self.node("Asin", &[&x]),
            UnOp::Acos => self.node("Acos", &[&x]),
            UnOp::Atan => self.node("Atan", &[&x]),
            UnOp::Sinh => self.node("Sinh", &[&x]),
            UnOp::Cosh => self.node("Cosh", &[&x]),
            UnOp::Tanh => self.node("Tanh", &[&x]),
            UnOp::Asinh => self.node("Asinh", &[&x]),
            UnOp::Acosh => self.node("Acosh", &[&x]),
            UnOp::Atanh => self.node("Atanh", &[&x]),
            UnOp::Sigmoid => self.node("Sigmoid", &[&x]),
            UnOp::Erf => self.node("Erf", &[&x]),
            UnOp::Erfc => {
                let (one, erf) = (self.constant(1.0)?, self.node("Erf", &[&x]));
                self.node("Sub", &[&one, &erf])
            }
            UnOp::Erfinv => return self.cx.refuse("it has no operator for the inverse of erf"),
            UnOp::Lgamma | UnOp::Digamma | UnOp::Trigamma => {
                return self.cx.refuse("it has no operator for the gamma function");
            }
            UnOp::I0 | UnOp::I0e | UnOp::I1 | UnOp::I1e => {
                return self.cx.refuse("it has no operator for Bessel functions");
            }
            UnOp::BitNot => {
                self.cx.needs_opset(18)?;
                self.node("BitwiseNot", &[&x])
            }
            UnOp::Not => x,
        };
        Ok((wire, self.work))
    }

    fn binary(&mut self, op: BinOp, x: &Expr, y: &Expr) -> Result<(Wire, DType)> {
        let logic = match op {
            BinOp::And => Some("And"),
            BinOp::Or => Some("Or"),
            BinOp::Xor => Some("Xor"),
            _ => None,
        };
        if let Some(op_type) = logic {
            let (x, y) = (self.truth(x)?, self.truth(y)?);
            return Ok((self.node(op_type, &[&x, &y]), DType::Bool));
        }
        let (x, y) = (self.number(x)?, self.number(y)?);
        let (x, y) = (x.as_str(), y.as_str());
        let comparison = match op {
            BinOp::Eq | BinOp::Ne => Some("Equal"),
            BinOp::Lt => Some("Less"),
            BinOp::Le => Some("LessOrEqual"),
            _ => None,
        };
        if let Some(op_type) = comparison {
            let wire = self.node(op_type, &[x, y]);
            let wire = if op == BinOp::Ne { self.node("Not", &[&wire]) } else { wire };
            return Ok((wire, DType::Bool));
        }
        let wire = match op {
            BinOp::Add => self.node("Add", &[x, y]),
            BinOp::Sub => self.node("Sub", &[x, y]),
            BinOp::Mul => self.node("Mul", &[x, y]),
            BinOp::Div => self.node("Div", &[x, y]),
            BinOp::FloorDiv => self.floor_div(x, y)?,
            BinOp::Rem => self.rem(x, y)?,
            BinOp::Fmod => self.cx.node("Mod", &[x, y], vec![attr::int("fmod", 1)]),
            BinOp::Pow => self.node("Pow", &[x, y]),
            BinOp::Min => self.node("Min", &[x, y]),
            BinOp::Max => self.node("Max", &[x, y]),
            BinOp::Atan2 => self.atan2(x, y)?,
            BinOp::Hypot => self.hypot(x, y)?,
            BinOp::BitAnd => self.bits("BitwiseAnd", x, y)?,
            BinOp::BitOr => self.bits("BitwiseOr", x, y)?,
            BinOp::BitXor => self.bits("BitwiseXor", x, y)?,
            BinOp::Shl => {
                let two = self.constant(2.0)?;
                let power = self.node("Pow", &[&two, y]);
                self.node("Mul", &[x, &power])
            }
            BinOp::Shr => {
                let two = self.constant(2.0)?;
                let power = self.node("Pow", &[&two, y]);
                self.floor_div(x, &power)?
            }
            _ => return self.cx.refuse("it has no operator there"),
        };
        Ok((wire, self.work))
    }

    fn bits(&mut self, op_type: &str, x: &str, y: &str) -> Result<Wire> {
        self.cx.needs_opset(18)?;
        Ok(self.node(op_type, &[x, y]))
    }

    fn log_over(&mut self, x: &str, base: f64) -> Result<Wire> {
        let (log, base) = (self.node("Log", &[x]), self.constant(base)?);
        Ok(self.node("Div", &[&log, &base]))
    }

    /// 0 of NaN: the positive less the negative.
    fn sign(&mut self, x: &str) -> Result<Wire> {
        let zero = self.constant(0.0)?;
        let (above, below) = (self.node("Less", &[&zero, x]), self.node("Less", &[x, &zero]));
        let [above, below] = [above, below].map(|it| self.cx.cast(&it, DType::Bool, self.work));
        Ok(self.node("Sub", &[&above, &below]))
    }

    fn trunc(&mut self, x: &str) -> Result<Wire> {
        let zero = self.constant(0.0)?;
        let below = self.node("Less", &[x, &zero]);
        let (up, down) = (self.node("Ceil", &[x]), self.node("Floor", &[x]));
        Ok(self.node("Where", &[&below, &up, &down]))
    }

    /// `2 t / (1 - t)` with `t = tanh(x / 2)` near 0, where `exp(x) - 1` cancels.
    fn expm1(&mut self, x: &str) -> Result<Wire> {
        let [one, half, two] = [1.0, 0.5, 2.0].map(|it| self.constant(it));
        let (one, half, two) = (one?, half?, two?);
        let halved = self.node("Mul", &[x, &half]);
        let tanh = self.node("Tanh", &[&halved]);
        let (above, below) = (self.node("Mul", &[&two, &tanh]), self.node("Sub", &[&one, &tanh]));
        let near = self.node("Div", &[&above, &below]);
        let exp = self.node("Exp", &[x]);
        let far = self.node("Sub", &[&exp, &one]);
        let (abs, limit) = (self.node("Abs", &[x]), &one);
        let is_near = self.node("Less", &[&abs, limit]);
        Ok(self.node("Where", &[&is_near, &near, &far]))
    }

    /// Kahan's `log(u) x / (u - 1)` with `u = 1 + x` near 0 ("What every computer scientist should know about floating-point arithmetic",
    /// theorem 4).
    fn log1p(&mut self, x: &str) -> Result<Wire> {
        let (one, half) = (self.constant(1.0)?, self.constant(0.5)?);
        let u = self.node("Add", &[&one, x]);
        let log = self.node("Log", &[&u]);
        let step = self.node("Sub", &[&u, &one]);
        let product = self.node("Mul", &[&log, x]);
        let quotient = self.node("Div", &[&product, &step]);
        let is_lost = self.node("Equal", &[&u, &one]);
        let near = self.node("Where", &[&is_lost, x, &quotient]);
        let abs = self.node("Abs", &[x]);
        let is_near = self.node("Less", &[&abs, &half]);
        Ok(self.node("Where", &[&is_near, &near, &log]))
    }

    /// The sign of the divisor, as in Python.
    fn rem(&mut self, x: &str, y: &str) -> Result<Wire> {
        let rest = self.node("Mod", &[x, y]);
        if self.work.is_int() {
            return Ok(rest);
        }
        let other = self.other_sign(&rest, y)?;
        let moved = self.node("Add", &[&rest, y]);
        Ok(self.node("Where", &[&other, &moved, &rest]))
    }

    /// Where `rest` is not 0 and has another sign than `y`.
    fn other_sign(&mut self, rest: &str, y: &str) -> Result<Wire> {
        let zero = self.constant(0.0)?;
        let below = [rest, y].map(|it| self.node("Less", &[it, &zero]));
        let differ = self.node("Xor", &[&below[0], &below[1]]);
        let none = self.node("Equal", &[rest, &zero]);
        let some = self.node("Not", &[&none]);
        Ok(self.node("And", &[&differ, &some]))
    }

    /// As Python's `//`: the quotient that truncates, or that of what is left without the rest, less one where the signs of rest and
    /// divisor differ. Floats are divided by 0 as floats are.
    fn floor_div(&mut self, x: &str, y: &str) -> Result<Wire> {
        let one = self.constant(1.0)?;
        if self.work.is_int() {
            let quotient = self.node("Div", &[x, y]);
            let whole = self.node("Mul", &[&quotient, y]);
            let rest = self.node("Sub", &[x, &whole]);
            let other = self.other_sign(&rest, y)?;
            let below = self.node("Sub", &[&quotient, &one]);
            return Ok(self.node("Where", &[&other, &below, &quotient]));
        }
        let rest = self.node("Mod", &[x, y]);
        let whole = self.node("Sub", &[x, &rest]);
        let quotient = self.node("Div", &[&whole, y]);
        let quotient = self.node("Round", &[&quotient]);
        let other = self.other_sign(&rest, y)?;
        let below = self.node("Sub", &[&quotient, &one]);
        let quotient = self.node("Where", &[&other, &below, &quotient]);
        let (zero, by_zero) = (self.constant(0.0)?, self.node("Div", &[x, y]));
        let is_zero = self.node("Equal", &[y, &zero]);
        Ok(self.node("Where", &[&is_zero, &by_zero, &quotient]))
    }

    /// The larger times `sqrt(1 + (smaller / larger)^2)`, infinite where either is.
    fn hypot(&mut self, x: &str, y: &str) -> Result<Wire> {
        let (x, y) = (self.node("Abs", &[x]), self.node("Abs", &[y]));
        let (large, small) = (self.node("Max", &[&x, &y]), self.node("Min", &[&x, &y]));
        let (zero, one) = (self.constant(0.0)?, self.constant(1.0)?);
        let infinity = self.constant(f64::INFINITY)?;
        let is_zero = self.node("Equal", &[&large, &zero]);
        let [first, second] = [&x, &y].map(|it| self.node("Equal", &[it, &infinity]));
        let is_infinite = self.node("Or", &[&first, &second]);
        let divisor = self.node("Where", &[&is_zero, &one, &large]);
        let ratio = self.node("Div", &[&small, &divisor]);
        let square = self.node("Mul", &[&ratio, &ratio]);
        let sum = self.node("Add", &[&one, &square]);
        let root = self.node("Sqrt", &[&sum]);
        let product = self.node("Mul", &[&large, &root]);
        Ok(self.node("Where", &[&is_infinite, &infinity, &product]))
    }

    /// Where a number is negative; -0 is.
    fn is_negative(&mut self, x: &str) -> Result<Wire> {
        let (zero, inverse) = (self.constant(0.0)?, self.node("Reciprocal", &[x]));
        let [number, inverse] = [x, &inverse].map(|it| self.node("Less", &[it, &zero]));
        Ok(self.node("Or", &[&number, &inverse]))
    }

    /// The angle of (x, y) from `atan(|y| / |x|)`, `y` standing first as in PyTorch.
    fn atan2(&mut self, y: &str, x: &str) -> Result<Wire> {
        let (zero, one) = (self.constant(0.0)?, self.constant(1.0)?);
        let pi = self.constant(std::f64::consts::PI)?;
        let (tall, wide) = (self.node("Abs", &[y]), self.node("Abs", &[x]));
        let ratio = self.node("Div", &[&tall, &wide]);
        // Both may be infinite, or 0.
        let equal = self.node("Equal", &[&tall, &wide]);
        let ratio = self.node("Where", &[&equal, &one, &ratio]);
        let angle = self.node("Atan", &[&ratio]);
        let level = self.node("Equal", &[y, &zero]);
        let is_number = self.node("Equal", &[x, x]);
        let level = self.node("And", &[&level, &is_number]);
        let angle = self.node("Where", &[&level, &zero, &angle]);
        let (left, below) = (self.is_negative(x)?, self.is_negative(y)?);
        let mirrored = self.node("Sub", &[&pi, &angle]);
        let angle = self.node("Where", &[&left, &mirrored, &angle]);
        let negated = self.node("Neg", &[&angle]);
        Ok(self.node("Where", &[&below, &negated, &angle]))
    }
}
