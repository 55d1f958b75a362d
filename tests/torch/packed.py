"""Sequences of different lengths: padded, packed, and through recurrent layers."""

from torch.nn.utils.rnn import (
    pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpack_sequence,
)

s = [values(3, 2), values(1, 2, seed=3), values(2, 2, seed=4)]
graded("pad", lambda x, y, z: pad_sequence([x, y, z]), *s)
graded("pad batch first", lambda x, y, z: pad_sequence([x, y, z], batch_first=True, padding_value=-1.5), *s)
graded("pad left", lambda x, y, z: pad_sequence([x, y, z], batch_first=True, padding_side="left"), *s)
print(pad_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True, padding_value=9))
packed = pack_padded_sequence(values(3, 3, 2), [3, 2, 1])
print(packed.data.shape, packed.batch_sizes, packed.sorted_indices, type(packed).__name__)
packed = pack_padded_sequence(values(3, 3, 2), torch.tensor([1, 3, 2]), batch_first=True, enforce_sorted=False)
show("packed", [packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices])
show("back", pad_packed_sequence(packed, batch_first=True))
show("longer", pad_packed_sequence(packed, batch_first=True, padding_value=-2.0, total_length=4))
show("sequences", unpack_sequence(pack_sequence(s, enforce_sorted=False)))
graded("through", lambda x: pad_packed_sequence(pack_padded_sequence(x, [3, 1], batch_first=True))[0], values(2, 3, 2))
attempt("not sorted", lambda: pack_padded_sequence(values(3, 2, 1), [1, 2]))
attempt("empty", lambda: pack_padded_sequence(values(3, 2, 1), [1, 0]))
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    for both in (False, True):
        module = kind(2, 3, num_layers=2, bidirectional=both, batch_first=both).double()
        with torch.no_grad():
            for at, parameter in enumerate(module.parameters()):
                parameter.copy_(values(*parameter.shape, seed=at))
        x = values(3, 3, 2).requires_grad_()
        state = values(4 if both else 2, 3, 3)
        for start in (None, (state, state * 0.5) if kind is nn.LSTM else state):
            output, ends = module(pack_padded_sequence(x, torch.tensor([1, 3, 2]), batch_first=both, enforce_sorted=False), start)
            show(f"{kind.__name__} {both}", [output.data, pad_packed_sequence(output), ends])
            weigh([output.data, ends]).backward()
            show("gradient", x.grad)
