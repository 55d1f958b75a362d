// Combines each element of a line with all before it. Names as in `reduce.cu`; a block goes along a line, 256 elements at a time.

// The largest or smallest so far: of equal ones the last.
template <bool LARGEST>
struct ng_running : ng_best<LARGEST> {
    typedef ng_place Total;
    __device__ static Total both(Total a, Total b) {
        if (a.at < 0) return b;
        if (b.at < 0) return a;
        if (b.value != b.value) return b;
        if (a.value != a.value) return a;
        return ng_best<LARGEST>::wins(a.value, b.value) ? a : b;
    }
    __device__ static Total with(Total a, T x, ng_i64 at, double) { return both(a, Total{ng_get<C>(x), at}); }
};
typedef ng_running<true> ng_running_largest;
typedef ng_running<false> ng_running_smallest;

// y = b + a * y before.
struct ng_linear {
    struct Total {
        C a, b;
    };
    __device__ static Total first() { return {1, 0}; }
    __device__ static Total both(Total x, Total y) { return {x.a * y.a, y.a * x.b + y.b}; }
    template <class A, class B>
    __device__ static void finish(Total x, ng_i64, double, A *out, B *) {
        ng_put(*out, x.b);
    }
};

typedef FOLD::Total ng_total;

extern "C" __global__ void scan(ng_i64 outer, ng_i64 n, const T *in, const T *more, const ng_dims kept, ng_i64 step, O0 *out0,
                                O1 *out1) {
    __shared__ ng_total shared[2][256];
    for (ng_i64 line = blockIdx.x; line < outer; line += gridDim.x) {
        const ng_i64 start = ng_offset(kept, line);
        ng_total carried = FOLD::first();
        for (ng_i64 first = 0; first < n; first += 256) {
            const ng_i64 i = first + threadIdx.x, at = start + i * step;
            ng_total total = FOLD::first();
#if LINEAR
            if (i < n) total = {ng_get<C>(in[at]), ng_get<C>(more[at])};
#else
            if (i < n) total = FOLD::with(total, in[at], i, 0);
#endif
            int from = 0;
            shared[0][threadIdx.x] = total;
            __syncthreads();
            for (unsigned by = 1; by < 256; by *= 2) {
                ng_total here = shared[from][threadIdx.x];
                if (threadIdx.x >= by) here = FOLD::both(shared[from][threadIdx.x - by], here);
                shared[1 - from][threadIdx.x] = here;
                from = 1 - from;
                __syncthreads();
            }
            total = FOLD::both(carried, shared[from][threadIdx.x]);
            if (i < n) FOLD::finish(total, n, 0, out0 + at, out1 + at);
            carried = FOLD::both(carried, shared[from][255]);
            __syncthreads();
        }
    }
}
