// Random numbers of Philox 4x32-10 (Salmon et al., 2011). Each thread has a stream of its own; element `i` of a round of all threads comes from
// thread `i`, four rounds from one draw, as PyTorch lays them out.

#define DRAWS (sizeof(C) == 8 ? 2 : 4)

struct ng_four {
    unsigned x, y, z, w;
};

__device__ inline ng_four ng_philox(unsigned long long seed, unsigned long long stream, unsigned long long offset) {
    ng_four at = {(unsigned)offset, (unsigned)(offset >> 32), (unsigned)stream, (unsigned)(stream >> 32)};
    unsigned low = (unsigned)seed, high = (unsigned)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const unsigned a = 0xD2511F53u * at.x, a_high = __umulhi(0xD2511F53u, at.x);
        const unsigned b = 0xCD9E8D57u * at.z, b_high = __umulhi(0xCD9E8D57u, at.z);
        at = {b_high ^ at.y ^ low, b, a_high ^ at.w ^ high, a};
        low += 0x9E3779B9u, high += 0xBB67AE85u;
    }
    return at;
}

// From (0, 1].
__device__ inline float ng_uniform(unsigned x) { return fmaf((float)x, 2.3283064e-10f, 2.3283064e-10f / 2.0f); }
__device__ inline double ng_uniform(unsigned x, unsigned y) {
    const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << (53 - 32);
    return fma((double)z, 1.1102230246251565e-16, 1.1102230246251565e-16 / 2.0);
}

__device__ inline void ng_uniforms(ng_four bits, float *out) {
    out[0] = ng_uniform(bits.x), out[1] = ng_uniform(bits.y), out[2] = ng_uniform(bits.z), out[3] = ng_uniform(bits.w);
}
__device__ inline void ng_uniforms(ng_four bits, double *out) {
    out[0] = ng_uniform(bits.x, bits.y), out[1] = ng_uniform(bits.z, bits.w);
}

// Box and Muller, 1958.
__device__ inline void ng_two_normals(unsigned x, unsigned y, float *out) {
    const float turn = 2.3283064e-10f * 6.2831855f;
    const float u = ng_uniform(x), v = fmaf((float)y, turn, turn / 2.0f), s = sqrtf(-2.0f * logf(u));
    float sine, cosine;
    __sincosf(v, &sine, &cosine);
    out[0] = sine * s, out[1] = cosine * s;
}
__device__ inline void ng_normals(ng_four bits, float *out) {
    ng_two_normals(bits.x, bits.y, out);
    ng_two_normals(bits.z, bits.w, out + 2);
}
__device__ inline void ng_normals(ng_four bits, double *out) {
    const double u = ng_uniform(bits.x, bits.y);
    const unsigned long long z = (unsigned long long)bits.z ^ (unsigned long long)bits.w << (53 - 32);
    const double v = fma((double)z, 1.1102230246251565e-16 * 2.0, 1.1102230246251565e-16), s = sqrt(-2.0 * log(u));
    out[0] = s * sin(v * 3.141592653589793), out[1] = s * cos(v * 3.141592653589793);
}

// Where the streams of all threads begin: at an offset from there, or from what memory holds, a seed and an offset.
struct ng_start {
    unsigned long long seed, offset;
    const unsigned long long *held;
};

// Calls `put(element, number in 0..DRAWS, bits)` for all elements of this thread.
template <class P>
__device__ inline void ng_draw(ng_i64 n, ng_start start, P put) {
    const unsigned long long seed = start.held ? start.held[0] : start.seed;
    const unsigned long long offset = start.offset + (start.held ? start.held[1] : 0);
    const ng_i64 all = (ng_i64)gridDim.x * blockDim.x, own = (ng_i64)blockIdx.x * blockDim.x + threadIdx.x;
    const ng_i64 round = all * DRAWS;
    unsigned long long at = offset / 4;
    for (ng_i64 first = own; first < (n + round - 1) / round * round; first += round, at++) {
        const ng_four bits = ng_philox(seed, (unsigned long long)own, at);
        put(first, all, bits);
    }
}

extern "C" __global__ void uniform(ng_i64 n, ng_start start, T *out, double low,
                                   double high) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        C drawn[4];
        ng_uniforms(bits, drawn);
        for (int i = 0; i < DRAWS; i++) {
            if (first + i * all >= n) continue;
            const C value = drawn[i] * (C)(high - low) + (C)low;
            ng_put(out[first + i * all], value == (C)high ? (C)low : value);
        }
    });
}

extern "C" __global__ void normal(ng_i64 n, ng_start start, T *out, double mean,
                                  double deviation) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        C drawn[4];
        ng_normals(bits, drawn);
        for (int i = 0; i < DRAWS; i++)
            if (first + i * all < n) ng_put(out[first + i * all], drawn[i] * (C)deviation + (C)mean);
    });
}

// Whole numbers from `low`, of `span`; WIDE where that takes more than 28 bits.
extern "C" __global__ void whole(ng_i64 n, ng_start start, T *out, ng_i64 low,
                                 unsigned long long span) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
#if WIDE
        const unsigned long long drawn[2] = {(unsigned long long)bits.x << 32 | bits.y,
                                             (unsigned long long)bits.z << 32 | bits.w};
#else
        const unsigned drawn[4] = {bits.x, bits.y, bits.z, bits.w};
#endif
        for (int i = 0; i < DRAWS; i++)
            if (first + i * all < n) ng_put(out[first + i * all], (ng_i64)(drawn[i] % span) + low);
    });
}

// 1 with the probability that each element gives.
extern "C" __global__ void bernoulli(ng_i64 n, ng_start start, const T *p, T *out,
                                     ng_fault *fault) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        C drawn[4];
        ng_uniforms(bits, drawn);
        for (int i = 0; i < DRAWS; i++) {
            if (first + i * all >= n) continue;
            const C chance = ng_get<C>(p[first + i * all]);
            if (!(chance >= 0 && chance <= 1)) ng_refuse(fault, 1u, 0);
            ng_put(out[first + i * all], (C)(drawn[i] <= chance));
        }
    });
}

extern "C" __global__ void dropout_mask(ng_i64 n, ng_start start, T *out, double keep,
                                        double scale) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        C drawn[4];
        ng_uniforms(bits, drawn);
        for (int i = 0; i < DRAWS; i++)
            if (first + i * all < n) ng_put(out[first + i * all], drawn[i] <= (C)keep ? (C)scale : (C)0);
    });
}

// Weights over exponential numbers.
extern "C" __global__ void keys(ng_i64 n, ng_start start, const T *weights, C *out,
                                ng_fault *fault) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        C drawn[4];
        ng_uniforms(bits, drawn);
        for (int i = 0; i < DRAWS; i++) {
            if (first + i * all >= n) continue;
            const C weight = ng_get<C>(weights[first + i * all]), key = -ng_log(drawn[i]);
            if (!(weight >= 0 && weight < (C)NG_INFINITY)) ng_refuse(fault, 1u, 0);
            out[first + i * all] = weight / (key > (C)1e-30 ? key : (C)1e-30);
        }
    });
}

// Uniform numbers in double precision, as many as are wanted, in a stream that a draw begins.
struct ng_more {
    unsigned long long seed, stream, at;
    __device__ double next() {
        const ng_four bits = ng_philox(seed, stream, at++);
        return ng_uniform(bits.x, bits.y);
    }
};

// How many factors keep the product above exp(-rate) (Knuth, volume 2, 3.4.1).
__device__ inline double ng_few(double rate, ng_more more) {
    const double least = exp(-rate);
    double product = more.next(), count = 0;
    for (; product > least; count++) product *= more.next();
    return count;
}

// Transformed rejection with squeeze (Hormann, 1993).
__device__ inline double ng_many(double rate, ng_more more) {
    const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = more.next() - 0.5, v = more.next(), us = 0.5 - fabs(u);
        if (us <= 0) continue;
        const double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1)) return k;
    }
}

// Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000.
__device__ inline double ng_gamma(double shape, ng_more more) {
    if (!(shape > 0)) return shape == 0 ? 0 : (double)NG_NAN;
    double scale = 1;
    if (shape < 1) scale = pow(more.next(), 1 / shape), shape += 1;
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double radius = sqrt(-2 * log(more.next())), x = radius * cos(6.283185307179586 * more.next()), y = 1 + c * x;
        if (y <= 0) continue;
        const double v = y * y * y, u = more.next();
        if (log(u) < 0.5 * x * x + d * (1 - v + log(v))) return scale * d * v;
    }
}

// For each shape a draw of rate 1.
extern "C" __global__ void standard_gamma(ng_i64 n, ng_start start, const T *shapes, T *out, double least) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        for (int i = 0; i < DRAWS; i++) {
            const ng_i64 at = first + i * all;
            if (at >= n) continue;
            const ng_more more = {(unsigned long long)bits.x << 32 | bits.y, (unsigned long long)bits.z << 32 | bits.w, (unsigned long long)i << 32};
            const double drawn = ng_gamma((double)ng_get<C>(shapes[at]), more);
            ng_put(out[at], (C)(drawn < least ? least : drawn));
        }
    });
}

// What Stirling's formula leaves out of ln(k!).
__device__ inline double ng_tail(double k) { return lgamma(k + 1) - ((k + 0.5) * log(k + 1) - (k + 1) + 0.9189385332046728); }

// Waiting times between successes, or transformed rejection with squeeze (Hormann, The Generation of Binomial Random Variates, 1993).
__device__ inline double ng_rare(double count, double p, ng_more more) {
    if (count * p < 10) {
        const double log_miss = log1p(-p);
        double passed = 0, found = 0;
        for (;; found++) {
            passed += ceil(log(more.next()) / log_miss);
            if (passed > count) return found;
        }
    }
    const double root = sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double v_r = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * root, mode = floor((count + 1) * p);
    for (;;) {
        const double u = more.next() - 0.5, v = more.next(), us = 0.5 - fabs(u);
        if (us <= 0) continue;
        const double k = floor((2 * a / us + b) * u + count * p + 0.5);
        if (k < 0 || k > count) continue;
        if (us >= 0.07 && v <= v_r) return k;
        const double left = count - mode + 1;
        const double bound = (mode + 0.5) * log((mode + 1) / (odds * left)) + (count + 1) * log(left / (count - k + 1))
                             + (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) + ng_tail(mode) + ng_tail(count - mode) - ng_tail(k) - ng_tail(count - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

// How many of so many trials succeed.
extern "C" __global__ void binomial(ng_i64 n, ng_start start, const T *counts, const T *chances, T *out) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        for (int i = 0; i < DRAWS; i++) {
            const ng_i64 at = first + i * all;
            if (at >= n) continue;
            const ng_more more = {(unsigned long long)bits.x << 32 | bits.y, (unsigned long long)bits.z << 32 | bits.w, (unsigned long long)i << 32};
            const double count = (double)ng_get<C>(counts[at]), p = (double)ng_get<C>(chances[at]);
            double drawn = 0;
            if (!(count <= 0 || p <= 0)) {
                if (p != p || count != count) drawn = (double)NG_NAN;
                else if (p >= 1) drawn = count;
                else drawn = p <= 0.5 ? ng_rare(count, p, more) : count - ng_rare(count, 1 - p, more);
            }
            ng_put(out[at], (C)drawn);
        }
    });
}

// How many events happen where so many happen on average.
extern "C" __global__ void poisson(ng_i64 n, ng_start start, const T *rates, T *out, ng_fault *fault) {
    ng_draw(n, start, [&](ng_i64 first, ng_i64 all, ng_four bits) {
        for (int i = 0; i < DRAWS; i++) {
            const ng_i64 at = first + i * all;
            if (at >= n) continue;
            const double rate = (double)ng_get<C>(rates[at]);
            const bool is_fine = rate >= 0 && rate < (double)NG_INFINITY;
            if (!is_fine) ng_refuse(fault, rate > 0 ? 2u : 1u, 0);
            const ng_more more = {(unsigned long long)bits.x << 32 | bits.y, (unsigned long long)bits.z << 32 | bits.w, (unsigned long long)i << 32};
            ng_put(out[at], (C)(!is_fine || rate == 0 ? 0 : rate < 10 ? ng_few(rate, more) : ng_many(rate, more)));
        }
    });
}
