//! Words about processes that have ended, and about what the system refuses.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Lines of output that tell why a process ended.
const LINES: usize = 5;
/// Characters of each.
const WIDTH: usize = 200;

/// How a process ended, as the rest of a sentence; `None`: the system does not say.
pub(super) fn how(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "has ended".to_owned() };
    if let Some(code) = status.code() {
        return format!("ended with exit status {code}");
    }
    let signal = status.signal().unwrap_or_default();
    let name = signal_hook::low_level::signal_name(signal);
    let name = name.map_or(String::new(), |it| format!(" ({it})"));
    let hint = if signal == 9 { "; the system may have run out of memory" } else { "" };
    format!("was killed by signal {signal}{name}{hint}")
}

/// An error of the system, without its number, which says nothing that the words do not.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or(&text).to_owned()
}

/// The last lines of what a process wrote, as a part of a message; empty if it wrote nothing.
pub(super) fn last_lines(text: &str) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .rev()
        .map(str::trim_end)
        .filter(|it| !it.is_empty())
        .take(LINES)
        .map(|it| format!("\n    {}", it.chars().take(WIDTH).collect::<String>()))
        .collect();
    lines.reverse();
    if lines.is_empty() { String::new() } else { format!("\nIts last output:{}", lines.concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_signals_have_words() {
        let words = |raw: i32| how(Some(ExitStatus::from_raw(raw)));
        assert_eq!(words(3 << 8), "ended with exit status 3");
        assert_eq!(words(11), "was killed by signal 11 (SIGSEGV)");
        assert!(words(9).starts_with("was killed by signal 9 (SIGKILL); the system may"));
        assert_eq!(how(None), "has ended");
    }

    #[test]
    fn errors_have_no_numbers() {
        assert_eq!(words(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(words(&io::ErrorKind::NotFound.into()), "entity not found");
    }

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_lines(" \n\n"), "");
        assert_eq!(last_lines("a\n\nb"), "\nIts last output:\n    a\n    b");
        let text: String = (0..9).map(|it| format!("{it}\n")).collect();
        assert_eq!(last_lines(&text), "\nIts last output:\n    4\n    5\n    6\n    7\n    8");
        assert!(last_lines(&"a".repeat(1000)).len() < 300);
    }
}
