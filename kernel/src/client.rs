//! A small frontend: starts a kernel, sends requests, receives what comes back. For `doctor` and
//! for the tests, over sockets that are not ours.

use std::collections::VecDeque;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use zeromq::{DealerSocket, Socket, SocketOptions, SocketRecv, SocketSend, SubSocket, ZmqMessage};

use crate::connection::Connection;
use crate::wire::header::Wire;
use crate::wire::sign::{self, Key};

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Shell,
    Control,
    Stdin,
    IoPub,
}

/// A message from the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// `status`, `execute_reply` ...
    pub msg_type: String,
    /// The id of the request that it belongs to; empty if to none.
    pub parent: String,
    /// What it says.
    pub content: Value,
}

/// A kernel process with its connection file; ends with this value.
pub struct Process {
    child: Child,
    file: PathBuf,
    /// Where it listens.
    pub connection: Connection,
}

impl Process {
    /// Starts `argv`, in which `{connection_file}` stands for the file.
    pub fn start(argv: &[String]) -> Result<Self, String> {
        let connection = free_connection().map_err(|error| format!("no free port: {error}"))?;
        let name = format!("notegrad-{}.json", uuid::Uuid::new_v4().simple());
        let file = std::env::temp_dir().join(name);
        let text = serde_json::to_vec(&connection).unwrap_or_default();
        fs::write(&file, text)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        let path = file.to_string_lossy();
        let mut argv = argv.iter().map(|it| it.replace("{connection_file}", &path));
        let program = argv.next().ok_or("the command is empty")?;
        let child = Command::new(&program).args(argv).spawn();
        let child = child.map_err(|error| format!("cannot start {program}: {error}"))?;
        Ok(Self { child, file, connection })
    }

    /// The connection file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended by itself within `limit`.
    pub fn ends_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.file);
    }
}

fn free_connection() -> std::io::Result<Connection> {
    let held: Vec<TcpListener> =
        (0..5).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    let ports: Vec<u16> =
        held.iter().map(|it| it.local_addr().map(|it| it.port())).collect::<Result<_, _>>()?;
    Ok(Connection {
        transport: "tcp".to_owned(),
        ip: "127.0.0.1".to_owned(),
        shell_port: ports[0],
        control_port: ports[1],
        stdin_port: ports[2],
        iopub_port: ports[3],
        hb_port: ports[4],
        key: uuid::Uuid::new_v4().to_string(),
        signature_scheme: "hmac-sha256".to_owned(),
    })
}

/// The client's ends of the channels.
pub struct Client {
    runtime: Runtime,
    wire: Wire,
    key: Key,
    routed: [DealerSocket; 3],
    iopub: SubSocket,
    waiting: VecDeque<Message>,
}

impl Client {
    /// Connects to all channels; waits for the kernel to listen, and to say so on iopub.
    pub fn connect(connection: &Connection, limit: Duration) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start sockets: {error}"))?;
        let opened =
            runtime.block_on(async { tokio::time::timeout(limit, open(connection)).await });
        let (routed, iopub) = opened.map_err(|_| "the kernel does not listen".to_owned())??;
        let (wire, key) = (Wire::new(&connection.key), Key::new(&connection.key));
        let mut client = Self { runtime, wire, key, routed, iopub, waiting: VecDeque::new() };
        match client.receive(Source::IoPub, limit) {
            Some(message) if message.msg_type == "iopub_welcome" => Ok(client),
            other => Err(format!("the kernel did not welcome us: {other:?}")),
        }
    }

    /// Sends a message and gives its id.
    pub fn send(&mut self, source: Source, msg_type: &str, content: &Value) -> String {
        let frames = self.wire.write(vec![], msg_type, &Bytes::new(), content);
        let msg_id = self.parse(&frames).map(|it| it.0).unwrap_or_default();
        let socket = &mut self.routed[source as usize];
        if let Ok(message) = ZmqMessage::try_from(frames) {
            // A kernel that has gone is noticed when nothing comes back.
            let _ = self.runtime.block_on(socket.send(message));
        }
        msg_id
    }

    /// Sends `execute_request`.
    pub fn execute(&mut self, code: &str) -> String {
        self.send(Source::Shell, "execute_request", &json!({"code": code}))
    }

    /// The next message on one channel; `None` after `limit`.
    pub fn receive(&mut self, source: Source, limit: Duration) -> Option<Message> {
        let received = match source {
            Source::IoPub => {
                let next = async { tokio::time::timeout(limit, self.iopub.recv()).await };
                self.runtime.block_on(next)
            }
            _ => {
                let socket = &mut self.routed[source as usize];
                let next = async { tokio::time::timeout(limit, socket.recv()).await };
                self.runtime.block_on(next)
            }
        };
        let frames = received.ok()?.ok()?.into_vec();
        self.parse(&frames).map(|it| it.1)
    }

    /// The reply to a request; what belongs to other requests is kept for their turn.
    pub fn reply(&mut self, source: Source, msg_id: &str, limit: Duration) -> Option<Message> {
        if let Some(at) = self.waiting.iter().position(|it| it.parent == msg_id) {
            return self.waiting.remove(at);
        }
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.receive(source, left)?;
            if message.parent == msg_id {
                return Some(message);
            }
            self.waiting.push_back(message);
        }
    }

    fn parse(&self, frames: &[Bytes]) -> Option<(String, Message)> {
        let frames = sign::split(frames, &self.key)?;
        let text = |json: &Bytes, name: &str| {
            let json: Value = serde_json::from_slice(json).unwrap_or_default();
            json[name].as_str().unwrap_or_default().to_owned()
        };
        let message = Message {
            msg_type: text(&frames.header, "msg_type"),
            parent: text(&frames.parent_header, "msg_id"),
            content: serde_json::from_slice(&frames.content).ok()?,
        };
        Some((text(&frames.header, "msg_id"), message))
    }
}

async fn open(connection: &Connection) -> Result<([DealerSocket; 3], SubSocket), String> {
    let failed = |error: zeromq::ZmqError| format!("cannot connect: {error}");
    let identity = uuid::Uuid::new_v4().simple().to_string();
    let mut routed = [dealer(&identity), dealer(&identity), dealer(&identity)];
    let ports = [connection.shell_port, connection.control_port, connection.stdin_port];
    for (socket, port) in routed.iter_mut().zip(ports) {
        socket.connect(&connection.endpoint(port)).await.map_err(failed)?;
    }
    let mut iopub = SubSocket::new();
    iopub.connect(&connection.endpoint(connection.iopub_port)).await.map_err(failed)?;
    iopub.subscribe("").await.map_err(failed)?;
    Ok((routed, iopub))
}

/// All channels of a client share its identity: that is how a question on stdin finds it.
fn dealer(identity: &str) -> DealerSocket {
    let mut options = SocketOptions::default();
    if let Ok(identity) = identity.parse() {
        options.peer_identity(identity);
    }
    DealerSocket::with_options(options)
}
