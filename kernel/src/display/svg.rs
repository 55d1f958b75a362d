//! `svg`: a drawing written by the user, shown as an image, so that nothing in it can act.

use magics::Artifact;

use super::{Renderer, data_uri, html::Html};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "svg",
    wants: |art| matches!(art, Artifact::Svg(_)),
    plain,
    rich: &[("text/html", html)],
    samples: || {
        let circle = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"80\">\
            <circle cx=\"40\" cy=\"40\" r=\"36\" fill=\"#4c8bd6\"/></svg>";
        vec![Artifact::Svg(circle.into())]
    },
};

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Svg(source) = art else { return None };
    let image = |html: &mut Html| {
        html.tag("img").attr("src", data_uri::svg(source)).attr("alt", "drawing").empty();
    };
    source.contains("<svg").then(|| Html::build(image))
}

fn plain(art: &Artifact) -> String {
    let Artifact::Svg(source) = art else { return String::new() };
    format!("<drawing, {} bytes of SVG>", source.len())
}
