# Functions of networks that PyTorch also has in `torch` itself.
import torch

x = torch.arange(12, dtype=torch.float32).reshape(1, 4, 3) * 0.5 - 2
print(torch.adaptive_avg_pool1d(x, 2))
print(torch.avg_pool1d(x, 3, stride=1, padding=1))
print(torch.max_pool1d(x, 2, stride=1))
print(torch.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4])))
print(torch.rms_norm(x, (3,)))
print(torch.rms_norm(x, (3,), torch.tensor([1.0, 2.0, 3.0]), 1e-3))

a = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]])
b = torch.tensor([[0.0, 1.0], [2.0, 2.0], [-1.0, 4.0]])
print(torch.pdist(a), torch.pdist(a, 1))
print(torch.pairwise_distance(a, b))
print(torch.bilinear(a, b, torch.arange(12, dtype=torch.float32).reshape(3, 2, 2), torch.ones(3)))

image = torch.arange(16, dtype=torch.float32).reshape(1, 4, 2, 2)
print(torch.pixel_shuffle(image, 2))
print(torch.pixel_unshuffle(torch.pixel_shuffle(image, 2), 2).equal(image))
print(torch.channel_shuffle(image, 2).flatten())

volume = torch.arange(27, dtype=torch.float32).reshape(1, 1, 3, 3, 3)
print(torch.conv3d(volume, torch.ones(1, 1, 2, 2, 2), padding=0).flatten())
print(torch.max_pool3d(volume, 2, stride=1).flatten())
print(torch.conv_transpose3d(volume[..., :2, :2, :2], torch.ones(1, 1, 2, 2, 2)).flatten())
print(torch.conv_transpose1d(x, torch.ones(4, 1, 2), stride=2))


def refused(name, *args):
    """Whether it raises: shapes that do not fit must not give a result."""
    try:
        getattr(torch, name)(*args)
    except RuntimeError:
        print(name, "refuses")
    else:
        print(name, "gives a result")


ones = torch.ones
refused("max_pool3d", ones(2, 2), 2)
refused("channel_shuffle", ones(1, 4, 2, 2), 3)
refused("channel_shuffle", ones(4), 2)
refused("conv3d", ones(2, 2), ones(1, 1, 2, 2, 2))
refused("conv_transpose3d", ones(3), ones(1, 1, 2, 2, 2))
refused("pdist", ones(3))
refused("pdist", ones(2, 3), -1)
refused("pixel_shuffle", ones(1, 3, 2, 2), 2)
refused("pixel_shuffle", ones(4), 2)
refused("pixel_unshuffle", ones(1, 1, 3, 3), 2)
refused("pixel_unshuffle", ones(3), 2)
refused("rms_norm", ones(2, 3), (4,))
