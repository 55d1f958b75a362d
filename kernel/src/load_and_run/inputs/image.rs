//! Binary PPM and PGM images with 8 bits a channel: `[1, height, width, channels]` of uint8.
//! <https://netpbm.sourceforge.net/doc/ppm.html>

use super::{Data, Values, numel};

/// The image in the content of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<Data, String> {
    let (channels, mut rest) = match bytes {
        [b'P', b'5', rest @ ..] => (1, rest),
        [b'P', b'6', rest @ ..] => (3, rest),
        [b'P', b'1'..=b'4', ..] => return Err("only binary PPM (P6) and PGM (P5) are taken".into()),
        _ => return Err("not a formal ppm/pgm".into()),
    };
    let width = number(&mut rest)?;
    let height = number(&mut rest)?;
    let most = number(&mut rest)?;
    if most > 255 {
        return Err("images with 16 bits a channel are not taken".into());
    }
    if most == 0 {
        return Err("its largest value is 0".into());
    }
    let [byte, data @ ..] = rest else { return Err("the image is cut off".into()) };
    if !byte.is_ascii_whitespace() {
        return Err("not a formal ppm/pgm".into());
    }
    let shape = vec![1, height, width, channels];
    let n = numel(&shape).ok_or("the image is too large")?;
    let data = data.get(..n).ok_or_else(|| {
        format!("{width} x {height} pixels need {n} bytes, {} are there", data.len())
    })?;
    let values = Values::Ints(data.iter().map(|&it| i64::from(it)).collect());
    Ok(Data { shape, dtype: "uint8 image".into(), values })
}

/// The next number of the header; space and comments before it are skipped.
fn number(rest: &mut &[u8]) -> Result<usize, String> {
    loop {
        match rest {
            [b'#', ..] => {
                let end = rest.iter().position(|it| matches!(it, b'\n' | b'\r'));
                *rest = &rest[end.ok_or("the image is cut off")?..];
            }
            [byte, tail @ ..] if byte.is_ascii_whitespace() => *rest = tail,
            _ => break,
        }
    }
    let n_digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let (digits, tail) = rest.split_at(n_digits);
    *rest = tail;
    let number = std::str::from_utf8(digits).ok().and_then(|it| it.parse().ok());
    number.ok_or_else(|| "not a formal ppm/pgm".into())
}
