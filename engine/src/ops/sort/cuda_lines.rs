//! Lines of elements that a GPU sorts, in the way that serves their length: short ones by comparing elements, several in a block; longer
//! ones by digits in a block; those that no block holds by digits, many blocks to a line. The first few of a line are selected.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::type_of;
use crate::op::CudaCx;
use crate::ops::reduce::cuda::lines;
use crate::{DType, Error, Result, Shape, Tensor};

const SHORT: &str = concat!(include_str!("keys.cu"), include_str!("short.cu"));
const DIGITS: &str = concat!(include_str!("keys.cu"), include_str!("digits.cu"));
const SELECT: &str = concat!(include_str!("keys.cu"), include_str!("select.cu"));

/// Threads of a block, where a kernel does not take fewer.
pub(super) const THREADS: usize = 256;

/// Elements of the short lines of a block: `SPAN` of `short.cu`.
const SHORT_SPAN: usize = 1024;

/// The longest line that is sorted by comparing elements.
const MOST_COMPARED: usize = 512;

/// The longest line that is sorted although only some of it are wanted.
const MOST_SORTED: usize = 64;

/// The most elements of a line that are selected; where more are wanted, all are sorted.
const MOST_SELECTED: usize = 1024;

/// Bytes of a number for each digit.
const PER_DIGIT: usize = 256 * 4;

type Defines = SmallVec<[(&'static str, Cow<'static, str>); 8]>;

/// The names that `keys.cu` is compiled with.
pub(super) fn defines(dtype: DType, descending: bool, threads: usize) -> Defines {
    SmallVec::from_iter([
        ("T", Cow::Borrowed(type_of(dtype))),
        ("O1", "ng_i64".into()),
        ("BYTES", dtype.size().to_string().into()),
        ("DESCENDING", if descending { "1" } else { "0" }.into()),
        ("THREADS", threads.to_string().into()),
    ])
}

/// Lines that are sorted, and where their first elements go.
pub(super) struct Lines<'a> {
    cx: &'a CudaCx<'a>,
    dtype: DType,
    descending: bool,
    outer: usize,
    /// Elements of a line.
    n: usize,
    /// How many of the first elements are wanted.
    k: usize,
    from: Side,
    to: Side,
    /// Where it goes from which place each element came.
    places: Option<Address>,
}

/// Where lines lie.
#[derive(Clone)]
struct Side {
    address: Address,
    /// Where each line begins.
    kept: Dims,
    /// From one element of a line to the next.
    step: i64,
}

impl Side {
    fn of(op: &'static str, tensor: &Tensor, dims: &[usize]) -> Result<Self> {
        let (kept, line) = lines(tensor.layout(), dims);
        let step = line.strides.first().map_or(1, |it| *it as i64);
        Ok(Self { address: tensor.address()?, kept: Dims::of(op, &kept)?, step })
    }

    /// Lines of `n` elements, one behind the other.
    fn in_a_row(address: Address, outer: usize, n: usize) -> Self {
        let (sizes, strides) = ([outer as i64], [n as i64]);
        let kept =
            Dims { sizes: sizes.into_iter().collect(), strides: strides.into_iter().collect() };
        Self { address, kept, step: 1 }
    }

    fn add_to(&self, parameters: Parameters) -> Parameters {
        parameters.dims(&self.kept).signed(self.step)
    }
}

impl<'a> Lines<'a> {
    /// The lines of a tensor along `dims`, of which there is one or none, and the tensor for their first elements, with the address of a
    /// like one for their places; `None` where nothing is wanted of them.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where a line has more elements than 31 bits count.
    pub(super) fn of(
        cx: &'a CudaCx<'a>,
        input: &Tensor,
        dims: &[usize],
        descending: bool,
        (out, places): (&Tensor, Option<Address>),
    ) -> Result<Option<Self>> {
        if out.numel() == 0 {
            return Ok(None);
        }
        let op = cx.op.name;
        let size = |it: &Tensor| dims.first().map_or(1, |dim| it.shape()[*dim]);
        let (n, k) = (size(input), size(out));
        if n > i32::MAX as usize {
            return Err(Error::TooLarge { op, shape: input.shape().clone() });
        }
        let (from, to) = (Side::of(op, input, dims)?, Side::of(op, out, dims)?);
        let (dtype, outer) = (input.dtype(), input.numel() / n);
        Ok(Some(Self { cx, dtype, descending, outer, n, k, from, to, places }))
    }

    pub(super) fn sort(&self) -> Result<()> {
        match self.n {
            ..=MOST_COMPARED => self.sort_short(),
            n if n <= self.tile() => self.sort_tile(),
            _ => self.sort_digits(),
        }
    }

    /// As [`Self::sort`], where that does more than is wanted.
    pub(super) fn first(&self) -> Result<()> {
        match self.n <= MOST_SORTED || self.k > MOST_SELECTED {
            true => self.sort(),
            false => self.select(),
        }
    }

    /// The longest line that a block sorts by digits, in the shared memory that every device has.
    fn tile(&self) -> usize {
        if self.dtype.size() == 8 { 2048 } else { 4096 }
    }

    fn defines<const N: usize>(&self, threads: usize, more: [(&'static str, usize); N]) -> Defines {
        let mut all = defines(self.dtype, self.descending, threads);
        all.extend(more.map(|(name, number)| (name, number.to_string().into())));
        all
    }

    /// So many blocks, or fewer that go round.
    fn grid(&self, blocks: usize, threads: usize) -> Grid {
        Grid::blocks(blocks.min(1 << 20), threads as u32)
    }

    /// Parameters of kernels that take lines whole, behind these.
    fn whole(&self, first: Parameters) -> Parameters {
        let sizes = first.long(self.outer).long(self.n).long(self.k);
        let out = [self.to.address, self.places.unwrap_or(0)];
        let parameters = self.from.add_to(sizes.address(self.from.address)).addresses(out);
        self.to.add_to(parameters)
    }

    fn sort_short(&self) -> Result<()> {
        let part = self.n.next_power_of_two();
        let parameters = self.whole(Parameters::default().int(part.ilog2() as i32));
        let grid = self.grid(self.outer.div_ceil(SHORT_SPAN / part), THREADS);
        self.cx.run("sort_short", SHORT, &self.defines(THREADS, []), grid, &parameters)
    }

    fn sort_tile(&self) -> Result<()> {
        let items = self.n.next_power_of_two() / THREADS;
        let defines = self.defines(THREADS, [("ITEMS", items)]);
        self.cx.run(
            "sort_tile",
            DIGITS,
            &defines,
            self.grid(self.outer, THREADS),
            &self.whole(Parameters::default()),
        )
    }
}

/// What the passes of a sort by digits tell each other: counts of digits for each line and pass; what tiles tell in each pass; which tile is
/// next in each.
struct Notes {
    block: Block,
    totals: usize,
    states: usize,
}

impl Notes {
    fn of(lines: &Lines<'_>, tiles: usize) -> Result<Self> {
        let passes = lines.dtype.size();
        let totals = lines.outer * passes * PER_DIGIT;
        let states = passes * tiles * PER_DIGIT;
        let block = lines.cx.scratch(totals + states + passes * 4)?;
        lines.cx.gpu.clear(block.address(), block.len())?;
        Ok(Self { block, totals, states: tiles * PER_DIGIT })
    }

    /// The addresses of the three for a pass.
    fn of_pass(&self, pass: usize, passes: usize) -> [Address; 3] {
        let states = self.totals + pass * self.states;
        let next = self.totals + passes * self.states + pass * 4;
        [0, states, next].map(|it| self.block.address() + it as Address)
    }
}

/// Elements between two passes, with their places if these are wanted.
struct Between {
    elements: Block,
    places: Option<Block>,
}

/// Lines that no block holds.
impl Lines<'_> {
    /// One pass for each byte of an element.
    fn sort_digits(&self) -> Result<()> {
        let passes = self.dtype.size();
        let tiles = self.n.div_ceil(self.tile());
        if self.outer * tiles > i32::MAX as usize {
            let shape = Shape::from([self.outer, self.n]);
            return Err(Error::TooLarge { op: self.cx.op.name, shape });
        }
        let notes = Notes::of(self, self.outer * tiles)?;
        self.count_digits(&notes)?;
        let between = (1..passes.min(3)).map(|_| self.between()).collect::<Result<Vec<_>>>()?;
        let mut from = (self.from.clone(), 0);
        for pass in 0..passes - 1 {
            let Between { elements, places } = &between[pass % 2];
            let side = Side::in_a_row(elements.address(), self.outer, self.n);
            let to = (side, places.as_ref().map_or(0, Block::address));
            self.sort_digit(&notes, pass, &from, &to)?;
            from = to;
        }
        self.sort_digit(&notes, passes - 1, &from, &(self.to.clone(), 0))
    }

    fn between(&self) -> Result<Between> {
        let size = self.outer * self.n;
        let places = self.places.map(|_| self.cx.scratch(size * 4)).transpose()?;
        Ok(Between { elements: self.cx.scratch(size * self.dtype.size())?, places })
    }

    fn count_digits(&self, notes: &Notes) -> Result<()> {
        let wanted = self.cx.gpu.properties().multiprocessors as usize * 8;
        let parts = self.n.div_ceil(self.tile()).min(wanted.div_ceil(self.outer));
        let sizes = Parameters::default().long(self.n).long(parts).address(self.from.address);
        let parameters = self.from.add_to(sizes).address(notes.block.address());
        let grid = Grid::blocks(self.outer * parts, THREADS as u32);
        self.cx.run("count_digits", DIGITS, &self.by_digits(), grid, &parameters)
    }

    fn by_digits(&self) -> Defines {
        self.defines(THREADS, [("ITEMS", self.tile() / THREADS)])
    }

    /// One pass, between elements with the addresses of their places.
    fn sort_digit(
        &self,
        notes: &Notes,
        pass: usize,
        (from, from_places): &(Side, Address),
        (to, to_places): &(Side, Address),
    ) -> Result<()> {
        let (passes, tiles) = (self.dtype.size(), self.n.div_ceil(self.tile()));
        let (k, places) = match pass + 1 == passes {
            true => (self.k, self.places.unwrap_or(0)),
            false => (self.n, 0),
        };
        let sizes = Parameters::default().long(self.n).long(tiles).long(k).int(pass as i32);
        let parameters = from.add_to(sizes.address(from.address)).addresses([
            *from_places,
            to.address,
            *to_places,
            places,
        ]);
        let parameters = to.add_to(parameters).addresses(notes.of_pass(pass, passes));
        let grid = Grid::blocks(self.outer * tiles, THREADS as u32);
        self.cx.run("sort_digit", DIGITS, &self.by_digits(), grid, &parameters)
    }
}

/// Keys with their places, of lines of `n`.
struct Selected {
    keys: Block,
    places: Block,
    n: usize,
}

/// Lines of which few elements are wanted.
impl Lines<'_> {
    /// Selects in parts that a block holds, then among what these have left, until a block holds a line.
    fn select(&self) -> Result<()> {
        let mut from: Option<Selected> = None;
        loop {
            let n = from.as_ref().map_or(self.n, |it| it.n);
            let span = n.next_power_of_two().clamp(128, 4096);
            let parts = n.div_ceil(span);
            if parts == 1 {
                return self.select_parts(from.as_ref(), None, (n, span));
            }
            let rest = n - (parts - 1) * span;
            let next = self.selected((parts - 1) * self.k + self.k.min(rest))?;
            self.select_parts(from.as_ref(), Some(&next), (n, span))?;
            from = Some(next);
        }
    }

    fn selected(&self, n: usize) -> Result<Selected> {
        let (size, key) = (self.outer * n, if self.dtype.size() == 8 { 8 } else { 4 });
        Ok(Selected { keys: self.cx.scratch(size * key)?, places: self.cx.scratch(size * 4)?, n })
    }

    /// Selects in each part of `span` elements of lines of `n`; where nothing follows, what is selected goes to the results in order.
    fn select_parts(
        &self,
        from: Option<&Selected>,
        to: Option<&Selected>,
        (n, span): (usize, usize),
    ) -> Result<()> {
        let threads = (span / 16).clamp(32, THREADS);
        let is_later = usize::from(from.is_some());
        let kept = self.k.next_power_of_two();
        let defines =
            self.defines(threads, [("ITEMS", span / threads), ("KEPT", kept), ("LATER", is_later)]);
        let parts = n.div_ceil(span);
        let addresses = |it: Option<&Selected>| {
            it.map_or([0, 0], |it| [it.keys.address(), it.places.address()])
        };
        let out = if to.is_none() { self.to.address } else { 0 };
        let sizes = Parameters::default().long(self.outer).long(n).long(parts).int(self.k as i32);
        let parameters = self
            .from
            .add_to(sizes.address(self.from.address))
            .addresses(addresses(from))
            .long(to.map_or(0, |it| it.n))
            .addresses(addresses(to))
            .addresses([out, self.places.unwrap_or(0)]);
        let grid = self.grid(self.outer * parts, threads);
        self.cx.run("select_first", SELECT, &defines, grid, &self.to.add_to(parameters))
    }
}
