//! What `%%capture` keeps: the outputs of a cell, to be looked at or shown later; and the host that gathers them.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use frontend_lang::host::{FileError, Host, Metadata};
use frontend_lang::native::*;
use frontend_lang::shown::{Drawing, Figure, Notice};

/// Outputs of a cell as a value of the language.
#[derive(Default)]
pub(crate) struct Captured {
    pub(crate) stdout: RefCell<String>,
    pub(crate) stderr: RefCell<String>,
    /// What was displayed, the value of the last line at the end, each with its text.
    pub(crate) outputs: RefCell<Vec<(Value, String)>>,
}

static CAPTURED: NativeType = NativeType {
    module: "IPython.utils.capture",
    methods: &[&[
        function("show", "self", "Shows all of it, as the cell would have.", show),
        function("__call__", "self", "Shows all of it, as the cell would have.", show),
    ]],
    getters: &[
        Getter { name: "stdout", doc: "What was printed.", get: |_, it| text(it, |it| &it.stdout) },
        Getter {
            name: "stderr",
            doc: "What was written to sys.stderr.",
            get: |_, it| text(it, |it| &it.stderr),
        },
        Getter {
            name: "outputs",
            doc: "The values that were displayed.",
            get: |_, it| outputs(it),
        },
    ],
    ..NativeType::plain("CapturedIO", "The outputs of a cell that ran under %%capture.")
};

/// A captured value, shared with the host that fills it.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Rc<Captured>);

impl NativeObject for Shared {
    fn native_type(&self) -> &'static NativeType {
        &CAPTURED
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, this: &Value, _args: CallArgs<'_>) -> Res {
        show(cx, Args::new(std::slice::from_ref(this)))
    }

    fn str(&self, _cx: &mut Cx) -> Result<String, Raised> {
        Ok(self.0.stdout.borrow().clone())
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        self.0.outputs.borrow().iter().for_each(|it| visit(&it.0));
    }

    fn clear(&self) {
        self.0.outputs.take();
    }
}

fn text(this: &Value, of: fn(&Captured) -> &RefCell<String>) -> Res {
    match this.downcast::<Shared>() {
        Some(it) => Ok(Value::str(of(&it.0).borrow().as_str())),
        None => Err(type_error("expected what %%capture keeps")),
    }
}

fn outputs(this: &Value) -> Res {
    match this.downcast::<Shared>() {
        Some(it) => Ok(Value::list(it.0.outputs.borrow().iter().map(|it| it.0.clone()).collect())),
        None => Err(type_error("expected what %%capture keeps")),
    }
}

fn show(cx: &mut Cx, args: Args<'_>) -> Res {
    let kept = args.object::<Shared>(0)?.0.clone();
    cx.host.stdout(&kept.stdout.borrow());
    cx.host.stderr(&kept.stderr.borrow());
    for (value, text) in kept.outputs.borrow().iter() {
        cx.host.display(value, text, None, false);
    }
    Ok(Value::None)
}

/// A host that keeps outputs instead of showing them, where it is told to; all else goes on to the real one.
pub(crate) struct Keeping {
    pub(crate) real: Rc<RefCell<Box<dyn Host>>>,
    pub(crate) kept: Rc<Captured>,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) outputs: bool,
}

impl Keeping {
    fn real(&self) -> std::cell::RefMut<'_, Box<dyn Host>> {
        self.real.borrow_mut()
    }
}

impl Host for Keeping {
    fn stdout(&mut self, text: &str) {
        if self.stdout {
            self.kept.stdout.borrow_mut().push_str(text)
        } else {
            self.real().stdout(text)
        }
    }

    fn stderr(&mut self, text: &str) {
        if self.stderr {
            self.kept.stderr.borrow_mut().push_str(text)
        } else {
            self.real().stderr(text)
        }
    }

    fn display(&mut self, value: &Value, text: &str, display_id: Option<&str>, update: bool) {
        if self.outputs {
            self.kept.outputs.borrow_mut().push((value.clone(), text.to_owned()));
        } else {
            self.real().display(value, text, display_id, update);
        }
    }

    /// Belongs to what a program writes to standard error, as Python's warnings do.
    fn notice(&mut self, notice: &Notice) {
        if self.stderr {
            self.kept.stderr.borrow_mut().push_str(&format!("{}\n", notice.text));
        } else {
            self.real().notice(notice);
        }
    }

    fn clear_output(&mut self, wait: bool) {
        if self.outputs {
            self.kept.stdout.take();
            self.kept.outputs.take();
        } else {
            self.real().clear_output(wait);
        }
    }

    fn input(&mut self, prompt: &str, password: bool) -> Result<String, String> {
        self.real().input(prompt, password)
    }

    fn monotonic(&self) -> f64 {
        self.real().monotonic()
    }

    fn wall(&self) -> f64 {
        self.real().wall()
    }

    fn sleep(&mut self, seconds: f64) {
        self.real().sleep(seconds);
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileError> {
        self.real().read_file(path)
    }

    fn draw_figure(&self, figure: &Figure, drawing: Drawing) -> Result<Vec<u8>, String> {
        self.real().draw_figure(figure, drawing)
    }

    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.real().write_file(path, bytes)
    }

    fn create_file(&mut self, path: &str) -> Result<(), FileError> {
        self.real().create_file(path)
    }

    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.real().append_file(path, bytes)
    }

    fn remove_file(&mut self, path: &str) -> Result<(), FileError> {
        self.real().remove_file(path)
    }

    fn rename(&mut self, path: &str, to: &str) -> Result<(), FileError> {
        self.real().rename(path, to)
    }

    fn metadata(&self, path: &str) -> Result<Metadata, FileError> {
        self.real().metadata(path)
    }

    fn list_dir(&self, path: &str) -> Result<Vec<String>, FileError> {
        self.real().list_dir(path)
    }

    fn current_dir(&self) -> Result<String, FileError> {
        self.real().current_dir()
    }

    fn set_current_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.real().set_current_dir(path)
    }

    fn set_next_input(&mut self, text: &str, replace: bool) {
        self.real().set_next_input(text, replace);
    }

    fn remove_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.real().remove_dir(path)
    }

    fn make_dir(&mut self, path: &str) -> Result<(), FileError> {
        self.real().make_dir(path)
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.real().environment()
    }

    fn cache_dir(&self) -> Option<String> {
        self.real().cache_dir()
    }
}
