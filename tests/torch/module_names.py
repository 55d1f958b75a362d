"""Classes by the names of PyTorch's modules, which hold them in other parts here."""

from torch import distributions as D
from torch.amp.autocast_mode import autocast
from torch.amp.grad_scaler import GradScaler
from torch.distributions.beta import Beta
from torch.distributions.chi2 import Chi2
from torch.distributions.fishersnedecor import FisherSnedecor
from torch.distributions.gumbel import Gumbel
from torch.distributions.half_cauchy import HalfCauchy
from torch.distributions.kumaraswamy import Kumaraswamy
from torch.distributions.log_normal import LogNormal
from torch.distributions.negative_binomial import NegativeBinomial
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.relaxed_bernoulli import RelaxedBernoulli
from torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from torch.distributions.studentT import StudentT
from torch.distributions.weibull import Weibull
from torch.nn.modules.batchnorm import BatchNorm2d
from torch.nn.modules.channelshuffle import ChannelShuffle
from torch.nn.modules.flatten import Flatten
from torch.nn.modules.fold import Unfold
from torch.nn.modules.instancenorm import InstanceNorm1d
from torch.nn.modules.padding import ZeroPad2d
from torch.nn.modules.pixelshuffle import PixelShuffle
from torch.nn.modules.upsampling import Upsample
from torch.utils.hooks import RemovableHandle

for kind in (Beta, Chi2, FisherSnedecor, Gumbel, HalfCauchy, Kumaraswamy, LogNormal, NegativeBinomial, OneHotCategorical, Pareto, Poisson, RelaxedBernoulli,
             RelaxedOneHotCategorical, StudentT, Weibull):
    print(kind is getattr(D, kind.__name__), kind.__name__)
for kind in (BatchNorm2d, ChannelShuffle, Flatten, Unfold, InstanceNorm1d, ZeroPad2d, PixelShuffle, Upsample):
    print(kind is getattr(nn, kind.__name__), kind.__name__)
print(isinstance(nn.Linear(1, 1).register_forward_hook(lambda *args: None), RemovableHandle))
print(autocast is torch.autocast, GradScaler is torch.amp.GradScaler, torch.GradScaler is GradScaler)
print(torch.autograd.set_grad_enabled is torch.set_grad_enabled, torch.autograd.inference_mode is torch.inference_mode)
