//! One call: what it was made with, and what of that a graph must know.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use engine::Tensor;
use engine::trace::Call;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::pack::Pack;
use super::slots::Beside;
use super::template::refused_here;
use super::variant::Slot;
use super::world::World;
use crate::native::*;
use crate::objects::tensor::{Look, TensorObj};
use crate::value::Value;

fn kind(object: &TensorObj) -> (Look, bool) {
    (object.look(), object.peek().requires_grad())
}

/// Whether a gradient can be asked for through a tensor.
pub(super) fn has_history(object: &TensorObj) -> bool {
    object.peek().edge().is_some_and(|it| !it.is_passed())
}

/// The first that an argument shares its elements with.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shared {
    No,
    /// It is this argument.
    Same(usize),
    /// Another one, where in the elements that begins, and where this one does; and the first argument that is a view of the same variable,
    /// or that itself: a copy shares elements until one of both is written.
    Arg {
        elements: Option<(usize, [usize; 2])>,
        variable: Option<usize>,
    },
    /// What is found, where in the elements it begins, and which one it is, if it is found itself.
    Found(usize, usize, Option<usize>),
}

/// One call: what it was made with.
pub(super) struct Asked<'a> {
    pub(super) args: CallArgs<'a>,
    inputs: RefCell<Inputs>,
    /// The tensors among the arguments, as objects.
    pub(super) passed: Vec<Value>,
    /// The numbers among them, which may be others in each call.
    pub(super) numbers: Vec<Value>,
    pub(super) roots: Vec<Value>,
    /// Lists that it appends to, which it must not find.
    apart: Vec<Value>,
    /// Containers that arguments are taken out of, which it must not find either.
    chosen_from: Vec<Value>,
    /// Names that it is called with or binds.
    beside: Option<Beside>,
    /// Containers of arguments, which stand behind those in `passed`.
    packs: Vec<Pack>,
    /// How the tensors look, and whether they require a gradient.
    kinds: Vec<(Look, bool)>,
}

impl<'a> Asked<'a> {
    /// A call with these arguments; `roots` are where all begins that it can find besides. An error where a run without the body would lose a
    /// gradient of an argument.
    pub(super) fn new(roots: Vec<Value>, args: CallArgs<'a>) -> Result<Self, Raised> {
        let asked = Self::of(roots, args);
        asked.check()?;
        Ok(asked)
    }

    /// The same, whatever the arguments are by now.
    pub(super) fn of(mut roots: Vec<Value>, args: CallArgs<'a>) -> Self {
        let (mut passed, mut numbers, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        let named = args.keywords.iter().map(|(name, it)| (Value::str(name.as_str()), it));
        for (name, value) in args.positional.iter().map(|it| (Value::None, it)).chain(named) {
            roots.push(name);
            match value {
                Value::Tensor(it) => {
                    let (look, is_passed) = kind(it);
                    roots.push(Value::Int((look as i64) << 1 | i64::from(is_passed)));
                    kinds.push((look, is_passed));
                    passed.push(value.clone());
                }
                Value::Int(_) | Value::Float(_) => {
                    // No argument is unbound, so that this is none of them.
                    roots.extend([Value::Unbound, Value::str(type_name(value))]);
                    numbers.push(value.clone());
                }
                other => roots.push(other.clone()),
            }
        }
        let inputs = RefCell::new(Inputs::of(args));
        let (apart, chosen_from, beside, packs) = Default::default();
        Self { args, inputs, passed, numbers, roots, apart, chosen_from, beside, packs, kinds }
    }

    /// The same for one that outlives the arguments, whose values are kept by whoever asks.
    pub(super) fn kept(self) -> Asked<'static> {
        let args = CallArgs { positional: &[], keywords: &[] };
        Asked { args, ..self }
    }

    pub(super) fn inputs(&self) -> Ref<'_, Inputs> {
        self.inputs.borrow()
    }

    /// The values of the tensors among the arguments.
    pub(super) fn tensors(&self) -> Ref<'_, Vec<Tensor>> {
        Ref::map(self.inputs(), |it| &it.tensors)
    }

    pub(super) fn tensors_mut(&self) -> RefMut<'_, Vec<Tensor>> {
        RefMut::map(self.inputs.borrow_mut(), |it| &mut it.tensors)
    }

    /// What a variable holds now is its value, if it is an argument.
    pub(super) fn sees_again(&self, slot: Slot, object: &TensorObj) {
        if let Slot::Arg(at) = slot {
            self.tensors_mut()[at] = object.get();
        }
    }

    /// Whether the arguments are left as they were, but for their elements.
    pub(super) fn is_left(&self) -> Result<(), Raised> {
        self.check()?;
        let is_as_before =
            |(it, had): (&Value, &(Look, bool))| it.as_tensor().is_none_or(|it| kind(it) == *had);
        if !self.passed.iter().zip(&self.kinds).all(is_as_before) {
            return Err(refused_here("it makes another kind of tensor of an argument".to_owned()));
        }
        match self.packs.iter().all(Pack::is_left) {
            true => Ok(()),
            false => Err(refused_here("it changes a container that holds arguments".to_owned())),
        }
    }

    /// Whether no gradient of an argument would be lost.
    pub(super) fn check(&self) -> Result<(), Raised> {
        for (at, value) in (1..).zip(&self.passed) {
            let Value::Tensor(it) = value else { continue };
            if has_history(it) {
                return Err(refused_here(format!(
                    "argument {at} requires grad, and its gradient would be lost; \
                     make it outside, where the function finds it, or detach() it"
                )));
            }
            if it.grad().is_some() {
                return Err(refused_here(format!(
                    "argument {at} has a gradient, which the graph does not see; detach() it"
                )));
            }
        }
        Ok(())
    }

    /// These objects must not be found.
    pub(super) fn without(self, apart: Vec<Value>, chosen_from: Vec<Value>) -> Self {
        Self { apart, chosen_from, ..self }
    }

    /// What functions find in these names is an argument, or bound by the body.
    pub(super) fn beside(self, names: Option<Beside>) -> Self {
        Self { beside: names, ..self }
    }

    /// All that it can find, as it is now.
    pub(super) fn world(&self) -> Result<World, Raised> {
        World::of(&self.roots, self.beside.clone())
    }

    /// These containers hold arguments.
    pub(super) fn in_packs(mut self, packs: Vec<Pack>) -> Self {
        self.passed.extend(packs.iter().map(|it| it.container.clone()));
        Self { packs, ..self }
    }

    pub(super) fn containers(&self) -> impl Iterator<Item = Value> {
        self.packs.iter().map(|it| it.container.clone())
    }

    /// Whether a world has none of what must not be found, nor do arguments stand in it.
    pub(super) fn is_apart_from(&self, world: &World) -> bool {
        let is_found = |it: &Value| world.has(it) || world.counts(it) || self.holds_arguments(it);
        !self.apart.iter().any(is_found)
    }

    /// Whether arguments stand in this object, which may come to hold others.
    fn holds_arguments(&self, object: &Value) -> bool {
        let is_it = self.packs.iter().any(|it| it.container.is(object));
        is_it && !matches!(object, Value::Tuple(_))
    }

    /// Whether a container that an argument is taken out of is found in another way: as a list that grows, by an argument, or in a world.
    pub(super) fn finds_chosen(&self, world: &World) -> bool {
        let grows = |it: &Value| self.apart.iter().any(|apart| apart.is(it));
        let is_found = |it: &&Value| grows(it) || self.holds_arguments(it) || world.has(it);
        self.chosen_from.iter().find(is_found).is_some()
    }

    pub(super) fn object(&self, at: usize) -> Option<&Rc<TensorObj>> {
        match self.passed.get(at)? {
            Value::Tensor(it) => Some(it),
            _ => None,
        }
    }

    /// Whether an argument shows elements of the gradient of a tensor of this world.
    pub(super) fn has_gradient_of(&self, world: &World) -> bool {
        let is_one = |it: &Value| match it {
            Value::Tensor(it) => {
                let root = TensorObj::root(it);
                root.was_grad() && world.whose_grad(&root).is_some()
            }
            _ => false,
        };
        self.passed.iter().any(is_one)
    }

    /// What each tensor among the arguments shares with those before it.
    pub(super) fn sharing(&self, world: &World) -> Vec<Shared> {
        let tensors = self.tensors();
        let all = 0..tensors.len();
        let roots: SmallVec<[_; 8]> =
            all.clone().map(|at| self.object(at).map(TensorObj::root)).collect();
        let same = firsts(all.clone().map(|at| self.passed[at].address()));
        let variables = firsts(roots.iter().map(|it| it.as_ref().map(|it| Rc::as_ptr(it).addr())));
        let buffers = firsts(tensors.iter().map(Tensor::buffer_id));
        let offset = |at: usize| tensors[at].layout().offset;
        let found = |at: usize| {
            let root = world.number_of(roots[at].as_ref()?)?;
            Some(Shared::Found(root, offset(at), world.number_of(self.object(at)?)))
        };
        let shared = |at: usize| {
            if let Some(same) = same[at] {
                return Shared::Same(same);
            }
            if let Some(found) = found(at) {
                return found;
            }
            let elements = buffers[at].map(|it| (it, [offset(it), offset(at)]));
            match (elements, variables[at]) {
                (None, None) => Shared::No,
                (elements, variable) => Shared::Arg { elements, variable },
            }
        };
        all.map(shared).collect()
    }
}

/// So many keys are compared with each other.
const FEW: usize = 16;

/// The first that has the key of each, if that is another; no two have none.
fn firsts(keys: impl Iterator<Item = Option<usize>>) -> SmallVec<[Option<usize>; 8]> {
    let keys: SmallVec<[Option<usize>; 8]> = keys.collect();
    let other = |at: usize, first: usize| Some(first).filter(|it| *it < at);
    let of_few = |(at, key): (usize, &Option<usize>)| {
        let first = keys.iter().position(|it| it == key)?;
        key.and(other(at, first))
    };
    if keys.len() <= FEW {
        return keys.iter().enumerate().map(of_few).collect();
    }
    let mut seen = FxHashMap::default();
    let of_many =
        |(at, key): (usize, &Option<usize>)| other(at, *seen.entry((*key)?).or_insert(at));
    keys.iter().enumerate().map(of_many).collect()
}

/// The tensors among the arguments: positional ones first, then keywords in order.
pub(super) struct Inputs {
    pub(super) tensors: Vec<Tensor>,
    /// Positional arguments that are no tensors.
    pub(super) others: usize,
}

impl Inputs {
    pub(super) fn of(args: CallArgs<'_>) -> Self {
        let mut res = Self { tensors: Vec::new(), others: 0 };
        for value in args.positional {
            match value {
                Value::Tensor(it) => res.tensors.push(it.get()),
                _ => res.others += 1,
            }
        }
        for (_, value) in args.keywords {
            if let Value::Tensor(it) = value {
                res.tensors.push(it.get());
            }
        }
        res
    }

    /// The arguments that the body gets: stand-ins when it runs symbolically, else the same variables.
    pub(super) fn replaced(
        &self,
        args: CallArgs<'_>,
        call: &Call,
        symbolic: bool,
    ) -> (Vec<Value>, Vec<(Sym, Value)>) {
        let mut seen = call.args().iter();
        let mut swap = |value: &Value| match (value, symbolic) {
            (Value::Tensor(_), true) => {
                seen.next().cloned().map_or_else(|| value.clone(), Value::tensor)
            }
            _ => value.clone(),
        };
        let positional = args.positional.iter().map(&mut swap).collect();
        let keywords = args.keywords.iter().map(|(name, value)| (*name, swap(value))).collect();
        (positional, keywords)
    }
}
