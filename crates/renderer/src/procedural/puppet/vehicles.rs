//! Vehicles, from the side.

use std::f32::consts::TAU;

use super::Appearance;
use super::shapes::{Parts, Point};
use crate::procedural::math::{Color, mix};

const TYRE: u32 = 0x16_161a;
const GLASS: u32 = 0x56_707c;

fn wheel(parts: &mut Parts, appearance: Appearance, centre: Point, radius: f32, spokes: bool) {
    let turn = -appearance.time * 7.0 / radius.max(0.2);
    let rim = Color::surface(0x9a_a0a8);
    parts.disc(centre, radius, Color::surface(TYRE));
    parts.disc(
        centre,
        radius * if spokes { 0.90 } else { 0.62 },
        if spokes { Color::surface(0x80_8890) * 0.5 } else { rim },
    );
    for spoke in 0..if spokes { 6 } else { 3 } {
        let (sin, cos) = (turn + TAU * spoke as f32 / if spokes { 6.0 } else { 3.0 }).sin_cos();
        let reach = radius * if spokes { 0.9 } else { 0.55 };
        let tint = if spokes { rim } else { Color::surface(0x50_545c) };
        parts.limb(
            (centre.0 - cos * reach, centre.1 - sin * reach),
            (centre.0 + cos * reach, centre.1 + sin * reach),
            (radius * 0.04, radius * 0.04),
            tint,
        );
    }
    parts.disc(centre, radius * 0.16, Color::surface(0x50_545c));
}

fn lamps(parts: &mut Parts, headlight: Point, rear: Point, size: f32) {
    parts.ellipse(headlight, (size, size * 0.8), Color::surface(0xff_f0c0));
    parts.glowing();
    parts.ellipse(rear, (size * 0.7, size * 0.8), Color::surface(0xf0_3020));
    parts.glowing();
}

/// A car of 4.4 m.
pub(super) fn car(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let bob = 0.008 * (appearance.time * 9.0).sin();
    parts.polygon(
        &[
            (-1.55, 0.82 + bob),
            (-1.05, 1.40 + bob),
            (-0.2, 1.48 + bob),
            (0.35, 1.42 + bob),
            (1.0, 0.88 + bob),
        ],
        color * 0.9,
    );
    let glass = Color::surface(GLASS);
    parts.polygon(
        &[(-1.32, 0.86 + bob), (-0.95, 1.30 + bob), (-0.42, 1.38 + bob), (-0.42, 0.88 + bob)],
        glass,
    );
    parts.polygon(&[(-0.32, 0.88 + bob), (-0.32, 1.38 + bob), (0.28, 1.33 + bob), (0.80, 0.90 + bob)], glass);
    parts.polygon(
        &[
            (-2.18, 0.40),
            (-2.2, 0.78 + bob),
            (-1.95, 0.90 + bob),
            (0.95, 0.92 + bob),
            (1.9, 0.78 + bob),
            (2.18, 0.62 + bob),
            (2.2, 0.40),
            (1.9, 0.28),
            (-1.95, 0.28),
        ],
        color,
    );
    parts.limb((-2.1, 0.44), (2.1, 0.44), (0.05, 0.05), color * 0.55);
    parts.limb((-0.37, 0.86), (-0.37, 0.42), (0.008, 0.008), color * 0.5);
    parts.limb((-0.22, 0.74 + bob), (-0.05, 0.74 + bob), (0.02, 0.02), mix(color, Color::grey(1.0), 0.5));
    for x in [-1.32, 1.34] {
        parts.disc((x, 0.36), 0.42, color * 0.3);
        wheel(parts, appearance, (x, 0.34), 0.34, false);
    }
    lamps(parts, (2.06, 0.64 + bob), (-2.14, 0.70 + bob), 0.10);
}

/// A bus of 10 m.
pub(super) fn bus(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let bob = 0.012 * (appearance.time * 7.0).sin();
    parts.block((0.0, 1.62 + bob), (5.0, 1.28), 0.22, color);
    parts.block((0.0, 0.62 + bob), (4.95, 0.25), 0.08, color * 0.7);
    for window in 0..6 {
        parts.block((-4.0 + 1.42 * window as f32, 2.05 + bob), (0.62, 0.48), 0.06, Color::surface(GLASS));
    }
    parts.block((4.55, 1.85 + bob), (0.36, 0.78), 0.08, Color::surface(GLASS) * 1.2);
    parts.limb((-4.9, 1.35 + bob), (4.9, 1.35 + bob), (0.06, 0.06), Color::grey(0.85));
    for x in [-3.1, 3.1] {
        parts.disc((x, 0.55), 0.62, Color::surface(0x18_181c));
        wheel(parts, appearance, (x, 0.5), 0.5, false);
    }
    lamps(parts, (4.92, 0.85 + bob), (-4.94, 0.95 + bob), 0.14);
}

/// A train of three cars, 33 m.
pub(super) fn train(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let glass = Color::surface(0xf0_d898);
    for car in 0..3 {
        let x = -11.2 * car as f32 + 11.2;
        let bob = 0.02 * (appearance.time * 8.0 + car as f32).sin();
        let body: Vec<Point> = if car == 0 {
            vec![
                (x - 5.4, 0.7),
                (x - 5.4, 3.6 + bob),
                (x + 3.4, 3.6 + bob),
                (x + 4.8, 2.9 + bob),
                (x + 5.6, 1.5),
                (x + 5.5, 0.7),
            ]
        } else {
            vec![(x - 5.4, 0.7), (x - 5.4, 3.6 + bob), (x + 5.4, 3.6 + bob), (x + 5.4, 0.7)]
        };
        parts.polygon(&body, color);
        parts.limb((x - 5.3, 1.25), (x + 5.3, 1.25), (0.14, 0.14), Color::grey(0.9));
        for window in 0..if car == 0 { 5 } else { 6 } {
            parts.block((x - 4.5 + 1.75 * window as f32, 2.45 + bob), (0.62, 0.46), 0.1, glass);
            parts.glowing();
        }
        if car == 0 {
            parts.polygon(
                &[(x + 4.0, 2.95 + bob), (x + 4.55, 2.78 + bob), (x + 5.2, 1.95), (x + 4.0, 1.95)],
                Color::surface(GLASS),
            );
            parts.disc((x + 5.3, 1.25), 0.18, Color::surface(0xff_f0c0));
            parts.glowing();
        }
        parts.block((x, 0.62), (5.0, 0.22), 0.05, Color::surface(0x26_282c));
        for wheel_x in [-4.0, -2.8, 2.8, 4.0] {
            wheel(parts, appearance, (x + wheel_x, 0.42), 0.42, false);
        }
        if car > 0 {
            parts.limb((x + 5.2, 0.9), (x + 6.0, 0.9), (0.15, 0.15), Color::surface(0x20_2226));
        }
    }
}

fn rider(parts: &mut Parts, appearance: Appearance, hip: Point, hand: Point, foot: Point, coat: Color) {
    let skin = Color::surface([0xe0_ac88, 0xc6_8a62, 0x9a_6844][appearance.variant as usize % 3]);
    let shoulder = (hip.0 + 0.30, hip.1 + 0.50);
    parts.bent(
        [hip, ((hip.0 + foot.0) * 0.5 + 0.20, (hip.1 + foot.1) * 0.5 + 0.14), foot],
        [0.10, 0.085, 0.06],
        Color::surface(0x26_2a34),
    );
    parts.limb(foot, (foot.0 + 0.13, foot.1 - 0.02), (0.055, 0.045), Color::surface(TYRE));
    parts.limb(hip, shoulder, (0.135, 0.15), coat);
    parts.bent([shoulder, (shoulder.0 + 0.20, shoulder.1 - 0.22), hand], [0.065, 0.055, 0.05], coat * 0.82);
    let head = (shoulder.0 + 0.11, shoulder.1 + 0.25);
    parts.disc(head, 0.12, skin);
    parts.ellipse((head.0 - 0.015, head.1 + 0.04), (0.14, 0.105), coat * 0.5);
}

/// A bicycle with its rider, 1.8 m long.
pub(super) fn bicycle(parts: &mut Parts, appearance: Appearance) {
    let frame = appearance.color;
    for x in [-0.52, 0.54] {
        wheel(parts, appearance, (x, 0.34), 0.34, true);
    }
    let turn = appearance.time * 5.5;
    let pedal = |side: f32| (0.0 + 0.16 * (turn + side).cos(), 0.30 - 0.16 * (turn + side).sin());
    rider_leg(parts, (-0.17, 0.98), pedal(TAU * 0.5));
    for (from, to) in [
        ((-0.52, 0.34), (-0.18, 0.84)),
        ((-0.52, 0.34), (0.0, 0.30)),
        ((0.0, 0.30), (-0.18, 0.84)),
        ((0.0, 0.30), (0.40, 0.80)),
        ((-0.15, 0.76), (0.40, 0.80)),
        ((0.54, 0.34), (0.38, 0.92)),
    ] {
        parts.limb(from, to, (0.024, 0.024), frame);
    }
    parts.limb((-0.28, 0.90), (-0.06, 0.90), (0.03, 0.03), Color::surface(TYRE));
    parts.limb((0.38, 0.96), (0.46, 1.0), (0.022, 0.022), Color::surface(TYRE));
    rider(parts, appearance, (-0.17, 1.0), (0.44, 1.02), pedal(0.0), appearance.coat);
}

fn rider_leg(parts: &mut Parts, hip: Point, foot: Point) {
    parts.bent(
        [hip, ((hip.0 + foot.0) * 0.5 + 0.20, (hip.1 + foot.1) * 0.5 + 0.14), foot],
        [0.09, 0.08, 0.055],
        Color::surface(0x18_1a22),
    );
}

/// A motorcycle with its rider, 2.1 m long.
pub(super) fn motorcycle(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let steel = Color::surface(0x88_8e96);
    parts.limb((0.70, 0.34), (0.46, 1.0), (0.035, 0.035), steel);
    for x in [-0.68, 0.70] {
        wheel(parts, appearance, (x, 0.34), 0.34, false);
    }
    parts.block((0.0, 0.42), (0.30, 0.17), 0.06, steel * 0.6);
    parts.limb((-0.1, 0.26), (-0.85, 0.34), (0.05, 0.06), steel);
    parts.polygon(
        &[(-0.85, 0.78), (-0.2, 0.70), (0.1, 0.66), (0.1, 0.52), (-0.55, 0.52)],
        Color::surface(0x1c_1c20),
    );
    parts.ellipse((0.22, 0.82), (0.30, 0.15), color);
    parts.polygon(&[(0.40, 1.02), (0.62, 0.98), (0.66, 0.74), (0.40, 0.72)], color);
    parts.limb((0.40, 1.06), (0.52, 1.10), (0.025, 0.025), Color::surface(TYRE));
    parts.ellipse((0.66, 0.88), (0.06, 0.08), Color::surface(0xff_f0c0));
    parts.glowing();
    rider(parts, appearance, (-0.22, 0.86), (0.46, 1.08), (0.02, 0.40), appearance.coat);
}

/// An airliner of 30 m in the air.
pub(super) fn plane(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let tail = mix(color, Color::surface(0x2c_5090), 0.7);
    parts.polygon(&[(-2.0, 2.6), (-6.5, 5.4), (-4.6, 5.4), (3.0, 2.8)], color * 0.6);
    parts.polygon(&[(-12.6, 3.4), (-15.4, 8.2), (-13.2, 8.2), (-9.4, 3.6)], tail);
    parts.limb((-13.0, 3.2), (11.6, 2.6), (0.7, 1.55), color);
    parts.ellipse((11.8, 2.6), (2.6, 1.5), color);
    parts.polygon(&[(12.6, 3.5), (13.5, 3.0), (12.2, 3.0)], Color::surface(GLASS) * 0.6);
    for window in 0..16 {
        parts.block(
            (-9.5 + 1.25 * window as f32, 3.15 - 0.01 * window as f32),
            (0.28, 0.3),
            0.12,
            Color::surface(GLASS) * 0.7,
        );
    }
    parts.polygon(&[(-13.4, 3.0), (-16.6, 3.6), (-15.6, 2.5), (-11.0, 2.6)], color * 0.75);
    parts.polygon(&[(3.4, 2.2), (-7.5, -2.4), (-5.2, -2.4), (5.6, 2.0)], color * 0.78);
    parts.limb((0.2, 0.2), (2.6, 0.2), (0.62, 0.75), color * 0.7);
    let strobe = (appearance.time * 1.4).fract() < 0.12;
    if strobe {
        parts.disc((-6.4, -2.4), 0.4, Color::surface(0xff_4030));
        parts.glowing();
    }
}
