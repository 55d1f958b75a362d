"""torch.nn.attention.flex_attention and the masks of torch.nn.attention.bias."""

import warnings

from torch.nn.attention.bias import CausalVariant, causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import and_masks, create_block_mask, create_mask, flex_attention, noop_mask, or_masks

warnings.simplefilter("ignore")
B, H, L, S, E = 2, 2, 5, 7, 4
query, key, value = values(B, H, L, E), values(B, H, S, E, seed=2), values(B, H, S, 3, seed=3)
slopes, table = torch.tensor([0.5, 0.25], dtype=torch.float64), values(H, L, S, seed=4)
document = torch.tensor([0, 0, 1, 1, 2, 2, 2])


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    return q_idx - kv_idx <= 2


def same(b, h, q_idx, kv_idx):
    return document[q_idx] == document[kv_idx]


def of_head(b, h, q_idx, kv_idx):
    return (h == 0) | (kv_idx > b + 1)


scores = {
    "none": None, "the same": lambda score, b, h, q, k: score, "alibi": lambda score, b, h, q, k: score + slopes[h] * (q - k), "table": lambda score, b, h, q, k: score + table[h, q, k],
    "soft cap": lambda score, b, h, q, k: 2.0 * torch.tanh(score / 2.0), "of batch": lambda score, b, h, q, k: torch.where(b == 1, score * 2, score),
    "causal": lambda score, b, h, q, k: torch.where(q >= k, score, -float("inf")),
}
for name, score_mod in scores.items():
    show(name, flex_attention(query, key, value, score_mod=score_mod))
masks = {"causal": causal, "near": near, "document": same, "of head": of_head, "both": and_masks(causal, near), "either": or_masks(same, of_head), "all": noop_mask, "three": and_masks(causal, near, same)}
for name, mask_mod in masks.items():
    mask = create_block_mask(mask_mod, B, H, L, S, device="cpu")
    show(name, flex_attention(query, key, value, block_mask=mask))
    show("mask", create_mask(mask_mod, B, H, L, S, device="cpu"))
    print(mask.shape, mask.to_dense().shape)
mask = create_block_mask(causal, None, None, 300, 500, device="cpu")
show("blocks", mask.to_dense())
print(mask.shape, mask.numel(), f"{mask.sparsity():.4f}")
show("small blocks", create_block_mask(causal, None, None, 8, 8, device="cpu", BLOCK_SIZE=4).to_dense())
show("mask of scores", create_mask(scores["causal"], 1, 1, 3, 3, device="cpu"))
mask = create_block_mask(causal, None, None, L, S, device="cpu")
show("both", flex_attention(query, key, value, score_mod=scores["alibi"], block_mask=mask, scale=0.3))
show("with lse", flex_attention(query, key, value, score_mod=scores["alibi"], block_mask=mask, return_lse=True))
more = torch.cat([query, query + 1], 1)
show("groups", flex_attention(more, key, value, enable_gqa=True))
show("float32", flex_attention(query.float(), key.float(), value.float(), block_mask=mask))
nothing = create_block_mask(lambda b, h, q, k: (q != 1) & (k >= 0), None, None, L, S, device="cpu")
show("a row without keys", flex_attention(query, key, value, block_mask=nothing))
refused("dimensions", lambda: flex_attention(query[0], key[0], value[0]))
refused("heads", lambda: flex_attention(more, key, value))
refused("other lengths", lambda: flex_attention(query[:, :, :3], key, value, block_mask=mask))
refused("a mask of bools", lambda: flex_attention(query, key, value, block_mask=torch.ones(L, S)))
refused("a mask that is none", lambda: and_masks(causal, 3)(torch.tensor(0), torch.tensor(0), torch.tensor(0), torch.tensor(0)))
refused("a mask of scores", lambda: create_block_mask(scores["causal"], None, None, 3, 3, device="cpu"))

print("# masks of sizes")
for make in (causal_upper_left, causal_lower_right):
    show(make.__name__, torch.nn.functional.scaled_dot_product_attention(query, key, value, make(L, S)))
print(CausalVariant.UPPER_LEFT == 1, CausalVariant.LOWER_RIGHT.name)
refused("three sizes", lambda: causal_lower_right(2, 3, 4))
