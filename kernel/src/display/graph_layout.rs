//! Places the boxes of a graph in layers and routes the arrows between them. Pure geometry.
//!
//! Layers by longest path; order within a layer by barycentres; positions by least squares under
//! the order (Sugiyama's method, with pool-adjacent-violators for the last step).

/// Free space between neighbours and between layers, in pixels.
const GAP_X: f64 = 18.0;
const GAP_Y: f64 = 34.0;
/// The most bends in all; arrows beyond that run straight.
const BENDS: usize = 6000;
/// Room for an arrow that crosses a layer, in pixels.
const BEND: f64 = 6.0;

/// What is to be placed.
pub(crate) struct Boxes<'a> {
    /// Width of each box, in order of execution.
    pub(crate) widths: &'a [f64],
    /// Height of every box.
    pub(crate) height: f64,
    /// Pairs of box indices, from producer to consumer.
    pub(crate) edges: &'a [(usize, usize)],
}

/// Where everything is.
pub(crate) struct Layout {
    /// Centre and top of each box.
    pub(crate) places: Vec<(f64, f64)>,
    /// For each edge the middle points of the layers that it crosses: centre, top of the layer.
    pub(crate) bends: Vec<Vec<(f64, f64)>>,
    /// Size of the drawing.
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// A box, or the place where an arrow crosses a layer.
struct Slot {
    width: f64,
    layer: usize,
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

/// Places everything.
pub(crate) fn layout(boxes: &Boxes<'_>) -> Layout {
    let layers = layer_of_each(boxes);
    let mut slots: Vec<Slot> =
        boxes.widths.iter().zip(&layers).map(|(width, layer)| slot(*width, *layer)).collect();
    let routes = route(boxes, &layers, &mut slots);
    let mut rows = vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)];
    for (slot_idx, slot) in slots.iter().enumerate() {
        rows[slot.layer].push(slot_idx);
    }
    order(&mut rows, &slots);
    position(&rows, &mut slots);
    finish(boxes, &slots, &routes, rows.len())
}

fn slot(width: f64, layer: usize) -> Slot {
    Slot { width, layer, above: Vec::new(), below: Vec::new(), x: 0.0 }
}

/// One below the lowest producer; a box without producers stands right above its first consumer.
fn layer_of_each(boxes: &Boxes<'_>) -> Vec<usize> {
    let count = boxes.widths.len();
    let mut consumers = vec![Vec::new(); count];
    let mut has_producer = vec![false; count];
    for (from, to) in boxes.edges.iter().filter(|(from, to)| from < to) {
        consumers[*from].push(*to);
        has_producer[*to] = true;
    }
    let mut layers = vec![0; count];
    for from in 0..count {
        for to in &consumers[from] {
            layers[*to] = layers[*to].max(layers[from] + 1);
        }
    }
    for node in (0..count).filter(|node| !has_producer[*node]) {
        if let Some(first) = consumers[node].iter().map(|to| layers[*to]).min() {
            layers[node] = first - 1;
        }
    }
    layers
}

/// Adds a slot wherever an arrow crosses a layer, and links slots of neighbouring layers.
fn route(boxes: &Boxes<'_>, layers: &[usize], slots: &mut Vec<Slot>) -> Vec<Vec<usize>> {
    let mut left = BENDS;
    let mut routes = Vec::with_capacity(boxes.edges.len());
    for (from, to) in boxes.edges {
        let crossed = layers[*to].saturating_sub(layers[*from] + 1);
        if from >= to || crossed > left {
            routes.push(Vec::new());
            continue;
        }
        left -= crossed;
        let mut bends = Vec::with_capacity(crossed);
        let mut before = *from;
        for layer in layers[*from] + 1..layers[*to] {
            slots.push(slot(BEND, layer));
            let bend = slots.len() - 1;
            link(slots, before, bend);
            bends.push(bend);
            before = bend;
        }
        link(slots, before, *to);
        routes.push(bends);
    }
    routes
}

fn link(slots: &mut [Slot], above: usize, below: usize) {
    slots[above].below.push(below);
    slots[below].above.push(above);
}

/// Sorts each layer by the mean place of its neighbours, down and up a few times.
fn order(rows: &mut [Vec<usize>], slots: &[Slot]) {
    let mut place = vec![0.0; slots.len()];
    let note = |row: &[usize], place: &mut Vec<f64>| {
        let middle = (row.len() as f64 - 1.0) / 2.0;
        row.iter().enumerate().for_each(|(at, slot)| place[*slot] = at as f64 - middle);
    };
    rows.iter().for_each(|row| note(row, &mut place));
    for sweep in 0..10 {
        let down = sweep % 2 == 0;
        for step in 0..rows.len() {
            let row = if down { step } else { rows.len() - 1 - step };
            let key = |slot: &usize| {
                let near = if down { &slots[*slot].above } else { &slots[*slot].below };
                mean(near.iter().map(|it| place[*it])).unwrap_or(place[*slot])
            };
            let mut keyed: Vec<(f64, usize)> =
                rows[row].iter().map(|slot| (key(slot), *slot)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[row] = keyed.into_iter().map(|(_, slot)| slot).collect();
            note(&rows[row], &mut place);
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
    (count > 0.0).then_some(sum / count)
}

/// Moves each slot towards its neighbours, keeping order and distance.
fn position(rows: &[Vec<usize>], slots: &mut [Slot]) {
    for row in rows {
        let total: f64 = row.iter().map(|it| slots[*it].width + GAP_X).sum();
        let mut x = -total / 2.0;
        for it in row {
            slots[*it].x = x + (slots[*it].width + GAP_X) / 2.0;
            x += slots[*it].width + GAP_X;
        }
    }
    for sweep in 0..16 {
        for step in 0..rows.len() {
            let down = sweep % 2 == 0;
            let row = &rows[if down { step } else { rows.len() - 1 - step }];
            let wishes = row.iter().map(|it| Wish {
                x: wanted(slots, *it, down),
                width: slots[*it].width,
                weight: weight(&slots[*it]),
            });
            for (it, x) in row.iter().zip(apart(&wishes.collect::<Vec<_>>())) {
                slots[*it].x = x;
            }
        }
    }
}

/// The mean of the neighbours; a bend follows other bends, so that long arrows run straight.
fn wanted(slots: &[Slot], it: usize, down: bool) -> f64 {
    let slot = &slots[it];
    let near = if down { &slot.above } else { &slot.below };
    let (sum, total) = near.iter().fold((0.0, 0.0), |(sum, total), other| {
        let both_bend = weight(slot).min(weight(&slots[*other]));
        (sum + both_bend * slots[*other].x, total + both_bend)
    });
    if total > 0.0 { sum / total } else { slot.x }
}

/// How firmly a slot keeps to its wish.
fn weight(slot: &Slot) -> f64 {
    if slot.width <= BEND { 6.0 } else { 1.0 }
}

/// Where one slot of a layer would stand.
struct Wish {
    x: f64,
    width: f64,
    weight: f64,
}

/// The places nearest to the wishes (least squares) at which neighbours keep their distance.
fn apart(wishes: &[Wish]) -> Vec<f64> {
    // Subtracting the packed places turns "at least so far apart" into "ascending".
    let mut packed = vec![0.0; wishes.len()];
    for at in 1..wishes.len() {
        packed[at] = packed[at - 1] + (wishes[at - 1].width + wishes[at].width) / 2.0 + GAP_X;
    }
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (wish, packed) in wishes.iter().zip(&packed) {
        let mut block = (wish.x - packed, wish.weight, 1);
        while let Some((level, weight, count)) = blocks.pop_if(|(level, ..)| *level > block.0) {
            let total = weight + block.1;
            block = ((level * weight + block.0 * block.1) / total, total, count + block.2);
        }
        blocks.push(block);
    }
    let levels = blocks.iter().flat_map(|(level, _, count)| std::iter::repeat_n(*level, *count));
    levels.zip(&packed).map(|(level, packed)| level + packed).collect()
}

/// Moves everything into the drawing.
fn finish(boxes: &Boxes<'_>, slots: &[Slot], routes: &[Vec<usize>], n_rows: usize) -> Layout {
    let left = slots.iter().map(|it| it.x - it.width / 2.0).fold(f64::INFINITY, f64::min);
    let right = slots.iter().map(|it| it.x + it.width / 2.0).fold(f64::NEG_INFINITY, f64::max);
    let place = |slot: &Slot| (slot.x - left, slot.layer as f64 * (boxes.height + GAP_Y));
    Layout {
        places: slots[..boxes.widths.len()].iter().map(place).collect(),
        bends: routes
            .iter()
            .map(|bends| bends.iter().map(|it| place(&slots[*it])).collect())
            .collect(),
        width: if slots.is_empty() { 0.0 } else { right - left },
        height: (n_rows as f64 * (boxes.height + GAP_Y) - GAP_Y).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(widths: &[f64], edges: &[(usize, usize)]) -> Layout {
        layout(&Boxes { widths, height: 30.0, edges })
    }

    #[test]
    fn consumers_stand_below_producers() {
        let made = place(&[60.0; 5], &[(0, 1), (0, 2), (1, 4), (2, 4), (0, 4), (3, 4)]);
        let rows: Vec<f64> = made.places.iter().map(|(_, y)| y / (30.0 + GAP_Y)).collect();
        assert_eq!(rows, [0.0, 1.0, 1.0, 1.0, 2.0]);
        assert_eq!(made.bends.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn boxes_of_a_layer_do_not_touch() {
        let widths: Vec<f64> = (0..30).map(|it| 40.0 + f64::from(it * 7 % 50)).collect();
        let edges: Vec<_> = (0..29).flat_map(|it| [(it / 3, it + 1), (it / 2, it + 1)]).collect();
        let made = place(&widths, &edges);
        for (one, a) in made.places.iter().enumerate() {
            for (two, b) in made.places.iter().enumerate().skip(one + 1) {
                let least = (widths[one] + widths[two]) / 2.0;
                assert!(a.1 != b.1 || (a.0 - b.0).abs() > least, "{one} {two}");
            }
        }
        assert!(made.places.iter().all(|(x, _)| *x > 0.0 && *x < made.width));
    }

    #[test]
    fn places_nothing_and_loops() {
        assert_eq!(place(&[], &[]).height, 0.0);
        assert_eq!(place(&[10.0, 10.0], &[(0, 1), (1, 0), (1, 1)]).places.len(), 2);
    }

    #[test]
    fn keeps_distance_with_least_movement() {
        let at = |first: f64, second: f64, weight: f64| {
            apart(&[
                Wish { x: first, width: 2.0, weight: 1.0 },
                Wish { x: second, width: 2.0, weight },
            ])
        };
        assert_eq!(at(0.0, 0.0, 1.0), [-10.0, 10.0]);
        assert_eq!(at(0.0, 100.0, 1.0), [0.0, 100.0]);
        assert_eq!(at(0.0, 0.0, 3.0), [-15.0, 5.0]);
    }
}
