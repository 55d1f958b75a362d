# Sequences as data, sizes by name, and states of older versions.

from collections import deque

returns = deque()
for reward in (1.0, 2.0, 3.0):
    returns.appendleft(reward)
show("deque", torch.tensor(returns))
show("nested", torch.tensor(deque([deque([1, 2]), [3, 4]])))
refused("dict", lambda: torch.tensor({"a": 1}))
print(torch.empty(size=(2, 3)).shape, torch.zeros(2).new_zeros(size=(3,)).shape, torch.zeros(2).new_empty(size=(1, 2)).shape)
print(torch.ones(2).new_ones(size=[2]).tolist(), torch.empty(2, 3).shape, torch.empty((4,)).shape)
refused("both", lambda: torch.empty(2, size=(2, 3)))

for name, make in {"Tensor": lambda: torch.Tensor(6, 8), "row": lambda: torch.Tensor(48), "three": lambda: torch.Tensor(2, 3, 4)}.items():
    torch.manual_seed(13)
    x = make()
    print(name, x.is_contiguous(), x.stride())
    show(name, x.normal_())
    show(name + " next", torch.rand(2))
torch.manual_seed(2)
w = nn.Parameter(torch.Tensor(5, 7))
nn.init.xavier_normal_(w)
show("xavier", w)

net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
old = {name: value.clone() for name, value in net.state_dict().items() if "num_batches" not in name}
print(net.load_state_dict(old))
print(nn.BatchNorm2d(2).load_state_dict({"weight": torch.ones(2), "bias": torch.zeros(2), "running_mean": torch.ones(2), "running_var": torch.ones(2)}))
refused("mean", lambda: nn.BatchNorm2d(2).load_state_dict({"weight": torch.ones(2), "bias": torch.zeros(2), "running_var": torch.ones(2)}))
print(net.load_state_dict({"0.weight": torch.ones(4, 3)}, strict=False).missing_keys)

import torch.backends.cudnn as cudnn
import torch.backends.cudnn

cudnn.benchmark = True
print(torch.backends.cudnn.benchmark, cudnn is torch.backends.cudnn)
cudnn.benchmark = False
