# stft and istft: all arguments, and gradients.
x, w = values(40), values(8, seed=3) + 2
z = torch.complex(values(2, 30, seed=4), values(2, 30, seed=5))
for a in ({}, {"hop_length": 3}, {"win_length": 6}, {"center": False}, {"normalized": True}, {"onesided": False}, {"pad_mode": "constant"}, {"pad_mode": "replicate"}, {"window": w}, {"window": w[:5], "win_length": 5, "hop_length": 2}):
    s = torch.stft(x, 8, return_complex=True, **a)
    show(f"stft {list(a)}", torch.view_as_real(s))
    show("parts", torch.stft(x.float(), 8, return_complex=False, **{k: v.float() if k == "window" else v for k, v in a.items()}))
    b = {k: v for k, v in a.items() if k != "pad_mode"}
    if "win_length" in a and "window" not in a:
        b["hop_length"] = 2
        s = torch.stft(x, 8, return_complex=True, **b)
    show("istft", torch.istft(s, 8, **b))
    show("istft 33", torch.istft(s, 8, length=33, **b))
    if "win_length" not in a:
        show("istft 60", torch.istft(s, 8, length=60, **b))
show("complex", torch.view_as_real(torch.stft(z, 8)))
show("odd", torch.view_as_real(torch.stft(x, 7, 2, return_complex=True)))
show("odd back", torch.istft(torch.stft(x, 7, 2, return_complex=True), 7, 2))
show("rows", torch.view_as_real(torch.stft(z.real, 6, return_complex=True)))
show("rows back", torch.istft(torch.stft(z.real, 6, return_complex=True), 6))
show("complex back", torch.view_as_real(torch.istft(torch.stft(z, 8), 8, return_complex=True)))
show("aligned", torch.view_as_real(torch.stft(x, 8, 2, 5, w[:5], center=False, return_complex=True, align_to_window=True)))
show("aligned not", torch.view_as_real(torch.stft(x, 8, 2, 5, w[:5], center=False, return_complex=True, align_to_window=False)))
graded("stft", lambda x, w: torch.stft(x, 8, window=w, return_complex=False), x, w)
graded("istft", lambda r, i: torch.istft(torch.complex(r, i), 8, window=w), values(5, 11), values(5, 11, seed=9))
back = x.stft(8, window=w, return_complex=True).istft(8, window=w)
print((back - x).abs().max() < 1e-12)
for bad in (lambda: torch.stft(x, 8), lambda: torch.stft(x, 8, center=True, align_to_window=True, return_complex=True), lambda: torch.stft(z, 8, onesided=True)):
    attempt("stft", bad)

# Windows.
for n in (0, 1, 2, 7, 8):
    for periodic in (True, False):
        for dtype in (torch.float64, torch.float32):
            for name in "bartlett blackman hamming hann kaiser".split():
                show(name, getattr(torch, f"{name}_window")(n, periodic, dtype=dtype))
            show("hamming", torch.hamming_window(n, periodic, 0.5, 0.3, dtype=dtype))
            show("kaiser", torch.kaiser_window(n, periodic, beta=3.0, dtype=dtype))
print(torch.hann_window(4), torch.hann_window(3, requires_grad=True))
