//! Animals, from the side.

use std::f32::consts::TAU;

use super::Appearance;
use super::shapes::{Parts, Point};
use crate::procedural::math::{Color, mix};

const EYE: u32 = 0x14_1210;

/// The four legs of a walking or running animal: hips, lengths, and how far they swing.
struct Gait {
    /// x of the front and of the rear legs, and where they begin.
    fore: Point,
    rear: Point,
    swing: f32,
    lift: f32,
    radii: [f32; 3],
    hertz: f32,
}

impl Gait {
    fn legs(&self, parts: &mut Parts, appearance: Appearance, color: Color, near: bool) {
        let phase = TAU * appearance.time * self.hertz;
        let offset = if near { 0.0 } else { 0.5 };
        for (hip, shift, bend) in [(self.rear, 0.0, -1.0), (self.fore, 0.32, 1.0)] {
            let angle = phase + TAU * (offset + shift);
            let (swing, lift) = (angle.sin() * self.swing, angle.cos().max(0.0) * self.lift);
            let foot = (hip.0 + swing, lift + self.radii[2]);
            let knee = (
                (hip.0 + foot.0) * 0.5 + bend * 0.10 * hip.1 * (0.4 + lift / self.lift.max(0.01) * 0.6),
                (hip.1 + foot.1) * 0.5,
            );
            parts.bent([hip, knee, foot], self.radii, color);
        }
    }
}

/// A dog, 0.6 m at the shoulder.
pub(super) fn dog(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let shade = color * 0.72;
    let bob = 0.02 * (TAU * appearance.time * 3.2).sin();
    let wag = 0.10 * (TAU * appearance.time * 2.6).sin();
    let gait = Gait {
        fore: (0.26, 0.40 + bob),
        rear: (-0.28, 0.42 + bob),
        swing: 0.17,
        lift: 0.10,
        radii: [0.07, 0.05, 0.038],
        hertz: 1.6,
    };
    gait.legs(parts, appearance, shade, false);
    parts.bent(
        [(-0.36, 0.52 + bob), (-0.50, 0.62 + bob + wag * 0.4), (-0.54, 0.76 + bob + wag)],
        [0.045, 0.04, 0.025],
        color,
    );
    parts.limb((-0.26, 0.50 + bob), (0.24, 0.52 + bob), (0.135, 0.155), color);
    parts.limb((0.26, 0.56 + bob), (0.40, 0.72 + bob), (0.115, 0.095), color);
    gait.legs(parts, appearance, color, true);
    parts.disc((0.44, 0.76 + bob), 0.105, color);
    parts.limb((0.50, 0.73 + bob), (0.63, 0.70 + bob), (0.06, 0.045), mix(color, Color::grey(0.8), 0.25));
    parts.disc((0.665, 0.72 + bob), 0.026, Color::surface(EYE));
    parts.limb((0.40, 0.83 + bob), (0.33, 0.70 + bob), (0.045, 0.055), color * 0.55);
    parts.disc((0.495, 0.79 + bob), 0.017, Color::surface(EYE));
    parts.limb((0.58, 0.665 + bob), (0.60, 0.62 + bob), (0.022, 0.018), Color::surface(0xd0_6870));
}

/// A cat that sits, 0.45 m high.
pub(super) fn cat(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let pale = mix(color, Color::grey(0.9), 0.55);
    let tail = 0.07 * (appearance.time * 2.2).sin();
    let breath = 0.006 * (appearance.time * 2.6).sin();
    let nod = 0.012 * (appearance.time * 0.9).sin();
    parts.bent([(-0.16, 0.05), (-0.34, 0.08), (-0.36 + tail, 0.24)], [0.035, 0.034, 0.026], color * 0.85);
    parts.ellipse((-0.06, 0.14), (0.15, 0.14 + breath), color);
    parts.limb((-0.04, 0.18), (0.05, 0.30), (0.12, 0.085 + breath), color);
    for x in [0.04, 0.10] {
        parts.limb((x, 0.24), (x + 0.01, 0.03), (0.04, 0.03), color * 0.92);
        parts.ellipse((x + 0.025, 0.022), (0.038, 0.022), pale);
    }
    parts.ellipse((0.06, 0.22), (0.05, 0.08), pale);
    let head = (0.07, 0.41 + nod);
    for side in [-1.0, 1.0] {
        parts.polygon(
            &[
                (head.0 + 0.03 * side, head.1 + 0.07),
                (head.0 + 0.10 * side, head.1 + 0.155),
                (head.0 + 0.11 * side, head.1 + 0.01),
            ],
            color,
        );
        parts.polygon(
            &[
                (head.0 + 0.05 * side, head.1 + 0.07),
                (head.0 + 0.092 * side, head.1 + 0.125),
                (head.0 + 0.098 * side, head.1 + 0.03),
            ],
            Color::surface(0xd8_9a90),
        );
    }
    parts.ellipse(head, (0.115, 0.098), color);
    parts.ellipse((head.0, head.1 - 0.038), (0.055, 0.04), pale);
    let blink = (appearance.time * 0.37).fract() < 0.05;
    for side in [-1.0, 1.0] {
        let eye = (head.0 + 0.047 * side, head.1 + 0.015);
        if blink {
            parts.limb((eye.0 - 0.02, eye.1), (eye.0 + 0.02, eye.1), (0.004, 0.004), color * 0.3);
        } else {
            parts.ellipse(eye, (0.024, 0.021), Color::surface(0xc8_d060));
            parts.ellipse(eye, (0.007, 0.019), Color::surface(EYE));
        }
        for lift in [-0.010, 0.012] {
            parts.limb(
                (head.0 + 0.035 * side, head.1 - 0.035),
                (head.0 + 0.15 * side, head.1 - 0.03 + lift * 2.0),
                (0.0022, 0.0012),
                Color::grey(0.85),
            );
        }
    }
    parts.polygon(
        &[(head.0 - 0.014, head.1 - 0.02), (head.0 + 0.014, head.1 - 0.02), (head.0, head.1 - 0.036)],
        Color::surface(0xc8_6c70),
    );
}

/// A horse that gallops, 1.6 m at the withers.
pub(super) fn horse(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let mane = color * 0.35;
    let phase = TAU * appearance.time * 1.3;
    let bob = 0.06 * phase.sin();
    let gait = Gait {
        fore: (0.58, 1.02 + bob),
        rear: (-0.62, 1.05 + bob),
        swing: 0.46,
        lift: 0.34,
        radii: [0.13, 0.075, 0.05],
        hertz: 1.3,
    };
    gait.legs(parts, appearance, color * 0.7, false);
    parts.bent(
        [(-0.80, 1.30 + bob), (-1.06, 1.16 + bob), (-1.24, 0.86 + bob * 2.0)],
        [0.07, 0.10, 0.04],
        mane,
    );
    parts.limb((-0.56, 1.22 + bob), (0.50, 1.20 + bob), (0.30, 0.28), color);
    parts.ellipse((-0.62, 1.24 + bob), (0.30, 0.32), color);
    parts.limb((0.58, 1.34 + bob), (0.98, 1.88 + bob), (0.24, 0.13), color);
    gait.legs(parts, appearance, color, true);
    parts.limb((0.44, 1.52 + bob), (0.88, 2.02 + bob), (0.07, 0.07), mane);
    parts.limb((1.0, 1.92 + bob), (1.30, 1.64 + bob), (0.13, 0.085), color);
    parts.disc((1.32, 1.63 + bob), 0.085, color * 0.7);
    parts.polygon(&[(0.93, 1.98 + bob), (0.97, 2.18 + bob), (1.05, 1.98 + bob)], color);
    parts.disc((1.10, 1.90 + bob), 0.025, Color::surface(EYE));
}

/// An elephant or another heavy animal, 2.9 m high.
pub(super) fn elephant(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let sway = 0.05 * (TAU * appearance.time * 0.5).sin();
    let gait = Gait {
        fore: (0.75, 1.35),
        rear: (-0.85, 1.35),
        swing: 0.26,
        lift: 0.10,
        radii: [0.34, 0.26, 0.24],
        hertz: 0.55,
    };
    gait.legs(parts, appearance, color * 0.7, false);
    parts.limb((-1.35, 1.9), (-1.5, 1.1 + sway), (0.05, 0.03), color * 0.8);
    parts.ellipse((-0.1, 1.95), (1.38, 0.86), color);
    gait.legs(parts, appearance, color, true);
    parts.ellipse((1.28, 2.25), (0.58, 0.56), color);
    parts.bent(
        [(1.68, 2.1), (1.95, 1.35 + sway), (1.86 + sway * 3.0, 0.55)],
        [0.26, 0.17, 0.09],
        color * 0.94,
    );
    parts.bent([(1.6, 1.86), (1.95, 1.5), (2.25, 1.62)], [0.07, 0.06, 0.03], Color::surface(0xe8_e0cc));
    parts.ellipse((1.02, 2.25), (0.34 + sway, 0.52), color * 0.82);
    parts.disc((1.52, 2.40), 0.045, Color::surface(EYE));
}

/// A bird on its perch, 0.3 m high.
pub(super) fn bird(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let hop = 0.008 * (appearance.time * 5.0).sin().max(0.0);
    let nod = 0.012 * (appearance.time * 2.1).sin();
    parts.limb((-0.24, 0.012), (0.24, 0.012), (0.014, 0.012), Color::surface(0x50_3c28));
    for x in [0.0, 0.035] {
        parts.limb((x, 0.10), (x + 0.01, 0.025), (0.007, 0.006), Color::surface(0xb0_7830));
    }
    parts.polygon(
        &[(-0.09, 0.15 + hop), (-0.24, 0.05 + hop), (-0.20, 0.03 + hop), (-0.06, 0.10 + hop)],
        color * 0.6,
    );
    parts.ellipse((0.0, 0.155 + hop), (0.105, 0.078), color);
    parts.ellipse((0.035, 0.135 + hop), (0.07, 0.055), mix(color, Color::surface(0xe0_8040), 0.6));
    parts.ellipse((-0.035, 0.165 + hop), (0.085, 0.045), color * 0.55);
    let head = (0.085, 0.235 + hop + nod);
    parts.disc(head, 0.055, color);
    parts.polygon(
        &[
            (head.0 + 0.045, head.1 + 0.018),
            (head.0 + 0.105, head.1 - 0.004),
            (head.0 + 0.045, head.1 - 0.018),
        ],
        Color::surface(0xd8_9a30),
    );
    parts.disc((head.0 + 0.02, head.1 + 0.012), 0.012, Color::surface(EYE));
}

/// A fish of 0.5 m, which swims.
pub(super) fn fish(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let beat = (TAU * appearance.time * 1.8).sin();
    let pale = mix(color, Color::grey(1.0), 0.6);
    parts.polygon(
        &[(-0.20, 0.20), (-0.36, 0.32 + 0.03 * beat), (-0.32, 0.20), (-0.36, 0.08 - 0.03 * beat)],
        color * 0.8,
    );
    parts.polygon(&[(-0.10, 0.28), (0.0, 0.38), (0.10, 0.28)], color * 0.8);
    parts.polygon(&[(-0.06, 0.12), (0.0, 0.04), (0.06, 0.12)], color * 0.8);
    parts.ellipse((0.0, 0.20), (0.25, 0.115), color);
    for x in [-0.08, 0.06] {
        parts.ellipse((x, 0.20), (0.026, 0.108 - x.abs() * 0.15), pale);
    }
    parts.polygon(&[(0.02, 0.19), (-0.07, 0.14 - 0.03 * beat), (-0.05, 0.20)], color * 0.65);
    parts.disc((0.165, 0.225), 0.026, Color::grey(0.95));
    parts.disc((0.17, 0.225), 0.014, Color::surface(EYE));
}

/// A bear, 1.5 m at the shoulder.
pub(super) fn bear(parts: &mut Parts, appearance: Appearance) {
    let color = appearance.color;
    let bob = 0.03 * (TAU * appearance.time * 1.2).sin();
    let gait = Gait {
        fore: (0.52, 0.78),
        rear: (-0.62, 0.78),
        swing: 0.26,
        lift: 0.12,
        radii: [0.26, 0.18, 0.15],
        hertz: 0.7,
    };
    gait.legs(parts, appearance, color * 0.72, false);
    parts.ellipse((-0.06, 1.05 + bob), (0.98, 0.50), color);
    parts.ellipse((0.48, 1.18 + bob), (0.46, 0.42), color);
    gait.legs(parts, appearance, color, true);
    parts.limb((0.78, 1.24 + bob), (1.10, 1.20 + bob), (0.32, 0.27), color);
    for x in [0.92, 1.14] {
        parts.disc((x, 1.47 + bob), 0.085, color * 0.86);
    }
    parts.limb((1.22, 1.12 + bob), (1.42, 1.08 + bob), (0.16, 0.12), mix(color, Color::grey(0.9), 0.25));
    parts.ellipse((1.53, 1.13 + bob), (0.05, 0.04), Color::surface(EYE));
    parts.disc((1.22, 1.27 + bob), 0.03, Color::surface(EYE));
}
