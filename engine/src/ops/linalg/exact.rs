//! Factors of matrices from their definitions, for meanings: plain loops in doubles, and how far results are from what defines them.

use ndarray::{Array2, ArrayD, Axis, Ix2, s};
use num_complex::Complex64;

use crate::meaning::{Array, MeaningCx};

pub(super) type Matrix = Array2<f64>;

/// The matrices that an array holds in its last two dimensions.
pub(super) fn matrices(array: &Array) -> Vec<Matrix> {
    each(&array.floats(), 2)
        .into_iter()
        .filter_map(|it| it.into_dimensionality::<Ix2>().ok())
        .collect()
}

/// The vectors that an array holds in its last dimension, as matrices of one column.
pub(super) fn vectors(array: &Array) -> Vec<Matrix> {
    let columns = |it: ArrayD<f64>| it.insert_axis(Axis(1)).into_dimensionality::<Ix2>().ok();
    each(&array.floats(), 1).into_iter().filter_map(columns).collect()
}

/// The numbers of an array of a number for each matrix.
pub(super) fn numbers(array: &Array) -> Vec<f64> {
    array.floats().iter().copied().collect()
}

fn each(array: &ArrayD<f64>, rank: usize) -> Vec<ArrayD<f64>> {
    let lead = array.ndim() - rank;
    let count = array.shape()[..lead].iter().product::<usize>();
    let own = array.shape()[lead..].to_vec();
    let flat = array.to_shape([&[count], &own[..]].concat());
    flat.map_or_else(|_| Vec::new(), |it| it.outer_iter().map(|it| it.to_owned()).collect())
}

/// An array of matrices under the first dimensions of operand 0, each of a size; without their second dimension if `rank` is 1, and so on.
pub(super) fn stacked(cx: &MeaningCx<'_>, all: &[Matrix], size: [usize; 2], rank: usize) -> Array {
    let lead = &cx.shape(0)[..cx.shape(0).len() - 2];
    let elements: Vec<f64> = all.iter().flat_map(|it| it.iter().copied()).collect();
    let shape = [lead, &size[..rank]].concat();
    ArrayD::from_shape_vec(shape.clone(), elements).unwrap_or_else(|_| ArrayD::zeros(shape)).into()
}

/// As [`stacked`], of a whole number for each.
pub(super) fn counts(cx: &MeaningCx<'_>, all: &[i64]) -> Array {
    let lead = cx.shape(0)[..cx.shape(0).len() - 2].to_vec();
    ArrayD::from_shape_vec(lead.clone(), all.to_vec())
        .unwrap_or_else(|_| ArrayD::zeros(lead))
        .into()
}

/// Numbers as a matrix of one column.
pub(super) fn column(numbers: &[f64]) -> Matrix {
    Matrix::from_shape_fn((numbers.len(), 1), |(row, _)| numbers[row])
}

/// The first place on the diagonal, counted from 1, that is 0, or 0.
pub(super) fn first_zero(matrix: &Matrix) -> i64 {
    matrix.diag().iter().position(|it| *it == 0.0).map_or(0, |it| it as i64 + 1)
}

/// Infinite where a number is not 0.
pub(super) fn any_failed(info: &Array) -> f64 {
    if info.ints().iter().any(|it| *it != 0) { f64::INFINITY } else { 0.0 }
}

/// Infinite where numbers do not ascend, or descend if `sign` is -1.
pub(super) fn unordered(numbers: &Matrix, sign: f64) -> f64 {
    let all: Vec<f64> = numbers.iter().map(|it| it * sign).collect();
    if all.windows(2).all(|it| it[0] <= it[1]) { 0.0 } else { f64::INFINITY }
}

/// How far `a @ x` is from `b`, as a share of what goes into them; nothing is asked where `a` is singular to the last bit.
pub(super) fn unsolved(a: &Matrix, b: &Matrix, x: &Matrix) -> f64 {
    let (lu, _) = lu(a);
    if first_zero(&lu) > 0 {
        return 0.0;
    }
    far(&a.dot(x), b, size(a) * size(x) * a.nrows() as f64 + size(b))
}

/// The largest absolute value.
pub(super) fn size(matrix: &Matrix) -> f64 {
    matrix.iter().fold(0.0, |most, it| most.max(it.abs()))
}

/// The largest difference, as a share of `size`; infinite where one is not a number.
pub(super) fn far(got: &Matrix, want: &Matrix, size: f64) -> f64 {
    let one = |(a, b): (&f64, &f64)| {
        let share = (a - b).abs() / size.max(f64::MIN_POSITIVE);
        if share.is_nan() { f64::INFINITY } else { share }
    };
    got.iter().zip(want).map(one).fold(0.0, f64::max)
}

/// How far columns are from being of length 1 and at right angles.
pub(super) fn askew(columns: &Matrix) -> f64 {
    far(&columns.t().dot(columns), &Matrix::eye(columns.ncols()), 1.0)
}

/// The elements on and below a diagonal.
pub(super) fn lower(matrix: &Matrix, diagonal: i64) -> Matrix {
    Matrix::from_shape_fn(matrix.dim(), |(row, column)| {
        if column as i64 <= row as i64 + diagonal { matrix[[row, column]] } else { 0.0 }
    })
}

/// A symmetric matrix by one of its triangles.
pub(super) fn symmetric(matrix: &Matrix, upper: bool) -> Matrix {
    let read = if upper { matrix.t().to_owned() } else { matrix.clone() };
    lower(&read, 0) + lower(&read, -1).t()
}

/// The factor of Cholesky of a symmetric matrix, or the order of the first leading minor that is not positive, with its last pivot.
pub(super) fn cholesky(a: &Matrix) -> Result<Matrix, (usize, f64)> {
    let n = a.nrows();
    let mut l = Matrix::zeros((n, n));
    for row in 0..n {
        for column in 0..=row {
            let known = (0..column).map(|it| l[[row, it]] * l[[column, it]]).sum::<f64>();
            let rest = a[[row, column]] - known;
            if row > column {
                l[[row, column]] = rest / l[[column, column]];
            } else if rest > 0.0 {
                l[[row, row]] = rest.sqrt();
            } else {
                return Err((row + 1, rest));
            }
        }
    }
    Ok(l)
}

/// Gauss' elimination with partial pivoting: both factors in one matrix, and with which row, counted from 1, each was exchanged.
pub(super) fn lu(a: &Matrix) -> (Matrix, Vec<i64>) {
    let (mut it, (m, n)) = (a.clone(), a.dim());
    let mut pivots = Vec::new();
    for step in 0..m.min(n) {
        let better = |best: usize, row: usize| {
            if it[[row, step]].abs() > it[[best, step]].abs() { row } else { best }
        };
        let pivot = (step..m).fold(step, better);
        pivots.push(pivot as i64 + 1);
        (0..n).for_each(|column| it.swap([step, column], [pivot, column]));
        for row in step + 1..m {
            if it[[step, step]] != 0.0 {
                it[[row, step]] /= it[[step, step]];
            }
            for column in step + 1..n {
                it[[row, column]] -= it[[row, step]] * it[[step, column]];
            }
        }
    }
    (it, pivots)
}

/// Both factors apart.
pub(super) fn factors(lu: &Matrix) -> [Matrix; 2] {
    let (m, n) = lu.dim();
    let size = m.min(n);
    let l = lower(&lu.slice(s![.., ..size]).to_owned(), -1)
        + Matrix::eye(m.max(size)).slice(s![..m, ..size]);
    let u = lower(&lu.slice(s![..size, ..]).t().to_owned(), 0).t().to_owned();
    [l, u]
}

/// Which row of `size` comes to each place by the exchanges.
pub(super) fn places(pivots: &[i64], size: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..size).collect();
    for (row, pivot) in pivots.iter().enumerate() {
        let other = (*pivot - 1) as usize;
        if row < size && other < size {
            places.swap(row, other);
        }
    }
    places
}

/// The rows of a matrix in another order.
pub(super) fn taken(matrix: &Matrix, rows: &[usize]) -> Matrix {
    matrix.select(Axis(0), rows)
}

/// What `a @ x = b` is solved by.
pub(super) fn solved(a: &Matrix, b: &Matrix) -> Matrix {
    let (it, pivots) = lu(a);
    let [l, u] = factors(&it);
    let half = by_triangle(&l, &taken(b, &places(&pivots, a.nrows())), false);
    by_triangle(&u, &half, true)
}

/// What `a @ x = b` is solved by for a triangular `a`.
pub(super) fn by_triangle(a: &Matrix, b: &Matrix, upper: bool) -> Matrix {
    let (n, mut x) = (a.nrows(), b.clone());
    for step in 0..n {
        let row = if upper { n - 1 - step } else { step };
        for column in 0..b.ncols() {
            let others = (0..n).filter(|it| if upper { *it > row } else { *it < row });
            let known = others.map(|it| a[[row, it]] * x[[it, column]]).sum::<f64>();
            x[[row, column]] = (b[[row, column]] - known) / a[[row, row]];
        }
    }
    x
}

/// Householder's reflections with LAPACK's signs: a square of columns at right angles, and a triangle.
pub(super) fn qr(a: &Matrix) -> [Matrix; 2] {
    let (m, n) = a.dim();
    let (mut q, mut r) = (Matrix::eye(m), a.clone());
    for step in 0..n.min(m.saturating_sub(1)) {
        let mut v = r.slice(s![step.., step..=step]).to_owned();
        if v.iter().skip(1).all(|it| *it == 0.0) {
            continue;
        }
        let length = v.iter().map(|it| it * it).sum::<f64>().sqrt();
        v[[0, 0]] += if v[[0, 0]] < 0.0 { -length } else { length };
        v /= v.iter().map(|it| it * it).sum::<f64>().sqrt();
        let below = r.slice(s![step.., ..]).to_owned();
        r.slice_mut(s![step.., ..]).assign(&(&below - &(v.dot(&v.t().dot(&below)) * 2.0)));
        let beside = q.slice(s![.., step..]).to_owned();
        q.slice_mut(s![.., step..]).assign(&(&beside - &(beside.dot(&v).dot(&v.t()) * 2.0)));
    }
    [q, lower(&r.t().to_owned(), 0).t().to_owned()]
}

/// Jacobi's rotations: ascending eigenvalues of a symmetric matrix, and their vectors as columns.
pub(super) fn eigh(a: &Matrix) -> (Vec<f64>, Matrix) {
    let (n, mut a) = (a.nrows(), a.clone());
    let mut v = Matrix::eye(n);
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                let (c, s) = rotation(a[[q, q]] - a[[p, p]], a[[p, q]]);
                rotate(&mut a, p, q, c, s);
                a = a.reversed_axes();
                rotate(&mut a, p, q, c, s);
                a = a.reversed_axes();
                rotate(&mut v, p, q, c, s);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|x, y| a[[*x, *x]].total_cmp(&a[[*y, *y]]));
    let mut v = v.select(Axis(1), &order);
    (0..n).for_each(|it| orient(&mut v, it, None));
    (order.iter().map(|it| a[[*it, *it]]).collect(), v)
}

/// Cosine and sine of the angle with `tan(2 angle) = 2 product / difference`.
fn rotation(difference: f64, product: f64) -> (f64, f64) {
    if product == 0.0 {
        return (1.0, 0.0);
    }
    let ratio = difference / (2.0 * product);
    let tangent = if ratio < 0.0 { -1.0 } else { 1.0 } / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, tangent * cosine)
}

/// Turns two columns.
fn rotate(a: &mut Matrix, p: usize, q: usize, c: f64, s: f64) {
    for row in 0..a.nrows() {
        let (x, y) = (a[[row, p]], a[[row, q]]);
        (a[[row, p]], a[[row, q]]) = (c * x - s * y, s * x + c * y);
    }
}

/// Turns a column around, and row `at` of another matrix, so that its largest element is positive.
fn orient(columns: &mut Matrix, at: usize, rows: Option<&mut Matrix>) {
    let most = columns.column(at).iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    if columns.column(at).iter().find(|it| it.abs() >= 0.99 * most).is_some_and(|it| *it < 0.0) {
        columns.column_mut(at).mapv_inplace(|it| -it);
        if let Some(rows) = rows.filter(|it| at < it.nrows()) {
            rows.row_mut(at).mapv_inplace(|it| -it);
        }
    }
}

/// Columns turned until they are at right angles: squares of vectors to the left and to the right, and descending singular values.
pub(super) fn svd(a: &Matrix) -> (Matrix, Vec<f64>, Matrix) {
    let (m, n) = a.dim();
    let is_wide = m < n;
    let scale = size(a).max(f64::MIN_POSITIVE);
    let mut columns = if is_wide { a.t().to_owned() } else { a.clone() } / scale;
    let count = columns.ncols();
    let mut v = Matrix::eye(count);
    for _ in 0..60 {
        for p in 0..count {
            for q in p + 1..count {
                let dot = |x: usize, y: usize| columns.column(x).dot(&columns.column(y));
                let (c, s) = rotation(dot(q, q) - dot(p, p), dot(p, q));
                rotate(&mut columns, p, q, c, s);
                rotate(&mut v, p, q, c, s);
            }
        }
    }
    let lengths: Vec<f64> =
        (0..count).map(|it| columns.column(it).dot(&columns.column(it)).sqrt()).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|x, y| lengths[*y].total_cmp(&lengths[*x]));
    // The reflections complete the columns; where these are at right angles the triangle is diagonal.
    let [mut u, r] = qr(&columns.select(Axis(1), &order));
    for at in 0..count {
        if r[[at, at]] < 0.0 {
            u.column_mut(at).mapv_inplace(|it| -it);
        }
    }
    let values = order.iter().map(|it| lengths[*it] * scale).collect();
    let vh = v.select(Axis(1), &order).reversed_axes();
    let (mut u, mut vh) = if is_wide { (vh.reversed_axes(), u.reversed_axes()) } else { (u, vh) };
    (0..u.ncols()).for_each(|it| orient(&mut u, it, Some(&mut vh)));
    let mut alone = vh.reversed_axes();
    (u.ncols()..n).for_each(|it| orient(&mut alone, it, None));
    (u, values, alone.reversed_axes())
}

/// Eigenvalues of any square matrix and their vectors of length 1, whose largest element is real and positive.
pub(super) fn eig(a: &Matrix) -> (Vec<Complex64>, Array2<Complex64>) {
    let n = a.nrows();
    let [mut t, mut q] = [a.mapv(Complex64::from), Array2::eye(n)];
    // Steps of the QR algorithm on the rows that have not come apart, shifted by an eigenvalue of the last two of them.
    let mut end = n;
    for _ in 0..600 * n {
        while end > 1 && is_apart(&t, end - 1) {
            end -= 1;
        }
        if end <= 1 {
            break;
        }
        let shifts = Array2::from_diag_elem(end, nearest(&t, end - 1));
        let turned = gram_schmidt(&(&t.slice(s![..end, ..end]) - &shifts));
        let mut whole = Array2::eye(n);
        whole.slice_mut(s![..end, ..end]).assign(&turned);
        t = whole.t().mapv(|it: Complex64| it.conj()).dot(&t).dot(&whole);
        q = q.dot(&whole);
    }
    let mut values: Vec<Complex64> = t.diag().to_vec();
    let mut v = Array2::zeros((n, n));
    for (at, value) in values.iter().enumerate() {
        let mut x = vec![Complex64::ZERO; n];
        x[at] = Complex64::ONE;
        for row in (0..at).rev() {
            let known = (row + 1..=at).map(|it| t[[row, it]] * x[it]).sum::<Complex64>();
            let gap = value - t[[row, row]];
            let tiny = 1e-16 * size(a).max(f64::MIN_POSITIVE);
            x[row] = known / if gap.norm() < tiny { Complex64::from(tiny) } else { gap };
        }
        let x = q.dot(&ndarray::Array1::from(x));
        let most = x.iter().fold(0.0_f64, |most, it| most.max(it.norm()));
        let length = x.iter().map(|it| it.norm_sqr()).sum::<f64>().sqrt();
        let phase = x
            .iter()
            .find(|it| it.norm() >= 0.99 * most)
            .map_or(Complex64::ONE, |it| it / it.norm());
        v.column_mut(at).assign(&x.mapv(|it| it / phase / length));
    }
    // Of a conjugate pair the one with a positive imaginary part stands first.
    for at in 1..n {
        let [x, y] = [values[at - 1], values[at]];
        if x.im < -1e-9 * size(a) && (x.conj() - y).norm() <= 1e-9 * size(a) {
            values.swap(at - 1, at);
            (0..n).for_each(|row| v.swap([row, at - 1], [row, at]));
        }
    }
    (values, v)
}

/// Whether the rest of a row has come to nothing as well.
fn is_apart(t: &Array2<Complex64>, row: usize) -> bool {
    let most = t.iter().fold(0.0_f64, |most, it| most.max(it.norm()));
    (0..row).all(|it| t[[row, it]].norm() <= 1e-16 * most)
}

/// The eigenvalue of two rows that is nearest to the last element.
fn nearest(t: &Array2<Complex64>, last: usize) -> Complex64 {
    let [a, b, c, d] =
        [(1, 1), (1, 0), (0, 1), (0, 0)].map(|(row, column)| t[[last - row, last - column]]);
    let (mean, root) = ((a + d) / 2.0, ((a - d) * (a - d) / 4.0 + b * c).sqrt());
    let [x, y] = [mean + root, mean - root];
    if (x - d).norm() < (y - d).norm() { x } else { y }
}

/// Columns at right angles for those of a matrix; each is turned twice.
fn gram_schmidt(a: &Array2<Complex64>) -> Array2<Complex64> {
    let (n, mut q) = (a.nrows(), a.clone());
    for at in 0..n {
        // A column that depends on those before it gives way to one of the identity.
        for unit in 0..=n {
            let before = q.column(at).iter().map(|it| it.norm_sqr()).sum::<f64>().sqrt();
            for other in 0..2 * at {
                let other = q.column(other % at).to_owned();
                let along =
                    other.iter().zip(q.column(at)).map(|(x, y)| x.conj() * y).sum::<Complex64>();
                q.column_mut(at).scaled_add(-Complex64::ONE, &other.mapv(|it| it * along));
            }
            let length = q.column(at).iter().map(|it| it.norm_sqr()).sum::<f64>().sqrt();
            if length > 1e-14 * before {
                q.column_mut(at).mapv_inplace(|it| it / length);
                break;
            }
            let identity = Array2::<Complex64>::eye(n);
            q.column_mut(at).assign(&identity.column(unit.min(n - 1)));
        }
    }
    q
}
