//! Markdown to HTML. Raw HTML is shown as text, maths stays TeX, links lead to the web or nowhere.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};
use serde_json::Value;

use super::source;
use crate::display::html::Html;

/// The text as HTML; `attachments` are the pictures kept in the cell.
pub(super) fn to_html(text: &str, attachments: Option<&Value>) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH;
    let mut events = Vec::new();
    let mut block: Option<(bool, String)> = None;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => block = Some((is_code(&kind), String::new())),
            Event::End(TagEnd::CodeBlock) => {
                let (is_code, text) = block.take().unwrap_or_default();
                events.push(Event::Html(code_block(is_code, &text).into()));
            }
            Event::Text(text) if block.is_some() => {
                block.iter_mut().for_each(|(_, all)| all.push_str(&text))
            }
            event => events.push(safe(event, attachments)),
        }
    }
    let mut out = String::new();
    push_html(&mut out, events.into_iter());
    out
}

fn is_code(kind: &CodeBlockKind<'_>) -> bool {
    match kind {
        CodeBlockKind::Indented => false,
        CodeBlockKind::Fenced(language) => {
            let language = language.split([' ', ',']).next().unwrap_or_default();
            ["python", "py", "ipython", "ipython3", "python3", "notegrad", "ng"].contains(&language)
        }
    }
}

fn code_block(is_code: bool, text: &str) -> String {
    Html::build(|html| {
        let text = text.trim_end_matches('\n');
        if is_code {
            source(html, text)
        } else {
            html.tag("pre").attr("class", "source").text(text)
        }
    })
}

/// The event without anything that could act.
fn safe<'a>(event: Event<'a>, attachments: Option<&Value>) -> Event<'a> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::InlineMath(tex) => math("span", &format!("${tex}$")),
        Event::DisplayMath(tex) => math("div", &format!("$${tex}$$")),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = link(dest_url, &["http", "https", "mailto"]);
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = attached(&dest_url, attachments).unwrap_or_else(|| picture(dest_url));
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        event => event,
    }
}

fn math(tag: &'static str, tex: &str) -> Event<'static> {
    Event::InlineHtml(Html::build(|html| html.tag(tag).attr("class", "math").text(tex)).into())
}

/// The address if it is relative or of a known scheme; else one that leads nowhere.
fn link<'a>(address: CowStr<'a>, schemes: &[&str]) -> CowStr<'a> {
    // Browsers skip control letters and spaces, also within a scheme.
    let bare: String =
        address.chars().filter(|it| !it.is_control() && !it.is_whitespace()).collect();
    let scheme = bare
        .split(['/', '?', '#'])
        .next()
        .and_then(|start| start.split_once(':'))
        .map(|(scheme, _)| scheme);
    let is_known = |scheme: &str| schemes.contains(&scheme.to_ascii_lowercase().as_str());
    if scheme.is_none_or(is_known) { address } else { "#".into() }
}

fn picture(address: CowStr<'_>) -> CowStr<'_> {
    if address.starts_with("data:image/") { address } else { link(address, &["http", "https"]) }
}

/// `attachment:name` as the picture itself.
fn attached(address: &str, attachments: Option<&Value>) -> Option<CowStr<'static>> {
    let forms = attachments?.get(address.strip_prefix("attachment:")?)?.as_object()?;
    let (mime, data) = forms.iter().find(|(mime, _)| mime.starts_with("image/"))?;
    let data = data.as_str()?;
    let legal = data.chars().all(|it| it.is_ascii_alphanumeric() || "+/=\n".contains(it));
    legal.then(|| format!("data:{mime};base64,{}", data.replace('\n', "")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(to_html(text, None), expected);
    }

    #[test]
    fn renders_text() {
        check("# A *b*\n", "<h1>A <em>b</em></h1>\n");
        check(
            "- [x] a",
            "<ul>\n<li><input disabled=\"\" type=\"checkbox\" checked=\"\"/>\na</li>\n</ul>\n",
        );
        check("```\n<a>\n```", "<pre class=\"source\">&lt;a&gt;</pre>");
        let code = "<pre class=\"source\"><code>x <span class=\"o\">=</span> <span class=\"n\">1</span></code></pre>";
        check("```python\nx = 1\n```", &code.replace("<span class=\"o\">=</span>", "="));
    }

    #[test]
    fn keeps_maths_readable() {
        check("$a_1 < b_2$", "<p><span class=\"math\">$a_1 &lt; b_2$</span></p>\n");
    }

    #[test]
    fn nothing_in_it_can_act() {
        check("a <script>x</script>", "<p>a &lt;script&gt;x&lt;/script&gt;</p>\n");
        check("[a](<java\tscript:x>)", "<p><a href=\"#\">a</a></p>\n");
        check(
            "[a](JavaScript:x) [b](b.md#c:d)",
            "<p><a href=\"#\">a</a> <a href=\"b.md#c:d\">b</a></p>\n",
        );
        check("![a](data:text/html,x)", "<p><img src=\"#\" alt=\"a\" /></p>\n");
    }

    #[test]
    fn shows_attached_pictures() {
        let attachments = serde_json::json!({"p.png": {"image/png": "iVBO"}});
        let html = to_html("![a](attachment:p.png)", Some(&attachments));
        assert_eq!(html, "<p><img src=\"data:image/png;base64,iVBO\" alt=\"a\" /></p>\n");
    }
}
