//! `importlib`: modules by a name that the program computes, and modules whose file has changed.

use crate::native::*;
use crate::objects::module::Globals;

/// `importlib`.
pub static MODULE: NativeModule = NativeModule {
    name: "importlib",
    doc: "Imports by name, and again.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "import_module",
        "name, package=None",
        "The module of a full name, or of a relative one in a package.",
        import_module,
    )
    .opaque(),
    function("invalidate_caches", "", "Does nothing: no lists of files are kept.", |_cx, _args| {
        Ok(Value::None)
    })
    .pure(),
    function(
        "reload",
        "module",
        "Runs the file of a module again, after it was edited; names taken from it before keep their old values.",
        |cx, args| cx.reload(&args[0]),
    )
    .opaque(),
];

fn import_module(cx: &mut Cx, args: Args<'_>) -> Res {
    let globals = Globals::default();
    if let Some(package) = args.opt_str(1)? {
        globals.set(Sym::new("__package__"), Value::str(package));
    }
    let name = cx.full_name(args.str(0)?, &globals)?;
    cx.import_first(&name)?;
    cx.import(&name)
}
