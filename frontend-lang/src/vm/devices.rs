//! Which names of a failing line hold tensors of which device, for errors of operations on two: the next step says what to move.

use std::rc::Rc;

use engine::{Device, Tensor};

use crate::cx::Cx;
use crate::objects::class::Instance;
use crate::source::{Source, Span};
use crate::value::Value;
use crate::vm::layer::children;
use crate::vm::operands::{LONGEST, names};

/// Layers inside each other that are looked through.
const DEEPEST: usize = 8;

impl Cx {
    /// `` `x` is on cpu and `model` on cuda:0: write `x.to('cuda:0')` ``, of names in `span`, which belongs to the newest frame and to a
    /// cell.
    pub(super) fn next_device(&mut self, span: Span) -> Option<String> {
        self.sources.get(span.source).filter(|it| Source::is_cell(it))?;
        let text = self.sources.text(span).to_owned();
        if text.len() > LONGEST {
            return None;
        }
        let found: Vec<(&str, Device)> =
            names(&text).into_iter().filter_map(|(_, path)| self.lies(path)).collect();
        // The CPU gives way to GPUs, and both to `meta`, from where nothing comes back.
        let furthest = found.iter().map(|it| rank(it.1)).max()?;
        let (stays, to) = found.iter().find(|it| rank(it.1) == furthest)?;
        let (moves, from) = found.iter().find(|it| it.1 != *to)?;
        Some(format!("`{moves}` is on {from} and `{stays}` on {to}: write `{moves}.to('{to}')`"))
    }

    /// A name that holds tensors of one device, and which: of `x.add` what is before the method.
    fn lies<'a>(&mut self, path: &'a str) -> Option<(&'a str, Device)> {
        let object = path.rsplit_once('.').map_or(path, |it| it.0);
        [path, object].into_iter().find_map(|path| Some((path, device_of(&self.named(path)?)?)))
    }
}

/// How far from the CPU a device is.
fn rank(device: Device) -> u8 {
    match device {
        Device::Cpu => 0,
        Device::Cuda(_) => 1,
        Device::Meta => 2,
    }
}

/// Where a tensor lies, or the first tensor of a layer. Single elements go along with any.
fn device_of(value: &Value) -> Option<Device> {
    match value {
        Value::Tensor(it) => lies_at(&it.peek()),
        Value::Instance(it) => of_layer(it, DEEPEST),
        _ => None,
    }
}

fn lies_at(tensor: &Tensor) -> Option<Device> {
    (tensor.rank() > 0).then(|| tensor.device())
}

fn of_layer(layer: &Rc<Instance>, depth: usize) -> Option<Device> {
    let own = layer.attrs.borrow().iter().find_map(|(_, value)| match value {
        Value::Tensor(it) => lies_at(&it.peek()),
        _ => None,
    });
    own.or_else(|| {
        let deeper = depth.checked_sub(1)?;
        children(layer).iter().find_map(|(_, child)| of_layer(child, deeper))
    })
}
