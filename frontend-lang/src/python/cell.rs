//! Code of Python, as `%%python` runs it, and names that are passed to and fro.

use super::request::Request;
use super::wire::Datum;
use super::worker::{About, Lost, Wanted};
use crate::host::FileError;
use crate::native::*;

impl Cx {
    /// Runs text as a cell of Python; gives the value of its last expression.
    pub fn run_python(&mut self, text: &str, name: &str) -> Res {
        self.need_python()?;
        let answer = self.ask(Request::Run, vec![Datum::str(text), Datum::str(name)])?;
        self.python_value(answer)
    }

    /// Binds a name in the cells of Python.
    pub fn set_python_name(&mut self, name: &str, value: &Value) -> Result<(), Raised> {
        self.need_python()?;
        let value = self.python_datum(value)?;
        self.ask(Request::SetName, vec![Datum::str(name), value]).map(drop)
    }

    /// What a name is bound to in the cells of Python.
    pub fn python_name(&mut self, name: &str) -> Res {
        self.need_python()?;
        let answer = self.ask(Request::GetName, vec![Datum::str(name)])?;
        self.python_value(answer)
    }

    /// A module of Python, also where the language has one of this name. Fails where Python does.
    pub fn python_module(&mut self, name: &str) -> Res {
        self.need_python()?;
        let module = self.ask(Request::Import, vec![Datum::str(name)])?;
        self.python_value(module)
    }

    /// From now on packages run in the Python of this program or virtual environment; one that runs ends then, and its objects with it.
    pub fn choose_python(&mut self, path: &str) -> Result<About, Lost> {
        self.change_python(Wanted { path: Some(path.to_owned()) })
    }

    /// Makes paths start from another folder, in Python as here.
    pub fn change_folder(&mut self, path: &str) -> Result<(), FileError> {
        self.host.set_current_dir(path)?;
        if self.python.about().is_some() {
            // Python may have no way there that the session has; then it stays where it is.
            let _ = self.ask(Request::ChangeFolder, vec![Datum::str(path)]);
        }
        Ok(())
    }

    fn need_python(&mut self) -> Result<(), Raised> {
        self.start_python().map(drop).map_err(|lost| runtime_error(lost.0))
    }
}
