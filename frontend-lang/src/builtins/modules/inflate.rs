//! Inflate: what deflate has made smaller, for archives that NumPy compresses.
//! <https://www.rfc-editor.org/rfc/rfc1951>
//!
//! **Invariant:** any bytes give an answer or `None`, and never more than the number of bytes asked for.

/// Bits of the input, lowest first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for place in 0..count {
            let byte = *self.bytes.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(value)
    }
}

/// A code: how many words there are of each length, and the symbols in the order of their words.
struct Code {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[usize]) -> Code {
        let mut counts = [0; 16];
        lengths.iter().for_each(|it| counts[*it] += 1);
        counts[0] = 0;
        let of_length = |length: usize| (0..lengths.len()).filter(move |it| lengths[*it] == length);
        Code { counts, symbols: (1..16).flat_map(of_length).collect() }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut word, mut first, mut index) = (0_usize, 0, 0);
        for count in &self.counts[1..] {
            word |= bits.take(1)?;
            if word < first + count {
                return self.symbols.get(index + word.checked_sub(first)?).copied();
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }
}

const LENGTHS: [(usize, usize); 29] = table::<29>(3, 8, 4);
const DISTANCES: [(usize, usize); 30] = table::<30>(1, 4, 2);

/// Base and extra bits of each symbol: `plain` symbols without, then one bit more every `step` symbols.
const fn table<const N: usize>(first: usize, plain: usize, step: usize) -> [(usize, usize); N] {
    let mut rows = [(0, 0); N];
    let (mut at, mut base) = (0, first);
    while at < N {
        let extra = if at < plain { 0 } else { (at - plain) / step + 1 };
        rows[at] = (base, extra);
        base += 1 << extra;
        at += 1;
    }
    // The last length has a symbol of its own.
    if N == 29 {
        rows[28] = (258, 0);
    }
    rows
}

/// The bytes that `data` stands for: `size` of them.
pub(super) fn inflate(data: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes: data, at: 0 };
    let mut out = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let lengths: Vec<usize> = (0..288)
                    .map(|it| match it {
                        0..=143 => 8,
                        144..=255 => 9,
                        256..=279 => 7,
                        _ => 8,
                    })
                    .collect();
                block(&mut bits, &mut out, &Code::new(&lengths), &Code::new(&[5; 30]), size)?;
            }
            2 => {
                let (lengths, distances) = codes(&mut bits)?;
                block(&mut bits, &mut out, &lengths, &distances, size)?;
            }
            _ => return None,
        }
        if out.len() > size {
            return None;
        }
        if is_last {
            return (out.len() == size).then_some(out);
        }
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Option<()> {
    let at = bits.at.div_ceil(8);
    let length = usize::from(u16::from_le_bytes(bits.bytes.get(at..at + 2)?.try_into().ok()?));
    out.extend(bits.bytes.get(at + 4..at + 4 + length)?);
    bits.at = (at + 4 + length) * 8;
    Some(())
}

/// The codes that a block brings along, themselves in code.
fn codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    let (n_lengths, n_distances) = (bits.take(5)? + 257, bits.take(5)? + 1);
    let count = bits.take(4)? + 4;
    let mut lengths = [0; 19];
    for place in &ORDER[..count] {
        lengths[*place] = bits.take(3)?;
    }
    let code = Code::new(&lengths);
    let mut all = Vec::new();
    while all.len() < n_lengths + n_distances {
        let (length, times) = match code.read(bits)? {
            16 => (*all.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            18 => (0, bits.take(7)? + 11),
            length => (length, 1),
        };
        all.extend(std::iter::repeat_n(length, times));
    }
    let distances = all.get(n_lengths..n_lengths + n_distances)?;
    Some((Code::new(&all[..n_lengths]), Code::new(distances)))
}

fn block(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    lengths: &Code,
    distances: &Code,
    size: usize,
) -> Option<()> {
    loop {
        match lengths.read(bits)? {
            byte @ 0..=255 => out.push(byte as u8),
            256 => return Some(()),
            symbol => {
                let (base, extra) = *LENGTHS.get(symbol - 257)?;
                let length = base + bits.take(extra)?;
                let (base, extra) = *DISTANCES.get(distances.read(bits)?)?;
                let start = out.len().checked_sub(base + bits.take(extra)?)?;
                for at in start..start + length {
                    out.push(out[at]);
                }
            }
        }
        if out.len() > size {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inflate;

    #[test]
    fn reads_what_zlib_wrote() {
        // What zlib's compressobj(9, DEFLATED, -15) gives: a fixed code, a code of its own, and bytes as they are.
        let texts: [(&[u8], &[u8]); 3] = [
            (&[75, 76, 74, 78, 132, 33, 0], b"abcabcabcabc"),
            (&[53, 144, 129, 13, 4, 65, 8, 2, 91, 177, 53, 160, 255, 30, 158, 97, 255, 54, 151, 136, 10, 138, 39, 223, 157, 36, 159, 29, 23, 89, 69, 45, 42, 86, 174, 41, 175, 216, 217, 183, 46, 149, 130, 169, 82, 92, 94, 11, 9, 194, 48, 204, 155, 33, 38, 24, 134, 115, 89, 168, 30, 209, 27, 181, 238, 235, 235, 171, 179, 0, 29, 101, 172, 225, 105, 13, 1, 32, 108, 238, 226, 163, 119, 243, 194, 189, 75, 48, 0, 99, 87, 205, 228, 158, 103, 112, 123, 189, 212, 247, 29, 54, 132, 27, 252, 133, 180, 110, 253, 191, 152, 140, 63, 1, 249, 7], b"ab   aaab bbcb aaba bbb  acbac abaaaaacbabcabcaba bbbaaaca baab bcaacc aacaccbbb caaabb bbb abac bbcaabc ccaabcba ab babcabaac bbbbcaabaa ab babba babacbbcab   cb ab babab abbabbb abaabbb babba acabba a b   aa caa aba  aaaa baaaaaaabacaccabcabbaaabab aaaacbabb aaabaacabcbcbb ac cbbabcabcb accbacaaaa"),
            (&[1, 2, 0, 253, 255, 104, 105], b"hi"),
        ];
        for (packed, plain) in texts {
            assert_eq!(inflate(packed, plain.len()).as_deref(), Some(plain));
            assert_eq!(inflate(packed, plain.len() - 1), None);
            assert_eq!(inflate(&packed[..3], plain.len()), None);
        }
    }
}
