//! Generic algorithms of libraries for the floats of the engine: compiled here, beside the engine and not as part of it, where they would
//! be a seventh of what the compiler has to do.

pub mod fourier;
pub mod matrices;
