//! The driver: rebuilds a graph node by node, trying the rules of a pass at each, until nothing changes.
//!
//! **Invariant:** a replacement has the shape and dtype of what it replaces; a step limit ends loops with the rule's name.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::pattern::Pattern;
use super::{Pass, Replacement, Rule, RuleBody};
use crate::graph::{Graph, Kind, NodeId, Store, Value, text, verify};
use crate::{Error, Result};

/// Replacements that one pass may make in one graph, per op application.
const STEPS_PER_OP: usize = 64;

/// One thing that a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The pass.
    pub pass: &'static str,
    /// The rule; empty when the entry tells the number of ops before and after the pass.
    pub rule: &'static str,
    /// What stood there, in compact form.
    pub before: String,
    /// What stands there now.
    pub after: String,
}

/// What all passes did.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Whether to keep the text of what changed; numbers of ops are always kept.
    pub detailed: bool,
    /// In the order in which it happened.
    pub entries: Vec<Entry>,
    /// The names and levels of the passes of which a rule applied, each once.
    pub applied: Vec<(&'static str, u8)>,
}

/// Runs one pass until nothing changes.
pub fn run(pass: &Pass, graph: &Graph, log: &mut Log) -> Result<Graph> {
    Ok(changed(pass, graph, log)?.unwrap_or_else(|| graph.clone()))
}

/// Runs a list of passes in order, those whose level is at most `opt_level`.
pub fn run_all(passes: &[&Pass], mut graph: Graph, opt_level: u8, log: &mut Log) -> Result<Graph> {
    for pass in passes.iter().filter(|it| it.level <= opt_level) {
        if let Some(better) = changed(pass, &graph, log)? {
            graph = better;
        }
    }
    Ok(graph)
}

/// What a pass makes of a graph; `None` where it leaves all of it.
fn changed(pass: &Pass, graph: &Graph, log: &mut Log) -> Result<Option<Graph>> {
    let rules = compiled(pass.rules);
    let (mut steps, mut before) = (0, 0);
    let mut res: Option<Graph> = None;
    loop {
        let now = res.as_ref().unwrap_or(graph);
        let found = found(pass, now);
        if found.is_empty() && is_settled(&rules, now) {
            break;
        }
        let better = rebuild(pass, &rules, now, found, &mut steps, log)?;
        res = Some(better);
        // A replacement may leave what it replaced unused, and may let a rule apply above it.
        if steps == before {
            break;
        }
        before = steps;
    }
    if let Some(res) = &res {
        if graph.n_ops() != res.n_ops() {
            let ops = |it: &Graph| format!("{} ops", it.n_ops());
            let (before, after) = (ops(graph), ops(res));
            log.entries.push(Entry { pass: pass.name, rule: "", before, after });
        }
        if verify::wanted() {
            verify::verify(res)?;
        }
    }
    Ok(res)
}

/// Whether a graph is as rebuilding it by these rules would leave it: none proposes anything, and all nodes are needed. Equal nodes are
/// one in any graph.
fn is_settled(rules: &[Compiled], graph: &Graph) -> bool {
    let needed = graph.needed();
    graph.nodes().iter().enumerate().all(|(id, node)| {
        let value = Value::of(id as NodeId);
        let is_kept = needed[id] || node.kind.is_fed();
        let is_looked_at = needed[id] && node.metas.len() == 1;
        is_kept && !(is_looked_at && rules.iter().any(|it| propose(it, graph, value).is_some()))
    })
}

enum Compiled {
    Text(&'static Rule, Pattern, Pattern),
    Code(&'static Rule, fn(&Graph, NodeId) -> Option<Replacement>),
}

thread_local! {
    /// Rules whose texts have been read, by the address of their list.
    static COMPILED: RefCell<FxHashMap<usize, Rc<[Compiled]>>> = RefCell::default();
}

/// What rules that look at the whole graph propose, by the values of that graph.
type Found = FxHashMap<Value, (&'static Rule, Replacement)>;

fn found(pass: &Pass, graph: &Graph) -> Found {
    let whole = pass.rules.iter().filter_map(|rule| match rule.body {
        RuleBody::Whole(look) => Some((rule, look(graph))),
        RuleBody::Text { .. } | RuleBody::Code(_) => None,
    });
    let all = whole.flat_map(|(rule, found)| found.into_iter().map(move |it| (it.0, (rule, it.1))));
    all.collect()
}

/// Rules that name an op which does not exist are left out; a test looks for them.
fn compiled(rules: &'static [Rule]) -> Rc<[Compiled]> {
    // Lists without rules may have one address.
    if rules.is_empty() {
        return Rc::new([]);
    }
    let known = COMPILED.with_borrow(|it| it.get(&rules.as_ptr().addr()).cloned());
    known.unwrap_or_else(|| {
        let new: Rc<[Compiled]> = rules.iter().filter_map(compile_one).collect();
        COMPILED.with_borrow_mut(|it| it.insert(rules.as_ptr().addr(), new.clone()));
        new
    })
}

fn compile_one(rule: &'static Rule) -> Option<Compiled> {
    match rule.body {
        RuleBody::Code(code) => Some(Compiled::Code(rule, code)),
        RuleBody::Text { from, to } => {
            let (from, to) = (Pattern::parse(from).ok()?, Pattern::parse(to).ok()?);
            Some(Compiled::Text(rule, from, to))
        }
        RuleBody::Whole(_) => None,
    }
}

fn rebuild(
    pass: &Pass,
    rules: &[Compiled],
    old: &Graph,
    mut found: Found,
    steps: &mut usize,
    log: &mut Log,
) -> Result<Graph> {
    let mut new = Graph::new();
    new.device = old.device;
    let needed = old.needed();
    let mut values: FxHashMap<Value, Value> = FxHashMap::default();
    for (id, node) in old.nodes().iter().enumerate() {
        if !needed[id] && !node.kind.is_fed() {
            continue;
        }
        let id = id as NodeId;
        new.origin.clone_from(&node.origin);
        let copied = copy(&mut new, old, id, &values);
        for output in 0..node.metas.len() as u32 {
            let (was, mut now) = (Value { node: id, output }, Value { node: copied, output });
            if let Some((rule, proposed)) = found.remove(&was)
                && let Some(proposed) = proposed.moved(&|it| values.get(&it).copied())
                && let Some(better) = built(&mut new, proposed, now)?
            {
                applies(pass, rule, &new, steps)?;
                note(log, pass, rule, &new, [now, better]);
                now = better;
            } else if node.metas.len() == 1 {
                now = improve(pass, rules, &mut new, copied, steps, log)?;
            }
            values.insert(was, now);
        }
    }
    new.outputs = old.outputs.iter().map(|it| values[it]).collect();
    let store = |it: &Store| Store {
        variable: values[&Value::of(it.variable)].node,
        value: values[&it.value],
    };
    new.stores = old.stores.iter().map(store).collect();
    Ok(new)
}

fn copy(new: &mut Graph, old: &Graph, id: NodeId, values: &FxHashMap<Value, Value>) -> NodeId {
    let node = old.node(id);
    match &node.kind {
        Kind::Input { layout } => new.input(node.metas[0].dtype, layout.clone()).node,
        Kind::Variable { layout } => new.variable(node.metas[0].dtype, layout.clone()).node,
        Kind::Fed => new.fed(node.metas[0].dtype).node,
        Kind::Const(tensor) => new.constant(tensor).node,
        Kind::Number(number) => new.number(*number).node,
        Kind::Op { op, attrs, inputs } => {
            let inputs: SmallVec<[Value; 3]> = inputs.iter().map(|it| values[it]).collect();
            new.apply_known(op, &inputs, attrs, node.metas.clone())
        }
    }
}

/// Applies rules at a node until none does.
fn improve(
    pass: &Pass,
    rules: &[Compiled],
    graph: &mut Graph,
    node: NodeId,
    steps: &mut usize,
    log: &mut Log,
) -> Result<Value> {
    let mut value = Value::of(node);
    'again: loop {
        for rule in rules {
            let Some((rule, replacement)) = propose(rule, graph, value) else { continue };
            let Some(better) = built(graph, replacement, value)? else { continue };
            applies(pass, rule, graph, steps)?;
            note(log, pass, rule, graph, [value, better]);
            value = better;
            if graph.node(value.node).metas.len() == 1 {
                continue 'again;
            }
        }
        return Ok(value);
    }
}

/// Counts a replacement; an error where there are more than any graph needs.
fn applies(pass: &Pass, rule: &Rule, graph: &Graph, steps: &mut usize) -> Result<()> {
    *steps += 1;
    if *steps <= STEPS_PER_OP * (graph.nodes().len() + 16) {
        return Ok(());
    }
    let problem = format!("rule {} of pass {} does not end", rule.name, pass.name);
    Err(Error::Trace { problem })
}

/// Notes that a rule has put one value in the place of another.
fn note(log: &mut Log, pass: &Pass, rule: &Rule, graph: &Graph, [before, after]: [Value; 2]) {
    if log.applied.iter().all(|it| it.0 != pass.name) {
        log.applied.push((pass.name, pass.level));
    }
    if log.detailed {
        let show = |it| text::compact_value(graph, it, 3);
        let (before, after) = (show(before), show(after));
        log.entries.push(Entry { pass: pass.name, rule: rule.name, before, after });
    }
}

fn propose(rule: &Compiled, graph: &Graph, value: Value) -> Option<(&'static Rule, Replacement)> {
    graph.node(value.node).op()?;
    match rule {
        Compiled::Code(rule, code) => Some((*rule, code(graph, value.node)?)),
        Compiled::Text(rule, from, to) => Some((*rule, to.fill(&from.matches(graph, value)?)?)),
    }
}

/// The value of a replacement, if it is another one than `before` and of the same kind.
fn built(graph: &mut Graph, replacement: Replacement, before: Value) -> Result<Option<Value>> {
    let built = build(graph, replacement)?;
    Ok(built.filter(|it| *it != before && graph.meta(*it) == graph.meta(before)))
}

/// The value of a replacement; `None` where an op does not take what the rule gives it.
fn build(graph: &mut Graph, replacement: Replacement) -> Result<Option<Value>> {
    Ok(match replacement {
        Replacement::Value(value) => Some(value),
        Replacement::Number(number) => Some(graph.number(number)),
        Replacement::Const(tensor) => Some(graph.constant(&tensor)),
        Replacement::Apply { op, attrs, inputs } => {
            let mut values: SmallVec<[Value; 3]> = SmallVec::new();
            for input in inputs {
                let Some(value) = build(graph, input)? else { return Ok(None) };
                values.push(value);
            }
            graph.apply_one(op, &values, &attrs).ok()
        }
        Replacement::Output { of, output } => {
            let first = build(graph, *of)?;
            let has_it = |it: &Value| (output as usize) < graph.node(it.node).metas.len();
            first.filter(has_it).map(|it| Value { output, ..it })
        }
    })
}
