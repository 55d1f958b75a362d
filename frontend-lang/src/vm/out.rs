//! `out=` of functions of torch that are written in the language: `torch.out` calls them and stores what they give.

use std::rc::Rc;

use crate::cx::Cx;
use crate::error::Raised;
use crate::objects::function::Func;
use crate::sym::Sym;
use crate::value::Value;

/// Whether a call names `out` where the function has no such parameter, and belongs to torch.
pub(super) fn is_asked(func: &Func, keywords: &[(Sym, Value)]) -> bool {
    let params = &func.code.params;
    keywords.iter().any(|it| it.0 == Sym::OUT)
        && !params.has_keywords
        && !params.names.contains(&Sym::OUT)
        && is_of_torch(func)
}

fn is_of_torch(func: &Func) -> bool {
    let name = func.code.globals.get(Sym::NAME);
    name.is_some_and(|it| it.as_str().is_some_and(|it| it.split('.').next() == Some("torch")))
}

/// The function that is called in place of such a one, which is its first argument.
pub(super) fn answer(cx: &mut Cx) -> Result<Rc<Func>, Raised> {
    let module = cx.import("torch.out")?;
    match cx.getattr(&module, Sym::of("answer"))? {
        Value::Func(it) => Ok(it),
        _ => Err(crate::error::runtime_error("torch.out.answer is missing")),
    }
}
