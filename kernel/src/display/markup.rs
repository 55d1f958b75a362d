//! `markup`: HTML written by the user with `%%html`, shown as it is.

use magics::Artifact;

use super::Renderer;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "markup",
    wants: |art| matches!(art, Artifact::Html(_)),
    plain,
    rich: &[("text/html", html)],
    samples: || {
        vec![Artifact::Html("<p>One &amp; <b title=\">\">two</b></p>\n<p>three</p>".into())]
    },
};

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Html(source) = art else { return None };
    Some(source.clone())
}

/// The text between the tags.
fn plain(art: &Artifact) -> String {
    let Artifact::Html(source) = art else { return String::new() };
    let mut text = String::new();
    let (mut in_tag, mut quote) = (false, None);
    for letter in source.chars() {
        match (in_tag, quote) {
            (false, _) if letter == '<' => in_tag = true,
            (false, _) => text.push(letter),
            (true, Some(open)) if letter == open => quote = None,
            (true, Some(_)) => {}
            (true, None) if letter == '"' || letter == '\'' => quote = Some(letter),
            (true, None) => in_tag = letter != '>',
        }
    }
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")];
    named.iter().fold(text, |text, (name, letter)| text.replace(name, letter)).trim().to_string()
}
