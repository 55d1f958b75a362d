//! `markdown`: what `%%markdown` shows.

use magics::Artifact;

use super::Renderer;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "markdown",
    wants: |art| matches!(art, Artifact::Markdown(_)),
    plain,
    rich: &[("text/markdown", |art| Some(plain(art)))],
    samples: || vec![Artifact::Markdown("# Title\n\n`a < b` and $x^2$".into())],
};

fn plain(art: &Artifact) -> String {
    let Artifact::Markdown(source) = art else { return String::new() };
    source.clone()
}
