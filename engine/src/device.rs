//! Where tensors live.

use std::fmt;

/// A place that holds tensors and computes on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Device {
    /// Main memory and the processor's cores.
    #[default]
    Cpu,
}

impl Device {
    /// Devices present on this machine.
    pub fn available() -> &'static [Self] {
        &[Self::Cpu]
    }

    /// Looks a device up by the name users write (`cpu`, `cpu:0`, and MegEngine's `cpux`, `xpux`).
    pub fn parse(text: &str) -> Option<Self> {
        matches!(text, "cpu" | "cpu:0" | "cpux" | "xpux" | "cpu0" | "xpu0").then_some(Self::Cpu)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
        }
    }
}
