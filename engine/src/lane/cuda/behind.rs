//! Programs behind the kernels of other ops: a structure that runs one on packs of results.

use std::fmt::Write;

use super::{Access, Form, Writer};
use crate::lane::Program;
use crate::lane::expand::expand;

/// A program behind a kernel, in one line: `ng_finish`, a structure of its inputs but the first, which are held or not, of its numbers and of
/// room for its outputs; `take` runs it on a pack of the kernel's results, before they go to where their place is. If it `replaces`
/// these, its first output takes their place. `None` where an operation has no expansion.
pub(crate) fn finish(program: &Program, accesses: &[Access], replaces: bool) -> Option<String> {
    let expansion = expand(program.ssa())?;
    let form = Form::plain(std::iter::once(Access::Flat).chain(accesses.iter().copied()).collect());
    let writer = Writer { expansion: &expansion, form: &form, pack: 1, name: "finish" };
    Some(format!("{}{}", writer.one(), writer.behind(replaces)).replace('\n', " "))
}

impl Writer<'_> {
    /// The structure `ng_finish`.
    fn behind(&self, replaces: bool) -> String {
        let own = usize::from(replaces);
        let mut text = String::from("struct ng_finish {\n");
        self.fields(&mut text, own);
        text.push_str("template <int N, class E> __device__ inline void take(ng_i64 at, ng_pack<E, N> &made) const {\n");
        self.loads(&mut text);
        for (idx, ty) in self.outputs().skip(own) {
            let _ = writeln!(text, "ng_pack<{ty}, N> made{idx};");
        }
        self.each(&mut text, own);
        for (idx, ty) in self.outputs().skip(own) {
            let _ = writeln!(text, "*(ng_pack<{ty}, N> *)(out{idx} + at) = made{idx};");
        }
        text.push_str("}\n};\n");
        text
    }

    /// What the structure holds: never nothing.
    fn fields(&self, text: &mut String, own: usize) {
        for (idx, ty, access) in self.inputs().skip(1) {
            let _ = match access {
                Access::Held => writeln!(text, "alignas(8) {ty} in{idx};"),
                _ => writeln!(text, "const {ty} *in{idx};"),
            };
        }
        for (idx, ty) in self.numbers() {
            let _ = writeln!(text, "alignas(8) {ty} number{idx};");
        }
        Self::pointers(text, std::iter::empty(), self.outputs().skip(own));
        text.push_str("ng_i64 nothing;\n");
    }

    /// The packs of the other inputs, or their one element.
    fn loads(&self, text: &mut String) {
        for (idx, ty, access) in self.inputs().skip(1) {
            let _ = match access {
                Access::Flat => writeln!(
                    text,
                    "const ng_pack<{ty}, N> pack{idx} = *(const ng_pack<{ty}, N> *)(in{idx} + at);"
                ),
                Access::Held => writeln!(text, "const {ty} held{idx} = in{idx};"),
                _ => writeln!(text, "const {ty} held{idx} = in{idx}[0];"),
            };
        }
    }

    /// The program on each element of a pack; the first `own` outputs take the place of the results.
    fn each(&self, text: &mut String, own: usize) {
        text.push_str("for (int k = 0; k < N; k++) {\n");
        let first = self.inputs().next().map_or("float", |it| it.1);
        let _ = writeln!(text, "const {first} in0 = ng_bits(made.all[k]);");
        for (idx, ty) in self.outputs().take(own) {
            let _ = writeln!(text, "{ty} made{idx};");
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
        if own > 0 {
            text.push_str("ng_set_bits(made.all[k], made0);\n");
        }
        text.push_str("}\n");
    }
}
