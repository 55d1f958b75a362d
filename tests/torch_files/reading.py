# What PyTorch wrote, read: the same here and there. `generate_torch_files.py` writes the files, and what PyTorch prints.
def show(value):
    if isinstance(value, torch.Tensor):
        print(value.tolist(), value.dtype, tuple(value.shape), value.stride(), value.requires_grad, isinstance(value, nn.Parameter))
    elif isinstance(value, dict):
        for key, item in value.items():
            print(repr(key), end=": ")
            show(item)
    else:
        print(value)


for name in ["state.pt", "legacy.pt"]:
    state = torch.load(name)
    show(state)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    print(model.load_state_dict(state))
    print([round(x, 5) for x in model(torch.ones(2, 2)).flatten().tolist()])

checkpoint = torch.load("checkpoint.pt", weights_only=False)
for key, item in checkpoint.items():
    if key not in ("model", "optimizer"):
        print(key, end=" ")
        show(item)
print(sorted(checkpoint["nested"][1]), checkpoint["size"] == (2, 3), checkpoint["factory"]["missing"])

# What shares memory there shares it here.
checkpoint["whole"][4] = 100.0
show(checkpoint["part"])
show(checkpoint["turned"])

# An optimizer goes on where it was.
model.load_state_dict(checkpoint["model"])
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
optimizer.load_state_dict(checkpoint["optimizer"])
print(optimizer.param_groups[0]["lr"], len(optimizer.state))
model(torch.ones(4, 2)).sum().backward()
optimizer.step()
print([round(x, 5) for x in model[0].weight.flatten().tolist()])

# Lists that hold themselves, in protocol 4.
itself = torch.load("itself.pt", weights_only=False)
print(itself[0] is itself[1], itself[2] is itself, itself[0])

show(torch.load("state.pt", map_location="cpu")["0.bias"])
show(torch.load("state.pt", map_location=lambda storage, location: storage)["0.bias"])
show(torch.load("state.pt", map_location={"cuda:0": "cpu"})["0.bias"])

arrays = torch.load("arrays.pt", weights_only=False)
for name in ["a", "columns", "number", "truth"]:
    print(name, arrays[name], arrays[name].dtype)

settings = torch.load("namespace.pt", weights_only=False)["args"]
print(settings.lr, settings.layers)
whole = torch.load("whole.pt", weights_only=False)
show(whole.state_dict()["0.weight"])
print(list(whole.state_dict()))
