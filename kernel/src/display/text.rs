//! `text`: plain text as it is; takes whatever no other row wants.

use magics::Artifact;

use super::Renderer;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "text",
    wants: |_| true,
    plain,
    rich: &[],
    samples: || vec![Artifact::Text("[1, 2, 3]\n<script>alert(\"hello\")</script>".into())],
};

fn plain(art: &Artifact) -> String {
    match art {
        Artifact::Text(text) | Artifact::Html(text) => text.clone(),
        Artifact::Markdown(text) | Artifact::Svg(text) => text.clone(),
        _ => String::new(),
    }
}
