//! How much memory the process may take: that of the machine, or what its control groups leave of it.

use std::fs::read_to_string;

use crate::sync::OnceLock;

/// Where nothing can be found out.
const UNKNOWN: usize = 8 << 30;

/// Bytes that the process may take at most.
pub fn machine_memory() -> usize {
    static TOTAL: OnceLock<usize> = OnceLock::new();
    *TOTAL.get_or_init(|| {
        let physical = read_to_string("/proc/meminfo").ok().and_then(|it| total_of(&it));
        let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let limits = limit_files(&groups).filter_map(|it| limit_of(&read_to_string(it).ok()?));
        limits.chain(physical).min().unwrap_or(UNKNOWN)
    })
}

/// The bytes that `/proc/meminfo` names as `MemTotal`, proc(5).
fn total_of(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The files with the limits of the groups in `/proc/self/cgroup` and of all that they lie in, cgroups(7). A container sees its own
/// group as the root.
fn limit_files(groups: &str) -> impl Iterator<Item = String> {
    groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            it if it.split(',').any(|it| it == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        let ends = path.char_indices().filter(|it| it.1 == '/').map(|it| it.0).chain([path.len()]);
        ends.map(|end| format!("{root}{}/{file}", &path[..end])).collect()
    })
}

/// The number in such a file; `None` for `max`.
fn limit_of(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_system_writes() {
        assert_eq!(total_of("MemFree: 1 kB\nMemTotal:       24576 kB\n"), Some(24 << 20));
        assert_eq!((limit_of("max\n"), limit_of("1048576\n")), (None, Some(1 << 20)));
        let files: Vec<String> = limit_files("0::/a/b\n").collect();
        let of = |path: &str| format!("/sys/fs/cgroup{path}/memory.max");
        assert_eq!(files, [of(""), of("/a"), of("/a/b")]);
        let files: Vec<String> = limit_files("4:memory:/x\n3:cpu:/x\n").collect();
        assert_eq!(
            files.last().map(String::as_str),
            Some("/sys/fs/cgroup/memory/x/memory.limit_in_bytes")
        );
        assert!(machine_memory() > 1 << 20);
    }
}
