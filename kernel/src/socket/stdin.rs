//! The stdin channel: questions to the user and the answers.

use std::sync::mpsc;

use bytes::Bytes;

use crate::handler::InputError;
use crate::server::Server;
use crate::wire::header::Request;
use crate::wire::stdin::{InputReply, InputRequest};

use super::transport::Channel;

/// Hands answers to the running cell until the sockets are gone.
pub fn serve(server: &Server, inbox: &mpsc::Receiver<Vec<Bytes>>) {
    for frames in inbox {
        let Some(reply) = server.wire.read(&frames) else { continue };
        if reply.msg_type == "input_reply"
            && let Ok(InputReply { value }) = reply.parse()
        {
            server.running.answer(value);
        }
    }
}

/// Asks the client that sent the cell, and waits.
pub fn ask(
    server: &Server,
    cell: &Request,
    prompt: &str,
    password: bool,
) -> Result<String, InputError> {
    let question = InputRequest { prompt, password };
    let frames =
        server.wire.write(cell.identities.clone(), "input_request", &cell.header, &question);
    server.running.input(|| server.transport.send(Channel::Stdin, frames))
}
