//! `gc`: collecting reference cycles. What is in no cycle is freed at once, without this.

use crate::cycles;
use crate::native::*;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "gc",
    doc: "Collecting reference cycles.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "collect",
        "generation=2",
        "Frees what only refers to itself; returns the number of objects.",
        |_cx, _args| Ok(Value::from(cycles::collect())),
    )
    .session(),
    function("disable", "", "No collection runs by itself.", |_cx, _args| {
        cycles::set_enabled(false);
        Ok(Value::None)
    })
    .session(),
    function(
        "enable",
        "",
        "A collection runs at the end of each cell, and when needed.",
        |_cx, _| {
            cycles::set_enabled(true);
            Ok(Value::None)
        },
    )
    .session(),
    function("isenabled", "", "Whether collections run by themselves.", |_cx, _args| {
        Ok(Value::Bool(cycles::enabled()))
    })
    .session(),
];
