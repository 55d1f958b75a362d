//! `string`: named sets of characters.

use crate::native::*;
use crate::objects::text;

/// The module.
pub static MODULE: NativeModule = NativeModule {
    name: "string",
    doc: "Named sets of characters.",
    members: &[
        Member::Str("ascii_letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        Member::Str("ascii_lowercase", "abcdefghijklmnopqrstuvwxyz"),
        Member::Str("ascii_uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        Member::Str("digits", "0123456789"),
        Member::Str("hexdigits", "0123456789abcdefABCDEF"),
        Member::Str("octdigits", "01234567"),
        Member::Str(
            "printable",
            concat!(
                "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\x0b\x0c"
            ),
        ),
        Member::Str("punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
        Member::Str("whitespace", " \t\n\r\x0b\x0c"),
        Member::These("string.template", &["Template"]),
        Member::Functions(&FUNCTIONS),
    ],
    aliases: &[],
};

static FUNCTIONS: [NativeFn; 1] =
    [function("capwords", "s, sep=None", "Each word capitalised.", capwords).pure()];

fn capwords(_cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(source) = args[0].as_str() else {
        let name = type_name(&args[0]);
        return Err(attribute_error(format!("'{name}' object has no attribute 'split'")));
    };
    let (words, between) = match args.opt_str(1)? {
        Some("") => return Err(value_error("empty separator")),
        Some(separator) => (text::split(source, separator, -1), separator),
        None => (text::split_space(source, -1), " "),
    };
    let words: Vec<String> = words.into_iter().map(text::capitalize).collect();
    Ok(Value::str(words.join(between)))
}
