//! `re.Match`: the groups of a match, and templates that refer to them.

use std::any::Any;
use std::rc::Rc;

use super::re_template::expand;
use crate::native::*;
use crate::objects::pattern::{Pattern, Spans};
use crate::objects::quote;

/// A match.
pub(super) struct Match {
    pattern: Rc<Pattern>,
    string: Value,
    spans: Spans,
}

/// The row of the type.
pub(super) static MATCH: NativeType = NativeType {
    module: "re",
    methods: &[METHODS],
    getters: &[
        Getter { name: "lastgroup", doc: "Name of the last group.", get: last_group },
        Getter { name: "lastindex", doc: "Number of the last group.", get: last_index },
        Getter {
            name: "string",
            doc: "The text searched.",
            get: |_, it| Ok(this(it)?.string.clone()),
        },
    ],
    ..NativeType::plain("Match", "A match of a regular expression.")
};

static METHODS: &[NativeFn] = &[
    function("end", "self, group=0, /", "Where a group ends.", end).pure(),
    function("expand", "self, template", "A template with groups filled in.", expand_method).pure(),
    function("group", "self, /, *groups", "The text of groups.", group).pure(),
    function("groupdict", "self, default=None", "Texts by group name.", groupdict).pure(),
    function("groups", "self, default=None", "Texts of all groups.", groups).pure(),
    function("span", "self, group=0, /", "Start and end of a group.", span).pure(),
    function("start", "self, group=0, /", "Where a group starts.", start).pure(),
];

fn this(value: &Value) -> Result<&Match, Raised> {
    value
        .downcast()
        .ok_or_else(|| type_error(format!("expected re.Match, got {}", type_name(value))))
}

impl Match {
    /// A match object.
    pub(super) fn value(pattern: &Rc<Pattern>, string: &Value, spans: Spans) -> Value {
        Value::object(Match { pattern: pattern.clone(), string: string.clone(), spans })
    }

    fn text(&self) -> &str {
        self.string.as_str().unwrap_or_default()
    }

    fn number(&self, group: &Value) -> Result<usize, Raised> {
        let found = match (group.as_int(), group.as_str()) {
            (Some(number), _) => usize::try_from(number).ok().filter(|it| *it < self.spans.len()),
            (None, Some(name)) => {
                self.pattern.names.iter().position(|it| it.as_deref() == Some(name))
            }
            _ => None,
        };
        found.ok_or_else(|| index_error("no such group"))
    }

    fn group_text(&self, number: usize) -> Option<&str> {
        self.spans[number].map(|(start, end)| &self.text()[start..end])
    }

    fn place(&self, byte: usize) -> i64 {
        self.text()[..byte].chars().count() as i64
    }

    fn places(&self, group: &Value) -> Result<(i64, i64), Raised> {
        let span = self.spans[self.number(group)?];
        Ok(span.map_or((-1, -1), |(start, end)| (self.place(start), self.place(end))))
    }
}

fn group(_cx: &mut Cx, args: Args<'_>) -> Res {
    let this = this(&args[0])?;
    let one = |group: &Value| -> Res {
        Ok(this.group_text(this.number(group)?).map_or(Value::None, Value::str))
    };
    match args.rest(1) {
        [] => one(&Value::Int(0)),
        [group] => one(group),
        groups => Ok(Value::tuple(groups.iter().map(one).collect::<Result<Vec<_>, _>>()?)),
    }
}

fn groups(_cx: &mut Cx, args: Args<'_>) -> Res {
    let this = this(&args[0])?;
    let texts = (1..this.spans.len())
        .map(|number| this.group_text(number).map_or_else(|| args[1].clone(), Value::str));
    Ok(Value::tuple(texts.collect::<Vec<_>>()))
}

fn groupdict(_cx: &mut Cx, args: Args<'_>) -> Res {
    let this = this(&args[0])?;
    let dict = Dict::default();
    for (number, name) in this.pattern.names.iter().enumerate() {
        if let Some(name) = name {
            let text = this.group_text(number).map_or_else(|| args[1].clone(), Value::str);
            dict.insert_name(Sym::new(name), text);
        }
    }
    Ok(Value::Dict(Rc::new(dict)))
}

fn start(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Int(this(&args[0])?.places(&args[1])?.0))
}

fn end(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Int(this(&args[0])?.places(&args[1])?.1))
}

fn span(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (start, end) = this(&args[0])?.places(&args[1])?;
    Ok(Value::tuple([Value::Int(start), Value::Int(end)]))
}

fn last(value: &Value) -> Result<Option<usize>, Raised> {
    let spans = &this(value)?.spans;
    Ok((1..spans.len()).rev().find(|number| spans[*number].is_some()))
}

fn last_index(_cx: &mut Cx, value: &Value) -> Res {
    Ok(last(value)?.map_or(Value::None, Value::from))
}

fn last_group(_cx: &mut Cx, value: &Value) -> Res {
    let names = &this(value)?.pattern.names;
    let name = last(value)?.and_then(|number| names[number].as_deref());
    Ok(name.map_or(Value::None, Value::str))
}

fn expand_method(_cx: &mut Cx, args: Args<'_>) -> Res {
    let this = this(&args[0])?;
    expand(&this.pattern, args.str(1)?, this.text(), &this.spans).map(Value::str)
}

impl NativeObject for Match {
    fn native_type(&self) -> &'static NativeType {
        &MATCH
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn truth(&self, _cx: &mut Cx) -> Result<bool, Raised> {
        Ok(true)
    }

    fn getitem(&self, _cx: &mut Cx, _this: &Value, group: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(self.group_text(self.number(group)?).map_or(Value::None, Value::str)))
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let (start, end) = self.places(&Value::Int(0))?;
        let shown = quote::repr(self.group_text(0).unwrap_or_default());
        Ok(format!("<re.Match object; span=({start}, {end}), match={shown}>"))
    }
}
