//! `torch.Size` and the results of `max(dim)` and its kin, as PyTorch 2 prints and treats them.

use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

/// What a cell prints; the expected text is PyTorch's.
fn check(code: &str, expected: &str) {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let code = format!("import torch\nimport torch.nn.functional as F\n{code}");
    if let Some(error) = session.run_cell(&code, &Options::default()).error {
        panic!("{code}\n{}", error.plain);
    }
    assert_eq!(*record.stdout.borrow(), expected, "{code}");
}

#[test]
fn shapes_are_sizes() {
    check(
        "s = torch.zeros(2, 3).shape
print(s, [s], f'{s}', type(s))
print(s[:1], s[0], s[-1], s + (1,), (1,) + s, s * 2, s.numel())
print(s == (2, 3), (2, 3) == s, hash(s) == hash((2, 3)), isinstance(s, tuple), {(2, 3): 1}[s])
a, b = s
print(a, b, list(s), len(s), 3 in s, s.index(3), sum(s), max(s), *s)
print(torch.Size([1]), torch.Size(), torch.Size((1, 2)).numel(), torch.zeros(3).size(), torch.tensor(1).shape)
print(torch.ones(s).shape, torch.ones(*s).shape, torch.zeros(6).reshape(s).shape, torch.zeros(6).view(*s).size(0))
print('%d x %d' % s, s > (1, 2), s != (2, 3), tuple(s), s[::-1])",
        "torch.Size([2, 3]) [torch.Size([2, 3])] torch.Size([2, 3]) <class 'torch.Size'>
torch.Size([2]) 2 3 torch.Size([2, 3, 1]) torch.Size([1, 2, 3]) torch.Size([2, 3, 2, 3]) 6
True True True True 1
2 3 [2, 3] 2 True 1 5 3 2 3
torch.Size([1]) torch.Size([]) 2 torch.Size([3]) torch.Size([])
torch.Size([2, 3]) torch.Size([2, 3]) torch.Size([2, 3]) 2
2 x 3 True False (2, 3) torch.Size([3, 2])
",
    );
}

#[test]
fn results_have_values_and_indices() {
    check(
        "x = torch.tensor([[1., 5.], [7., 2.]])
print(x.max(dim=1))
print(x.min(dim=0, keepdim=True))
print(x.sort())
print(x.topk(1))
print(torch.median(x, dim=0))
values, indices = x.max(1)
print(values, indices, x.max(1).values, x.max(1).indices, x.max(1)[0])
print(isinstance(x.sort(), tuple), x.max())",
        "torch.return_types.max(
values=tensor([5., 7.]),
indices=tensor([1, 0]))
torch.return_types.min(
values=tensor([[1., 2.]]),
indices=tensor([[0, 1]]))
torch.return_types.sort(
values=tensor([[1., 5.],
        [2., 7.]]),
indices=tensor([[0, 1],
        [1, 0]]))
torch.return_types.topk(
values=tensor([[5.],
        [7.]]),
indices=tensor([[1],
        [0]]))
torch.return_types.median(
values=tensor([1., 2.]),
indices=tensor([0, 1]))
tensor([5., 7.]) tensor([1, 0]) tensor([5., 7.]) tensor([1, 0]) tensor([5., 7.])
True tensor(7.)
",
    );
}

#[test]
fn batch_norm_gives_one_tensor_and_moves_the_running_statistics() {
    check(
        "x = torch.tensor([[1., 2.], [3., 6.]])
mean, var = torch.zeros(2), torch.ones(2)
print(F.batch_norm(x, mean, var, training=True))
print(mean, var)
print(F.batch_norm(x, mean, running_var=var, training=True, momentum=0.5).shape, mean, var)
print(F.batch_norm(x, mean, var).shape, mean, var)
print(F.batch_norm(x, None, None, training=True))",
        "tensor([[-1.0000, -1.0000],
        [ 1.0000,  1.0000]])
tensor([0.2000, 0.4000]) tensor([1.1000, 1.7000])
torch.Size([2, 2]) tensor([1.1000, 2.2000]) tensor([1.5500, 4.8500])
torch.Size([2, 2]) tensor([1.1000, 2.2000]) tensor([1.5500, 4.8500])
tensor([[-1.0000, -1.0000],
        [ 1.0000,  1.0000]])
",
    );
}
