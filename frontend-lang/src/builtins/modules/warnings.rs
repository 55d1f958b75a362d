//! `_warnings`: how a warning reaches the user. What is done with warnings is said in `std/warnings.ng`.

use crate::native::*;
use crate::shown::Notice;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "_warnings",
    doc: "How a warning reaches the user.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[function(
    "warn",
    "text, /",
    "Tells a warning with the line of the cell that it is about.",
    tell,
)
.session()];

fn tell(cx: &mut Cx, args: Args<'_>) -> Res {
    let summary = args.str(0)?.to_owned();
    let text = place(cx)
        .map_or_else(|| summary.clone(), |(at, line)| format!("{at}: {summary}\n  {line}"));
    cx.host.notice(&Notice { summary, text });
    Ok(Value::None)
}

/// The running line of the user's cells: `In[3]:2`, and its text.
fn place(cx: &Cx) -> Option<(String, String)> {
    let span = cx.line_of_cell()?;
    let source = cx.sources.get(span.source)?;
    let (number, _) = source.line_column(span.start);
    Some((format!("{}:{number}", source.name), source.line(number).trim().to_owned()))
}
