//! The city: a street grid, towers with lit windows, traffic. Walls are intersected analytically, per column.

use super::canvas::Canvas;
use super::facade::Facade;
use super::frame_context::FrameContext;
use super::light::Light;
use super::math::{Color, floor, fract, lerp, mix, smooth};
use super::noise::{Rng, hash2, unit2};
use super::prompt::Style;
use super::scene_spec::SceneSpec;

/// Metres from street to street.
const BLOCK: f32 = 42.0;
/// Half the width of a street, pavements included.
const STREET: f32 = 7.5;
/// The farthest building drawn.
const REACH: f32 = 3400.0;

/// The streets and towers of a scene.
#[derive(Clone, Debug)]
pub(crate) struct City {
    salt: u32,
    /// Share of windows with light behind them.
    lit: f32,
    has_neon: bool,
    /// Where the tallest stand.
    centre: [f32; 2],
    /// The blocks around the path of the camera, row by row.
    blocks: Vec<[Body; 2]>,
    walls: [Color; 6],
    glassy: Color,
    roof: Color,
    /// The reflection in dark windows by direction of the wall: east, west, north, south.
    mirrored: [Color; 4],
}

/// Blocks kept on each side of the middle.
const CACHED_BLOCKS: i32 = 96;

/// One body of a building: a box from the ground to `top`.
#[derive(Clone, Copy, Debug)]
struct Body {
    low: [f32; 2],
    high: [f32; 2],
    top: f32,
}

/// A wall found along a ray.
#[derive(Clone, Copy)]
struct Hit {
    enter: f32,
    leave: f32,
    /// The wall runs north to south.
    meridian: bool,
}

/// The walls that were drawn last: those of one column of the image are mostly those of the next.
struct Facades(Vec<Option<([i32; 3], Facade)>>);

impl Default for Facades {
    fn default() -> Self {
        Self((0..Self::COUNT).map(|_| None).collect())
    }
}

impl Facades {
    const COUNT: usize = 256;

    /// The wall of a block that faces `outward`.
    fn get(&mut self, ix: i32, iy: i32, outward: [f32; 3], new: impl FnOnce() -> Facade) -> &Facade {
        let key = [ix, iy, outward[0] as i32 + 2 * outward[1] as i32];
        let slot = hash2(ix, iy, key[2] as u32) as usize % Self::COUNT;
        let entry = &mut self.0[slot];
        if entry.as_ref().is_none_or(|(cached_key, _)| *cached_key != key) {
            *entry = None;
        }
        &entry.get_or_insert_with(|| (key, new())).1
    }
}

impl City {
    pub(crate) fn new(spec: &SceneSpec, light: &Light, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "city");
        let daylight = light.skylight.luma() + light.sunlight.luma() * 0.4;
        let mirrored = |x: f32, y: f32| light.distance(x, y) * 0.24 + light.zenith * 0.10;
        let mut city = Self {
            salt: rng.next() as u32,
            lit: lerp(0.02, 0.36, smooth(0.9, 0.12, daylight)),
            has_neon: spec.style == Style::Neon,
            centre: [rng.range(-260.0, 260.0), rng.range(420.0, 800.0)],
            blocks: Vec::new(),
            walls: [0x6a_645e, 0x56_5a62, 0x7a_6c5c, 0x4a_4e56, 0x8a_847a, 0x5c_4840].map(Color::surface),
            glassy: Color::surface(0x34_404c),
            roof: Color::surface(0x3a_3a3e) * light.on([0.0, 0.0, 1.0], 0.8, 0.9),
            mirrored: [mirrored(1.0, 0.0), mirrored(-1.0, 0.0), mirrored(0.0, 1.0), mirrored(0.0, -1.0)],
        };
        city.blocks = (-CACHED_BLOCKS..CACHED_BLOCKS)
            .flat_map(|iy| (-CACHED_BLOCKS..CACHED_BLOCKS).map(move |ix| (ix, iy)))
            .map(|(ix, iy)| city.build(ix, iy))
            .collect();
        city
    }

    #[inline]
    fn bodies(&self, ix: i32, iy: i32) -> [Body; 2] {
        let cached = -CACHED_BLOCKS..CACHED_BLOCKS;
        if cached.contains(&ix) && cached.contains(&iy) {
            self.blocks[((iy + CACHED_BLOCKS) * 2 * CACHED_BLOCKS + ix + CACHED_BLOCKS) as usize]
        } else {
            self.build(ix, iy)
        }
    }

    fn build(&self, ix: i32, iy: i32) -> [Body; 2] {
        let own = |k: u32| unit2(ix, iy, self.salt ^ (k * 0x9e3b));
        let (cx, cy) = ((ix as f32 + 0.5) * BLOCK, (iy as f32 + 0.5) * BLOCK);
        let from_centre = (cx - self.centre[0]).hypot(cy - self.centre[1]);
        let downtown = smooth(1500.0, 100.0, from_centre);
        // The camera's own way stays open to the sky.
        let beside = smooth(0.0, 130.0, cy)
            * smooth(3.0 * BLOCK, BLOCK, cx.abs())
            * (1.0 - smooth(60.0, 320.0, cy))
            * 0.5;
        let tall = own(1).powf(2.6) * lerp(26.0, 165.0, downtown) * (1.0 - beside);
        let height = lerp(11.0, 30.0, own(2)) + tall;
        let room = BLOCK * 0.5 - STREET;
        let (wx, wy) = (room * lerp(0.78, 1.0, own(3)), room * lerp(0.78, 1.0, own(4)));
        let base =
            Body { low: [cx - wx, cy - wy], high: [cx + wx, cy + wy], top: height * lerp(0.5, 1.0, own(5)) };
        let inset = lerp(0.5, 0.82, own(6));
        let upper = Body {
            low: [cx - wx * inset, cy - wy * inset],
            high: [cx + wx * inset, cy + wy * inset],
            top: height,
        };
        [base, upper]
    }

    /// Draws every building that is not behind the ground.
    pub(crate) fn draw(&self, context: &FrameContext<'_>, canvas: &mut Canvas) {
        let view = context.view;
        let mut facades = Facades::default();
        for x in 0..canvas.width {
            let d = view.ray(x as f32 + 0.5);
            let distance = context.light.distance(d[0], d[1]);
            let mut uncovered_rows = canvas.height;
            self.walk(view.eye, d, |near, far, bodies, ix, iy| {
                // The highest row that any of the block can reach.
                let tallest = bodies[0].top.max(bodies[1].top);
                let highest = view.row(tallest, if tallest > view.eye[2] { near.max(0.4) } else { far });
                if highest < uncovered_rows as f32 {
                    for (hit, body) in meetings(view.eye, d, bodies).into_iter().flatten() {
                        let body = (hit, body, ix, iy);
                        uncovered_rows = self.draw_body(
                            context,
                            canvas,
                            &mut facades,
                            x,
                            d,
                            distance,
                            uncovered_rows,
                            body,
                        );
                    }
                }
                uncovered_rows > 0
            });
        }
    }

    /// Visits the blocks along a ray (grid traversal), nearest first, with the distances of entry and exit, until `visit`
    /// stops.
    fn walk(&self, eye: [f32; 3], d: [f32; 2], mut visit: impl FnMut(f32, f32, [Body; 2], i32, i32) -> bool) {
        let (mut ix, mut iy) = (floor(eye[0] / BLOCK), floor(eye[1] / BLOCK));
        let step = |d: f32| if d >= 0.0 { 1 } else { -1 };
        let next = |cell: i32, d: f32, eye: f32| {
            let border = (cell + i32::from(d >= 0.0)) as f32 * BLOCK;
            if d.abs() < 1e-6 { f32::INFINITY } else { (border - eye) / d }
        };
        let mut t = 0.0;
        while t < REACH {
            let (tx, ty) = (next(ix, d[0], eye[0]), next(iy, d[1], eye[1]));
            let leave = tx.min(ty);
            if !visit(t, leave, self.bodies(ix, iy), ix, iy) {
                return;
            }
            if tx < ty {
                ix += step(d[0]);
            } else {
                iy += step(d[1]);
            }
            t = leave;
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one column's state, handed from body to body")]
    fn draw_body(
        &self,
        context: &FrameContext<'_>,
        canvas: &mut Canvas,
        facades: &mut Facades,
        x: usize,
        d: [f32; 2],
        distance: Color,
        uncovered_rows: usize,
        (hit, body, ix, iy): (Hit, Body, i32, i32),
    ) -> usize {
        let view = context.view;
        let top = view.row(body.top, hit.enter);
        let foot = view.row(0.0, hit.enter);
        let back = view.row(body.top, hit.leave);
        let start = canvas.at(x, 0);
        let to_row = |r: f32| (r - 0.5).ceil().clamp(0.0, uncovered_rows as f32) as usize;
        let near = 1.0 / hit.enter;
        let wall_from = to_row(top);
        let wall_to = to_row(foot);
        if wall_from < wall_to {
            let point = [view.eye[0] + d[0] * hit.enter, view.eye[1] + d[1] * hit.enter];
            let (along, outward) = if hit.meridian {
                (point[1] - body.low[1], [-d[0].signum(), 0.0, 0.0])
            } else {
                (point[0] - body.low[0], [0.0, -d[1].signum(), 0.0])
            };
            let width = if hit.meridian { body.high[1] - body.low[1] } else { body.high[0] - body.low[0] };
            let facade = facades.get(ix, iy, outward, || self.facade(context.light, ix, iy, outward));
            let mut strip = facade.strip(along, width, body.top, hit.enter / view.focal);
            for y in wall_from..wall_to {
                let z = view.eye[2] + view.rise(y as f32 + 0.5) * hit.enter;
                let color = strip.color(z);
                let veil = context.light.air.veil(hit.enter, view.eye[2], z);
                canvas.light[start + y] = mix(color, distance, veil).with(0.0);
                canvas.nearness[start + y] = near;
            }
            // The roof line, softened.
            let edge = floor(top);
            if edge >= 1 && (edge as usize) < uncovered_rows && edge as usize + 1 < canvas.height {
                let cover = 1.0 - (top - edge as f32);
                let index = start + edge as usize;
                let below = canvas.light[start + (edge as usize + 1).min(uncovered_rows.saturating_sub(1))];
                let above = canvas.light[index - 1];
                canvas.light[index] = mix(above, below, cover).with(canvas.light[index].fourth());
            }
        }
        let mut remaining_rows = uncovered_rows.min(wall_from.max(if foot < 0.0 { 0 } else { wall_from }));
        if back < top {
            let roof = self.roof;
            let from = to_row(back);
            for y in from..wall_from.min(uncovered_rows) {
                let t = (view.eye[2] - body.top) * view.focal / (y as f32 + 0.5 - view.horizon).max(1e-3);
                let veil = context.light.air.veil(t, view.eye[2], body.top);
                canvas.light[start + y] = mix(roof, distance, veil).with(0.0);
                canvas.nearness[start + y] = 1.0 / t.clamp(hit.enter, hit.leave);
            }
            remaining_rows = remaining_rows.min(from);
        }
        remaining_rows
    }

    fn facade(&self, light: &Light, ix: i32, iy: i32, outward: [f32; 3]) -> Facade {
        let own = |k: u32| unit2(ix, iy, self.salt ^ (k * 0x51f7));
        let glassy = own(11) < 0.4;
        let wall = if glassy { self.glassy } else { self.walls[(own(12) * 5.99) as usize] };
        let side = match outward {
            [x, _, _] if x > 0.0 => 0,
            [x, _, _] if x < 0.0 => 1,
            [_, y, _] => 2 + usize::from(y < 0.0),
        };
        let warm = Color::new(1.5, 0.98, 0.48);
        let cool = Color::new(0.95, 1.12, 1.25);
        let hue = if self.has_neon {
            mix(Color::new(1.5, 0.25, 1.1), Color::new(0.2, 1.1, 1.5), own(13).round())
        } else {
            mix(warm, cool, smooth(0.62, 0.95, own(13)))
        };
        Facade {
            salt: hash2(ix, iy, self.salt ^ if outward[0] == 0.0 { 5 } else { 9 }),
            wall: wall * light.on(outward, 0.55, 0.75),
            glass: self.mirrored[side],
            lamp: hue,
            lit: self.lit * lerp(0.5, 1.35, own(14)),
            pitch: [lerp(2.6, 3.8, own(15)), lerp(3.3, 3.9, own(16))],
            share: if glassy { [0.90, 0.80] } else { [lerp(0.45, 0.7, own(17)), lerp(0.45, 0.62, own(18))] },
            has_sign: self.has_neon && own(19) < 0.4,
            wall_glow: mix(Color::new(0.13, 0.085, 0.045), hue * 0.08, 0.4) * smooth(0.1, 0.34, self.lit),
        }
    }

    /// Street, pavement, lane marks and moving headlights at a ground point.
    pub(crate) fn street(&self, light: &Light, x: f32, y: f32, t: f32, time: f32) -> Color {
        let (u, v) =
            (fract(x / BLOCK + 0.5) * BLOCK - BLOCK * 0.5, fract(y / BLOCK + 0.5) * BLOCK - BLOCK * 0.5);
        let day = light.on([0.0, 0.0, 1.0], 0.35, 0.55);
        let on_avenue = u.abs() < STREET;
        let on_cross = v.abs() < STREET;
        let lane = if on_avenue { u } else { v };
        let pavement = lane.abs() > STREET - 2.2;
        let mut color = day * if pavement { Color::surface(0x4e_4c4a) } else { Color::surface(0x26_262a) };
        if !pavement && lane.abs() < 0.12 && fract((x + y) / 5.0) < 0.55 && t < 240.0 {
            color = day * Color::surface(0xa8_a498);
        }
        // Pools of lamp light.
        let night = smooth(0.1, 0.4, self.lit);
        let pool = smooth(
            9.0,
            0.5,
            (fract((if on_avenue { y } else { x }) / 21.0) * 21.0 - 10.5).hypot(lane.abs() - 5.5),
        );
        color += Color::new(0.26, 0.17, 0.075) * (pool * night * 0.55);
        if on_avenue != on_cross || on_avenue {
            color += self.traffic(u, v, x, y, time, on_avenue) * night;
        }
        color
    }

    fn traffic(&self, u: f32, v: f32, x: f32, y: f32, time: f32, on_avenue: bool) -> Color {
        let (lane, along, street) =
            if on_avenue { (u, y, floor(x / BLOCK + 0.5)) } else { (v, x, floor(y / BLOCK + 0.5) + 991) };
        let side = if lane > 0.0 { 1.0 } else { -1.0 };
        let number = floor(lane.abs() / 2.6);
        if number > 1 {
            return Color::BLACK;
        }
        let speed = lerp(8.0, 14.0, unit2(street, number, self.salt ^ 0x4d)) * side;
        let moving = (along - speed * time) / 23.0;
        let cell = floor(moving);
        if unit2(cell, street * 4 + number * 2 + i32::from(side > 0.0), self.salt ^ 0x05) > 0.55 {
            return Color::BLACK;
        }
        let offset = (moving - cell as f32) * 23.0 - 11.0;
        let across = (lane.abs() - (number as f32 + 0.5) * 2.6).abs();
        let body = smooth(2.6, 1.9, offset.abs()) * smooth(1.15, 0.85, across);
        // Towards the camera the lamps are white, away from it red.
        let (front, hue) =
            if side > 0.0 { (-2.2, Color::new(2.4, 0.22, 0.10)) } else { (-2.2, Color::new(2.6, 2.3, 1.8)) };
        let lamp = smooth(0.8, 0.2, ((offset - front).powi(2) + (across - 0.7).powi(2) * 2.0).sqrt());
        let spill = smooth(7.0, 0.0, (offset - front * 2.0).abs()) * smooth(1.6, 0.2, across) * 0.12;
        hue * (lamp + spill) - Color::grey(0.02) * body
    }
}

/// Intersections of a ray with the bodies of a block, nearest first.
fn meetings(eye: [f32; 3], d: [f32; 2], bodies: [Body; 2]) -> [Option<(Hit, Body)>; 2] {
    let mut hits = bodies.map(|body| meet(eye, d, body).map(|hit| (hit, body)));
    if let [Some((a, _)), Some((b, _))] = hits
        && b.enter < a.enter
    {
        hits.swap(0, 1);
    }
    hits
}

/// Entry and exit of a ray through a box in front of the camera (slab method).
fn meet(eye: [f32; 3], d: [f32; 2], body: Body) -> Option<Hit> {
    let slab = |axis: usize| {
        let inverse = 1.0 / if d[axis].abs() < 1e-6 { 1e-6 } else { d[axis] };
        let (a, b) = ((body.low[axis] - eye[axis]) * inverse, (body.high[axis] - eye[axis]) * inverse);
        (a.min(b), a.max(b))
    };
    let ((ax, bx), (ay, by)) = (slab(0), slab(1));
    let (enter, leave) = (ax.max(ay), bx.min(by));
    (enter < leave && enter > 0.4).then_some(Hit { enter, leave, meridian: ax > ay })
}
