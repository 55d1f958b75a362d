//! The control channel: interrupt and shutdown, and whatever else needs an answer while a cell runs.

use std::sync::mpsc;

use bytes::Bytes;

use crate::server::Server;

use super::shell;
use super::transport::Channel;

/// Answers until the sockets are gone.
pub fn serve(server: &Server, inbox: &mpsc::Receiver<Vec<Bytes>>) {
    for frames in inbox {
        let Some(request) = server.wire.read(&frames) else { continue };
        shell::respond(server, Channel::Control, &request);
    }
}
