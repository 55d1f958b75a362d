//! Magics that code asks for while it runs: `get_ipython().run_line_magic(...)`, and magic lines inside blocks.
//!
//! The notebook lends what magics work on for as long as its code runs, and takes it back with what they have changed.

use std::cell::RefCell;
use std::collections::HashSet;

use frontend_lang::session::{Options as RunOptions, Session};
use frontend_lang::shell::Shell;
use frontend_lang::value::Value;

use crate::args::Args;
use crate::artifact::{Artifact, Help};
use crate::elsewhere;
use crate::notebook::{AtEnd, MagicCx, Settings, known};
use crate::{Magic, MagicError, OnCell};

/// What magics work on while code runs.
#[derive(Default)]
pub(crate) struct Lent {
    pub(crate) settings: Settings,
    pub(crate) options: RunOptions,
    pub(crate) cells: Vec<String>,
    pub(crate) pages: Vec<Help>,
    pub(crate) at_end: Vec<AtEnd>,
    /// What is shown when the code has ended.
    pub(crate) shown: Vec<Artifact>,
    /// Remarks that were made; each is made once.
    pub(crate) told: HashSet<String>,
}

/// Where the notebook puts what it lends.
#[derive(Default)]
pub(crate) struct Calls(RefCell<Option<Lent>>);

/// Magics whose text is their value.
const GIVE_TEXT: &[&str] = &["env", "pwd"];

impl Calls {
    pub(crate) fn lend(&self, lent: Lent) {
        self.0.replace(Some(lent));
    }

    pub(crate) fn take_back(&self) -> Option<Lent> {
        self.0.take()
    }

    fn with<T>(&self, run: impl FnOnce(&mut Lent) -> Result<T, MagicError>) -> Result<T, String> {
        let mut lent = self.0.try_borrow_mut().map_err(|_| BUSY.to_owned())?;
        let lent = lent.as_mut().ok_or("magics run in cells only")?;
        run(lent).map_err(|it| it.to_string())
    }
}

const BUSY: &str = "a magic is running, and code under it cannot run another one";

impl Shell for Calls {
    fn magic(
        &self,
        session: &mut Session,
        name: &str,
        line: &str,
        body: Option<&str>,
    ) -> Result<(), String> {
        self.with(|lent| {
            let sign = if body.is_some() { "%%" } else { "%" };
            if let Some(row) = elsewhere::find(name) {
                lent.leave_out(session, &format!("{sign}{name}"), row.says)?;
                return match (row.on_cell, body) {
                    (OnCell::ThenRun, Some(body)) => lent.cx(session, None).eval(body).map(drop),
                    _ => Ok(()),
                };
            }
            let magic = known(name)?;
            let shown = lent.run(session, magic, line, body)?;
            shown.into_iter().for_each(|it| lent.show(session, it));
            match (magic.on_cell, body) {
                (OnCell::ThenRun, Some(body)) => lent.cx(session, None).eval(body).map(drop),
                _ => Ok(()),
            }
        })
    }

    fn system(&self, session: &mut Session, command: &str) -> Result<(), String> {
        let says = elsewhere::of_command(command);
        self.with(|lent| lent.leave_out(session, &format!("!{command}"), says))
    }

    fn value(
        &self,
        session: &mut Session,
        names: &str,
        name: &str,
        line: &str,
    ) -> Result<Value, String> {
        let missing = |says: &str| MagicError::failed(no_value(names, &format!("%{name}"), says));
        self.with(|lent| {
            if let Some(row) = elsewhere::find(name) {
                return Err(missing(row.says));
            }
            let magic = known(name)?;
            if !GIVE_TEXT.contains(&name) {
                return Err(missing("this magic shows what it finds, and gives no value"));
            }
            match lent.run(session, magic, line, None)?.as_slice() {
                [Artifact::Text(text)] => Ok(Value::str(text.as_str())),
                _ => Err(missing("it has no single text to give")),
            }
        })
    }

    fn output(&self, names: &str, command: &str) -> String {
        no_value(names, &format!("!{command}"), elsewhere::of_command(command))
    }
}

fn no_value(names: &str, what: &str, says: &str) -> String {
    format!("{what} cannot run, and {names} would be missing: {says}")
}

impl Lent {
    fn cx<'a>(&'a mut self, session: &'a mut Session, body: Option<&'a str>) -> MagicCx<'a> {
        MagicCx {
            session,
            settings: &mut self.settings,
            options: &mut self.options,
            cells: &self.cells,
            above: 0,
            body,
            pages: &mut self.pages,
            at_end: &mut self.at_end,
        }
    }

    fn run(
        &mut self,
        session: &mut Session,
        magic: &'static Magic,
        line: &str,
        body: Option<&str>,
    ) -> Result<Vec<Artifact>, MagicError> {
        let args = Args::parse(magic, line)?;
        (magic.run)(&mut self.cx(session, body), &args)
    }

    /// Text and remarks come at once, in order with what is printed.
    fn show(&mut self, session: &mut Session, artifact: Artifact) {
        match artifact {
            Artifact::Text(text) => session.cx.host.stdout(&format!("{text}\n")),
            Artifact::Notice(notice) => session.cx.host.notice(&notice),
            other => self.shown.push(other),
        }
    }

    fn leave_out(
        &mut self,
        session: &mut Session,
        what: &str,
        says: &str,
    ) -> Result<(), MagicError> {
        let notice = self.settings.leave_out(what, says)?;
        if self.told.insert(what.to_owned()) {
            self.show(session, notice);
        }
        Ok(())
    }
}
