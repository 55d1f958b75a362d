//! Graphs for any size of some dimensions. A program is recorded at several sizes; where its graphs differ in numbers alone, each of
//! these is a polynomial of the sizes, and the text with the polynomials in place of the numbers is the graph for all of them:
//! `reshape(%3; shape=[<4*N>, 10])`.
//!
//! The sizes at which it is recorded are primes that no program writes, so that a number that happens to be the size of a batch is not
//! taken for one. What the formulas give is compared with the graph of the sizes that the program has really seen, and of others at
//! which programs often do something else.

mod formula;
mod trials;

use super::parse::{MakeRegion, parse_with};
use super::{Graph, text};
use crate::{Error, Result, Tensor};
use formula::{Formula, Grid};

/// Most dimensions that one graph has.
pub const MOST: usize = 3;

/// A graph for any sizes of its dimensions.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    names: Vec<String>,
    /// Makes the regions of branches and loops.
    make: MakeRegion,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.names) == (&other.text, &other.names)
    }
}

impl Eq for Template {}

impl Template {
    /// The graph of a program with these dimensions. `record` gives it at sizes; `seen` are sizes at which the program has run. `make`
    /// makes regions, as [`crate::graph::parse::parse_with`] asks for them.
    pub fn of(
        names: &[String],
        seen: &[usize],
        record: &mut dyn FnMut(&[usize]) -> Result<Graph>,
        make: MakeRegion,
    ) -> Result<Self> {
        check_names(names)?;
        let grid = Grid::new(names);
        let mut texts = Vec::with_capacity(grid.len());
        let graph = record(seen)?;
        let weights = text::constants(&graph);
        for sizes in grid.points() {
            let graph = record(sizes)?;
            let here = text::constants(&graph);
            let known = here.len() == weights.len()
                && here.iter().zip(&weights).all(|it| it.0.has_bits_of(it.1));
            if !known {
                return Err(refused(
                    "a tensor that it makes of numbers, or takes from outside, depends on the sizes",
                ));
            }
            texts.push(graph.to_string());
        }
        let template = Self { text: unified(&grid, &texts)?, names: names.to_vec(), make };
        let same = template.graph(seen, &weights)?.to_string() == graph.to_string();
        match same {
            true => Ok(template),
            false => Err(refused(&format!(
                "at {} its ops are others than at larger sizes",
                listed(names, seen)
            ))),
        }
    }

    /// One that stood in a file. Nothing is checked but the names.
    pub(crate) fn stored(text: String, names: Vec<String>, make: MakeRegion) -> Result<Self> {
        check_names(&names)?;
        Ok(Self { text, names, make })
    }

    /// The names of the dimensions.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The text with formulas for numbers that depend on sizes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Sizes at which numbers are looked at that depend on them.
    pub(crate) fn points(&self) -> Vec<Vec<usize>> {
        Grid::new(&self.names).points().to_vec()
    }

    /// A number that is `seen` at these points, as a sum: each term has a factor, and the dimensions whose sizes it is multiplied by.
    pub(crate) fn whole(&self, seen: &[i64]) -> Option<Vec<(i64, Vec<usize>)>> {
        let grid = Grid::new(&self.names);
        let seen: Vec<String> = seen.iter().map(i64::to_string).collect();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        let Formula::Sum(terms) = Formula::fit(&grid, &seen)? else { return None };
        let dim = |name: &str| self.names.iter().position(|it| it == name);
        let dims = |names: Vec<&str>| names.into_iter().map(dim).collect::<Option<Vec<_>>>();
        terms.into_iter().map(|(factor, names)| Some((factor, dims(names)?))).collect()
    }

    /// The graph at these sizes; `constants` as for [`parse_with`].
    pub fn graph(&self, sizes: &[usize], constants: &[Tensor]) -> Result<Graph> {
        if sizes.len() != self.names.len() {
            return Err(refused("one size per dimension is needed"));
        }
        let mut filled = String::with_capacity(self.text.len());
        let mut rest = self.text.as_str();
        while let Some((before, behind)) = rest.split_once('<') {
            let closed = behind.split_once('>').ok_or_else(|| refused("a formula has no end"))?;
            filled.push_str(before);
            filled.push_str(&formula::evaluated(closed.0, &self.names, sizes)?);
            rest = closed.1;
        }
        filled.push_str(rest);
        parse_with(&filled, constants, self.make)
    }
}

/// The text of all graphs of a grid, with formulas where they differ.
fn unified(grid: &Grid<'_>, texts: &[String]) -> Result<String> {
    let lines: Vec<Vec<&str>> = texts.iter().map(|it| it.lines().collect()).collect();
    let n_lines = lines[0].len();
    let mut res = String::with_capacity(texts[0].len());
    for at in 0..n_lines {
        let line: Option<Vec<&str>> = lines.iter().map(|it| it.get(at).copied()).collect();
        let line = line.ok_or_else(|| other_ops(grid, lines[0][at]))?;
        res.push_str(&unified_line(grid, &line)?);
        res.push('\n');
    }
    match lines.iter().all(|it| it.len() == n_lines) {
        true => Ok(res),
        false => Err(other_ops(grid, lines[0][n_lines - 1])),
    }
}

/// What an op gives follows from its operands and attributes, so kinds that differ are left open.
fn unified_line(grid: &Grid<'_>, line: &[&str]) -> Result<String> {
    let is_same = line.iter().all(|it| *it == line[0]);
    if is_same {
        return Ok(line[0].to_owned());
    }
    let halves: Option<Vec<_>> = line.iter().map(|it| it.rsplit_once(" : ")).collect();
    let Some(halves) = halves else { return unified_tokens(grid, line) };
    let (ops, kinds): (Vec<&str>, Vec<&str>) = halves.into_iter().unzip();
    let kinds = match kinds.iter().all(|it| *it == kinds[0]) {
        true => kinds[0].to_owned(),
        false => vec!["_"; kinds[0].matches('[').count()].join(", "),
    };
    Ok(format!("{} : {kinds}", unified_tokens(grid, &ops)?))
}

fn unified_tokens(grid: &Grid<'_>, texts: &[&str]) -> Result<String> {
    let tokens: Vec<Vec<&str>> = texts.iter().map(|it| tokens(it)).collect();
    if tokens.iter().any(|it| it.len() != tokens[0].len()) {
        return Err(other_ops(grid, texts[0]));
    }
    let mut res = String::with_capacity(texts[0].len());
    for at in 0..tokens[0].len() {
        let seen: Vec<&str> = tokens.iter().map(|it| it[at]).collect();
        if seen.iter().all(|it| *it == seen[0]) {
            res.push_str(seen[0]);
            continue;
        }
        if !seen.iter().all(|it| is_number(it)) {
            return Err(other_ops(grid, texts[0]));
        }
        let formula = Formula::fit(grid, &seen).ok_or_else(|| no_formula(grid, texts[0], &seen))?;
        res.push_str(&format!("<{formula}>"));
    }
    Ok(res)
}

/// `%12`, a word, a number with its sign, or one other character, one after the other.
fn tokens(text: &str) -> Vec<&str> {
    let mut res = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '.';
        let mut len = first.len_utf8();
        let signed = first == '-' && rest[1..].starts_with(|it: char| it.is_ascii_digit());
        if is_word(first) || first == '%' || signed {
            let behind = &rest[len..];
            len += behind.find(|it| !is_word(it)).unwrap_or(behind.len());
            // `1e-5`
            let exponent = rest[len..].strip_prefix('-').filter(|_| {
                rest[..len].ends_with('e')
                    && rest[..1].chars().all(|it| it.is_ascii_digit() || it == '-')
            });
            if let Some(exponent) = exponent {
                len += 1 + exponent.find(|it| !is_word(it)).unwrap_or(exponent.len());
            }
        }
        res.push(&rest[..len]);
        rest = &rest[len..];
    }
    res
}

fn is_number(token: &str) -> bool {
    token.trim_start_matches('-').starts_with(|it: char| it.is_ascii_digit())
}

fn check_names(names: &[String]) -> Result<()> {
    let is_name = |it: &String| {
        it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    if names.is_empty() || names.len() > MOST {
        return Err(refused(&format!(
            "1 to {MOST} dimensions can have any size, not {}",
            names.len()
        )));
    }
    for (at, name) in names.iter().enumerate() {
        if !is_name(name) || names[..at].contains(name) {
            return Err(refused(&format!("names of dimensions are different words, not `{name}`")));
        }
    }
    Ok(())
}

fn listed(names: &[String], sizes: &[usize]) -> String {
    let pairs: Vec<String> =
        names.iter().zip(sizes).map(|it| format!("{} = {}", it.0, it.1)).collect();
    pairs.join(", ")
}

fn other_ops(grid: &Grid<'_>, line: &str) -> Error {
    refused(&format!(
        "it does other things at other sizes of {} (from `{}` on), such as a loop over them or a branch on them",
        grid.names().join(" and "),
        line.trim()
    ))
}

fn no_formula(grid: &Grid<'_>, line: &str, seen: &[&str]) -> Error {
    let points: Vec<String> = grid
        .points()
        .iter()
        .zip(seen)
        .take(3)
        .map(|(sizes, it)| format!("{it} at {}", listed(grid.names(), sizes)))
        .collect();
    refused(&format!(
        "a number in `{}` is no sum of products of sizes ({})",
        line.trim(),
        points.join(", ")
    ))
}

fn refused(problem: &str) -> Error {
    Error::Trace { problem: format!("the graph cannot take other sizes: {problem}") }
}

#[cfg(test)]
mod tests;
