//! What a frontend sends, from its greeting on: handshake, frames, messages, contents.

#![no_main]

use kernel::wire::header::Wire;
use kernel::wire::shell::{
    CompleteRequest, ExecuteRequest, HistoryRequest, InspectRequest, IsCompleteRequest,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let wire = Wire::new("");
    for frames in kernel::socket::messages_in(bytes) {
        let Some(request) = wire.read(&frames) else { continue };
        let _ = request.parse::<ExecuteRequest>();
        let _ = request.parse::<CompleteRequest>();
        let _ = request.parse::<InspectRequest>();
        let _ = request.parse::<IsCompleteRequest>();
        let _ = request.parse::<HistoryRequest>();
        let _ = request.note("cellId");
    }
});
