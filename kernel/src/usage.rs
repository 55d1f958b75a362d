//! What the process and the machine use, as Linux tells it (`proc(5)`); for `usage_request`.

use std::fs;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::lock::lock;

/// Ticks of the processor times since the last answer: shares are of the time in between.
#[derive(Debug, Default)]
pub struct Usage(Mutex<Ticks>);

#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    own: u64,
    busy: u64,
    all: u64,
}

impl Usage {
    /// `usage_reply`; why not, where the system does not say.
    pub fn answer(&self) -> Result<Value, String> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|_| "this system does not tell what a process uses")
        };
        let now = ticks(&read("/proc/self/stat")?, &read("/proc/stat")?);
        let before = std::mem::replace(&mut *lock(&self.0), now);
        let status = read("/proc/self/status")?;
        let memory = read("/proc/meminfo")?;
        let n_cpus = std::thread::available_parallelism().map_or(1, |it| it.get());
        let passed = (now.all - before.all).max(1) as f64;
        let (total, available) = (bytes(&memory, "MemTotal"), bytes(&memory, "MemAvailable"));
        let used = total.saturating_sub(available);
        Ok(json!({
            "status": "ok",
            "hostname": read("/proc/sys/kernel/hostname")?.trim(),
            "pid": std::process::id(),
            "kernel_cpu": 100.0 * (now.own - before.own) as f64 / passed * n_cpus as f64,
            "kernel_memory": bytes(&status, "VmRSS"),
            "cpu_count": n_cpus,
            "host_cpu_percent": 100.0 * (now.busy - before.busy) as f64 / passed,
            "host_virtual_memory": {
                "total": total,
                "available": available,
                "percent": 100.0 * used as f64 / total.max(1) as f64,
                "used": used,
                "free": bytes(&memory, "MemFree"),
            },
        }))
    }
}

/// From `/proc/self/stat` and `/proc/stat`.
fn ticks(own: &str, machine: &str) -> Ticks {
    let number = |it: &str| it.parse::<u64>().unwrap_or(0);
    // The name of the program, in brackets, may hold anything. User and system time are fields 14 and 15.
    let own = own.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let times: Vec<u64> = machine
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .take(8)
        .map(number)
        .collect();
    let all: u64 = times.iter().sum();
    // Idle, and waiting for disks.
    let idle: u64 = times.iter().skip(3).take(2).sum();
    Ticks { own: own.map(number).sum(), busy: all - idle, all }
}

/// A row such as `VmRSS:     1234 kB`.
fn bytes(rows: &str, name: &str) -> u64 {
    let row = rows.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':'));
    let kib = row.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_proc_are_read() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0";
        let it = ticks(stat, "cpu  10 1 5 100 4 1 1 0 9 9\ncpu0 1 1 1");
        assert_eq!((it.own, it.busy, it.all), (42, 18, 122));
        assert_eq!(bytes("VmPeak:\t 9 kB\nVmRSS:\t  12 kB\n", "VmRSS"), 12 << 10);
        assert_eq!(bytes("", "VmRSS"), 0);
    }
}
