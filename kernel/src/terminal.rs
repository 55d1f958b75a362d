//! `notegrad eval` and `notegrad run`: cells in the terminal. Values are shown as plain text.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use lexopt::prelude::*;

use crate::cli::CliResult;
use crate::handler::{
    Bundle, Execute, Failure, Handler, InputError, InterruptFlag, Language, Outcome, Outputs,
    Payload,
};
use crate::interpreter::STACK;
use crate::runner::{self, Echo, RunOptions};
use crate::{language, signals};

/// Runs the code and shows what it gives; status 1 if it fails.
pub fn eval(args: Vec<OsString>) -> CliResult {
    let mut code = None;
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Value(it) if code.is_none() => code = Some(it.string()?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let code = code.ok_or(lexopt::Error::from("CODE is missing"))?;
    let is_done = on_interpreter_thread(language::language(), move |handler, _| {
        let request = Execute { code, execution_count: 1, allow_stdin: true, ..Execute::default() };
        let out: Rc<dyn Outputs> = Rc::new(Terminal::default());
        show(handler.execute(&request, &out))
    })?;
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a notebook or source file; status 1 if a cell fails.
pub fn run(args: Vec<OsString>) -> CliResult {
    let (mut options, mut is_strict) = (RunOptions::default(), false);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("out") => options.out = Some(parser.value()?.into()),
            Long("keep-going") => options.keep_going = true,
            Long("strict") => is_strict = true,
            Long("html") => options.html = Some(parser.value()?.into()),
            Long("set") => {
                let setting = parser.value()?.string()?;
                let (name, value) = setting.split_once('=').ok_or("--set takes NAME=VALUE")?;
                options.set.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            Long("timeout") => {
                let seconds: f64 = parser.value()?.parse()?;
                let limit = Duration::try_from_secs_f64(seconds);
                options.timeout = Some(limit.map_err(|_| "--timeout takes seconds")?);
            }
            Value(it) if options.input.as_os_str().is_empty() => options.input = it.into(),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if options.input.as_os_str().is_empty() {
        return Err(lexopt::Error::from("FILE is missing").into());
    }
    enter_folder(&mut options)?;
    let language = if is_strict { language::strict() } else { language::language() };
    let status = on_interpreter_thread(language, move |handler, interrupt| {
        options.interrupt = interrupt;
        let echo = Echo { stdout: Box::new(io::stdout()), stderr: Box::new(io::stderr()) };
        runner::run(&options, handler, echo, &mut io::stderr())
    })?;
    Ok(ExitCode::from(status))
}

/// Goes into the notebook's folder, as Jupyter does, so that paths in cells mean the same; paths of the command line keep
/// their meaning.
fn enter_folder(options: &mut RunOptions) -> io::Result<()> {
    let is_stdin = [notebooks::STDIN, "/dev/stdin"].iter().any(|it| options.input == Path::new(it));
    if !is_stdin && !options.input.starts_with("/dev/fd") {
        options.input = std::path::absolute(&options.input)?;
    }
    for path in [&mut options.out, &mut options.html].into_iter().flatten() {
        *path = std::path::absolute(&*path)?;
    }
    let folder = options.input.parent().filter(|it| !is_stdin && it.is_dir());
    if let Some(folder) = folder.filter(|it| !it.starts_with("/dev")) {
        std::env::set_current_dir(folder)?;
    }
    Ok(())
}

/// Starts a language on a thread with a large stack, on which SIGINT interrupts it.
pub fn on_interpreter_thread<T: Send + 'static>(
    language: Language,
    run: impl FnOnce(&mut dyn Handler, InterruptFlag) -> T + Send + 'static,
) -> Result<T, String> {
    let flag = InterruptFlag::default();
    let interrupt = flag.clone();
    signals::on_interrupt(move || interrupt.store(true, Ordering::SeqCst));
    let thread = thread::Builder::new()
        .name("interpreter".to_owned())
        .stack_size(STACK)
        .spawn(move || run((language.start)(flag.clone()).as_mut(), flag))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    thread.join().map_err(|_| "this is a bug in Notegrad".to_owned())
}

fn show(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Done(value) => {
            if let Some(value) = value {
                print(&mut io::stdout(), &format!("{}\n", value.text()));
            }
            true
        }
        Outcome::Failed(Failure { traceback, .. }) => {
            print(&mut io::stderr(), &format!("{}\n", traceback.join("\n")));
            false
        }
    }
}

/// A reader that has gone is no failure of the program.
fn print(to: &mut dyn Write, text: &str) {
    let _ = to.write_all(text.as_bytes());
    let _ = to.flush();
}

/// Outputs go to the terminal.
#[derive(Default)]
pub struct Terminal {
    /// Whether the last output was replaced in place, as progress is.
    has_progress: Cell<bool>,
}

impl Outputs for Terminal {
    fn stdout(&self, text: &str) {
        print(&mut io::stdout(), text);
    }

    fn stderr(&self, text: &str) {
        print(&mut io::stderr(), text);
    }

    fn display(&self, bundle: &Bundle, _id: Option<&str>, update: bool) {
        let text = bundle.text();
        if update && !text.contains('\n') {
            self.has_progress.set(true);
            return print(&mut io::stdout(), &format!("\r{text}\x1b[K"));
        }
        let before = if self.has_progress.replace(false) { "\n" } else { "" };
        print(&mut io::stdout(), &format!("{before}{text}\n"));
    }

    fn notice(&self, bundle: &Bundle) {
        if self.has_progress.replace(false) {
            print(&mut io::stdout(), "\n");
        }
        print(&mut io::stderr(), &format!("{}\n", bundle.text()));
    }

    fn clear_output(&self, _wait: bool) {}

    fn input(&self, prompt: &str, _password: bool) -> Result<String, InputError> {
        print(&mut io::stdout(), prompt);
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => Err(InputError::NotAllowed),
            Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }

    fn payload(&self, payload: Payload) {
        if let Payload::Page(bundle) = payload {
            print(&mut io::stdout(), &format!("{}\n", bundle.text()));
        }
    }
}
