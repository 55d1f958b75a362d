//! `==`, `<` and the others, `in` and order of containers.

use std::cmp::Ordering;

use crate::cx::Cx;
use crate::error::{RECURSION_ERROR, Raised, type_error};
use crate::native::{NativeObject, Res};
use crate::objects::class::type_name;
use crate::operate::CompareOp;
use crate::operate::equal::simple_eq;
use crate::patience::Pace;
use crate::table::{Dict, Set};
use crate::value::Value;

impl Cx {
    /// `a op b`.
    pub fn compare(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        if let Some(known) = simple_compare(op, a, b) {
            return Ok(Value::Bool(known));
        }
        match (a, b) {
            (Value::Instance(_) | Value::Object(_) | Value::Tensor(_), _)
            | (_, Value::Instance(_) | Value::Object(_) | Value::Tensor(_)) => {
                self.compare_objects(op, a, b)
            }
            _ => self.compare_builtins(op, a, b),
        }
    }

    /// `a < b` as a bool; sorting uses it.
    pub fn less(&mut self, a: &Value, b: &Value) -> Result<bool, Raised> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => return Ok(a < b),
            (Value::Float(a), Value::Float(b)) => return Ok(a < b),
            (Value::Str(a), Value::Str(b)) => return Ok(***a < ***b),
            _ => {}
        }
        let answer = self.compare(CompareOp::Lt, a, b)?;
        self.truth(&answer)
    }

    fn compare_objects(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        let derived = match (a, b) {
            (Value::Instance(x), Value::Instance(y)) => {
                !std::rc::Rc::ptr_eq(&x.class, &y.class) && y.class.is_subclass(&x.class)
            }
            _ => false,
        };
        let sides = [(op, a, b), (op.mirrored(), b, a)];
        let order = if derived { [1, 0] } else { [0, 1] };
        for side in order {
            let (op, this, other) = sides[side];
            if let Some(answer) = self.compare_one_side(op, this, other)? {
                return Ok(answer);
            }
        }
        // Where both sides have an answer of their own and neither gave one, the values inside are not asked.
        if a.core().is(a) && b.core().is(b) || answers(op, a) && answers(op, b) {
            return match op {
                CompareOp::Eq => Ok(Value::Bool(a.is(b))),
                CompareOp::Ne => Ok(Value::Bool(!a.is(b))),
                _ => Err(not_supported(op, a, b)),
            };
        }
        let (x, y) = (a.core().clone(), b.core().clone());
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) && never_ordered(&x, &y) {
            return Err(not_supported(op, a, b));
        }
        self.compare(op, &x, &y)
    }

    fn compare_one_side(
        &mut self,
        op: CompareOp,
        this: &Value,
        other: &Value,
    ) -> Result<Option<Value>, Raised> {
        match this {
            Value::Object(it) => it.compare(self, op, this, other),
            Value::Tensor(it) => it.compare(self, op, this, other),
            Value::Instance(_) => {
                let args = std::slice::from_ref(other);
                let answer = self.call_special(this, op.method(), args)?;
                match answer {
                    // Built-in types have a `__ne__` of their own, which does not ask `__eq__`.
                    None if op == CompareOp::Ne && !this.core().is(this) => Ok(None),
                    Some(Value::NotImplemented) | None if op == CompareOp::Ne => {
                        let equal = self.call_special(this, CompareOp::Eq.method(), args)?;
                        match equal {
                            Some(Value::NotImplemented) | None => Ok(None),
                            Some(equal) => Ok(Some(Value::Bool(!self.truth(&equal)?))),
                        }
                    }
                    Some(Value::NotImplemented) => Ok(None),
                    answer => Ok(answer),
                }
            }
            _ => Ok(None),
        }
    }

    fn compare_builtins(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        self.poll()?;
        self.enter_native().map_err(|_| {
            Raised::new(&RECURSION_ERROR, "maximum recursion depth exceeded in comparison")
        })?;
        let answer = self.compare_containers(op, a, b);
        self.leave_native();
        answer
    }

    fn compare_containers(&mut self, op: CompareOp, a: &Value, b: &Value) -> Res {
        let answer = match (a, b) {
            (Value::List(x), Value::List(y)) => {
                let (x, y) = (x.items.borrow().clone(), y.items.borrow().clone());
                return self.compare_sequences(op, &x, &y);
            }
            (Value::Tuple(x), Value::Tuple(y)) => return self.compare_sequences(op, x, y),
            (Value::Slice(x), Value::Slice(y)) => {
                return self.compare_sequences(op, &x.parts(), &y.parts());
            }
            (Value::Dict(x), Value::Dict(y)) if op == CompareOp::Eq => self.dict_eq(x, y)?,
            (Value::Dict(x), Value::Dict(y)) if op == CompareOp::Ne => !self.dict_eq(x, y)?,
            (Value::Set(x), Value::Set(y)) => self.compare_sets(op, x, y)?,
            _ => match op {
                CompareOp::Eq => a.is(b),
                CompareOp::Ne => !a.is(b),
                _ => return Err(not_supported(op, a, b)),
            },
        };
        Ok(Value::Bool(answer))
    }

    fn compare_sequences(&mut self, op: CompareOp, a: &[Value], b: &[Value]) -> Res {
        if a.len() != b.len() && matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return Ok(Value::Bool(op == CompareOp::Ne));
        }
        let mut pace = Pace::default();
        for (x, y) in a.iter().zip(b) {
            pace.step(self)?;
            // An object equals itself here, NaN too.
            if !x.is(y) && !self.eq(x, y)? {
                return match op {
                    CompareOp::Eq => Ok(Value::Bool(false)),
                    CompareOp::Ne => Ok(Value::Bool(true)),
                    _ => self.compare(op, x, y),
                };
            }
        }
        Ok(Value::Bool(op.accepts(a.len().cmp(&b.len()))))
    }

    fn dict_eq(&mut self, a: &Dict, b: &Dict) -> Result<bool, Raised> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (key, value) in a.items() {
            match b.get(self, &key)? {
                Some(other) if value.is(&other) || self.eq(&value, &other)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn compare_sets(&mut self, op: CompareOp, a: &Set, b: &Set) -> Result<bool, Raised> {
        Ok(match op {
            CompareOp::Eq => a.len() == b.len() && self.is_subset(a, b)?,
            CompareOp::Ne => a.len() != b.len() || !self.is_subset(a, b)?,
            CompareOp::Le => self.is_subset(a, b)?,
            CompareOp::Lt => a.len() < b.len() && self.is_subset(a, b)?,
            CompareOp::Ge => self.is_subset(b, a)?,
            CompareOp::Gt => b.len() < a.len() && self.is_subset(b, a)?,
        })
    }

    /// True if every item of `a` is in `b`.
    pub fn is_subset(&mut self, a: &Set, b: &Set) -> Result<bool, Raised> {
        if a.len() > b.len() {
            return Ok(false);
        }
        for item in a.items() {
            if !b.contains(self, &item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether one of two builtin values is a container or string that the other is not.
/// Whether the class of an instance says itself how a comparison ends.
fn answers(op: CompareOp, value: &Value) -> bool {
    matches!(value, Value::Instance(it) if it.class.lookup(op.method()).is_some())
}

fn never_ordered(a: &Value, b: &Value) -> bool {
    use Value::{Dict, List, Set, Str, Tuple};
    let alike = matches!(
        (a, b),
        (Str(_), Str(_)) | (List(_), List(_)) | (Tuple(_), Tuple(_)) | (Set(_), Set(_))
    );
    let builtin = |it: &Value| {
        matches!(it, Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_))
            || matches!(it, Str(_) | List(_) | Tuple(_) | Set(_) | Dict(_))
    };
    let number = |it: &Value| matches!(it, Value::Bool(_) | Value::Int(_) | Value::Float(_));
    builtin(a) && builtin(b) && !alike && !(number(a) && number(b))
}

/// Comparison of numbers and strings; `None` means "not this way".
pub(crate) fn simple_compare(op: CompareOp, a: &Value, b: &Value) -> Option<bool> {
    use Value::{Bool, Float, Int, Str};
    let order = match (a, b) {
        (Int(a), Int(b)) => a.cmp(b),
        (Float(a), Float(b)) => return Some(float_accepts(op, *a, *b)),
        (Int(a), Float(b)) => return Some(compare_mixed(op, *a, *b)),
        (Float(a), Int(b)) => return Some(compare_mixed(op.mirrored(), *b, *a)),
        (Str(a), Str(b)) => match op {
            CompareOp::Eq => return Some(***a == ***b),
            CompareOp::Ne => return Some(***a != ***b),
            _ => (***a).cmp(&***b),
        },
        (Bool(a), Bool(b)) => a.cmp(b),
        (Bool(a), Int(b)) => (*a as i64).cmp(b),
        (Int(a), Bool(b)) => a.cmp(&(*b as i64)),
        (Bool(a), Float(b)) => return Some(compare_mixed(op, *a as i64, *b)),
        (Float(a), Bool(b)) => return Some(compare_mixed(op.mirrored(), *b as i64, *a)),
        (Value::Instance(_) | Value::Object(_) | Value::Tensor(_), _)
        | (_, Value::Instance(_) | Value::Object(_) | Value::Tensor(_)) => return None,
        _ => {
            return match op {
                CompareOp::Eq => simple_eq(a, b),
                CompareOp::Ne => simple_eq(a, b).map(|it| !it),
                _ => None,
            };
        }
    };
    Some(op.accepts(order))
}

fn float_accepts(op: CompareOp, a: f64, b: f64) -> bool {
    match a.partial_cmp(&b) {
        Some(order) => op.accepts(order),
        None => op == CompareOp::Ne,
    }
}

fn compare_mixed(op: CompareOp, int: i64, float: f64) -> bool {
    if float.is_nan() {
        return op == CompareOp::Ne;
    }
    let order = if float >= 9.3e18 {
        Ordering::Less
    } else if float <= -9.3e18 {
        Ordering::Greater
    } else {
        let whole = float.trunc();
        (int as i128)
            .cmp(&(whole as i128))
            .then(0.0.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
    };
    op.accepts(order)
}

fn not_supported(op: CompareOp, a: &Value, b: &Value) -> Raised {
    type_error(format!(
        "'{}' not supported between instances of '{}' and '{}'",
        op.sign(),
        type_name(a),
        type_name(b)
    ))
}
