// What reductions fold. C is the type that they compute in.

struct ng_sum {
    typedef C Total;
    __device__ static Total first() { return 0; }
    __device__ static Total with(Total a, T x, ng_i64, double) { return a + ng_get<C>(x); }
    __device__ static Total both(Total a, Total b) { return a + b; }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, a);
    }
};

struct ng_mean : ng_sum {
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64 n, double, A *out, B *) {
        ng_put(*out, a / (C)n);
    }
};

struct ng_product {
    typedef C Total;
    __device__ static Total first() { return 1; }
    __device__ static Total with(Total a, T x, ng_i64, double) { return a * ng_get<C>(x); }
    __device__ static Total both(Total a, Total b) { return a * b; }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, a);
    }
};

// How many elements are not 0.
struct ng_count {
    typedef ng_i64 Total;
    __device__ static Total first() { return 0; }
    __device__ static Total with(Total a, T x, ng_i64, double) { return a + ng_is_true(x); }
    __device__ static Total both(Total a, Total b) { return a + b; }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, a);
    }
};

struct ng_any : ng_count {
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, (int)(a > 0));
    }
};

struct ng_all : ng_count {
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64 n, double, A *out, B *) {
        ng_put(*out, (int)(a == n));
    }
};

// An element and where it is; -1 for none.
struct ng_place {
    C value;
    ng_i64 at;
};

// The largest element or the smallest: the first of equal ones, of NaN the first.
template <bool LARGEST>
struct ng_best {
    typedef ng_place Total;
    __device__ static Total first() { return {0, -1}; }
    __device__ static bool wins(C x, C y) { return LARGEST ? x > y : x < y; }
    __device__ static Total both(Total a, Total b) {
        if (a.at < 0) return b;
        if (b.at < 0) return a;
        const bool nan_a = a.value != a.value, nan_b = b.value != b.value;
        if (nan_a || nan_b) return nan_a && nan_b ? (a.at < b.at ? a : b) : nan_a ? a : b;
        if (wins(a.value, b.value)) return a;
        if (wins(b.value, a.value)) return b;
        return a.at < b.at ? a : b;
    }
    // A thread comes by elements in order, so the first of equal ones is the one that it has.
    __device__ static Total with(Total a, T element, ng_i64 at, double) {
        const C x = ng_get<C>(element);
        const bool is_better = a.at < 0 || wins(x, a.value) || (x != x && a.value == a.value);
        return is_better ? Total{x, at} : a;
    }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *place) {
        ng_put(*out, a.value);
        if (PLACES) ng_put(*place, a.at);
    }
};
typedef ng_best<true> ng_largest;
typedef ng_best<false> ng_smallest;

template <bool LARGEST>
struct ng_best_place : ng_best<LARGEST> {
    template <class A, class B>
    __device__ static void finish(ng_place a, ng_i64, double, A *out, B *) {
        ng_put(*out, a.at);
    }
};
typedef ng_best_place<true> ng_largest_place;
typedef ng_best_place<false> ng_smallest_place;

// Mean and squared distances, joined as by Chan, Golub and LeVeque ("Updating formulae ...", 1979).
struct ng_spread {
    struct Total {
        C n, mean, squares;
    };
    __device__ static Total first() { return {0, 0, 0}; }
    __device__ static Total with(Total a, T element, ng_i64, double) {
        const C x = ng_get<C>(element), n = a.n + 1, by = x - a.mean, mean = a.mean + by / n;
        return {n, mean, a.squares + by * (x - mean)};
    }
    __device__ static Total both(Total a, Total b) {
        if (a.n == 0) return b;
        if (b.n == 0) return a;
        const C n = a.n + b.n, by = b.mean - a.mean;
        return {n, a.mean + by * (b.n / n), a.squares + b.squares + by * by * (a.n * (b.n / n))};
    }
    __device__ static C variance(Total a, ng_i64 n, double correction) {
        const double divisor = (double)n - correction;
        return a.n == 0 ? (C)NG_NAN : a.squares / (C)(divisor > 0 ? divisor : 0);
    }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64 n, double correction, A *out, B *) {
        ng_put(*out, variance(a, n, correction));
    }
};

struct ng_deviation : ng_spread {
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64 n, double correction, A *out, B *) {
        ng_put(*out, ng_sqrt(variance(a, n, correction)));
    }
};

// log(sum(exp(x))): the largest element, and the sum of exponentials of distances from it.
struct ng_exponentials {
    struct Total {
        C most, sum;
    };
    __device__ static C times(C sum, C by) { return sum == 0 ? 0 : sum * ng_exp(by); }
    __device__ static Total first() { return {-(C)NG_INFINITY, 0}; }
    __device__ static Total both(Total a, Total b) {
        if (a.most != a.most || b.most != b.most) return {(C)NG_NAN, 1};
        const C most = a.most > b.most ? a.most : b.most;
        if (most == -(C)NG_INFINITY) return {most, 0};
        if (most == (C)NG_INFINITY) return {most, 1};
        return {most, times(a.sum, a.most - most) + times(b.sum, b.most - most)};
    }
    __device__ static Total with(Total a, T x, ng_i64, double) { return both(a, Total{ng_get<C>(x), 1}); }
    __device__ static C result(Total a) { return a.sum == 0 ? -(C)NG_INFINITY : a.most + ng_log(a.sum); }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, result(a));
    }
};

struct ng_norm_zero : ng_sum {
    __device__ static Total with(Total a, T x, ng_i64, double) { return a + (C)(ng_get<C>(x) != 0); }
};
struct ng_norm_one : ng_sum {
    __device__ static Total with(Total a, T x, ng_i64, double) { return a + ng_fabs(ng_get<C>(x)); }
};
struct ng_norm_two : ng_sum {
    __device__ static Total with(Total a, T element, ng_i64, double) {
        const C x = ng_get<C>(element);
        return a + x * x;
    }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double, A *out, B *) {
        ng_put(*out, ng_sqrt(a));
    }
};
struct ng_norm_any : ng_sum {
    __device__ static Total with(Total a, T x, ng_i64, double p) {
        return a + ng_pow(ng_fabs(ng_get<C>(x)), p);
    }
    template <class A, class B>
    __device__ static void finish(Total a, ng_i64, double p, A *out, B *) {
        ng_put(*out, ng_pow(a, 1 / p));
    }
};
template <bool LARGEST>
struct ng_norm_best : ng_best<LARGEST> {
    typedef ng_place Total;
    __device__ static Total with(Total a, T x, ng_i64 at, double) {
        return ng_best<LARGEST>::both(a, Total{ng_fabs(ng_get<C>(x)), at});
    }
};
typedef ng_norm_best<true> ng_norm_largest;
typedef ng_norm_best<false> ng_norm_smallest;
