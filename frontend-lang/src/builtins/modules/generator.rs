//! `torch.Generator`: random numbers apart from those of the session, so that a split or an order can be had again.

use std::any::Any;
use std::cell::RefCell;

use engine::Device;
use engine::random::{self, State};

use crate::native::*;
use crate::tensor::{convert, device};

/// The type.
pub static GENERATOR: NativeType = NativeType {
    module: "torch",
    new: Some(function("Generator", "cls, device=None", "A generator of random numbers.", new)),
    methods: &[METHODS],
    ..NativeType::plain("Generator", "A generator of random numbers; ops take it as `generator=`.")
};

static METHODS: &[NativeFn] = &[
    function("manual_seed", "self, seed", "Starts anew from a seed.", manual_seed).session(),
    function("initial_seed", "self", "The seed it started from.", initial_seed).session(),
    function("seed", "self", "Starts anew from a seed that nobody chose.", seed).session(),
    function("get_state", "self", "Where it stands, as bytes.", get_state).session(),
    function("set_state", "self, state", "Goes on from where one stood.", set_state).session(),
];

/// A generator of its own, or the session's.
pub struct Generator {
    /// `None` stands for the session's.
    own: Option<RefCell<State>>,
    /// For which device it was made. Its numbers are the same.
    device: Device,
}

/// The session's generator as a value: what `torch.manual_seed` returns.
pub fn of_session() -> Value {
    Value::object(Generator { own: None, device: Device::Cpu })
}

impl NativeObject for Generator {
    fn native_type(&self) -> &'static NativeType {
        &GENERATOR
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok((name.as_str() == "device").then(|| device::of(self.device)))
    }

    fn adopt(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(Value::object(Generator { own: self.own.clone(), device: self.device })))
    }
}

impl Generator {
    /// A generator of its own.
    fn of(state: State, device: Device) -> Value {
        Value::object(Generator { own: Some(RefCell::new(state)), device })
    }

    fn state(&self) -> State {
        self.own.as_ref().map_or_else(random::state, |it| it.borrow().clone())
    }

    fn restart(&self, state: State) {
        match &self.own {
            Some(own) => drop(own.replace(state)),
            None => random::set_state(state),
        }
    }

    /// Runs `body` with this generator in the place of the session's.
    fn with<R>(&self, body: impl FnOnce() -> R) -> R {
        let Some(own) = &self.own else { return body() };
        let before = random::swap_state(own.borrow().clone());
        let res = body();
        own.replace(random::swap_state(before));
        res
    }
}

/// Whether ops on this thread build a graph, and draw when that runs.
fn builds_graph() -> bool {
    engine::region::is_recording() || engine::trace::is_symbolic()
}

/// Runs `body` with the generator in `value`, or with the session's if that is `None`.
pub fn with<R>(value: Option<&Value>, body: impl FnOnce() -> R) -> Result<R, Raised> {
    match value {
        None | Some(Value::None) => Ok(body()),
        Some(value)
            if value.downcast::<Generator>().is_some_and(|it| it.own.is_some())
                && builds_graph() =>
        {
            Err(Raised::new(
                &TRACE_ERROR,
                "a graph that is built symbolically draws from the generator of the session; leave out generator=, or draw outside \
                 of the function and pass the numbers",
            ))
        }
        Some(value) => match value.downcast::<Generator>() {
            Some(it) => Ok(it.with(body)),
            None => Err(type_error(format!(
                "generator must be a torch.Generator, not {}",
                type_name(value)
            ))),
        },
    }
}

fn new(_cx: &mut Cx, args: Args<'_>) -> Res {
    let device = args.opt(1).map_or(Ok(Device::Cpu), device::from_value)?;
    if device == Device::Meta {
        return Err(runtime_error("META device type not an accelerator."));
    }
    Ok(Generator::of(State::new(67_280_421_310_721), device))
}

fn manual_seed(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.object::<Generator>(0)?.restart(State::new(args.int(1)? as u64));
    Ok(args[0].clone())
}

fn initial_seed(_cx: &mut Cx, args: Args<'_>) -> Res {
    Ok(Value::Int(args.object::<Generator>(0)?.state().seed() as i64))
}

fn seed(cx: &mut Cx, args: Args<'_>) -> Res {
    let seed = (cx.host.wall() * 1e6) as u64;
    args.object::<Generator>(0)?.restart(State::new(seed));
    Ok(Value::Int(seed as i64))
}

fn get_state(_cx: &mut Cx, args: Args<'_>) -> Res {
    as_bytes(&args.object::<Generator>(0)?.state())
}

fn set_state(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.object::<Generator>(0)?.restart(from_bytes(&args[1])?);
    Ok(args[0].clone())
}

/// The members of `torch` that are about the session's generator.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("get_rng_state", "", "Where the generator stands, as bytes.", |_cx, _args| {
        as_bytes(&random::state())
    }),
    function("set_rng_state", "new_state", "Goes on from where it stood.", |_cx, args| {
        random::set_state(from_bytes(&args[0])?);
        Ok(Value::None)
    }),
    function("initial_seed", "", "The seed it started from.", |_cx, _args| {
        Ok(Value::Int(random::initial_seed() as i64))
    }),
];

/// What samplers begin a generator of their own from. The check really draws it, so that it knows their order's length.
pub(super) static FOR_SAMPLERS: &[NativeFn] = &[function(
    "_draw_seed",
    "generator=None",
    "A whole number of 63 random bits, as the seed of another generator.",
    |_cx, args| {
        let word = with(args.opt(0), random::word)?;
        Ok(Value::Int((word & i64::MAX as u64) as i64))
    },
)
.pure()];

fn as_bytes(state: &State) -> Res {
    let bytes = state.to_bytes();
    let shape = engine::Shape::from([bytes.len()]);
    Ok(Value::tensor(engine::Tensor::from_vec(&bytes, shape)?))
}

fn from_bytes(value: &Value) -> Result<State, Raised> {
    let tensor = convert::variable(value)?.get();
    let are_bytes = tensor.dtype() == engine::DType::U8;
    let bytes = if are_bytes { tensor.to_vec::<u8>()? } else { Vec::new() };
    State::from_bytes(&bytes).ok_or_else(|| {
        runtime_error("the state of a generator is what get_state() or torch.get_rng_state() gave")
    })
}
