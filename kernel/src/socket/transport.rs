//! Where messages come in and go out: one trait, and its form over sockets.
//!
//! All sockets live on one thread, which only moves frames. Nothing here blocks its caller.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::connection::Connection;

use super::heartbeat;
use super::publisher::{Keep, Publisher, Voice};
use super::router::Router;

/// A channel on which requests come and replies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Shell,
    Control,
    Stdin,
}

/// Sends without waiting.
pub trait Transport: Send + Sync {
    /// Sends frames, the first of which names the receiver. A receiver that has gone is no error.
    fn send(&self, channel: Channel, frames: Vec<Bytes>);
    /// Sends frames to all subscribers; the first is the topic.
    fn publish(&self, frames: Vec<Bytes>, keep: Keep);
    /// Whether all subscribers that read can take more.
    fn has_room(&self) -> bool;
    /// Waits until all has been handed to the system, at most `limit`.
    fn flush(&self, limit: Duration);
}

/// What comes in, by channel.
pub struct Inboxes {
    pub shell: mpsc::Receiver<Vec<Bytes>>,
    pub control: mpsc::Receiver<Vec<Bytes>>,
    pub stdin: mpsc::Receiver<Vec<Bytes>>,
}

/// The sockets and what comes in on them, or why not.
pub type Bound = Result<(Arc<dyn Transport>, Inboxes), String>;

struct Sockets {
    routers: [Arc<Router>; 3],
    publisher: Arc<Publisher>,
}

/// Binds all five sockets and starts their thread.
pub fn bind(connection: Connection, voice: Box<dyn Voice>) -> Bound {
    let (told, tells) = mpsc::channel();
    thread::Builder::new()
        .name("sockets".to_owned())
        .spawn(move || serve(&connection, voice, &told))
        .map_err(|error| format!("cannot start the socket thread: {error}"))?;
    tells.recv().unwrap_or_else(|_| Err("the socket thread ended at once".to_owned()))
}

fn serve(connection: &Connection, voice: Box<dyn Voice>, told: &mpsc::Sender<Bound>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(told.send(Err(format!("cannot start sockets: {error}")))),
    };
    runtime.block_on(async {
        match bind_all(connection, voice).await {
            Ok(bound) => {
                let _ = told.send(Ok(bound));
                std::future::pending::<()>().await;
            }
            Err(error) => drop(told.send(Err(error))),
        }
    });
}

async fn bind_all(connection: &Connection, voice: Box<dyn Voice>) -> Bound {
    let at = |port| connection.endpoint(port);
    let publisher = Publisher::bind(&at(connection.iopub_port), voice).await?;
    heartbeat::bind(&at(connection.hb_port)).await?;
    let (shell_out, shell) = route(&at(connection.shell_port)).await?;
    let (control_out, control) = route(&at(connection.control_port)).await?;
    let (stdin_out, stdin) = route(&at(connection.stdin_port)).await?;
    let sockets = Sockets { routers: [shell_out, control_out, stdin_out], publisher };
    Ok((Arc::new(sockets), Inboxes { shell, control, stdin }))
}

async fn route(endpoint: &str) -> Result<(Arc<Router>, mpsc::Receiver<Vec<Bytes>>), String> {
    let (incoming, inbox) = mpsc::channel();
    // Nobody reads only while the process ends.
    let receive = move |_: &Router, frames| drop(incoming.send(frames));
    Ok((Router::bind(endpoint, Box::new(receive)).await?, inbox))
}

impl Transport for Sockets {
    fn send(&self, channel: Channel, frames: Vec<Bytes>) {
        self.routers[channel as usize].send(&frames);
    }

    fn publish(&self, frames: Vec<Bytes>, keep: Keep) {
        self.publisher.publish(&frames, keep);
    }

    fn has_room(&self) -> bool {
        self.publisher.has_room()
    }

    fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let is_flushed =
            || self.publisher.is_flushed() && self.routers.iter().all(|it| it.is_flushed());
        while !is_flushed() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
