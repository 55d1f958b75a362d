//! `torch.Generator`: random numbers apart from those of the session, so that a split or an order can be had again.

use std::any::Any;
use std::cell::Cell;

use engine::random::{self, State};

use crate::native::*;

/// The type.
pub static GENERATOR: NativeType = NativeType {
    module: "torch",
    new: Some(function("Generator", "cls, device=None", "A generator of random numbers.", new)),
    methods: &[METHODS],
    ..NativeType::plain("Generator", "A generator of random numbers; ops take it as `generator=`.")
};

static METHODS: &[NativeFn] = &[
    function("manual_seed", "self, seed", "Starts anew from a seed.", manual_seed),
    function("initial_seed", "self", "The seed it started from.", initial_seed),
    function("seed", "self", "Starts anew from a seed that nobody chose.", seed),
    function("get_state", "self", "A generator that goes on from the same place.", get_state),
    function("set_state", "self, state", "Goes on from where another one is.", set_state),
];

/// A generator of its own, or the session's.
pub struct Generator {
    /// `None` stands for the session's.
    own: Option<Cell<State>>,
}

/// The session's generator as a value: what `torch.manual_seed` returns.
pub fn of_session() -> Value {
    Value::object(Generator { own: None })
}

impl NativeObject for Generator {
    fn native_type(&self) -> &'static NativeType {
        &GENERATOR
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&self, _cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(Value::object(Generator { own: self.own.clone() })))
    }
}

impl Generator {
    fn start(&self, seed: u64) {
        self.with(|| random::seed(seed));
    }

    /// Runs `body` with this generator in the place of the session's.
    fn with<R>(&self, body: impl FnOnce() -> R) -> R {
        let Some(own) = &self.own else { return body() };
        let before = random::state();
        random::set_state(own.get());
        let res = body();
        own.set(random::state());
        random::set_state(before);
        res
    }
}

/// Runs `body` with the generator in `value`, or with the session's if that is `None`.
pub fn with<R>(value: Option<&Value>, body: impl FnOnce() -> R) -> Result<R, Raised> {
    match value {
        None | Some(Value::None) => Ok(body()),
        Some(value) => match value.downcast::<Generator>() {
            Some(it) => Ok(it.with(body)),
            None => Err(type_error(format!(
                "generator must be a torch.Generator, not {}",
                type_name(value)
            ))),
        },
    }
}

fn fresh() -> Generator {
    let before = random::state();
    random::seed(67_280_421_310_721);
    let state = random::state();
    random::set_state(before);
    Generator { own: Some(Cell::new(state)) }
}

fn new(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::object(fresh()))
}

fn manual_seed(_cx: &mut Cx, args: Args<'_>) -> Res {
    args.object::<Generator>(0)?.start(args.int(1)? as u64);
    Ok(args[0].clone())
}

fn initial_seed(_cx: &mut Cx, args: Args<'_>) -> Res {
    let seed = args.object::<Generator>(0)?.with(random::initial_seed);
    Ok(Value::Int(seed as i64))
}

fn seed(cx: &mut Cx, args: Args<'_>) -> Res {
    let seed = (cx.host.wall() * 1e6) as u64;
    args.object::<Generator>(0)?.start(seed);
    Ok(Value::Int(seed as i64))
}

fn get_state(_cx: &mut Cx, args: Args<'_>) -> Res {
    let state = args.object::<Generator>(0)?.with(random::state);
    Ok(Value::object(Generator { own: Some(Cell::new(state)) }))
}

fn set_state(_cx: &mut Cx, args: Args<'_>) -> Res {
    let state = args.object::<Generator>(1)?.with(random::state);
    let this = args.object::<Generator>(0)?;
    match &this.own {
        Some(own) => own.set(state),
        None => random::set_state(state),
    }
    Ok(args[0].clone())
}
