//! CUDA C from lane programs: the same steps of arithmetic that the loops of the processor are compiled from.
//!
//! **Invariant:** compiled with `--fmad=false` and without `--use_fast_math`, a kernel gives the bits of the tile machine, as far as the
//! functions of both C libraries agree.

use std::fmt::Write;

use smallvec::SmallVec;

use super::Program;
use super::expand::{Expansion, expand};
use crate::cpu::lane::Mem;
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
/// what it refuses: bit 1 for a division by zero, 2 for a negative exponent.
pub(crate) fn kernel(program: &Program, name: &str, form: &Form) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let writer = Writer { expansion: &expansion, form, pack: form.pack(program), name };
    let mut text = writer.one();
    text.push_str(&writer.all());
    Some(text)
}

/// A program behind a kernel, in one line: `ng_finish`, a structure of its inputs but the first, which are held or not, of its numbers and of
/// room for its outputs; `take` runs it on a pack of the kernel's results, before they go to where their place is. If it `replaces`
/// these, its first output takes their place. `None` where an operation has no expansion.
pub(crate) fn finish(program: &Program, accesses: &[Access], replaces: bool) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let form = Form::plain(std::iter::once(Access::Flat).chain(accesses.iter().copied()).collect());
    let writer = Writer { expansion: &expansion, form: &form, pack: 1, name: "finish" };
    Some(format!("{}{}", writer.one(), writer.finish(replaces)).replace('\n', " "))
}

/// Packs, or elements where there are none, of which a block of [`many`] takes care.
pub(crate) const PIECE: usize = 1024;

/// The kernel `name` of a program on many tensors, as many as `most`; `None` where an operation has no expansion.
///
/// It takes a structure for each tensor: the block that begins with it (one that there is not, where there are fewer), the number of its
/// elements, and of packs among them, its inputs that are not held, and room for its outputs; then the numbers that are held, those of
/// [`Program::params`] that are used, and where it notes what it refuses. A block goes over [`PIECE`] packs of one tensor.
pub(crate) fn many(program: &Program, name: &str, form: &Form, most: usize) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let writer = Writer { expansion: &expansion, form, pack: form.pack(program), name };
    let mut text = writer.one();
    text.push_str(&writer.many(most));
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
        inputs.map(|(idx, (&dtype, &access))| (idx, element_name(Mem::of(dtype)), access))
    }

    fn outputs(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let outputs = self.expansion.outputs.iter().enumerate();
        outputs.map(|(idx, &(_, dtype))| (idx, element_name(Mem::of(dtype))))
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
                Fault::NegativeExponent => ("<", 2),
            };
            let number = name_of(expansion, step);
            let _ =
                writeln!(text, "    if ({number} {sign} 0) ng_refuse(fault, {bit}u, {number});");
        }
        for (idx, &(step, dtype)) in expansion.outputs.iter().enumerate() {
            let (element, value) = (element_name(Mem::of(dtype)), name_of(expansion, step));
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

    /// As [`Writer::all`], over many tensors.
    fn many(&self, most: usize) -> String {
        let (name, pack) = (self.name, self.pack);
        let mut text = format!("struct {name}_item {{\n    ng_i64 start, n, packs;\n");
        let lies = || self.inputs().filter(|it| it.2 != Access::Held);
        for (idx, ty, _) in lies() {
            let _ = writeln!(text, "    const {ty} *in{idx};");
        }
        for (idx, ty) in self.outputs() {
            let _ = writeln!(text, "    {ty} *out{idx};");
        }
        let _ = write!(
            text,
            "}};\nstruct {name}_items {{\n    {name}_item all[{most}];\n}};\n\
             extern \"C\" __global__ void {name}(const {name}_items items"
        );
        for (idx, ty, _) in self.inputs().filter(|it| it.2 == Access::Held) {
            let _ = write!(text, ", const {ty} in{idx}");
        }
        self.numbers().for_each(|(idx, ty)| {
            let _ = write!(text, ", const {ty} number{idx}");
        });
        let _ = write!(
            text,
            ", ng_fault *fault) {{\n    int at = 0, behind = {most};\n    while (behind - at > 1) {{\n        \
             const int middle = (at + behind) / 2;\n        \
             if (items.all[middle].start <= (ng_i64)blockIdx.x) at = middle;\n        else behind = middle;\n    }}\n    \
             const {name}_item &item = items.all[at];\n    \
             const ng_i64 n = item.n, n_packs = item.packs, from = ((ng_i64)blockIdx.x - item.start) * {PIECE};\n"
        );
        for (idx, ty, _) in lies() {
            let _ = writeln!(text, "    const {ty} *in{idx} = item.in{idx};");
        }
        for (idx, ty) in self.outputs() {
            let _ = writeln!(text, "    {ty} *out{idx} = item.out{idx};");
        }
        if pack > 1 {
            let _ = writeln!(
                text,
                "    const ng_i64 last = from + {PIECE} < n_packs ? from + {PIECE} : n_packs;"
            );
            self.packs(&mut text, "for (ng_i64 i = from + threadIdx.x; i < last; i += blockDim.x)");
        }
        let _ = writeln!(
            text,
            "    const ng_i64 rest = n_packs ? n_packs * {pack} : from;\n    \
             const ng_i64 end = n_packs ? (from ? rest : n) : from + {PIECE} < n ? from + {PIECE} : n;\n    \
             for (ng_i64 i = rest + threadIdx.x; i < end; i += blockDim.x) {{"
        );
        self.element(&mut text);
        text.push_str("    }\n}\n");
        text
    }

    fn finish(&self, replaces: bool) -> String {
        let mut text = String::from("struct ng_finish {\n");
        let others = || self.inputs().skip(1);
        let own = usize::from(replaces);
        for (idx, ty, access) in others() {
            let _ = match access {
                Access::Held => writeln!(text, "alignas(8) {ty} in{idx};"),
                _ => writeln!(text, "const {ty} *in{idx};"),
            };
        }
        for (idx, ty) in self.numbers() {
            let _ = writeln!(text, "alignas(8) {ty} number{idx};");
        }
        for (idx, ty) in self.outputs().skip(own) {
            let _ = writeln!(text, "{ty} *out{idx};");
        }
        text.push_str("ng_i64 nothing;\ntemplate <int N, class E> __device__ inline void take(ng_i64 at, ng_pack<E, N> &made) const {\n");
        for (idx, ty, access) in others() {
            let _ = match access {
                Access::Flat => writeln!(
                    text,
                    "const ng_pack<{ty}, N> pack{idx} = *(const ng_pack<{ty}, N> *)(in{idx} + at);"
                ),
                Access::Held => writeln!(text, "const {ty} held{idx} = in{idx};"),
                _ => writeln!(text, "const {ty} held{idx} = in{idx}[0];"),
            };
        }
        for (idx, ty) in self.outputs().skip(own) {
            let _ = writeln!(text, "ng_pack<{ty}, N> made{idx};");
        }
        text.push_str("for (int k = 0; k < N; k++) {\n");
        let first = self.inputs().next().map_or("float", |it| it.1);
        let _ = writeln!(text, "const {first} in0 = ng_bits(made.all[k]);");
        if let (true, Some((_, ty))) = (replaces, self.outputs().next()) {
            let _ = writeln!(text, "{ty} made0;");
        }
        let read = |(idx, _, access): (usize, &str, Access)| match (idx, access) {
            (0, _) => "in0".into(),
            (_, Access::Flat) => format!("pack{idx}.all[k]"),
            _ => format!("held{idx}"),
        };
        let made = |idx: usize| match idx < own {
            true => format!("made{idx}"),
            false => format!("made{idx}.all[k]"),
        };
        let call = self.call(read, made).replacen("fault", "(ng_fault *)0", 1);
        let _ = writeln!(text, "{call};");
        if replaces {
            text.push_str("ng_set_bits(made.all[k], made0);\n");
        }
        text.push_str("}\n");
        for (idx, ty) in self.outputs().skip(own) {
            let _ = writeln!(text, "*(ng_pack<{ty}, N> *)(out{idx} + at) = made{idx};");
        }
        text.push_str("}\n};\n");
        text
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
