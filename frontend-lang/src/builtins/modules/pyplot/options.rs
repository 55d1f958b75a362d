//! Keyword options of drawing functions, and the names of settings; `options.txt` has both from matplotlib.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::values::number;
use crate::native::*;
use crate::suggest::nearest;

/// What there is, as `tests/expected/generate_pyplot_options.py` writes it.
static FILE: &str = include_str!("options.txt");

#[derive(Default)]
struct Known {
    /// The options of each function.
    functions: FxHashMap<&'static str, Vec<&'static str>>,
    /// Names and usual values as JSON, sorted.
    settings: Vec<(&'static str, &'static str)>,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known = Known::default();
        let mut groups: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for line in FILE.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
            let rest = words.next().unwrap_or_default();
            let names = || rest.split(' ').filter(|it| !it.is_empty());
            match kind {
                "group" => _ = groups.insert(name, names().collect()),
                "function" => {
                    let of = |it| groups.get(it).cloned().unwrap_or_else(|| vec![it]);
                    known.functions.insert(name, names().flat_map(of).collect());
                }
                "setting" => known.settings.push((name, rest)),
                _ => {}
            }
        }
        known
    })
}

/// The names of all settings with their usual values as JSON, sorted.
pub(super) fn settings() -> &'static [(&'static str, &'static str)] {
    &known().settings
}

/// The keyword options of a call. Many are taken and leave no trace: figures have one size of letters, and lay themselves out.
#[derive(Clone, Copy)]
pub(super) struct Options<'a>(&'a Dict);

impl<'a> Options<'a> {
    /// The options that `func` was given; one that it does not know is a `TypeError`.
    pub(super) fn of(func: &str, options: &'a Dict) -> Result<Options<'a>, Raised> {
        let known = known().functions.get(func).map_or(&[][..], Vec::as_slice);
        for name in options.keys() {
            let name = name.as_str().unwrap_or_default();
            if known.contains(&name) {
                continue;
            }
            let near = nearest(name, known.iter().copied());
            let hint = near.map_or_else(String::new, |it| format!(". Did you mean '{it}'?"));
            let told = format!("{func}() got an unexpected keyword argument '{name}'{hint}");
            return Err(type_error(told));
        }
        Ok(Options(options))
    }

    /// The value of an option; `None` if it was not given or is None.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        self.0.get_str(name).filter(|it| !it.is_none())
    }

    /// The first of several names that was given.
    pub(super) fn any(&self, names: &[&str]) -> Option<Value> {
        names.iter().find_map(|it| self.get(it))
    }

    /// An option that is a number.
    pub(super) fn number(&self, names: &[&str]) -> Result<Option<f64>, Raised> {
        let Some(value) = self.any(names) else { return Ok(None) };
        let found = number(&value).filter(|it| it.is_finite());
        found.map(Some).ok_or_else(|| {
            type_error(format!("{} is a number, not {}", names[0], type_name(&value)))
        })
    }

    /// An option that is on or off; it is off if it was not given.
    pub(super) fn flag(&self, cx: &mut Cx, name: &str) -> Result<bool, Raised> {
        self.get(name).map_or(Ok(false), |it| cx.truth(&it))
    }

    /// An option that is a text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Raised> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().map(str::to_owned);
        text.map(Some)
            .ok_or_else(|| type_error(format!("{name} is a string, not {}", type_name(&value))))
    }
}
