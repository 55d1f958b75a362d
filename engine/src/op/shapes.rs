//! The shapes that several ops take and give, in words. `[..., N]` stands for any leading dimensions.

pub const SAME: &str = "the shape of the input";
pub const BROADCAST: &str = "shapes are broadcast";
pub const SIZE: &str = "the given size";
pub const VIEW: &str = "another view of the same elements";
pub const REDUCED: &str =
    "the dimensions of dim are left out, or have size 1 with keepdim=True; without dim all are";
pub const TWICE_REDUCED: &str =
    "two results: the dimensions of dim are left out, or have size 1 with keepdim=True";
pub const WITH_INDICES: &str = "values and indices: the dimension dim is left out, or has size 1 with keepdim=True; without dim one value of shape []";
pub const SAME_WITH_INDICES: &str = "values and indices of the shape of the input";
pub const LOSS: &str = "input and target of one shape (or broadcast); with reduction='none' that shape, else one number of shape []";
pub const CLASSES: &str = "input [N, C] or [C] and target [N] or [], or [N, C, d...] and [N, d...]; with reduction='none' the shape of the \
                           target without classes, else one number of shape []";
pub const WINDOWS: &str = "[N, C, H, W] gives [N, C, H', W'] with H' = (H + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down \
                           (up with ceil_mode); N may be absent";
pub const WINDOWS_GRADIENT: &str = "the gradient has the shape of the pooled input";
pub const CONVOLVED: &str = "input [N, C, H, W], weight [O, C / groups, kh, kw], bias [O] give [N, O, H', W'] with H' = (H + 2 padding - \
                             dilation (kh - 1) - 1) / stride + 1, rounded down";
pub const TRIANGLE: &str = "the shape of the input, [..., N, M]";
pub const SCATTERED: &str =
    "the shape of the input; index is no larger than it but along dim, and no larger than src";
