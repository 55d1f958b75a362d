# Methods as attributes of their class.
import functools

import numpy as np

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(torch.Tensor.add(x, 1), torch.Tensor.sum(x), torch.Tensor.sum(x, dim=0))
print(torch.Tensor.mul_(x.clone(), 2), torch.Tensor.view(x, 4), torch.Tensor.reshape(x, -1))
print(torch.Tensor.size(x), torch.Tensor.dim(x), torch.Tensor.item(x.sum()), torch.Tensor.numel(x))
print(torch.Tensor.relu(x - 2), torch.Tensor.matmul(x, x), torch.Tensor.diff(x), torch.Tensor.softmax(x, -1))
print(list(map(torch.Tensor.sum, [x, x * 2])), functools.reduce(torch.Tensor.add, [x, x, x]))
print(torch.nn.Parameter.sum(nn.Parameter(x)).item())
print(hasattr(torch.Tensor, "add"), hasattr(torch.Tensor, "no_such_method"), callable(getattr(torch.Tensor, "cumsum")))
a = np.array([[1.0, 2.0], [3.0, 4.0]])
print(np.ndarray.sum(a), np.ndarray.sum(a, axis=0), np.ndarray.mean(a), np.ndarray.reshape(a, 4), np.ndarray.tolist(a))
print(sorted([np.array([3, 4]), np.array([1, 2])], key=np.ndarray.sum))
print(hasattr(np.ndarray, "sum"), hasattr(np.ndarray, "no_such_method"))
