//! Writes PNG files: compressed, not filtered.
//!
//! Spec: <https://www.w3.org/TR/png-3/>.

use magics::artifact::Image;
use miniz_oxide::deflate::compress_to_vec_zlib;

/// The file for a picture; `None` if its sizes do not fit its bytes.
pub(crate) fn write(image: &Image) -> Option<Vec<u8>> {
    let color_type = match image.channels {
        1 => 0,
        3 => 2,
        4 => 6,
        _ => return None,
    };
    let row = image.width.checked_mul(image.channels)?;
    let (width, height) = (u32::try_from(image.width).ok()?, u32::try_from(image.height).ok()?);
    if width == 0 || height == 0 || image.pixels.len() != row.checked_mul(image.height)? {
        return None;
    }
    let mut rows = Vec::with_capacity(image.pixels.len() + image.height);
    for row in image.pixels.chunks(row) {
        rows.push(0);
        rows.extend_from_slice(row);
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, color_type, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &head);
    chunk(&mut file, b"IDAT", &compress_to_vec_zlib(&rows, 6));
    chunk(&mut file, b"IEND", &[]);
    Some(file)
}

/// Each pixel as the mean of a square of `factor` by `factor`; whole squares only.
pub(crate) fn shrink(image: &Image, factor: usize) -> Image {
    let (width, height) = ((image.width / factor).max(1), (image.height / factor).max(1));
    let mut pixels = Vec::with_capacity(width * height * image.channels);
    for at in 0..width * height * image.channels {
        let (pixel, channel) = (at / image.channels, at % image.channels);
        let (left, top) = (pixel % width * factor, pixel / width * factor);
        let (mut sum, mut count) = (0usize, 0usize);
        for y in top..(top + factor).min(image.height) {
            for x in left..(left + factor).min(image.width) {
                sum += usize::from(image.pixels[(y * image.width + x) * image.channels + channel]);
                count += 1;
            }
        }
        pixels.push((sum / count.max(1)) as u8);
    }
    Image { width, height, channels: image.channels, pixels, title: image.title.clone() }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_match_the_published_one() {
        // The check value of the CRC catalogue.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn refuses_sizes_that_do_not_fit() {
        let image =
            Image { width: 2, height: 2, channels: 3, pixels: vec![0; 11], title: String::new() };
        assert_eq!(write(&image), None);
        assert_eq!(write(&Image { width: usize::MAX, ..image.clone() }), None);
        assert_eq!(write(&Image { channels: 2, pixels: vec![0; 8], ..image }), None);
    }

    #[test]
    fn shrinks_by_means() {
        let image = Image {
            width: 4,
            height: 2,
            channels: 1,
            pixels: vec![0, 4, 8, 8, 4, 8, 8, 8],
            title: String::new(),
        };
        assert_eq!(shrink(&image, 2).pixels, [4, 8]);
    }
}
