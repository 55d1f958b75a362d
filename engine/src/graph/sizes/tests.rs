//! Graphs recorded at several sizes become one; what is no formula is refused.

use super::*;
use crate::{Attr, Attrs, DType, Layout, Number, Shape, ops};

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|it| (*it).to_owned()).collect()
}

/// `reshape(x, [n * t, 3 * c])` summed over rows, over their number, plus a number per call of `more`.
fn program(
    sizes: &[usize],
    more: impl Fn(&mut Graph, usize) -> crate::Result<()>,
) -> Result<Graph> {
    let (n, t) = (sizes[0], sizes.get(1).copied().unwrap_or(5));
    let mut graph = Graph::new();
    let x = graph.input(DType::F32, Layout::contiguous(Shape::new(&[n, t, 12])));
    let find = |name: &str| ops::find(name).unwrap();
    let shape = Attr::sizes(&[n * t, 4, 3]);
    let turned = graph.apply_one(find("reshape"), &[x], &Attrs::from_iter([shape]))?;
    let mut attrs = find("sum").default_attrs();
    attrs[0] = Attr::ints(&[0]);
    let sum = graph.apply_one(find("sum"), &[turned], &attrs)?;
    let part = graph.number(Number::Float(1.0 / (n * t) as f64));
    let mean = graph.apply_one(find("mul"), &[sum, part], &Attrs::new())?;
    graph.outputs.push(mean);
    more(&mut graph, n)?;
    Ok(graph)
}

#[test]
fn numbers_become_formulas_of_sizes() {
    let record = &mut |sizes: &[usize]| program(sizes, |_, _| Ok(()));
    let template = Template::of(&names(&["N", "T"]), &[2, 5], record, make).unwrap();
    let text = template.text();
    assert!(text.contains("%0: f32[<N>, <T>, 12]"), "{text}");
    assert!(text.contains("shape=[<N*T>, 4, 3]) : _\n"), "{text}");
    assert!(text.contains("<1.0/N/T>"), "{text}");
    for sizes in [[1, 1], [7, 30], [2, 5]] {
        let want = program(&sizes, |_, _| Ok(())).unwrap().to_string();
        assert_eq!(template.graph(&sizes, &[]).unwrap().to_string(), want);
    }
    assert!(template.graph(&[1], &[]).is_err());
}

#[test]
fn one_dimension_alone() {
    let record = &mut |sizes: &[usize]| program(sizes, |_, _| Ok(()));
    let template = Template::of(&names(&["batch"]), &[8], record, make).unwrap();
    assert!(template.text().contains("shape=[<5*batch>, 4, 3]"), "{}", template.text());
}

fn refusal(more: impl Fn(&mut Graph, usize) -> crate::Result<()>) -> String {
    let record = &mut |sizes: &[usize]| program(sizes, &more);
    Template::of(&names(&["N"]), &[8], record, make).unwrap_err().to_string()
}

fn add_number(graph: &mut Graph, number: f64) -> crate::Result<()> {
    let number = graph.number(Number::Float(number));
    let out = graph.outputs[0];
    graph.outputs[0] = graph.apply_one(ops::find("add").unwrap(), &[out, number], &Attrs::new())?;
    Ok(())
}

#[test]
fn what_is_no_formula_is_refused() {
    let loops = refusal(|graph, n| (0..n).try_for_each(|it| add_number(graph, it as f64 + 0.5)));
    assert!(loops.contains("it does other things at other sizes of N"), "{loops}");
    let roots = refusal(|graph, n| add_number(graph, (n as f64).sqrt()));
    assert!(roots.contains("is no sum of products of sizes"), "{roots}");
    let branch = refusal(|graph, n| if n > 100 { add_number(graph, 2.0) } else { Ok(()) });
    assert!(branch.contains("at N = 8 its ops are others than at larger sizes"), "{branch}");
    let small = refusal(|graph, n| add_number(graph, if n > 100 { 2.0 } else { 3.0 }));
    assert!(small.contains("at N = 8 its ops are others"), "{small}");
}

#[test]
fn formulas_from_files_are_not_trusted() {
    let text = |formula: &str| format!("graph(%0: f32[{formula}, 2]) {{\n  return %0\n}}\n");
    let at = |formula: &str, size| {
        let template = Template::stored(text(formula), names(&["N"]), make).unwrap();
        template.graph(&[size], &[]).map(|it| it.to_string())
    };
    assert_eq!(at("<3*N+-2>", 4).unwrap(), text("10"));
    assert_eq!(at("<2*N*N+N+1>", 4).unwrap(), text("37"));
    for bad in
        ["<M>", "<>", "<N", "<N*>", "<1.5*N>", "<-1*N>", "<9223372036854775807*N>", "<N/N>", "<+>"]
    {
        assert!(at(bad, 4).is_err(), "{bad}");
    }
    for bad in [&[][..], &["N", "N"], &["2"], &["a b"], &["A", "B", "C", "D"], &["<"]] {
        assert!(Template::stored(String::new(), names(bad), make).is_err(), "{bad:?}");
    }
}

#[test]
fn quotients_give_the_bits_of_the_division() {
    let names = names(&["N", "T"]);
    let programs: [fn(f64, f64) -> f64; 6] = [
        |n, _| 1.0 / (5.0 * n),
        |n, t| 2.0 / (7.0 * n * t),
        |n, _| -1.0 / n,
        |n, _| 0.5 * n,
        |n, t| 3.0 * t / n,
        |n, _| n / 3.0,
    ];
    let known = Grid::new(&names);
    for program in programs {
        let value = |it: &Vec<usize>| format!("{:?}", program(it[0] as f64, it[1] as f64));
        let seen: Vec<String> = known.points().iter().map(value).collect();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        let formula = Formula::fit(&known, &seen).unwrap().to_string();
        for sizes in [[1, 1], [3, 1000], [77, 13], [8, 49]] {
            let want = format!("{:?}", program(sizes[0] as f64, sizes[1] as f64));
            assert_eq!(formula::evaluated(&formula, &names, &sizes).unwrap(), want, "{formula}");
        }
    }
}

fn make(graph: &Graph) -> Result<crate::attr::Region> {
    crate::region::region_of(graph)
}
