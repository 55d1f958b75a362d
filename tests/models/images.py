# A small convolutional net with batch norm, and what it says of two images.
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Conv2d(4, 6, 3, stride=2, groups=2, bias=False)
        self.out = nn.Linear(6, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.pad(self.second(x), (1, 0, 0, 1), value=0.5)
        x = torch.cat([x[:, :3] * 2, x[:, 3:].clamp(min=-0.25)], dim=1)
        return F.softmax(self.out(F.adaptive_avg_pool2d(x, 1).flatten(1)), dim=1)


net = fill(Net())
with torch.no_grad():
    trained = net(numbers((6, 1, 8, 8), 1))
net.eval()


def predict(x):
    return net(x)


x = numbers((2, 1, 8, 8), 2)
