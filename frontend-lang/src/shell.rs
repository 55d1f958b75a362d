//! The door from code to magics, which stand above the language: what `get_ipython().run_line_magic(...)` and magic lines inside blocks do.
//!
//! A session without magics has no [`Shell`]; then each of these is an error.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::cx::Cx;
use crate::host::Recording;
use crate::session::Session;
use crate::value::Value;

/// Runs magics that code asks for. Errors are messages for the user.
pub trait Shell {
    /// `%name line`, or `%%name line` over `body`.
    fn magic(
        &self,
        session: &mut Session,
        name: &str,
        line: &str,
        body: Option<&str>,
    ) -> Result<(), String>;

    /// `!command`.
    fn system(&self, session: &mut Session, command: &str) -> Result<(), String>;

    /// The value of `names = %name line`.
    fn value(
        &self,
        session: &mut Session,
        names: &str,
        name: &str,
        line: &str,
    ) -> Result<Value, String>;

    /// Why `names = !command` cannot be.
    fn output(&self, names: &str, command: &str) -> String;
}

impl Cx {
    /// Lends this machine as a session to what stands above the language, while code of the session runs.
    pub(crate) fn with_session<T>(&mut self, run: impl FnOnce(&mut Session) -> T) -> T {
        let new = || Box::new(Session::new(Box::new(Recording::default())));
        let mut spare = self.spare.take().unwrap_or_else(new);
        std::mem::swap(self, &mut spare.cx);
        let res = catch_unwind(AssertUnwindSafe(|| run(&mut spare)));
        std::mem::swap(self, &mut spare.cx);
        self.spare = Some(spare);
        res.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
