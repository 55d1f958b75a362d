//! Checks that hold for every renderer, walked over the list.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use magics::Artifact;

use super::{ALL, bundle, renderer};

/// What JupyterLab's sanitiser removes, or what differs from run to run.
const REMOVED: &[&str] = &[
    "<svg",
    "<style",
    "<script",
    "<math",
    "<iframe",
    " aria-",
    " role=",
    " data-",
    " id=",
    " on",
    "var(",
    "currentColor",
    "hsl(",
];

fn samples() -> impl Iterator<Item = (String, &'static super::Renderer, Artifact)> {
    ALL.iter().flat_map(|it| {
        (it.samples)()
            .into_iter()
            .enumerate()
            .map(move |(at, art)| (format!("{}-{}", it.name, at + 1), *it, art))
    })
}

#[test]
fn rows_are_sorted_and_text_is_last() {
    let names: Vec<&str> = ALL.iter().map(|it| it.name).collect();
    let (last, others) = names.split_last().unwrap();
    assert_eq!(*last, "text");
    assert!(others.is_sorted());
}

#[test]
fn every_sample_is_wanted_by_its_own_row() {
    for (name, row, art) in samples() {
        assert_eq!(renderer(&art).unwrap().name, row.name, "{name}");
    }
}

#[test]
fn every_row_fills_each_type_that_it_offers() {
    for row in ALL {
        let bundles: Vec<_> = (row.samples)().iter().map(bundle).collect();
        for (mime, _) in row.rich {
            let filled = bundles
                .iter()
                .any(|forms| forms.iter().any(|(it, text)| it == mime && !text.is_empty()));
            assert!(filled, "{}: {mime}", row.name);
        }
        assert!(
            bundles.iter().all(|forms| forms[0].0 == "text/plain" && !forms[0].1.is_empty()),
            "{}",
            row.name
        );
    }
}

#[test]
fn samples_match_their_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/display/golden");
    for (name, _, art) in samples() {
        let mut golden = format!("{}\n", shortened(&art));
        for (mime, text) in bundle(&art) {
            golden += &format!("\n=== {mime}\n{}\n", readable(&text));
        }
        expect_test::expect_file![folder.join(format!("{name}.golden"))].assert_eq(&golden);
    }
}

/// The input, above what is made of it.
fn shortened(art: &Artifact) -> String {
    let text = format!("{art:?}");
    let cut: String = text.chars().take(400).collect();
    if cut.len() < text.len() { format!("{cut} ...") } else { text }
}

/// Drawings as text, so that a difference can be read.
fn readable(text: &str) -> String {
    let (around, drawings) = take_drawings(text);
    drawings
        .iter()
        .fold(around, |text, drawing| text.replacen("[]", &format!("[\n{drawing}\n]"), 1))
}

/// The text with `[]` for each drawing, and the drawings.
fn take_drawings(text: &str) -> (String, Vec<String>) {
    let head = "data:image/svg+xml;base64,";
    let mut parts = text.split(head);
    let mut around = parts.next().unwrap().to_string();
    let mut drawings = Vec::new();
    for part in parts {
        let end = part.find('"').unwrap();
        drawings.push(String::from_utf8(STANDARD.decode(&part[..end]).unwrap()).unwrap());
        around += &format!("{head}[]{}", &part[end..]);
    }
    (around, drawings)
}

#[test]
fn html_passes_the_sanitiser() {
    for (name, row, art) in samples().filter(|(_, row, _)| row.name != "markup") {
        let Some((_, html)) = bundle(&art).into_iter().find(|(mime, _)| *mime == "text/html")
        else {
            continue;
        };
        for removed in REMOVED {
            let tags = html
                .split('<')
                .map(|part| part.split('>').next().unwrap())
                .collect::<Vec<_>>()
                .join("<");
            assert!(!tags.contains(removed), "{name} ({}): {removed}", row.name);
        }
    }
}

#[test]
fn user_text_stays_text() {
    for (name, _, art) in samples().filter(|(_, row, _)| row.name != "markup") {
        for (mime, text) in bundle(&art).into_iter().filter(|(mime, _)| *mime == "text/html") {
            let shown = readable(&text);
            for hostile in
                ["<script>", "<b>", "<1>", "<valid>", "<digit>", "<run>", "<optimized>", "<&>"]
            {
                assert!(!shown.contains(hostile), "{name} {mime}: {hostile}");
            }
        }
    }
}

#[test]
fn drawings_and_html_are_well_formed() {
    for (name, _, art) in samples().filter(|(_, row, _)| row.name != "markup") {
        for (_, text) in bundle(&art).into_iter().filter(|(mime, _)| *mime == "text/html") {
            let (around, drawings) = take_drawings(&text);
            check_nesting(&name, &around);
            drawings.iter().for_each(|drawing| check_nesting(&name, drawing));
        }
    }
}

fn check_nesting(name: &str, document: &str) {
    let mut open = Vec::new();
    for part in document.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed), "{name}"),
            None if tag.ends_with('/') || tag.starts_with(['!', '?']) => {}
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

#[test]
fn a_form_that_panics_is_left_out() {
    let view = magics::artifact::TensorView {
        shape: vec![2, 2],
        shown: vec![vec![0, 1], vec![0, 1]],
        ..Default::default()
    };
    assert_eq!(bundle(&Artifact::Tensor(view)).len(), 1);
}
