// Windows over planes. Names: T elements, C the type that is computed in, ADAPTIVE whether the windows divide the plane evenly.

struct ng_windows {
    int in[2], out[2], kernel[2], stride[2], padding[2], dilation[2];
};

// The elements of window `at` along one side, and how many there are with the padding.
__device__ inline void ng_window(const ng_windows &all, int side, int at, int &first, int &end, int &covered) {
#if ADAPTIVE
    first = (int)((long long)at * all.in[side] / all.out[side]);
    end = (int)(((long long)(at + 1) * all.in[side] + all.out[side] - 1) / all.out[side]);
    covered = end - first;
#else
    first = at * all.stride[side] - all.padding[side];
    end = min(first + all.kernel[side], all.in[side] + all.padding[side]);
    covered = end - first;
    first = max(first, 0), end = min(end, all.in[side]);
#endif
}

// DIVISOR: 0 the elements inside, 1 those with the padding, 2 a number.
__device__ inline C ng_divisor(int inside, int covered, double number) {
    return DIVISOR == 0 ? (C)inside : DIVISOR == 1 ? (C)covered : (C)number;
}

extern "C" __global__ void average(ng_i64 n, const T *x, T *y, const ng_windows all, double number) {
    NG_EACH(at, n) {
        const int column = (int)(at % all.out[1]), row = (int)(at / all.out[1] % all.out[0]);
        const T *plane = x + at / all.out[1] / all.out[0] * all.in[0] * all.in[1];
        int top, bottom, left, right, high, wide;
        ng_window(all, 0, row, top, bottom, high);
        ng_window(all, 1, column, left, right, wide);
        C sum = 0;
        for (int i = top; i < bottom; i++)
            for (int j = left; j < right; j++) sum += ng_get<C>(plane[i * all.in[1] + j]);
        ng_put(y[at], sum / ng_divisor((bottom - top) * (right - left), high * wide, number));
    }
}

// Windows along one side that an element may lie in.
__device__ inline void ng_around(const ng_windows &all, int side, int at, int &first, int &end) {
#if ADAPTIVE
    first = (int)((long long)at * all.out[side] / all.in[side]);
    end = (int)(((long long)(at + 1) * all.out[side] + all.in[side] - 1) / all.in[side]);
#else
    const int from = at + all.padding[side] - all.kernel[side] + 1;
    first = from <= 0 ? 0 : (from + all.stride[side] - 1) / all.stride[side];
    end = (at + all.padding[side]) / all.stride[side] + 1;
#endif
    end = min(end, all.out[side]);
}

extern "C" __global__ void average_backward(ng_i64 n, const T *dy, T *dx, const ng_windows all, double number) {
    NG_EACH(at, n) {
        const int column = (int)(at % all.in[1]), row = (int)(at / all.in[1] % all.in[0]);
        const T *plane = dy + at / all.in[1] / all.in[0] * all.out[0] * all.out[1];
        int row_first, row_end, column_first, column_end;
        ng_around(all, 0, row, row_first, row_end);
        ng_around(all, 1, column, column_first, column_end);
        C sum = 0;
        for (int i = row_first; i < row_end; i++)
            for (int j = column_first; j < column_end; j++) {
                int top, bottom, left, right, high, wide;
                ng_window(all, 0, i, top, bottom, high);
                ng_window(all, 1, j, left, right, wide);
                if (row < top || row >= bottom || column < left || column >= right) continue;
                sum += ng_get<C>(plane[i * all.out[1] + j]) / ng_divisor((bottom - top) * (right - left), high * wide, number);
            }
        ng_put(dx[at], sum);
    }
}

// The first of equal ones, the last NaN.
extern "C" __global__ void largest(ng_i64 n, const T *x, T *y, ng_i64 *places, const ng_windows all) {
    NG_EACH(at, n) {
        const int column = (int)(at % all.out[1]), row = (int)(at / all.out[1] % all.out[0]);
        const T *plane = x + at / all.out[1] / all.out[0] * all.in[0] * all.in[1];
        int best = -1;
        C most = 0;
        for (int i = 0; i < all.kernel[0]; i++) {
            const int r = row * all.stride[0] - all.padding[0] + i * all.dilation[0];
            if (r < 0 || r >= all.in[0]) continue;
            for (int j = 0; j < all.kernel[1]; j++) {
                const int c = column * all.stride[1] - all.padding[1] + j * all.dilation[1];
                if (c < 0 || c >= all.in[1]) continue;
                const C here = ng_get<C>(plane[r * all.in[1] + c]);
                if (best < 0 || here > most || here != here) most = here, best = r * all.in[1] + c;
            }
        }
        y[at] = plane[best < 0 ? 0 : best];
        places[at] = best;
    }
}
