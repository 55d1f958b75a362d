//! Exceptions: the built-in hierarchy and `Raised`, an exception on its way up.

use std::io::ErrorKind;
use std::rc::Rc;

pub use crate::builtins::types::BASE_EXCEPTION;
pub use crate::objects::class::type_name;

use crate::builtins::exceptions;
use crate::diagnostic::Label;
use crate::host::FileError;
use crate::native::NativeType;
use crate::objects::class::{Class, Instance, class_of, traits};
use crate::source::Span;
use crate::sym::Sym;
use crate::value::Value;

macro_rules! exceptions {
    ($($id:ident: $base:ident = $name:literal, $doc:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $doc)]
            pub static $id: NativeType =
                NativeType { base: Some(&$base), ..NativeType::plain($name, $doc) };
        )*
        /// Every built-in exception below `BaseException`.
        pub static EXCEPTIONS: &[&NativeType] = &[$(&$id),*];
    };
}

exceptions! {
    EXCEPTION: BASE_EXCEPTION = "Exception", "Base of all errors.";
    KEYBOARD_INTERRUPT: BASE_EXCEPTION = "KeyboardInterrupt", "The user stopped the program.";
    SYSTEM_EXIT: BASE_EXCEPTION = "SystemExit", "The program asked to end.";
    GENERATOR_EXIT: BASE_EXCEPTION = "GeneratorExit", "A generator is closed.";
    ARITHMETIC_ERROR: EXCEPTION = "ArithmeticError", "Base of arithmetic errors.";
    ZERO_DIVISION_ERROR: ARITHMETIC_ERROR = "ZeroDivisionError", "Division by zero.";
    OVERFLOW_ERROR: ARITHMETIC_ERROR = "OverflowError", "A number is too large.";
    FLOATING_POINT_ERROR: ARITHMETIC_ERROR = "FloatingPointError", "A float operation failed.";
    ASSERTION_ERROR: EXCEPTION = "AssertionError", "An assertion is false.";
    ATTRIBUTE_ERROR: EXCEPTION = "AttributeError", "An object has no such attribute.";
    BUFFER_ERROR: EXCEPTION = "BufferError", "A buffer cannot be used.";
    EOF_ERROR: EXCEPTION = "EOFError", "Input has ended.";
    IMPORT_ERROR: EXCEPTION = "ImportError", "A name cannot be imported.";
    MODULE_NOT_FOUND_ERROR: IMPORT_ERROR = "ModuleNotFoundError", "There is no such module.";
    LOOKUP_ERROR: EXCEPTION = "LookupError", "Base of lookup errors.";
    INDEX_ERROR: LOOKUP_ERROR = "IndexError", "An index is out of range.";
    KEY_ERROR: LOOKUP_ERROR = "KeyError", "A key is missing.";
    MEMORY_ERROR: EXCEPTION = "MemoryError", "There is not enough memory.";
    NAME_ERROR: EXCEPTION = "NameError", "A name has no value.";
    UNBOUND_LOCAL_ERROR: NAME_ERROR = "UnboundLocalError", "A local name has no value yet.";
    OS_ERROR: EXCEPTION = "OSError", "A file cannot be used.";
    FILE_NOT_FOUND_ERROR: OS_ERROR = "FileNotFoundError", "There is no such file.";
    IS_A_DIRECTORY_ERROR: OS_ERROR = "IsADirectoryError", "A folder stands where a file is wanted.";
    NOT_A_DIRECTORY_ERROR: OS_ERROR = "NotADirectoryError", "A file stands where a folder is wanted.";
    PERMISSION_ERROR: OS_ERROR = "PermissionError", "Access is refused.";
    FILE_EXISTS_ERROR: OS_ERROR = "FileExistsError", "There is such a file already.";
    CONNECTION_ERROR: OS_ERROR = "ConnectionError", "A connection failed.";
    TIMEOUT_ERROR: OS_ERROR = "TimeoutError", "Something took too long.";
    REFERENCE_ERROR: EXCEPTION = "ReferenceError", "An object is gone.";
    RUNTIME_ERROR: EXCEPTION = "RuntimeError", "Something went wrong.";
    NOT_IMPLEMENTED_ERROR: RUNTIME_ERROR = "NotImplementedError", "Not written yet.";
    RECURSION_ERROR: RUNTIME_ERROR = "RecursionError", "Calls are nested too deeply.";
    OUT_OF_MEMORY_ERROR: RUNTIME_ERROR = "OutOfMemoryError", "There is not enough memory for a tensor.";
    TRACE_ERROR: RUNTIME_ERROR = "TraceError", "Code cannot be compiled into a graph.";
    SYNTAX_ERROR: EXCEPTION = "SyntaxError", "The text is not a program.";
    INDENTATION_ERROR: SYNTAX_ERROR = "IndentationError", "Lines are indented wrongly.";
    SYSTEM_ERROR: EXCEPTION = "SystemError", "A mistake inside the language.";
    TYPE_ERROR: EXCEPTION = "TypeError", "An object has the wrong type.";
    DTYPE_ERROR: NOT_IMPLEMENTED_ERROR = "DTypeError", "A tensor has the wrong dtype.";
    VALUE_ERROR: EXCEPTION = "ValueError", "A value is not acceptable.";
    SHAPE_ERROR: RUNTIME_ERROR = "ShapeError", "Shapes do not fit together.";
    UNICODE_ERROR: VALUE_ERROR = "UnicodeError", "Text cannot be encoded.";
    UNICODE_DECODE_ERROR: UNICODE_ERROR = "UnicodeDecodeError", "Bytes are no text.";
    WARNING: EXCEPTION = "Warning", "Base of warnings.";
    USER_WARNING: WARNING = "UserWarning", "A warning by a program.";
    DEPRECATION_WARNING: WARNING = "DeprecationWarning", "Something will go away.";
    RUNTIME_WARNING: WARNING = "RuntimeWarning", "Something looks wrong.";
    FUTURE_WARNING: WARNING = "FutureWarning", "Something will change.";
}

/// What linear algebra raises, which programs know as `torch.linalg.LinAlgError`.
pub static LINALG_ERROR: NativeType = NativeType {
    base: Some(&RUNTIME_ERROR),
    ..NativeType::plain("_LinAlgError", "A matrix is singular, or not positive-definite.")
};

/// The class of errors of this name, `RuntimeError` where there is none.
pub fn class_named(name: &str) -> &'static NativeType {
    let all = EXCEPTIONS.iter().copied().chain([&LINALG_ERROR]);
    all.into_iter().find(|it| it.name == name).unwrap_or(&RUNTIME_ERROR)
}

/// `StopIteration`: an iterator has no more items.
pub static STOP_ITERATION: NativeType = NativeType {
    base: Some(&EXCEPTION),
    getters: exceptions::GETTERS,
    ..NativeType::plain("StopIteration", "An iterator has no more items.")
};

/// The attribute of an exception that holds its code.
const CODE: &str = "__code__";

/// The attribute of an exception that holds its next step.
const HELP: &str = "__help__";

/// An exception on its way up, with the places it has passed.
#[derive(Clone)]
pub struct Raised(Box<Inner>);

#[derive(Clone)]
struct Inner {
    exception: Value,
    marks: Vec<Mark>,
    /// Labels for the first place.
    labels: Vec<Label>,
    /// The place it is raised at again is noted already.
    rethrown: bool,
}

/// A place an exception has passed, innermost first.
#[derive(Clone, Debug)]
pub struct Mark {
    pub span: Span,
    pub function: Sym,
    /// What names there held, for errors about tensors.
    pub operands: Vec<Label>,
}

impl Raised {
    /// A new exception of a built-in type with one argument.
    pub fn new(row: &'static NativeType, message: impl Into<String>) -> Raised {
        Raised::with_args(row, vec![Value::str(message.into())])
    }

    /// A new exception of a built-in type.
    pub fn with_args(row: &'static NativeType, args: Vec<Value>) -> Raised {
        Raised::from_instance(exceptions::instance(class_of(row), args))
    }

    /// An exception that exists already.
    pub fn from_instance(instance: Rc<Instance>) -> Raised {
        Raised(Box::new(Inner {
            exception: Value::Instance(instance),
            marks: Vec::new(),
            labels: Vec::new(),
            rethrown: false,
        }))
    }

    /// A `TypeError` in other words; any other error stays.
    pub fn or_type_error(self, words: impl Into<String>) -> Raised {
        if self.is(&TYPE_ERROR) { type_error(words) } else { self }
    }

    /// Notes the name that the exception is about, as its `name`.
    pub fn with_name(self, name: Sym) -> Raised {
        if let Some(it) = self.instance() {
            it.set(Sym::of("name"), name.value());
        }
        self
    }

    /// Adds words that only the traceback shows, such as the nearest name.
    pub fn with_hint(self, hint: Option<&str>) -> Raised {
        if let (Some(hint), Some(it)) = (hint, self.instance()) {
            it.set(Sym::HINT, Value::str(format!("Did you mean: '{hint}'?")));
        }
        self
    }

    /// Adds a sentence that only the traceback shows.
    pub fn with_words(self, words: Option<String>) -> Raised {
        if let (Some(words), Some(it)) = (words, self.instance()) {
            it.set(Sym::HINT, Value::str(words));
        }
        self
    }

    /// Says what kind of error it is, for tracebacks: see [`crate::explain`].
    pub fn with_code(self, code: &'static str) -> Raised {
        if let Some(it) = self.instance() {
            it.set(Sym::of(CODE), Value::str(code));
        }
        self
    }

    /// Adds the next step, which the traceback shows on a line of its own in place of the one that the code has.
    pub fn with_help(self, help: Option<String>) -> Raised {
        if let (Some(help), Some(it)) = (help, self.instance()) {
            it.set(Sym::of(HELP), Value::str(help));
        }
        self
    }

    /// What [`Raised::with_help`] has said.
    pub fn help(&self) -> Option<String> {
        self.instance()?.get(Sym::of(HELP))?.as_str().map(str::to_owned)
    }

    /// Adds a label to the first place that the exception passes.
    pub(crate) fn with_label(mut self, label: Label) -> Raised {
        self.0.labels.push(label);
        self
    }

    pub(crate) fn take_labels(&mut self) -> Vec<Label> {
        std::mem::take(&mut self.0.labels)
    }

    /// What [`Raised::with_code`] has said.
    pub fn code(&self) -> Option<&'static crate::explain::Topic> {
        let code = self.instance()?.get(Sym::of(CODE))?;
        crate::explain::find(code.as_str()?)
    }

    /// The exception object.
    pub fn value(&self) -> &Value {
        &self.0.exception
    }

    /// The exception as an instance.
    pub fn instance(&self) -> Option<&Rc<Instance>> {
        match &self.0.exception {
            Value::Instance(it) => Some(it),
            _ => None,
        }
    }

    /// The class of the exception.
    pub fn class(&self) -> Rc<Class> {
        crate::objects::class::type_of(&self.0.exception)
    }

    /// True if the exception is of this built-in type or derives from it.
    pub fn is(&self, row: &'static NativeType) -> bool {
        self.instance().is_some_and(|it| it.class.derives_from(row))
    }

    /// The text of its only argument, for tests and for messages of builtin exceptions.
    pub fn message(&self) -> String {
        let args = self.instance().and_then(|it| it.get(Sym::ARGS));
        match args.as_ref().and_then(Value::as_tuple).map(|it| it.to_vec()).as_deref() {
            Some([one]) => one.as_str().map_or_else(|| format!("{one:?}"), str::to_owned),
            _ => String::new(),
        }
    }

    /// The places passed so far, innermost first.
    pub fn marks(&self) -> &[Mark] {
        &self.0.marks
    }

    /// Notes a place that the exception passes.
    pub fn push_mark(&mut self, mark: Mark) {
        self.0.marks.push(mark);
    }

    pub(crate) fn set_rethrown(&mut self) {
        self.0.rethrown = true;
    }

    pub(crate) fn take_rethrown(&mut self) -> bool {
        std::mem::take(&mut self.0.rethrown)
    }

    /// Replaces the places, for an exception that is raised again.
    pub fn set_marks(&mut self, marks: Vec<Mark>) {
        self.0.marks = marks;
    }
}

impl std::fmt::Debug for Raised {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", type_name(&self.0.exception), self.message())
    }
}

/// True if `value` is an exception object.
pub fn is_exception(value: &Value) -> bool {
    matches!(value, Value::Instance(it) if it.class.has(traits::EXCEPTION))
}

/// `TypeError(message)`.
pub fn type_error(message: impl Into<String>) -> Raised {
    Raised::new(&TYPE_ERROR, message)
}

/// `ValueError(message)`.
pub fn value_error(message: impl Into<String>) -> Raised {
    Raised::new(&VALUE_ERROR, message)
}

/// `IndexError(message)`.
pub fn index_error(message: impl Into<String>) -> Raised {
    Raised::new(&INDEX_ERROR, message)
}

/// `KeyError(key)`.
pub fn key_error(key: Value) -> Raised {
    Raised::with_args(&KEY_ERROR, vec![key])
}

/// `AttributeError(message)`.
pub fn attribute_error(message: impl Into<String>) -> Raised {
    Raised::new(&ATTRIBUTE_ERROR, message)
}

/// `NameError(message)`.
pub fn name_error(message: impl Into<String>) -> Raised {
    Raised::new(&NAME_ERROR, message)
}

/// `RuntimeError(message)`.
pub fn runtime_error(message: impl Into<String>) -> Raised {
    Raised::new(&RUNTIME_ERROR, message)
}

/// `ZeroDivisionError(message)`.
pub fn zero_division(message: impl Into<String>) -> Raised {
    Raised::new(&ZERO_DIVISION_ERROR, message)
}

/// `OverflowError(message)`.
pub fn overflow_error(message: impl Into<String>) -> Raised {
    Raised::new(&OVERFLOW_ERROR, message)
}

/// `NotImplementedError(message)`.
pub fn not_implemented(message: impl Into<String>) -> Raised {
    Raised::new(&NOT_IMPLEMENTED_ERROR, message)
}

/// `StopIteration()`.
pub fn stop_iteration() -> Raised {
    Raised::with_args(&STOP_ITERATION, Vec::new())
}

/// `ImportError(message)`.
pub fn import_error(message: impl Into<String>) -> Raised {
    Raised::new(&IMPORT_ERROR, message)
}

/// `OSError(message)`, or the class below it that says what is wrong.
pub fn os_error(error: impl Into<FileError>) -> Raised {
    let FileError { kind, message, path } = error.into();
    // Numbers are those of Linux.
    let (row, number) = match kind {
        ErrorKind::NotFound => (&FILE_NOT_FOUND_ERROR, Some(2)),
        ErrorKind::IsADirectory => (&IS_A_DIRECTORY_ERROR, Some(21)),
        ErrorKind::NotADirectory => (&NOT_A_DIRECTORY_ERROR, Some(20)),
        ErrorKind::PermissionDenied => (&PERMISSION_ERROR, Some(13)),
        ErrorKind::AlreadyExists => (&FILE_EXISTS_ERROR, Some(17)),
        ErrorKind::DirectoryNotEmpty => (&OS_ERROR, Some(39)),
        _ => (&OS_ERROR, None),
    };
    let words = message.rsplit(": ").next().unwrap_or_default().to_owned();
    let raised = Raised::new(row, message);
    if let Some(it) = raised.instance() {
        it.set(Sym::of("errno"), number.map_or(Value::None, Value::Int));
        it.set(Sym::of("strerror"), Value::str(words));
        it.set(Sym::of("filename"), path.map_or(Value::None, Value::str));
    }
    raised
}

/// `MemoryError(message)`.
pub fn memory_error(message: impl Into<String>) -> Raised {
    Raised::new(&MEMORY_ERROR, message)
}

/// `ShapeError(message)`.
pub fn shape_error(message: impl Into<String>) -> Raised {
    Raised::new(&SHAPE_ERROR, message)
}

/// `DTypeError(message)`.
pub fn dtype_error(message: impl Into<String>) -> Raised {
    Raised::new(&DTYPE_ERROR, message)
}
