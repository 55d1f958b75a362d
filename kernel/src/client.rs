//! A small frontend: starts a kernel, sends requests, receives what comes back. For `doctor` and
//! for the tests.

use std::collections::VecDeque;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::connection::Connection;
use crate::socket::dial::Dialled;
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

/// How a kernel and its frontend reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Ports of this machine, as Jupyter does it. Another process may take a port between the
    /// moment we find it free and the moment the kernel listens on it.
    Tcp,
    /// Socket files in a folder of our own, which nobody else can take.
    #[cfg(unix)]
    Ipc,
}

/// A kernel process with the folder of its connection file; ends with this value.
pub struct Process {
    child: Child,
    folder: PathBuf,
    /// Where it listens.
    pub connection: Connection,
}

impl Process {
    /// Starts `argv`, in which `{connection_file}` stands for the file.
    pub fn start(argv: &[String], transport: Transport) -> Result<Self, String> {
        let name = format!("notegrad-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        let connection = match transport {
            Transport::Tcp => free_ports().map_err(|error| format!("no free port: {error}"))?,
            #[cfg(unix)]
            Transport::Ipc => socket_files(&folder),
        };
        let file = folder.join("connection.json");
        let text = serde_json::to_vec(&connection).unwrap_or_default();
        let written = fs::create_dir(&folder).and_then(|()| fs::write(&file, text));
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        let path = file.to_string_lossy();
        let mut argv = argv.iter().map(|it| it.replace("{connection_file}", &path));
        let program = argv.next().ok_or("the command is empty")?;
        let child = Command::new(&program).args(argv).spawn();
        let child = child.map_err(|error| format!("cannot start {program}: {error}"))?;
        Ok(Self { child, folder, connection })
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
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn free_ports() -> std::io::Result<Connection> {
    let held: Vec<TcpListener> =
        (0..5).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    let mut ports = [0; 5];
    for (port, listener) in ports.iter_mut().zip(&held) {
        *port = listener.local_addr()?.port();
    }
    Ok(new_connection("tcp", "127.0.0.1", ports))
}

#[cfg(unix)]
fn socket_files(folder: &Path) -> Connection {
    new_connection("ipc", &folder.join("s").to_string_lossy(), [1, 2, 3, 4, 5])
}

fn new_connection(transport: &str, ip: &str, ports: [u16; 5]) -> Connection {
    let [shell_port, control_port, stdin_port, iopub_port, hb_port] = ports;
    Connection {
        transport: transport.to_owned(),
        ip: ip.to_owned(),
        shell_port,
        control_port,
        stdin_port,
        iopub_port,
        hb_port,
        key: uuid::Uuid::new_v4().to_string(),
        signature_scheme: "hmac-sha256".to_owned(),
    }
}

/// The client's ends of the channels.
pub struct Client {
    runtime: Runtime,
    wire: Wire,
    key: Key,
    sockets: Sockets,
    waiting: VecDeque<Message>,
}

impl Client {
    /// Connects to all channels; waits for the kernel to listen, and to say so on iopub.
    pub fn connect(connection: &Connection, limit: Duration) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start sockets: {error}"))?;
        let opened =
            runtime.block_on(async { tokio::time::timeout(limit, open(connection)).await });
        let opened = opened.map_err(|_| "the kernel does not listen".to_owned())?;
        let sockets = opened.map_err(|error| format!("cannot connect: {error}"))?;
        let (wire, key) = (Wire::new(&connection.key), Key::new(&connection.key));
        let mut client = Self { runtime, wire, key, sockets, waiting: VecDeque::new() };
        match client.receive(Source::IoPub, limit) {
            Some(message) if message.msg_type == "iopub_welcome" => Ok(client),
            other => Err(format!("the kernel did not welcome us: {other:?}")),
        }
    }

    /// Sends a message and gives its id.
    pub fn send(&mut self, source: Source, msg_type: &str, content: &Value) -> String {
        let frames = self.wire.write(vec![], msg_type, &Bytes::new(), content);
        let msg_id = self.parse(&frames).map(|it| it.0).unwrap_or_default();
        // A kernel that has gone is noticed when nothing comes back.
        let _ = self.runtime.block_on(self.sockets[source as usize].send(&frames));
        msg_id
    }

    /// Sends `execute_request`.
    pub fn execute(&mut self, code: &str) -> String {
        self.send(Source::Shell, "execute_request", &json!({"code": code}))
    }

    /// The next message on one channel; `None` after `limit`.
    pub fn receive(&mut self, source: Source, limit: Duration) -> Option<Message> {
        let socket = &mut self.sockets[source as usize];
        let next = async { tokio::time::timeout(limit, socket.receive()).await };
        let frames = self.runtime.block_on(next).ok()?.ok()?;
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

/// One for each `Source`. All channels of a client share its identity: that is how a question on
/// stdin finds it.
type Sockets = [Dialled; 4];

async fn open(connection: &Connection) -> std::io::Result<Sockets> {
    let identity = uuid::Uuid::new_v4().simple().to_string();
    let at = |port| connection.endpoint(port);
    Ok([
        Dialled::dealer(&at(connection.shell_port), &identity).await?,
        Dialled::dealer(&at(connection.control_port), &identity).await?,
        Dialled::dealer(&at(connection.stdin_port), &identity).await?,
        Dialled::subscriber(&at(connection.iopub_port)).await?,
    ])
}
