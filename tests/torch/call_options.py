# Calls in all the ways that PyTorch's signatures allow.
import copy

from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

x = torch.tensor([0.5, float("nan"), 2.0])
y = torch.arange(6.0)

print("# bernoulli")
torch.manual_seed(0)
print(torch.bernoulli(y, 0.5), torch.bernoulli(y, p=0.5), y.bernoulli(0.5), y.bernoulli(p=0.25))
print(torch.bernoulli(torch.ones(3, dtype=torch.int64), 0.5), torch.bernoulli(torch.full((2, 3), 0.5)))
refused("p", lambda: torch.bernoulli(y, 1.5))
generator = torch.Generator().manual_seed(3)
print(torch.bernoulli(y, 0.5, generator=generator))

print("# generators")
print(torch.rand_like(y, generator=generator), torch.randn_like(y, generator=generator))
print(torch.randint_like(y, 10, generator=generator), torch.randint_like(y, 2, 10, generator=generator))
print(torch.randint_like(y, high=10, generator=generator), torch.randint_like(y, low=5, high=10, generator=generator))
torch.manual_seed(0)
print(torch.randint(high=5, size=(4,)), torch.randint(low=2, high=5, size=(4,)), torch.randint(5, size=(4,)))
print(torch.randint(0, high=5, size=(4,)), torch.randint(5, (4,)), torch.randint(2, 5, (4,)), torch.randint_like(y, 3))
refused("no bound", lambda: torch.randint(size=(4,)))

print("# sums without nan")
print(torch.nansum(x, dtype=torch.float64), x.nansum(dtype=torch.float64), torch.nansum(x, 0, True, dtype=torch.float64))
print(torch.nanmean(x, dtype=torch.float64), x.nanmean(0, dtype=torch.float64), torch.nanmean(x[None], 1, True, dtype=torch.float64))
print(torch.nansum(torch.tensor([3, 4]), dtype=torch.float32))

print("# names of arguments")
print(torch.split(y, split_size_or_sections=4), torch.split(tensor=y, split_size_or_sections=[1, 5], dim=0), y.split(split_size=4))
print(torch.gather(y, 0, torch.tensor([2, 0]), sparse_grad=False), y.gather(dim=0, index=torch.tensor([1]), sparse_grad=True))
print(y.view(size=(2, 3)), y[:1].expand(size=(2, 3)), y.reshape(shape=(3, 2)), torch.reshape(y, shape=(1, 6)))

print("# modules")
linear = filled(nn.Linear(2, 2))
print(nn.ModuleDict(modules={"a": linear}), nn.ModuleDict({"a": linear}), nn.ModuleDict())
for made in [
    nn.BatchNorm1d(3, bias=False),
    nn.BatchNorm2d(3),
    nn.BatchNorm3d(3, affine=False, bias=False),
    nn.GroupNorm(1, 3, bias=False),
    nn.InstanceNorm1d(3, bias=False),
    nn.InstanceNorm2d(3, affine=True, bias=False),
    nn.SyncBatchNorm(3, bias=False),
]:
    print(made, made.weight is None, made.bias is None, list(made.state_dict()))
    made.reset_parameters()
show("batch norm", nn.BatchNorm1d(3, bias=False).double()(values(4, 3)))
show("group norm", nn.GroupNorm(3, 3, bias=False).double()(values(4, 3, 2)))
lazy = nn.LazyBatchNorm1d(bias=False)
lazy(torch.ones(2, 3))
print(lazy, lazy.bias)

print("# recurrent")
lstm = nn.LSTM(2, 3, 2, bidirectional=True)
print([[tuple(w.shape) for w in row] for row in lstm.all_weights])
print(lstm.all_weights[1][0] is lstm.weight_ih_l0_reverse)
print([[tuple(w.shape) for w in row] for row in nn.LSTM(2, 3, proj_size=2).all_weights])
print([[tuple(w.shape) for w in row] for row in nn.GRU(2, 3, 2, bias=False).all_weights])
packed = PackedSequence(torch.arange(3.0), torch.tensor([2, 1]))
print(packed, pad_packed_sequence(packed))
packed = PackedSequence(torch.arange(3.0), torch.tensor([2, 1]), torch.tensor([1, 0]))
print(packed.unsorted_indices, pad_packed_sequence(packed))
refused("no sizes", lambda: PackedSequence(torch.ones(3, 2)))
gru = filled(nn.GRU(2, 3))
show("gru", gru(PackedSequence(values(3, 2), torch.tensor([2, 1])))[0].data)

print("# state dicts")
print(linear.state_dict())
print(type(linear.state_dict()).__name__, str(nn.ReLU().state_dict()), isinstance(linear.state_dict(), dict))
state = linear.state_dict()
print({**state}.keys() == state.keys(), list(state), copy.deepcopy(state).keys() == state.keys(), type(state.copy()).__name__)
other = nn.Linear(2, 2).double()
print(other.load_state_dict(state), torch.equal(other.weight, linear.weight))
for key in state:
    state[key] = state[key] * 2
other.load_state_dict(state)
print(torch.equal(other.weight, linear.weight * 2))

print("# layers of nothing")
print(nn.Conv1d(1, 2, 0), nn.Conv2d(1, 2, 0), nn.ConvTranspose2d(1, 2, 0), nn.Conv2d(0, 1, 3), nn.Conv2d(1, 0, 3))
print(nn.init.kaiming_uniform_(torch.ones(2, 0)), nn.init.kaiming_normal_(torch.ones(0, 2)))
attempt("bilinear", lambda: nn.Bilinear(0, 2, 3))
refused("conv", lambda: nn.Conv2d(1, 2, 0)(torch.ones(1, 1, 3, 3)))
refused("conv", lambda: nn.Conv1d(1, 2, 0)(torch.ones(1, 1, 3)))
up = nn.Upsample(scale_factor=0)
print(up.scale_factor, nn.Upsample(scale_factor=2).scale_factor, nn.Upsample(scale_factor=(2, 3)).scale_factor)
refused("upsample", lambda: up(torch.ones(1, 1, 2, 2)))
try:
    F.interpolate(torch.ones(1, 1, 2, 2), scale_factor=0)
except Exception as error:
    print("interpolate", isinstance(error, ZeroDivisionError))
try:
    nn.Upsample(scale_factor=0)(torch.ones(1, 1, 2, 2))
except Exception as error:
    print("upsample", isinstance(error, ZeroDivisionError))
