//! `error`: the error that ended a cell, with its trace in colour.

use frontend_lang::ink::ERROR;
use magics::Artifact;
use magics::artifact::ErrorView;

use super::Renderer;
use super::ansi;
use super::html::Html;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "error",
    wants: |art| matches!(art, Artifact::Error(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Error(error) = art else { return None };
    Some(Html::build(|html| {
        let style = "overflow:auto;white-space:pre";
        html.tag("pre").attr("class", "ng-error").attr("style", style).within(|html| {
            if error.traceback.is_empty() {
                ansi::to_html(html, &ERROR.paint(&error.name));
                html.text(&format!(": {}", error.message));
            }
            for (line_idx, line) in error.traceback.iter().enumerate() {
                if line_idx > 0 {
                    html.line();
                }
                ansi::to_html(html, line);
            }
        });
    }))
}

fn plain(art: &Artifact) -> String {
    let Artifact::Error(error) = art else { return String::new() };
    if error.traceback.is_empty() {
        return format!("{}: {}", error.name, error.message);
    }
    ansi::strip(&error.traceback.join("\n"))
}

fn samples() -> Vec<Artifact> {
    let bare =
        ErrorView { name: "ValueError".into(), message: "<script>".into(), traceback: vec![] };
    let title = format!("{}: inner sizes differ", ERROR.paint("error[shape]"));
    let traceback = vec![title, " 1 | a @ b".into()];
    let full = ErrorView { traceback, ..bare.clone() };
    vec![Artifact::Error(bare), Artifact::Error(full)]
}
