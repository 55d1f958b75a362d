//! Every code that errors can have is explained, by an example that ends with it, and on a page of its own.

use std::path::Path;

use frontend_lang::explain::all;
use tests::spec::{Runner, Runs};

#[test]
fn examples_end_with_their_code() {
    let mut wrong = Vec::new();
    for topic in all() {
        let ran = Runner::default().run(topic.example);
        engine::cpu::memory::HOST.set_budget(0);
        let shown = ran.error.unwrap_or_default().plain;
        let marked = |level: &str, text: &str| text.contains(&format!("{level}[{}]", topic.code));
        let carries = if marked("error", &shown) || marked("warning", &ran.output) {
            true
        } else if topic.code.contains("::") || topic.code == "memory" {
            shown.contains(&format!("(more: %explain {})", topic.code))
        } else {
            shown.contains(&format!("{}: ", topic.code)) || shown.lines().any(|it| it == topic.code)
        };
        if !carries {
            wrong.push(format!("{}:\n{shown}", topic.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// `notegrad explain --pages docs/errors` writes them anew.
#[test]
fn pages_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors");
    for topic in all() {
        let path = folder.join(format!("{}.md", topic.code.replace("::", "-")));
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&path, topic.page()).expect("a page");
        } else {
            assert!(page == topic.page(), "{} is not up to date", path.display());
        }
    }
}
