"""torch.signal.windows: every window, symmetric and periodic, short and long; and what is refused."""

from torch.signal.windows import bartlett, blackman, cosine, exponential, gaussian, general_cosine, general_hamming
from torch.signal.windows import hamming, hann, kaiser, nuttall

plain = {"bartlett": bartlett, "blackman": blackman, "cosine": cosine, "exponential": exponential, "gaussian": gaussian, "general_hamming": general_hamming,
         "hamming": hamming, "hann": hann, "kaiser": kaiser, "nuttall": nuttall}
for name, window in plain.items():
    for count in (0, 1, 2, 3, 8, 11):
        for sym in (True, False):
            show(f"{name} {count} {sym}", window(count, sym=sym))
    show(name, window(7, dtype=torch.float64))
    made = window(5, requires_grad=True, device="cpu")
    print(made.requires_grad, made.dtype, window(5).requires_grad, window(300).shape)
    attempt("negative", lambda: window(-1))
    attempt("half", lambda: window(5, dtype=torch.float16))
    attempt("whole", lambda: window(5, dtype=torch.int64))
    refused("by position", lambda: window(5, True))

show("exponential", [exponential(6, tau=0.5), exponential(6, center=1.5, tau=3.0, sym=False), exponential(1, sym=False, tau=2.0)])
show("gaussian", [gaussian(6, std=0.5), gaussian(6, std=3.0, sym=False)])
show("kaiser", [kaiser(6, beta=0.0), kaiser(6, beta=3.5), kaiser(6, beta=3.5, sym=False), kaiser(40, beta=14.0, dtype=torch.float64)])
show("general_cosine", [general_cosine(6, a=[0.46, 0.23, 0.31]), general_cosine(6, a=(0.5,), sym=False), general_cosine(1, a=[0.2]), general_cosine(0, a=[0.2])])
show("general_hamming", general_hamming(6, alpha=0.3))
attempt("tau", lambda: exponential(5, tau=0.0))
attempt("center", lambda: exponential(5, center=2.0))
attempt("std", lambda: gaussian(5, std=-1.0))
attempt("beta", lambda: kaiser(5, beta=-1.0))
attempt("no weights", lambda: general_cosine(5, a=[]))
attempt("one weight", lambda: general_cosine(5, a=0.5))
torch.set_default_dtype(torch.float64)
print(hann(4).dtype)
