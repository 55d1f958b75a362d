//! CUDA C from lane programs: the same steps of arithmetic that the loops of the processor are compiled from.
//!
//! **Invariant:** compiled with `--fmad=false` and without `--use_fast_math`, a kernel gives the bits of the tile machine, as far as the
//! functions of both C libraries agree.

mod behind;
mod many;

use std::fmt::Write;

use smallvec::SmallVec;

pub(crate) use behind::finish;
pub(crate) use many::{PIECE, many};

use super::Program;
use super::expand::expand;
use crate::cpu::lane::{Expansion, Mem};
use crate::math::Fault;
use crate::math::recorded::{Action, Op, Type};

/// What kernels call that compute whole numbers.
pub(crate) const PRELUDE: &str = include_str!("prelude.cu");

/// How a kernel reads an input of `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// Element `i` of memory for element `i` of the results.
    Flat,
    /// The first element of memory for all.
    One,
    /// A number that is passed.
    Held,
    /// Along dimensions.
    Strided,
    /// Along dimensions, where the elements of a pack are neighbours.
    Rows,
    /// Along dimensions, where the elements of a pack are one.
    Spread,
}

impl Access {
    /// Whether positions are counted along dimensions.
    fn steps(self) -> bool {
        matches!(self, Self::Strided | Self::Rows | Self::Spread)
    }

    /// Whether the elements of a pack are loaded together.
    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Self::Flat | Self::Rows)
    }
}

/// What a kernel is written for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    /// How each input is read.
    pub(crate) accesses: SmallVec<[Access; 4]>,
    /// Dimensions of strided inputs.
    pub(crate) rank: usize,
    /// Whether positions take more than 32 bits.
    pub(crate) is_wide: bool,
    /// Elements that a pack may have: a power of two.
    pub(crate) most: usize,
}

impl Form {
    /// For inputs that all lie as the results do.
    pub(crate) fn flat(program: &Program) -> Self {
        let accesses = program.inputs().iter().map(|_| Access::Flat).collect();
        Self::plain(accesses)
    }

    /// For inputs that are not counted along dimensions.
    pub(crate) fn plain(accesses: SmallVec<[Access; 4]>) -> Self {
        Self { accesses, rank: 0, is_wide: false, most: 16 }
    }

    /// Elements that a thread takes at once, so that each access has 16 bytes at most; 1 where an input is strided.
    pub(crate) fn pack(&self, program: &Program) -> usize {
        if self.accesses.contains(&Access::Strided) {
            return 1;
        }
        let packed = program.inputs().iter().zip(&self.accesses).filter(|it| it.1.is_packed());
        let all = packed.map(|it| it.0).chain(program.outputs());
        self.most.min(16 / all.map(|it| it.size()).max().unwrap_or(16))
    }
}

/// The kernel `name` of a program; `None` where an operation has no expansion.
///
/// It takes the number of elements, and of packs among them; for each input its elements, or a number where that is held, and where it is
/// strided its dimensions; the numbers of [`Program::params`] that are used; for each output room for its elements; and where it notes
/// what it refuses: bit 1 for a division by zero.
pub(crate) fn kernel(program: &Program, name: &str, form: &Form) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let writer = Writer { expansion: &expansion, form, pack: form.pack(program), name };
    let mut text = writer.one();
    text.push_str(&writer.all());
    Some(text)
}

/// A kernel on its way into text.
struct Writer<'a> {
    expansion: &'a Expansion,
    form: &'a Form,
    pack: usize,
    name: &'a str,
}

impl Writer<'_> {
    fn inputs(&self) -> impl Iterator<Item = (usize, &'static str, Access)> {
        let inputs = self.expansion.inputs.iter().zip(&self.form.accesses).enumerate();
        inputs.map(|(idx, (&mem, &access))| (idx, element_name(mem), access))
    }

    fn outputs(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let outputs = self.expansion.outputs.iter().enumerate();
        outputs.map(|(idx, &(_, mem))| (idx, element_name(mem)))
    }

    fn numbers(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let numbers = self.expansion.params.iter().enumerate();
        numbers.filter_map(|(idx, ty)| Some((idx, type_name((*ty)?))))
    }

    /// The function that computes one element of each output.
    fn one(&self) -> String {
        let (mut text, expansion) = (String::new(), self.expansion);
        let _ = write!(text, "__device__ inline void {}_one(ng_fault *fault", self.name);
        self.inputs().for_each(|(idx, ty, _)| {
            let _ = write!(text, ", const {ty} in{idx}");
        });
        self.numbers().for_each(|(idx, ty)| {
            let _ = write!(text, ", const {ty} number{idx}");
        });
        self.outputs().for_each(|(idx, ty)| {
            let _ = write!(text, ", {ty} &out{idx}");
        });
        text.push_str(") {\n");
        for (idx, op) in expansion.ops.iter().enumerate() {
            if !matches!(op.action, Action::Known(_)) {
                let value = Value { expansion, op };
                let _ = writeln!(text, "    const {} v{idx} = {};", type_name(op.ty), value.text());
            }
        }
        for &(fault, step) in &expansion.faults {
            let (sign, bit) = match fault {
                Fault::DivisionByZero => ("==", 1),
            };
            let number = name_of(expansion, step);
            let _ =
                writeln!(text, "    if ({number} {sign} 0) ng_refuse(fault, {bit}u, {number});");
        }
        for (idx, &(step, mem)) in expansion.outputs.iter().enumerate() {
            let (element, value) = (element_name(mem), name_of(expansion, step));
            let _ = writeln!(text, "    out{idx} = ({element}){value};");
        }
        text.push_str("}\n");
        text
    }

    /// The kernel, which goes over packs, then over what is left.
    fn all(&self) -> String {
        let mut text = String::new();
        let _ = write!(
            text,
            "extern \"C\" __global__ void {}(const ng_i64 n, const ng_i64 n_packs",
            self.name
        );
        self.inputs().for_each(|(idx, ty, access)| {
            let _ = match access {
                Access::Held => write!(text, ", const {ty} in{idx}"),
                Access::Flat | Access::One => write!(text, ", const {ty} *in{idx}"),
                _ => write!(text, ", const {ty} *in{idx}, const ng_dims dims{idx}"),
            };
        });
        self.numbers().for_each(|(idx, ty)| {
            let _ = write!(text, ", const {ty} number{idx}");
        });
        self.outputs().for_each(|(idx, ty)| {
            let _ = write!(text, ", {ty} *out{idx}");
        });
        text.push_str(", ng_fault *fault) {\n");
        if self.pack > 1 {
            self.packs(&mut text, "NG_EACH(i, n_packs)");
        }
        let _ = writeln!(text, "    NG_EACH(rest, n - n_packs * {}) {{", self.pack);
        let _ = writeln!(text, "        const ng_i64 i = n_packs * {} + rest;", self.pack);
        self.element(&mut text);
        text.push_str("    }\n}\n");
        text
    }

    /// Pointers to inputs and outputs as fields of a structure.
    fn pointers(
        text: &mut String,
        inputs: impl Iterator<Item = (usize, &'static str, Access)>,
        outputs: impl Iterator<Item = (usize, &'static str)>,
    ) {
        for (idx, ty, _) in inputs {
            let _ = writeln!(text, "    const {ty} *in{idx};");
        }
        for (idx, ty) in outputs {
            let _ = writeln!(text, "    {ty} *out{idx};");
        }
    }

    /// What is done for element `i`.
    fn element(&self, text: &mut String) {
        self.offsets(text, "i");
        let read = |(idx, _, access): (usize, &str, Access)| match access {
            Access::Flat => format!("in{idx}[i]"),
            Access::One => format!("in{idx}[0]"),
            Access::Held => format!("in{idx}"),
            _ => format!("in{idx}[at{idx}]"),
        };
        let _ = writeln!(text, "        {};", self.call(read, |idx| format!("out{idx}[i]")));
    }

    /// What is done for each pack `i`, over which `each` goes.
    fn packs(&self, text: &mut String, each: &str) {
        let pack = self.pack;
        let _ = writeln!(text, "    {each} {{");
        self.offsets(text, &format!("i * {pack}"));
        for (idx, ty, access) in self.inputs() {
            let from = match access {
                Access::Flat => format!("((const ng_pack<{ty}, {pack}> *)in{idx})[i]"),
                Access::Rows => format!("*(const ng_pack<{ty}, {pack}> *)(in{idx} + at{idx})"),
                Access::Spread => {
                    let _ = writeln!(text, "        const {ty} held{idx} = in{idx}[at{idx}];");
                    continue;
                }
                Access::One | Access::Held | Access::Strided => continue,
            };
            let _ = writeln!(text, "        const ng_pack<{ty}, {pack}> pack{idx} = {from};");
        }
        for (idx, ty) in self.outputs() {
            let _ = writeln!(text, "        ng_pack<{ty}, {pack}> made{idx};");
        }
        let _ = writeln!(text, "#pragma unroll\n        for (int k = 0; k < {pack}; k++)");
        let read = |(idx, _, access): (usize, &str, Access)| match access {
            Access::Flat | Access::Rows => format!("pack{idx}.all[k]"),
            Access::Spread => format!("held{idx}"),
            Access::One | Access::Strided => format!("in{idx}[0]"),
            Access::Held => format!("in{idx}"),
        };
        let call = self.call(read, |idx| format!("made{idx}.all[k]"));
        let _ = writeln!(text, "            {call};");
        for (idx, ty) in self.outputs() {
            let _ = writeln!(text, "        ((ng_pack<{ty}, {pack}> *)out{idx})[i] = made{idx};");
        }
        text.push_str("    }\n");
    }

    fn call(
        &self,
        read: impl Fn((usize, &'static str, Access)) -> String,
        made: impl Fn(usize) -> String,
    ) -> String {
        let numbers = self.numbers().map(|it| format!("number{}", it.0));
        let made = self.outputs().map(|it| made(it.0));
        let all: Vec<String> = std::iter::once("fault".into())
            .chain(self.inputs().map(read))
            .chain(numbers)
            .chain(made)
            .collect();
        format!("{}_one({})", self.name, all.join(", "))
    }

    /// Where an element lies in each input that is counted along dimensions: `at0`, `at1`, ...
    fn offsets(&self, text: &mut String, element: &str) {
        let strided: Vec<usize> = self.inputs().filter(|it| it.2.steps()).map(|it| it.0).collect();
        let Some(&first) = strided.first() else { return };
        let number = if self.form.is_wide { "ng_i64" } else { "unsigned" };
        let begin = |it: &usize| format!("at{it} = 0");
        let list: Vec<String> = strided.iter().map(begin).collect();
        let _ = writeln!(text, "        ng_i64 {};", list.join(", "));
        let _ = writeln!(text, "        {number} rest{first} = ({number})({element});");
        for dim in (0..self.form.rank).rev() {
            text.push_str("        {\n");
            let size = format!("({number})dims{first}.sizes[{dim}]");
            let next = if dim > 0 { format!("rest{first} / {size}") } else { "0".into() };
            let _ = writeln!(text, "            const {number} next = {next};");
            let _ =
                writeln!(text, "            const {number} here = rest{first} - next * {size};");
            for it in &strided {
                let _ =
                    writeln!(text, "            at{it} += (ng_i64)here * dims{it}.strides[{dim}];");
            }
            let _ = writeln!(text, "            rest{first} = next;\n        }}");
        }
    }
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
            Action::FromHalf => format!("ng_from_half({a})"),
            Action::ToHalf => format!("ng_to_half({a})"),
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
            None => format!("in{number}"),
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
        Type::Bool | Type::I32 | Type::I64 | Type::F64 => name.to_owned(),
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
