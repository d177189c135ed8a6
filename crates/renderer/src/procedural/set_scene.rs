//! [`SetScene`]: places without a landscape: a room with a window, a studio, under water.

use std::f32::consts::TAU;

use super::camera::{Pose, Rig, View};
use super::canvas::Canvas;
use super::layout::Layout;
use super::light::Light;
use super::math::{Color, fract, mix, smooth};
use super::noise::{Octaves, Rng, unit2};
use super::prompt::{Hour, Set};
use super::puppet::cast::Cast;
use super::scene::Workspace;
use super::scene_spec::SceneSpec;

/// Half the width, the depth and the height of the room, in metres.
const ROOM: [f32; 3] = [2.9, 5.2, 2.8];
/// The window in the rear wall: left, right, low, high.
const WINDOW: [f32; 4] = [-0.75, 1.05, 0.95, 2.25];

/// A set with its figures.
pub(crate) struct SetScene {
    pub(crate) spec: SceneSpec,
    set: Set,
    /// Outdoors, as seen through the window.
    outside: Light,
    /// What falls on figures and walls.
    inside: Light,
    pub(crate) rig: Rig,
    cast: Option<Cast>,
    wall: Color,
    accent: Color,
    floor: Color,
    cloud: Octaves,
    salt: u32,
    /// The window's side: -1 mirrors the room.
    side: f32,
}

impl SetScene {
    pub(crate) fn build(spec: SceneSpec, set: Set, aspect: f32, seconds: f32, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "set");
        let layout = Layout::indoors(&spec);
        let outside = Light::new(spec.hour, spec.murk, layout.sun_azimuth, &mut rng);
        let rig = layout.rig(&spec, &mut rng, |_, _| 0.0);
        let dark = matches!(spec.hour, Hour::Night | Hour::Dusk);
        let mut inside = outside.clone();
        (inside.sunlight, inside.skylight) = match set {
            Set::Room if dark => (Color::new(0.50, 0.34, 0.18), Color::new(0.24, 0.17, 0.12)),
            Set::Room => {
                let warmth = outside.sunlight * (0.55 / outside.sunlight.luma().max(0.3));
                (warmth, Color::new(0.42, 0.41, 0.40))
            }
            Set::Studio => (Color::grey(0.85), Color::grey(0.55)),
            Set::Underwater => (Color::new(0.50, 0.85, 0.95), Color::new(0.16, 0.40, 0.50)),
        };
        inside.sun = [-0.45 * spec.side, -0.5, 0.74];
        let cast = Cast::stage(&spec, &rig, aspect, seconds, seed);
        let wall =
            Color::surface(rng.pick(&[0xd8_ccb8, 0xb8_c4c0, 0xc8_b8a8, 0x9c_aab4, 0xd0_b89c, 0xa8_b49c]));
        let accent = Color::surface(rng.pick(&[0x8a_3c34, 0x34_5a70, 0x5a_6a44, 0xb8_8a3c, 0x6a_4a6a]));
        let floor = Color::surface(rng.pick(&[0x7a_5234, 0x60_4430, 0x8c_6a48]));
        let salt = rng.next() as u32;
        let side = spec.side;
        Self {
            set,
            outside,
            inside,
            rig,
            cast,
            wall,
            accent,
            floor,
            cloud: Octaves::new(salt, 1.0, 3),
            salt,
            side,
            spec,
        }
    }

    /// Keeps a camera between walls, floor and ceiling.
    pub(crate) fn keep_inside(pose: &mut Pose) {
        let [half, depth, height] = ROOM;
        pose.eye[0] = pose.eye[0].clamp(0.5 - half, half - 0.5);
        pose.eye[1] = pose.eye[1].min(depth - 1.5);
        pose.eye[2] = pose.eye[2].clamp(0.3, height - 0.3);
    }

    /// Draws what a camera sees `time` seconds in, into `work.canvas`.
    pub(crate) fn draw(&self, pose: Pose, time: f32, work: &mut Workspace) {
        let canvas = &mut work.canvas;
        let view = View::new(pose, self.rig.focal, canvas.width, canvas.height);
        canvas.nearness.fill(0.05);
        match self.set {
            Set::Room => self.room(&view, time, canvas),
            Set::Studio => self.studio(&view, canvas),
            Set::Underwater => self.underwater(&view, time, canvas),
        }
        if let Some(cast) = &self.cast {
            cast.draw(&view, &self.inside, time, canvas);
        }
        if self.set == Set::Underwater {
            self.bubbles(&view, time, canvas);
        }
        if self.spec.weather.motes.is_some() {
            self.spec.weather.draw(&self.inside, &view, time, self.salt, canvas);
        }
        work.bloom.gather(&work.canvas);
    }

    fn room(&self, view: &View, time: f32, canvas: &mut Canvas) {
        let [half, depth, height] = ROOM;
        let [ex, ey, ez] = view.eye;
        let dark = matches!(self.spec.hour, Hour::Night | Hour::Dusk);
        let ambient = self.inside.skylight + self.inside.sunlight * 0.45;
        for x in 0..canvas.width {
            let [dx, dy] = view.ray(x as f32 + 0.5);
            let side_t = if dx > 0.0 { (half - ex) / dx.max(1e-4) } else { (-half - ex) / dx.min(-1e-4) };
            let rear_t = (depth - ey) / dy.max(1e-4);
            for y in 0..canvas.height {
                let rise = view.rise(y as f32 + 0.5);
                let level_t = if rise > 0.0 { (height - ez) / rise.max(1e-4) } else { -ez / rise.min(-1e-4) };
                let t = rear_t.min(side_t).min(level_t);
                let (px, py, pz) = (ex + dx * t, ey + dy * t, ez + rise * t);
                let (mx, reach) = (px * self.side, 1.0 - 0.07 * t);
                let color = if rear_t <= side_t.min(level_t) {
                    self.rear_wall(mx, pz, [dx, dy, rise], time, ambient, dark)
                } else if side_t <= level_t {
                    let picture = (py - 3.4).abs() < 0.55 && (pz - 1.65).abs() < 0.4;
                    let frame = picture && ((py - 3.4).abs() > 0.48 || (pz - 1.65).abs() > 0.34);
                    let paint = if frame {
                        Color::surface(0x50_3a24)
                    } else if picture {
                        mix(
                            self.accent,
                            Color::surface(0xe0_c890),
                            smooth(1.3, 2.0, pz + 0.2 * (py * 4.0).sin()),
                        )
                    } else {
                        skirting(self.wall * 0.78, pz)
                    };
                    paint * ambient
                } else if rise > 0.0 {
                    Color::grey(0.62) * ambient
                } else {
                    self.boards(mx, py, ambient, dark)
                };
                let index = canvas.at(x, y);
                canvas.light[index] = (color * reach).with(0.0);
            }
        }
        if dark {
            self.lamp(view, canvas);
        }
    }

    /// The wall with the window, curtains and a shelf.
    fn rear_wall(&self, x: f32, z: f32, ray: [f32; 3], time: f32, ambient: Color, dark: bool) -> Color {
        let [left, right, low, high] = WINDOW;
        let inside = x > left && x < right && z > low && z < high;
        let border = 0.07;
        if inside {
            let middle = (x - (left + right) * 0.5).abs() < 0.03 || (z - (low + high) * 0.55).abs() < 0.025;
            if middle {
                return Color::grey(0.85) * ambient * 0.8;
            }
            let length = (ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]).sqrt();
            let mut sky = self.outside.sky(ray.map(|part| part / length)) * 1.1;
            // Roofs, and the lights of a city at night.
            let roofs = low + 0.30 + 0.22 * unit2((x * 5.0).floor() as i32, 3, self.salt);
            if z < roofs {
                let lit =
                    dark && unit2((x * 22.0).floor() as i32, (z * 20.0).floor() as i32, self.salt ^ 5) > 0.72;
                sky = if lit { Color::new(1.3, 0.9, 0.4) } else { mix(sky * 0.35, self.outside.away, 0.3) };
            }
            let weather = &self.spec.weather;
            if weather.rain > 0.0 {
                let column = (x * 60.0).floor() as i32;
                let fall = fract(z * 0.9 + time * (1.3 + unit2(column, 1, 7)) + unit2(column, 2, 7));
                sky = mix(sky, Color::grey(0.5) + sky * 0.4, smooth(0.10, 0.0, fall) * 0.6);
            }
            if weather.snow > 0.0 {
                let (cx, cz) = (x * 16.0, z * 16.0 + time * 5.0);
                let cell = (cx.floor() as i32, cz.floor() as i32);
                let (ox, oz) = (fract(cx) - 0.5, fract(cz) - 0.5);
                let flake = unit2(cell.0, cell.1, 11) > 0.6 && ox * ox + oz * oz < 0.05;
                sky = if flake { Color::grey(0.95) } else { sky };
            }
            return sky;
        }
        if x > left - border && x < right + border && z > low - border && z < high + border {
            return Color::grey(0.9) * ambient;
        }
        if (z - (low - border - 0.03)).abs() < 0.04 && x > left - 0.2 && x < right + 0.2 {
            return Color::grey(0.95) * ambient;
        }
        let curtain = (x > left - 0.52 && x < left + 0.02) || (x > right - 0.02 && x < right + 0.52);
        if curtain && z > 0.25 && z < high + 0.22 {
            let fold = 0.75 + 0.25 * (x * 42.0 + 0.3 * (time * 0.8 + z).sin()).sin();
            return self.accent * ambient * fold;
        }
        let shelf = x < -1.5 && x > -2.6 && z > 0.5 && z < 2.3;
        if shelf {
            let board = fract(z / 0.45) < 0.09 || !(-2.54..=-1.56).contains(&x);
            let wood = Color::surface(0x6a_4a30);
            let book = (x * 17.0).floor() as i32;
            let row = (z / 0.45).floor() as i32;
            let tall = 0.55 + 0.35 * unit2(book, row, self.salt);
            let color = if board {
                wood
            } else if fract(z / 0.45) < tall {
                let tints = [0x8a_3c34, 0x34_5a70, 0x5a_6a44, 0xb8_8a3c, 0xc8_bca8];
                Color::surface(tints[(unit2(book, row, 9) * 4.99) as usize])
            } else {
                wood * 0.35
            };
            return color * ambient;
        }
        skirting(self.wall, z) * ambient
    }

    fn boards(&self, x: f32, y: f32, ambient: Color, dark: bool) -> Color {
        let board = (x * 5.5).floor();
        let seam = fract(x * 5.5) < 0.035 || fract(y * 0.45 + unit2(board as i32, 3, 1)) < 0.008;
        let mut wood = self.floor * (0.88 + 0.2 * unit2(board as i32, (y * 0.45) as i32, self.salt));
        let rug = ((x - 0.2) / 1.7).powi(2) + ((y - 3.1) / 0.85).powi(2);
        if rug < 1.0 {
            wood = if (0.72..0.84).contains(&rug) { Color::surface(0xd8_c8a0) } else { self.accent * 0.9 };
        } else if seam {
            wood = wood * 0.55;
        }
        // The window's light on the floor.
        let across = (x + (5.2 - y) * 0.30, y);
        let patch = across.0 > -0.75 && across.0 < 1.05 && (2.2..4.4).contains(&across.1) && !dark;
        let sun =
            if patch && self.spec.weather.rain == 0.0 { self.inside.sunlight * 0.8 } else { Color::BLACK };
        wood * (ambient + sun)
    }

    /// A standing lamp and its pool of light.
    fn lamp(&self, view: &View, canvas: &mut Canvas) {
        let Some(spot) = view.project([1.9 * self.side, 4.4, 1.62]) else { return };
        let scale = view.focal / spot.distance;
        let warm = Color::new(1.0, 0.68, 0.32);
        canvas.glow(spot.x, spot.y, scale * 0.16, 1.0, warm * 3.0);
        canvas.glow(spot.x, spot.y, scale * 0.9, 1.0, warm * 0.5);
        canvas.glow(spot.x, spot.y, scale * 2.6, 1.0, warm * 0.22);
    }

    /// A seamless backdrop with a pool of light.
    fn studio(&self, view: &View, canvas: &mut Canvas) {
        let paper = mix(self.wall, Color::grey(0.62), 0.55);
        for x in 0..canvas.width {
            let u = (x as f32 + 0.5) / view.width - 0.5;
            for y in 0..canvas.height {
                let v = (y as f32 + 0.5) / view.height;
                let pool = 1.0 - smooth(0.05, 0.75, (u * u * 1.3 + (v - 0.45) * (v - 0.45)).sqrt());
                let floor = smooth(0.68, 0.86, v) * 0.14;
                let index = canvas.at(x, y);
                canvas.light[index] = (paper * (0.30 + 0.75 * pool + floor)).with(0.0);
            }
        }
        // A round plinth.
        let (cx, cy) = (view.width * 0.5, view.height * 0.815);
        let (rx, ry) = (view.height * 0.44, view.height * 0.075);
        let side = view.height * 0.2;
        for x in ((cx - rx).max(0.0) as usize)..((cx + rx).max(0.0) as usize).min(canvas.width) {
            let u = (x as f32 + 0.5 - cx) / rx;
            let bulge = (1.0 - u * u).max(0.0).sqrt() * ry;
            for y in ((cy - bulge).max(0.0) as usize)..((cy + bulge + side) as usize).min(canvas.height) {
                let top = (y as f32) < cy + bulge;
                let shade = if top { 0.95 } else { 0.62 - 0.28 * u * self.side };
                let index = canvas.at(x, y);
                canvas.light[index] = (mix(paper, Color::grey(0.8), 0.5) * shade).with(0.0);
            }
        }
    }

    fn underwater(&self, view: &View, time: f32, canvas: &mut Canvas) {
        let (shallow, deep) = (Color::displayed(0x4c_c0cc), Color::displayed(0x06_2848));
        let shift = view.eye[0] * 0.4;
        let slide = view.turned(0.0, 1.0)[0];
        for x in 0..canvas.width {
            let u = (x as f32 + 0.5) / view.height + shift - slide * 1.6;
            let hill = 0.83 + 0.05 * self.cloud.rolling_at(u * 1.1, 4.0, 0.05);
            let rear = 0.74 + 0.09 * self.cloud.rolling_at(u * 0.9 + 7.0, 9.0, 0.05);
            for y in 0..canvas.height {
                let v = (y as f32 + 0.5) / view.height;
                let mut color = mix(shallow, deep, smooth(-0.1, 0.85, v));
                let lean = u - v * 0.35;
                let ray = (0.5 + 0.5 * (lean * 9.0 + time * 0.35).sin())
                    * (0.5 + 0.5 * (lean * 21.0 - time * 0.55).sin());
                color += shallow * (ray * ray * 0.5 * smooth(0.9, 0.0, v));
                if v > rear {
                    color = mix(color, deep * 1.5, 0.55);
                }
                if v > hill {
                    let ripple = 0.9 + 0.1 * (u * 30.0 + 14.0 * v + 3.0 * (u * 5.0).sin()).sin();
                    let net = (u * 17.0 + time).sin() * (v * 60.0 - time * 1.3).sin();
                    let sand = Color::surface(0xc8_b48c) * Color::new(0.45, 0.75, 0.85);
                    color =
                        mix(color, sand * (ripple + 0.16 * net.max(0.0)) * 0.7, smooth(hill, hill + 0.05, v));
                }
                let index = canvas.at(x, y);
                canvas.light[index] = color.with(0.0);
            }
        }
        self.reef(view, time, canvas);
    }

    /// Corals and weed on the ground.
    fn reef(&self, view: &View, time: f32, canvas: &mut Canvas) {
        let tints = [0xe0_6070, 0xf0_a050, 0xb0_60b0, 0xe8_d070, 0x50_a080];
        for plant in 0..11_u32 {
            let own = |salt: u32| unit2(plant as i32, 1, self.salt ^ salt);
            let x = (own(1) * 1.2 - 0.1) * view.width - view.turned(0.0, 1.0)[0] * view.width * 0.7;
            let foot = view.height * (0.86 + 0.12 * own(2));
            let size = view.height * (0.07 + 0.11 * own(3));
            let tint = Color::surface(tints[(own(4) * 4.99) as usize]) * Color::new(0.7, 0.85, 0.9);
            let is_weed = own(5) < 0.35;
            for branch in 0..6_u32 {
                let lean = (branch as f32 - 2.5) * if is_weed { 0.10 } else { 0.30 } + 0.1 * (own(6) - 0.5);
                let sway = 0.10
                    * (time * 0.9 + branch as f32 + plant as f32).sin()
                    * if is_weed { 1.6 } else { 0.25 };
                let tall = size
                    * if is_weed { 1.7 } else { 1.0 }
                    * (0.7 + 0.3 * unit2(branch as i32, plant as i32, 3));
                let thick = size * if is_weed { 0.035 } else { 0.07 };
                let steps = (tall / 1.5) as u32;
                for step in 0..steps {
                    let s = step as f32 / steps as f32;
                    let bx = x + tall * s * (lean + sway * s);
                    let by = foot - tall * s;
                    let radius = (thick * (1.0 - 0.55 * s)).max(1.0);
                    dab(canvas, bx, by, radius, tint * (0.45 + 0.4 * s));
                }
            }
        }
    }

    fn bubbles(&self, view: &View, time: f32, canvas: &mut Canvas) {
        for bubble in 0..26_u32 {
            let own = |salt: u32| unit2(bubble as i32, 2, self.salt ^ salt);
            let climb = fract(own(1) + time * (0.05 + 0.07 * own(2)));
            let x = view.width * own(3) + view.height * 0.012 * (TAU * (climb * 3.0 + own(4))).sin();
            let y = view.height * (1.05 - 1.1 * climb);
            canvas.glow(x, y, view.height * (0.004 + 0.008 * own(5)), 10.0, Color::new(0.35, 0.5, 0.5));
        }
    }
}

/// A wall above its skirting board.
fn skirting(wall: Color, z: f32) -> Color {
    if z < 0.13 { Color::grey(0.78) } else { wall }
}

/// A round spot.
fn dab(canvas: &mut Canvas, cx: f32, cy: f32, radius: f32, color: Color) {
    let Some((x0, x1)) = super::canvas::clip(cx - radius, cx + radius, canvas.width) else { return };
    let Some((y0, y1)) = super::canvas::clip(cy - radius, cy + radius, canvas.height) else { return };
    for x in x0..x1 {
        for y in y0..y1 {
            let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
            let cover = (radius - (dx * dx + dy * dy).sqrt() + 0.5).clamp(0.0, 1.0);
            let index = canvas.at(x, y);
            canvas.light[index] = mix(canvas.light[index], color, cover).with(0.0);
        }
    }
}
