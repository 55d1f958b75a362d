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
