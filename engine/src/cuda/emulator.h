// What CUDA C offers, on one thread of the processor. A block whose threads wait for each other runs them as fibers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)

struct ng_index {
    unsigned x, y, z;
};
static ng_index blockIdx, threadIdx, blockDim, gridDim;

// What a launch asks for beside the kernel's own; nothing is known of what is in it.
static unsigned char *ng_shared;

template <class To, class From>
static To ng_same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

static inline float __int_as_float(int x) { return ng_same_bits<float>(x); }
static inline int __float_as_int(float x) { return ng_same_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return ng_same_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return ng_same_bits<long long>(x); }
static inline float ng_half_to_float(unsigned short bits) { return (float)ng_same_bits<_Float16>(bits); }
static inline unsigned short ng_float_to_half(float x) { return ng_same_bits<unsigned short>((_Float16)x); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline void ng_sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
#define __sincosf ng_sincosf
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

template <class T>
static inline T atomicAdd(T *at, T x) {
    T before = *at;
    *at = before + x;
    return before;
}
template <class T>
static inline T atomicOr(T *at, T x) {
    T before = *at;
    *at = before | x;
    return before;
}
template <class T>
static inline T atomicMax(T *at, T x) {
    T before = *at;
    *at = before < x ? x : before;
    return before;
}
template <class T>
static inline T atomicExch(T *at, T x) {
    T before = *at;
    *at = x;
    return before;
}
template <class T>
static inline T atomicCAS(T *at, T expected, T x) {
    T before = *at;
    if (before == expected) *at = x;
    return before;
}

// Where a fiber, or what runs them all, goes on.
#if defined(__x86_64__) && defined(__ELF__)
// By hand: `swapcontext` asks the system for its signals, which takes most of the time of a kernel with barriers.
typedef void *ng_resumption;
extern "C" __attribute__((visibility("hidden"))) void ng_switch(ng_resumption *from, ng_resumption *to);
asm(".text\n"
    ".hidden ng_switch\n"
    ".globl ng_switch\n"
    ".type ng_switch, @function\n"
    "ng_switch:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq (%rsi), %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size ng_switch, . - ng_switch\n");

// What `ng_switch` finds on a stack that nothing has run on: six registers, where to begin, and no way back.
static void ng_prepare(ng_resumption &place, std::vector<char> &stack, void (*begin)()) {
    const size_t end = ((size_t)stack.data() + stack.size()) & ~(size_t)15;
    void **top = (void **)(end - 8 * sizeof(void *));
    for (int i = 0; i < 8; i++) top[i] = nullptr;
    top[6] = (void *)begin;
    place = top;
}
#else
typedef ucontext_t ng_resumption;
static void ng_switch(ng_resumption *from, ng_resumption *to) { swapcontext(from, to); }

static void ng_prepare(ng_resumption &place, std::vector<char> &stack, void (*begin)()) {
    getcontext(&place);
    place.uc_stack.ss_sp = stack.data();
    place.uc_stack.ss_size = stack.size();
    place.uc_link = nullptr;
    makecontext(&place, begin, 0);
}
#endif

// Fibers of one block, which run a thread of each block after the other.
struct ng_fiber {
    ng_resumption place;
    std::vector<char> stack;
    bool ended;
};
struct ng_meeting {
    unsigned members, arrived, round;
};
static std::vector<ng_fiber *> ng_fibers;
static ng_resumption ng_scheduler;
static unsigned ng_current;
static ng_meeting ng_block, ng_warps[32];
static unsigned long long ng_slots[1024];
static bool ng_moved;

static void ng_yield() { ng_switch(&ng_fibers[ng_current]->place, &ng_scheduler); }

static void ng_meet(ng_meeting &meeting) {
    const unsigned round = meeting.round;
    ng_moved = true;
    if (++meeting.arrived == meeting.members) {
        meeting.arrived = 0;
        meeting.round++;
    }
    while (meeting.round == round) ng_yield();
}

static inline void __syncthreads() { ng_meet(ng_block); }
static inline void __syncwarp(unsigned = 0xffffffffu) { ng_meet(ng_warps[threadIdx.x / 32]); }

template <class T>
static T ng_exchange(T x, unsigned from) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    const unsigned own = threadIdx.x;
    memcpy(&ng_slots[own], &x, sizeof x);
    __syncwarp();
    if (from < 32 && own / 32 * 32 + from < blockDim.x) memcpy(&x, &ng_slots[own / 32 * 32 + from], sizeof x);
    __syncwarp();
    return x;
}
template <class T>
static T __shfl_xor_sync(unsigned, T x, int lanes) { return ng_exchange(x, threadIdx.x % 32 ^ lanes); }
template <class T>
static T __shfl_down_sync(unsigned, T x, unsigned by) { return ng_exchange(x, threadIdx.x % 32 + by); }
template <class T>
static T __shfl_up_sync(unsigned, T x, unsigned by) {
    return ng_exchange(x, threadIdx.x % 32 >= by ? threadIdx.x % 32 - by : threadIdx.x % 32);
}
template <class T>
static T __shfl_sync(unsigned, T x, int from) { return ng_exchange(x, (unsigned)from % 32); }

static inline unsigned __ballot_sync(unsigned, int is_set) {
    const unsigned own = threadIdx.x, first = own / 32 * 32;
    ng_slots[own] = is_set != 0;
    __syncwarp();
    unsigned res = 0;
    for (unsigned lane = 0; lane < 32 && first + lane < blockDim.x; lane++) res |= (unsigned)ng_slots[first + lane] << lane;
    __syncwarp();
    return res;
}

// Loads of 8 x 8 matrices of halves: each thread names a row, and gets two elements of each matrix.
static inline void ng_warp_load(unsigned (&x)[4], const void *row, bool turned) {
    const unsigned own = threadIdx.x, first = own / 32 * 32, lane = own % 32;
    ng_slots[own] = (unsigned long long)row;
    __syncwarp();
    for (unsigned matrix = 0; matrix < 4; matrix++) {
        unsigned short pair[2];
        for (unsigned it = 0; it < 2; it++) {
            const unsigned of_four = lane % 4 * 2 + it;
            const unsigned from = turned ? of_four : lane / 4, at = turned ? lane / 4 : of_four;
            pair[it] = ((const unsigned short *)ng_slots[first + matrix * 8 + from])[at];
        }
        x[matrix] = (unsigned)pair[0] | (unsigned)pair[1] << 16;
    }
    __syncwarp();
}

// `sums[16, 8] += x[16, 16] @ y[16, 8]` of the threads of a warp, which hold elements of each.
static inline void ng_warp_multiply(float (&sums)[4], const unsigned (&x)[4], unsigned y0, unsigned y1,
                                    float (*wide)(unsigned)) {
    static unsigned held[1024][6];
    const unsigned own = threadIdx.x, lane = own % 32;
    const unsigned mine[6] = {x[0], x[1], x[2], x[3], y0, y1};
    memcpy(held[own], mine, sizeof mine);
    __syncwarp();
    const unsigned(*warp)[6] = held + own / 32 * 32;
    for (unsigned it = 0; it < 4; it++) {
        const unsigned low_row = lane / 4, column = lane % 4 * 2 + it % 2;
        for (unsigned k = 0; k < 16; k++) {
            const unsigned shift = k % 2 * 16, of_eight = k % 8 / 2;
            const unsigned a = warp[low_row * 4 + of_eight][k / 8 * 2 + it / 2];
            const unsigned b = warp[column * 4 + of_eight][4 + k / 8];
            sums[it] += wide(a >> shift & 0xffff) * wide(b >> shift & 0xffff);
        }
    }
    __syncwarp();
}

struct ng_call {
    void (*run)(void *);
    void *with;
};
static ng_call ng_next;

static void ng_begin() {
    for (;;) {
        const ng_call call = ng_next;
        call.run(call.with);
        ng_fibers[ng_current]->ended = true;
        ng_moved = true;
        ng_yield();
    }
}

static void ng_run_block(void (*run)(void *), void *with, bool backwards) {
    const unsigned n = blockDim.x;
    ng_block = {n, 0, 0};
    for (unsigned warp = 0; warp < 32; warp++) {
        const unsigned first = warp * 32;
        ng_warps[warp] = {first >= n ? 0 : n - first < 32 ? n - first : 32, 0, 0};
    }
    while (ng_fibers.size() < n) {
        ng_fibers.push_back(new ng_fiber);
        ng_fiber &fiber = *ng_fibers.back();
        fiber.stack.resize(1 << 16);
        ng_prepare(fiber.place, fiber.stack, ng_begin);
    }
    for (unsigned at = 0; at < n; at++) ng_fibers[at]->ended = false;
    unsigned left = n;
    while (left > 0) {
        ng_moved = false;
        for (unsigned step = 0; step < n; step++) {
            ng_current = backwards ? n - 1 - step : step;
            ng_fiber &fiber = *ng_fibers[ng_current];
            if (fiber.ended) continue;
            threadIdx = {ng_current, 0, 0};
            ng_next = {run, with};
            ng_switch(&ng_scheduler, &fiber.place);
            if (fiber.ended) left--;
        }
        if (!ng_moved) {
            fprintf(stderr, "threads of a block wait for each other for ever\n");
            abort();
        }
    }
}

template <bool FIBERS, class... P>
static void ng_run(void (*kernel)(P...), const unsigned *shape, int backwards, void **values) {
    std::tuple<std::remove_const_t<P>...> all;
    unsigned next = 0;
    std::apply([&](auto &...to) { (memcpy((void *)&to, values[next++], sizeof to), ...); }, all);
    auto once = [&] { std::apply(kernel, all); };
    auto run = [](void *with) { (*static_cast<decltype(once) *>(with))(); };
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], 1, 1};
    std::vector<unsigned char> shared(shape[4]);
    ng_shared = shared.data();
    const unsigned long long n = (unsigned long long)shape[0] * shape[1] * shape[2];
    for (unsigned long long step = 0; step < n; step++) {
        const unsigned long long at = backwards ? n - 1 - step : step;
        blockIdx = {(unsigned)(at % shape[0]), (unsigned)(at / shape[0] % shape[1]),
                    (unsigned)(at / shape[0] / shape[1])};
        memset(ng_shared, 0xff, shape[4]);
        if (FIBERS) {
            ng_run_block(run, &once, backwards);
            continue;
        }
        for (unsigned thread = 0; thread < blockDim.x; thread++) {
            threadIdx = {backwards ? blockDim.x - 1 - thread : thread, 0, 0};
            once();
        }
    }
}
