//! When two tensors are the same value: same storage, same layout, same dtype. Edges of the tape do not count.

use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::pending::Pending;
use crate::tape::Edge;
use crate::tensor::Data;
use crate::{Buffer, DType, Device, Layout, Shape, Tensor};

/// Where a value's elements are or will be. Weak: it names the storage without keeping the elements, and while it
/// exists the address is not given to another storage.
#[derive(Clone, Debug)]
pub(super) enum Root {
    Stored(Weak<Buffer>),
    Pending(Weak<Pending>),
    None,
}

impl Root {
    pub(super) fn of(tensor: &Tensor) -> Self {
        match tensor.data() {
            Data::Stored(buffer) => Self::Stored(Arc::downgrade(buffer)),
            Data::Pending(pending) => match pending.delivered() {
                Some(buffer) => Self::Stored(Arc::downgrade(buffer)),
                None => Self::Pending(Arc::downgrade(pending)),
            },
            Data::Number(_) | Data::Abstract(..) | Data::Meta => Self::None,
        }
    }

    /// Names the delivered storage instead of the promise of it.
    pub(super) fn settle(&mut self) {
        let Self::Pending(root) = self else { return };
        let Some(pending) = root.upgrade() else { return };
        if let Some(buffer) = pending.delivered() {
            *self = Self::Stored(Arc::downgrade(buffer));
        }
    }

    /// Whether somebody still holds the elements.
    pub(super) fn lives(&self) -> bool {
        match self {
            Self::Stored(root) => root.strong_count() > 0,
            Self::Pending(root) => root.strong_count() > 0,
            Self::None => false,
        }
    }

    /// Whether both name the same elements, or some of the same.
    pub(super) fn is_root(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stored(a), Self::Stored(b)) => a.ptr_eq(b),
            (Self::Pending(a), Self::Pending(b)) => a.ptr_eq(b),
            _ => false,
        }
    }

    fn is(&self, tensor: &Tensor) -> bool {
        match (self, tensor.data()) {
            (Self::Pending(root), Data::Pending(pending)) => root.as_ptr() == Arc::as_ptr(pending),
            (Self::Stored(root), Data::Stored(buffer)) => root.as_ptr() == Arc::as_ptr(buffer),
            (Self::Stored(root), Data::Pending(pending)) => {
                pending.delivered().is_some_and(|buffer| root.as_ptr() == Arc::as_ptr(buffer))
            }
            _ => false,
        }
    }
}

/// A value that the current call knows.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) root: Root,
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    pub(super) device: Device,
    /// Whether the storage is this value's own (it is not a view of another value).
    pub(super) owns: bool,
    /// The tensor, held while the current segment reads it.
    pub(super) held: Option<Tensor>,
    /// The leaf of the tape that it was, when it came from outside; 0 if it was none.
    pub(super) leaf: u64,
}

impl Slot {
    pub(super) fn of(tensor: &Tensor) -> Self {
        Self { leaf: leaf_of(tensor), ..Self::of_result(tensor, false) }
    }

    /// A result that is to come, or with `alias` a view of another value.
    #[inline]
    pub(super) fn of_result(tensor: &Tensor, alias: bool) -> Self {
        let layout = tensor.layout().clone();
        let (root, dtype, device) = (Root::of(tensor), tensor.dtype(), tensor.device());
        Self { root, layout, dtype, device, owns: !alias, held: None, leaf: 0 }
    }

    /// A value that nobody can have.
    pub(super) fn gone() -> Self {
        let layout = Layout::contiguous(Shape::default());
        let (root, dtype, device) = (Root::None, DType::F32, Device::Cpu);
        Self { root, layout, dtype, device, owns: true, held: None, leaf: 0 }
    }

    /// Whether `tensor` is this value.
    pub(super) fn is(&self, tensor: &Tensor) -> bool {
        self.root.is(tensor) && self.dtype == tensor.dtype() && &self.layout == tensor.layout()
    }

    /// The pending value, when someone can still ask for it.
    pub(super) fn live(&self) -> Option<Arc<Pending>> {
        match &self.root {
            Root::Pending(root) if self.owns => root.upgrade(),
            _ => None,
        }
    }

    /// Keeps the tensor for the current segment.
    pub(super) fn hold(&mut self, tensor: &Tensor) {
        if self.held.is_none() {
            self.held = Some(tensor.held());
        }
    }

    /// The key under which recording finds the value again.
    pub(super) fn key(&self) -> Option<Key> {
        let root = match &self.root {
            Root::Stored(root) => root.as_ptr() as usize,
            Root::Pending(root) => root.as_ptr() as usize,
            Root::None => return None,
        };
        Some(key_at(root, self.dtype, &self.layout))
    }
}

/// The leaf of the tape that a tensor is; 0 if it is none.
pub(super) fn leaf_of(tensor: &Tensor) -> u64 {
    tensor.edge().filter(|it| it.is_leaf()).map_or(0, Edge::id)
}

/// A value as a map key.
pub(crate) type Key = (usize, DType, usize, Shape, SmallVec<[isize; 4]>);

/// The key of a tensor; numbers and abstract tensors have none.
pub(crate) fn key_of(tensor: &Tensor) -> Option<Key> {
    let root = match tensor.data() {
        Data::Stored(buffer) => Arc::as_ptr(buffer) as usize,
        Data::Pending(pending) => match pending.delivered() {
            Some(buffer) => Arc::as_ptr(buffer) as usize,
            None => Arc::as_ptr(pending) as usize,
        },
        Data::Number(_) | Data::Abstract(..) | Data::Meta => return None,
    };
    Some(key_at(root, tensor.dtype(), tensor.layout()))
}

fn key_at(root: usize, dtype: DType, layout: &Layout) -> Key {
    (root, dtype, layout.offset, layout.shape.clone(), layout.strides.clone())
}

/// Whether a tensor can be fed where one on this device, of this dtype and layout was recorded: the offset is free.
pub(super) fn fits(tensor: &Tensor, device: Device, dtype: DType, layout: &Layout) -> bool {
    let here = tensor.layout();
    let ready = match tensor.data() {
        Data::Stored(_) => true,
        Data::Pending(pending) => pending.delivered().is_some(),
        Data::Number(_) | Data::Abstract(..) | Data::Meta => false,
    };
    ready
        && tensor.device() == device
        && tensor.dtype() == dtype
        && here.shape == layout.shape
        && (here.strides == layout.strides || (here.is_contiguous() && layout.is_contiguous()))
}
