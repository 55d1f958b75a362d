//! `foreign`: an object of a Python package, in the form that it has made of itself.

use frontend_lang::shown::{Foreign, Form};
use magics::Artifact;

use super::html::Html;
use super::{Renderer, data_uri};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "foreign",
    wants: |art| matches!(art, Artifact::Foreign(_)),
    plain: |art| foreign(art).map(|it| it.text.clone()).unwrap_or_default(),
    rich: &[
        ("text/html", html),
        ("image/png", png),
        ("text/markdown", |art| match &foreign(art)?.form {
            Form::Markdown(text) => Some(text.clone()),
            _ => None,
        }),
        ("text/latex", |art| match &foreign(art)?.form {
            Form::Latex(text) => Some(text.clone()),
            _ => None,
        }),
    ],
    samples,
};

fn foreign(art: &Artifact) -> Option<&Foreign> {
    match art {
        Artifact::Foreign(it) => Some(it),
        _ => None,
    }
}

fn html(art: &Artifact) -> Option<String> {
    match &foreign(art)?.form {
        Form::Html(text) => Some(text.clone()),
        // As an image, so that nothing in it can act.
        Form::Svg(text) if text.contains("<svg") => Some(Html::build(|html| {
            html.tag("img").attr("src", data_uri::svg(text)).attr("alt", "drawing").empty();
        })),
        _ => None,
    }
}

fn png(art: &Artifact) -> Option<String> {
    match &foreign(art)?.form {
        Form::Png(bytes) => Some(data_uri::base64(bytes)),
        _ => None,
    }
}

fn samples() -> Vec<Artifact> {
    let sample = |text: &str, form| Artifact::Foreign(Foreign { text: text.to_owned(), form });
    vec![
        sample("   a\n0  1", Form::Html("<table><tr><th></th><th>a</th></tr></table>".to_owned())),
        sample("<drawing>", Form::Svg("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_owned())),
        sample("<Figure size 640x480>", Form::Png(vec![0x89, b'P', b'N', b'G'])),
        sample("Some *text*", Form::Markdown("Some *text*".to_owned())),
        sample("x**2", Form::Latex("$\\displaystyle x^{2}$".to_owned())),
    ]
}
