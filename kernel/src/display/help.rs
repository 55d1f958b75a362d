//! `help`: what a name means, in sections.
//!
//! It has no ground and no colours of its own, so it fits tooltips and panels of light and dark pages; longer code has both.

use magics::Artifact;
use magics::artifact::{Help, Section};

use super::html::Html;
use super::{Renderer, highlight};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "help",
    wants: |art| matches!(art, Artifact::Help(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

fn plain(art: &Artifact) -> String {
    let Artifact::Help(help) = art else { return String::new() };
    let colored = |it: &Section| match it.title {
        "Source" => Section { text: highlight::to_terminal(&it.text), ..it.clone() },
        _ => it.clone(),
    };
    Help { sections: help.sections.iter().map(colored).collect() }.plain()
}

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Help(help) = art else { return None };
    Some(Html::build(|html| {
        html.tag("div").attr("class", "ng-help").within(|html| {
            for section in &help.sections {
                draw(html, section);
                html.line();
            }
        });
    }))
}

fn draw(html: &mut Html, section: &Section) {
    let Section { title, text, is_code } = section;
    let is_long = text.contains('\n');
    match (*title, is_code) {
        // What it is called needs no title.
        ("Signature" | "Usage" | "Parameter", _) => {
            html.tag("div").attr("style", "margin:0 0 4px").within(|html| {
                html.tag("code").within(|html| html.tag("strong").text(text));
            });
        }
        ("Help", _) => {
            html.tag("div").attr("style", "white-space:pre-wrap;margin:4px 0").text(text);
        }
        (_, true) if is_long => {
            titled(html, title, |_| {});
            highlight::to_panel(html, text);
        }
        (_, true) => titled(html, title, |html| html.tag("code").text(text)),
        (_, false) => titled(html, title, |html| html.text(text)),
    }
}

fn titled(html: &mut Html, title: &str, body: impl FnOnce(&mut Html)) {
    html.tag("div").within(|html| {
        html.tag("strong").text(title);
        html.text(" ");
        body(html);
    });
}

fn samples() -> Vec<Artifact> {
    let mut value = Help::default();
    value.add("Type", "Tensor", false);
    value.add("Value", "tensor([1., <2>])", true);
    value.add("Shape", "[2]", false);
    let mut function = Help::default();
    function.add("Signature", "f(x, y=1)", true);
    function.add("Help", "Adds.\n\n  y: what is added", false);
    function.add("Source", "def f(x, y=1):\n    return x + y", true);
    vec![Artifact::Help(value), Artifact::Help(function)]
}
