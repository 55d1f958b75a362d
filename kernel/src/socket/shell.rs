//! The shell channel: cells go to the interpreter's queue, all else is answered here, at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::handler::Failure;
use crate::lock::lock;
use crate::server::Server;
use crate::wire::comm::{CommClose, CommOpen, comm_info};
use crate::wire::control::{self, DebugRequest, DeleteSubshellRequest, ShutdownRequest};
use crate::wire::header::Request;
use crate::wire::shell::{
    self, CompleteRequest, ExecuteRequest, HistoryRequest, InspectRequest, IsCompleteRequest,
};

use super::publisher::Keep;
use super::transport::Channel;

/// Answers until the sockets are gone.
pub fn serve(server: &Server, inbox: &mpsc::Receiver<Vec<Bytes>>) {
    for frames in inbox {
        let Some(request) = server.wire.read(&frames) else { continue };
        match request.msg_type.as_str() {
            "execute_request" => match request.parse::<ExecuteRequest>() {
                Ok(execute) => server.queue.push(request, execute),
                Err(message) => refuse_cell(server, &request, message),
            },
            _ => respond(server, Channel::Shell, &request),
        }
    }
}

/// Answers one request between `busy` and `idle`. A bug in an answer is an error reply.
pub(super) fn respond(server: &Server, channel: Channel, request: &Request) {
    server.busy(request);
    let answer = catch_unwind(AssertUnwindSafe(|| answer(server, channel, request)));
    match answer.unwrap_or_else(|_| Err("the answer failed; this is a bug in Notegrad".to_owned()))
    {
        Ok(Some(content)) => server.reply(channel, request, &content),
        Ok(None) => {}
        Err(message) if request.msg_type.ends_with("_request") => {
            server.reply(channel, request, &shell::error(Failure::new("RequestError", message)));
        }
        Err(_) => {}
    }
    server.idle(request);
}

/// The reply, if this message has one: requests do, also those of an unknown type.
fn answer(server: &Server, channel: Channel, request: &Request) -> Result<Option<Value>, String> {
    let reply = match request.msg_type.as_str() {
        "kernel_info_request" => shell::kernel_info(),
        "complete_request" => {
            let CompleteRequest { code, cursor_pos } = request.parse()?;
            shell::complete(&server.assist.complete(&code, cursor(&code, cursor_pos)))
        }
        "inspect_request" => {
            let InspectRequest { code, cursor_pos, detail_level } = request.parse()?;
            let at = cursor(&code, cursor_pos);
            shell::inspect(server.assist.inspect(&code, at, detail_level))
        }
        "is_complete_request" => {
            let IsCompleteRequest { code } = request.parse()?;
            shell::is_complete(&server.assist.is_complete(&code))
        }
        "history_request" => lock(&server.history).answer(&request.parse::<HistoryRequest>()?),
        "comm_info_request" => comm_info(),
        "interrupt_request" => {
            server.interrupt();
            control::interrupt()
        }
        "create_subshell_request" => return Err(control::NO_SUBSHELLS.to_owned()),
        "delete_subshell_request" => {
            let DeleteSubshellRequest { subshell_id } = request.parse()?;
            return Err(format!("there is no subshell `{subshell_id}`: {}", control::NO_SUBSHELLS));
        }
        "list_subshell_request" => control::subshells(),
        "debug_request" => control::debug(&request.parse::<DebugRequest>()?),
        "usage_request" => server.usage.answer()?,
        "comm_open" => return close_comm(server, request).map(|()| None),
        "shutdown_request" => {
            let ShutdownRequest { restart } = request.parse().unwrap_or_default();
            server.shut_down(channel, request, restart)
        }
        name if name.ends_with("_request") => {
            return Err(format!("this channel of the kernel does not know `{name}`"));
        }
        _ => return Ok(None),
    };
    Ok(Some(reply))
}

/// The cursor in code points, inside the code; without one, its end.
fn cursor(code: &str, cursor_pos: Option<usize>) -> usize {
    let end = code.chars().count();
    cursor_pos.map_or(end, |it| it.min(end))
}

fn close_comm(server: &Server, request: &Request) -> Result<(), String> {
    let CommOpen { comm_id } = request.parse()?;
    let close = CommClose { comm_id, data: Map::new() };
    server.iopub.publish("comm_close", &request.header, &close, Keep::Always);
    Ok(())
}

fn refuse_cell(server: &Server, request: &Request, message: String) {
    server.busy(request);
    let mut reply = shell::error(Failure::new("RequestError", message));
    reply["execution_count"] = json!(0);
    reply["user_expressions"] = json!({});
    reply["payload"] = json!([]);
    server.reply(Channel::Shell, request, &reply);
    server.idle(request);
}
