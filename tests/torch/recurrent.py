"""Recurrent layers and attention."""

x = values(4, 2, 3)
for layer in [nn.RNN, nn.LSTM, nn.GRU]:
    check("plain", layer(3, 5), x.clone())
    check("deep, both ways", layer(3, 2, num_layers=2, bidirectional=True), x.clone())
    check("batch first, no bias", layer(3, 2, bias=False, batch_first=True), x.clone())
    check("without batch", layer(3, 2), values(4, 3))
check("relu", nn.RNN(3, 5, nonlinearity="relu"), x.clone())
check("with a start", nn.GRU(3, 2, 2), x.clone(), values(2, 2, 2, seed=4))
check("with a start", nn.LSTM(3, 2, 2), x.clone(), (values(2, 2, 2, seed=4), values(2, 2, 2, seed=5)))
check("RNNCell", nn.RNNCell(3, 4), values(2, 3), values(2, 4, seed=2))
check("GRUCell", nn.GRUCell(3, 4), values(2, 3), values(2, 4, seed=2))
check("LSTMCell", nn.LSTMCell(3, 4, bias=False), values(2, 3), (values(2, 4, seed=2), values(2, 4, seed=3)))
check("LSTMCell from nothing", nn.LSTMCell(3, 4), values(2, 3))

q, k, v = values(3, 2, 4), values(5, 2, 4, seed=2), values(5, 2, 4, seed=3)
check("MultiheadAttention", nn.MultiheadAttention(4, 2), q.clone(), k.clone(), v.clone())
check("MultiheadAttention batch first", nn.MultiheadAttention(4, 2, bias=False, batch_first=True), values(2, 3, 4), values(2, 5, 4, seed=2), values(2, 5, 4, seed=3))
check("MultiheadAttention of other widths", nn.MultiheadAttention(4, 2, kdim=3, vdim=6), q.clone(), values(5, 2, 3), values(5, 2, 6))
check("MultiheadAttention without batch", nn.MultiheadAttention(4, 4), values(3, 4), values(3, 4, seed=2), values(3, 4, seed=3))
attention = nn.MultiheadAttention(4, 2).double()
for at, parameter in enumerate(attention.parameters()):
    parameter.data.copy_(values(*parameter.shape, seed=at + 2))
causal = torch.ones(3, 3).triu(1) > 0
padding = torch.tensor([[False, False, True], [False, False, False]])
show("causal", attention(q, q, q, attn_mask=causal))
show("padding", attention(q, q, q, key_padding_mask=padding))
show("float mask", attention(q, q, q, attn_mask=values(3, 3), average_attn_weights=False))
show("no weights", attention(q, q, q, need_weights=False)[0])

layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)
check("TransformerEncoderLayer", layer, values(3, 2, 4))
check("TransformerEncoderLayer norm first", nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", batch_first=True, norm_first=True), values(2, 3, 4))
check("TransformerEncoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0), 2), values(3, 2, 4))
check("TransformerDecoderLayer", nn.TransformerDecoderLayer(4, 2, 6, 0.0), values(3, 2, 4), values(5, 2, 4, seed=2))
check("TransformerDecoder", nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2, nn.LayerNorm(4)), values(3, 2, 4), values(5, 2, 4, seed=2))
check("Transformer", nn.Transformer(4, 2, 1, 1, 6, 0.0), values(3, 2, 4), values(5, 2, 4, seed=2))
show("mask", nn.Transformer.generate_square_subsequent_mask(3))

show("attention", F.scaled_dot_product_attention(values(2, 3, 4), values(2, 5, 4, seed=2), values(2, 5, 4, seed=3)))
show("causal attention", F.scaled_dot_product_attention(values(2, 3, 4), values(2, 3, 4, seed=2), values(2, 3, 4, seed=3), is_causal=True))
allowed = torch.ones(3, 5).tril() > 0
show("masked attention", F.scaled_dot_product_attention(values(2, 3, 4), values(2, 5, 4, seed=2), values(2, 5, 4, seed=3), allowed, scale=0.3))
for name, options in [("grouped", {"enable_gqa": True}), ("grouped causal", {"enable_gqa": True, "is_causal": True})]:
    q, k, v = [values(*shape, seed=seed).requires_grad_() for shape, seed in [((2, 4, 3, 2), 1), ((2, 2, 5, 2), 2), ((2, 2, 5, 3), 3)]]
    y = F.scaled_dot_product_attention(q, k, v, **options)
    show(name, [y, *torch.autograd.grad(y.sin().sum(), [q, k, v])])
seen = torch.tensor([[True, False, True], [False, False, False]])
for name, mask in [("bool mask", seen), ("float mask", torch.zeros(2, 3).double().masked_fill(~seen, -math.inf)), ("mask per head", values(2, 2, 3))]:
    q, k, v = [values(2, *shape, seed=seed).requires_grad_() for shape, seed in [((2, 4), 1), ((3, 4), 2), ((3, 4), 3)]]
    y = F.scaled_dot_product_attention(q, k, v, mask)
    show(name, [y, *torch.autograd.grad(y.sin().sum(), [q, k, v])])
mask = values(2, 3).requires_grad_()
y = F.scaled_dot_product_attention(q, k, v, mask)
show("gradient of a mask", torch.autograd.grad(y.sin().sum(), [mask, k]))
show("no keys", F.scaled_dot_product_attention(q, k[:, :0], v[:, :0]))
for dtype in [torch.float16, torch.bfloat16, torch.float32]:
    y = F.scaled_dot_product_attention(q.to(dtype), k.to(dtype), v.to(dtype))
    print(dtype, y.dtype, y.shape, (y.double() - F.scaled_dot_product_attention(q, k, v)).abs().max().item() < 0.02)
for given in [(q, k.float(), v), (q, k[..., :3], v), (q[0, 0], k, v)]:
    try:
        F.scaled_dot_product_attention(*given)
    except RuntimeError:
        print("refused")
try:
    F.scaled_dot_product_attention(q, k, v, mask, is_causal=True)
except RuntimeError as error:
    print(error)
