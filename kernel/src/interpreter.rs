//! The interpreter thread: runs the cells of the queue, one after the other, each to its reply.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::handler::{
    Bundle, Execute, Failure, Handler, InputError, InterruptFlag, Outcome, Outputs, Payload,
};
use crate::lock::lock;
use crate::queue::Job;
use crate::server::{Server, failed_to_start};
use crate::socket::stdin;
use crate::socket::transport::Channel;
use crate::wire::header::Request;
use crate::wire::iopub::{DisplayData, ExecuteInput, ExecuteResult, State, StreamName, error};
use crate::wire::shell::{ExecuteReply, ExecuteRequest, Status, user_expression};

/// Address space for the stack; memory is taken only as far as it is used.
pub const STACK: usize = 256 << 20;

/// After a failed cell: how long to look out for cells that were sent along with it.
const QUIET: Duration = Duration::from_millis(5);
const QUIET_LIMIT: Duration = Duration::from_millis(50);

type Start = Box<dyn FnOnce(InterruptFlag) -> Box<dyn Handler> + Send>;

/// Starts the thread, which ends when the queue is closed.
pub fn start(server: Arc<Server>, start: Start) -> Result<JoinHandle<()>, String> {
    let run = move || {
        let mut handler = start(server.running.flag());
        let mut interpreter = Interpreter { server: &server, handler: handler.as_mut(), count: 0 };
        while let Some((job, is_aborted)) = server.queue.pop() {
            if is_aborted { interpreter.abort(&job) } else { interpreter.run(&job) }
        }
        // Dropping a session with its tensors takes time that nobody waits for.
        std::mem::forget(handler);
        thread::park();
    };
    thread::Builder::new()
        .name("interpreter".to_owned())
        .stack_size(STACK)
        .spawn(run)
        .map_err(failed_to_start)
}

struct Interpreter<'a> {
    server: &'a Arc<Server>,
    handler: &'a mut dyn Handler,
    /// Cells so far that were to be kept.
    count: u32,
}

impl Interpreter<'_> {
    /// busy, execute_input, outputs, reply, idle.
    fn run(&mut self, job: &Job) {
        let (server, request) = (self.server, &job.request);
        server.running.begin(&request.header);
        server.iopub.begin(&request.header);
        server.busy(request);
        let execute = self.prepare(job);
        let (outcome, payload) = self.execute(&execute, request);
        let reply = self.conclude(&execute, &job.execute, outcome, payload, request);
        server.iopub.flush();
        if matches!(reply.status, Status::Error { .. }) && job.execute.stop_on_error {
            server.queue.settle(QUIET, QUIET_LIMIT);
            server.queue.abort();
        }
        server.reply(Channel::Shell, request, &reply);
        server.running.finish(|| server.iopub.status(&request.header, State::Idle));
        self.handler.tidy();
    }

    /// Counts the cell, keeps it, and shows it to the other frontends.
    fn prepare(&mut self, job: &Job) -> Execute {
        let ExecuteRequest { code, silent, store_history, allow_stdin, .. } = &job.execute;
        let store_history = store_history.unwrap_or(true) && !silent;
        if store_history {
            self.count += 1;
            lock(&self.server.history).push(self.count, code);
        }
        if !silent {
            let input = ExecuteInput { code, execution_count: self.count };
            self.server.iopub.show("execute_input", &input);
        }
        Execute {
            code: code.clone(),
            execution_count: self.count,
            silent: *silent,
            store_history,
            allow_stdin: *allow_stdin,
            cell_id: job.request.note("cellId"),
        }
    }

    fn execute(&mut self, execute: &Execute, request: &Request) -> (Outcome, Vec<Value>) {
        let (outputs, out) = self.outputs(request, execute.allow_stdin);
        let outcome =
            guarded(|| self.handler.execute(execute, &out)).unwrap_or_else(Outcome::Failed);
        (outcome, outputs.payload.take())
    }

    /// Shows the value or the error, and makes the reply.
    fn conclude(
        &mut self,
        execute: &Execute,
        asked: &ExecuteRequest,
        outcome: Outcome,
        payload: Vec<Value>,
        request: &Request,
    ) -> ExecuteReply {
        let execution_count = execute.execution_count;
        let status = match outcome {
            Outcome::Done(value) => {
                self.show_value(execute, value);
                Status::Ok
            }
            Outcome::Failed(failure) => {
                self.server.iopub.show("error", &error(&failure));
                failure.into()
            }
        };
        let user_expressions = match (&status, &asked.user_expressions) {
            (Status::Ok, Some(wanted)) => self.evaluate(wanted, request),
            _ => Map::new(),
        };
        ExecuteReply { status, execution_count, user_expressions, payload }
    }

    fn show_value(&self, execute: &Execute, value: Option<Bundle>) {
        let Some(value) = value else { return };
        if execute.store_history {
            lock(&self.server.history).set_output(value.text());
        }
        if !execute.silent {
            let Bundle { data, metadata } = &value;
            let transient = Map::new();
            let execution_count = execute.execution_count;
            let result = ExecuteResult { execution_count, data, metadata, transient };
            self.server.iopub.show("execute_result", &result);
        }
    }

    fn evaluate(&mut self, wanted: &Map<String, Value>, request: &Request) -> Map<String, Value> {
        let (_, out) = self.outputs(request, false);
        let mut value = |expression: &Value| {
            let expression = expression
                .as_str()
                .ok_or_else(|| Failure::new("TypeError", "a user expression must be a string"))?;
            guarded(|| self.handler.evaluate(expression, &out)).and_then(|it| it)
        };
        wanted.iter().map(|(name, it)| (name.clone(), user_expression(value(it)))).collect()
    }

    /// Where a cell shows things, as we know it and as the language does.
    fn outputs(&self, request: &Request, allow_stdin: bool) -> (Rc<CellOutputs>, Rc<dyn Outputs>) {
        let (server, request) = (self.server.clone(), request.clone());
        let payload = RefCell::default();
        let outputs = Rc::new(CellOutputs { server, request, allow_stdin, payload });
        (outputs.clone(), outputs)
    }

    /// Answers a cell that is not run because one before it failed or was interrupted.
    fn abort(&self, job: &Job) {
        self.server.busy(&job.request);
        let why = "not run: a cell before it failed or was interrupted";
        let status = Status::Aborted {
            ename: "Aborted".to_owned(),
            evalue: why.to_owned(),
            traceback: vec![],
        };
        let reply = ExecuteReply {
            status,
            execution_count: self.count,
            user_expressions: Map::new(),
            payload: vec![],
        };
        self.server.reply(Channel::Shell, &job.request, &reply);
        self.server.idle(&job.request);
    }
}

/// Runs what may have a bug; the session lives on.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Failure::new("InternalError", format!("this is a bug in Notegrad: {said}"))
    })
}

/// What the running cell shows goes to its subscribers.
struct CellOutputs {
    server: Arc<Server>,
    request: Request,
    allow_stdin: bool,
    payload: RefCell<Vec<Value>>,
}

impl Outputs for CellOutputs {
    fn stdout(&self, text: &str) {
        self.server.iopub.write(StreamName::Stdout, text);
    }

    fn stderr(&self, text: &str) {
        self.server.iopub.write(StreamName::Stderr, text);
    }

    fn display(&self, bundle: &Bundle, id: Option<&str>, update: bool) {
        match id.filter(|_| update) {
            Some(id) => self.server.iopub.update(id, bundle),
            None => self.server.iopub.display(&DisplayData::new(bundle, id)),
        }
    }

    fn clear_output(&self, wait: bool) {
        self.server.iopub.clear(wait);
    }

    fn input(&self, prompt: &str, password: bool) -> Result<String, InputError> {
        if !self.allow_stdin {
            return Err(InputError::NotAllowed);
        }
        self.server.iopub.flush();
        stdin::ask(&self.server, &self.request, prompt, password)
    }

    fn payload(&self, payload: Payload) {
        self.payload.borrow_mut().push(match payload {
            Payload::Page(Bundle { data, .. }) => {
                json!({"source": "page", "data": data, "start": 0})
            }
            Payload::NextInput { text, replace } => {
                json!({"source": "set_next_input", "text": text, "replace": replace})
            }
            Payload::Exit => json!({"source": "ask_exit", "keepkernel": false}),
        });
    }
}
