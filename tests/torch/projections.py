"""LSTM whose hidden state is projected to fewer features."""

from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

for options in [
    {},
    {"num_layers": 2},
    {"bidirectional": True},
    {"num_layers": 2, "bidirectional": True, "batch_first": True},
    {"bias": False},
]:
    print("#", options)
    torch.manual_seed(3)
    layer = nn.LSTM(3, 4, proj_size=2, **options)
    print(layer)
    for key, value in layer.state_dict().items():
        show(key, value.double())
    check(str(options), layer, values(5, 2, 3, seed=4))
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    batch = 5 if options.get("batch_first") else 2
    start = (values(count, batch, 2, seed=7), values(count, batch, 4, seed=8))
    show("from a state", layer(values(5, 2, 3, seed=4), start))
    show("one sequence", layer(values(5, 3, seed=5)))
layer = nn.LSTM(3, 4, proj_size=2).double()
with torch.no_grad():
    for at, parameter in enumerate(layer.parameters()):
        parameter.copy_(values(*parameter.shape, seed=at))
packed = pack_sequence([values(2, 3, seed=1), values(4, 3, seed=2)], enforce_sorted=False)
output, state = layer(packed)
show("packed", pad_packed_sequence(output))
show("state", state)
attempt("too large", lambda: nn.LSTM(3, 4, proj_size=4))
attempt("negative", lambda: nn.LSTM(3, 4, proj_size=-1))
attempt("gru", lambda: nn.GRU(3, 4, proj_size=2))
attempt("rnn", lambda: nn.RNN(3, 4, proj_size=2))
refused("state", lambda: layer(values(5, 2, 3), (values(1, 2, 4), values(1, 2, 4))))
