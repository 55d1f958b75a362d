//! `_training`: what optimisers and modules of `std/` tell the check before running, the error for an option that they do not have, and
//! updates that run as one program.

use crate::native::*;
use crate::params::unexpected_keyword;
use crate::tensor::fused::FusedFn;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "_training",
    doc: "What optimisers and modules tell the check before running.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "fused",
        "function, /",
        "The function, which changes tensors in place by elementwise ops and gives nothing, as one program.",
        |_cx, args| Ok(Value::object(FusedFn::new(args[0].clone()))),
    ),
    function("mode", "training, /", "Modules go into training mode, or out of it.", |cx, args| {
        let is_training = cx.truth(&args[0])?;
        cx.training_mode(is_training);
        Ok(Value::None)
    }),
    function("steps", "groups, /", "The parameters of these groups are about to change.", steps),
    function(
        "unexpected",
        "function, option, more, /",
        "The TypeError for an option that the function does not have, `more` being those it takes by `**`.",
        unexpected,
    ),
];

fn steps(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut params = Vec::new();
    for group in cx.collect(&args[0])? {
        let Value::Dict(group) = group else { continue };
        if let Some(found) = group.get_str("params") {
            params.extend(cx.collect(&found)?);
        }
    }
    cx.training_steps(args[0].address().unwrap_or_default(), &params);
    Ok(Value::None)
}

fn unexpected(cx: &mut Cx, args: Args<'_>) -> Res {
    let (Value::Func(func), option) = (args[0].core(), args.str(1)?) else {
        return Err(type_error("expected a function"));
    };
    let more = cx.collect(&args[2])?;
    let more = more.iter().filter_map(Value::as_str);
    let names: Vec<&str> =
        func.code.params.names.iter().map(|it| it.as_str()).chain(more).collect();
    Ok(unexpected_keyword(&func.code.qualname, option, &names).value().clone())
}
