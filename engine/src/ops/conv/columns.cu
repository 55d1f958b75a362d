// Images as columns, one for each position of the kernels, so that convolutions are products of matrices.

struct ng_steps {
    int channels, in[2], kernel[2], out[2], stride[2], padding[2], dilation[2];
};

// Which element of a plane a tap at a position sees; -1 for none.
__device__ inline int ng_seen(const ng_steps &all, int tap_row, int tap_column, int row, int column) {
    const int r = row * all.stride[0] - all.padding[0] + tap_row * all.dilation[0];
    const int c = column * all.stride[1] - all.padding[1] + tap_column * all.dilation[1];
    return r < 0 || r >= all.in[0] || c < 0 || c >= all.in[1] ? -1 : r * all.in[1] + c;
}

// A block for each line: image, group, channel and tap together. The steps say how far apart images, groups and lines lie.
extern "C" __global__ void to_columns(ng_i64 lines, const T *x, T *columns, const ng_steps all, ng_i64 image_step,
                                      ng_i64 line_step, ng_i64 group_step, int groups) {
    const int area = all.out[0] * all.out[1], taps = all.kernel[0] * all.kernel[1];
    for (ng_i64 line = blockIdx.x; line < lines; line += gridDim.x) {
        const int tap = (int)(line % taps), channel = (int)(line / taps % all.channels);
        const ng_i64 rest = line / taps / all.channels;
        const int group = (int)(rest % groups), tap_row = tap / all.kernel[1], tap_column = tap % all.kernel[1];
        const ng_i64 image = rest / groups;
        const T *plane = x + (rest * all.channels + channel) * all.in[0] * all.in[1];
        T *to = columns + image * image_step + group * group_step + (ng_i64)(channel * taps + tap) * line_step;
        for (int position = threadIdx.x; position < area; position += blockDim.x) {
            const int row = position / all.out[1], column = position - row * all.out[1];
            const int seen = ng_seen(all, tap_row, tap_column, row, column);
            T value = T{};
            if (seen >= 0) value = plane[seen];
            to[position] = value;
        }
    }
}

// Adds up what columns `[image, group, channel and tap, position]` say of each element of the images.
extern "C" __global__ void from_columns(ng_i64 n, const C *columns, T *x, const ng_steps all) {
    const int area = all.out[0] * all.out[1], taps = all.kernel[0] * all.kernel[1];
    NG_EACH(at, n) {
        const int column = (int)(at % all.in[1]), row = (int)(at / all.in[1] % all.in[0]);
        // Image, group and channel together.
        const C *lines = columns + at / all.in[1] / all.in[0] * taps * area;
        C sum = 0;
        for (int tap = 0; tap < taps; tap++) {
            const int r = row + all.padding[0] - tap / all.kernel[1] * all.dilation[0];
            const int c = column + all.padding[1] - tap % all.kernel[1] * all.dilation[1];
            if (r < 0 || c < 0 || r % all.stride[0] || c % all.stride[1]) continue;
            const int out_row = r / all.stride[0], out_column = c / all.stride[1];
            if (out_row >= all.out[0] || out_column >= all.out[1]) continue;
            sum += lines[(ng_i64)tap * area + out_row * all.out[1] + out_column];
        }
        ng_put(x[at], sum);
    }
}

// Adds the bias of each channel.
extern "C" __global__ void add_bias(ng_i64 n, T *y, const T *bias, ng_i64 channels, ng_i64 area) {
    NG_EACH(at, n) ng_put(y[at], ng_get<C>(y[at]) + ng_get<C>(bias[at / area % channels]));
}

// Adds one part to another.
extern "C" __global__ void add_to(ng_i64 n, C *sum, const C *more) {
    NG_EACH(at, n) sum[at] += more[at];
}

// The sums of parts, rounded.
extern "C" __global__ void sum_parts(ng_i64 n, ng_i64 n_parts, const C *parts, T *out) {
    NG_EACH(at, n) {
        C sum = 0;
#pragma unroll 8
        for (ng_i64 part = 0; part < n_parts; part++) sum += parts[part * n + at];
        ng_put(out[at], sum);
    }
}
