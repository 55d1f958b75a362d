//! Graphs of one class through the passes and by recipe.

use super::*;
use crate::graph::parse::parse;
use crate::passes::EXACT;

/// A mean over rows, twice reshaped on the way.
fn averaged(rows: usize, columns: usize) -> Graph {
    let (n, weight) = (rows * columns, 1.0 / rows as f64);
    let text = format!(
        "graph(%0: f32[{rows}, {columns}], %1: f32[{columns}]) {{
            %2 = reshape(%0; shape=[{n}]) : f32[{n}]
            %3 = reshape(%2; shape=[{columns}, {rows}]) : f32[{columns}, {rows}]
            %4 = mul(%3, {weight:?}) : f32[{columns}, {rows}]
            %5 = mul(%1, 1.0) : f32[{columns}]
            %6 = mul(%5, 0.25) : f32[{columns}]
            return %4, %6
        }}"
    );
    parse(&text, &[]).unwrap()
}

fn passed(graph: &Graph) -> Graph {
    optimize(graph.clone(), EXACT, &mut Log::default()).unwrap()
}

/// What recipes make of a graph is what the passes make of it; whether those did not have to run.
fn used(recipes: &mut Recipes, graph: &Graph) -> bool {
    let before = recipes.n_used();
    let made = recipes.optimize(graph.clone(), EXACT, &mut Log::default()).unwrap();
    assert_eq!(made.to_string(), passed(graph).to_string());
    recipes.n_used() > before
}

#[test]
fn the_third_graph_of_a_class_needs_no_passes() {
    let mut recipes = Recipes::default();
    assert_eq!(passed(&averaged(40, 10)).n_ops(), averaged(40, 10).n_ops() - 2);
    let rows = [40, 48, 56, 11, 1000];
    assert_eq!(
        rows.map(|it| used(&mut recipes, &averaged(it, 10))),
        [false, false, true, true, true]
    );
    // As many rows as columns, or fewer, are another class.
    assert_eq!(
        [10, 9, 8, 7].map(|it| used(&mut recipes, &averaged(it, 10))),
        [false, false, false, true]
    );
}

#[test]
fn only_what_was_seen_to_differ_may_differ() {
    let mut recipes = Recipes::default();
    let sizes = [(40, 10), (48, 10), (48, 12), (56, 10), (60, 20), (70, 30)];
    assert_eq!(
        sizes.map(|it| used(&mut recipes, &averaged(it.0, it.1))),
        [false, false, false, true, true, true]
    );
}

#[test]
fn where_passes_make_constants_they_run_each_time() {
    let mut recipes = Recipes::default();
    for rows in [40, 48, 56] {
        let text = format!(
            "graph(%0: f32[{rows}]) {{ %1 = mul({:?}, 0.3) : f32[] %2 = mul(%0, %1) : f32[{rows}] return %2 }}",
            1.0 / rows as f64
        );
        assert!(!used(&mut recipes, &parse(&text, &[]).unwrap()));
    }
}

/// A constant in the place of another one, which is the same for the first two numbers.
#[test]
fn constants_that_passes_make_are_not_trusted() {
    let mut recipes = Recipes::default();
    let scale = crate::test_ops::tensor(&[10.0, 20.0, 30.0]);
    for most in [40.5, 48.5, 25.5, 15.5] {
        let text = format!(
            "graph(%0: f32[3]) {{ %1 = const(0) : f32[3] %2 = minimum(%1, {most:?}) : f32[3] %3 = mul(%0, %2) : f32[3] return %3 }}"
        );
        let graph = parse(&text, std::slice::from_ref(&scale)).unwrap();
        assert_eq!(passed(&graph).n_ops(), 1);
        assert!(!used(&mut recipes, &graph), "{most}");
        let made = recipes.optimize(graph.clone(), EXACT, &mut Log::default()).unwrap();
        let constants = [made, passed(&graph)].map(|it| text::constants(&it).remove(0));
        assert!(constants[0].has_bits_of(&constants[1]), "{most}");
    }
}

#[test]
fn graphs_with_large_constants_are_of_no_class() {
    let of_length = |n: usize| {
        let weights = Tensor::from_vec(&vec![1.0_f32; n], crate::Shape::new(&[n])).unwrap();
        let text = format!(
            "graph(%0: f32[{n}]) {{ %1 = const(0) : f32[{n}] %2 = mul(%0, %1) : f32[{n}] return %2 }}"
        );
        classify(&parse(&text, &[weights]).unwrap())
    };
    assert!(of_length(100).is_some() && of_length(100_000).is_none());
}

#[test]
fn the_least_used_classes_are_forgotten() {
    let mut recipes = Recipes::default();
    let wide = |columns: usize| averaged(2000, columns);
    used(&mut recipes, &wide(3));
    used(&mut recipes, &averaged(2001, 3));
    for at in 0..MOST {
        let text =
            format!("graph(%0: f32[7]) {{ %1 = mul(%0, {}.0) : f32[7] return %1 }}", at + 20);
        used(&mut recipes, &parse(&text, &[]).unwrap());
        assert!(used(&mut recipes, &averaged(3000 + at, 3)), "{at}");
    }
    assert!(recipes.known.len() <= MOST);
}
