//! Pictures inside `src` attributes: the form that survives sanitisers and conversion to other formats.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// An SVG document as an address.
pub(crate) fn svg(document: &str) -> String {
    format!("data:image/svg+xml;base64,{}", STANDARD.encode(document))
}

/// A PNG file as an address.
pub(crate) fn png(file: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(file))
}

/// Bytes as base64 text.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
