//! `fuse-attention`: attention that is written by hand, `softmax(q k^T * scale + mask) v`, becomes one op that keeps no matrix of scores,
//! and so do its gradients.
//!
//! It is taken where nothing else looks at the scores or the shares. Sums come about in another order, so bits differ.

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::RELAXED;
use crate::graph::parse::find_op;
use crate::graph::{Graph, Kind, NodeId, Value};
use crate::op::Body;
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Attr, Attrs, Number};

pub static PASS: Pass = Pass {
    name: "fuse-attention",
    doc: "Makes attention that is written by hand, and its gradients, ops without a matrix of scores.",
    level: RELAXED,
    rules: &[Rule::whole("attention", attention)],
};

/// Steps between the products of queries and keys, and the softmax: a scale, and a few masks.
const MOST_STEPS: usize = 8;

fn attention(graph: &Graph) -> Vec<(Value, Replacement)> {
    let search = Search {
        graph,
        users: graph.users(),
        results: graph.results().map(|it| it.node).collect(),
    };
    let found = (0..graph.nodes().len() as NodeId).filter_map(|it| search.attention(it));
    found.filter_map(|it| it.proposals(graph)).flatten().collect()
}

struct Search<'a> {
    graph: &'a Graph,
    users: Vec<SmallVec<[NodeId; 2]>>,
    results: FxHashSet<NodeId>,
}

/// A step between the products of queries and keys, and the softmax.
#[derive(Clone, Copy)]
enum Between {
    /// Times a number.
    Scaled(f64),
    /// Minus infinity where a mask holds.
    Hidden(Value),
    /// A mask that is added.
    Added(Value),
}

/// What the softmax is of.
struct Scores {
    query: Value,
    /// `[..., E, S]`
    keys: Value,
    /// From the product on.
    steps: Vec<(NodeId, Between)>,
}

/// An attention.
struct Attention {
    scores: Scores,
    value: Value,
    out: NodeId,
    gradients: Gradients,
}

/// Its gradients, as far as they are there.
#[derive(Default)]
struct Gradients {
    /// That of the result.
    given: Option<Value>,
    of_query: Vec<NodeId>,
    /// `[..., E, S]`
    of_keys: Vec<NodeId>,
    of_value: Vec<NodeId>,
}

impl Search<'_> {
    /// The attention whose shares this node is.
    fn attention(&self, shares: NodeId) -> Option<Attention> {
        let &[of] = self.applied(shares, "softmax")? else { return None };
        let (attrs, rank) = (self.graph.node(shares).attrs()?, self.graph.meta(of).shape.rank());
        let is_last = matches!(attrs[0], Attr::Int(dim) if dim == -1 || dim == rank as i64 - 1);
        if !is_last || attrs[1] != Attr::None || !self.is_inner(shares) {
            return None;
        }
        let scores = self.scores(of, MOST_STEPS)?;
        let users = &self.users[shares as usize];
        let product = |&id: &NodeId| match self.applied(id, "matmul") {
            Some(&[left, value]) if left == Value::of(shares) => Some((id, value)),
            _ => None,
        };
        let (out, value) = users.iter().find_map(product)?;
        let mut gradients = Gradients::default();
        for &user in users.iter().filter(|it| **it != out) {
            match self.graph.node(user).op()?.name {
                "softmax_backward" => self.by_scores(user, &scores, value, &mut gradients)?,
                "transpose" => self.by_shares(user, shares, &mut gradients)?,
                _ => return None,
            }
        }
        let is_worth_it = gradients.given.is_none()
            || !(gradients.of_query.is_empty() && gradients.of_keys.is_empty());
        is_worth_it.then_some(Attention { scores, value, out, gradients })
    }

    /// What leads to these scores by so many steps at most, if nothing else uses any of it.
    fn scores(&self, value: Value, most: usize) -> Option<Scores> {
        self.only_user(value.node)?;
        let behind = |of: Value, step: Between| {
            let mut scores = self.scores(of, most.checked_sub(1)?)?;
            scores.steps.push((value.node, step));
            Some(scores)
        };
        let node = self.graph.node(value.node);
        match (node.op()?.name, node.inputs()) {
            ("matmul", &[query, keys]) => Some(Scores { query, keys, steps: Vec::new() }),
            ("mul", &[x, y]) => match (self.number(x), self.number(y)) {
                (None, Some(by)) => behind(x, Between::Scaled(by)),
                (Some(by), None) => behind(y, Between::Scaled(by)),
                _ => None,
            },
            ("div", &[x, by]) => behind(x, Between::Scaled(1.0 / self.number(by)?)),
            ("masked_fill", &[x, mask, number]) | ("where", &[mask, number, x]) => {
                // Another number would count in rows that see nothing, where it is what all scores are.
                self.number(number).filter(|it| *it == f64::NEG_INFINITY)?;
                behind(x, Between::Hidden(mask))
            }
            ("add", &[x, y]) => {
                behind(x, Between::Added(y)).or_else(|| behind(y, Between::Added(x)))
            }
            _ => None,
        }
    }

    /// Takes the gradients of queries and keys, which begin at the gradient of the softmax; `None` if it leads to something else.
    fn by_scores(
        &self,
        from: NodeId,
        scores: &Scores,
        value: Value,
        into: &mut Gradients,
    ) -> Option<()> {
        let product = self.graph.node(from).inputs().first()?.node;
        let &[given, transposed] = self.applied(product, "matmul")? else { return None };
        self.only_user(product)?;
        (into.are_of(given) && self.is_transposed(transposed, value)).then_some(())?;
        let mut slopes = from;
        for &(step, between) in scores.steps.iter().rev() {
            if !matches!(between, Between::Added(_)) {
                slopes = self.only_user(slopes)?;
                self.is_gradient(slopes, step, between).then_some(())?;
            }
        }
        self.is_inner(slopes).then_some(())?;
        for &user in &self.users[slopes as usize] {
            let &[left, right] = self.applied(user, "matmul")? else { return None };
            if left == Value::of(slopes) && self.is_transposed(right, scores.keys) {
                into.of_query.push(user);
            } else if right == Value::of(slopes) && self.is_transposed(left, scores.query) {
                into.of_keys.push(user);
            } else {
                return None;
            }
        }
        Some(())
    }

    /// Takes the gradient of the values, the product of the transposed shares and the gradient of the result.
    fn by_shares(&self, transposed: NodeId, shares: NodeId, into: &mut Gradients) -> Option<()> {
        let (is_inner, turned) = (self.is_inner(transposed), Value::of(transposed));
        (is_inner && self.is_transposed(turned, Value::of(shares))).then_some(())?;
        for &user in &self.users[transposed as usize] {
            let &[left, given] = self.applied(user, "matmul")? else { return None };
            (left == turned && into.are_of(given)).then_some(())?;
            into.of_value.push(user);
        }
        Some(())
    }

    /// The operands of a node that applies this op.
    fn applied(&self, id: NodeId, name: &str) -> Option<&[Value]> {
        let node = self.graph.node(id);
        (node.op()?.name == name).then(|| node.inputs())
    }

    /// Whether only nodes of the graph see what a node gives.
    fn is_inner(&self, id: NodeId) -> bool {
        !self.results.contains(&id)
    }

    /// The one node that sees what a node gives.
    fn only_user(&self, id: NodeId) -> Option<NodeId> {
        match self.users[id as usize][..] {
            [user] if self.is_inner(id) => Some(user),
            _ => None,
        }
    }

    fn number(&self, value: Value) -> Option<f64> {
        match self.graph.node(value.node).kind {
            Kind::Number(number @ (Number::Int(_) | Number::Float(_))) => Some(number.as_f64()),
            _ => None,
        }
    }

    /// Whether one is the other with the last two dimensions exchanged.
    fn is_transposed(&self, a: Value, b: Value) -> bool {
        let exchanges = |turned: Value, of: Value| {
            let rank = self.graph.meta(of).shape.rank() as i64;
            let attrs = self.graph.node(turned.node).attrs();
            let dims = attrs.map(|attrs| {
                attrs.iter().map(|it| match *it {
                    Attr::Int(dim) => dim.rem_euclid(rank.max(1)),
                    _ => -1,
                })
            });
            self.applied(turned.node, "transpose").is_some_and(|it| *it == [of])
                && dims.is_some_and(|it| {
                    let mut dims: SmallVec<[i64; 2]> = it.collect();
                    dims.sort_unstable();
                    dims[..] == [rank - 2, rank - 1]
                })
        };
        exchanges(a, b) || exchanges(b, a)
    }

    /// Whether a node is the gradient of a step with respect to the scores before it, given that behind it.
    fn is_gradient(&self, id: NodeId, step: NodeId, between: Between) -> bool {
        let node = self.graph.node(id);
        let Some(Body::GradOf(of)) = node.op().map(|it| it.body) else { return false };
        let is_of_it = self.graph.node(step).op() == Some(of.op);
        is_of_it
            && match (between, node.inputs()) {
                (Between::Scaled(by), &[_, number]) => {
                    let factor = |it| if of.op.name == "div" { 1.0 / it } else { it };
                    self.number(number).map(factor) == Some(by)
                }
                (Between::Hidden(mask), &[_, holds]) => mask == holds,
                _ => false,
            }
    }
}

impl Gradients {
    /// Whether they begin at this gradient of the result, which is noted.
    fn are_of(&mut self, given: Value) -> bool {
        *self.given.get_or_insert(given) == given
    }
}

impl Attention {
    /// What takes the place of what; `None` where masks stand before the scale, or there are no keys.
    fn proposals(&self, graph: &Graph) -> Option<Vec<(Value, Replacement)>> {
        if graph.meta(self.scores.keys).shape.last() == Some(&0) {
            return None;
        }
        let mask = self.mask(graph)?;
        let scale = self.scores.steps.iter().map(|it| match it.1 {
            Between::Scaled(by) => by,
            Between::Hidden(_) | Between::Added(_) => 1.0,
        });
        let attrs: Attrs = smallvec![Attr::Float(scale.product()), Attr::Bool(false)];
        let given =
            [value(self.scores.query), transposed(value(self.scores.keys))?, value(self.value)];
        let inputs = given.iter().cloned().chain(mask.clone()).collect();
        let attention =
            Replacement::Apply { op: find_op("native_attention")?, attrs: attrs.clone(), inputs };
        let results = [0, 1].map(|it| output(&attention, it));
        let nothing = match mask {
            Some(_) => Some(Nothing::of(results[1].clone())?),
            None => None,
        };
        let out = match &nothing {
            Some(it) => it.rows(f64::NAN, results[0].clone())?,
            None => results[0].clone(),
        };
        let mut res = vec![(Value::of(self.out), out)];
        if let Some(grad) = self.gradients.given {
            let grad = match &nothing {
                Some(it) => it.rows(0.0, value(grad))?,
                None => value(grad),
            };
            let inputs = std::iter::once(grad).chain(given).chain(results).chain(mask);
            let op = find_op("native_attention_backward")?;
            let backward = Replacement::Apply { op, attrs, inputs: inputs.collect() };
            res.extend(self.gradients(&backward, nothing.as_ref())?);
        }
        Some(res)
    }

    /// What takes the place of the gradients. A query that sees nothing makes those NaN that its scores and shares go into; what a mask
    /// fills has no gradient by the scores.
    fn gradients(
        &self,
        backward: &Replacement,
        nothing: Option<&Nothing>,
    ) -> Option<Vec<(Value, Replacement)>> {
        let [mut query, mut keys, mut of_value] = [0, 1, 2].map(|it| output(backward, it));
        if let Some(nothing) = nothing {
            of_value = nothing.all(of_value)?;
            if !self.scores.steps.iter().any(|it| matches!(it.1, Between::Hidden(_))) {
                (query, keys) = (nothing.rows(f64::NAN, query)?, nothing.all(keys)?);
            }
        }
        let found = &self.gradients;
        let all = [
            (&found.of_query, query),
            (&found.of_keys, transposed(keys)?),
            (&found.of_value, of_value),
        ];
        let each = all.into_iter().flat_map(|(nodes, proposed)| {
            nodes.iter().map(move |it| (Value::of(*it), proposed.clone()))
        });
        Some(each.collect())
    }

    /// All masks as one that is added, if there are some.
    fn mask(&self, graph: &Graph) -> Option<Option<Replacement>> {
        let meta = graph.meta(self.scores.query);
        let dtype: Attrs = smallvec![Attr::DType(meta.dtype)];
        let (mut sum, mut is_added): (Option<Replacement>, bool) = (None, false);
        for &(_, step) in &self.scores.steps {
            match step {
                Between::Scaled(_) if sum.is_some() => return None,
                Between::Scaled(_) => {}
                Between::Hidden(mask) => {
                    let before = sum.unwrap_or_else(|| number(0.0));
                    let inputs = vec![value(mask), number(f64::NEG_INFINITY), before];
                    let hidden = applied("where", Attrs::new(), inputs)?;
                    sum = Some(applied("to", dtype.clone(), vec![hidden])?);
                }
                Between::Added(mask) => {
                    is_added = true;
                    let mask = applied("to", dtype.clone(), vec![value(mask)])?;
                    sum = Some(match sum {
                        None => mask,
                        Some(before) => applied("add", Attrs::new(), vec![before, mask])?,
                    });
                }
            }
        }
        let Some(mut sum) = sum else { return Some(None) };
        if is_added {
            sum = from_largest(sum)?;
        }
        let mut shape = meta.shape.clone();
        *shape.dims_mut().last_mut()? = *graph.meta(self.scores.keys).shape.last()?;
        applied("expand", smallvec![Attr::sizes(&shape)], vec![sum]).map(Some)
    }
}

/// A mask without what all keys of a query have in common: that changes no share, but the logarithms of sums would be rounded by it.
fn from_largest(mask: Replacement) -> Option<Replacement> {
    let attrs: Attrs = smallvec![Attr::ints(&[-1]), Attr::Bool(true)];
    let largest = applied("amax", attrs, vec![mask.clone()])?;
    let is_nothing = vec![largest.clone(), number(f64::NEG_INFINITY)];
    let is_nothing = applied("eq", Attrs::new(), is_nothing)?;
    let common = applied("where", Attrs::new(), vec![is_nothing, number(0.0), largest])?;
    applied("sub", Attrs::new(), vec![mask, common])
}

/// Which queries see nothing: `[..., L, 1]`. Their shares are quotients of zeros.
struct Nothing(Replacement);

impl Nothing {
    fn of(log_sums: Replacement) -> Option<Self> {
        let sums = applied("unsqueeze", smallvec![Attr::Int(-1)], vec![log_sums])?;
        applied("eq", Attrs::new(), vec![sums, number(f64::NEG_INFINITY)]).map(Self)
    }

    /// A number in the rows of these queries.
    fn rows(&self, it: f64, of: Replacement) -> Option<Replacement> {
        applied("where", Attrs::new(), vec![self.0.clone(), number(it), of])
    }

    /// NaN everywhere in the attentions that have such a query.
    fn all(&self, of: Replacement) -> Option<Replacement> {
        let attrs: Attrs = smallvec![Attr::ints(&[-2]), Attr::Bool(true), Attr::None];
        let count = applied("sum", attrs, vec![self.0.clone()])?;
        let is_met = applied("gt", Attrs::new(), vec![count, number(0.0)])?;
        applied("where", Attrs::new(), vec![is_met, number(f64::NAN), of])
    }
}

fn number(it: f64) -> Replacement {
    Replacement::Number(Number::Float(it))
}

fn value(it: Value) -> Replacement {
    Replacement::Value(it)
}

fn transposed(it: Replacement) -> Option<Replacement> {
    applied("transpose", smallvec![Attr::Int(-2), Attr::Int(-1)], vec![it])
}

fn applied(name: &str, attrs: Attrs, inputs: Vec<Replacement>) -> Option<Replacement> {
    Some(Replacement::Apply { op: find_op(name)?, attrs, inputs })
}

fn output(of: &Replacement, output: u32) -> Replacement {
    Replacement::Output { of: Box::new(of.clone()), output }
}
