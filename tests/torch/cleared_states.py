# State that a program clears, or puts another dict in place of, begins anew.
from collections import defaultdict

for make in (
    lambda p: torch.optim.SGD([p], lr=0.1, momentum=0.9),
    lambda p: torch.optim.SGD([p], lr=0.1, momentum=0.9, dampening=0.5),
    lambda p: torch.optim.Adam([p], lr=0.1),
    lambda p: torch.optim.Adagrad([p], lr=0.1),
    lambda p: torch.optim.RMSprop([p], lr=0.1),
):
    param = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    optimizer = make(param)

    def step():
        param.grad = torch.tensor([0.1, -0.2, 0.3])
        optimizer.step()
        print([round(it, 4) for it in param.tolist()], len(optimizer.state), len(optimizer.state_dict()["state"]))

    step()
    step()
    optimizer.state.clear()
    print(len(optimizer.state_dict()["state"]))
    step()
    optimizer.state = defaultdict(dict)
    step()
    step()
