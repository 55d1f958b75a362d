"""Attention with further keys, as a layer and as a function of its weights: values, weights of keys, gradients, masks, and what is refused."""

F = torch.nn.functional
L, S, N, E, H = 3, 4, 2, 6, 2
query, key, value = values(L, N, E), values(S, N, E, seed=2), values(S, N, E, seed=3)
causal = torch.ones(L, S, dtype=torch.bool).triu(1)
padding = torch.tensor([[False, False, True, True], [False, True, False, False]])
for options in ({"add_bias_kv": True}, {"add_zero_attn": True}, {"add_bias_kv": True, "add_zero_attn": True}, {"add_bias_kv": True, "bias": False}):
    print("#", options)
    layer = filled(nn.MultiheadAttention(E, H, **options))
    print([(name, list(it.shape)) for name, it in layer.state_dict().items()])
    for masks in ({}, {"attn_mask": causal}, {"key_padding_mask": padding}, {"attn_mask": values(L, S), "key_padding_mask": values(N, S, seed=5)}):
        output, weights = layer(query, key, value, **masks)
        show("output", output)
        show("weights", weights)
    show("each head", layer(query, key, value, average_attn_weights=False)[1])
    print(layer(query, key, value, need_weights=False)[1])
    show("no weights", layer(query, key, value, need_weights=False, attn_mask=causal)[0])
    show("one sample", layer(query[:, 0], key[:, 0], value[:, 0], key_padding_mask=padding[0]))
    layer.zero_grad()
    weigh(layer(query, key, value, attn_mask=causal)).backward()
    for name, parameter in layer.named_parameters():
        show(f"grad {name}", parameter.grad)
    first = nn.MultiheadAttention(E, H, batch_first=True, **options).double()
    first.load_state_dict(layer.state_dict())
    show("batch first", first(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)))
torch.manual_seed(0)
made = nn.MultiheadAttention(E, H, add_bias_kv=True)
show("drawn", [made.in_proj_weight[:2], made.bias_k, made.bias_v, made.out_proj.weight[0]])

print("# the function")
w, b, ow, ob = values(3 * E, E, seed=7), values(3 * E, seed=8), values(E, E, seed=9), values(E, seed=10)


def attend(*args, **options):
    return F.multi_head_attention_forward(query, key, value, E, H, *args, **options)


plain = (w, b, None, None, False, 0.0, ow, ob)
show("plain", attend(*plain))
graded("plain", lambda q, w, b, ow: F.multi_head_attention_forward(q, key, value, E, H, w, b, None, None, False, 0.0, ow, ob), query, w, b, ow)
show("no biases", attend(w, None, None, None, False, 0.0, ow, None, need_weights=False))
show("masks", attend(*plain, attn_mask=causal, key_padding_mask=padding, average_attn_weights=False))
show("mask of heads", attend(*plain, attn_mask=values(N * H, L, S)))
show("more keys", attend(w, b, values(1, 1, E), values(1, 1, E, seed=2), True, 0.0, ow, ob, attn_mask=causal))
q, k, v = w.chunk(3)
show("apart", F.multi_head_attention_forward(query, values(S, N, 5), values(S, N, 4), E, H, None, b, None, None, False, 0.0, ow, ob, use_separate_proj_weight=True,
     q_proj_weight=q, k_proj_weight=values(E, 5), v_proj_weight=values(E, 4)))
show("given keys", attend(*plain, static_k=values(N * H, 5, E // H), static_v=values(N * H, 5, E // H, seed=2)))
show("evaluated", attend(w, b, None, None, False, 0.9, ow, ob, training=False))
torch.manual_seed(0)
print(bool((attend(w, b, None, None, False, 0.9, ow, ob)[1] == 0).any()))
show("one sample", F.multi_head_attention_forward(query[:, 0], key[:, 0], value[:, 0], E, H, *plain))
show("causal", attend(*plain, attn_mask=causal, is_causal=True))
attempt("width", lambda: F.multi_head_attention_forward(query, key, value, 8, H, *plain))
attempt("heads", lambda: F.multi_head_attention_forward(query, key, value, E, 4, *plain))
refused("mask", lambda: attend(*plain, attn_mask=causal.T))
refused("dimensions of the mask", lambda: attend(*plain, attn_mask=causal[0]))
refused("whole mask", lambda: attend(*plain, attn_mask=causal.long()))
refused("half of the keys", lambda: attend(w, b, values(1, 1, E), None, False, 0.0, ow, ob))
refused("hint", lambda: attend(*plain, is_causal=True))
refused("no weights", lambda: attend(None, b, None, None, False, 0.0, ow, ob))
refused("dimensions", lambda: F.multi_head_attention_forward(query, key[:, 0], value, E, H, *plain))

print("# linear_cross_entropy")
x, weight, bias, target = values(5, 4), values(3, 4, seed=2), values(3, seed=3), torch.tensor([0, 2, 1, -100, 2])
for options in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.2}, {"weight": values(3, seed=4).abs()}, {"ignore_index": 2}, {"linear_bias": bias}):
    known = torch.tensor([0, 2, 1, 0, 2]) if "ignore_index" in options else target
    graded(f"{sorted(options)}", lambda x, weight: F.linear_cross_entropy(x, weight, known, **options), x, weight)
show("one sample", F.linear_cross_entropy(x[0], weight, torch.tensor(1)))
show("shares", F.linear_cross_entropy(x, weight, values(5, 3).abs()))
show("places", F.linear_cross_entropy(x, values(3, 2, 4), torch.tensor([[0, 1], [2, 2], [1, 0], [0, 0], [1, 1]]), linear_bias=values(3, 2)))
layer = nn.LinearCrossEntropyLoss(4, 3, bias=True, label_smoothing=0.1).double()
with torch.no_grad():
    layer.linear.weight.copy_(weight)
    layer.linear.bias.copy_(bias)
show("layer", layer(x, target))
print(list(layer.state_dict()), list(nn.LinearCrossEntropyLoss(4, 3, out_features=(2,)).state_dict()))
refused("weights", lambda: nn.LinearCrossEntropyLoss(4, 3, weight=torch.ones(2)))
refused("smoothing", lambda: nn.LinearCrossEntropyLoss(4, 3, label_smoothing=2.0))

print("# older names")
import warnings

for name in ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.manual_seed(0)
        args = (2.0,) if name == "constant" else ()
        filled_one = getattr(nn.init, name)(torch.empty(2, 2, 3) if name == "dirac" else torch.empty(3, 3), *args)
        print(name, [(it.category.__name__, str(it.message)) for it in caught])
    torch.manual_seed(0)
    print(torch.equal(filled_one, getattr(nn.init, name + "_")(torch.empty_like(filled_one), *args)))
print(issubclass(nn.LSTMCell, nn.RNNCellBase), issubclass(nn.GRU, nn.RNNBase), issubclass(nn.GRU, nn.RNNCellBase))
held = nn.ParameterDict({"a": torch.ones(2)})
print(type(held.setdefault("b", torch.zeros(1))).__name__, held.setdefault("a", 3).tolist(), list(held))
print(held.popitem()[0], list(held), list(held.copy()), type(held.copy()).__name__, list(held.fromkeys(["x", "y"], torch.ones(1))))
packed = nn.utils.rnn.pack_sequence([torch.tensor([1.0, 2.0]), torch.tensor([3.0])])
print([getattr(packed, name)().data.dtype for name in ("half", "long", "int", "short", "char", "byte", "float", "double")], packed.cpu().data.device, packed.is_pinned(), packed.is_cuda)
