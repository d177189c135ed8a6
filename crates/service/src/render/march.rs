//! Visibility: for every pixel the distance of the ground or sea seen there, found by marching each column's ray from the
//! camera outwards over the heights and keeping the highest row covered so far.

use super::camera::View;
use super::canvas::Canvas;
use super::maths::mix;

/// The farthest that anything is looked for, in metres.
const HORIZON: f32 = 21_000.0;

/// A silhouette: the pixel it runs through and how much of that pixel the nearer thing covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    index: u32,
    cover: f32,
}

/// Forward distances at which heights are looked up, growing with distance.
pub(crate) fn steps(nearest: f32) -> Vec<f32> {
    let mut steps = vec![nearest];
    let mut t = nearest;
    while t < HORIZON {
        t += (t * 0.02).max(0.22);
        steps.push(t);
    }
    steps
}

/// Fills `canvas.nearness` from `height(x, y, distance)`. Beyond each of the `steps` no height exceeds the one of
/// `ceilings` with the same index. Silhouettes go to `edges`.
pub(crate) fn march(
    canvas: &mut Canvas,
    view: &View,
    steps: &[f32],
    ceilings: &[f32],
    edges: &mut Vec<Edge>,
    height: impl Fn(f32, f32, f32) -> f32,
) {
    let steps = &steps[first_step(view, steps, &height)..];
    let ceilings = &ceilings[ceilings.len() - steps.len()..];
    canvas.nearness.fill(0.0);
    edges.clear();
    let rows = canvas.height;
    let farthest = view.focal / HORIZON;
    // With each step: its distance, pixels a metre there, and the highest row that anything from there on can reach.
    let scaled: Vec<(f32, f32, f32)> = steps
        .iter()
        .zip(ceilings)
        .map(|(t, ceiling)| {
            let above = ceiling - view.eye[2];
            let scale = view.focal / t;
            (*t, scale, view.horizon - above * if above > 0.0 { scale } else { farthest })
        })
        .collect();
    for x in 0..canvas.width {
        let [dx, dy] = view.ray(x as f32 + 0.5);
        let start = canvas.at(x, 0);
        let column = &mut canvas.nearness[start..start + rows];
        // Rows at and below `top` are settled; `edge` is the exact height of what settled them.
        let mut top = rows;
        let mut edge = rows as f32;
        let (mut row_before, mut near_before) = (rows as f32 + 1e4, 1.0 / steps[0]);
        for &(t, scale, highest) in &scaled {
            if highest >= edge {
                break;
            }
            let z = height(view.eye[0] + dx * t, view.eye[1] + dy * t, t);
            let row = view.horizon - (z - view.eye[2]) * scale;
            let near = 1.0 / t;
            if row < edge {
                // Came out from behind something: that something's silhouette ends here.
                if row_before > edge + 0.75 && edge < rows as f32 && edge > 0.0 {
                    push_edge(edges, start, edge, rows);
                }
                let reach = (row - 0.5).ceil().clamp(0.0, top as f32) as usize;
                if reach < top {
                    let span = (row_before - row).max(1e-3);
                    let slope = (near_before - near) / span;
                    for (y, slot) in column.iter_mut().enumerate().take(top).skip(reach) {
                        let below = (y as f32 + 0.5 - row).min(span);
                        *slot = near + slope * below;
                    }
                    top = reach;
                }
                edge = row;
                if top == 0 {
                    break;
                }
            }
            (row_before, near_before) = (row, near);
        }
        if edge > 0.0 && edge < rows as f32 {
            push_edge(edges, start, edge, rows);
        }
    }
}

/// The first step whose ground can lie within the picture: what is at the camera's feet is below its lower rim.
fn first_step(view: &View, steps: &[f32], height: &impl Fn(f32, f32, f32) -> f32) -> usize {
    const AROUND: f32 = 36.0;
    let grid = (-12..=12).map(|i| i as f32 * AROUND / 12.0);
    let tallest = grid
        .clone()
        .flat_map(|dx| grid.clone().map(move |dy| (dx, dy)))
        .map(|(dx, dy)| height(view.eye[0] + dx, view.eye[1] + dy, 40.0))
        .fold(f32::NEG_INFINITY, f32::max);
    let below = (view.height - view.horizon).max(1.0);
    let clear = ((view.eye[2] - tallest - 1.5) * view.focal / below * 0.9).min(AROUND * 0.8);
    steps.partition_point(|t| *t < clear).saturating_sub(1)
}

fn push_edge(edges: &mut Vec<Edge>, start: usize, edge: f32, rows: usize) {
    let y = edge as usize;
    if y >= 1 && y + 1 < rows {
        edges.push(Edge { index: (start + y) as u32, cover: 1.0 - (edge - y as f32) });
    }
}

/// Blends silhouettes between what lies above and below them, once both are shaded.
pub(crate) fn soften(canvas: &mut Canvas, edges: &[Edge]) {
    for edge in edges {
        let index = edge.index as usize;
        let (above, below) = (canvas.light[index - 1], canvas.light[index + 1]);
        let flag = canvas.light[index].fourth();
        canvas.light[index] = mix(above, below, edge.cover).with(flag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::camera::Pose;

    fn view() -> View {
        View::new(Pose { eye: [0.0, 0.0, 10.0], yaw: 0.0, horizon: 0.5 }, 1.0, 32, 32)
    }

    #[test]
    fn a_plain_is_seen_at_its_true_distance() {
        let mut canvas = Canvas::new(32, 32);
        let steps = steps(2.0);
        march(&mut canvas, &view(), &steps, &vec![0.5; steps.len()], &mut Vec::new(), |_, _, _| 0.0);
        for y in 18..31 {
            let expected = (y as f32 + 0.5 - 16.0) / 32.0 / 10.0;
            let found = canvas.nearness[canvas.at(16, y)];
            assert!((found - expected).abs() < 0.02 * expected, "row {y}: {found} against {expected}");
        }
        assert!(canvas.nearness[canvas.at(16, 10)] <= 0.0, "the sky is not covered");
    }

    #[test]
    fn a_wall_hides_what_is_behind_it() {
        let mut canvas = Canvas::new(32, 32);
        let mut edges = Vec::new();
        let steps = steps(2.0);
        march(&mut canvas, &view(), &steps, &vec![21.0; steps.len()], &mut edges, |_, y, _| {
            if (50.0..60.0).contains(&y) { 20.0 } else { 0.0 }
        });
        let at_wall = canvas.nearness[canvas.at(16, 12)];
        assert!((1.0 / at_wall - 50.0).abs() < 2.0, "{}", 1.0 / at_wall);
        assert!(!edges.is_empty());
    }
}
