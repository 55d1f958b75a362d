//! A frontend that is strict: it names each message it expects, and fails if one is left unread.

use std::time::Duration;

use kernel::client::{Client, Message, Process, Source, Transport};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Frontend {
    client: Client,
    pub(crate) process: Process,
}

impl Frontend {
    /// Starts the kernel around the toy language.
    pub(crate) fn start() -> Self {
        let exe = env!("CARGO_BIN_EXE_notegrad");
        let argv = [exe, "kernel", "--echo", "-f", "{connection_file}"].map(str::to_owned);
        let process = Process::start(&argv, Transport::Ipc).unwrap();
        let client = Client::connect(&process.connection, LIMIT).unwrap();
        let mut frontend = Self { client, process };
        // Who subscribes early enough hears of the start.
        let info = frontend.send("kernel_info_request", json!({}));
        frontend.recv_reply(&info, "kernel_info_reply");
        loop {
            let Message { content, .. } = frontend.recv();
            if content["execution_state"] == "idle" {
                return frontend;
            }
        }
    }

    pub(crate) fn send(&mut self, msg_type: &str, content: Value) -> String {
        self.client.send(Source::Shell, msg_type, &content)
    }

    pub(crate) fn send_control(&mut self, msg_type: &str, content: Value) -> String {
        self.client.send(Source::Control, msg_type, &content)
    }

    pub(crate) fn send_input(&mut self, value: &str) {
        self.client.send(Source::Stdin, "input_reply", &json!({"value": value}));
    }

    pub(crate) fn send_execute(&mut self, code: &str) -> String {
        self.send("execute_request", json!({"code": code, "store_history": true, "silent": false}))
    }

    pub(crate) fn recv_reply(&mut self, msg_id: &str, msg_type: &str) -> Value {
        let source = if msg_type.starts_with("shutdown") || msg_type.starts_with("interrupt") {
            Source::Control
        } else {
            Source::Shell
        };
        let message = self.client.reply(source, msg_id, LIMIT).expect("a reply");
        assert_eq!(message.msg_type, msg_type);
        message.content
    }

    pub(crate) fn recv_question(&mut self, msg_id: &str) -> Value {
        let message = self.client.receive(Source::Stdin, LIMIT).expect("a question");
        assert_eq!((message.msg_type.as_str(), message.parent.as_str()), ("input_request", msg_id));
        message.content
    }

    fn recv(&mut self) -> Message {
        self.client.receive(Source::IoPub, LIMIT).expect("a message on iopub")
    }

    fn recv_iopub(&mut self, msg_id: &str, msg_type: &str) -> Value {
        let message = self.recv();
        assert_eq!(
            (message.msg_type.as_str(), message.parent.as_str()),
            (msg_type, msg_id),
            "{}",
            message.content
        );
        message.content
    }

    pub(crate) fn recv_busy(&mut self, msg_id: &str) {
        assert_eq!(self.recv_iopub(msg_id, "status")["execution_state"], "busy");
    }

    pub(crate) fn recv_idle(&mut self, msg_id: &str) {
        assert_eq!(self.recv_iopub(msg_id, "status")["execution_state"], "idle");
    }

    pub(crate) fn recv_input(&mut self, msg_id: &str) -> Value {
        self.recv_iopub(msg_id, "execute_input")
    }

    pub(crate) fn recv_stdout(&mut self, msg_id: &str) -> String {
        let content = self.recv_iopub(msg_id, "stream");
        assert_eq!(content["name"], "stdout");
        content["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn recv_result(&mut self, msg_id: &str) -> String {
        let content = self.recv_iopub(msg_id, "execute_result");
        content["data"]["text/plain"].as_str().unwrap().to_owned()
    }

    /// The text of a display, an update or a result.
    pub(crate) fn recv_shown(&mut self, msg_id: &str) -> String {
        let message = self.recv();
        assert_eq!(message.parent, msg_id);
        message.content["data"]["text/plain"].as_str().unwrap().to_owned()
    }

    pub(crate) fn recv_error(&mut self, msg_id: &str) -> String {
        self.recv_iopub(msg_id, "error")["ename"].as_str().unwrap().to_owned()
    }

    /// What several requests give at the same time: in order for each. `busy` that a running cell
    /// says again, after the `idle` of another request, may be among it.
    pub(crate) fn recv_in_any_order(&mut self, expected: &[(&str, &[&str])]) {
        let mut left: Vec<(&str, &[&str])> = expected.to_vec();
        while left.iter().any(|it| !it.1.is_empty()) {
            let Message { msg_type, parent, content } = self.recv();
            let said = content["execution_state"].as_str().unwrap_or(&msg_type).to_owned();
            let of = left.iter_mut().find(|it| it.0 == parent).expect("a known request");
            match of.1 {
                [next, rest @ ..] if *next == said => of.1 = rest,
                _ => assert_eq!(said, "busy", "for {parent}"),
            }
        }
    }

    pub(crate) fn recv_shutdown(&mut self, msg_id: &str) {
        self.recv_iopub(msg_id, "shutdown_reply");
    }
}

impl Drop for Frontend {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for source in [Source::IoPub, Source::Shell, Source::Control, Source::Stdin] {
            let left = self.client.receive(source, Duration::from_millis(30));
            assert_eq!(left, None, "a message was left unread on {source:?}");
        }
    }
}
