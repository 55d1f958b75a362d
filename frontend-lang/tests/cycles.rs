//! Objects that refer to each other are freed at the end of a cell; what can be reached stays.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

fn session() -> (Session, Rc<Record>) {
    let record = Rc::new(Record::default());
    (Session::new(Box::new(Recording { record: record.clone() })), record)
}

fn run(session: &mut Session, code: &str) {
    if let Some(error) = session.run_cell(code, &Options::default()).error {
        panic!("{code}\n{}", error.plain);
    }
}

fn tensor_bytes() -> usize {
    engine::cpu::memory::HOST.stats().live
}

/// Runs code that makes a cycle with a tensor of 4 MB inside; the bytes must be free when the cell has ended.
fn check_freed(code: &str) {
    let (mut session, _) = session();
    run(&mut session, "import torch\ndef big():\n    return torch.zeros(1000000)");
    let before = tensor_bytes();
    run(&mut session, &format!("def make():\n{}\n", indent(code)));
    run(&mut session, "make()");
    let left = tensor_bytes().saturating_sub(before);
    assert!(left < 1_000_000, "{left} bytes are left after\n{code}");
}

fn indent(code: &str) -> String {
    code.lines().map(|it| format!("    {it}\n")).collect()
}

// One test: the engine's counters are those of the process.
#[test]
fn cycles_are_freed_and_nothing_else() {
    for code in [
        "x = [big()]\nx.append(x)",
        "x = [big()]\ny = [x]\nx.extend((y, 1))",
        "x = [big(), None]\nx[1] = x",
        "x = [big()]\nx[0:0] = [x]",
        "x = [big()]\nx += [x]",
        "x = [big()]\nx.insert(0, (1, (x,)))",
        "x = {'t': big()}\nx['self'] = x",
        "x = {'t': big()}\nx.setdefault('self', [x])",
        "x = {'t': big()}\nx.update({'a': x})",
        "x = {'t': big()}\nx |= {'a': x}",
        "class Node:\n    pass\na, b = Node(), Node()\na.t, a.other, b.other = big(), b, a",
        "class Node:\n    def hook(self):\n        pass\na = Node()\na.t, a.call = big(), a.hook",
        "class Node:\n    pass\na = Node()\na.t, a.all = big(), set()\na.all.add(a)",
        "class Node(list):\n    pass\na = Node()\na.t = big()\na.append(a)",
        "class A:\n    t = big()\n    def who(self):\n        return super().__init__()",
        "class A:\n    pass\nA.me, A.t = A, big()",
        "t = big()\ndef inner(n):\n    return inner(n - 1) if n else t.shape\ninner(3)",
        "t = big()\nk = [lambda: k, t]",
        "def inner():\n    pass\ninner.t, inner.me = big(), inner",
        "holder = []\ndef steps():\n    t = big()\n    me = holder[0]\n    yield t\n    yield me\nholder.append(steps())\nnext(holder[0])",
        "class Runs:\n    def run(self):\n        t = big()\n        yield t\nr = Runs()\nr.it = r.run()\nnext(r.it)",
        "from collections import deque\nx = deque([big()])\nx.append(x)",
        "from functools import partial\nx = [big()]\nx.append(partial(print, x))",
        "x = [big()]\nx.append(iter(x))",
        "x = [big()]\nx.append(map(print, x))",
        "x = [big()]\nx.append(slice(x))",
        "x = {'t': big()}\nx['keys'] = x.keys()",
        "class P:\n    pass\np = P()\np.t, p.prop = big(), property(lambda self: p)",
        "try:\n    t = big()\n    raise ValueError([])\nexcept ValueError as error:\n    error.args[0].append((error, t))",
    ] {
        check_freed(code);
    }
    reachable_things_stay();
    collect_gives_the_count();
    many_cycles_in_one_cell();
}

fn reachable_things_stay() {
    let (mut session, record) = session();
    run(
        &mut session,
        "import gc
class Node:
    def __init__(self, value):
        self.value, self.links, self.me = value, [], self
nodes = [Node(n) for n in range(50)]
for n, node in enumerate(nodes):
    node.links = [nodes[(n * 7 + k) % 50] for k in range(3)]
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return step, n
    return step
step = counter()
def steps():
    me = holder
    for n in range(100):
        yield len(me), n
holder = {}
holder['it'] = steps()
next(holder['it'])
loop = []
loop.append((loop, {'loop': loop}))
bound = nodes[3].__init__
shared = [1, 2, [3]]
first, second = [shared], [shared]
first.append(first)
del first
keep = nodes[0]
del nodes",
    );
    for _ in 0..3 {
        run(&mut session, "gc.collect()");
        run(
            &mut session,
            "seen, todo = {}, [keep]
while todo:
    node = todo.pop()
    if node.value not in seen:
        seen[node.value] = node
        todo.extend(node.links)
assert len(seen) == 50 and all(node.me is node for node in seen.values())
assert step()[0] is step
assert next(holder['it'])[0] == 1
assert loop[0][1]['loop'] is loop
assert bound.__self__ is seen[3]
assert second == [[1, 2, [3]]]",
        );
    }
    run(&mut session, "print(step()[1], next(holder['it'])[1], repr(loop))");
    assert_eq!(*record.stdout.borrow(), "4 4 [([...], {'loop': [...]})]\n");
}

fn collect_gives_the_count() {
    let (mut session, record) = session();
    run(
        &mut session,
        "import gc
gc.collect()
x = []
x.append(x)
print(gc.collect())
del x
print(gc.collect(), gc.collect())
a, b = [], {}
a.append(b)
b['a'] = a
del a, b
print(gc.collect(), gc.isenabled())
gc.disable()
print(gc.isenabled())
gc.enable()",
    );
    assert_eq!(*record.stdout.borrow(), "0\n1 0\n2 True\nFalse\n");
}

fn many_cycles_in_one_cell() {
    let (mut session, _) = session();
    run(&mut session, "import torch");
    session.cx.memory_limit = 64 << 20;
    // 2,000 MB in all, and far more objects than fit in 64 MB.
    run(
        &mut session,
        "for n in range(500_000):
    x = [n]
    x.append(x)
    if n % 1000 == 0:
        x.append(torch.zeros(1_000_000))",
    );
}

#[test]
fn a_dict_of_an_object_writes_to_it_and_goes_without_it() {
    let (mut session, record) = session();
    run(
        &mut session,
        "class A:
    pass
a = A()
a.x = 1
a.__dict__['y'] = 2
a.__dict__.update(z=3)
del a.__dict__['x']
d = vars(a)
d['d'] = d
del a.d
d['d'] = d
del d, a.d",
    );
    run(&mut session, "print(sorted(vars(a).items()), a.y + a.z)");
    assert_eq!(*record.stdout.borrow(), "[('y', 2), ('z', 3)] 5\n");
}
