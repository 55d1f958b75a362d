//! `%config`: what can be set for this session, and what others let one set.

use engine::apply::anomaly::Watch;
use engine::cpu::memory::HOST;
use frontend_lang::check::{Level, memory::size};
use frontend_lang::suggest::nearest;

use super::mem;
use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "config",
    summary: "Show what can be set for this session, show one setting, or set it.",
    args: &[Arg::Line {
        name: "NAME[=VALUE]",
        help: "the setting, `Notegrad.` may be left out: `%config anomaly on`; all are listed if absent",
    }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%config", shows: "Notegrad.check" },
        Example { setup: "", cell: "%config Notegrad.check = 'off'\n%check", shows: "check: off" },
        Example { setup: "", cell: "%config Notegrad.check", shows: "on" },
        Example {
            setup: "%config anomaly on\nimport torch",
            cell: "x = torch.ones(3)\n\ny = (x - 1).log()",
            shows: "error: RuntimeError",
        },
        Example {
            setup: "%config anomaly on",
            cell: "%config anomaly off\n%config anomaly",
            shows: "off",
        },
        Example {
            setup: "",
            cell: "%config InlineBackend.figure_format = 'retina'\n1 + 1",
            shows: "2",
        },
        Example {
            setup: "",
            cell: "%config Completer.use_jedi = False\n1 + 1",
            shows: "%config Completer.use_jedi is left out: a setting of another kernel",
        },
        Example {
            setup: "%config Notegrad.strict = 'on'",
            cell: "%config Completer.use_jedi = False",
            shows: "error: MagicError",
        },
        Example { setup: "", cell: "%config Notegrad.chek = 'off'", shows: "error: MagicError" },
    ],
};

/// One setting.
struct Setting {
    name: &'static str,
    help: &'static str,
    get: fn(&MagicCx<'_>) -> String,
    /// Sets it; an error says what it takes.
    set: fn(&mut MagicCx<'_>, &str) -> Result<(), MagicError>,
}

/// All, sorted.
static SETTINGS: &[Setting] = &[
    Setting {
        name: "InlineBackend.figure_format",
        help: "plots are drawn as SVG, which is sharp at any size; other values are accepted and change nothing",
        get: |_| "svg".into(),
        set: |_, value| one_of(value, &["svg", "png", "retina", "jpeg", "pdf", "png2x"]).map(drop),
    },
    Setting {
        name: "InlineBackend.rc",
        help: "accepted and ignored; `plt.rcParams` and the arguments of a plot say how it looks",
        get: |_| "{}".into(),
        set: |_, _| Ok(()),
    },
    Setting {
        name: "Notegrad.anomaly",
        help: "whether the first NaN or infinity is an error that names its line, in results and gradients: on or off",
        get: |cx| if cx.session.cx.anomalies == Watch::Everything { "on" } else { "off" }.into(),
        set: |cx, value| {
            let on = one_of(value, &["on", "off"])? == "on";
            cx.session.cx.anomalies = if on { Watch::Everything } else { Watch::Nothing };
            Ok(())
        },
    },
    Setting {
        name: "Notegrad.check",
        help: "whether cells are checked before they run: on, early, strict or off (%check)",
        get: |cx| level_name(cx.settings.check).into(),
        set: |cx, value| {
            let level = match one_of(value, &["on", "early", "strict", "off"])? {
                "off" => Level::Off,
                "early" => Level::Early,
                "strict" => Level::Strict,
                _ => Level::On,
            };
            (cx.settings.check, cx.options.check) = (level, level);
            Ok(())
        },
    },
    Setting {
        name: "Notegrad.memory",
        help: "the most that lists, dicts, texts and objects may take, such as 2GB",
        get: |cx| size(cx.session.cx.memory_limit),
        set: |cx, value| {
            cx.session.cx.memory_limit = mem::limit(value)?.max(1 << 20);
            Ok(())
        },
    },
    Setting {
        name: "Notegrad.strict",
        help: "whether magics and programs of other kernels are errors: on or off (notegrad run --strict)",
        get: |cx| if cx.settings.strict { "on" } else { "off" }.into(),
        set: |cx, value| {
            cx.settings.strict = one_of(value, &["on", "off"])? == "on";
            Ok(())
        },
    },
    Setting {
        name: "Notegrad.tensor_memory",
        help: "the most that tensors may take, such as 2GB, or none (%mem --limit)",
        get: |_| size(HOST.budget()),
        set: |_, value| {
            HOST.set_budget(mem::limit(value)?);
            Ok(())
        },
    },
];

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let line = args.line().trim();
    if line.is_empty() {
        let row = |it: &Setting| vec![it.name.into(), (it.get)(cx), it.help.into()];
        let rows = SETTINGS.iter().map(row).collect();
        let head = ["name", "value", "what it is"].map(String::from).to_vec();
        return Ok(vec![Artifact::Table(Table { head, rows, ..Table::default() })]);
    }
    let name = line.split(['=', ' ']).next().unwrap_or_default();
    if is_of_others(name) {
        let says = "a setting of another kernel; %config lists those of this one";
        return Ok(vec![cx.settings.leave_out(&format!("%config {name}"), says)?]);
    }
    // `anomaly on` is short for `Notegrad.anomaly = 'on'`.
    let parts = line.split_once('=').or_else(|| line.split_once(char::is_whitespace));
    match parts {
        None => Ok(vec![Artifact::Text((find(line)?.get)(cx))]),
        Some((name, value)) => {
            let value = value.trim().trim_matches(['\'', '"']);
            (find(name.trim())?.set)(cx, value)?;
            Ok(Vec::new())
        }
    }
}

/// Whether `Class.trait` is of a class that this kernel does not have, or a trait that has no meaning here.
fn is_of_others(name: &str) -> bool {
    let is_known = SETTINGS.iter().any(|it| it.name == name);
    !is_known && name.contains('.') && !name.starts_with("Notegrad.")
}

fn find(name: &str) -> Result<&'static Setting, MagicError> {
    let is_named = |it: &&Setting| {
        it.name == name || it.name.strip_prefix("Notegrad.").is_some_and(|it| it == name)
    };
    SETTINGS.iter().find(is_named).ok_or_else(|| {
        let near = nearest(name, SETTINGS.iter().map(|it| it.name));
        let hint =
            near.map_or_else(|| "%config lists all".into(), |it| format!("did you mean {it}?"));
        MagicError::failed(format!("there is no setting {name}; {hint}"))
    })
}

fn one_of<'a>(value: &'a str, allowed: &[&str]) -> Result<&'a str, MagicError> {
    if allowed.contains(&value) {
        return Ok(value);
    }
    let message = format!("`{value}` is none of {}", allowed.join(", "));
    Err(MagicError::usage(&MAGIC, message))
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::On => "on",
        Level::Early => "early",
        Level::Strict => "strict",
    }
}
