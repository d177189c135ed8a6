//! Shapes of which figures are made, in their own metres: x to where the figure faces, y up, the ground at 0.

use super::super::math::{Color, lerp};

pub(super) type Point = (f32, f32);

/// An outline.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// A stroke with round ends and a radius at each.
    Limb {
        from: Point,
        to: Point,
        radii: (f32, f32),
    },
    Ellipse {
        centre: Point,
        radii: Point,
    },
    /// A rectangle with round corners.
    Block {
        centre: Point,
        half: Point,
        round: f32,
    },
    Polygon(Vec<Point>),
}

/// An outline with its color, over those before it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) form: Form,
    /// Of the surface, in linear light.
    pub(super) color: Color,
    /// Gives light of its own.
    pub(super) glows: bool,
    /// 1 for solid things; less for steam and smoke.
    pub(super) opacity: f32,
}

/// The parts of a figure, back to front.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(pub(super) Vec<Part>);

impl Parts {
    fn push(&mut self, form: Form, color: Color) {
        self.0.push(Part { form, color, glows: false, opacity: 1.0 });
    }

    pub(super) fn limb(&mut self, from: Point, to: Point, radii: (f32, f32), color: Color) {
        self.push(Form::Limb { from, to, radii }, color);
    }

    /// Two limbs that bend at a joint.
    pub(super) fn bent(&mut self, points: [Point; 3], radii: [f32; 3], color: Color) {
        self.limb(points[0], points[1], (radii[0], radii[1]), color);
        self.limb(points[1], points[2], (radii[1], radii[2]), color);
    }

    pub(super) fn ellipse(&mut self, centre: Point, radii: Point, color: Color) {
        self.push(Form::Ellipse { centre, radii }, color);
    }

    pub(super) fn disc(&mut self, centre: Point, radius: f32, color: Color) {
        self.ellipse(centre, (radius, radius), color);
    }

    pub(super) fn block(&mut self, centre: Point, half: Point, round: f32, color: Color) {
        self.push(Form::Block { centre, half, round }, color);
    }

    pub(super) fn polygon(&mut self, points: &[Point], color: Color) {
        self.push(Form::Polygon(points.to_vec()), color);
    }

    /// The part added last is seen through.
    pub(super) fn faint(&mut self, opacity: f32) {
        if let Some(part) = self.0.last_mut() {
            part.opacity = opacity;
        }
    }

    /// The part added last gives light.
    pub(super) fn glowing(&mut self) {
        if let Some(part) = self.0.last_mut() {
            part.glows = true;
        }
    }
}

impl Form {
    /// The smallest rectangle around it: left, right, low, high.
    pub(super) fn bounds(&self) -> [f32; 4] {
        match self {
            Self::Limb { from, to, radii } => {
                let r = radii.0.max(radii.1);
                [from.0.min(to.0) - r, from.0.max(to.0) + r, from.1.min(to.1) - r, from.1.max(to.1) + r]
            }
            Self::Ellipse { centre: (x, y), radii: (rx, ry) } => [x - rx, x + rx, y - ry, y + ry],
            Self::Block { centre: (x, y), half: (hx, hy), .. } => [x - hx, x + hx, y - hy, y + hy],
            Self::Polygon(points) => points.iter().fold(
                [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY],
                |[l, r, b, t], (x, y)| [l.min(*x), r.max(*x), b.min(*y), t.max(*y)],
            ),
        }
    }

    /// Signed distance in metres, negative inside; of ellipses nearly.
    #[inline]
    pub(super) fn distance(&self, (x, y): Point) -> f32 {
        match self {
            Self::Limb { from, to, radii } => {
                let (dx, dy) = (to.0 - from.0, to.1 - from.1);
                let (px, py) = (x - from.0, y - from.1);
                let share = ((px * dx + py * dy) / (dx * dx + dy * dy).max(1e-9)).clamp(0.0, 1.0);
                let (ex, ey) = (px - dx * share, py - dy * share);
                (ex * ex + ey * ey).sqrt() - lerp(radii.0, radii.1, share)
            }
            Self::Ellipse { centre, radii } => {
                let (px, py) = ((x - centre.0) / radii.0, (y - centre.1) / radii.1);
                let k = (px * px + py * py).sqrt();
                let (qx, qy) = (px / radii.0, py / radii.1);
                let slope = (qx * qx + qy * qy).sqrt();
                // In the middle the estimate has no value.
                if k < 0.05 { -radii.0.min(radii.1) } else { k * (k - 1.0) / slope }
            }
            Self::Block { centre, half, round } => {
                let (dx, dy) = ((x - centre.0).abs() - half.0 + round, (y - centre.1).abs() - half.1 + round);
                let (ox, oy) = (dx.max(0.0), dy.max(0.0));
                (ox * ox + oy * oy).sqrt() + dx.max(dy).min(0.0) - round
            }
            Self::Polygon(points) => polygon_distance(points, x, y),
        }
    }
}

fn polygon_distance(points: &[Point], x: f32, y: f32) -> f32 {
    let Some(mut previous) = points.last().copied() else { return f32::INFINITY };
    let (mut nearest, mut sign) = (f32::INFINITY, 1.0);
    for point in points {
        let (ex, ey) = (previous.0 - point.0, previous.1 - point.1);
        let (wx, wy) = (x - point.0, y - point.1);
        let share = ((wx * ex + wy * ey) / (ex * ex + ey * ey).max(1e-9)).clamp(0.0, 1.0);
        let (bx, by) = (wx - ex * share, wy - ey * share);
        nearest = nearest.min(bx * bx + by * by);
        let (above, below, left) = (y >= point.1, y < previous.1, ex * wy > ey * wx);
        if (above && below && left) || (!above && !below && !left) {
            sign = -sign;
        }
        previous = *point;
    }
    sign * nearest.sqrt()
}
