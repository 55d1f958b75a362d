//! `_training.fused`: functions of elementwise ops that change tensors in place, each run as one program.
//!
//! An optimizer's update reads and writes its parameter and what it keeps of it once, where ten ops would go over them one after the
//! other with a buffer for each. What the function does is recorded when it is first called on tensors of such dtypes, and it runs as
//! written where that is no such program, or where a trace, the tape or the profile has to see the ops.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use engine::region::{Fused, Recorded, Recording};
use engine::{DType, Device, Tensor};
use smallvec::SmallVec;

use crate::native::*;
use crate::objects::function::Func;
use crate::objects::tensor::{Look, TensorObj};

/// Programs that a function keeps; more are forgotten together.
const MOST: usize = 32;

/// The type of what `fused` gives.
pub(crate) static FUSED: NativeType = NativeType {
    module: "_training",
    ..NativeType::plain("fused", "A function that changes tensors in place, as one program.")
};

/// A function, and the programs that it was found to be.
pub(crate) struct FusedFn {
    func: Value,
    known: RefCell<Vec<Known>>,
}

/// What a function is on arguments of some kinds; none where it runs as written. Shapes are no part of these: what elementwise ops do to
/// tensors of one shape does not depend on it.
struct Known {
    kinds: Kinds,
    fused: Option<Rc<Fused>>,
}

type Kinds = SmallVec<[Kind; 16]>;

/// What of an argument decides about the program.
#[derive(Clone, PartialEq)]
enum Kind {
    /// Elements of the shape that all have, or without dimensions and the same for all of them.
    Tensor {
        dtype: DType,
        is_one: bool,
    },
    Number,
    /// A switch or None, which is the same in the program.
    Fixed(Option<bool>),
}

impl FusedFn {
    /// Wraps a function, which gives nothing, and does no more than elementwise ops on its arguments.
    pub(crate) fn new(func: Value) -> Self {
        Self { func, known: RefCell::default() }
    }

    /// Runs the program; false, with nothing changed, where the function has to run as written.
    fn run(&self, cx: &mut Cx, args: &[Value]) -> Result<bool, Raised> {
        let Some(kinds) = kinds_of(args) else { return Ok(false) };
        let known =
            self.known.borrow().iter().find(|it| it.kinds == kinds).map(|it| it.fused.clone());
        let fused = match known {
            Some(fused) => fused,
            None => {
                let fused = self.record(cx, args)?.map(Rc::new);
                let mut known = self.known.borrow_mut();
                if known.len() >= MOST {
                    known.clear();
                }
                known.push(Known { kinds, fused: fused.clone() });
                fused
            }
        };
        match fused {
            Some(it) => Ok(change(&it, args)?),
            None => Ok(false),
        }
    }

    /// The program that the function is on such arguments, if it is one.
    fn record(&self, cx: &mut Cx, args: &[Value]) -> Result<Option<Fused>, Raised> {
        // Unlike in sign and size, so that a function that looks at numbers is another one.
        let count = args.len() as u32;
        let some: Vec<f64> = (0..count).map(|it| 0.1171875 + 0.013 * f64::from(it)).collect();
        let others: Vec<f64> = (0..count).map(|it| -5.3125 - 0.7 * f64::from(it)).collect();
        let Some((one, changed)) = self.recorded(cx, args, &some)? else { return Ok(None) };
        let Some((other, changed_again)) = self.recorded(cx, args, &others)? else {
            return Ok(None);
        };
        let is_same = changed == changed_again;
        let fused = || Fused::of((&one, &some), (&other, &others), changed);
        Ok(is_same.then(fused).flatten())
    }

    /// What the function does to such arguments with these numbers, and which of the tensors it changes. The error if it was interrupted.
    fn recorded(
        &self,
        cx: &mut Cx,
        args: &[Value],
        numbers: &[f64],
    ) -> Result<Option<(Recorded, Vec<usize>)>, Raised> {
        let recording = Recording::begin();
        let mut numbers = numbers.iter();
        let mut variables: Vec<(Tensor, Rc<TensorObj>)> = Vec::new();
        let mut stand_in = |it: &Value| match it {
            Value::Tensor(it) => {
                let meta = it.seen().meta();
                let tensor = recording.parameter(meta, Device::Cpu, false);
                let object = Rc::new(TensorObj::new(tensor.clone()));
                variables.push((tensor, object.clone()));
                Value::Tensor(object)
            }
            Value::Float(_) | Value::Int(_) => Value::Float(numbers.next().copied().unwrap_or(0.0)),
            other => other.clone(),
        };
        let given: Vec<Value> = args.iter().map(&mut stand_in).collect();
        let result = cx.call(&self.func, &given);
        let paused = recording.pause()?;
        match result {
            Ok(Value::None) => {}
            Err(raised) if raised.is(&KEYBOARD_INTERRUPT) => return Err(raised),
            Ok(_) | Err(_) => return Ok(None),
        }
        let (mut changed, mut outputs) = (Vec::new(), Vec::new());
        for (at, (before, object)) in variables.iter().enumerate() {
            let now = object.peek();
            if !now.same(before) {
                changed.push(at);
                outputs.push(now);
            }
        }
        Ok(paused.finish(&outputs).ok().map(|it| (it, changed)))
    }
}

/// The kinds of arguments that may be those of a program: tensors in main memory, of one shape or without dimensions, numbers and switches.
fn kinds_of(args: &[Value]) -> Option<Kinds> {
    let mut shape = None;
    let mut kinds = Kinds::new();
    for value in args {
        kinds.push(match value {
            Value::Tensor(it) if matches!(it.look(), Look::Tensor | Look::Parameter) => {
                let tensor = it.seen();
                let is_here = tensor.device() == Device::Cpu && !tensor.is_abstract();
                let is_plain = tensor.dtype().is_float() && is_here;
                if !is_plain {
                    return None;
                }
                let is_one = tensor.rank() == 0;
                if !is_one
                    && *shape.get_or_insert_with(|| tensor.shape().clone()) != *tensor.shape()
                {
                    return None;
                }
                Kind::Tensor { dtype: tensor.dtype(), is_one }
            }
            Value::Int(_) | Value::Float(_) => Kind::Number,
            Value::Bool(it) => Kind::Fixed(Some(*it)),
            Value::None => Kind::Fixed(None),
            _ => return None,
        });
    }
    Some(kinds)
}

/// Runs a program on the arguments: on copies of what it changes where others see the elements. False, with nothing changed, where the ops
/// have to come one after the other: if a variable may not be changed, or is another argument, too.
fn change(fused: &Fused, args: &[Value]) -> engine::Result<bool> {
    let changed = fused.changed();
    let objects: SmallVec<[&Rc<TensorObj>; 8]> = args.iter().filter_map(Value::as_tensor).collect();
    let numbers = args.iter().filter_map(|it| match it {
        Value::Float(it) => Some(*it),
        Value::Int(it) => Some(*it as f64),
        _ => None,
    });
    let numbers: SmallVec<[f64; 12]> = numbers.collect();
    let refuses = |it: &usize| objects[*it].refuses_in_place().is_some();
    if changed.iter().any(refuses) {
        return Ok(false);
    }
    // First what is read, so that nobody lends what is read here, too.
    let read = |(at, it): (usize, &&Rc<TensorObj>)| match changed.contains(&at) {
        true => Tensor::number(0.0),
        false => it.get(),
    };
    let mut tensors: SmallVec<[Tensor; 8]> = objects.iter().enumerate().map(read).collect();
    let (mut lent, mut copied) = (SmallVec::<[usize; 4]>::new(), SmallVec::<[usize; 4]>::new());
    for &at in changed {
        let Some(own) = objects[at].lend() else {
            copied.push(at);
            continue;
        };
        tensors[at] = own;
        lent.push(at);
    }
    let done = match copied.is_empty() || are_apart(&objects, changed) {
        true => copy_all(&objects, &copied, &mut tensors)
            .and_then(|may| if may { fused.run(&mut tensors, &numbers) } else { Ok(false) }),
        false => Ok(false),
    };
    let mut taken = |at: usize| std::mem::replace(&mut tensors[at], Tensor::number(0.0));
    for at in lent {
        objects[at].take_home(taken(at), done != Ok(false));
    }
    if done == Ok(true) {
        copied.into_iter().try_for_each(|at| objects[at].set_data(taken(at)))?;
    }
    done
}

/// Puts copies of variables that others see the elements of, a graph that saved them say, where they are changed; false where one does not
/// lie row-major.
fn copy_all(
    objects: &[&Rc<TensorObj>],
    which: &[usize],
    tensors: &mut [Tensor],
) -> engine::Result<bool> {
    for &at in which {
        let now = objects[at].get().detach();
        if !now.layout().is_contiguous() {
            return Ok(false);
        }
        tensors[at] = engine::functional::copy(&now)?;
    }
    Ok(true)
}

/// Whether no variable that is changed is one of the others, or a view of the same.
fn are_apart(objects: &[&Rc<TensorObj>], changed: &[usize]) -> bool {
    let roots: SmallVec<[Rc<TensorObj>; 8]> =
        objects.iter().map(|it| TensorObj::root(it)).collect();
    changed.iter().all(|at| {
        roots.iter().enumerate().all(|(other, it)| other == *at || !Rc::ptr_eq(it, &roots[*at]))
    })
}

impl NativeObject for FusedFn {
    fn native_type(&self) -> &'static NativeType {
        &FUSED
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        let is_seen = cx.profile.is_some() || !Fused::may_run();
        let is_plain = cx.mode == Mode::Eager && args.keywords.is_empty();
        if is_plain && !is_seen && self.run(cx, args.positional)? {
            return Ok(Value::None);
        }
        cx.call_with(&self.func, args)
    }

    fn stands_for(&self, mode: Mode) -> Option<Rc<Func>> {
        let Value::Func(func) = &self.func else { return None };
        (mode == Mode::Follow || engine::trace::active()).then(|| func.clone())
    }

    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        match name.as_str() {
            "__wrapped__" => Ok(Some(self.func.clone())),
            "__name__" | "__doc__" | "__qualname__" => cx.getattr(&self.func, name).map(Some),
            _ => Ok(None),
        }
    }

    fn adopt(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let same = cx.adopt(&self.func)?.is(&self.func);
        Ok(same.then(|| this.clone()))
    }

    fn shows_state(&self) -> bool {
        true
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.func);
    }
}
