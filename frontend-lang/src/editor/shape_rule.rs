//! What shapes an op takes and gives, in words: those of its row, or those that follow from what kind of op it is.

use engine::OpDef;
use engine::op::{Body, shapes};

/// What is known of the result's shape.
pub(super) fn shape_rule(op: &'static OpDef) -> &'static str {
    match (op.body.is_elementwise(), op.body, op.n_tensors()) {
        (true, _, 1) => shapes::SAME,
        (true, ..) => shapes::BROADCAST,
        (_, Body::View(_), _) => shapes::VIEW,
        _ => op.surface.shapes,
    }
}

#[test]
fn every_op_has_a_rule_and_no_rule_is_left_over() {
    let without: Vec<&str> =
        engine::ops::all().filter(|it| shape_rule(it).is_empty()).map(|it| it.name).collect();
    assert!(without.is_empty(), "no rule: {without:?}");
    let over: Vec<&str> = engine::ops::all()
        .filter(|it| !it.surface.shapes.is_empty() && shape_rule(it) != it.surface.shapes)
        .map(|it| it.name)
        .collect();
    assert!(over.is_empty(), "needs no rule: {over:?}");
}

/// Where a rule says that the result has the shape of the input, the row says so too.
#[test]
fn what_keeps_its_shape_does_so_in_its_row() {
    use engine::{DType, Meta, Shape, Tensor};
    let shape = Shape::from([2, 3]);
    let input = Tensor::abstract_of(Meta::new(shape.clone(), DType::F32));
    let same = [shapes::SAME, shapes::TRIANGLE];
    for op in engine::ops::all().filter(|it| same.contains(&shape_rule(it))) {
        let others = op.params.iter().any(|it| !it.kind.is_tensor() && it.default.is_none());
        if op.n_tensors() != 1 || others || matches!(op.body, Body::Composed(_)) {
            continue;
        }
        let found = engine::apply::infer(op, std::slice::from_ref(&input), &op.default_attrs());
        let Ok(found) = found else { continue };
        assert!(found.iter().all(|it| it.shape == shape), "{}", op.name);
    }
}
