import random
random.seed(42)
print(random.random(), random.randint(1, 6), random.randrange(10), random.randrange(0, 100, 7), random.uniform(1, 5), random.choice("abc"), random.getrandbits(40))
l = list(range(10)); random.shuffle(l); print(l)
print(random.sample(range(100), 5), random.sample(range(1000), 50), random.sample("abcdef", 3), random.sample(["x", "y"], counts=[3, 2], k=4))
print(random.choices([1, 2, 3], k=5), random.choices("ab", weights=[1, 9], k=8), random.choices("ab", cum_weights=[1, 10], k=3))
print(random.gauss(0, 1), random.gauss(0, 1), random.normalvariate(0, 1), random.expovariate(2), random.betavariate(2, 3), random.gammavariate(0.5, 1), random.gammavariate(2, 1), random.lognormvariate(0, 1), random.triangular(), random.vonmisesvariate(0, 1), random.paretovariate(3), random.weibullvariate(1, 2), random.triangular(1, 4, 2))
for s in [0, 1, -5, 2**40, "hello", "", "é", 3.5, 1e10, -0.25, True, 123456789]:
    random.seed(s); print(s, random.random(), random.random())
r = random.Random(7); q = random.Random(7); print(r.random() == q.random(), r.randint(0, 9), r.choice([1, 2, 3]))
state = random.getstate(); a = random.random(); random.setstate(state); print(a == random.random())
def t(f, *a, **k):
    try: print(f(*a, **k))
    except Exception as e: print(type(e).__name__, e)
t(random.choice, []); t(random.randint, 5, 1); t(random.randrange, 0); t(random.randrange, 5, 5); t(random.randrange, 1, 5, 0); t(random.sample, [1], 2); t(random.sample, {1}, 1); t(random.choices, [1], [1, 2]); t(random.choices, [1], weights=[0])
random.seed(1)
for i in range(700): random.random()
print(random.random())
