//! Hostile files, and names in errors.
