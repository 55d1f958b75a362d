//! Kernels that run a program on many tensors: each block finds its tensor in a table.

use std::fmt::Write;

use super::{Access, Form, Writer};
use crate::lane::Program;
use crate::lane::expand::expand;

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

/// Which tensor of the table a block works on, and where it begins there; `MOST` and `PIECE` are numbers.
const FIND: &str = "    int at = 0, behind = MOST;
    while (behind - at > 1) {
        const int middle = (at + behind) / 2;
        if (items.all[middle].start <= (ng_i64)blockIdx.x) at = middle;
        else behind = middle;
    }
    const NAME_item &item = items.all[at];
    const ng_i64 n = item.n, n_packs = item.packs, from = ((ng_i64)blockIdx.x - item.start) * PIECE;
";

impl Writer<'_> {
    /// As [`Writer::all`], over many tensors.
    fn many(&self, most: usize) -> String {
        let mut text = self.table(most);
        text.push_str(
            &FIND
                .replace("MOST", &most.to_string())
                .replace("NAME", self.name)
                .replace("PIECE", &PIECE.to_string()),
        );
        for (idx, ty, _) in self.listed() {
            let _ = writeln!(text, "    const {ty} *in{idx} = item.in{idx};");
        }
        for (idx, ty) in self.outputs() {
            let _ = writeln!(text, "    {ty} *out{idx} = item.out{idx};");
        }
        self.piece(&mut text);
        text
    }

    /// The inputs that the table lists; others are held.
    fn listed(&self) -> impl Iterator<Item = (usize, &'static str, Access)> {
        self.inputs().filter(|it| it.2 != Access::Held)
    }

    /// The table as a type, and the head of the kernel.
    fn table(&self, most: usize) -> String {
        let name = self.name;
        let mut text = format!("struct {name}_item {{\n    ng_i64 start, n, packs;\n");
        Self::pointers(&mut text, self.listed(), self.outputs());
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
        text.push_str(", ng_fault *fault) {\n");
        text
    }

    /// What a block does: its packs, then what is left of the tensor, or its elements where there are no packs.
    fn piece(&self, text: &mut String) {
        let pack = self.pack;
        if pack > 1 {
            let _ = writeln!(
                text,
                "    const ng_i64 last = from + {PIECE} < n_packs ? from + {PIECE} : n_packs;"
            );
            self.packs(text, "for (ng_i64 i = from + threadIdx.x; i < last; i += blockDim.x)");
        }
        let _ = writeln!(
            text,
            "    const ng_i64 rest = n_packs ? n_packs * {pack} : from;\n    \
             const ng_i64 end = n_packs ? (from ? rest : n) : from + {PIECE} < n ? from + {PIECE} : n;\n    \
             for (ng_i64 i = rest + threadIdx.x; i < end; i += blockDim.x) {{"
        );
        self.element(text);
        text.push_str("    }\n}\n");
    }
}
