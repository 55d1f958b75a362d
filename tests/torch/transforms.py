"""torch.distributions.transforms: values, inverses, stretches and their gradients, shapes, domains, kept values, and what is made of them."""

from torch import distributions as D
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions.transforms import AbsTransform, AffineTransform, CatTransform, ComposeTransform, CorrCholeskyTransform
from torch.distributions.transforms import CumulativeDistributionTransform, ExpTransform, IndependentTransform, LowerCholeskyTransform
from torch.distributions.transforms import PositiveDefiniteTransform, PowerTransform, ReshapeTransform, SigmoidTransform
from torch.distributions.transforms import SoftmaxTransform, SoftplusTransform, StackTransform, StickBreakingTransform, TanhTransform
from torch.distributions.transforms import Transform, identity_transform


def dims(transform):
    try:
        return transform.event_dim
    except ValueError as error:
        return str(error)


def sign(transform):
    try:
        return transform.sign
    except NotImplementedError:
        return "no sign"


def describe(name, transform, x):
    print("#", name)
    print(repr(transform), repr(transform.inv), transform.inv.inv is transform)
    print(repr(transform.domain), repr(transform.codomain), transform.domain.event_dim, transform.codomain.event_dim, transform.bijective, dims(transform))
    print(list(transform.forward_shape(x.shape)), list(transform.inverse_shape(transform.forward_shape(x.shape))))
    graded("value", transform, x)
    y = transform(x).detach()
    graded("inverse", transform.inv, y)
    print("sign", sign(transform))
    try:
        graded("stretch", transform.log_abs_det_jacobian, x, y)
        show("stretch of the inverse", transform.inv.log_abs_det_jacobian(y, x))
    except NotImplementedError:
        print("no stretch")
    print(transform == transform, transform != transform, transform == ExpTransform(), transform.inv == transform.inv, transform.inv == transform)
    kept = transform.with_cache()
    y = kept(x)
    print(kept.inv(y) is x, kept(x) is y, type(kept) is type(transform), transform.with_cache(0) is transform)
    print(bool(transform.codomain.check(y).all()))


x = values(2, 3)
describe("exp", ExpTransform(), x)
describe("affine", AffineTransform(1.5, -2.0), x)
describe("affine of tensors", AffineTransform(values(3, seed=2), values(2, 1, seed=3)), x)
describe("affine of vectors", AffineTransform(0.5, values(3, seed=3), event_dim=1), x)
describe("sigmoid", SigmoidTransform(), x * 3)
describe("softplus", SoftplusTransform(), x * 3)
describe("tanh", TanhTransform(), x * 2)
describe("power", PowerTransform(torch.tensor(2.0, dtype=torch.float64)), x.abs() + 0.1)
describe("powers", PowerTransform(torch.tensor([0.5, -1.0, 3.0], dtype=torch.float64)), x.abs() + 0.1)
describe("abs", AbsTransform(), x)
describe("softmax", SoftmaxTransform(), x)
describe("stick breaking", StickBreakingTransform(), x)
describe("correlations", CorrCholeskyTransform(), values(2, 6))
describe("one correlation", CorrCholeskyTransform(), values(2, 1))
describe("lower", LowerCholeskyTransform(), values(2, 3, 3))
describe("positive definite", PositiveDefiniteTransform(), values(2, 3, 3))
describe("reshape", ReshapeTransform((2, 3), (3, 2)), values(4, 2, 3))
describe("independent", IndependentTransform(ExpTransform(), 1), x)
describe("identity", identity_transform, x)
describe("compose", ComposeTransform([AffineTransform(1.0, 2.0), TanhTransform(), AffineTransform(0.0, -3.0)]), x)
describe("compose vectors", ComposeTransform([ExpTransform(), StickBreakingTransform()]), x)
describe("inside out", ComposeTransform([StickBreakingTransform(), SigmoidTransform().inv]), x)
describe("distribution", CumulativeDistributionTransform(D.Normal(torch.tensor(0.5).double(), torch.tensor(2.0).double())), x)

print("# beside each other")
for name, transform, x in (
    ("stack", StackTransform([ExpTransform(), TanhTransform(), identity_transform], dim=1), values(2, 3)),
    ("stack first", StackTransform([ExpTransform(), AffineTransform(1.0, 2.0)], dim=0), values(2, 3)),
    ("cat", CatTransform([ExpTransform(), SigmoidTransform()], dim=-1, lengths=[1, 2]), values(2, 3)),
    ("cat of singles", CatTransform([ExpTransform(), SigmoidTransform(), TanhTransform()], dim=1), values(2, 3)),
    ("cat of vectors", CatTransform([IndependentTransform(ExpTransform(), 1), IndependentTransform(TanhTransform(), 1)], dim=0, lengths=[1, 1]), values(2, 3)),
):
    graded(name, transform, x)
    y = transform(x).detach()
    graded(name + " inverse", transform.inv, y)
    graded(name + " stretch", transform.log_abs_det_jacobian, x, y)
    print(transform.bijective, transform.domain.check(x).tolist(), transform.codomain.check(y).tolist(), repr(transform), len(transform.transforms))
print(CatTransform([ExpTransform(), SigmoidTransform()], lengths=[2, 3]).length, CatTransform([StickBreakingTransform(), ExpTransform()]).transforms[0])

print("# same maps")
print(ExpTransform() == ExpTransform(), ExpTransform() != SigmoidTransform(), AffineTransform(1, 2) == AffineTransform(1, 2))
print(AffineTransform(1, 2) == AffineTransform(1, 3), AffineTransform(torch.ones(2), 2) == AffineTransform(torch.ones(2), 2))
print(PowerTransform(torch.tensor(2.0)) == PowerTransform(torch.tensor(2.0)), PowerTransform(torch.tensor(2.0)) == PowerTransform(torch.tensor(3.0)))
print(ComposeTransform([ExpTransform(), TanhTransform()]) == ComposeTransform([ExpTransform(), TanhTransform()]))
print(AffineTransform(0, 2).sign, AffineTransform(0, -2).sign, AffineTransform(0, torch.tensor([1.0, -1.0])).sign)
print(ComposeTransform([ExpTransform(), AffineTransform(0.0, -1.0)]).sign, ExpTransform().inv.sign)


class Cube(Transform):
    """One of the reader's own."""

    domain = constraints.real
    codomain = constraints.real
    bijective = True
    sign = +1

    def _call(self, x):
        return x**3

    def _inverse(self, y):
        return y.sign() * y.abs() ** (1 / 3)

    def log_abs_det_jacobian(self, x, y):
        return (3 * x**2).log()


class Shift(Cube):
    def __init__(self, by, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.by = by


describe("own", Cube(), values(2, 3))
attempt("own with arguments", lambda: Shift(2.0).with_cache())

print("# conditions")
matrix = values(3, 3)
spread = matrix @ matrix.T + torch.eye(3).double()
asked = {
    "real": (constraints.real, torch.tensor([1.0, float("nan"), float("inf")])),
    "positive": (constraints.positive, torch.tensor([1.0, 0.0, -1.0])),
    "nonnegative": (constraints.nonnegative, torch.tensor([1.0, 0.0, -1.0])),
    "positive integer": (constraints.positive_integer, torch.tensor([1.0, 0.0, 1.5])),
    "nonnegative integer": (constraints.nonnegative_integer, torch.tensor([1.0, 0.0, 1.5])),
    "integers": (constraints.integer_interval(-1, 2), torch.tensor([-1.0, 2.0, 1.5, 3.0])),
    "interval": (constraints.interval(-1, 2.5), torch.tensor([-1.0, 2.5, 3.0])),
    "half open": (constraints.half_open_interval(-1, 2.5), torch.tensor([-1.0, 2.5, 3.0])),
    "above": (constraints.greater_than(1), torch.tensor([1.0, 1.5])),
    "from": (constraints.greater_than_eq(1), torch.tensor([1.0, 0.5])),
    "below": (constraints.less_than(1), torch.tensor([1.0, 0.5])),
    "unit": (constraints.unit_interval, torch.tensor([0.0, 1.0, 1.1])),
    "boolean": (constraints.boolean, torch.tensor([0.0, 1.0, 0.5])),
    "simplex": (constraints.simplex, torch.tensor([[0.5, 0.5], [0.5, 0.6], [1.5, -0.5]])),
    "one hot": (constraints.one_hot, torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])),
    "multinomial": (constraints.multinomial(3), torch.tensor([[0.0, 1.0], [2.0, 2.0]])),
    "vector": (constraints.real_vector, torch.tensor([[0.0, 1.0], [2.0, float("nan")]])),
    "independent": (constraints.independent(constraints.positive, 2), torch.ones(2, 2, 2)),
    "lower": (constraints.lower_triangular, torch.stack([matrix, matrix.tril()])),
    "lower root": (constraints.lower_cholesky, torch.stack([matrix.tril(), spread.tril()])),
    "correlations": (constraints.corr_cholesky, torch.stack([matrix.tril(), CorrCholeskyTransform()(values(3))])),
    "square": (constraints.square, torch.ones(2, 3, 4)),
    "symmetric": (constraints.symmetric, torch.stack([matrix, spread])),
    "semidefinite": (constraints.positive_semidefinite, torch.stack([spread, spread - 9 * torch.eye(3).double()])),
    "definite": (constraints.positive_definite, torch.stack([spread, spread - 9 * torch.eye(3).double()])),
    "definite all": (constraints.positive_definite, torch.stack([spread, spread * 2])),
    "not square": (constraints.positive_definite, torch.ones(2, 3, 4)),
    "cat": (constraints.cat([constraints.positive, constraints.real], 0, [2, 1]), torch.tensor([1.0, -1.0, -1.0])),
    "stack": (constraints.stack([constraints.positive, constraints.real], 0), torch.tensor([[1.0, -1.0], [1.0, -1.0]])),
}
for name, (constraint, value) in asked.items():
    text = repr(constraint) if name not in ("cat", "stack", "multinomial") else ""
    print(name, text, constraint.event_dim, constraint.is_discrete, constraint.check(value).tolist())
print(constraints.is_dependent(constraints.dependent), constraints.is_dependent(constraints.real), constraints.dependent(event_dim=1).event_dim)
attempt("dependent", lambda: constraints.dependent.check(torch.ones(2)))
attempt("dependent dimensions", lambda: constraints.dependent.event_dim)
print(isinstance(constraints.positive, constraints.Constraint), isinstance(constraints.positive, constraints.greater_than))

print("# to what satisfies a condition")
for registry in (biject_to, transform_to):
    for constraint in (constraints.real, constraints.positive, constraints.greater_than(2.0), constraints.less_than(-1.0), constraints.unit_interval,
                       constraints.interval(-1.0, 3.0), constraints.simplex, constraints.corr_cholesky, constraints.independent(constraints.positive, 1),
                       constraints.real_vector, constraints.lower_cholesky, constraints.positive_definite, constraints.boolean):
        try:
            transform = registry(constraint)
        except NotImplementedError as error:
            print("NotImplementedError", error)
            continue
        x = values(3, 3) if constraint.event_dim == 2 and constraint is not constraints.corr_cholesky else values(2, 3)
        print(repr(constraint), repr(transform))
        show("value", transform(x))
        print(bool(constraint.check(transform(x)).all()))


class Even(constraints.Constraint):
    def check(self, value):
        return value % 2 == 0


@biject_to.register(Even)
def to_even(constraint):
    return AffineTransform(0.0, 2.0)


show("own", biject_to(Even())(torch.tensor([1.0, 2.0])))
print(repr(D.Normal.arg_constraints["scale"]), transform_to(D.Normal.arg_constraints["scale"])(torch.zeros(1)))
attempt("no condition", lambda: biject_to.register(3, to_even))

print("# TransformedDistribution")
a, b = values(3, seed=2).requires_grad_(), (values(3, seed=3).abs() + 0.5).requires_grad_()


def describe_transformed(name, make, value, events=True):
    print("##", name)
    a.grad = b.grad = None
    d = make()
    print(repr(d), list(d.batch_shape), list(d.event_shape), d.has_rsample, repr(d.support))
    log_prob = d.log_prob(value)
    show("log_prob", log_prob)
    weigh(log_prob).backward()
    show("grad", [a.grad, b.grad])
    torch.manual_seed(5)
    show("sample", [d.sample(), d.sample((2,)), d.rsample((2,))])
    print(list(d.expand((2,) + tuple(d.batch_shape)).sample((5,)).shape), d.rsample().requires_grad, d.sample().requires_grad)
    if events:
        show("cdf", d.cdf(value))
        show("icdf", d.icdf(torch.tensor(0.3).double()))


describe_transformed("normal", lambda: D.TransformedDistribution(D.Normal(a, b), [ExpTransform()]), values(2, 3).abs() + 0.2)
describe_transformed("single", lambda: D.TransformedDistribution(D.Normal(a, b), AffineTransform(1.0, -2.0)), values(2, 3))
describe_transformed("logistic", lambda: D.TransformedDistribution(D.Uniform(torch.zeros(3).double(), torch.ones(3).double()), [SigmoidTransform().inv, AffineTransform(a, b)]), values(2, 3))
describe_transformed("widened", lambda: D.TransformedDistribution(D.Normal(torch.tensor(0.0).double(), torch.tensor(1.0).double()), [AffineTransform(a, b)]), values(2, 3))
describe_transformed("sticks", lambda: D.TransformedDistribution(D.Normal(a, b), [StickBreakingTransform()]), torch.softmax(values(2, 4), -1), False)
describe_transformed("vectors", lambda: D.TransformedDistribution(D.Independent(D.Normal(a, b), 1), [ExpTransform()]), values(2, 3).abs() + 0.2, False)
describe_transformed("chain", lambda: D.TransformedDistribution(D.Normal(a, b), [TanhTransform(), AffineTransform(0.5, 2.0), ExpTransform()]), values(2, 3).exp())
describe_transformed("nothing", lambda: D.TransformedDistribution(D.Normal(a, b), []), values(2, 3))
describe_transformed("of it", lambda: D.TransformedDistribution(D.TransformedDistribution(D.Normal(a, b), [ExpTransform()]), [PowerTransform(torch.tensor(2.0).double())]), values(2, 3).abs() + 0.1)
describe_transformed("reshape", lambda: D.TransformedDistribution(D.Independent(D.Normal(torch.stack([a, b]), 1.0), 2), [ReshapeTransform((2, 3), (6,))]), values(6), False)
describe_transformed("LogNormal", lambda: D.LogNormal(a, b), values(2, 3).abs() + 0.2)
print(type(D.LogNormal(0.0, 1.0).base_dist).__name__, D.LogNormal(0.0, 1.0).transforms, isinstance(D.LogNormal(0.0, 1.0), D.TransformedDistribution))
kl = D.kl_divergence(D.TransformedDistribution(D.Normal(a, b), [ExpTransform()]), D.TransformedDistribution(D.Normal(b, a.abs() + 1), [ExpTransform()]))
show("divergence", kl)
refused("of other maps", lambda: D.kl_divergence(D.TransformedDistribution(D.Normal(a, b), [ExpTransform()]), D.TransformedDistribution(D.Normal(a, b), [TanhTransform()])))

print("# mistakes")
attempt("cache", lambda: ExpTransform(cache_size=2))
attempt("shapes", lambda: ReshapeTransform((2, 3), (5,)))
attempt("few", lambda: IndependentTransform(ExpTransform(), 1)(torch.tensor(1.0)))
attempt("no triangle", lambda: CorrCholeskyTransform().forward_shape(torch.Size((4,))))
refused("no triangle of values", lambda: CorrCholeskyTransform()(torch.ones(4)))
attempt("not square", lambda: CorrCholeskyTransform().inverse_shape(torch.Size((3, 4))))
attempt("no vector", lambda: StickBreakingTransform().forward_shape(torch.Size(())))
attempt("another shape", lambda: ReshapeTransform((2, 3), (6,)).forward_shape(torch.Size((3, 2))))
attempt("another length", lambda: CatTransform([ExpTransform(), TanhTransform()], dim=0)(torch.ones(3)))
attempt("another count", lambda: StackTransform([ExpTransform()], dim=0)(torch.ones(3)))
attempt("lengths", lambda: CatTransform([ExpTransform()], lengths=[1, 2]))
attempt("no transform", lambda: CatTransform([3]))
attempt("no list", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3))
attempt("no transforms", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]))
attempt("too small", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [StickBreakingTransform()]))
attempt("outside", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [ExpTransform()]).log_prob(torch.tensor(-1.0)))
refused("no map", lambda: Transform()(torch.ones(2)))
