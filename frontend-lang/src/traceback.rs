//! Tracebacks: the places an exception passed, with their lines, innermost last.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::builtins::ng_modules;
use crate::cx::Cx;
use crate::diagnostic::{Label, clamp};
use crate::error::{Mark, Raised};
use crate::ink;
use crate::sym::Sym;
use crate::value::Value;

/// Most frames shown.
const MOST: usize = 24;

/// The traceback twice: with ANSI colours, and plain.
pub(crate) fn render(cx: &mut Cx, raised: &Raised) -> (Vec<String>, Vec<String>) {
    let mut lines = (Vec::new(), Vec::new());
    if let Some((text, words)) = earlier(cx, raised) {
        for (color, part) in [(true, &mut lines.0), (false, &mut lines.1)] {
            part.push(title(color, &text));
            part.push(format!("\n{words}\n"));
        }
    }
    let marks = shown_marks(cx, raised);
    let hidden = marks.len().saturating_sub(MOST);
    for (idx, mark) in marks.iter().enumerate() {
        if hidden > 0 && idx == MOST / 2 {
            let text = format!("... {hidden} more calls ...");
            lines.0.push(text.clone());
            lines.1.push(text);
        }
        if hidden > 0 && idx >= MOST / 2 && idx < MOST / 2 + hidden {
            continue;
        }
        if let Some((styled, plain)) = place(cx, mark) {
            lines.0.push(styled);
            lines.1.push(plain);
        }
    }
    let text = last_line(cx, raised.value());
    lines.0.push(title(true, &text));
    lines.1.push(text);
    if let Some((next, more)) = next_step(raised) {
        lines.0.push(format!("{}: {next}{more}", ink::HELP.paint("help")));
        lines.1.push(format!("help: {next}{more}"));
    }
    for note in notes(cx, raised) {
        lines.0.push(note.clone());
        lines.1.push(note);
    }
    lines
}

/// What to do, and where more is said.
fn next_step(raised: &Raised) -> Option<(String, String)> {
    let topic = raised.code();
    let more = topic.map_or_else(String::new, |it| format!(" (more: %explain {})", it.code));
    let next = raised.help().or_else(|| topic.map(|it| it.next.to_owned()))?;
    Some((next, more))
}

/// The places from the outside in, without those in modules that are compiled code elsewhere, unless there are no others.
fn shown_marks<'a>(cx: &Cx, raised: &'a Raised) -> Vec<&'a Mark> {
    let is_compiled = |it: &Mark| {
        cx.sources.get(it.span.source).is_some_and(|it| ng_modules::is_compiled(&it.name))
    };
    let marks: Vec<&Mark> = raised.marks().iter().rev().collect();
    let shown: Vec<&Mark> = marks.iter().copied().filter(|it| !is_compiled(it)).collect();
    if shown.is_empty() { marks } else { shown }
}

fn title(color: bool, text: &str) -> String {
    if !color {
        return text.to_owned();
    }
    match text.split_once(':') {
        Some((name, rest)) => format!("{}:{rest}", ink::ERROR.paint(name)),
        None => ink::ERROR.paint(text),
    }
}

/// Bytes of the text of an exception that are shown; a page of them is more than anyone reads.
const SHOWN: usize = 100_000;

/// A text as it is shown: of a very long one the beginning, and how much there is.
pub(crate) fn bounded(mut text: String) -> String {
    if text.len() > SHOWN {
        let more = text.len() - SHOWN;
        text.truncate(text.floor_char_boundary(SHOWN));
        text.shrink_to_fit();
        text.push_str(&format!(" ... (about {more} bytes more)"));
    }
    text
}

/// `ValueError: text`, as CPython ends a traceback.
fn last_line(cx: &mut Cx, value: &Value) -> String {
    let name = crate::objects::class::type_of(value).name;
    match cx.str(value).map(bounded) {
        Ok(text) if text.is_empty() => name.to_string(),
        Ok(text) => match hint(value) {
            Some(hint) => format!("{name}: {text}. {hint}"),
            None => format!("{name}: {text}"),
        },
        Err(_) => format!("{name}: <exception str() failed>"),
    }
}

fn hint(value: &Value) -> Option<String> {
    let Value::Instance(it) = value else { return None };
    it.get(Sym::HINT).and_then(|it| it.as_str().map(str::to_owned))
}

fn notes(cx: &mut Cx, raised: &Raised) -> Vec<String> {
    let notes = raised.instance().and_then(|it| it.get(Sym::NOTES));
    let items = notes.and_then(|it| cx.collect(&it).ok()).unwrap_or_default();
    items.iter().filter_map(|it| it.as_str().map(|it| bounded(it.to_owned()))).collect()
}

/// The exception this one came from, and how CPython words that.
fn earlier(cx: &mut Cx, raised: &Raised) -> Option<(String, &'static str)> {
    let it = raised.instance()?;
    let cause = it.get(Sym::CAUSE).filter(|it| !it.is_none());
    if let Some(cause) = cause {
        let text = "The above exception was the direct cause of the following exception:";
        return Some((last_line(cx, &cause), text));
    }
    let suppressed = matches!(it.get(Sym::SUPPRESS), Some(Value::Bool(true)));
    let context = it.get(Sym::CONTEXT).filter(|it| !it.is_none() && !suppressed)?;
    let text = "During handling of the above exception, another exception occurred:";
    Some((last_line(cx, &context), text))
}

fn context<'a>(label: &'a Label, text: &str) -> annotate_snippets::Annotation<'a> {
    AnnotationKind::Context.span(clamp(label.span, text)).label(label.text.as_str())
}

fn place(cx: &Cx, mark: &Mark) -> Option<(String, String)> {
    if mark.span.start == mark.span.end {
        // Not a place that the user wrote.
        return None;
    }
    let source = cx.sources.get(mark.span.source)?;
    let function = mark.function.as_str();
    let range = clamp(mark.span, &source.text);
    let render = |renderer: Renderer| {
        let path = match function {
            "<module>" => source.name.clone(),
            _ => format!("{} in {function}", source.name),
        };
        let primary = AnnotationKind::Primary.span(range.clone());
        let mut snippet = Snippet::source(source.text.as_str()).path(path).annotation(primary);
        let mut group = Group::with_level(Level::ERROR);
        let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
            mark.operands.iter().partition(|it| it.span.source == mark.span.source);
        for label in here {
            snippet = snippet.annotation(context(label, &source.text));
        }
        group = group.element(snippet);
        for label in elsewhere {
            let Some(other) = cx.sources.get(label.span.source) else { continue };
            let snippet = Snippet::source(other.text.as_str()).path(other.name.as_str());
            group = group.element(snippet.annotation(context(label, &other.text)));
        }
        renderer.render(&[group])
    };
    Some((render(ink::renderer()), render(Renderer::plain())))
}
