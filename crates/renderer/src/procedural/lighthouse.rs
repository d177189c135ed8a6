//! The lighthouse: a round tower with gallery, lantern and dome, a door at its foot and windows up its stairs.

use std::f32::consts::TAU;

use super::canvas::Canvas;
use super::frame_context::FrameContext;
use super::light::Light;
use super::math::{Color, fract, lerp, mix, smooth};
use super::noise::{Rng, unit2};
use super::prompt::{Hour, Subject};
use super::scene_spec::SceneSpec;

/// A lighthouse and its action during the shot.
#[derive(Clone, Debug)]
pub(crate) struct Lighthouse {
    pub(crate) foot: [f32; 3],
    paint: TowerPaint,
    /// The lamp is lit during the shot.
    lights_up: bool,
    /// The door opens during the shot.
    door_opens: bool,
    /// The windows are lit one after another during the shot.
    is_climbed: bool,
    /// Turns of the lens a second.
    pub(crate) speed: f32,
    phase: f32,
    /// Visibility of the lamp: low by day.
    pub(crate) power: f32,
}

#[derive(Clone, Copy, Debug)]
enum TowerPaint {
    Bands,
    White,
    Stone,
    RedTop,
}

const SHAFT: f32 = 19.0;
const GLASS: (f32, f32) = (20.1, 22.9);
/// The height of the lamp above the foot, in metres.
pub(crate) const LAMP: f32 = 21.5;
const TOP: f32 = 26.2;
/// Heights of the windows up the stairs.
const WINDOWS: [f32; 4] = [5.2, 9.0, 12.8, 16.4];

impl Lighthouse {
    pub(crate) fn new(foot: [f32; 3], spec: &SceneSpec, light: &Light, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "lighthouse");
        let daylight = light.skylight.luma() + light.sunlight.luma() * 0.4;
        let dark = smooth(1.1, 0.12, daylight);
        let calls_for_light = spec.has(Subject::Lamp) || spec.weather.fog > 0.4 || spec.has(Subject::Storm);
        let dark_hour = matches!(spec.hour, Hour::Dusk | Hour::Night | Hour::Dawn);
        Self {
            foot,
            paint: rng.pick(&[
                TowerPaint::Bands,
                TowerPaint::White,
                TowerPaint::RedTop,
                TowerPaint::Stone,
                TowerPaint::Bands,
            ]),
            lights_up: spec.has(Subject::Lamp),
            door_opens: spec.has(Subject::Door),
            is_climbed: spec.has(Subject::Stairs),
            speed: rng.range(0.10, 0.14),
            phase: rng.unit(),
            power: dark.max(if calls_for_light {
                0.75
            } else if dark_hour {
                0.6
            } else {
                0.18
            }),
        }
    }

    /// How brightly the lamp burns at a moment of the shot, 0..1.
    pub(crate) fn lamp(&self, progress: f32) -> f32 {
        if !self.lights_up {
            return self.power;
        }
        // A catch, a waver, then full.
        let catch = smooth(0.22, 0.26, progress) * 0.3;
        let waver = if progress < 0.42 { 0.75 + 0.25 * (progress * 160.0).sin() } else { 1.0 };
        (catch * waver + 0.7 * smooth(0.36, 0.6, progress)) * self.power.max(0.8)
    }

    /// The direction of the beam, radians clockwise from north.
    pub(crate) fn bearing(&self, time: f32) -> f32 {
        TAU * (self.phase + self.speed * time)
    }

    pub(crate) fn draw(&self, context: &FrameContext<'_>, canvas: &mut Canvas) {
        let Some(projection) = context.project(self.foot) else { return };
        let Some([x0, x1, y0, y1]) = projection.bounds(-3.9, 3.9, -1.5, TOP, canvas) else { return };
        let lit = context.terrain.sunlit(self.foot[0], self.foot[1], self.foot[2] + 9.0);
        let lamp = self.lamp(context.progress);
        for x in x0..x1 {
            for y in y0..y1 {
                let (across, up) = projection.local(x, y);
                let Some((radius, material)) = section(up) else { continue };
                let cover = projection.coverage(across.abs() - radius);
                if cover <= 0.0 {
                    continue;
                }
                let u = (across / radius).clamp(-1.0, 1.0);
                let toward = (1.0 - u * u).sqrt();
                let normal = context.facing(u * 0.98, toward * 0.98, 0.12);
                let shade = context.light.on(normal, lit, 0.9);
                let color = match material {
                    Material::Shaft => self.shaft(context, u, across, up, shade),
                    Material::Gallery => railing(across, up) * shade,
                    Material::Glass => glass(u, up, lamp, shade),
                    Material::Dome => self.dome() * shade,
                };
                // Between railing and glass there is air.
                if matches!(material, Material::Gallery) && !solid_gallery(across, up) {
                    continue;
                }
                projection.paint(canvas, canvas.at(x, y), color, cover);
            }
        }
    }

    /// The lamp's own glare, added once everything is drawn.
    pub(crate) fn glare(&self, context: &FrameContext<'_>, canvas: &mut Canvas) {
        let centre = [self.foot[0], self.foot[1], self.foot[2] + LAMP];
        let Some(projection) = context.project(centre) else { return };
        let lamp = self.lamp(context.progress);
        let view = context.view;
        let away = [view.eye[0] - centre[0], view.eye[1] - centre[1]];
        let bearing = self.bearing(context.time);
        let aim = (away[0] * bearing.sin() + away[1] * bearing.cos()) / away[0].hypot(away[1]).max(1e-3);
        // Two beams, fore and aft.
        let flash = smooth(0.90, 0.997, aim.abs());
        let near = projection.nearness * 1.2;
        let warm = Color::new(1.0, 0.86, 0.58);
        let size = projection.scale;
        canvas.glow(
            projection.spot.x,
            projection.spot.y,
            size * 4.5,
            near,
            warm * (lamp * (0.35 + 0.8 * flash)),
        );
        canvas.glow(
            projection.spot.x,
            projection.spot.y,
            (size * 16.0).max(26.0),
            near,
            warm * (lamp * (0.07 + 0.5 * flash)),
        );
        if flash > 0.0 {
            canvas.glow(
                projection.spot.x,
                projection.spot.y,
                view.height * 0.34,
                near,
                warm * (lamp * flash * 0.35),
            );
        }
        if self.door_opens {
            let open = door_open(context.progress);
            let Some(door) = context.project([self.foot[0], self.foot[1], self.foot[2] + 1.3]) else {
                return;
            };
            let near = door.nearness * 1.3;
            canvas.glow(
                door.spot.x,
                door.spot.y,
                door.scale * 3.4,
                near,
                Color::new(1.0, 0.62, 0.26) * (open * 0.32),
            );
            canvas.glow(
                door.spot.x,
                door.spot.y + door.scale * 2.4,
                door.scale * 6.0,
                near,
                Color::new(1.0, 0.6, 0.25) * (open * 0.12),
            );
        }
    }

    fn shaft(&self, context: &FrameContext<'_>, u: f32, across: f32, up: f32, shade: Color) -> Color {
        let white = Color::surface(0xe8_e2d6);
        let red = Color::surface(0xa8_3026);
        let stone = Color::surface(0x9a_9286);
        let course = up / 0.55;
        let around = u.asin() * 5.0;
        let block = unit2(
            course.floor() as i32,
            (around + 0.5 * fract(course.floor() * 0.5) * 2.0).floor() as i32,
            77,
        );
        let base = match self.paint {
            TowerPaint::Bands => {
                if fract(up / 7.4) < 0.5 {
                    white
                } else {
                    red
                }
            }
            TowerPaint::White => white,
            TowerPaint::Stone => stone * lerp(0.85, 1.12, block),
            TowerPaint::RedTop => {
                if up > 14.5 {
                    red
                } else {
                    white
                }
            }
        };
        // Salt and rain run down the wall; the foot is wet.
        let run = 0.92 + 0.12 * unit2((around * 3.0).floor() as i32, 5, 31) + 0.05 * (block - 0.5);
        let grime = lerp(0.74, 1.0, smooth(0.0, 2.4, up));
        let mut color = base * shade * (run * grime);
        for (index, height) in WINDOWS.into_iter().enumerate() {
            let centre = if index % 2 == 0 { -0.34 } else { 0.26 };
            let (wx, wy) = ((u.asin() - centre) * 2.9, up - height);
            let arch =
                if wy > 0.35 { (wx * wx + (wy - 0.35) * (wy - 0.35)).sqrt() - 0.42 } else { wx.abs() - 0.42 };
            if arch < 0.12 && wy > -0.75 && wy < 0.95 {
                let inside = smooth(0.04, -0.04, arch) * smooth(-0.7, -0.62, wy);
                let pane = mix(
                    Color::surface(0x1c_222a) * shade,
                    Color::new(2.0, 1.18, 0.46),
                    self.window(index, context.progress),
                );
                color = mix(white * shade * 0.8, pane, inside);
            }
        }
        if up < 3.0 {
            let dx = across.abs();
            let arch = if up > 1.7 { (dx * dx + (up - 1.7) * (up - 1.7)).sqrt() - 0.78 } else { dx - 0.78 };
            if arch < 0.22 {
                let frame = stone * shade * 0.9;
                let wood =
                    mix(Color::surface(0x24_4a44), Color::surface(0x1a_3634), fract(across * 4.0).round())
                        * shade;
                let open = if self.door_opens { door_open(context.progress) } else { 0.0 };
                // The leaf swings inwards: the lit gap grows from one side.
                let gap = smooth(-0.06, 0.06, across + 0.78 - open * 1.56 + 0.02);
                let room = Color::new(2.3, 1.3, 0.5) * (0.75 + 0.3 * smooth(0.0, 1.6, up));
                let leaf = mix(room, wood, gap);
                color = mix(frame, leaf, smooth(0.03, -0.03, arch));
            }
        }
        color
    }

    /// How brightly one of the windows is lit.
    fn window(&self, index: usize, progress: f32) -> f32 {
        if self.is_climbed {
            let start = 0.12 + 0.19 * index as f32;
            return smooth(start, start + 0.06, progress) * 0.9;
        }
        if index == 1 { self.power * 0.8 } else { 0.0 }
    }

    fn dome(&self) -> Color {
        match self.paint {
            TowerPaint::White | TowerPaint::Stone => Color::surface(0x2a_3338),
            TowerPaint::Bands | TowerPaint::RedTop => Color::surface(0x8c_2620),
        }
    }
}

/// How far the door stands open.
fn door_open(progress: f32) -> f32 {
    smooth(0.34, 0.66, progress)
}

#[derive(Clone, Copy)]
enum Material {
    Shaft,
    Gallery,
    Glass,
    Dome,
}

/// Radius and material of the tower at a height above its foot.
fn section(up: f32) -> Option<(f32, Material)> {
    Some(match up {
        h if h < -1.5 => return None,
        h if h < SHAFT => (lerp(3.35, 2.25, (h.max(0.0) / SHAFT).powf(0.8)), Material::Shaft),
        h if h < 19.3 => (lerp(2.3, 3.3, (h - SHAFT) / 0.3), Material::Shaft),
        h if h < GLASS.0 + 0.5 => (3.3, Material::Gallery),
        h if h < GLASS.1 => (1.62, Material::Glass),
        h if h < 23.2 => (1.95, Material::Dome),
        h if h < 24.9 => (1.8 * (1.0 - ((h - 23.2) / 1.75).powi(2)).max(0.0).sqrt(), Material::Dome),
        h if h < 25.2 => (0.24, Material::Dome),
        h if h < TOP => (0.06, Material::Dome),
        _ => return None,
    })
}

fn solid_gallery(across: f32, up: f32) -> bool {
    let rail = (up - 20.45).abs() < 0.07 || (up - 19.95).abs() < 0.035;
    let post = fract(across * 1.4 + 0.5) < 0.11;
    let floor = up < 19.55;
    let inner = across.abs() < 1.62;
    rail || post || floor || inner
}

fn railing(across: f32, up: f32) -> Color {
    if across.abs() < 1.62 && up > 19.55 && (up - 20.45).abs() > 0.07 {
        Color::surface(0xc8_c2b6)
    } else {
        Color::surface(0x30_3438)
    }
}

fn glass(u: f32, up: f32, lamp: f32, shade: Color) -> Color {
    let bars = fract(u.asin() * 2.6 + 0.5);
    let bar = bars < 0.09 || (up - 21.5).abs() < 0.05;
    if bar {
        return Color::surface(0x2a_2e32) * shade;
    }
    let lens = smooth(0.75, 0.15, u.abs()) * smooth(1.5, 0.4, (up - LAMP).abs());
    let dark = Color::surface(0x4a_5a62) * shade + shade * 0.10;
    let burning = Color::new(4.2, 3.3, 1.9) * (0.35 + 1.1 * lens);
    mix(dark, burning, lamp)
}
