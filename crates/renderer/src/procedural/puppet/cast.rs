//! [`Cast`]: the figures of a scene, where they are, and the ground below them.

use super::paint::{self, Placement};
use super::strip::{GroundStrip, StripMaterial};
use super::{
    Appearance, FigureVariant, is_human, is_object, is_on_ground, is_setting, is_vehicle, measures, parts,
};
use crate::procedural::camera::{Pose, Rig, View};
use crate::procedural::canvas::Canvas;
use crate::procedural::light::Light;
use crate::procedural::math::Color;
use crate::procedural::noise::Rng;
use crate::procedural::prompt::{Framing, Landscape, Location, Move, Set, Subject};
use crate::procedural::scene_spec::SceneSpec;

/// People in a crowd.
const CROWD: u32 = 13;
/// The row of the feet, as a share of the height.
const FEET: f32 = 0.92;

/// The figures of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    /// Back to front.
    members: Vec<Member>,
    strip: Option<GroundStrip>,
    manner: paint::ShapeStyle,
    /// The camera that the figures keep pace with; `None` if they stay where they are.
    follows: Option<[f32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    subject: Subject,
    manner: FigureVariant,
    /// Its foot: metres east, north, up.
    position: [f32; 3],
    /// Drawn metres to metres of the scene.
    size: f32,
    is_mirrored: bool,
    color: Color,
    coat: Color,
    variant: u32,
    phase: f32,
    /// Metres of the scene a second, to where it faces, and the direction on the ground.
    pace: f32,
    right: [f32; 2],
}

/// An image in which lengths are shares of the square root of its area, seen by a camera.
struct ImagePlane {
    width: f32,
    height: f32,
    focal: f32,
    pose: Pose,
}

impl ImagePlane {
    /// The point that is seen at a place of the image (shares of width and height) when it is `distance` metres ahead.
    fn point(&self, x: f32, y: f32, distance: f32) -> [f32; 3] {
        let (sin, cos) = self.pose.yaw.sin_cos();
        let across = (x - 0.5) * self.width * distance / self.focal;
        let up = (self.pose.horizon - y) * self.height * distance / self.focal;
        let [ex, ey, ez] = self.pose.eye;
        [ex + sin * distance + cos * across, ey + cos * distance - sin * across, ez + up]
    }
}

/// A figure before it is placed.
struct UnplacedFigure {
    subject: Subject,
    color: Option<Color>,
    /// Its middle, and its foot, in shares of the image.
    x: f32,
    foot: f32,
    /// Its height as a share of the image's.
    share: f32,
}

impl Cast {
    /// Places the figures that the scene asks for before a camera; `None` without any.
    pub(crate) fn stage(spec: &SceneSpec, rig: &Rig, aspect: f32, seconds: f32, seed: u64) -> Option<Self> {
        let mut rng = Rng::new(seed, "cast");
        let wide = aspect.sqrt();
        let image =
            ImagePlane { width: wide, height: 1.0 / wide, focal: rig.focal, pose: rig.pose(0.5, 0.0) };
        let mut figures = arrange(spec, aspect, &mut rng);
        if figures.is_empty() {
            return None;
        }
        // Those that stand higher in the image are further away.
        figures.sort_by(|a, b| a.foot.total_cmp(&b.foot));
        let leftward = match spec.movement {
            Move::TrackLeft => true,
            Move::TrackRight => false,
            _ => spec.side > 0.0,
        };
        let main = spec.figures.first().map_or(Subject::Person, |figure| figure.subject);
        let [right_x, right_y] = [image.pose.yaw.cos(), -image.pose.yaw.sin()];
        let is_facing =
            matches!(spec.framing, Framing::Close | Framing::Medium) || spec.set == Some(Set::Studio);
        let members: Vec<Member> = figures
            .iter()
            .map(|figure| {
                let body = measures(figure.subject);
                let metres = body.height * enlarged(figure.subject);
                let distance = metres * image.focal / (figure.share * image.height);
                let travel = 0.11 * image.width * distance / image.focal;
                let walks = is_human(figure.subject) && !is_facing
                    || matches!(figure.subject, Subject::Dog | Subject::Elephant | Subject::Bear);
                let pace = match figure.subject {
                    Subject::Plane => 4.0 * travel / seconds.max(1.0),
                    Subject::Fish => 2.0 * travel / seconds.max(1.0),
                    _ if walks => travel / seconds.max(1.0),
                    _ => 0.0,
                };
                let mirrored = if main == Subject::Crowd || figure.subject == Subject::Fish {
                    rng.chance(0.5)
                } else {
                    leftward
                };
                let start = pace * seconds * 0.5 * if mirrored { 1.0 } else { -1.0 };
                let mut position = image.point(figure.x, figure.foot, distance);
                (position[0], position[1]) = (position[0] + right_x * start, position[1] + right_y * start);
                Member {
                    subject: figure.subject,
                    manner: FigureVariant { is_woman: is_woman(spec, figure.subject, &mut rng), is_facing },
                    position,
                    size: metres / body.height,
                    is_mirrored: mirrored && !(is_facing && is_human(figure.subject)),
                    color: figure.color.unwrap_or_else(|| color(spec, figure.subject, &mut rng)),
                    coat: spec.coat,
                    variant: (rng.next() % 64) as u32,
                    phase: rng.range(0.0, 7.0),
                    pace,
                    right: [right_x, right_y],
                }
            })
            .collect();
        let strip = surface(spec, main).and_then(|surface| {
            let lowest = figures.last()?;
            let front = members.last()?;
            let (far, near) = match surface {
                StripMaterial::Road => (lowest.foot - 0.07, lowest.foot + 0.12),
                StripMaterial::Rails => (lowest.foot - 0.05, lowest.foot + 0.10),
                StripMaterial::Sand => ((lowest.foot - 0.20).max(image.pose.horizon + 0.10), 1.4),
                StripMaterial::Wood => (lowest.foot - 0.13, 1.4),
            };
            let height = front.position[2];
            let drop = |row: f32| (row - image.pose.horizon).max(0.02) * image.height / image.focal;
            let above = (image.pose.eye[2] - height).max(0.01);
            Some(GroundStrip {
                surface,
                height,
                far: above / drop(far),
                near: above / drop(near),
                eye: image.pose.eye,
            })
        });
        let is_track = matches!(spec.movement, Move::TrackLeft | Move::TrackRight);
        let follows = is_track.then_some(image.pose.eye);
        Some(Self { members, strip, manner: paint::ShapeStyle::new(spec.style), follows })
    }

    pub(crate) fn draw(&self, view: &View, light: &Light, time: f32, canvas: &mut Canvas) {
        if let Some(strip) = &self.strip {
            strip.draw(view, light, time, canvas);
        }
        for member in &self.members {
            member.draw(self, view, light, time, canvas);
        }
    }
}

impl Member {
    fn draw(&self, cast: &Cast, view: &View, light: &Light, time: f32, canvas: &mut Canvas) {
        let travelled = self.pace * time * if self.is_mirrored { -1.0 } else { 1.0 };
        let mut position = [
            self.position[0] + self.right[0] * travelled,
            self.position[1] + self.right[1] * travelled,
            self.position[2],
        ];
        if let Some(eye) = cast.follows {
            (position[0], position[1]) =
                (position[0] + view.eye[0] - eye[0], position[1] + view.eye[1] - eye[1]);
        }
        match self.subject {
            Subject::Fish => position[2] += 0.04 * (time * 1.6 + self.phase).sin(),
            Subject::Plane => position[2] += 0.5 * (time * 0.7).sin(),
            _ => {}
        }
        let Some(spot) = view.project(position) else { return };
        let placement = Placement {
            x: spot.x,
            y: spot.y,
            scale: view.focal / spot.distance * self.size,
            is_mirrored: self.is_mirrored,
            distance: spot.distance,
        };
        let appearance =
            Appearance { time: time + self.phase, color: self.color, coat: self.coat, variant: self.variant };
        let body = measures(self.subject);
        if is_on_ground(self.subject) || is_object(self.subject) {
            paint::shadow(placement, body.length * 0.55, light, canvas);
        }
        paint::paint(
            &parts(self.subject, appearance, self.manner),
            placement,
            cast.manner,
            light,
            view,
            canvas,
        );
    }
}

/// Drawn metres to metres of the scene: children are small people, and things are large enough to be far from the lens.
const fn enlarged(subject: Subject) -> f32 {
    match subject {
        Subject::Child => 0.64,
        _ if is_object(subject) => 5.0,
        _ => 1.0,
    }
}

/// About how far the main figure is from the camera, in metres; `None` without figures.
pub(crate) fn nominal_distance(spec: &SceneSpec, focal: f32) -> Option<f32> {
    let figures = arrange(spec, 16.0 / 9.0, &mut Rng::new(0, "distance"));
    let away = figures.iter().map(|figure| {
        measures(figure.subject).height * enlarged(figure.subject) * focal / (figure.share * 0.75)
    });
    away.reduce(f32::min)
}

/// Which figures are where.
fn arrange(spec: &SceneSpec, aspect: f32, rng: &mut Rng) -> Vec<UnplacedFigure> {
    let Some(main) = spec.figures.first() else { return Vec::new() };
    let factor = match spec.framing {
        Framing::Close => 1.75,
        Framing::Medium => 1.2,
        Framing::Wide if spec.is_framed => 0.55,
        Framing::Wide => 1.0,
        Framing::Aerial => 0.3,
    };
    let mut figures = Vec::new();
    let objects_only = is_object(main.subject);
    // The share of a metre if the tallest of them takes its own.
    let sizes =
        spec.figures.iter().filter(|it| is_object(it.subject) == objects_only && !is_setting(it.subject));
    let metre = sizes.map(|it| measures(it.subject)).map(|body| body.share / body.height).reduce(f32::min);
    let shown = spec.figures.iter().filter(|figure| is_object(figure.subject) == objects_only);
    let shown: Vec<_> = shown.collect();
    for (order, figure) in shown.iter().enumerate() {
        let body = measures(figure.subject);
        let is_background = order > 0 && is_setting(figure.subject);
        let count = if figure.subject == Subject::Crowd { CROWD } else { figure.count };
        let crowd = match count {
            1 => 1.0,
            2..=3 => 0.84,
            _ => 0.66,
        };
        let together = if shown.len() > 1 && !is_background { 0.86 } else { 1.0 };
        // No wider than the image; a train may be.
        let widest =
            if figure.subject == Subject::Train { 1.25 } else { 0.84 / (count.min(3) as f32).sqrt() };
        let limit = widest * aspect * body.height / body.length;
        let cap = if objects_only { 0.62 } else { f32::INFINITY };
        // Between its own size and that beside the others.
        let beside =
            metre.map_or(body.share, |metre| metre * body.height * enlarged(figure.subject).min(1.0));
        let own = (body.share * beside).sqrt();
        let mut share = (own * crowd * together).min(limit) * factor;
        share = share.min(cap);
        let mut foot = if objects_only { 0.80 } else { FEET };
        let middle = match (shown.len(), order) {
            (1, _) => 0.5,
            (_, 0) => 0.5 - 0.13 * spec.side,
            (_, 1) => 0.5 + 0.20 * spec.side,
            _ => 0.5 - 0.32 * spec.side,
        };
        let mut centre = middle;
        if is_background {
            (share, foot) = (body.share * 0.8, FEET - 0.12);
        }
        let in_focus = order == 0 && count == 1;
        if is_human(figure.subject) && in_focus {
            // The head, or half of the body.
            let head = body.close_up.1 / body.height;
            match spec.framing {
                Framing::Close => (share, foot) = (2.5, 0.42 + 2.5 * head),
                Framing::Medium => (share, foot) = (1.42, 0.34 + 1.42 * head),
                _ => {}
            }
        } else if spec.framing == Framing::Close && in_focus && !objects_only {
            let mirror = if spec.side > 0.0 { -1.0 } else { 1.0 };
            centre = 0.5 - mirror * body.close_up.0 / body.height * share / aspect;
            foot = 0.48 + body.close_up.1 / body.height * share;
        } else if figure.subject == Subject::Plane {
            foot = 0.36;
        } else if figure.subject == Subject::Fish {
            foot = 0.56;
        }
        for index in 0..count {
            let spread = if count == 1 { 0.0 } else { (index as f32 + 0.5) / count as f32 - 0.5 };
            let back = if count == 1 { 0.0 } else { rng.unit() };
            let reach = if shown.len() > 1 { 0.55 } else { 0.86 };
            let scattered =
                if figure.subject == Subject::Fish { rng.range(-0.28, 0.28) } else { -0.09 * back };
            figures.push(UnplacedFigure {
                subject: figure.subject,
                color: figure.color,
                x: centre + spread * reach + if count > 1 { rng.range(-0.03, 0.03) } else { 0.0 },
                foot: foot + scattered,
                share: share * (1.0 - 0.22 * back),
            });
        }
    }
    figures
}

fn is_woman(spec: &SceneSpec, subject: Subject, rng: &mut Rng) -> bool {
    match subject {
        Subject::Crowd => rng.chance(0.5),
        Subject::Child => spec.subjects.has(Subject::Woman) || rng.chance(0.4),
        _ => spec.subjects.has(Subject::Woman),
    }
}

/// The color of a figure for which the prompt names none.
fn color(spec: &SceneSpec, subject: Subject, rng: &mut Rng) -> Color {
    let choices: &[u32] = match subject {
        Subject::Person | Subject::Child => return spec.coat,
        Subject::Crowd => &[0x8c_3a34, 0x34_5a80, 0xc0_9838, 0x4a_6a44, 0x9a_9aa2, 0x3a_3440, 0xb8_6a48],
        Subject::Dog => &[0xc8_9450, 0x8a_5a34, 0xe0_c498, 0x50_4038],
        Subject::Cat => &[0xd8_8a3c, 0x70_706e, 0xe4_dcd0, 0x3a_3634],
        Subject::Horse => &[0x7a_4424, 0xd8_d0c4, 0x4a_2c1c],
        Subject::Elephant => &[0x84_7c78, 0x6e_5848],
        Subject::Bear => &[0x5c_3c24, 0x3c_2a1e],
        Subject::Bird => &[0x3c_78b8, 0x5a_7a3c, 0x8a_5a40],
        Subject::Fish => &[0xf0_7a28, 0xf0_c030, 0x3c_9ad0, 0xe0_5070],
        Subject::Car => &[0xb8_2a22, 0x2c_5090, 0xd8_d4cc, 0xe0_a828],
        Subject::Bus => &[0xc8_3428, 0xe0_a828, 0x2c_6a90],
        Subject::Train => &[0x2c_5a8c, 0xa8_3028, 0x2e_6a50],
        Subject::Bicycle => &[0xc0_3830, 0x2c_7a8c, 0xe0_b030],
        Subject::Motorcycle => &[0x20_2024, 0xb0_2a24, 0x28_4a80],
        Subject::Plane => &[0xe8_eaee],
        Subject::Robot => &[0xb8_c0c8, 0xe0_b038, 0x70_98b0],
        Subject::Flower => &[0xe0_5070, 0xe8_a028, 0xb0_60c0, 0xf0_e8e0],
        Subject::Tree if spec.has(Subject::Autumn) => &[0xd0_6a24, 0xc8_9020, 0xb0_3c24],
        Subject::Tree if spec.has(Subject::Spring) => &[0xf0_b0c4, 0xf4_c8d4],
        Subject::Tree => &[0x3e_6a2c, 0x4e_7a34],
        Subject::House => &[0xe0_d0b0, 0xd8_b088, 0xc8_d0d4],
        Subject::Cup => &[0xf0_ece4, 0x3c_6a8c, 0xc0_4c3c],
        Subject::Bottle => &[0xe8_b078, 0xb0_c8d8, 0xd8_88a0],
        Subject::Candle => &[0xf0_e4cc],
        Subject::Book => &[0x8a_2c28, 0x2c_4a6c],
        Subject::Device => &[0xd0_d4d8, 0x40_444c],
        _ => &[0x8a_5c38],
    };
    Color::surface(rng.pick(choices))
}

/// The ground below the main figure, where the place gives none.
fn surface(spec: &SceneSpec, main: Subject) -> Option<StripMaterial> {
    let is_close = spec.framing == Framing::Close;
    match main {
        _ if is_object(main) && spec.set != Some(Set::Studio) => Some(StripMaterial::Wood),
        _ if !is_on_ground(main) || spec.set.is_some() => None,
        _ if is_close => None,
        Subject::Train => Some(StripMaterial::Rails),
        _ if is_vehicle(main) => Some(StripMaterial::Road),
        _ if matches!(
            spec.location(),
            Location::Land(Landscape::Sea | Landscape::Coast | Landscape::Harbour | Landscape::Lake)
        ) =>
        {
            Some(StripMaterial::Sand)
        }
        _ => None,
    }
}
