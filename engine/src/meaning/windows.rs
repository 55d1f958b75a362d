//! Windows that move over images `[..., height, width]`: what convolution and pooling are defined on.

use ndarray::{ArrayD, IxDyn};

use super::{Array, MeaningCx, by_index, index};

/// A convolution as the elements that meet in it: each output position (n, k, i, j) takes from input channel c of its group, at
/// h = i stride + r dilation - padding and likewise w, times the tap (r, s) of kernel k.
pub(crate) struct Meeting {
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
}

impl Meeting {
    /// From the attributes stride, padding, dilation and groups, which begin at `idx`.
    pub(crate) fn new(cx: &MeaningCx<'_>, idx: usize) -> Self {
        Self {
            stride: cx.pair(idx, [1, 1]),
            padding: cx.pair(idx + 1, [0, 0]),
            dilation: cx.pair(idx + 2, [1, 1]),
            groups: cx.int(idx + 3) as usize,
        }
    }

    /// Height and width of what images of these sizes give with kernels of these.
    pub(crate) fn output(&self, image: [usize; 2], kernel: [usize; 2]) -> [usize; 2] {
        [0, 1].map(|it| {
            let room = image[it] + 2 * self.padding[it] - self.dilation[it] * (kernel[it] - 1) - 1;
            room / self.stride[it] + 1
        })
    }

    /// Calls `meet(index in the images, index in the kernels, index in the output)` for all elements that meet, given those shapes.
    pub(crate) fn each(
        &self,
        [images, kernels, outputs]: [&[usize]; 3],
        mut meet: impl FnMut(&[usize], &[usize], &[usize]),
    ) {
        for output in ndarray::indices(IxDyn(outputs)) {
            for taps in ndarray::indices(IxDyn(&kernels[1..])) {
                let (kernel, channel) = (output[1], taps[0]);
                let group = kernel / (kernels[0] / self.groups);
                let place = |axis: usize| {
                    (output[2 + axis] * self.stride[axis] + taps[1 + axis] * self.dilation[axis])
                        .checked_sub(self.padding[axis])
                        .filter(|it| *it < images[2 + axis])
                };
                if let (Some(row), Some(column)) = (place(0), place(1)) {
                    let image = [output[0], group * kernels[1] + channel, row, column];
                    let tap = [kernel, channel, taps[1], taps[2]];
                    meet(&image, &tap, index(&output));
                }
            }
        }
    }
}

/// The windows over images of a shape: for each output row the rows that it covers, and likewise columns. Some may lie outside.
pub(crate) struct Windows {
    shape: Vec<usize>,
    covered: [Vec<Vec<i64>>; 2],
    padding: [usize; 2],
}

/// One window of one plane.
pub(crate) struct Window<'a> {
    plane: &'a [usize],
    covered: [&'a [i64]; 2],
    image: [usize; 2],
    padding: [usize; 2],
}

impl Windows {
    /// From the attributes kernel_size, stride and padding, and ceil_mode at `ceil`.
    pub(crate) fn strided(
        cx: &MeaningCx<'_>,
        shape: &[usize],
        dilation: [usize; 2],
        ceil: usize,
    ) -> Self {
        let kernel = cx.pair(0, [1, 1]);
        let (stride, padding) = (cx.pair(1, kernel), cx.pair(2, [0, 0]));
        let covered = [0, 1].map(|axis| {
            let size = shape[shape.len() - 2 + axis];
            let room = size + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1) - 1;
            let begin = |at: usize| (at * stride[axis]) as i64 - padding[axis] as i64;
            let window = |at| {
                (0..kernel[axis])
                    .map(move |tap| begin(at) + (tap * dilation[axis]) as i64)
                    .collect()
            };
            // Rounded up, one more window may reach outside, if it begins before the padding at the end.
            let n_inside = room / stride[axis] + 1;
            let is_left = (n_inside - 1) * stride[axis] < room && begin(n_inside) < size as i64;
            let is_more = cx.flag(ceil) && is_left;
            (0..n_inside + usize::from(is_more)).map(window).collect()
        });
        Self { shape: shape.to_vec(), covered, padding }
    }

    /// Windows that divide images evenly into `output`.
    pub(crate) fn adaptive(shape: &[usize], output: [usize; 2]) -> Self {
        let covered = [0, 1].map(|axis| {
            let (size, n) = (shape[shape.len() - 2 + axis], output[axis]);
            let window = |at: usize| {
                let covered = at * size / n..((at + 1) * size).div_ceil(n);
                covered.map(|it| it as i64).collect()
            };
            (0..n).map(window).collect()
        });
        Self { shape: shape.to_vec(), covered, padding: [0, 0] }
    }

    /// What `of` gives for each window.
    pub(crate) fn each<T>(&self, of: impl Fn(&Window<'_>) -> T) -> ArrayD<T> {
        by_index(&self.output(), |at| of(&self.window(at)))
    }

    /// The sum over each window, divided.
    pub(crate) fn sums(&self, x: &Array, divisor: impl Fn(&Window<'_>) -> f64) -> Array {
        let x = x.floats();
        let sum = |it: &Window<'_>| it.places().iter().map(|at| x[&at[..]]).sum::<f64>();
        self.each(|it| sum(it) / divisor(it)).into()
    }

    /// Each element divided and added to all places of its window.
    pub(crate) fn spread(&self, dy: &Array, divisor: impl Fn(&Window<'_>) -> f64) -> Array {
        let mut dx = by_index(&self.shape, |_| 0.0);
        for (at, dy) in dy.floats().indexed_iter() {
            let window = self.window(index(&at));
            window.places().iter().for_each(|to| dx[&to[..]] += dy / divisor(&window));
        }
        dx.into()
    }

    fn output(&self) -> Vec<usize> {
        let [rows, columns] = &self.covered;
        [&self.shape[..self.shape.len() - 2], &[rows.len(), columns.len()]].concat()
    }

    fn window<'a>(&'a self, at: &'a [usize]) -> Window<'a> {
        let (plane, rest) = at.split_at(at.len() - 2);
        let [rows, columns] = &self.covered;
        let image = [self.shape[at.len() - 2], self.shape[at.len() - 1]];
        Window { plane, covered: [&rows[rest[0]], &columns[rest[1]]], image, padding: self.padding }
    }
}

impl Window<'_> {
    /// The places inside the image, row by row.
    pub(crate) fn places(&self) -> Vec<Vec<usize>> {
        let inside = |axis: usize| {
            let places = self.covered[axis].iter().filter_map(|it| usize::try_from(*it).ok());
            places.filter(move |it| *it < self.image[axis])
        };
        inside(0)
            .flat_map(|row| inside(1).map(move |it| [self.plane, &[row, it]].concat()))
            .collect()
    }

    /// How many places lie inside.
    pub(crate) fn n_inside(&self) -> f64 {
        self.places().len() as f64
    }

    /// What the sum is divided by to be a mean: a number that is given, or how many places there are, with padding or without.
    pub(crate) fn divisor(&self, cx: &MeaningCx<'_>) -> f64 {
        let n_padded = |axis: usize| {
            let end = (self.image[axis] + self.padding[axis]) as i64;
            self.covered[axis].iter().filter(|it| **it < end).count() as f64
        };
        match cx.opt_int(5) {
            Some(given) => given as f64,
            None if cx.flag(4) => n_padded(0) * n_padded(1),
            None => self.n_inside(),
        }
    }
}
