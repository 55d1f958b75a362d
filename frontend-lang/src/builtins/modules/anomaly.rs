//! Looking for the first NaN, as `torch.autograd.detect_anomaly` does. `%config anomaly on` looks for more.

use engine::apply::anomaly::{self, Watch};

use crate::native::*;

/// `torch.autograd.watch_gradients`, on which `detect_anomaly` stands.
pub(super) const WATCH: NativeFn = function(
    "watch_gradients",
    "mode, check_nan=True",
    "Whether a NaN in a gradient is an error; gives what to call it with to go back.",
    watch_gradients,
);

/// Of `torch`.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("is_anomaly_enabled", "", "Whether gradients are looked at for NaN.", is_enabled),
    function("is_anomaly_check_nan_enabled", "", "As is_anomaly_enabled.", is_enabled),
];

/// What the session looks for by `%config` stays as it is: it is more than this.
fn watch_gradients(cx: &mut Cx, args: Args<'_>) -> Res {
    let on = cx.truth(&args[0])? && cx.truth(&args[1])?;
    let before = anomaly::watch();
    if before != Watch::Everything {
        anomaly::set_watch(if on { Watch::Gradients } else { Watch::Nothing });
    }
    Ok(Value::tuple(vec![Value::Bool(before != Watch::Nothing), Value::Bool(true)]))
}

fn is_enabled(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::Bool(anomaly::watch() != Watch::Nothing))
}
