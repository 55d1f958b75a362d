//! How elements of another dtype are written in ONNX.

use crate::Result;
use crate::op::NodeCx;

pub(super) fn to(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = cx.input(0);
    cx.give_as(&wire, cx.dtype(0));
    Ok(())
}
