//! A toy language that proves the boundary: each line of a cell is one command to the outputs, and
//! any other last line is the value of the cell. The protocol's tests run it.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::handler::{
    Assist, Bundle, Completeness, Completion, Completions, Execute, Failure, Handler, InputError,
    InterruptFlag, Language, Outcome, Outputs, Payload,
};

/// The commands, for completion and help.
const COMMANDS: &[(&str, &str)] = &[
    ("ask", "ask PROMPT: asks the user, prints the answer"),
    ("clear", "clears the output"),
    ("err", "err TEXT: writes to stderr"),
    ("fail", "fail NAME MESSAGE: fails"),
    ("flood", "flood N: prints N lines"),
    ("next", "next TEXT: offers the next cell"),
    ("page", "page TEXT: shows a page"),
    ("panic", "panics"),
    ("print", "print TEXT: writes a line to stdout"),
    ("show", "show ID TEXT: displays"),
    ("sleep", "sleep MILLISECONDS: waits, interruptibly"),
    ("update", "update ID TEXT: replaces what was shown"),
];

/// The toy language.
pub fn language() -> Language {
    let start = |interrupt| Box::new(Echo { interrupt }) as Box<dyn Handler>;
    Language { assist: Arc::new(EchoAssist), start: Box::new(start) }
}

struct Echo {
    interrupt: InterruptFlag,
}

impl Handler for Echo {
    fn execute(&mut self, request: &Execute, out: &Rc<dyn Outputs>) -> Outcome {
        let mut value = None;
        for line in request.code.lines().filter(|it| !it.trim().is_empty()) {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            match self.command(command, rest, out) {
                Ok(true) => value = None,
                Ok(false) => value = Some(Bundle::plain(line)),
                Err(failure) => return Outcome::Failed(failure),
            }
        }
        Outcome::Done(value)
    }

    fn evaluate(&mut self, expression: &str, out: &Rc<dyn Outputs>) -> Result<Bundle, Failure> {
        let (command, rest) = expression.split_once(' ').unwrap_or((expression, ""));
        self.command(command, rest, out).map(|_| Bundle::plain(expression))
    }
}

impl Echo {
    /// Whether it was a command.
    fn command(&self, command: &str, rest: &str, out: &Rc<dyn Outputs>) -> Result<bool, Failure> {
        match command {
            "print" => out.stdout(&format!("{rest}\n")),
            "err" => out.stderr(&format!("{rest}\n")),
            "flood" => (0..number(rest)).for_each(|line| out.stdout(&format!("{line}\n"))),
            "show" | "update" => {
                let (id, text) = rest.split_once(' ').unwrap_or((rest, ""));
                out.display(&Bundle::plain(text), Some(id), command == "update");
            }
            "clear" => out.clear_output(false),
            "page" => out.payload(Payload::Page(Bundle::plain(rest))),
            "next" => out.payload(Payload::NextInput { text: rest.to_owned(), replace: false }),
            "ask" => {
                let answer = out.input(rest, false).map_err(input_failure)?;
                out.stdout(&format!("{answer}\n"));
            }
            "fail" => {
                let (name, message) = rest.split_once(' ').unwrap_or((rest, ""));
                return Err(Failure::new(name, message));
            }
            "sleep" => self.sleep(Duration::from_millis(number(rest)))?,
            "panic" => panic!("{rest}"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn sleep(&self, time: Duration) -> Result<(), Failure> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            if self.interrupt.load(Ordering::SeqCst) {
                return Err(Failure::new("KeyboardInterrupt", ""));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

fn input_failure(error: InputError) -> Failure {
    match error {
        InputError::NotAllowed => Failure::new("StdinNotImplementedError", error.to_string()),
        InputError::Interrupted => Failure::new("KeyboardInterrupt", ""),
    }
}

struct EchoAssist;

impl Assist for EchoAssist {
    fn complete(&self, code: &str, cursor: usize) -> Completions {
        let before: String = code.chars().take(cursor).collect();
        let word = before.rsplit([' ', '\n']).next().unwrap_or_default();
        let matches = COMMANDS
            .iter()
            .filter(|it| it.0.starts_with(word))
            .map(|it| Completion {
                text: it.0.to_owned(),
                kind: "function".to_owned(),
                signature: String::new(),
            })
            .collect();
        Completions { matches, start: cursor - word.chars().count(), end: cursor }
    }

    fn inspect(&self, code: &str, _cursor: usize, _detail: u8) -> Option<Bundle> {
        COMMANDS.iter().find(|it| it.0 == code.trim()).map(|it| Bundle::plain(it.1))
    }

    fn is_complete(&self, code: &str) -> Completeness {
        match code.trim_end().chars().last() {
            Some('\\') => Completeness::Incomplete { indent: String::new() },
            Some('!') => Completeness::Invalid,
            _ => Completeness::Complete,
        }
    }
}
