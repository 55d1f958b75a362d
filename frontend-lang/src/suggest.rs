//! "Did you mean": the nearest of a set of names.

/// The name in `names` that is nearest to `wanted`, if one is near enough to be meant.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() + 1) / 3;
    let scored = names.into_iter().filter(|it| !it.is_empty() && *it != wanted).map(|name| {
        let lowered = distance(&wanted.to_lowercase(), &name.to_lowercase());
        (lowered * 2 + (distance(wanted, name) > lowered) as usize, name)
    });
    scored.filter(|(score, _)| *score <= limit * 2).min_by_key(|(score, _)| *score).map(|it| it.1)
}

/// Edits between two words: insert, remove, replace, swap neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 6 {
        return usize::MAX / 4;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = (a[i - 1] != b[j - 1]) as usize;
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_near_names_only() {
        assert_eq!(nearest("lenght", ["length", "width"]), Some("length"));
        assert_eq!(nearest("relu", ["ReLU", "gelu"]), Some("ReLU"));
        assert_eq!(nearest("x", ["epoch", "batch"]), None);
    }
}
