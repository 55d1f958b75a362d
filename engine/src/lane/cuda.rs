//! CUDA C from lane programs: the same steps of arithmetic that the loops of the processor are compiled from.
//!
//! **Invariant:** compiled with `--fmad=false` and without `--use_fast_math`, a kernel gives the bits of the tile machine, as far as the
//! functions of both C libraries agree.

use std::fmt::Write;

use super::Program;
use super::expand::{Expansion, expand};
use crate::cpu::lane::Mem;
use crate::math::Fault;
use crate::math::recorded::{Action, Op, Type};

/// What kernels call that compute whole numbers.
pub(crate) const PRELUDE: &str = include_str!("prelude.cu");

/// The kernel `name` of a program; `None` where an operation has no expansion.
///
/// It takes the number of elements; for each input its elements and the step from one to the next (0 for one number that holds for
/// all); the numbers of [`Program::params`] that are used; for each output room for its elements; and a word in which it sets a bit for
/// what it refuses: 1 for a division by zero, 2 for a negative exponent.
pub(crate) fn kernel(program: &Program, name: &str) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let mut text = String::new();
    signature(&mut text, name, &expansion);
    text.push_str("    const long long all = (long long)gridDim.x * blockDim.x;\n");
    text.push_str("    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {\n");
    for (idx, op) in expansion.ops.iter().enumerate() {
        if matches!(op.action, Action::Known(_)) {
            continue;
        }
        let value = Value { expansion: &expansion, op };
        let _ = writeln!(text, "        const {} v{idx} = {};", type_name(op.ty), value.text());
    }
    for &(fault, step) in &expansion.faults {
        let (sign, bit) = match fault {
            Fault::DivisionByZero => ("==", 1),
            Fault::NegativeExponent => ("<", 2),
        };
        let number = name_of(&expansion, step);
        let _ = writeln!(text, "        if ({number} {sign} 0) atomicOr(faults, {bit}u);");
    }
    for (idx, &(step, dtype)) in expansion.outputs.iter().enumerate() {
        let (element, value) = (element_name(Mem::of(dtype)), name_of(&expansion, step));
        let _ = writeln!(text, "        out{idx}[i] = ({element}){value};");
    }
    text.push_str("    }\n}\n");
    Some(text)
}

fn signature(text: &mut String, name: &str, expansion: &Expansion) {
    let _ = write!(text, "extern \"C\" __global__ void {name}(long long n");
    for (idx, &dtype) in expansion.inputs.iter().enumerate() {
        let _ =
            write!(text, ", const {} *in{idx}, long long step{idx}", element_name(Mem::of(dtype)));
    }
    for (idx, ty) in expansion.params.iter().enumerate() {
        if let Some(ty) = ty {
            let _ = write!(text, ", {} number{idx}", type_name(*ty));
        }
    }
    for (idx, &(_, dtype)) in expansion.outputs.iter().enumerate() {
        let _ = write!(text, ", {} *out{idx}", element_name(Mem::of(dtype)));
    }
    text.push_str(", unsigned int *faults) {\n");
}

pub(super) fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::I32 => "int",
        Type::I64 => "long long",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

/// The type of elements in memory; those of halves are bits.
pub(super) fn element_name(mem: Mem) -> &'static str {
    match mem {
        Mem::U8 => "unsigned char",
        Mem::I8 => "signed char",
        Mem::I16 => "short",
        Mem::U16 | Mem::F16 | Mem::BF16 => "unsigned short",
        Mem::I32 => "int",
        Mem::I64 => "long long",
        Mem::F32 => "float",
        Mem::F64 => "double",
    }
}

/// One step on its way into text.
struct Value<'a> {
    expansion: &'a Expansion,
    op: &'a Op,
}

impl Value<'_> {
    fn text(&self) -> String {
        let Op { action, ty, .. } = *self.op;
        let operands = self.op.operands();
        let name = |idx: usize| operands.get(idx).map(|&it| name_of(self.expansion, it));
        let name = |idx: usize| name(idx).unwrap_or_default();
        let (a, b, c) = (name(0), name(1), name(2));
        match action {
            Action::Given(number) => self.given(number as usize),
            Action::Known(bits) => known(bits, ty),
            Action::Neg => format!("-{a}"),
            Action::Add => self.wrapping(&a, "+", &b),
            Action::Sub => self.wrapping(&a, "-", &b),
            Action::Mul => self.wrapping(&a, "*", &b),
            Action::Div => format!("{a} / {b}"),
            Action::MulAdd => format!("{}({a}, {b}, {c})", of_width("fma", ty)),
            Action::Sqrt => format!("{}({a})", of_width("sqrt", ty)),
            Action::Abs => format!("{}({a})", of_width("fabs", ty)),
            Action::Copysign => format!("{}({a}, {b})", of_width("copysign", ty)),
            Action::Floor => format!("{}({a})", of_width("floor", ty)),
            Action::Ceil => format!("{}({a})", of_width("ceil", ty)),
            Action::Trunc => format!("{}({a})", of_width("trunc", ty)),
            Action::RoundTiesEven => format!("{}({a})", of_width("rint", ty)),
            Action::Library(function) => format!("{}({a})", of_width(function.name(), ty)),
            Action::Library2(function) => format!("{}({a}, {b})", of_width(function.name(), ty)),
            Action::Quotient => format!("ng_quotient({a}, {b})"),
            Action::Remainder => format!("ng_remainder({a}, {b})"),
            Action::Power => format!("ng_power({a}, {b})"),
            Action::And => format!("{a} & {b}"),
            Action::Or => format!("{a} | {b}"),
            Action::Xor => format!("{a} ^ {b}"),
            Action::Not if ty == Type::Bool => format!("!{a}"),
            Action::Not => format!("~{a}"),
            Action::Shl(count) => self.wrapping(&a, "<<", &count.to_string()),
            Action::Shr(count) => format!("{a} >> {count}"),
            Action::ShlBy => self.wrapping(&a, "<<", &b),
            Action::ShrBy => format!("{a} >> {b}"),
            Action::Equals => format!("{a} == {b}"),
            Action::Less => format!("{a} < {b}"),
            Action::AtMost => format!("{a} <= {b}"),
            Action::Select => format!("{a} ? {b} : {c}"),
            Action::Bits => match ty {
                Type::F32 => format!("__int_as_float({a})"),
                Type::F64 => format!("__longlong_as_double({a})"),
                Type::I32 => format!("__float_as_int({a})"),
                Type::Bool | Type::I64 => format!("__double_as_longlong({a})"),
            },
            Action::Convert if ty == Type::I64 && self.operand_is_float() => {
                format!("ng_whole({a})")
            }
            Action::Convert => format!("({}){a}", type_name(ty)),
        }
    }

    fn operand_is_float(&self) -> bool {
        let first = self.op.operands().first().map(|&it| self.expansion.ops[it as usize].ty);
        matches!(first, Some(Type::F32 | Type::F64))
    }

    fn given(&self, number: usize) -> String {
        match number.checked_sub(self.expansion.inputs.len()) {
            Some(param) => format!("number{param}"),
            None => format!("in{number}[i * step{number}]"),
        }
    }

    /// Signed arithmetic that may wrap around has no meaning in C; unsigned has.
    fn wrapping(&self, a: &str, sign: &str, b: &str) -> String {
        let unsigned = match self.op.ty {
            Type::I32 => "unsigned int",
            Type::I64 => "unsigned long long",
            Type::Bool | Type::F32 | Type::F64 => return format!("{a} {sign} {b}"),
        };
        let signed = type_name(self.op.ty);
        format!("({signed})(({unsigned}){a} {sign} ({unsigned}){b})")
    }
}

/// What stands for the result of a step.
fn name_of(expansion: &Expansion, step: u32) -> String {
    let op = &expansion.ops[step as usize];
    match op.action {
        Action::Known(bits) => known(bits, op.ty),
        _ => format!("v{step}"),
    }
}

/// The name of a function for numbers of this width.
fn of_width(name: &str, ty: Type) -> String {
    match ty {
        Type::F32 => format!("{name}f"),
        _ => name.to_owned(),
    }
}

/// A number in the fewest digits that give it back.
fn known(bits: u64, ty: Type) -> String {
    match ty {
        Type::Bool => (bits != 0).to_string(),
        Type::I32 => (bits as u32).cast_signed().to_string(),
        Type::I64 => match bits.cast_signed() {
            i64::MIN => "(-9223372036854775807ll - 1)".into(),
            it => format!("{it}ll"),
        },
        Type::F32 => match f32::from_bits(bits as u32) {
            it if it.is_finite() => format!("{it:?}f"),
            _ => format!("__int_as_float({:#x})", bits as u32),
        },
        Type::F64 => match f64::from_bits(bits) {
            it if it.is_finite() => format!("{it:?}"),
            _ => format!("__longlong_as_double({bits:#x}ll)"),
        },
    }
}
