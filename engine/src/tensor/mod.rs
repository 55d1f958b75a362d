//! The tensor: an immutable value behind a cheap handle.
//!
//! **Invariant:** elements never change once a tensor exists. What users see as assignment in place is a new value in
//! the same variable, so a tape or trace can keep any tensor it likes.

pub(crate) mod on_gpu;

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::cpu::alloc::Bytes;
use crate::cpu::view::View;
use crate::cpu::{elements, interrupt, strided, typed};
use crate::device::Device;
use crate::dtype::Number;
use crate::dtype::Strength;
use crate::meter::Claim;
use crate::pending::{self, Pending};
use crate::storage;
use crate::tape::{self, Edge};
use crate::{Buffer, DType, Error, Layout, Result, Shape, Site};

/// Shape and dtype without data: what `infer` computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Meta {
    /// Sizes.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
}

impl Meta {
    /// A shape with a dtype.
    pub fn new(shape: Shape, dtype: DType) -> Self {
        Self { shape, dtype }
    }

    /// Bytes of a contiguous tensor of this kind.
    pub fn bytes(&self) -> usize {
        self.shape.numel() * self.dtype.size()
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype.short(), self.shape)
    }
}

/// Outputs of an op; nearly always one.
pub type Outputs = SmallVec<[Tensor; 1]>;

/// Shapes and dtypes of the outputs of an op.
pub type Metas = SmallVec<[Meta; 1]>;

/// Where the elements are.
#[derive(Clone)]
pub(crate) enum Data {
    /// In a buffer, at the layout.
    Stored(Arc<Buffer>),
    /// In the handle: a number written in the program (rank 0, weak in promotion).
    Number(Number),
    /// Yet to come: they are made when they are needed.
    Pending(Arc<Pending>),
    /// Nobody knows: shape and dtype of what will be on the device, with what is counted for it.
    Abstract(Option<Arc<Claim>>, Device),
    /// Nowhere: a tensor of the device `meta`.
    Meta,
}

/// An n-dimensional array of numbers of one dtype.
#[derive(Clone)]
pub struct Tensor(Arc<Inner>);

pub(crate) struct Inner {
    dtype: DType,
    layout: Layout,
    data: Data,
    edge: Option<Edge>,
}

impl Tensor {
    /// Bytes that a handle takes, without the elements.
    pub(crate) const HANDLE_BYTES: usize = size_of::<Inner>() + 2 * size_of::<usize>();

    /// A tensor of `shape` from its elements in row-major order.
    pub fn from_vec<T: storage::Element>(values: &[T], shape: Shape) -> Result<Self> {
        if values.len() != shape.numel() {
            let rule = format!("{} values were given", values.len());
            return Err(Error::Shapes { op: "tensor", shapes: vec![shape], rule });
        }
        let bytes = storage::filled(Bytes::of(&shape, T::DTYPE)?, values)?;
        Ok(Self::stored(bytes, Layout::contiguous(shape), T::DTYPE))
    }

    /// A bool tensor of `shape` from its elements in row-major order.
    pub fn from_bools(values: &[bool], shape: Shape) -> Result<Self> {
        let raw: Vec<u8> = values.iter().map(|&it| u8::from(it)).collect();
        let bytes = Self::from_vec(&raw, shape)?;
        Ok(bytes.reinterpret(DType::Bool))
    }

    /// A float number of the language: rank 0, weak in promotion.
    pub fn number(value: f64) -> Self {
        Self::from_number(Number::Float(value))
    }

    /// A whole number of the language: rank 0, weak in promotion.
    pub fn int_number(value: i64) -> Self {
        Self::from_number(Number::Int(value))
    }

    /// A number of the language: rank 0, weak in promotion.
    pub fn from_number(number: Number) -> Self {
        let layout = Layout::contiguous(Shape::default());
        Self::make(number.dtype(), layout, Data::Number(number), None)
    }

    /// A tensor that has a shape and dtype but no elements to read.
    pub fn abstract_of(meta: Meta) -> Self {
        Self::abstract_on(Device::Cpu, meta)
    }

    /// As [`Tensor::abstract_of`], of what will be on a device.
    pub fn abstract_on(device: Device, meta: Meta) -> Self {
        let data = if device == Device::Meta { Data::Meta } else { Data::Abstract(None, device) };
        Self::make(meta.dtype, Layout::contiguous(meta.shape), data, None)
    }

    /// A tensor of the device `meta`, which has no elements.
    pub fn on_meta(meta: Meta) -> Self {
        Self::make(meta.dtype, Layout::contiguous(meta.shape), Data::Meta, None)
    }

    /// This tensor on the device `meta`, at the same place of the tape unless that is a leaf.
    pub fn to_meta(&self) -> Self {
        if self.is_meta() {
            return self.clone();
        }
        let edge = self.edge().filter(|it| !it.is_leaf()).cloned();
        Self::make(self.dtype(), Layout::contiguous(self.shape().clone()), Data::Meta, edge)
    }

    /// A tensor over a buffer. The layout must lie inside it.
    pub(crate) fn stored(buffer: impl Into<Arc<Buffer>>, layout: Layout, dtype: DType) -> Self {
        let buffer = buffer.into();
        debug_assert!(layout.end() * dtype.size() <= buffer.len());
        Self::make(dtype, layout, Data::Stored(buffer), None)
    }

    pub(crate) fn make(dtype: DType, layout: Layout, data: Data, edge: Option<Edge>) -> Self {
        Self(Arc::new(Inner { dtype, layout, data, edge }))
    }

    /// Sizes.
    pub fn shape(&self) -> &Shape {
        &self.0.layout.shape
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.shape().numel()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Where the elements live.
    pub fn device(&self) -> Device {
        match &self.0.data {
            Data::Stored(buffer) => buffer.device(),
            Data::Meta => Device::Meta,
            Data::Abstract(_, device) => *device,
            Data::Pending(pending) => pending.device(),
            Data::Number(_) => Device::Cpu,
        }
    }

    /// Where in the program the buffer with the elements was made, if there is one.
    pub fn site(&self) -> Site {
        let buffer = match &self.0.data {
            Data::Stored(buffer) => Some(buffer),
            Data::Pending(pending) => pending.delivered(),
            Data::Number(_) | Data::Abstract(..) | Data::Meta => None,
        };
        buffer.map_or(Site::NOWHERE, |it| it.site())
    }

    /// Shape, strides and offset.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Shape and dtype.
    pub fn meta(&self) -> Meta {
        Meta::new(self.shape().clone(), self.dtype())
    }

    /// How strongly this operand pulls a result's dtype.
    pub fn strength(&self) -> Strength {
        match self.0.data {
            Data::Number(_) => Strength::Number,
            _ if self.rank() == 0 => Strength::ZeroDim,
            _ => Strength::Tensor,
        }
    }

    /// The number this tensor was made from, when it is one of the language's numbers.
    pub fn as_number(&self) -> Option<Number> {
        match self.0.data {
            Data::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether only shape and dtype are known.
    pub fn is_abstract(&self) -> bool {
        matches!(self.0.data, Data::Abstract(..))
    }

    /// Whether it has no elements, and stands for none that a run would hold.
    pub(crate) fn is_shape(&self) -> bool {
        matches!(self.0.data, Data::Abstract(None, _) | Data::Meta)
    }

    /// Whether it is of the device `meta`.
    pub fn is_meta(&self) -> bool {
        matches!(self.0.data, Data::Meta)
    }

    /// Whether traces record what is computed with it.
    pub(crate) fn is_traced(&self) -> bool {
        !self.is_meta()
    }

    /// Whether it is in the memory of a GPU, or will be.
    pub fn is_on_gpu(&self) -> bool {
        matches!(self.device(), Device::Cuda(_))
    }

    /// Whether the processor computes with it: there are elements, or will be, in main memory.
    #[inline]
    pub(crate) fn is_at_hand(&self) -> bool {
        match &self.0.data {
            Data::Stored(buffer) => buffer.gpu().is_none(),
            Data::Number(_) => true,
            Data::Pending(pending) => pending.device() == Device::Cpu,
            Data::Abstract(..) | Data::Meta => false,
        }
    }

    /// The GPU in whose memory its elements are, if they are in one's.
    #[inline]
    pub(crate) fn gpu_at_hand(&self) -> Option<u8> {
        match &self.0.data {
            Data::Stored(buffer) => buffer.gpu().map(|it| it.gpu().index()),
            _ => None,
        }
    }

    /// Whether there are elements, or will be.
    pub(crate) fn has_elements(&self) -> bool {
        !matches!(self.0.data, Data::Abstract(..) | Data::Meta)
    }

    /// Whether the elements can be read at once.
    pub fn is_known(&self) -> bool {
        match &self.0.data {
            Data::Stored(_) | Data::Number(_) => true,
            Data::Pending(pending) => pending.delivered().is_some(),
            Data::Abstract(..) | Data::Meta => false,
        }
    }

    pub(crate) fn data(&self) -> &Data {
        &self.0.data
    }

    /// Whether nobody can see the elements but who holds this very handle, and each is one of its own in the buffer.
    pub fn is_owned(&self) -> bool {
        let Data::Stored(buffer) = &self.0.data else { return false };
        self.handles() == 1 && Arc::strong_count(buffer) == 1 && !self.0.layout.repeats()
    }

    /// The value by a handle of its own on a buffer of its own, which places that name it know no more: then it may be written. `Err`, with
    /// the value as it was, if anyone else can see the elements ([`Tensor::is_owned`]).
    pub fn into_own(self) -> std::result::Result<Self, Self> {
        if !self.is_owned() {
            return Err(self);
        }
        let Inner { dtype, layout, data, edge } = Arc::try_unwrap(self.0).map_err(Self)?;
        let data = match data {
            Data::Stored(buffer) => {
                Data::Stored(Arc::try_unwrap(buffer).map_or_else(|it| it, Arc::new))
            }
            other => other,
        };
        Ok(Self::make(dtype, layout, data, edge))
    }

    /// From now on the elements were made here, as far as messages say where; only if nobody else sees them.
    pub(crate) fn made_here(&mut self) {
        if let Some(Data::Stored(buffer)) = Arc::get_mut(&mut self.0).map(|it| &mut it.data)
            && let Some(buffer) = Arc::get_mut(buffer)
        {
            buffer.made_here();
        }
    }

    /// The buffer that holds the elements, or will, by a number that no other has while it lives; `None` where there is none.
    pub fn buffer_id(&self) -> Option<usize> {
        match &self.0.data {
            Data::Stored(buffer) => Some(Arc::as_ptr(buffer).addr()),
            Data::Pending(pending) => match pending.delivered() {
                Some(buffer) => Some(Arc::as_ptr(buffer).addr()),
                None => Some(Arc::as_ptr(pending).addr()),
            },
            Data::Number(_) | Data::Abstract(..) | Data::Meta => None,
        }
    }

    /// Whether the elements of both lie in one buffer.
    pub fn shares_buffer(&self, other: &Self) -> bool {
        self.buffer_id().is_some_and(|it| other.buffer_id() == Some(it))
    }

    /// Whether its buffer holds more than its elements: it is a part of something.
    pub fn is_part(&self) -> bool {
        let bytes = self.numel() * self.dtype().size();
        match &self.0.data {
            Data::Stored(buffer) => buffer.len() > bytes,
            Data::Pending(pending) => pending.delivered().is_some_and(|it| it.len() > bytes),
            _ => false,
        }
    }

    /// Writes the elements of a value of this dtype where `target` says, or slices along a dimension each so far from there; false,
    /// with nothing changed, where others can see them.
    pub(crate) fn write(
        &mut self,
        target: &Layout,
        places: Option<(usize, &[i64])>,
        value: &Self,
    ) -> Result<bool> {
        let dtype = self.dtype();
        let Some(bytes) = self.own_bytes() else { return Ok(false) };
        let write = || {
            value.look(|view| {
                crate::with_size!(dtype, T => {
                    let (src, out) = (view.buffer::<T>(), typed::slice_mut::<T>(bytes));
                    match places {
                        None => strided::copy(src, view.layout(), out, target),
                        Some((dim, places)) => {
                            strided::copy_to_places(src, view.layout(), out, target, dim, places);
                        }
                    }
                });
            })
        };
        interrupt::unstopped(value.numel(), write).ok_or(Error::Interrupted)??;
        Ok(true)
    }

    /// The bytes of the buffer, if nobody else has it.
    pub(crate) fn own_bytes(&mut self) -> Option<&mut Bytes> {
        match Arc::get_mut(&mut self.0).map(|it| &mut it.data) {
            Some(Data::Stored(buffer)) => Arc::get_mut(buffer)?.host_mut().ok(),
            _ => None,
        }
    }

    /// Calls `body` with this very handle as one on elements of a dtype that lie so in its buffer, inside of it; `None` if there are other
    /// handles.
    pub fn under<R>(
        &mut self,
        dtype: DType,
        layout: Layout,
        body: impl FnOnce(&mut Self) -> R,
    ) -> Option<R> {
        let inner = Arc::get_mut(&mut self.0)?;
        let before = (
            std::mem::replace(&mut inner.dtype, dtype),
            std::mem::replace(&mut inner.layout, layout),
        );
        let res = body(self);
        let inner = Arc::get_mut(&mut self.0)?;
        (inner.dtype, inner.layout) = before;
        Some(res)
    }

    /// What is seen in the buffer of this tensor as elements of a dtype under a layout, which must lie inside it; off the tape.
    pub fn seen_as(&self, dtype: DType, layout: Layout) -> Self {
        Self::make(dtype, layout, self.0.data.clone(), None)
    }

    /// Handles on this value.
    pub(crate) fn handles(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// The buffer with the elements: runs a pending segment, materialises a number, fails for an abstract tensor.
    pub fn storage(&self) -> Result<Arc<Buffer>> {
        match &self.0.data {
            Data::Stored(buffer) => Ok(buffer.clone()),
            Data::Number(number) => Ok(storage::from_number(*number, self.dtype())?.into()),
            Data::Pending(pending) => pending.force().cloned(),
            Data::Abstract(..) => Err(Error::Abstract),
            Data::Meta => Err(Error::NoData),
        }
    }

    /// Calls `body` with a view of the elements, of a GPU's tensor with one of a copy in row-major order; an error if the user stopped what it did with them, or if whoever records the
    /// program forbids it to look at elements.
    pub fn with_view<R>(&self, body: impl FnOnce(View<'_>) -> R) -> Result<R> {
        pending::read()?;
        self.look(body)
    }

    /// As [`Tensor::with_view`], for what is no step of the program: checks, copies, what plans keep.
    pub(crate) fn look<R>(&self, body: impl FnOnce(View<'_>) -> R) -> Result<R> {
        let buffer = self.storage()?;
        if buffer.gpu().is_some() {
            return self.fetched()?.look(body);
        }
        let view = View::new(buffer.host()?, self.layout(), self.dtype());
        let view = view.ok_or_else(Error::outside_storage)?;
        let res = body(view);
        match elements::take_refusal() {
            _ if interrupt::take() => Err(Error::Interrupted),
            Some(refused) => Err(refused.into()),
            None => Ok(res),
        }
    }

    /// The elements in row-major order as `T`; fails when `T` is not the dtype's type (bool is `u8`).
    pub fn to_vec<T: storage::Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype() && !(T::DTYPE == DType::U8 && self.dtype() == DType::Bool) {
            return Err(Error::DType {
                op: "to_vec",
                dtype: self.dtype(),
                allowed: T::DTYPE.name(),
            });
        }
        self.with_view(|view| view.to_slice::<T>().into_owned())
    }

    /// The elements in row-major order, each converted to `f64`.
    pub fn to_f64_vec(&self) -> Result<Vec<f64>> {
        self.needs_real("to_f64_vec")?;
        self.with_view(|view| crate::cpu::lane::cast::<f64>(&view).into_owned())
    }

    /// Refuses complex numbers.
    pub(crate) fn needs_real(&self, op: &'static str) -> Result<()> {
        let allowed = "real numbers; take x.real, x.imag or x.abs()";
        let dtype = self.dtype();
        if dtype.is_complex() { Err(Error::DType { op, dtype, allowed }) } else { Ok(()) }
    }

    /// The only element, as a number of the language.
    pub fn item(&self) -> Result<Number> {
        if let Some(number) = self.as_number() {
            return Ok(number);
        }
        if self.numel() != 1 {
            return Err(Error::NotScalar { shape: self.shape().clone() });
        }
        if self.is_meta() {
            return Err(Error::NoItem);
        }
        let shape = || Error::NotScalar { shape: self.shape().clone() };
        self.with_view(|it| it.first())?.ok_or_else(shape)
    }

    /// The same elements under another layout of the same storage. Callers check that it fits.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self::make(self.dtype(), layout, self.0.data.clone(), None)
    }

    /// The same bytes under a dtype of the same size.
    fn reinterpret(&self, dtype: DType) -> Self {
        Self::make(dtype, self.layout().clone(), self.0.data.clone(), None)
    }

    /// The same elements, attached to the tape at `edge`.
    pub(crate) fn with_edge(&self, edge: Option<Edge>) -> Self {
        Self::make(self.dtype(), self.layout().clone(), self.0.data.clone(), edge)
    }

    /// As `with_edge`; a value that nobody else holds is attached itself.
    pub(crate) fn into_edge(mut self, edge: Option<Edge>) -> Self {
        match Arc::get_mut(&mut self.0) {
            Some(inner) => {
                inner.edge = edge;
                self
            }
            None => self.with_edge(edge),
        }
    }

    /// Where this value came from on the tape, if it needs gradients.
    pub fn edge(&self) -> Option<&Edge> {
        self.0.edge.as_ref()
    }

    /// Whether gradients flow through this value.
    pub fn requires_grad(&self) -> bool {
        self.0.edge.is_some()
    }

    /// As `detach`, for who reads it again and again; that it is a parameter stays known to its buffer.
    pub(crate) fn held(&self) -> Self {
        if let (true, Data::Stored(buffer)) = (self.requires_grad(), &self.0.data) {
            buffer.packs().open();
        }
        self.detach()
    }

    /// The same elements as a new leaf that collects gradients.
    pub fn leaf(&self) -> Self {
        self.with_edge(Some(tape::new_leaf()))
    }

    /// The same elements at `edge`: how a variable keeps its leaf when it gets a new value.
    pub fn at_edge(&self, edge: Option<Edge>) -> Self {
        self.with_edge(edge)
    }

    /// The same elements, off the tape.
    pub fn detach(&self) -> Self {
        if self.0.edge.is_none() { self.clone() } else { self.with_edge(None) }
    }

    /// Whether both handles are the same value (not merely equal elements).
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both are the same elements, at the same places of one buffer and off the tape, if not the same value.
    pub fn lies_as(&self, other: &Self) -> bool {
        let is_alike = || self.dtype() == other.dtype() && self.layout() == other.layout();
        let is_off_tape = || !self.requires_grad() && !other.requires_grad();
        self.same(other) || is_alike() && is_off_tape() && self.shares_buffer(other)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({})", self.meta())
    }
}
