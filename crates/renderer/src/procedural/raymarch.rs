//! Visibility of the height field (land and sea): marches each column's ray from the camera outwards and keeps the highest row
//! covered so far, which gives every pixel its distance.

use super::camera::View;
use super::canvas::Canvas;
use super::math::{Color, floor, mix};

/// The maximum distance of a ray, in metres.
const HORIZON: f32 = 21_000.0;

/// A silhouette pixel, with its coverage by the nearer surface, for anti-aliasing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    index: u32,
    cover: f32,
}

/// Forward distances of the samples. Each step is longer than the one before by the share `growth` of the distance.
pub(crate) fn steps(nearest: f32, growth: f32) -> Vec<f32> {
    let mut steps = vec![nearest];
    let mut t = nearest;
    while t < HORIZON {
        t += (t * growth).max(11.0 * growth);
        steps.push(t);
    }
    steps
}

/// Bounds of the height field over an area, known before sampling it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch<K> {
    /// Upper bound of the height.
    pub(crate) high: f32,
    pub(crate) kind: SurfaceKind<K>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SurfaceKind<K> {
    /// Level at this height; only its ends need sampling.
    Level(f32),
    /// Low swell without obstacles; sampled at the resolution of the image.
    Swell(K),
    /// Anything else.
    Rough(K),
}

pub(crate) trait HeightField {
    /// Precomputed data of an area that makes samples cheaper.
    type AreaData: Copy + PartialEq;

    /// The bounds over the box `from..=to` (east, north), no part of which is nearer than `distance`.
    fn stretch(&self, from: [f32; 2], to: [f32; 2], distance: f32) -> Stretch<Self::AreaData>;

    /// The height at a point of a stretch, seen from `distance`.
    fn height(&self, hint: Self::AreaData, x: f32, y: f32, distance: f32) -> f32;
}

/// Columns per sector, which share bounds.
const SECTOR: usize = 32;
/// Steps per stretch.
const STRIDE: usize = 8;

/// Wavelength in metres of the shortest waves with a visible silhouette.
const SHORTEST_SWELL: f32 = 43.0;

/// A stretch of the way ahead of a sector.
struct Segment<K> {
    /// Its first and its last step.
    steps: (usize, usize),
    /// Every `every`th step is sampled.
    every: usize,
    kind: SurfaceKind<K>,
    /// The highest row that it can cover, and the highest that anything from here on can cover.
    highest: f32,
    limit: f32,
}

/// Fills `canvas.nearness` from the heights of `surface`. Silhouettes go to `edges`.
pub(crate) fn march<S: HeightField>(
    canvas: &mut Canvas,
    view: &View,
    steps: &[f32],
    edges: &mut Vec<Edge>,
    surface: &S,
) {
    let steps = &steps[first_step(view, steps, surface)..];
    canvas.nearness.fill(0.0);
    edges.clear();
    let rows = canvas.height;
    let mut segments = Vec::new();
    for sector in (0..canvas.width).step_by(SECTOR) {
        let end = (sector + SECTOR).min(canvas.width);
        survey(view, steps, (sector, end), surface, &mut segments);
        let mut march = |x: usize, heights: &mut Heights| {
            let start = canvas.at(x, 0);
            let ray = view.ray(x as f32 + 0.5);
            let mut column = Column::new(&mut canvas.nearness[start..start + rows], 1.0 / steps[0]);
            let mut height_at = |area: S::AreaData, step: usize| {
                let t = steps[step];
                heights.at(step, view.focal / t, || {
                    surface.height(area, view.eye[0] + ray[0] * t, view.eye[1] + ray[1] * t, t)
                })
            };
            column.march(view, steps, &segments, &mut height_at, |edge| push_edge(edges, start, edge, rows));
        };
        // Every other column first: the heights between are then mostly known.
        let (mut left, mut right) = (Heights::new(steps.len()), Heights::new(steps.len()));
        march(sector, &mut left);
        for x in (sector + 1..end).step_by(2) {
            right.forget();
            if x + 1 < end {
                march(x + 1, &mut right);
            }
            left.meet(&right);
            march(x, &mut left);
            std::mem::swap(&mut left, &mut right);
        }
    }
}

/// Computes the bounds ahead of the columns `from..to`.
fn survey<S: HeightField>(
    view: &View,
    steps: &[f32],
    (from, to): (usize, usize),
    surface: &S,
    segments: &mut Vec<Segment<S::AreaData>>,
) {
    segments.clear();
    let rays = [view.ray(from as f32), view.ray(to as f32)];
    for first in (0..steps.len()).step_by(STRIDE) {
        let last = (first + STRIDE).min(steps.len()) - 1;
        let (near, far) = (steps[first], steps[last]);
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for (ray, t) in rays.iter().flat_map(|ray| [(ray, near), (ray, far)]) {
            for axis in 0..2 {
                let coordinate = view.eye[axis] + ray[axis] * t;
                (low[axis], high[axis]) = (low[axis].min(coordinate), high[axis].max(coordinate));
            }
        }
        let Stretch { high, kind } = surface.stretch(low, high, near);
        let above = high - view.eye[2];
        let highest = view.horizon - above * view.focal / if above > 0.0 { near } else { far };
        let before = segments.last_mut().filter(|s| s.kind == kind && matches!(kind, SurfaceKind::Level(_)));
        if let Some(before) = before {
            before.steps.1 = last;
            before.highest = before.highest.min(highest);
            continue;
        }
        let every = match kind {
            SurfaceKind::Level(_) => usize::MAX,
            SurfaceKind::Swell(_) => {
                // Where several steps fall into one row, one of them is enough; but no crest is stepped over.
                let count = (last - first).max(1) as f32;
                let rows = view.eye[2].abs() * view.focal * (far - near) / (near * far);
                (0.9 * count / rows).min(SHORTEST_SWELL * 0.15 * count / (far - near)).clamp(1.0, count)
                    as usize
            }
            SurfaceKind::Rough(_) => 1,
        };
        segments.push(Segment { steps: (first, last), every, kind, highest, limit: f32::INFINITY });
    }
    let mut limit = f32::INFINITY;
    for segment in segments.iter_mut().rev() {
        limit = limit.min(segment.highest);
        segment.limit = limit;
    }
}

/// The heights sampled along one ray, or interpolated between two.
struct Heights(Vec<[f32; 2]>);

impl Heights {
    const UNKNOWN: [f32; 2] = [f32::NAN; 2];

    fn new(steps: usize) -> Self {
        Self(vec![Self::UNKNOWN; steps])
    }

    fn forget(&mut self) {
        self.0.fill(Self::UNKNOWN);
    }

    /// Sets itself to the interpolation between itself and `other`.
    fn meet(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own[1] = other[0];
        }
    }

    /// The height at a step where a metre is `scale` pixels, looked up only if it is not known from both sides or they differ
    /// by more than a pixel.
    #[inline]
    fn at(&mut self, step: usize, scale: f32, sample: impl FnOnce() -> f32) -> f32 {
        let [left, right] = self.0[step];
        // Unknown heights fail the comparison.
        if (left - right).abs() * scale < 1.0 {
            return 0.5 * (left + right);
        }
        let height = sample();
        self.0[step] = [height, f32::NAN];
        height
    }
}

/// One column of the image while its ray is marched.
struct Column<'a> {
    nearness: &'a mut [f32],
    /// Rows at and below `top` are done; `edge` is the exact row of the surface that covered them.
    top: usize,
    edge: f32,
    row_before: f32,
    near_before: f32,
}

impl<'a> Column<'a> {
    fn new(nearness: &'a mut [f32], nearest: f32) -> Self {
        let rows = nearness.len();
        Self { top: rows, edge: rows as f32, row_before: rows as f32 + 1e4, near_before: nearest, nearness }
    }

    /// `height` finds the height at a step.
    fn march<K: Copy>(
        &mut self,
        view: &View,
        steps: &[f32],
        segments: &[Segment<K>],
        height: &mut impl FnMut(K, usize) -> f32,
        mut silhouette: impl FnMut(f32),
    ) {
        let rows = self.nearness.len() as f32;
        let mut row_at = |kind: SurfaceKind<K>, step: usize| {
            let z = match kind {
                SurfaceKind::Level(z) => z,
                SurfaceKind::Swell(area) | SurfaceKind::Rough(area) => height(area, step),
            };
            view.horizon - (z - view.eye[2]) * view.focal / steps[step]
        };
        let mut passed_over: Option<&Segment<K>> = None;
        for segment in segments {
            if segment.limit >= self.edge || self.top == 0 {
                break;
            }
            if segment.highest >= self.edge {
                passed_over = Some(segment);
                continue;
            }
            if let Some(hidden) = passed_over.take() {
                let step = hidden.steps.1;
                (self.row_before, self.near_before) = (row_at(hidden.kind, step), 1.0 / steps[step]);
            }
            let (first, last) = segment.steps;
            let mut step = first;
            loop {
                let near = 1.0 / steps[step];
                let row = row_at(segment.kind, step);
                if row < self.edge {
                    // Came out from behind something: that something's silhouette ends here.
                    if self.row_before > self.edge + 0.75 && self.edge < rows && self.edge > 0.0 {
                        silhouette(self.edge);
                    }
                    self.fill_rows(row, near);
                }
                (self.row_before, self.near_before) = (row, near);
                if step == last || self.top == 0 {
                    break;
                }
                step = step.saturating_add(segment.every).min(last);
            }
        }
        if self.edge > 0.0 && self.edge < rows {
            silhouette(self.edge);
        }
    }

    /// Completes the rows from `row`, the highest so far, downwards.
    fn fill_rows(&mut self, row: f32, near: f32) {
        // The first row whose centre lies below `row`.
        let reach = (-floor(0.5 - row.max(0.0))).clamp(0, self.top as i32) as usize;
        if reach < self.top {
            let span = (self.row_before - row).max(1e-3);
            let slope = (self.near_before - near) / span;
            for (y, slot) in (reach..).zip(&mut self.nearness[reach..self.top]) {
                let below = (y as f32 + 0.5 - row).min(span);
                *slot = near + slope * below;
            }
            self.top = reach;
        }
        self.edge = row;
    }
}

/// The first step that can be within the image: nearer ground is below the lower edge.
fn first_step(view: &View, steps: &[f32], surface: &impl HeightField) -> usize {
    const AROUND: f32 = 36.0;
    let around = |sign: f32| [view.eye[0] + sign * AROUND, view.eye[1] + sign * AROUND];
    let tallest = surface.stretch(around(-1.0), around(1.0), 0.0).high;
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

/// Blends silhouettes between what lies above and below them, once both are shaded. Where one of the two is `unshaded` yet, the
/// silhouette stays as it is.
pub(crate) fn soften(canvas: &mut Canvas, edges: &[Edge], unshaded: impl Fn(Color) -> bool) {
    for edge in edges {
        let index = edge.index as usize;
        let (above, below) = (canvas.light[index - 1], canvas.light[index + 1]);
        if unshaded(above) || unshaded(below) {
            continue;
        }
        let flag = canvas.light[index].fourth();
        canvas.light[index] = mix(above, below, edge.cover).with(flag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedural::camera::Pose;

    /// A plain with something on it, for all that is known beforehand.
    struct Land<F>(f32, F);

    impl<F: Fn(f32) -> f32> HeightField for Land<F> {
        type AreaData = ();

        fn stretch(&self, _: [f32; 2], _: [f32; 2], _: f32) -> Stretch<()> {
            Stretch { high: self.0, kind: SurfaceKind::Rough(()) }
        }

        fn height(&self, (): (), _: f32, y: f32, _: f32) -> f32 {
            (self.1)(y)
        }
    }

    fn view() -> View {
        View::new(Pose { eye: [0.0, 0.0, 10.0], yaw: 0.0, horizon: 0.5, zoom: 1.0, roll: 0.0 }, 1.0, 32, 32)
    }

    #[test]
    fn march_finds_distance_of_plain() {
        let mut canvas = Canvas::new(32, 32);
        let steps = steps(2.0, 0.02);
        march(&mut canvas, &view(), &steps, &mut Vec::new(), &Land(0.5, |_| 0.0));
        for y in 18..31 {
            let expected = (y as f32 + 0.5 - 16.0) / 32.0 / 10.0;
            let actual = canvas.nearness[canvas.at(16, y)];
            assert!((actual - expected).abs() < 0.02 * expected, "row {y}: {actual} against {expected}");
        }
        assert!(canvas.nearness[canvas.at(16, 10)] <= 0.0, "the sky is not covered");
    }

    /// The same land, judged stretch by stretch.
    struct ClassifiedLand<F>(Land<F>);

    impl<F: Fn(f32) -> f32> HeightField for ClassifiedLand<F> {
        type AreaData = ();

        fn stretch(&self, from: [f32; 2], to: [f32; 2], _: f32) -> Stretch<()> {
            let plain = to[1] < 49.0 || from[1] > 61.0;
            let kind = if plain { SurfaceKind::Level(0.0) } else { SurfaceKind::Rough(()) };
            Stretch { high: if plain { 0.0 } else { 21.0 }, kind }
        }

        fn height(&self, (): (), x: f32, y: f32, distance: f32) -> f32 {
            self.0.height((), x, y, distance)
        }
    }

    #[test]
    fn march_with_hints_equals_march_without() {
        let steps = steps(2.0, 0.02);
        let wall = |y: f32| if (50.0..60.0).contains(&y) { 8.0 } else { 0.0 };
        let (mut plain, mut hinted) = (Canvas::new(32, 32), Canvas::new(32, 32));
        let (mut edges, mut others) = (Vec::new(), Vec::new());
        march(&mut plain, &view(), &steps, &mut edges, &Land(21.0, wall));
        march(&mut hinted, &view(), &steps, &mut others, &ClassifiedLand(Land(21.0, wall)));
        for (index, (a, b)) in plain.nearness.iter().zip(&hinted.nearness).enumerate() {
            assert!((a - b).abs() <= 0.01 * a.max(*b), "pixel {index}: {a} against {b}");
        }
        // What comes into sight behind the wall is no longer crept up on, so that more of its silhouette is found.
        assert!(!edges.is_empty() && others.len() >= edges.len(), "{} and {}", edges.len(), others.len());
    }

    #[test]
    fn march_hides_what_is_behind_a_wall() {
        let mut canvas = Canvas::new(32, 32);
        let mut edges = Vec::new();
        let steps = steps(2.0, 0.02);
        let wall = |y: f32| if (50.0..60.0).contains(&y) { 20.0 } else { 0.0 };
        march(&mut canvas, &view(), &steps, &mut edges, &Land(21.0, wall));
        let at_wall = canvas.nearness[canvas.at(16, 12)];
        assert!((1.0 / at_wall - 50.0).abs() < 2.0, "{}", 1.0 / at_wall);
        assert!(!edges.is_empty());
    }
}
