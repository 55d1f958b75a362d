//! What is traced in a session: functions by their global name, and the steps of cells as `cell 3, loop at line 2`.

use std::collections::HashSet;

use engine::trace::{Given, Latest, Traced};
use frontend_lang::site::cell_of;
use frontend_lang::trace::{CellStep, TracedFn};

use crate::MagicError;
use crate::notebook::MagicCx;
use crate::tensor_names::TensorNames;

/// Something that was traced.
pub(crate) struct Subject {
    /// As it is shown.
    pub(crate) title: String,
    /// As it is typed after `%trace show`.
    pub(crate) word: String,
    pub(crate) traced: Traced,
    /// Calls that ran as written.
    pub(crate) eager: usize,
    /// Calls that ran without the body.
    pub(crate) alone: usize,
    /// What prevents that.
    pub(crate) prevented: String,
    /// Names of the arguments that are tensors.
    args: Vec<String>,
}

impl Subject {
    fn function(name: String, function: &TracedFn) -> Self {
        let args = function.arg_names();
        Self {
            title: name.clone(),
            word: name,
            traced: function.settled(),
            eager: function.n_eager(),
            alone: function.n_runs_alone(),
            prevented: function.runs_eagerly().unwrap_or_else(|| function.prevented()),
            args,
        }
    }

    fn step(step: CellStep) -> Self {
        let (place, word) = match cell_of(&step.source) {
            Some(cell) => (format!("cell {cell}"), cell),
            None => (step.source.clone(), &step.source[..]),
        };
        let (title, word) = match step.line {
            Some(line) => (format!("{place}, loop at line {line}"), format!("{word}:{line}")),
            None => (place, word.to_owned()),
        };
        let CellStep { traced, n_eager, n_alone, prevented, args, .. } = step;
        Self { title, word, traced, eager: n_eager, alone: n_alone, prevented, args }
    }
}

/// Functions in the order of their names' first binding, then cells that recorded something.
pub(crate) fn all(cx: &MagicCx<'_>) -> Vec<Subject> {
    let globals = cx.session.cx.globals.entries().into_iter();
    let functions = globals.filter_map(|(name, value)| {
        Some(Subject::function(name.to_string(), value.downcast::<TracedFn>()?))
    });
    let steps = cx.session.traced_steps().into_iter();
    let steps = steps.filter(|it| it.traced.stats().recorded > 0).map(Subject::step);
    functions.chain(steps).collect()
}

/// What `%trace show WHAT` means: a function, a cell, or one loop of a cell; without a word what ran last.
pub(crate) fn find(cx: &mut MagicCx<'_>, word: Option<&str>) -> Result<Vec<Subject>, MagicError> {
    let mut subjects = all(cx);
    let Some(word) = word else {
        let latest = subjects.into_iter().filter(|it| it.traced.latest_call().is_some());
        let latest = latest.max_by_key(|it| it.traced.latest_call());
        let nothing = || {
            MagicError::failed(
                "nothing is recorded yet; run a cell that begins with %trace, or call a function under %trace NAME",
            )
        };
        return Ok(vec![latest.ok_or_else(nothing)?]);
    };
    let of_cell = format!("{word}:");
    let fits = |it: &Subject| it.word == word || it.word.starts_with(&of_cell);
    if subjects.iter().any(fits) {
        subjects.retain(fits);
        return Ok(subjects);
    }
    if !word.starts_with(|it: char| it.is_ascii_digit()) {
        cx.global(word)?;
        let message = format!("`{word}` is not traced; run `%trace {word}` and call it first");
        return Err(MagicError::failed(message));
    }
    let known: Vec<String> =
        subjects.iter().map(|it| format!("`%trace show {}` ({})", it.word, it.title)).collect();
    let hint = match known.as_slice() {
        [] => "run a cell that begins with %trace first".into(),
        known => format!("there is {}", known.join(", ")),
    };
    Err(MagicError::failed(format!("nothing was recorded in cell {word}; {hint}")))
}

/// Names of what a recording takes in and leaves, by place in its inputs and outputs.
pub(crate) struct Named {
    pub(crate) inputs: Vec<Option<String>>,
    pub(crate) outputs: Vec<Option<String>>,
    /// Names of inputs that belong to a module, or get another value in the call.
    pub(crate) parameters: HashSet<String>,
}

impl Named {
    /// By what the values are now. A variable that was updated has another value than the call took in: its input gets the
    /// name of what is stored to it.
    pub(crate) fn of(subject: &Subject, latest: &Latest, names: &TensorNames) -> Self {
        let input = |given: &Given| match given {
            Given::Arg(at, place) => {
                let own = subject.args.get(*at).cloned();
                own.or_else(|| names.of(place).map(str::to_string))
            }
            Given::Capture(_, place) => names.of(place).map(str::to_string),
            Given::Number => None,
        };
        let output = |place| names.of(place).map(str::to_string);
        let mut named = Self {
            inputs: latest.inputs.iter().map(input).collect(),
            outputs: latest.outputs.iter().map(|it| output(&it.place)).collect(),
            parameters: HashSet::new(),
        };
        named.pair(latest);
        let is_parameter = |it: &&String| {
            names.is_of_module(it) || named.outputs.iter().flatten().any(|other| other == *it)
        };
        named.parameters = named.inputs.iter().flatten().filter(is_parameter).cloned().collect();
        named.name_others(latest);
        named
    }

    /// Numbers for what has no name: every input, and results of the function.
    fn name_others(&mut self, latest: &Latest) {
        for (name, given) in self.inputs.iter_mut().zip(&latest.inputs) {
            let number = match given {
                Given::Arg(at, _) => format!("input {at}"),
                Given::Capture(at, _) => format!("captured {at}"),
                Given::Number => continue,
            };
            name.get_or_insert(number);
        }
        let alone = latest.outputs.iter().filter(|it| it.returned).count() == 1;
        let returned = self.outputs.iter_mut().zip(&latest.outputs).filter(|it| it.1.returned);
        for (at, (name, _)) in returned.enumerate() {
            let number = || if alone { "result".into() } else { format!("result {at}") };
            name.get_or_insert_with(number);
        }
    }

    /// A variable is called as what the call has left in it.
    fn pair(&mut self, latest: &Latest) {
        let graph = &latest.graph;
        for store in &graph.stores {
            let input = graph.inputs().iter().position(|it| *it == store.variable);
            let output = graph.outputs.iter().position(|it| *it == store.value);
            let (Some(input), Some(output)) = (input, output) else { continue };
            let (before, after) = (&mut self.inputs[input], &mut self.outputs[output]);
            let name = after.clone().or_else(|| before.clone());
            (*before, *after) = (name.clone(), name);
        }
    }
}
