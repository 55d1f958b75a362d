//! Functions on f64 that the standard library lacks.
#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

/// 1 / (1 + e^-x).
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The error function. Coefficients and intervals of FreeBSD's `s_erf.c` (Sun Microsystems, 1993).
pub fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let a = x.abs();
    if a < 0.84375 {
        return if a < 2.0_f64.powi(-28) { x + EFX * x } else { x + x * near(x * x) };
    }
    if a >= 6.0 {
        return 1.0_f64.copysign(x);
    }
    let size = if a < 1.25 { ERX + middle(a - 1.0) } else { 1.0 - tail(a) };
    size.copysign(x)
}

/// The complementary error function, `1 - erf(x)` without cancellation.
pub fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let a = x.abs();
    if a < 0.84375 {
        if a < 2.0_f64.powi(-56) {
            return 1.0 - x;
        }
        let y = near(x * x);
        return if x < 0.25 { 1.0 - (x + x * y) } else { 0.5 - (x * y + (x - 0.5)) };
    }
    if a < 1.25 {
        let part = middle(a - 1.0);
        return if x >= 0.0 { 1.0 - ERX - part } else { 1.0 + (ERX + part) };
    }
    match (x > 0.0, a) {
        (true, 28.0..) => 0.0,
        (true, _) => tail(a),
        (false, 6.0..) => 2.0,
        (false, _) => 2.0 - tail(a),
    }
}

/// The x with `erf(x) = y`; infinite at -1 and 1, NaN beyond.
///
/// Winitzki's formula for the first two digits, then Halley's method on the smaller of erf and erfc: three steps give all digits.
pub fn erfinv(y: f64) -> f64 {
    let size = y.abs();
    if size >= 1.0 || y.is_nan() {
        return if size == 1.0 { f64::INFINITY.copysign(y) } else { f64::NAN };
    }
    let log = (-size * size).ln_1p();
    let first = 2.0 / (std::f64::consts::PI * 0.147) + log / 2.0;
    let mut x = ((first * first - log / 0.147).sqrt() - first).sqrt();
    if x < 1e-4 {
        x = size / std::f64::consts::FRAC_2_SQRT_PI;
    }
    for _ in 0..3 {
        let ahead = if size < 0.5 { erf(x) - size } else { (1.0 - size) - erfc(x) };
        let step = ahead * (x * x).exp() / std::f64::consts::FRAC_2_SQRT_PI;
        x -= step / (1.0 + x * step);
    }
    x.copysign(y)
}

const EFX: f64 = 1.283_791_670_955_125_7e-1;
const ERX: f64 = 8.450_629_115_104_675e-1;

fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |acc, &it| acc * x + it)
}

fn near(z: f64) -> f64 {
    let p = [
        1.283_791_670_955_125_6e-1,
        -3.250_421_072_470_015e-1,
        -2.848_174_957_559_851e-2,
        -5.770_270_296_489_442e-3,
        -2.376_301_665_665_016_3e-5,
    ];
    let q = [
        1.0,
        3.979_172_239_591_553_5e-1,
        6.502_224_998_876_729e-2,
        5.081_306_281_875_766e-3,
        1.324_947_380_043_216_4e-4,
        -3.960_228_278_775_368e-6,
    ];
    horner(z, &p) / horner(z, &q)
}

fn middle(s: f64) -> f64 {
    let p = [
        -2.362_118_560_752_659_4e-3,
        4.148_561_186_837_483_3e-1,
        -3.722_078_760_357_013e-1,
        3.183_466_199_011_617_5e-1,
        -1.108_946_942_823_966_8e-1,
        3.547_830_432_561_823_6e-2,
        -2.166_375_594_868_790_8e-3,
    ];
    let q = [
        1.0,
        1.064_208_804_008_442_3e-1,
        5.403_979_177_021_71e-1,
        7.182_865_441_419_627e-2,
        1.261_712_198_087_616_4e-1,
        1.363_708_391_202_905_1e-2,
        1.198_449_984_679_911e-2,
    ];
    horner(s, &p) / horner(s, &q)
}

/// 1 - erf for 1.25 <= a < 6.
fn tail(a: f64) -> f64 {
    let s = 1.0 / (a * a);
    let (r, t) = if a < 1.0 / 0.35 {
        let r = [
            -9.864_944_034_847_148e-3,
            -6.938_585_727_071_818e-1,
            -1.055_862_622_532_329_1e1,
            -6.237_533_245_032_601e1,
            -1.623_966_694_625_734_7e2,
            -1.846_050_929_067_110_4e2,
            -8.128_743_550_630_66e1,
            -9.814_329_344_169_145,
        ];
        let t = [
            1.0,
            1.965_127_166_743_925_7e1,
            1.376_577_541_435_190_4e2,
            4.345_658_774_752_292_3e2,
            6.453_872_717_332_679e2,
            4.290_081_400_275_678_3e2,
            1.086_350_055_417_794_4e2,
            6.570_249_770_319_282,
            -6.042_441_521_485_81e-2,
        ];
        (horner(s, &r), horner(s, &t))
    } else {
        let r = [
            -9.864_942_924_700_1e-3,
            -7.992_832_376_805_23e-1,
            -1.775_795_491_775_475_2e1,
            -1.606_363_848_558_219_2e2,
            -6.375_664_433_683_896e2,
            -1.025_095_131_611_077_2e3,
            -4.835_191_916_086_514e2,
        ];
        let t = [
            1.0,
            3.033_806_074_348_245_8e1,
            3.257_925_129_965_739e2,
            1.536_729_586_084_437e3,
            3.199_858_219_508_595_5e3,
            2.553_050_406_433_164_4e3,
            4.745_285_412_069_554e2,
            -2.244_095_244_658_582e1,
        ];
        (horner(s, &r), horner(s, &t))
    };
    // The square is split, so that its rounding does not show in the exponent.
    let z = f64::from_bits(a.to_bits() & 0xffff_ffff_0000_0000);
    (-z * z - 0.5625).exp() * ((z - a) * (z + a) + r / t).exp() / a
}
