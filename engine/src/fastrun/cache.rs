//! What was measured: in memory for the process, and on request in a file of JSON lines.
//!
//! The first line names format, version and a checksum of the rest; each other line is one measured application on one
//! kind of machine. Saving merges with what another process wrote meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::machine;
use crate::atomic_file::{self, about};
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::{Error, Result};

/// Seconds by algorithm.
type Times = Vec<(String, f64)>;
/// Times by (machine, op and signature).
type Table = BTreeMap<(String, String), Times>;

const FORMAT: &str = "notegrad-fastrun";
const VERSION: u64 = 1;
/// Entries that a file may hold.
const MOST: usize = 1 << 20;

static TABLE: Mutex<Table> = Mutex::new(BTreeMap::new());

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn this_machine() -> String {
    static PROCESSOR: OnceLock<String> = OnceLock::new();
    static THREADS: OnceLock<usize> = OnceLock::new();
    let threads = crate::cpu::pool::threads();
    if *THREADS.get_or_init(|| threads) == threads {
        return PROCESSOR.get_or_init(machine).clone();
    }
    machine()
}

pub(super) fn find(key: &str) -> Option<Times> {
    table().get(&(this_machine(), key.to_owned())).cloned()
}

pub(super) fn put(key: &str, times: &Times) {
    table().insert((this_machine(), key.to_owned()), times.clone());
}

/// Forgets everything measured in this process.
pub fn clear() {
    table().clear();
}

/// Adds the entries of a file to what is known; entries of this process win. Returns how many the file holds.
pub fn load(path: &Path) -> Result<usize> {
    let loaded = parse(&atomic_file::read(path).map_err(about(path))?)?;
    let count = loaded.len();
    let mut table = table();
    for (key, times) in loaded {
        table.entry(key).or_insert(times);
    }
    Ok(count)
}

/// Whether a file can be the cache: it can be read and written, or made in a folder that is there. Nothing is changed.
pub fn check(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let problem = format!("{}: there is no folder {}", path.display(), folder.display());
        return Err(Error::File { problem });
    }
    atomic_file::check(path).map_err(about(path))
}

/// Writes all entries to a file, together with those that are there already; a damaged file is replaced. Returns how
/// many there are.
pub fn save(path: &Path) -> Result<usize> {
    let there = atomic_file::read(path).ok().and_then(|bytes| parse(&bytes).ok());
    let mut all = there.unwrap_or_default();
    all.extend(table().iter().map(|it| (it.0.clone(), it.1.clone())));
    atomic_file::write(path, print(&all).as_bytes()).map_err(about(path))?;
    Ok(all.len())
}

fn print(table: &Table) -> String {
    let mut lines = String::new();
    for ((machine, key), times) in table {
        let times: serde_json::Map<String, Value> =
            times.iter().map(|it| (it.0.clone(), json!(it.1))).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{}", json!({"machine": machine, "case": key, "seconds": times}));
    }
    let head = json!({"format": FORMAT, "version": VERSION, "checksum": checksum(&lines)});
    format!("{head}\n{lines}")
}

fn parse(bytes: &[u8]) -> Result<Table> {
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let (head, lines) = text.split_once('\n').ok_or_else(|| damaged("it has no first line"))?;
    let head: Value =
        serde_json::from_str(head).map_err(|_| damaged("its first line is damaged"))?;
    if head["format"] != FORMAT {
        return Err(damaged("it is another kind of file"));
    }
    if head["version"] != VERSION {
        return Err(damaged(&format!("it has version {}, {VERSION} is known", head["version"])));
    }
    if head["checksum"] != checksum(lines) {
        return Err(damaged("its checksum does not fit"));
    }
    let mut table = Table::new();
    for line in lines.lines().take(MOST) {
        let (key, times) = entry(line).ok_or_else(|| damaged("an entry is damaged"))?;
        table.insert(key, times);
    }
    Ok(table)
}

fn entry(line: &str) -> Option<((String, String), Times)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let seconds = |it: (&String, &Value)| {
        let seconds = it.1.as_f64().filter(|it| it.is_finite() && *it >= 0.0)?;
        Some((it.0.clone(), seconds))
    };
    let times = value.get("seconds")?.as_object()?.iter().map(seconds).collect::<Option<_>>()?;
    Some(((text("machine")?, text("case")?), times))
}

/// FNV-1a, 64 bits, in hexadecimal.
fn checksum(text: &str) -> String {
    let step = |acc: u64, byte: u8| (acc ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

fn damaged(problem: &str) -> Error {
    Error::File { problem: format!("this fast-run cache cannot be used: {problem}") }
}
