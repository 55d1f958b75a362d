//! How well letters stand out from their ground, as the Web Content Accessibility Guidelines measure it.

/// Relative luminance, from 0 for black to 1 for white
/// (<https://www.w3.org/TR/WCAG21/#dfn-relative-luminance>).
pub(super) fn luminance(color: [u8; 3]) -> f64 {
    let linear = color.map(|channel| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

/// The letters, black or white, that can be read better on a ground: at least at 4.5.
pub(super) fn letters_on(ground: [u8; 3]) -> [u8; 3] {
    if luminance(ground) > 0.179 { [0; 3] } else { [255; 3] }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use frontend_lang::host::Recording;
    use frontend_lang::ink;
    use frontend_lang::session::{Options, Session};
    use serde_json::Value;

    use super::super::ansi::palette;
    use super::super::highlight;
    use super::*;

    /// What letters need, to be read without effort.
    const LEAST: f64 = 4.5;
    /// The colours of JupyterLab; `tests/expected/generate_jupyterlab_colors.py` writes them.
    const JUPYTERLAB: &str = include_str!("../../testdata/jupyterlab_colors.json");
    const PAGE: &str = include_str!("../html_page/style.css");

    fn contrast(ink: [u8; 3], ground: [u8; 3]) -> f64 {
        let (ink, ground) = (luminance(ink), luminance(ground));
        (ink.max(ground) + 0.05) / (ink.min(ground) + 0.05)
    }

    #[test]
    fn measures_as_the_guidelines_do() {
        assert_eq!(contrast([0; 3], [255; 3]), 21.0);
        // The grey that is known to reach 4.5 on white, and the one that misses it.
        assert!(contrast([0x76; 3], [255; 3]) >= LEAST && contrast([0x77; 3], [255; 3]) < LEAST);
    }

    /// The grounds of output in a theme of JupyterLab, each with the theme's letters on it.
    fn grounds(theme: &Value) -> [([u8; 3], [u8; 3]); 2] {
        let ground = over(&theme["ground"], [255; 3]);
        let error = over(&theme["error"], ground);
        [ground, error].map(|it| (it, over(&theme["ink"], it)))
    }

    /// A colour that covers what is below it in part.
    fn over(color: &Value, below: [u8; 3]) -> [u8; 3] {
        let part = |at: usize| color[at].as_f64().unwrap();
        let mixed = |at: usize| part(at) * part(3) + f64::from(below[at]) * (1.0 - part(3));
        [0, 1, 2].map(|at| mixed(at).round() as u8)
    }

    fn themes() -> (Value, Vec<(String, Value)>) {
        let all: Value = serde_json::from_str(JUPYTERLAB).unwrap();
        let themes = all["themes"].as_object().unwrap();
        let themes = themes.iter().map(|(name, theme)| (name.clone(), theme.clone())).collect();
        (all, themes)
    }

    #[test]
    fn every_style_of_errors_can_be_read_in_both_themes() {
        let (_, themes) = themes();
        assert_eq!(themes.len(), 2);
        for (theme, it) in &themes {
            for (ground, letters) in grounds(it) {
                for ink in ink::ALL {
                    let (letters, ground) = match ink.colors {
                        Some((letters, ground)) => (palette(letters), palette(ground)),
                        None => (Some(letters), Some(ground)),
                    };
                    let contrast = contrast(letters.unwrap(), ground.unwrap());
                    assert!(contrast >= LEAST, "{theme}: {} has {contrast:.2}", ink.name);
                }
            }
        }
    }

    /// Cells that fail in ways of their own: while running, before it, in a call, from a cause, by their syntax.
    const FAILING: &[&str] = &[
        "import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)",
        "1 / 0",
        "def f(x):\n    return x.no_such\n\nf(1)",
        "try:\n    {}['key']\nexcept KeyError as error:\n    raise ValueError('text') from error",
        "print(nmae)\nx = (",
        "  x = 1",
        "raise ValueError",
        "x: list = [1][5]",
    ];

    #[test]
    fn tracebacks_can_be_read_in_both_themes() {
        let (all, themes) = themes();
        for code in FAILING {
            let mut session = Session::new(Box::new(Recording::default()));
            let error = session.run_cell(code, &Options::default()).error.expect(code);
            let text = error.traceback.join("\n");
            assert!(text.contains('\u{1b}'), "{text}");
            for (theme, it) in &themes {
                let [_, (ground, letters)] = grounds(it);
                for part in as_jupyterlab_does(&text, &all["ansi"]) {
                    let pair = (part.letters.unwrap_or(letters), part.ground.unwrap_or(ground));
                    let contrast = contrast(pair.0, pair.1);
                    assert!(contrast >= LEAST, "{theme}: {:?} has {contrast:.2}", part.text);
                }
            }
        }
    }

    /// A piece of text with its colours, where it has any of its own.
    struct Part<'a> {
        text: &'a str,
        letters: Option<[u8; 3]>,
        ground: Option<[u8; 3]>,
    }

    /// The parts of a text with escape sequences; bold makes a named colour intense.
    fn as_jupyterlab_does<'a>(text: &'a str, named: &Value) -> Vec<Part<'a>> {
        let names: Vec<[u8; 3]> = (named.as_object().unwrap().values())
            .map(|it| [0, 1, 2].map(|at| it[at].as_u64().unwrap() as u8))
            .collect();
        let color = |code: u8| names.get(usize::from(code)).copied().or_else(|| palette(code));
        let (mut bold, mut letters, mut ground) = (false, None, None);
        let mut pieces = text.split("\u{1b}[");
        let mut parts = vec![Part { text: pieces.next().unwrap(), letters: None, ground: None }];
        for piece in pieces {
            let (codes, text) = piece.split_once('m').unwrap();
            let mut codes = codes.split(';').map(|it| it.parse::<u8>().unwrap_or(0));
            while let Some(code) = codes.next() {
                match code {
                    0 => (bold, letters, ground) = (false, None, None),
                    1 => bold = true,
                    30..=37 => letters = Some(code - 30),
                    90..=97 => letters = Some(code - 82),
                    38 | 48 => {
                        assert_eq!(codes.next(), Some(5));
                        *(if code == 38 { &mut letters } else { &mut ground }) = codes.next();
                    }
                    _ => panic!("{code} in {text:?}"),
                }
            }
            let strong = letters.map(|it| if bold && it < 8 { it + 8 } else { it });
            let (letters, ground) = (strong.and_then(color), ground.and_then(color));
            parts.push(Part { text, letters, ground });
        }
        parts.retain(|it| !it.text.is_empty());
        parts
    }

    #[test]
    fn code_can_be_read_on_its_own_ground() {
        let color =
            |hex: &str| [1, 3, 5].map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        let kinds = highlight::ALL.iter().map(|it| (it.class, it.color));
        for (name, ink) in kinds.chain([("other letters", highlight::INK)]) {
            let contrast = contrast(color(ink), color(highlight::GROUND));
            assert!(contrast >= LEAST, "{name} has {contrast:.2}");
        }
    }

    /// What stands on what in the page of a notebook, by the names of its style sheet.
    const PAGE_PAIRS: &[(&str, &[&str])] = &[
        ("ink", &["ground", "panel", "bad"]),
        ("soft", &["ground", "panel", "bad"]),
        ("accent", &["ground"]),
        ("k", &["panel"]),
        ("b", &["panel"]),
        ("s", &["panel"]),
        ("n", &["panel"]),
        ("c", &["panel"]),
        ("d", &["panel"]),
        ("m", &["panel"]),
        ("red", &["ground", "bad"]),
        ("green", &["ground", "bad"]),
        ("yellow", &["ground", "bad"]),
        ("blue", &["ground", "bad"]),
        ("magenta", &["ground", "bad"]),
        ("cyan", &["ground", "bad"]),
    ];

    #[test]
    fn pages_can_be_read_in_both_themes() {
        for (theme, colors) in [("light", page_colors(0)), ("dark", page_colors(1))] {
            for name in colors.keys() {
                let is_paired = |(ink, grounds): &(&str, &[&str])| {
                    ink == name || grounds.contains(&name.as_str())
                };
                assert!(name == "line" || PAGE_PAIRS.iter().any(is_paired), "--{name}");
            }
            for (ink, grounds) in PAGE_PAIRS {
                for ground in *grounds {
                    let contrast = contrast(colors[*ink], colors[*ground]);
                    assert!(contrast >= LEAST, "{theme}: {ink} on {ground} has {contrast:.2}");
                }
            }
        }
    }

    /// The colours that the style sheet sets for the first time, or for the second.
    fn page_colors(at: usize) -> BTreeMap<String, [u8; 3]> {
        let rule = PAGE.split(":root {").nth(at + 1).unwrap().split('}').next().unwrap();
        let colors =
            rule.split(';').filter_map(|it| it.trim().strip_prefix("--")?.split_once(": #"));
        let channel = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        colors.map(|(name, hex)| (name.into(), [0, 2, 4].map(|at| channel(hex, at)))).collect()
    }
}
