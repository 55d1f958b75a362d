//! Indexing as users write it: `x[1:, None, ..., mask]` to read, and its functional form to write.
//!
//! Semantics are PyTorch's, with NumPy's negative steps: whole numbers drop their dimension first; index tensors are
//! broadcast together, and their dimensions stand where the first of them stood when they are neighbours, else in front.

mod in_place;
mod picked;
mod strided;

use smallvec::SmallVec;

pub use in_place::{set_from_within, set_in_place};
pub use strided::set_strided;

use crate::apply::is_shapes_only;
use crate::apply::place::to_device;
use crate::{
    Attr, DType, Error, Layout, Meta, Result, Shape, Tensor, apply_one, functional, ops, rules,
    tape,
};

/// One entry between the brackets.
#[derive(Clone, Debug)]
pub enum Index {
    /// One element along a dimension, which is dropped.
    Int(i64),
    /// `start:stop:step`; parts left out are `None`.
    Slice { start: Option<i64>, stop: Option<i64>, step: Option<i64> },
    /// `None`: a new dimension of size 1.
    NewAxis,
    /// `...`: all dimensions that are not mentioned.
    Ellipsis,
    /// Whole numbers: the elements to take. Bools: a mask over as many dimensions as it has; one of none is a new dimension, of size 1 where
    /// it is true and of size 0 where it is false.
    Tensor(Tensor),
}

impl Index {
    /// Whether it says nothing but which elements of a dimension are meant.
    fn is_plain(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Slice { .. } | Self::Ellipsis)
    }

    fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Tensor(it) => Some(it),
            _ => None,
        }
    }
}

/// Whether a tensor is a truth value, which takes all or nothing.
fn is_truth(pick: &Tensor) -> bool {
    pick.dtype() == DType::Bool && pick.rank() == 0
}

/// What errors of indices name.
pub const OP: &str = "index";

/// So many rows of `x`, from the row with this number on: `x[start:start + count]` where the number may be another one whenever the ops run
/// again, and therefore a copy.
pub fn rows_from(x: &Tensor, start: &Tensor, count: usize) -> Result<Tensor> {
    let arange = find("arange")?;
    let mut attrs = arange.default_attrs();
    attrs[0] = Attr::Int(count as i64);
    let steps = apply_one(arange, &[], &attrs)?;
    let places = functional::add(&steps, start)?;
    apply_one(find("index_select")?, &[x.clone(), places], &[Attr::Int(0)].into_iter().collect())
}

/// `x[index]`. Without index tensors the result shares the storage of `x`.
pub fn get(x: &Tensor, index: &[Index]) -> Result<Tensor> {
    let index = expand_ellipsis(x.shape(), index)?;
    let mut res = x.clone();
    // `gone` and `new`: how many dimensions of `x` are no longer before `dim`, and how many before it are none of `x`.
    let (mut dim, mut gone, mut new) = (0, 0, 0);
    let mut picks: Vec<(usize, Tensor)> = Vec::new();
    for entry in &index {
        match entry {
            Index::Int(at) => {
                let at = resolve(*at, res.shape()[dim], dim + gone - new)?;
                res = functional::select(&res, dim as i64, at)?;
                gone += 1;
            }
            Index::Slice { start, stop, step } => {
                res = sliced(&res, dim, Span::new(*start, *stop, *step, res.shape()[dim])?)?;
                dim += 1;
            }
            Index::NewAxis => {
                res = functional::unsqueeze(&res, dim as i64)?;
                dim += 1;
                new += 1;
            }
            Index::Ellipsis => {}
            Index::Tensor(pick) if is_truth(pick) => {
                res = functional::unsqueeze(&res, dim as i64)?;
                let positions = mask_positions(&res, dim, &functional::unsqueeze(pick, 0)?)?;
                picks.extend(positions.into_iter().map(|it| (dim, it)));
                dim += 1;
                new += 1;
            }
            Index::Tensor(pick) if pick.dtype() == DType::Bool => {
                for positions in mask_positions(&res, dim, pick)? {
                    picks.push((dim, positions));
                    dim += 1;
                }
            }
            Index::Tensor(pick) => {
                picks.push((dim, pick.clone()));
                dim += 1;
            }
        }
    }
    if picks.is_empty() { Ok(res) } else { gather(&res, &picks) }
}

/// `x` with `x[index]` replaced by `value`, which is broadcast and converted to the dtype of `x`.
pub fn set(x: &Tensor, index: &[Index], value: &Tensor) -> Result<Tensor> {
    let value = as_element(value, x.dtype())?;
    let value = to_device(&value, x.device())?;
    if let [Index::Tensor(mask)] = index
        && mask.dtype() == DType::Bool
        && (mask.rank() == 0 || mask.shape() == x.shape())
        && value.numel() == 1
    {
        let value = functional::reshape(&value, &Shape::default())?;
        return functional::select_where(mask, &value, x);
    }
    if index.iter().all(Index::is_plain) {
        let part = Part::new(x.shape(), &expand_ellipsis(x.shape(), index)?)?;
        let fitted = part.fitted(&value)?;
        return match is_there(&fitted, x, &part.within(x.layout())) {
            true => Ok(x.detach()),
            false => put(x, &part.spans, 0, &fitted),
        };
    }
    place(x, &value, |positions| get(positions, index))
}

/// Whether a value is what lies there already, and no tape can tell them apart: `x[i] += y` ends by writing what `x[i]` is.
fn is_there(value: &Tensor, owner: &Tensor, target: &Layout) -> bool {
    if tape::enabled() && (value.requires_grad() || owner.requires_grad()) {
        return false;
    }
    let is = value.layout();
    let mut sides = is.shape.iter().zip(is.strides.iter().zip(&target.strides));
    value.shares_buffer(owner)
        && value.dtype() == owner.dtype()
        && is.offset == target.offset
        && sides.all(|(&size, (a, b))| size == 1 || a == b)
}

/// The value in a dtype; an error for a number that it does not hold.
fn as_element(value: &Tensor, dtype: DType) -> Result<Tensor> {
    if let Some(number) = value.as_number() {
        rules::check_fits("setitem", "value", number, dtype)?;
    }
    if value.dtype() == dtype { Ok(value.clone()) } else { functional::to(value, dtype) }
}

/// `x` with what is seen through `view`, the output of a view op, replaced by `value`. An expanded view, in which elements of `x`
/// are seen several times, is an error.
pub fn write_through(
    x: &Tensor,
    value: &Tensor,
    view: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if let Some(res) = in_place::written_copy(x, value, &view)? {
        return Ok(res);
    }
    if let Some(res) = set_strided(x, &view, &[Index::Ellipsis], value)? {
        return Ok(res);
    }
    place(x, value, |positions| {
        let seen = view(positions)?;
        let is_expanded = seen.is_abstract() || seen.layout().repeats();
        if seen.numel() <= positions.numel() || !is_expanded {
            return Ok(seen);
        }
        let rule =
            "elements of an expanded view are one element of its base; write to a clone() of it";
        let shapes = vec![seen.shape().clone(), x.shape().clone()];
        Err(Error::Shapes { op: "setitem", shapes, rule: rule.into() })
    })
}

/// As [`write_through`], where one of both is complex and the other one sees their parts.
pub fn write_parts(
    x: &Tensor,
    value: &Tensor,
    view: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let is_complex = x.dtype().is_complex();
    let parts = |it: &Tensor| match it.dtype().is_complex() {
        true => functional::view_as_real(it),
        false => Ok(it.clone()),
    };
    // Positions as doubles, which are exact below 2^53.
    let res = write_through(&parts(x)?, &parts(value)?, |positions| {
        let positions = functional::to(positions, DType::F64)?;
        let whole = if is_complex { functional::view_as_complex(&positions)? } else { positions };
        functional::to(&parts(&view(&whole)?)?, DType::I64)
    })?;
    if is_complex { functional::view_as_complex(&res) } else { Ok(res) }
}

/// `x` with the elements that `pick` picks replaced by `value`: `pick` is applied to the positions of the elements. Of one that is
/// picked several times, the last value stays.
fn place(
    x: &Tensor,
    value: &Tensor,
    pick: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    // Where nothing is computed there are no positions either.
    let all = if x.is_abstract() || is_shapes_only() {
        Tensor::abstract_of(Meta::new(x.shape().clone(), DType::I64))
    } else {
        let numbers: Vec<i64> = (0..x.numel() as i64).collect();
        Tensor::from_vec(&numbers, x.shape().clone())?
    };
    let positions = pick(&all)?;
    let flat = |it: &Tensor| functional::reshape(it, &Shape::from([it.numel()]));
    let values = flat(&broadcast(value, positions.shape())?)?;
    let op = find("index_put")?;
    let res = apply_one(op, &[flat(x)?, values, flat(&positions)?], &op.default_attrs())?;
    functional::reshape(&res, x.shape())
}

fn find(name: &'static str) -> Result<&'static crate::OpDef> {
    ops::find(name).ok_or_else(|| Error::File { problem: format!("the op {name} is missing") })
}

fn broadcast(value: &Tensor, shape: &Shape) -> Result<Tensor> {
    if value.shape() == shape {
        return Ok(value.clone());
    }
    let mut value = value.clone();
    // Leading dimensions of size 1 beyond the target's rank are allowed, as in NumPy.
    while value.rank() > shape.rank() && value.shape()[0] == 1 {
        value = functional::squeeze(&value, 0)?;
    }
    let fits = value.shape().broadcast(shape).is_some_and(|it| &it == shape);
    if !fits {
        let rule = "the value must broadcast to what is assigned".into();
        return Err(Error::Shapes {
            op: "setitem",
            shapes: vec![value.shape().clone(), shape.clone()],
            rule,
        });
    }
    functional::expand(&value, shape)
}

/// The index with `...` written out as full slices, and full slices for dimensions that are not mentioned.
fn expand_ellipsis(whole: &Shape, index: &[Index]) -> Result<Vec<Index>> {
    let uses = |it: &Index| match it {
        Index::Int(_) | Index::Slice { .. } => 1,
        Index::NewAxis | Index::Ellipsis => 0,
        Index::Tensor(it) if it.dtype() == DType::Bool => it.rank(),
        Index::Tensor(_) => 1,
    };
    let used: usize = index.iter().map(uses).sum();
    if used > whole.rank() {
        let rule = format!("too many indices: {used} for a tensor of {} dimensions", whole.rank());
        return Err(Error::Shapes { op: OP, shapes: vec![whole.clone()], rule });
    }
    let full = || Index::Slice { start: None, stop: None, step: None };
    let missing = whole.rank() - used;
    check_dots(whole, index, missing)?;
    let mut left = missing;
    let mut res = Vec::with_capacity(index.len() + missing);
    for entry in index {
        match entry {
            Index::Ellipsis => res.extend((0..std::mem::take(&mut left)).map(|_| full())),
            other => res.push(other.clone()),
        }
    }
    res.extend((0..left).map(|_| full()));
    Ok(res)
}

/// After a second `...` nothing may follow, unless there are no dimensions that either could stand for.
fn check_dots(whole: &Shape, index: &[Index], missing: usize) -> Result<()> {
    let is_dots = |it: &Index| matches!(it, Index::Ellipsis);
    let mut dots = index.iter().enumerate().filter(|it| is_dots(it.1));
    match dots.nth(1) {
        Some((at, _)) if missing > 0 && !index[at..].iter().all(is_dots) => {
            let rule = "only one `...` can stand in an index before others".into();
            Err(Error::Shapes { op: OP, shapes: vec![whole.clone()], rule })
        }
        _ => Ok(()),
    }
}

/// A slice of a dimension, resolved: `len` elements from `start` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    start: i64,
    len: usize,
    step: i64,
    size: usize,
}

impl Span {
    /// Resolves as Python's `slice.indices`; a step of 0 is an error.
    fn new(start: Option<i64>, stop: Option<i64>, step: Option<i64>, size: usize) -> Result<Self> {
        let step = step.unwrap_or(1);
        let n = size as i64;
        if step == 0 {
            return Err(Error::Attr { op: OP, name: "step", problem: "cannot be 0".into() });
        }
        let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
        let resolve = |it: i64| (if it < 0 { it.saturating_add(n) } else { it }).clamp(low, high);
        let start = start.map_or(if step > 0 { low } else { high }, resolve);
        let stop = stop.map_or(if step > 0 { high } else { low }, resolve);
        let distance = if step > 0 { stop - start } else { start - stop };
        let magnitude = step.unsigned_abs() as i64;
        let len = if distance <= 0 { 0 } else { ((distance - 1) / magnitude + 1) as usize };
        Ok(Self { start, len, step, size })
    }

    /// The first element alone.
    fn one(size: usize) -> Self {
        Self { start: 0, len: 1, step: 1, size }
    }

    fn is_full(self) -> bool {
        self.start == 0 && self.step == 1 && self.len == self.size
    }

    /// The same elements in ascending order: (start, stop, step).
    fn ascending(self) -> (i64, i64, i64) {
        if self.len == 0 {
            return (0, 0, 1);
        }
        let last = self.start + (self.len as i64 - 1) * self.step;
        (self.start.min(last), self.start.max(last) + 1, self.step.abs())
    }
}

fn sliced(x: &Tensor, dim: usize, span: Span) -> Result<Tensor> {
    if span.is_full() {
        return Ok(x.clone());
    }
    let (start, stop, step) = span.ascending();
    let res = functional::slice(x, dim as i64, start, stop, step)?;
    if span.step < 0 { functional::flip(&res, &[dim as i64]) } else { Ok(res) }
}

fn resolve(at: i64, size: usize, dim: usize) -> Result<i64> {
    let n = size as i64;
    if at < -n || at >= n {
        return Err(Error::IndexRange { op: OP, index: at, size, dim });
    }
    Ok(if at < 0 { at + n } else { at })
}

/// Where a mask is true: one index tensor per dimension of the mask.
fn mask_positions(x: &Tensor, dim: usize, mask: &Tensor) -> Result<Vec<Tensor>> {
    let covered = &x.shape()[dim..dim + mask.rank()];
    if covered != &**mask.shape() {
        let rule = "a mask has the sizes of the dimensions it covers".into();
        return Err(Error::Shapes {
            op: OP,
            shapes: vec![x.shape().clone(), mask.shape().clone()],
            rule,
        });
    }
    let positions =
        apply_one(find("nonzero")?, std::slice::from_ref(mask), &find("nonzero")?.default_attrs())?;
    (0..mask.rank() as i64).map(|it| functional::select(&positions, 1, it)).collect()
}

/// `x` picked by index tensors on some of its dimensions.
fn gather(x: &Tensor, picks: &[(usize, Tensor)]) -> Result<Tensor> {
    let dims: Vec<usize> = picks.iter().map(|it| it.0).collect();
    let rest = (0..x.rank()).filter(|it| !dims.contains(it));
    let order: Vec<i64> = dims.iter().copied().chain(rest).map(|it| it as i64).collect();
    let in_order = order.iter().enumerate().all(|(at, &dim)| at as i64 == dim);
    let front = if in_order { x.clone() } else { functional::permute(x, &order)? };
    let mut inputs: SmallVec<[Tensor; 3]> = SmallVec::from_elem(front, 1);
    for (_, pick) in picks {
        let whole = pick.dtype().is_int();
        inputs.push(if whole { pick.clone() } else { functional::to(pick, DType::I64)? });
        if pick.dtype().is_float() && pick.numel() > 0 {
            return Err(Error::DType { op: OP, dtype: pick.dtype(), allowed: "integers or bool" });
        }
    }
    let op = find("index")?;
    let res = apply_one(op, &inputs, &op.default_attrs())?;
    let neighbours = dims.windows(2).all(|it| it[0] + 1 == it[1]);
    let first = dims[0];
    if !neighbours || first == 0 {
        return Ok(res);
    }
    let n_picked = res.rank() - (x.rank() - dims.len());
    let before = n_picked..n_picked + first;
    let after = n_picked + first..res.rank();
    let order: Vec<i64> = before.chain(0..n_picked).chain(after).map(|it| it as i64).collect();
    functional::permute(&res, &order)
}

/// The part of a tensor that numbers and slices name.
struct Part {
    spans: Vec<Span>,
    /// Its shape.
    shape: Shape,
    /// The same with the dimensions that numbers drop.
    kept: Shape,
}

impl Part {
    fn new(whole: &Shape, index: &[Index]) -> Result<Self> {
        let (mut spans, mut shape) = (Vec::new(), Shape::default());
        for (dim, entry) in index.iter().enumerate() {
            let size = whole[dim];
            let span = match entry {
                Index::Int(at) => Span { start: resolve(*at, size, dim)?, ..Span::one(size) },
                Index::Slice { start, stop, step } => Span::new(*start, *stop, *step, size)?,
                _ => {
                    let problem = "is no number or slice".into();
                    return Err(Error::Attr { op: OP, name: "index", problem });
                }
            };
            if !matches!(entry, Index::Int(_)) {
                shape.dims_mut().push(span.len);
            }
            spans.push(span);
        }
        Ok(Self::of(spans, shape))
    }

    /// The part that spans name, one per dimension, and its shape.
    fn of(spans: Vec<Span>, shape: Shape) -> Self {
        let kept = spans.iter().map(|it| it.len).collect();
        Self { spans, shape, kept }
    }

    /// Where its elements lie.
    fn within(&self, whole: &Layout) -> Layout {
        let mut target = Layout { shape: self.kept.clone(), ..whole.clone() };
        for (dim, span) in self.spans.iter().enumerate() {
            let (start, _, step) = span.ascending();
            target.offset = target.offset.wrapping_add_signed(start as isize * whole.strides[dim]);
            target.strides[dim] *= step as isize;
        }
        target
    }

    /// What is assigned, with a size for each span and in ascending order along each.
    fn fitted(&self, value: &Tensor) -> Result<Tensor> {
        let value = functional::reshape(&broadcast(value, &self.shape)?, &self.kept)?;
        let reversed = self.spans.iter().enumerate().filter(|it| it.1.step < 0);
        let reversed: Vec<i64> = reversed.map(|it| it.0 as i64).collect();
        if reversed.is_empty() { Ok(value) } else { functional::flip(&value, &reversed) }
    }
}

/// `x` with the part that `spans` describe from dimension `dim` on replaced by `value`.
fn put(x: &Tensor, spans: &[Span], dim: usize, value: &Tensor) -> Result<Tensor> {
    let Some(at) = (dim..spans.len()).find(|&it| !spans[it].is_full()) else {
        return Ok(value.clone());
    };
    let (start, stop, step) = spans[at].ascending();
    let more = (at + 1..spans.len()).any(|it| !spans[it].is_full());
    let inner = if more {
        put(&functional::slice(x, at as i64, start, stop, step)?, spans, at + 1, value)?
    } else {
        value.clone()
    };
    let op = find("slice_scatter")?;
    let attrs = [at as i64, start, stop, step].map(crate::Attr::Int).into_iter().collect();
    apply_one(op, &[x.clone(), inner], &attrs)
}
