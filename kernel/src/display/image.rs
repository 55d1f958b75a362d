//! `image`: one picture; small ones are enlarged with sharp pixels.

use magics::Artifact;
use magics::artifact::Image;

use super::html::Html;
use super::{Renderer, data_uri, png};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "image",
    wants: |art| matches!(art, Artifact::Image(_)),
    plain,
    rich: &[("text/html", html), ("image/png", png_base64)],
    samples,
};

/// The longest side that is sent; larger pictures are shrunk.
const LONGEST: usize = 1024;
/// The length to which a small picture is enlarged.
const ALONE: usize = 192;

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Image(image) = art else { return None };
    let mut html = Html::default();
    draw(&mut html, image, ALONE)?;
    Some(html.finish())
}

fn png_base64(art: &Artifact) -> Option<String> {
    let Artifact::Image(image) = art else { return None };
    Some(data_uri::base64(&png::write(&fit(image)?)?))
}

/// One picture over its caption.
pub(crate) fn draw(html: &mut Html, image: &Image, longest: usize) -> Option<()> {
    let image = fit(image)?;
    let (width, height) = shown_size(&image, longest);
    let file = png::write(&image)?;
    let source = if width > image.width {
        data_uri::svg(&sharp(&image, &file))
    } else {
        data_uri::png(&file)
    };
    html.tag("figure")
        .attr("style", "display:inline-block;margin:4px;text-align:center;vertical-align:top")
        .within(|html| {
            let tag = html.tag("img").attr("src", source).attr("alt", describe(&image));
            tag.attr("width", width).attr("height", height).empty();
            if !image.title.is_empty() {
                html.tag("figcaption").text(&image.title);
            }
        });
    Some(())
}

/// The picture, shrunk to the longest side that is sent; `None` if its sizes do not fit its bytes.
pub(super) fn fit(image: &Image) -> Option<Image> {
    let count = image.width.checked_mul(image.height)?.checked_mul(image.channels)?;
    if count == 0 || count != image.pixels.len() {
        return None;
    }
    let factor = image.width.max(image.height).div_ceil(LONGEST);
    Some(if factor > 1 { png::shrink(image, factor) } else { image.clone() })
}

/// Small pictures are enlarged by a whole factor.
fn shown_size(image: &Image, longest: usize) -> (usize, usize) {
    let factor = (longest / image.width.max(image.height)).max(1);
    (image.width * factor, image.height * factor)
}

/// The picture in a drawing, which says that pixels stay sharp and cannot lose that to a sanitiser.
fn sharp(image: &Image, file: &[u8]) -> String {
    Html::build(|html| {
        let (width, height) = (image.width, image.height);
        let svg = html.tag("svg").attr("xmlns", "http://www.w3.org/2000/svg");
        let svg = svg
            .attr("viewBox", format!("0 0 {width} {height}"))
            .attr("shape-rendering", "crispEdges");
        svg.within(|html| {
            let tag = html.tag("image").attr("width", width).attr("height", height);
            tag.attr("style", "image-rendering:pixelated")
                .attr("href", data_uri::png(file))
                .empty();
        });
    })
}

/// What a reader without the picture needs to know.
pub(crate) fn describe(image: &Image) -> String {
    let kind = match image.channels {
        1 => "grey",
        3 => "colour",
        _ => "colour with opacity",
    };
    let title = if image.title.is_empty() { String::new() } else { format!("{}: ", image.title) };
    format!("{title}{kind} image, {} by {} pixels", image.width, image.height)
}

fn plain(art: &Artifact) -> String {
    let Artifact::Image(image) = art else { return String::new() };
    format!("<{}>", describe(image))
}

fn samples() -> Vec<Artifact> {
    let wave = |width: usize, height: usize, channels: usize| Image {
        width,
        height,
        channels,
        pixels: (0..width * height * channels).map(|at| (at * 37 % 256) as u8).collect(),
        title: String::new(),
    };
    let titled = Image { title: "a <digit> \"7\"".into(), ..wave(8, 8, 1) };
    [titled, wave(3, 2, 3), wave(2, 2, 4), wave(200, 4, 1)]
        .into_iter()
        .map(Artifact::Image)
        .collect()
}
