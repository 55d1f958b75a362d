//! Quantities in words.

/// Bytes as `1.5 MB`, in powers of 1000.
pub fn size(bytes: usize) -> String {
    let (mut value, mut units) = (bytes as f64, ["kB", "MB", "GB", "TB"].into_iter());
    let mut unit = "bytes";
    while value >= 1000.0
        && let Some(larger) = units.next()
    {
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}
