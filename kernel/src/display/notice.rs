//! `notice`: a remark beside the output, in one dimmed line that opens to all of it.
//!
//! It has no colours of its own: the page's text, let through in part, so that it fits light and dark pages.

use magics::Artifact;
use magics::artifact::Notice;

use super::Renderer;
use super::html::Html;

pub(crate) static RENDERER: Renderer = Renderer {
    name: "notice",
    wants: |art| matches!(art, Artifact::Notice(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// How much of the text's colour is kept.
const OPACITY: f64 = 0.75;

fn plain(art: &Artifact) -> String {
    let Artifact::Notice(notice) = art else { return String::new() };
    notice.text.clone()
}

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Notice(notice) = art else { return None };
    let style = format!("opacity:{OPACITY};font-size:90%");
    Some(Html::build(|html| {
        html.tag("div").attr("class", "ng-notice").attr("style", style).within(|html| {
            if !notice.has_more() {
                return html.text(&notice.text);
            }
            html.tag("details").within(|html| {
                html.tag("summary").text(&notice.summary);
                html.tag("pre").attr("style", "overflow:auto;margin:2px 0 4px").text(&notice.text);
            });
        });
    }))
}

fn samples() -> Vec<Artifact> {
    let line = "%trace: <run>: the last batch has another size";
    let text = "warning[unused-result]: nobody keeps this\n --> In[1]:1:1\n1 | x + <1>";
    let long =
        Notice { summary: "line 1: nobody keeps this (unused-result)".into(), text: text.into() };
    vec![Artifact::Notice(Notice::line(line)), Artifact::Notice(long)]
}

#[cfg(test)]
mod tests {
    use super::OPACITY;

    /// Lightness of a grey as WCAG 2 counts it.
    fn luminance(grey: f64) -> f64 {
        if grey <= 0.04045 { grey / 12.92 } else { ((grey + 0.055) / 1.055).powf(2.4) }
    }

    fn contrast(ink: f64, ground: f64) -> f64 {
        let (a, b) = (luminance(ink), luminance(ground));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn can_be_read_on_light_and_dark_pages() {
        // JupyterLab's themes: 87 % black on white, 87 % white on #111.
        for (ink, ground) in [(0.0, 1.0), (1.0, 17.0 / 255.0)] {
            let kept = 0.87 * OPACITY;
            let seen = ink * kept + ground * (1.0 - kept);
            assert!(contrast(seen, ground) >= 4.5, "{}", contrast(seen, ground));
        }
    }
}
