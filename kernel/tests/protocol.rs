//! The order of messages, one by one, over real sockets and the toy language (`src/echo.rs`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod frontend;

use std::time::Duration;

use frontend::Frontend;
use serde_json::json;

#[test]
fn a_cell_from_busy_to_idle() {
    let mut it = Frontend::start();
    for count in 1..4 {
        let cell = it.send_execute("print hello\nprint world\nvalue");
        it.recv_busy(&cell);
        assert_eq!(it.recv_input(&cell)["execution_count"], count);
        assert_eq!(it.recv_stdout(&cell), "hello\nworld\n");
        assert_eq!(it.recv_result(&cell), "value");
        assert_eq!(it.recv_reply(&cell, "execute_reply")["execution_count"], count);
        it.recv_idle(&cell);
    }
}

#[test]
fn a_failing_cell_has_one_error_and_aborts_the_rest() {
    let mut it = Frontend::start();
    let cells = ["print 1\nfail E v", "print 2", "print 3"].map(|code| it.send_execute(code));
    it.recv_busy(&cells[0]);
    it.recv_input(&cells[0]);
    assert_eq!(it.recv_stdout(&cells[0]), "1\n");
    assert_eq!(it.recv_error(&cells[0]), "E");
    assert_eq!(it.recv_reply(&cells[0], "execute_reply")["status"], "error");
    it.recv_idle(&cells[0]);
    for cell in &cells[1..] {
        it.recv_busy(cell);
        let reply = it.recv_reply(cell, "execute_reply");
        assert_eq!((&reply["status"], &reply["ename"]), (&json!("aborted"), &json!("Aborted")));
        it.recv_idle(cell);
    }
}

#[test]
fn completion_is_answered_while_a_cell_runs() {
    let mut it = Frontend::start();
    let cell = it.send_execute("sleep 600");
    it.recv_busy(&cell);
    it.recv_input(&cell);
    let asked = it.send("complete_request", json!({"code": "sle", "cursor_pos": 3}));
    assert_eq!(it.recv_reply(&asked, "complete_reply")["matches"], json!(["sleep"]));
    it.recv_busy(&asked);
    it.recv_idle(&asked);
    it.recv_busy(&cell);
    it.recv_reply(&cell, "execute_reply");
    it.recv_idle(&cell);
}

#[test]
fn requests_of_unknown_types_are_answered() {
    let mut it = Frontend::start();
    for name in ["nonsense", "create_subshell", "debug"] {
        let asked = it.send(&format!("{name}_request"), json!({}));
        let reply = it.recv_reply(&asked, &format!("{name}_reply"));
        assert_eq!(reply["status"], "error");
        assert!(!reply["evalue"].as_str().unwrap().is_empty());
        it.recv_busy(&asked);
        it.recv_idle(&asked);
    }
}

#[test]
fn updates_of_one_display_take_each_others_place() {
    let mut it = Frontend::start();
    let code = format!("show a 0\n{}value", "update a 1\n".repeat(50) + "update a last\n");
    let cell = it.send_execute(&code);
    it.recv_busy(&cell);
    it.recv_input(&cell);
    let mut shown = Vec::new();
    while shown.last().is_none_or(|it| it != "value") {
        shown.push(it.recv_shown(&cell));
    }
    assert_eq!(shown[0], "0");
    assert_eq!(shown[shown.len() - 2], "last");
    assert!(shown.len() < 50, "{shown:?}");
    it.recv_reply(&cell, "execute_reply");
    it.recv_idle(&cell);
}

#[test]
fn an_interrupt_ends_the_cell_and_keeps_the_session() {
    let mut it = Frontend::start();
    let cell = it.send_execute("sleep 60000");
    it.recv_busy(&cell);
    it.recv_input(&cell);
    let interrupt = it.send_control("interrupt_request", json!({}));
    it.recv_reply(&interrupt, "interrupt_reply");
    assert_eq!(it.recv_reply(&cell, "execute_reply")["ename"], "KeyboardInterrupt");
    // The two threads publish as they get to it: only the order within each request is fixed.
    it.recv_in_any_order(&[(&interrupt, &["busy", "idle"]), (&cell, &["error", "idle"])]);
}

#[test]
fn a_question_is_asked_and_answered() {
    let mut it = Frontend::start();
    let cell = it.send_execute("ask Name?");
    it.recv_busy(&cell);
    it.recv_input(&cell);
    assert_eq!(it.recv_question(&cell), json!({"prompt": "Name?", "password": false}));
    it.send_input("Ada");
    assert_eq!(it.recv_stdout(&cell), "Ada\n");
    it.recv_reply(&cell, "execute_reply");
    it.recv_idle(&cell);
}

#[test]
fn shutdown_is_answered_and_ends_the_process() {
    let mut it = Frontend::start();
    let shutdown = it.send_control("shutdown_request", json!({"restart": false}));
    assert_eq!(it.recv_reply(&shutdown, "shutdown_reply")["restart"], false);
    it.recv_busy(&shutdown);
    it.recv_shutdown(&shutdown);
    it.recv_idle(&shutdown);
    assert!(it.process.ends_within(Duration::from_secs(5)));
}
