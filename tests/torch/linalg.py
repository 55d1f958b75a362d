"""torch.linalg and the norms."""

import torch.linalg

a, v = values(3, 3), values(4)
show("norms", [torch.linalg.norm(v), torch.linalg.norm(a), torch.linalg.norm(a, ord="fro"), torch.linalg.norm(v, ord=1), torch.linalg.norm(a, dim=1)])
show("norms", [torch.linalg.vector_norm(a, 3, dim=0), torch.linalg.vector_norm(v, math.inf), torch.linalg.matrix_norm(a), torch.linalg.matrix_norm(a, 1), torch.linalg.matrix_norm(a, math.inf)])
show("solve", [torch.linalg.solve(a, values(3)), torch.linalg.solve(a, values(3, 2)), torch.linalg.inv(a), torch.linalg.det(a)])
show("products", [torch.linalg.multi_dot([a, values(3, 2), values(2, 4)]), torch.linalg.cross(values(3), values(3, seed=2))])
try:
    torch.linalg.solve(torch.zeros(2, 2), torch.ones(2))
except RuntimeError as error:
    print("singular")
