//! A plan as text: its launches with the places of their operands, and what it needs in memory.

use std::fmt;

use super::plan::{Finishing, Launch, Plan, Work};
use crate::Meta;
use crate::attr::NumberText;
use crate::cpu::arena::Place;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = &self.memory;
        writeln!(
            f,
            "plan: {} launches, arena {} bytes (bound {}, without reuse {}), outputs {} bytes",
            self.launches.len(),
            memory.peak,
            memory.lower_bound,
            memory.total,
            self.output_bytes()
        )?;
        for (idx, launch) in self.launches.iter().enumerate() {
            writeln!(f, "{idx:4}: {launch}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.work {
            Work::Many { label, .. } => write!(f, "lanes [{label}]")?,
            Work::Lanes { label, replaced, .. } => {
                write!(f, "lanes [{label}]")?;
                f.write_str(if replaced.is_empty() { "" } else { " in place" })?;
            }
            Work::Control { op, .. } => f.write_str(op.name)?,
            Work::OnGpu { op, finishing, .. } => {
                f.write_str(op.name)?;
                if let Some(Finishing { label, .. }) = finishing {
                    write!(f, ", then [{label}]")?;
                }
            }
            Work::Kernel { op, kernel, in_place, prologue, finishing, .. } => {
                if let Some(it) = prologue {
                    write!(f, "[{}] into ", it.label)?;
                }
                write!(f, "{} by {}", op.name, kernel.kernel.name)?;
                f.write_str(if *in_place { " in place" } else { "" })?;
                if let Some(Finishing { label, .. }) = finishing {
                    write!(f, ", then [{label}]")?;
                }
            }
        }
        for (idx, it) in self.operands.inputs().iter().enumerate() {
            f.write_str(if idx == 0 { " " } else { ", " })?;
            write!(f, "{}", PlaceText(it.place))?;
            if !it.layout.is_contiguous() {
                write!(f, " strides {:?}", it.layout.strides.as_slice())?;
            }
        }
        f.write_str(" ->")?;
        for (idx, it) in self.operands.outputs().iter().enumerate() {
            let meta = Meta::new(it.shape.clone(), it.dtype);
            write!(f, "{} {meta} at {}", if idx == 0 { "" } else { "," }, PlaceText(it.place))?;
        }
        Ok(())
    }
}

struct PlaceText(Place);

impl fmt::Display for PlaceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Input(at) => write!(f, "input {at}"),
            Place::Const(at) => write!(f, "const {at}"),
            Place::Arena(at) => write!(f, "arena+{at}"),
            Place::Slot(at) => write!(f, "value {at}"),
            Place::Output(at) => write!(f, "output {at}"),
            Place::Number(number) => write!(f, "{}", NumberText(number)),
            Place::Fed(at) => write!(f, "number {at}"),
        }
    }
}
