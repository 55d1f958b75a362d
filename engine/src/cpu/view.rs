//! What a kernel sees: bounds-checked typed views of its inputs and outputs.

use std::marker::PhantomData;

use half::{bf16, f16};

use super::alloc::Bytes;
use super::elements::Elements;
use super::packs::Packs;
use super::strided;
use super::typed::{Plain, Region};
use crate::dtype::Number;
use crate::dtype::Width;
use crate::{DType, Layout, Shape};

/// A tensor to read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    region: Region,
    layout: &'a Layout,
    dtype: DType,
    packs: Option<&'a Packs>,
}

impl<'a> View<'a> {
    /// A view of a buffer; `None` when the layout reaches outside it, at either end.
    ///
    /// It does not outlive the buffer:
    ///
    /// ```compile_fail,E0597
    /// use engine::cpu::{alloc::Bytes, view::View};
    /// use engine::{DType, Layout, Shape};
    ///
    /// let layout = Layout::contiguous(Shape::from([2]));
    /// let view = {
    ///     let bytes = Bytes::zeroed(8).unwrap();
    ///     View::new(&bytes, &layout, DType::F32).unwrap()
    /// };
    /// assert_eq!(*view.to_slice::<f32>(), [0.0, 0.0]);
    /// ```
    #[inline]
    pub fn new(bytes: &'a Bytes, layout: &'a Layout, dtype: DType) -> Option<Self> {
        Self::within(Region::of(bytes), layout, dtype)
    }

    #[inline]
    fn within<'b>(region: Region, layout: &'b Layout, dtype: DType) -> Option<View<'b>> {
        let inside = layout.reach()? <= count(region.len(), dtype);
        inside.then_some(View { region, layout, dtype, packs: None })
    }

    /// A view of a region.
    ///
    /// # Safety
    /// The memory outlives `'a`, nobody writes to it meanwhile, and the layout lies within it.
    pub unsafe fn from_region(region: Region, layout: &'a Layout, dtype: DType) -> Self {
        debug_assert!(layout.reach().is_some_and(|it| it <= region.len() / dtype.size()));
        Self { region, layout, dtype, packs: None }
    }

    /// The same view, of a buffer beside which kernels keep these copies.
    #[inline]
    #[must_use]
    pub fn beside(self, packs: &'a Packs) -> Self {
        Self { packs: Some(packs), ..self }
    }

    /// Copies that kernels keep beside the buffer; `None` for one that does not outlive the run.
    pub fn packs(&self) -> Option<&'a Packs> {
        self.packs
    }

    /// The same memory under another layout; `None` when it reaches outside.
    pub fn with_layout<'b>(&self, layout: &'b Layout) -> Option<View<'b>>
    where
        'a: 'b,
    {
        Self::within(self.region, layout, self.dtype)
    }

    /// Sizes.
    pub fn shape(&self) -> &'a Shape {
        &self.layout.shape
    }

    /// Shape, strides and offset.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The memory that the layout addresses.
    pub fn region(&self) -> Region {
        self.region
    }

    /// The same elements as plain bits: integers of their size, where there are such.
    pub fn as_bits(&self) -> Self {
        let dtype = match self.dtype.width() {
            Width::W1 => DType::U8,
            Width::W2 => DType::I16,
            Width::W4 => DType::I32,
            Width::W8 => DType::I64,
            Width::W16 => DType::C128,
        };
        Self { dtype, ..*self }
    }

    /// The first element; `None` when there is none.
    pub fn first(&self) -> Option<Number> {
        self.number_at(self.layout.offset)
    }

    /// The element at a place of the buffer; `None` outside.
    pub fn number_at(&self, at: usize) -> Option<Number> {
        fn get<T: Plain>(view: &View<'_>, at: usize) -> Option<T> {
            view.buffer::<T>().get(at).copied()
        }
        Some(match self.dtype {
            DType::Bool => Number::Bool(get::<u8>(self, at)? != 0),
            DType::U8 => Number::Int(get::<u8>(self, at)?.into()),
            DType::I8 => Number::Int(get::<i8>(self, at)?.into()),
            DType::I16 => Number::Int(get::<i16>(self, at)?.into()),
            DType::U16 => Number::Int(get::<u16>(self, at)?.into()),
            DType::I32 => Number::Int(get::<i32>(self, at)?.into()),
            DType::I64 => Number::Int(get::<i64>(self, at)?),
            DType::F16 => Number::Float(get::<f16>(self, at)?.into()),
            DType::BF16 => Number::Float(get::<bf16>(self, at)?.into()),
            DType::F32 => Number::Float(get::<f32>(self, at)?.into()),
            DType::F64 => Number::Float(get::<f64>(self, at)?),
            DType::C64 => {
                let bits = get::<i64>(self, at)? as u64;
                let part = |it: u64| f64::from(f32::from_bits(it as u32));
                Number::Complex(part(bits), part(bits >> 32))
            }
            DType::C128 => {
                let bits = get::<u128>(self, at)?;
                Number::Complex(f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64))
            }
        })
    }

    /// All elements of the underlying buffer, to be indexed through the layout. Empty when `T` has another size than the dtype.
    pub fn buffer<T: Plain>(&self) -> &'a [T] {
        if size_of::<T>() != self.dtype.size() {
            return &[];
        }
        // SAFETY: the region is readable for `'a` (constructor) and `T` is plain.
        unsafe { self.region.slice() }
    }

    /// The elements in row-major order without copying, when the layout is contiguous.
    pub fn as_slice<T: Plain>(&self) -> Option<&'a [T]> {
        let start = self.layout.offset;
        let numel = self.layout.shape.numel();
        if numel == 0 {
            return Some(&[]);
        }
        self.layout.is_contiguous().then(|| self.buffer().get(start..start + numel)).flatten()
    }

    /// The elements in row-major order, copied when the layout is not contiguous.
    pub fn to_slice<T: Plain>(&self) -> Elements<'a, T> {
        match self.as_slice() {
            Some(slice) => Elements::Lent(slice),
            None => strided::gather(self.buffer(), self.layout),
        }
    }
}

/// How many elements lie in so many bytes. Sizes are powers of two, and a division takes longer than all else that a small op checks.
#[inline]
fn count(bytes: usize, dtype: DType) -> usize {
    bytes >> dtype.size().trailing_zeros()
}

/// A tensor to write: contiguous; before the kernel runs it holds anything, or what the kernel updates.
pub struct OutView<'a> {
    region: Region,
    shape: &'a Shape,
    dtype: DType,
    exclusive: PhantomData<&'a mut u8>,
}

impl<'a> OutView<'a> {
    /// A view of a whole buffer; `None` when it is too small.
    ///
    /// Nobody else has the buffer meanwhile:
    ///
    /// ```compile_fail,E0499
    /// use engine::cpu::{alloc::Bytes, view::OutView};
    /// use engine::{DType, Shape};
    ///
    /// let (mut bytes, shape) = (Bytes::zeroed(8).unwrap(), Shape::from([2]));
    /// let mut first = OutView::new(&mut bytes, &shape, DType::F32).unwrap();
    /// let mut second = OutView::new(&mut bytes, &shape, DType::F32).unwrap();
    /// first.as_mut_slice::<f32>()[0] = second.as_mut_slice::<f32>()[0];
    /// ```
    #[inline]
    pub fn new(bytes: &'a mut Bytes, shape: &'a Shape, dtype: DType) -> Option<Self> {
        Self::from_element(bytes, 0, shape, dtype)
    }

    /// As [`OutView::new`], of the elements from one of a buffer on.
    #[inline]
    pub fn from_element(
        bytes: &'a mut Bytes,
        first: usize,
        shape: &'a Shape,
        dtype: DType,
    ) -> Option<Self> {
        let len = shape.fitting_numel()?.checked_mul(dtype.size())?;
        let region = Region::of_mut(bytes).part(first.checked_mul(dtype.size())?, len)?;
        Some(Self { region, shape, dtype, exclusive: PhantomData })
    }

    /// A view of a region.
    ///
    /// # Safety
    /// The memory outlives `'a`, nobody else reads or writes it meanwhile, it is aligned for the dtype and large enough.
    pub unsafe fn from_region(region: Region, shape: &'a Shape, dtype: DType) -> Self {
        debug_assert!(shape.numel() * dtype.size() <= region.len());
        Self { region, shape, dtype, exclusive: PhantomData }
    }

    /// Sizes.
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The memory to write.
    pub fn region(&self) -> Region {
        self.region
    }

    /// The same memory, lent for a while.
    pub fn reborrow(&mut self) -> OutView<'_> {
        OutView {
            region: self.region,
            shape: self.shape,
            dtype: self.dtype,
            exclusive: PhantomData,
        }
    }

    /// What it holds, under a layout; `None` when that reaches outside.
    pub fn held<'b>(&'b self, layout: &'b Layout) -> Option<View<'b>> {
        View::within(self.region, layout, self.dtype)
    }

    /// The parts of complex numbers, real and imaginary in turn, to be written. Empty when `T` is not their type.
    pub fn parts_mut<T: Plain>(&mut self) -> &mut [T] {
        if !self.dtype.is_complex() || size_of::<T>() != self.dtype.part().size() {
            return &mut [];
        }
        // SAFETY: as in `as_mut_slice`; a complex number is two parts side by side.
        let all: &mut [T] = unsafe { self.region.slice_mut() };
        &mut all[..2 * self.shape.numel()]
    }

    /// The elements, to be written. Empty when `T` has another size than the dtype.
    pub fn as_mut_slice<T: Plain>(&mut self) -> &mut [T] {
        if size_of::<T>() != self.dtype.size() {
            return &mut [];
        }
        // SAFETY: exclusive for `'a` (constructor); borrowed from `self`, so no second slice exists.
        let all: &mut [T] = unsafe { self.region.slice_mut() };
        &mut all[..self.shape.numel()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(sizes: &[usize], strides: &[isize], offset: usize) -> Layout {
        Layout { shape: Shape::new(sizes), strides: strides.iter().copied().collect(), offset }
    }

    #[test]
    fn a_layout_lies_inside_its_buffer_at_both_ends() {
        let bytes = Bytes::zeroed(16).unwrap();
        let view = |it: &Layout| View::new(&bytes, it, DType::F32).is_some();
        assert!(view(&strided(&[4], &[1], 0)) && view(&strided(&[4], &[-1], 3)));
        assert!(view(&strided(&[2, 2], &[2, -1], 1)) && view(&strided(&[0, 9], &[9, 1], 0)));
        assert!(!view(&strided(&[4], &[1], 1)), "beyond the end");
        assert!(!view(&strided(&[4], &[-1], 2)), "before the beginning");
        assert!(!view(&strided(&[2, 2], &[-2, 1], 1)), "before the beginning");
        assert!(!view(&strided(&[4, 4], &[1], 0)), "a stride is missing");
        let far = isize::MAX / 2;
        assert!(!view(&strided(&[9], &[far], 0)), "no address");
        assert!(!view(&strided(&[3, 3], &[far, far], 0)), "no address");
        assert!(!view(&strided(&[1 << 33, 1 << 33], &[0, 0], 0)), "no number of elements");
        let whole = strided(&[4], &[1], 0);
        let whole = View::new(&bytes, &whole, DType::F32).unwrap();
        assert!(whole.with_layout(&strided(&[2], &[-1], 0)).is_none());
    }

    #[test]
    fn an_output_fits_its_buffer() {
        let mut bytes = Bytes::zeroed(16).unwrap();
        assert!(OutView::new(&mut bytes, &Shape::new(&[4]), DType::F32).is_some());
        assert!(OutView::new(&mut bytes, &Shape::new(&[5]), DType::F32).is_none());
        assert!(OutView::new(&mut bytes, &Shape::new(&[1 << 62, 4]), DType::F64).is_none());
    }
}
