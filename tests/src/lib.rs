//! End-to-end tests of the workspace: literate specs and what runs them.

pub mod made_up;
pub mod spec;
