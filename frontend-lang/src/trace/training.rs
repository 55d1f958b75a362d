//! Which functions train, by their names: those that walk a tape backwards, and those that speak of one that does. Loops in functions are
//! steps only where they speak of such a name, since a round costs more than a round of a loop over numbers.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::ast::{Module, Range, Stmt, StmtKind};
use crate::bytecode::{Code, Op};
use crate::objects::module::Globals;
use crate::sym::Sym;
use crate::value::Value;

/// Names with which training begins: `loss.backward()`, `torch.autograd.grad(...)`.
const FIRST: [&str; 2] = ["backward", "autograd"];

/// What a source speaks of, and which names train.
pub(super) struct Training {
    /// Names of attributes, methods and globals, and where they stand.
    mentions: Vec<(u32, Sym)>,
    names: FxHashSet<Sym>,
}

/// A function: its name, and the names that it speaks of.
type Speaks = (Sym, Vec<Sym>);

impl Training {
    /// Of a source whose code is this, and of what its globals lead to.
    pub(super) fn of(code: &Code, functions: &[(Sym, Range)]) -> Training {
        let mut mentions = Vec::new();
        each_mention(code, &mut |at, name| mentions.push((at, name)));
        let mut training =
            Training { mentions, names: FIRST.iter().map(|it| Sym::new(it)).collect() };
        let own = functions.iter().map(|(name, range)| (*name, training.in_range(*range)));
        let mut known: Vec<Speaks> = own.collect();
        known.extend(around(&code.globals));
        while let Some(at) = known.iter().position(|it| training.speaks(&it.1)) {
            let (name, _) = known.swap_remove(at);
            training.names.insert(name);
        }
        training
    }

    /// Whether what stands there may train.
    pub(super) fn is_in(&self, range: Range) -> bool {
        self.speaks(&self.in_range(range))
    }

    fn speaks(&self, names: &[Sym]) -> bool {
        names.iter().any(|it| self.names.contains(it))
    }

    fn in_range(&self, range: Range) -> Vec<Sym> {
        let is_in = |it: &&(u32, Sym)| (range.start..range.end).contains(&it.0);
        self.mentions.iter().filter(is_in).map(|it| it.1).collect()
    }
}

/// The functions of a source, those of its classes included.
pub(super) fn functions_of(module: &Module) -> Vec<(Sym, Range)> {
    let mut found = Vec::new();
    in_block(&module.body, &mut found);
    found
}

fn in_block(block: &[Stmt], found: &mut Vec<(Sym, Range)>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Function { function, .. } => {
                found.push((function.name, stmt.range));
                in_block(&function.body, found);
            }
            StmtKind::Class(it) => in_block(&it.body, found),
            StmtKind::If { body, orelse, .. } => {
                in_block(body, found);
                in_block(orelse, found);
            }
            _ => {}
        }
    }
}

/// What functions speak of that globals lead to: functions of programs, methods of classes and instances, and functions of modules.
fn around(globals: &Rc<Globals>) -> Vec<Speaks> {
    let mut found = Vec::new();
    for (name, value) in globals.entries() {
        match value {
            Value::Module(it) => {
                let inner = it.globals.entries().into_iter();
                inner.for_each(|(name, value)| of_value(name, &value, &mut found));
            }
            value => of_value(name, &value, &mut found),
        }
    }
    found
}

fn of_value(name: Sym, value: &Value, found: &mut Vec<Speaks>) {
    let class = match value {
        Value::Func(it) => return of_code(name, &it.code, found),
        Value::Class(it) => it,
        Value::Instance(it) => &it.class,
        _ => return,
    };
    for (name, value) in class.attrs.borrow().iter() {
        if let Value::Func(it) = value {
            of_code(*name, &it.code, found);
        }
    }
}

/// The library's own functions have no sites; that its optimisers step is no training.
fn of_code(name: Sym, code: &Code, found: &mut Vec<Speaks>) {
    if code.sites != 0 {
        let mut names = Vec::new();
        each_mention(code, &mut |_, it| names.push(it));
        found.push((name, names));
    }
}

fn each_mention(code: &Code, visit: &mut dyn FnMut(u32, Sym)) {
    for (op, place) in code.ops.iter().zip(&*code.places) {
        let name = match *op {
            Op::Attr { name, .. } | Op::AttrL { name, .. } | Op::Method { name, .. } => name,
            Op::SuperMethod(name) | Op::SuperAttr(name) => name,
            Op::Global(slot) => code.globals.slots.borrow()[slot as usize].name,
            _ => continue,
        };
        visit(place.0, name);
    }
    code.children.iter().for_each(|it| each_mention(it, visit));
}
