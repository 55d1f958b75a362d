with torch.no_grad():
    out = model(x)
torch.set_printoptions(precision=6)
for one in out if isinstance(out, tuple) else (out,):
    print(one)
