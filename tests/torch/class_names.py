"""Where classes say that they stand."""

import torch.distributions
import torch.utils.data

for place, names in {
    nn: "Module Linear Conv2d BatchNorm1d BatchNorm2d InstanceNorm2d LayerNorm GroupNorm Flatten Unflatten ReLU Sigmoid Softmax Dropout Sequential ModuleList "
    "ModuleDict Embedding LSTM GRU RNNCell MaxPool2d AdaptiveAvgPool2d ZeroPad2d ReflectionPad2d PixelShuffle Upsample Unfold Fold MultiheadAttention "
    "TransformerEncoderLayer Transformer CrossEntropyLoss MSELoss BCEWithLogitsLoss Parameter Identity CosineSimilarity",
    torch.optim: "SGD ASGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop LBFGS Optimizer",
    torch.optim.lr_scheduler: "StepLR ExponentialLR CosineAnnealingLR ReduceLROnPlateau OneCycleLR LambdaLR",
    torch.utils.data: "Dataset TensorDataset Subset DataLoader RandomSampler",
    torch.distributions: "Normal LogNormal Categorical OneHotCategorical Bernoulli",
}.items():
    for name in names.split():
        print(getattr(place, name))
print(torch.autograd.Function, torch.no_grad, torch.Tensor, type(nn.Parameter(torch.ones(1))), torch.enable_grad)
for value in [nn.ReLU(), nn.Flatten(), torch.optim.SGD([torch.ones(1, requires_grad=True)], 0.1), torch.utils.data.TensorDataset(torch.ones(2))]:
    print(object.__repr__(value).split(" at 0x")[0])
