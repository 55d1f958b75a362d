//! Runs every spec of `tests/specs` again in a kernel behind real sockets, as a frontend does.
//!
//! The kernel is this very test program, started once more for each spec: `serves_a_kernel` is what it then runs. So
//! no binary must be built first, and none can be an old one.
#![cfg(unix)]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use frontend_lang::check::Level;
use kernel::client::{Client, Message, Process, Source, Transport};
use serde_json::{Value, json};
use tests::spec::{Failed, Ran, Runs, cells, check_file, files, level};

/// The environment variable that says where to serve.
const SERVE: &str = "NOTEGRAD_TEST_CONNECTION";

/// Far longer than any cell of a spec takes.
const LIMIT: Duration = Duration::from_secs(120);

/// A kernel of its own with a folder of its own.
struct Served {
    client: Client,
    /// Ends with this value, before its folder goes.
    _process: Process,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start(check: Level) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let exe = std::env::current_exe().expect("this program");
        let set = format!("{SERVE}={{connection_file}}");
        let cache = format!("XDG_CACHE_HOME={}", folder.path().display());
        let there = format!("NOTEGRAD_TEST_FOLDER={}", folder.path().display());
        let argv = ["env", &set, &cache, &there, &exe.to_string_lossy()].map(str::to_owned);
        let asked = ["--exact", "serves_a_kernel"].map(str::to_owned);
        let argv: Vec<String> = argv.into_iter().chain(asked).collect();
        let process = Process::start(&argv, Transport::Ipc).expect("a kernel");
        let client = Client::connect(&process.connection, LIMIT).expect("a connection");
        let mut served = Self { client, _process: process, _folder: folder };
        if check == Level::Off {
            served.ask("%check off", true);
        }
        served
    }

    /// Sends a cell; gives what came on iopub until it was idle, and the reply.
    fn ask(&mut self, code: &str, silent: bool) -> (Vec<Message>, Message) {
        let request = json!({"code": code, "silent": silent, "stop_on_error": false});
        let id = self.client.send(Source::Shell, "execute_request", &request);
        let mut messages = Vec::new();
        loop {
            let message = self.client.receive(Source::IoPub, LIMIT).expect("a message on iopub");
            if message.parent != id {
                continue;
            }
            let is_last = message.content["execution_state"] == "idle";
            messages.push(message);
            if is_last {
                break;
            }
        }
        let reply = self.client.reply(Source::Shell, &id, LIMIT).expect("a reply");
        (messages, reply)
    }
}

impl Runs for Served {
    fn run(&mut self, cell: &str) -> Ran {
        let (messages, reply) = self.ask(cell, false);
        let mut ran = Ran::default();
        let (mut shown, mut updates) = (String::new(), VecDeque::new());
        for Message { msg_type, content, .. } in &messages {
            match msg_type.as_str() {
                "stream" if content["name"] == "stdout" => ran.output += text(&content["text"]),
                "display_data" => shown += &(plain(content) + "\n"),
                "execute_result" => updates.push_back(plain(content) + "\n"),
                "error" => ran.error = Some(failed(content)),
                _ => {}
            }
        }
        ran.output += &shown;
        ran.output.extend(updates);
        for page in reply.content["payload"].as_array().into_iter().flatten() {
            ran.output += &(plain(page) + "\n");
        }
        assert_eq!(reply.content["status"] == "error", ran.error.is_some(), "{reply:?}");
        ran
    }
}

fn plain(content: &Value) -> String {
    text(&content["data"]["text/plain"]).to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn failed(content: &Value) -> Failed {
    let lines = content["traceback"].as_array().into_iter().flatten().map(text);
    Failed {
        name: text(&content["ename"]).into(),
        message: text(&content["evalue"]).into(),
        plain: without_colors(&lines.collect::<Vec<_>>().join("\n")),
    }
}

/// Takes `ESC [ ... m` out of a text.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or(part, |it| it.1))
}

/// Not a test of its own: what the kernels of this file run.
#[test]
fn serves_a_kernel() {
    let Some(file) = std::env::var_os(SERVE) else { return };
    let folder = std::env::var_os("NOTEGRAD_TEST_FOLDER").expect("a folder");
    std::env::set_current_dir(folder).expect("a folder");
    kernel::cli::main(vec!["kernel".into(), "-f".into(), file]);
}

#[test]
fn specs_hold_over_sockets() {
    let waiting: Mutex<Vec<PathBuf>> = Mutex::new(files());
    let found = Mutex::new((0, Vec::new()));
    let work = || {
        while let Some(path) = take(&waiting) {
            let (cells, problems) = check_file(&path, &mut Served::start(level(&path)));
            let mut found = found.lock().expect("no panic");
            found.0 += cells;
            found.1.extend(problems);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let (count, wrong) = found.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count >= 400, "{count} cells");
    println!("{count} cells of specs hold over sockets");
}

fn take(waiting: &Mutex<Vec<PathBuf>>) -> Option<PathBuf> {
    waiting.lock().expect("no panic").pop()
}

#[test]
fn a_wrong_spec_is_noticed_over_sockets() {
    let mut served = Served::start(Level::On);
    let mut number = 0;
    let mut check = |text: &str| {
        let cell = &cells(&format!("```python\n{text}\n```"))[0];
        number += 1;
        cell.compare(number, &served.run(&cell.text))
    };
    assert!(check("print(1)  # shows: 1").is_none());
    assert!(check("print(1)  # shows: 2").is_some());
    assert!(check("2  # shows: 2").is_none());
    assert!(check("1 / 0").is_some());
    assert!(check("1 / 0  # error: ZeroDivisionError: division").is_none());
    assert!(check("\n1 / 0\n2  # error: ZeroDivisionError: division").is_some());
    assert!(check("1  # error: ZeroDivisionError: division").is_some());
}
