//! What users see of an op besides its parameters: in what other forms they call it, what a call gives, and its shapes in words.

use super::{Composed, InferCx, OpDef};
use crate::{Attrs, Result, Tensor};

/// What users see of an op besides its parameters. A row says what is special: `Surface { shapes: "[n]", ..Surface::PLAIN }`.
pub struct Surface {
    /// What a call gives.
    pub returns: Returns,
    /// Another form of call, which a function of the language answers.
    pub form: Option<Form>,
    /// What `alpha=` means.
    pub alpha: Option<Alpha>,
    /// Whether there is a method in place, `x.scatter_add_()`. Elementwise ops have one in any case.
    pub in_place: bool,
    /// Whether each element of the result depends on those at its place alone, and on what is drawn for those before it. Elementwise ops
    /// are so in any case.
    pub by_element: bool,
    /// How its result falls into parts, if that is so: the first way is tried first.
    pub cuts: &'static [Cut],
    /// Names under which it refuses to copy: `x.view(2, 3)`.
    pub never_copies_as: &'static [&'static str],
    /// In which dtype `torch.autocast` computes it.
    pub autocast: Autocast,
    /// Refuses numbers, operands or attributes, that mean nothing beside these dtypes. It is asked at each application, since what
    /// is derived from dtypes is kept.
    pub refuses: Option<fn(&InferCx<'_>) -> Result<()>>,
    /// Refuses operands that PyTorch refuses, and MegEngine and OneFlow take. It is asked where a program calls the op, unless that has
    /// imported one of these.
    pub refuses_in_torch: Option<fn(&InferCx<'_>) -> Result<()>>,
    /// What it does with complex numbers, in ops on their parts. Elementwise ops have this from their expressions, views and kernels
    /// that move elements take complex numbers as they are; other kernels without it refuse them.
    pub complex: Option<Composed>,
    /// What it does with whole numbers, where its kernels take floats alone; without it these are refused.
    pub whole: Option<Composed>,
    /// Asked at each application.
    pub instead: Option<Instead>,
    /// Whether the first operand only chooses among the others: it has no part in their dtype.
    pub has_condition: bool,
    /// Whether each element of an operand names a place for itself, as those of `gather` do: what names none is wrong in a value, not an index.
    pub by_places: bool,
    /// Whether no operand is a number: a loss compares tensors.
    pub takes_no_numbers: bool,
    /// Whether operands may lie on other devices than the first: indices do.
    pub mixes_devices: bool,
    /// The shapes it takes and gives, in words; empty where they follow from the body.
    pub shapes: &'static str,
}

/// A row that computes the same of the first operand alone, and is quicker, where the others are numbers for which there is one.
pub type Instead = fn(&[Tensor]) -> Option<&'static OpDef>;

/// A dimension along which each part of a result comes of parts of the operands. Dimensions are counted from the end: the last is 1.
pub struct Cut {
    /// That of the result.
    pub result: usize,
    /// That of each operand; `None` for one that counts as a whole.
    pub operands: &'static [Option<usize>],
}

/// In which dtype an op is computed while `torch.autocast` is on: PyTorch's lists for the CPU.
#[derive(Clone, Copy, Debug)]
pub enum Autocast {
    /// That of its operands.
    Keep,
    /// The half that was asked for: products.
    Half,
    /// float32: what halves are too coarse for.
    Float32,
    /// float32 where attributes are like that, else that of its operands.
    Float32Where(fn(&Attrs) -> bool),
    /// The widest of the half that was asked for and float32 among its operands; another half beside the first is refused: what joins.
    Widest,
}

/// What a call gives to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// New values: one, or a tuple of several.
    Values,
    /// New values: one, or several under the names that the class of the op's name in `torch.return_types` gives them.
    Named,
    /// A view of the first input: what is written to one is seen in the other.
    View,
    /// A tuple of views of the first input, also of a single one.
    Views,
}

/// A call that is another computation than that of the row: `torch.max(a, b)`, `torch.where(mask)`.
pub struct Form {
    /// Which calls have this form.
    pub when: When,
    /// What answers them in the library's module `torch.forms`.
    pub function: &'static str,
    /// Whether the method in place has it as well.
    pub in_place: bool,
}

/// A condition on the arguments of a call.
pub enum When {
    /// An argument is so. It is found where the row's parameter of this name stands, or by keyword alone if the row has none.
    Arg(&'static str, Is),
    /// As above, of an argument that the row does not have, at this position.
    At(usize, &'static str, Is),
    /// Two tensors have unlike dtypes.
    Unlike(&'static str, &'static str),
    /// A tensor is a vector of one element, and another has more rows.
    OneForRows(&'static str, &'static str),
    Any(&'static [When]),
    All(&'static [When]),
}

/// What an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    Absent,
    Given,
    None,
    Number,
    DType,
    Str,
    Tensor,
    /// A tensor of another number of dimensions than one.
    NoVector,
}

/// How much of the second operand counts: `add(x, y, alpha=2)`.
pub struct Alpha {
    /// The op of three operands that computes it.
    pub op: &'static OpDef,
    /// Whether it takes the number with the opposite sign.
    pub negated: bool,
}

impl Surface {
    /// Nothing special.
    pub const PLAIN: Self = Self {
        returns: Returns::Values,
        form: None,
        alpha: None,
        in_place: false,
        by_element: false,
        cuts: &[],
        never_copies_as: &[],
        autocast: Autocast::Keep,
        refuses: None,
        refuses_in_torch: None,
        complex: None,
        whole: None,
        instead: None,
        has_condition: false,
        by_places: false,
        takes_no_numbers: false,
        mixes_devices: false,
        shapes: "",
    };
}

impl Cut {
    /// A way to cut.
    pub const fn new(result: usize, operands: &'static [Option<usize>]) -> Self {
        Self { result, operands }
    }

    /// Whether parts are some of the rows of products of matrices, not some of the products.
    pub fn is_of_rows(&self) -> bool {
        self.operands.contains(&None)
    }
}

impl Form {
    /// A form that only calls have which leave their operands alone.
    pub const fn new(function: &'static str, when: When) -> Self {
        Self { when, function, in_place: false }
    }

    /// A form that the method in place has as well.
    pub const fn also_in_place(function: &'static str, when: When) -> Self {
        Self { when, function, in_place: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Body;
    use crate::ops;

    #[test]
    fn views_come_from_views() {
        for op in ops::all() {
            let fits = match op.surface.returns {
                Returns::View => matches!(op.body, Body::View(_) | Body::Composed(_)),
                Returns::Views => matches!(op.body, Body::Composed(_)),
                Returns::Values | Returns::Named => true,
            };
            assert!(fits, "{}", op.name);
        }
    }

    #[test]
    fn positions_are_given_for_what_rows_lack() {
        fn check(op: &OpDef, when: &When) {
            let has = |name: &str| op.params.iter().any(|it| it.name == name);
            match when {
                When::At(_, name, _) => assert!(!has(name), "{}: {name}", op.name),
                When::Unlike(a, b) | When::OneForRows(a, b) => {
                    assert!(has(a) && has(b), "{}: {a}, {b}", op.name)
                }
                When::Any(parts) | When::All(parts) => parts.iter().for_each(|it| check(op, it)),
                When::Arg(..) => {}
            }
        }
        for op in ops::all() {
            op.surface.form.iter().for_each(|it| check(op, &it.when));
        }
    }
}
