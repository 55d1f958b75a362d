//! Elementwise ops on a GPU: a lane program as a kernel, for the way in which its operands lie.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cuda::{self, Access, Form};
use super::expand::expand;
use super::{Program, cache, params_of};
use crate::cpu::lane::Mem;
use crate::cuda::driver::{Address, Function, Grid};
use crate::cuda::parameters::{Dims, Parameters, THREADS};
use crate::cuda::source::{self, Source};
use crate::cuda::{self as gpus, Gpu};
use crate::math::Fault;
use crate::math::recorded::Type;
use crate::{Attrs, DType, Error, Layout, Number, OpDef, Result, Shape, Tensor, rules};

/// Kernels that a thread remembers; more are forgotten together.
const KNOWN: usize = 4096;

/// A kernel of a program with what its launches need.
struct Compiled {
    function: Function,
    /// Types of the numbers of the run that it takes.
    numbers: Vec<Option<Type>>,
    pack: usize,
    refuses: bool,
}

thread_local! {
    static COMPILED: RefCell<FxHashMap<Key, Rc<Compiled>>> = RefCell::default();
}

/// The GPU, the program, how its operands lie, and for how many tensors a launch has room; 0 for a launch on one.
type Key = (u8, u64, Form, usize);

/// An operand as the kernel gets it.
enum Given {
    At { address: Address, dims: Option<Box<Dims>> },
    Bits { bits: u128, size: usize },
}

/// Computes an elementwise op on the GPU of this number.
pub(crate) fn eager<T: Borrow<Tensor>>(
    op: &'static OpDef,
    inputs: &[T],
    attrs: &Attrs,
    index: u8,
) -> Result<Tensor> {
    let gpu = gpus::gpu(index)?;
    let program = cache::program(op, inputs, attrs)?;
    if let ([x], true) = (inputs, program.is_copy())
        && !x.borrow().layout().is_contiguous()
    {
        return x.borrow().gathered();
    }
    let shape = rules::broadcast_shape(op, inputs)?;
    shape.checked_numel(op.name)?;
    let dtype = program.outputs()[0];
    let out = gpu.block_of(&shape, dtype)?;
    let numbers = params_of(&program, attrs);
    // Alive until the launch is asked for: what is asked later comes later.
    let sent = inputs.iter().map(|it| at_hand(it.borrow(), gpu));
    let sent = sent.collect::<Result<SmallVec<[_; 4]>>>()?;
    run(op.name, gpu, &program, &sent, &numbers, &shape, &[out.address()])?;
    Ok(Tensor::stored(out, Layout::contiguous(shape), dtype))
}

/// The operand, in the memory of the GPU unless it is one element.
fn at_hand(operand: &Tensor, gpu: &'static Gpu) -> Result<Tensor> {
    match operand.is_on_gpu() || operand.numel() == 1 {
        true => Ok(operand.detach()),
        false => operand.sent(gpu),
    }
}

/// Whether a kernel can be made of a program whose operands may lie in any way: its steps have an expansion, and its parameters fit into
/// a launch.
pub(crate) fn takes(program: &Program) -> bool {
    let operand = 8 + Parameters::DIMS;
    let bytes = program.inputs().len() * operand + (program.outputs().len() + 3) * 8;
    bytes + program.param_values().len() * 8 <= Parameters::MOST && expand(program.ssa()).is_some()
}

/// Asks for a run of a program on operands in the memory of a GPU, or numbers; the results go to these addresses, in row-major order of a
/// shape.
pub(crate) fn run(
    op: &'static str,
    gpu: &'static Gpu,
    program: &Program,
    inputs: &[Tensor],
    numbers: &[Number],
    shape: &Shape,
    outs: &[Address],
) -> Result<()> {
    let n = shape.numel();
    if n == 0 {
        return Ok(());
    }
    let (form, given) = form_of(op, inputs, shape)?;
    let packed = form.accesses.iter().zip(&given).filter_map(|(access, it)| match it {
        Given::At { address, .. } if access.is_packed() => Some(*address),
        _ => None,
    });
    let aligned = packed.chain(outs.iter().copied()).all(|it| it % 16 == 0);
    let compiled = compiled(gpu, program, form, 0)?;
    let packs = if aligned && compiled.pack > 1 { n / compiled.pack } else { 0 };
    let mut parameters = Parameters::default().long(n).long(packs);
    for it in given {
        parameters = match it {
            Given::Bits { bits, size } => parameters.bits(bits, size),
            Given::At { address, dims: None } => parameters.address(address),
            Given::At { address, dims: Some(dims) } => parameters.address(address).dims(&dims),
        };
    }
    let parameters = with_numbers(parameters, &compiled, numbers);
    let fault = match compiled.refuses {
        true => gpu.fault_slot(Box::new(|kind, _| refusal(kind)))?,
        false => 0,
    };
    let parameters = parameters.addresses(outs.iter().copied()).address(fault);
    gpu.launch(compiled.function, Grid::each(if packs > 0 { packs } else { n }), &parameters)
}

/// Of how many tensors one launch of a program can take care; 0 where it takes one at a time.
pub(crate) fn most(program: &Program) -> usize {
    let refuses = expand(program.ssa()).is_none_or(|it| !it.faults.is_empty());
    if refuses { 0 } else { room(program) }
}

/// Of how many tensors a launch can be told.
fn room(program: &Program) -> usize {
    let others = (program.inputs().len() + program.params().len() + 2) * 16;
    Parameters::MOST.saturating_sub(others) / item_bytes(program)
}

/// Bytes of what a kernel is told of one of many tensors.
fn item_bytes(program: &Program) -> usize {
    (3 + program.inputs().len() + program.outputs().len()) * 8
}

/// As [`run`], on many tensors, at most [`most`]: the inputs for the first and where its results go, which have elements, then those for
/// the next. An input lies in row-major order like the results, or is one element, for all of them; or it is the same number for all.
pub(crate) fn run_many(
    gpu: &'static Gpu,
    program: &Program,
    inputs: &[Tensor],
    numbers: &[Number],
    outs: &[Tensor],
) -> Result<()> {
    let (n_inputs, n_outs) = (program.inputs().len(), program.outputs().len());
    let items = || inputs.chunks(n_inputs).zip(outs.chunks(n_outs));
    let access = |idx: usize| {
        let fits = |(inputs, outs): (&[Tensor], &[Tensor])| inputs[idx].numel() == outs[0].numel();
        match () {
            () if !inputs[idx].is_on_gpu() => Access::Held,
            () if items().all(fits) => Access::Flat,
            () => Access::One,
        }
    };
    let accesses: SmallVec<[Access; 4]> = (0..n_inputs).map(access).collect();
    let form = Form::plain(accesses.clone());
    let count = outs.len() / n_outs;
    let room = count.next_power_of_two().min(room(program)).max(count);
    let compiled = compiled(gpu, program, form, room)?;
    let mut blocks = 0;
    let mut table = Parameters::default();
    for (inputs, outs) in items() {
        let n = outs[0].numel();
        let lies = inputs.iter().zip(&accesses).filter(|it| *it.1 != Access::Held);
        let places = lies.map(|it| it.0).chain(outs).map(Tensor::address);
        let places = places.collect::<Result<SmallVec<[Address; 8]>>>()?;
        let aligned = places.iter().all(|it| it % 16 == 0);
        let packs = if aligned && compiled.pack > 1 { n / compiled.pack } else { 0 };
        table = table.long(blocks).long(n).long(packs).addresses(places);
        blocks += if packs > 0 { packs } else { n }.div_ceil(cuda::PIECE);
    }
    let n_places = accesses.iter().filter(|it| **it != Access::Held).count() + n_outs;
    for _ in count..room {
        table = table.signed(i64::MAX).long(0).long(0).addresses((0..n_places).map(|_| 0));
    }
    let mut parameters = Parameters::default().structure(|_| table);
    for (it, _) in inputs.iter().zip(&accesses).filter(|it| *it.1 == Access::Held) {
        let (bits, size) = bits_of(it)?;
        parameters = parameters.bits(bits, size);
    }
    let parameters = with_numbers(parameters, &compiled, numbers).address(0);
    gpu.launch(compiled.function, Grid::blocks(blocks, THREADS), &parameters)
}

/// The parameters, then the numbers of the run.
fn with_numbers(mut parameters: Parameters, compiled: &Compiled, numbers: &[Number]) -> Parameters {
    for (number, ty) in numbers.iter().zip(&compiled.numbers) {
        if let Some(ty) = ty {
            let mem = in_memory(*ty);
            parameters = parameters.bits(mem.bits(*number).into(), mem.size());
        }
    }
    parameters
}

/// What a kernel has refused.
fn refusal(_kind: u32) -> Error {
    Fault::DivisionByZero.into()
}

/// How the operands lie, for elements in row-major order of a shape.
fn form_of(
    op: &'static str,
    inputs: &[Tensor],
    shape: &Shape,
) -> Result<(Form, SmallVec<[Given; 4]>)> {
    let (mut accesses, mut given) = (SmallVec::<[Access; 4]>::new(), SmallVec::<[Given; 4]>::new());
    let mut strided: SmallVec<[usize; 4]> = SmallVec::new();
    let mut strides: SmallVec<[SmallVec<[isize; 4]>; 4]> = SmallVec::new();
    for (idx, it) in inputs.iter().enumerate() {
        if !it.is_on_gpu() {
            let (bits, size) = bits_of(it)?;
            accesses.push(Access::Held);
            given.push(Given::Bits { bits, size });
            continue;
        }
        let address = it.address()?;
        given.push(Given::At { address, dims: None });
        let layout = it.layout();
        if layout.is_contiguous() && layout.shape.numel() == shape.numel() {
            accesses.push(Access::Flat);
        } else if layout.shape.numel() == 1 {
            accesses.push(Access::One);
        } else {
            let spread = layout.broadcast_to(shape).ok_or_else(Error::outside_storage)?;
            accesses.push(Access::Strided);
            strided.push(idx);
            strides.push(spread.strides);
        }
    }
    let lists: SmallVec<[&[isize]; 4]> = strides.iter().map(|it| &it[..]).collect();
    let mut form = Form::plain(accesses);
    for (at, dims) in strided.iter().zip(Dims::of_all(op, shape, &lists)?) {
        (form.rank, form.is_wide) = (dims.sizes.len(), !dims.is_narrow());
        let (access, most) = in_packs(&dims);
        form.accesses[*at] = access;
        form.most = form.most.min(most);
        if let Given::At { dims: slot, .. } = &mut given[*at] {
            *slot = Some(Box::new(dims));
        }
    }
    Ok((form, given))
}

/// How packs of elements along the last dimension are read, and how many elements they may have: a pack ends where a line does.
fn in_packs(dims: &Dims) -> (Access, usize) {
    let (Some(line), Some((step, before))) = (dims.sizes.last(), dims.strides.split_last()) else {
        return (Access::Strided, 1);
    };
    let most = |numbers: &[i64]| {
        let zeros = numbers.iter().map(|it| it.trailing_zeros()).min();
        1 << zeros.unwrap_or(4).min(4)
    };
    let in_line = most(&[*line]);
    match step {
        0 => (Access::Spread, in_line),
        1 => (Access::Rows, in_line.min(most(before))),
        _ => (Access::Strided, 1),
    }
}

/// The one element of a tensor on the CPU.
pub(super) fn bits_of(tensor: &Tensor) -> Result<(u128, usize)> {
    let dtype: DType = tensor.dtype();
    if let Some(number) = tensor.as_number() {
        return Ok((crate::storage::bits_of(number, dtype), dtype.size()));
    }
    #[expect(clippy::unnecessary_cast, reason = "the widest of the types is what it is cast to")]
    let bits = tensor.look(|view| {
        crate::with_size!(dtype, T => view.to_slice::<T>().first().map_or(0, |it| *it as u128))
    })?;
    Ok((bits, dtype.size()))
}

/// What holds a number of the run.
pub(super) fn in_memory(ty: Type) -> Mem {
    match ty {
        Type::Bool | Type::I32 => Mem::I32,
        Type::I64 => Mem::I64,
        Type::F32 => Mem::F32,
        Type::F64 => Mem::F64,
    }
}

fn compiled(gpu: &'static Gpu, program: &Program, form: Form, most: usize) -> Result<Rc<Compiled>> {
    let key = (gpu.index(), program.id(), form, most);
    if let Some(known) = COMPILED.with_borrow(|it| it.get(&key).cloned()) {
        return Ok(known);
    }
    let form = &key.2;
    let no_text = || Error::Trace { problem: "a lane program has no expansion".into() };
    let text = match most {
        0 => cuda::kernel(program, "lanes", form),
        most => cuda::many(program, "lanes", form, most),
    };
    let text = text.ok_or_else(no_text)?;
    let expansion = expand(program.ssa()).ok_or_else(no_text)?;
    let text = format!("{}{}{text}", source::PRELUDE, cuda::PRELUDE);
    let made = Rc::new(Compiled {
        function: gpu.load(&Source { name: "lanes", text })?,
        numbers: expansion.params,
        pack: form.pack(program),
        refuses: !expansion.faults.is_empty(),
    });
    COMPILED.with_borrow_mut(|it| {
        if it.len() >= KNOWN {
            it.clear();
        }
        it.insert(key, made.clone());
    });
    Ok(made)
}
