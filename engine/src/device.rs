//! Where tensors live.

use std::fmt;

/// A place that holds tensors and computes on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Device {
    /// Main memory and the processor's cores.
    #[default]
    Cpu,
    /// Nowhere: tensors have shapes and dtypes, and no elements.
    Meta,
    /// An NVIDIA GPU, by its number.
    Cuda(u8),
}

impl Device {
    /// Bytes that this process could still take: what the system can give without swapping. `None` if it does not say.
    pub fn memory_left(self) -> Option<usize> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
        Some(line.split_whitespace().next()?.parse::<usize>().ok()? * 1024)
    }

    /// The most bytes that this process may take, if it runs in a group with a limit (containers do).
    pub fn memory_limit(self) -> Option<usize> {
        let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        let read = |it: &&str| std::fs::read_to_string(it).ok()?.trim().parse().ok();
        files.iter().find_map(read)
    }

    /// Looks a device up by the name users write (`cpu`, `cpu:0`, `cuda`, `cuda:1`, and MegEngine's `cpux`, `xpux`, `gpu0`).
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "cpu" | "cpu:0" | "cpux" | "xpux" | "cpu0" | "xpu0" => Some(Self::Cpu),
            "meta" | "meta:0" => Some(Self::Meta),
            "cuda" | "gpu" | "gpux" => Some(Self::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").or_else(|| text.strip_prefix("gpu"));
                Some(Self::Cuda(number?.parse().ok()?))
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Meta => f.write_str("meta"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}
