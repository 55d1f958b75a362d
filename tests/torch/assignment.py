"""What may be assigned to attributes of modules. Beside PyTorch's words ours stand behind a semicolon."""

def mk():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2,2)
            self.weight = nn.Parameter(torch.ones(2,2))
            self.register_buffer("buf", torch.zeros(2))
            self.register_buffer("nb", None)
            self.plain = 3
    return M()
def keys(m): return [k for k,_ in m.named_parameters()], [k for k,_ in m.named_buffers()], [k for k,_ in m.named_children()], list(m.state_dict())
def do(name, f):
    m = mk()
    attempt(name, lambda: f(m))
    print(keys(m))
def setw(m, n, v): setattr(m, n, v)
def case(m, s):
    if s == 0: m.weight = torch.zeros(2,2)
    if s == 1: m.weight = None
    if s == 2: del m.weight
    if s == 3: m.weight = nn.Parameter(torch.zeros(3))
    if s == 4: m.buf = torch.ones(3)
    if s == 5: m.buf = 3
    if s == 6: m.buf = None
    if s == 7: m.buf = nn.Parameter(torch.zeros(2))
    if s == 8: m.fc = nn.Linear(3,4)
    if s == 9: m.fc = 3
    if s == 10: m.fc = None
    if s == 11: m.fc = torch.zeros(2)
    if s == 12: m.fc = nn.Parameter(torch.zeros(2))
    if s == 13: m.weight = nn.Linear(2,2)
    if s == 14: m.weight = 3.5
    if s == 15: m.weight = "a"
    if s == 16: del m.buf
    if s == 17: del m.fc
    if s == 18: del m.nothing
    if s == 19: m.plain = nn.Parameter(torch.zeros(1))
    if s == 20: m.plain = nn.Linear(1,1)
    if s == 21: m.register_parameter("p2", nn.Parameter(torch.zeros(1)))
    if s == 22: m.register_parameter("p2", torch.zeros(1))
    if s == 23: m.register_parameter("p2", None)
    if s == 24: m.register_parameter("weight", nn.Parameter(torch.zeros(1)))
    if s == 25: m.register_parameter("plain", nn.Parameter(torch.zeros(1)))
    if s == 26: m.register_parameter("a.b", nn.Parameter(torch.zeros(1)))
    if s == 27: m.register_parameter("", nn.Parameter(torch.zeros(1)))
    if s == 28: m.register_buffer("b2", 3)
    if s == 29: m.register_buffer("plain", torch.zeros(1))
    if s == 30: m.register_buffer("buf", torch.zeros(4))
    if s == 31: m.register_buffer("b.c", torch.zeros(1))
    if s == 32: m.nb = torch.ones(2)
    if s == 33: m.add_module("fc", nn.Linear(1,1))
    if s == 34: m.add_module("x", 3)
    if s == 35: m.add_module("a.b", nn.Linear(1,1))
    if s == 36: m.register_parameter("p3", None); m.p3 = nn.Parameter(torch.zeros(1))
    if s == 37: m.register_parameter("p3", None); m.p3 = torch.zeros(1)
    if s == 38: m.weight = None; m.weight = torch.zeros(1)
    if s == 39: m.weight.data = torch.zeros(2,2); return m.weight
    if s == 40: m.fc.weight = torch.zeros(2,2)
    if s == 41: m.register_parameter(3, None)
    if s == 42: m.register_parameter("p", nn.Parameter(torch.zeros(1)) * 2)
    if s == 43: m.fc = None; m.fc = nn.ReLU(); return repr(m)
    if s == 44: m.weight = nn.Parameter(torch.zeros(3)); m.extra = torch.zeros(1); return repr(m)
    if s == 45: del m.weight; m.weight = torch.zeros(1); return m.weight
    if s == 46: m.add_module("plain", nn.Linear(1,1))
    if s == 47: m.register_module("r", nn.ReLU()); return repr(m)
    if s == 48: m.get_parameter("fc.weight"); return m.get_parameter("nope")
    if s == 49: return m.get_submodule("nope")
    if s == 50: return m.nothing
    if s == 51: return m.get_buffer("fc")
    if s == 52: m.weight += 1
    if s == 53:
        with torch.no_grad(): m.weight += 1
        return m.weight
    if s == 54: m.weight = m.weight * 2
for s in range(55):
    if s not in (12, 51, 52): do(str(s), lambda m: case(m, s))
class B1(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(2,2)
        super().__init__()
class B2(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(torch.zeros(2))
class B3(nn.Module):
    def __init__(self):
        self.register_buffer("w", torch.zeros(2))
class B4(nn.Module):
    def __init__(self):
        self.x = 3
        super().__init__()
        self.fc = nn.Linear(1,1)
class B5(nn.Module):
    def __init__(self):
        self.t = torch.zeros(2)
        super().__init__()
class B6(nn.Module):
    def __init__(self):
        self.register_parameter("w", nn.Parameter(torch.zeros(2)))
class B7(nn.Module):
    def __init__(self):
        self.add_module("w", nn.ReLU())
class B8(nn.Module):
    def __init__(self):
        pass
    def forward(self, x): return x
class B9(nn.Module):
    def __init__(self):
        self.layers = [1]
        self.layers = nn.ModuleList()
for kind in (B1, B2, B3, B4, B5, B6, B9):
    attempt(kind.__name__, kind)
