//! The running kernel: what its threads share, how they start, how it ends.

use std::io;
use std::process;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;

use crate::connection::Connection;
use crate::handler::{Assist, Language};
use crate::history::History;
use crate::interpreter;
use crate::queue::Queue;
use crate::running::Running;
use crate::signals;
use crate::socket::iopub::{Greeter, IoPub};
use crate::socket::publisher::Keep;
use crate::socket::transport::{self, Channel, Transport};
use crate::socket::{control, shell, stdin};
use crate::usage::Usage;
use crate::wire::control::shutdown;
use crate::wire::header::{Request, Wire};
use crate::wire::iopub::State;

/// How often the kernel looks whether who started it is still there.
#[cfg(unix)]
const LOOK: Duration = Duration::from_millis(100);

/// How long a shutdown waits for an interrupted cell, and for clients to take what is sent.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(1);

/// What the threads of a kernel share.
pub struct Server {
    pub wire: Arc<Wire>,
    pub transport: Arc<dyn Transport>,
    pub iopub: Arc<IoPub>,
    pub queue: Queue,
    pub running: Running,
    pub history: Mutex<History>,
    pub assist: Arc<dyn Assist>,
    pub usage: Usage,
}

/// Serves a connection until a frontend shuts the kernel down; that ends the process.
pub fn run(connection: Connection, language: Language) -> Result<(), String> {
    let wire = Arc::new(Wire::new(&connection.key));
    let (transport, inboxes) = transport::bind(connection, Box::new(Greeter(wire.clone())))?;
    let running = Running::default();
    let iopub = IoPub::start(transport.clone(), wire.clone(), running.flag())?;
    let server = Arc::new(Server {
        wire,
        transport,
        iopub,
        queue: Queue::default(),
        running,
        history: Mutex::default(),
        assist: language.assist,
        usage: Usage::default(),
    });
    let interrupted = Arc::downgrade(&server);
    signals::on_interrupt(move || {
        if let Some(server) = interrupted.upgrade() {
            server.interrupt();
        }
    });
    server.iopub.status(&Bytes::new(), State::Starting);
    spawn("shell", &server, move |server| shell::serve(server, &inboxes.shell))?;
    spawn("control", &server, move |server| control::serve(server, &inboxes.control))?;
    spawn("stdin", &server, move |server| stdin::serve(server, &inboxes.stdin))?;
    watch_parent()?;
    let interpreter = interpreter::start(server, language.start)?;
    interpreter.join().map_err(|_| "the interpreter thread ended".to_owned())
}

fn spawn(
    name: &str,
    server: &Arc<Server>,
    serve: impl FnOnce(&Server) + Send + 'static,
) -> Result<(), String> {
    let server = server.clone();
    // Cells under edit are parsed here, however deeply they are nested.
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(interpreter::STACK);
    let thread = builder.spawn(move || serve(&server));
    thread.map(drop).map_err(failed_to_start)
}

pub(crate) fn failed_to_start(error: io::Error) -> String {
    format!("cannot start a thread: {error}")
}

/// Ends the process when the one that started it is gone. Frontends announce themselves in the
/// environment; without that a kernel may outlive who started it.
#[cfg(unix)]
fn watch_parent() -> Result<(), String> {
    let parent = std::os::unix::process::parent_id();
    let announced = std::env::var("JPY_PARENT_PID").ok().and_then(|it| it.parse::<u32>().ok());
    if announced != Some(parent) {
        return Ok(());
    }
    let watch = move || {
        while std::os::unix::process::parent_id() == parent {
            thread::sleep(LOOK);
        }
        // The cell may be anywhere, in the allocator too: nothing is torn down.
        signal_hook::low_level::exit(1);
    };
    let thread = thread::Builder::new().name("parent".to_owned()).spawn(watch);
    thread.map(drop).map_err(failed_to_start)
}

#[cfg(not(unix))]
fn watch_parent() -> Result<(), String> {
    Ok(())
}

impl Server {
    /// Answers a request.
    pub fn reply<T: Serialize>(&self, channel: Channel, request: &Request, content: &T) {
        let msg_type = request.msg_type.replace("_request", "_reply");
        let frames =
            self.wire.write(request.identities.clone(), &msg_type, &request.header, content);
        self.transport.send(channel, frames);
    }

    /// Tells all clients that a request is being worked on.
    pub fn busy(&self, request: &Request) {
        self.iopub.status(&request.header, State::Busy);
    }

    /// Tells all clients that a request has been dealt with.
    pub fn idle(&self, request: &Request) {
        self.iopub.status(&request.header, State::Idle);
        // Clients show the last status that came, whatever it belonged to.
        self.running.with_parent(|parent| self.iopub.status(parent, State::Busy));
    }

    /// Ends the running cell and those that wait; nothing happens if none runs.
    pub fn interrupt(&self) {
        if self.running.interrupt() {
            self.queue.abort();
        }
    }

    /// Answers a shutdown request and ends the process: the running cell is interrupted, and what
    /// has been sent is delivered, but neither is waited for without limit.
    pub fn shut_down(&self, channel: Channel, request: &Request, restart: bool) -> ! {
        self.queue.close();
        self.interrupt();
        self.reply(channel, request, &shutdown(restart));
        self.running.wait_idle(SHUTDOWN_LIMIT);
        let everybody = shutdown(restart);
        self.iopub.publish("shutdown_reply", &request.header, &everybody, Keep::Always);
        self.idle(request);
        self.transport.flush(SHUTDOWN_LIMIT);
        process::exit(0)
    }
}
