//! What cells show, collected as nbformat outputs and echoed as plain text.

use std::cell::RefCell;
use std::io::Write;

use notebooks::Cell;
use serde_json::{Value, json};

use crate::handler::{Bundle, Failure, InputError, Outputs, Payload};

/// The most text of one cell's streams that is kept, in bytes.
const MOST: usize = 8 << 20;

/// Puts outputs into the cells they belong to.
pub(super) struct Log {
    state: RefCell<State>,
}

struct State {
    cells: Vec<Cell>,
    /// The running cell and its number.
    cell_idx: usize,
    count: u32,
    /// Set by a clear that waits for the next output.
    clear_next: bool,
    /// Bytes of text that the streams of this cell have taken.
    taken: usize,
    /// Displays that can be replaced.
    shown: Vec<Shown>,
    /// Where plain text is echoed.
    echo: Option<Echo>,
    /// Plain text of displays that can be replaced, echoed when the cell has ended.
    late: Vec<(String, String)>,
}

/// Where cells show plain text as they run.
pub struct Echo {
    /// What they print and display.
    pub stdout: Box<dyn Write>,
    /// What they write to `sys.stderr`, and remarks.
    pub stderr: Box<dyn Write>,
}

struct Shown {
    id: String,
    cell_idx: usize,
    output_idx: usize,
}

impl Log {
    /// Takes the cells while they run.
    pub(super) fn new(cells: Vec<Cell>, echo: Option<Echo>) -> Self {
        let (shown, late) = (Vec::new(), Vec::new());
        let state =
            State { cells, cell_idx: 0, count: 0, clear_next: false, taken: 0, shown, echo, late };
        Self { state: RefCell::new(state) }
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.state.borrow().cells.len()
    }

    /// Looks at one cell.
    pub(super) fn with_cell<T>(&self, cell_idx: usize, look: impl FnOnce(&Cell) -> T) -> T {
        look(&self.state.borrow().cells[cell_idx])
    }

    /// Gives the cells back.
    pub(super) fn take_cells(&self) -> Vec<Cell> {
        std::mem::take(&mut self.state.borrow_mut().cells)
    }

    /// Turns to the next cell, the one with this number.
    pub(super) fn begin(&self, cell_idx: usize, count: u32) {
        let mut state = self.state.borrow_mut();
        (state.cell_idx, state.count) = (cell_idx, count);
        (state.clear_next, state.taken) = (false, 0);
        state.cells[cell_idx].execution_count = Some(count.into());
    }

    /// Echoes what waited for the end of the cell.
    pub(super) fn end(&self) {
        let mut state = self.state.borrow_mut();
        for (_, text) in std::mem::take(&mut state.late) {
            state.echo(&format!("{text}\n"));
        }
    }

    /// The value of the cell's last expression.
    pub(super) fn result(&self, bundle: &Bundle) {
        let mut state = self.state.borrow_mut();
        state.echo(&format!("{}\n", bundle.text()));
        let Bundle { data, metadata } = bundle;
        let count = state.count;
        state.push(json!({
            "output_type": "execute_result", "execution_count": count, "data": data, "metadata": metadata,
        }));
    }

    /// The error that ended the cell.
    pub(super) fn fail(&self, failure: &Failure) {
        let Failure { ename, evalue, traceback } = failure;
        let json = json!({"output_type": "error", "ename": ename, "evalue": evalue, "traceback": traceback});
        self.state.borrow_mut().push(json);
    }
}

impl Outputs for Log {
    fn stdout(&self, text: &str) {
        self.state.borrow_mut().stream("stdout", text);
    }

    fn stderr(&self, text: &str) {
        self.state.borrow_mut().stream("stderr", text);
    }

    fn display(&self, bundle: &Bundle, id: Option<&str>, update: bool) {
        let mut state = self.state.borrow_mut();
        match id {
            Some(id) if update => state.update(id, bundle),
            id => state.display(id, bundle),
        }
    }

    fn notice(&self, bundle: &Bundle) {
        let mut state = self.state.borrow_mut();
        state.push_display(bundle);
        state.complain(&format!("{}\n", bundle.text()));
    }

    fn clear_output(&self, wait: bool) {
        let mut state = self.state.borrow_mut();
        if wait {
            state.clear_next = true;
        } else {
            state.clear();
        }
    }

    /// Nobody is there to answer.
    fn input(&self, _prompt: &str, _password: bool) -> Result<String, InputError> {
        Err(InputError::NotAllowed)
    }

    /// A page of help is shown; there is no frontend that could fill in a next cell.
    fn payload(&self, payload: Payload) {
        if let Payload::Page(bundle) = payload {
            self.state.borrow_mut().display(None, &bundle);
        }
    }
}

impl State {
    fn push(&mut self, output: Value) {
        if self.clear_next {
            self.clear();
        }
        self.outputs().push(output);
    }

    fn outputs(&mut self) -> &mut Vec<Value> {
        &mut self.cells[self.cell_idx].outputs
    }

    fn clear(&mut self) {
        self.outputs().clear();
        self.shown.retain(|shown| shown.cell_idx != self.cell_idx);
        self.late.clear();
        (self.clear_next, self.taken) = (false, 0);
    }

    /// Text joins the stream before it if that has the same name.
    fn stream(&mut self, name: &str, text: &str) {
        if self.clear_next {
            self.clear();
        }
        if name == "stderr" {
            self.complain(text)
        } else {
            self.echo(text)
        }
        if self.taken >= MOST {
            return;
        }
        self.taken += text.len();
        let text = if self.taken < MOST {
            text
        } else {
            &format!("{text}\n... further output is left out\n")
        };
        let last = self.outputs().last_mut();
        let last = last.filter(|last| last["output_type"] == "stream" && last["name"] == name);
        match last.and_then(|last| last.get_mut("text")) {
            Some(Value::String(all)) => all.push_str(text),
            _ => self.push(json!({"output_type": "stream", "name": name, "text": text})),
        }
    }

    fn push_display(&mut self, bundle: &Bundle) {
        let Bundle { data, metadata } = bundle;
        self.push(json!({"output_type": "display_data", "data": data, "metadata": metadata}));
    }

    fn display(&mut self, id: Option<&str>, bundle: &Bundle) {
        self.push_display(bundle);
        let Some(id) = id else { return self.echo(&format!("{}\n", bundle.text())) };
        let (id, cell_idx, output_idx) = (id.to_string(), self.cell_idx, self.outputs().len() - 1);
        self.late.push((id.clone(), bundle.text().to_string()));
        self.shown.push(Shown { id, cell_idx, output_idx });
    }

    /// Replaces all that was shown under the name; does nothing if there is no such display.
    fn update(&mut self, id: &str, bundle: &Bundle) {
        for shown in self.shown.iter().filter(|shown| shown.id == id) {
            let output = &mut self.cells[shown.cell_idx].outputs[shown.output_idx];
            output["data"] = Value::Object(bundle.data.clone());
            output["metadata"] = Value::Object(bundle.metadata.clone());
        }
        self.late
            .iter_mut()
            .filter(|(it, _)| it == id)
            .for_each(|(_, text)| *text = bundle.text().to_string());
    }

    fn echo(&mut self, text: &str) {
        write(self.echo.as_mut().map(|it| &mut it.stdout), text);
    }

    fn complain(&mut self, text: &str) {
        write(self.echo.as_mut().map(|it| &mut it.stderr), text);
    }
}

/// Nobody is left to tell when the terminal is gone.
fn write(to: Option<&mut Box<dyn Write>>, text: &str) {
    if let Some(to) = to {
        drop(to.write_all(text.as_bytes()).and_then(|()| to.flush()));
    }
}
