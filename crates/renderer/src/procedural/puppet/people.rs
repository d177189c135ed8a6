//! People and robots: walking, seen from the side; and standing, seen from the front.

use std::f32::consts::TAU;

use super::Appearance;
use super::shapes::{Parts, Point};
use crate::procedural::math::{Color, mix};

const SKIN: [u32; 4] = [0xe0_ac88, 0xc6_8a62, 0x9a_6844, 0xec_c0a0];
const HAIR: [u32; 4] = [0x2a_1c14, 0x14_1012, 0x6c_4020, 0xa8_7c40];

fn skin(appearance: Appearance) -> Color {
    Color::surface(SKIN[appearance.variant as usize % SKIN.len()])
}

fn hair(appearance: Appearance) -> Color {
    Color::surface(HAIR[(appearance.variant / 4) as usize % HAIR.len()])
}

/// Someone who walks, 1.75 m high; a child is scaled, with a larger head.
pub(super) fn walking(parts: &mut Parts, appearance: Appearance, woman: bool, child: bool) {
    let phase = TAU * appearance.time * 0.95;
    let bob = 0.02 * (2.0 * phase).cos();
    let skin = skin(appearance);
    let hair = hair(appearance);
    let dark = Color::surface(0x24_2630);
    let coat = appearance.color;
    let leg = |side: f32| -> [Point; 3] {
        let swing = (phase).sin() * side;
        let lift = (phase.cos() * side).max(0.0);
        let knee = (0.16 * swing + 0.06 * lift, 0.48 + 0.04 * lift);
        [(0.0, 0.92 + bob), knee, (0.30 * swing - 0.05 * lift, 0.06 + 0.10 * lift)]
    };
    let arm = |side: f32| -> [Point; 3] {
        let swing = -phase.sin() * side;
        [(0.0, 1.38 + bob), (0.13 * swing - 0.02, 1.12 + bob), (0.24 * swing + 0.05, 0.90 + bob)]
    };
    let shade = coat * 0.7;
    parts.bent(arm(-1.0), [0.055, 0.05, 0.04], shade);
    parts.disc(arm(-1.0)[2], 0.045, skin * 0.8);
    let trousers = if woman { skin * 0.85 } else { dark };
    for (side, tone) in [(-1.0, 0.75), (1.0, 1.0)] {
        let leg = leg(side);
        parts.bent(leg, [0.095, 0.075, 0.05], trousers * tone);
        parts.limb(
            (leg[2].0 - 0.03, 0.04 + leg[2].1 - 0.06),
            (leg[2].0 + 0.13, 0.03 + leg[2].1 - 0.06),
            (0.045, 0.035),
            dark * tone,
        );
    }
    if woman {
        let sway = 0.06 * phase.sin();
        parts.polygon(
            &[(-0.12, 1.0 + bob), (0.12, 1.0 + bob), (0.24 + sway, 0.36), (-0.26 + sway, 0.36)],
            coat,
        );
    }
    parts.polygon(
        &[
            (-0.15, 1.44 + bob),
            (0.14, 1.44 + bob),
            (0.15, 1.15 + bob),
            (0.13, 0.88 + bob),
            (-0.14, 0.88 + bob),
            (-0.15, 1.15 + bob),
        ],
        coat,
    );
    parts.ellipse((0.0, 1.40 + bob), (0.15, 0.09), coat);
    let big = if child { 1.45 } else { 1.0 };
    let head = (0.03, 1.62 + bob + 0.06 * (big - 1.0));
    parts.limb((0.0, 1.44 + bob), (0.01, 1.54 + bob), (0.05, 0.05), skin * 0.9);
    if woman {
        parts.limb((head.0 - 0.05, head.1 + 0.02), (head.0 - 0.14, head.1 - 0.26), (0.11 * big, 0.07), hair);
    }
    parts.ellipse(head, (0.098 * big, 0.122 * big), skin);
    parts.ellipse((head.0 + 0.095 * big, head.1 - 0.015), (0.025, 0.02), skin);
    parts.polygon(
        &[
            (head.0 + 0.07 * big, head.1 + 0.06 * big),
            (head.0 + 0.05 * big, head.1 + 0.12 * big),
            (head.0 - 0.04 * big, head.1 + 0.14 * big),
            (head.0 - 0.11 * big, head.1 + 0.08 * big),
            (head.0 - 0.11 * big, head.1 - 0.05 * big),
            (head.0 - 0.04 * big, head.1 + 0.03 * big),
        ],
        hair,
    );
    parts.disc((head.0 + 0.06 * big, head.1 + 0.015), 0.012 * big, Color::surface(0x18_1414));
    parts.bent(arm(1.0), [0.058, 0.052, 0.042], mix(coat, Color::BLACK, 0.12));
    parts.disc(arm(1.0)[2], 0.047, skin);
}

/// Someone who faces the camera, for close and medium framing.
pub(super) fn facing(parts: &mut Parts, appearance: Appearance, woman: bool, child: bool) {
    let breath = 0.006 * (appearance.time * 1.7).sin();
    let turn = 0.012 * (appearance.time * 0.6).sin();
    let skin = skin(appearance);
    let hair = hair(appearance);
    let coat = appearance.color;
    let dark = Color::surface(0x24_2630);
    for side in [-1.0, 1.0] {
        parts.limb((0.09 * side, 0.92), (0.10 * side, 0.06), (0.10, 0.06), dark);
        parts.limb((0.10 * side, 0.04), (0.13 * side, 0.03), (0.06, 0.05), Color::surface(0x18_181c));
    }
    let big = if child { 1.4 } else { 1.0 };
    let head = (turn, 1.60 + breath + 0.05 * (big - 1.0));
    if woman {
        parts.ellipse((head.0, head.1 - 0.06), (0.135 * big, 0.21 * big), hair);
        parts.polygon(&[(-0.16, 1.0), (0.16, 1.0), (0.30, 0.42), (-0.30, 0.42)], coat);
    }
    parts.limb((-0.155, 1.385 + breath), (0.155, 1.385 + breath), (0.075, 0.075), coat);
    parts.polygon(
        &[
            (-0.215, 1.40 + breath),
            (0.215, 1.40 + breath),
            (0.17, 1.15),
            (0.17, 0.86),
            (-0.17, 0.86),
            (-0.17, 1.15),
        ],
        coat,
    );
    for side in [-1.0, 1.0] {
        let sway = 0.01 * (appearance.time * 1.3 + side).sin();
        parts.bent(
            [(0.20 * side, 1.38 + breath), (0.265 * side, 1.12), (0.25 * side + sway, 0.88)],
            [0.065, 0.055, 0.045],
            coat * 0.86,
        );
        parts.disc((0.25 * side + sway, 0.85), 0.048, skin);
    }
    parts.limb((head.0 * 0.5, 1.40 + breath), (head.0, 1.52 + breath), (0.058, 0.052), skin * 0.82);
    // A collar.
    parts.polygon(
        &[(-0.07, 1.45 + breath), (0.0, 1.34 + breath), (0.07, 1.45 + breath)],
        mix(coat, Color::grey(1.0), 0.35),
    );
    let on_head = |x: f32, y: f32| (head.0 + x * big, head.1 + y * big);
    for side in [-1.0, 1.0] {
        parts.ellipse(on_head(0.098 * side, -0.005), (0.02 * big, 0.03 * big), skin * 0.85);
    }
    parts.ellipse(on_head(0.0, 0.0), (0.097 * big, 0.128 * big), skin);
    parts.ellipse(on_head(0.0, -0.055), (0.075 * big, 0.075 * big), skin);
    let blink = (appearance.time * 0.42 + appearance.variant as f32 * 0.31).fract() < 0.045;
    let iris = Color::surface([0x4a_2f1c, 0x2c_5a78, 0x3c_5a34, 0x2a_1c14][appearance.variant as usize % 4]);
    for side in [-1.0, 1.0] {
        let eye = on_head(0.040 * side, 0.012);
        if blink {
            parts.limb(
                (eye.0 - 0.018 * big, eye.1),
                (eye.0 + 0.018 * big, eye.1),
                (0.003, 0.003),
                skin * 0.5,
            );
        } else {
            parts.ellipse(eye, (0.020 * big, 0.0115 * big), Color::surface(0xf4_f0ea));
            let gaze = 0.004 * (appearance.time * 0.5).sin();
            parts.disc((eye.0 + gaze, eye.1), 0.0105 * big, iris);
            parts.disc((eye.0 + gaze, eye.1), 0.005 * big, Color::surface(0x0a_0808));
            parts.disc((eye.0 + gaze + 0.004, eye.1 + 0.004), 0.0025 * big, Color::grey(1.0));
            parts.limb(
                (eye.0 - 0.020 * big, eye.1 + 0.006 * big),
                (eye.0 + 0.020 * big, eye.1 + 0.006 * big),
                (0.0028 * big, 0.0028 * big),
                skin * 0.35,
            );
        }
        let brow = on_head(0.042 * side, 0.043);
        parts.limb(
            (brow.0 - 0.024 * big, brow.1),
            (brow.0 + 0.024 * big, brow.1),
            (0.0055 * big, 0.0045 * big),
            hair,
        );
    }
    parts.limb(on_head(0.004, 0.005), on_head(0.008, -0.032), (0.007 * big, 0.013 * big), skin * 0.88);
    let lips = if woman { Color::surface(0xb0_4848) } else { skin * 0.6 };
    parts.ellipse(on_head(0.0, -0.068), (0.030 * big, 0.0085 * big), lips);
    // The hairline.
    parts.polygon(
        &[
            on_head(-0.103, -0.01),
            on_head(-0.105, 0.07),
            on_head(-0.06, 0.135),
            on_head(0.0, 0.15),
            on_head(0.06, 0.135),
            on_head(0.105, 0.07),
            on_head(0.103, -0.01),
            on_head(0.085, 0.06),
            on_head(0.02, 0.078),
            on_head(-0.05, 0.07),
            on_head(-0.085, 0.05),
        ],
        hair,
    );
}

/// A robot of 1.7 m, which walks on the spot.
pub(super) fn robot(parts: &mut Parts, appearance: Appearance) {
    let phase = TAU * appearance.time * 0.7;
    let metal = appearance.color;
    let dark = Color::surface(0x30_343c);
    for side in [-1.0, 1.0] {
        let lift = (phase.sin() * side).max(0.0) * 0.09;
        parts.limb((0.14 * side, 0.78), (0.15 * side, 0.14 + lift), (0.055, 0.055), dark);
        parts.block((0.15 * side, 0.44 + lift * 0.6), (0.075, 0.13), 0.03, metal * 0.8);
        parts.block((0.17 * side, 0.06 + lift), (0.12, 0.06), 0.03, metal);
    }
    let bob = 0.012 * (2.0 * phase).cos();
    parts.block((0.0, 1.0 + bob), (0.25, 0.27), 0.06, metal);
    parts.block((0.0, 1.06 + bob), (0.16, 0.12), 0.02, dark);
    for (index, tint) in [0xf0_5040, 0xf0_c040, 0x50_d080].into_iter().enumerate() {
        parts.disc((-0.09 + 0.09 * index as f32, 1.06 + bob), 0.026, Color::surface(tint));
        parts.glowing();
    }
    for side in [-1.0, 1.0] {
        let swing = 0.12 * phase.sin() * side;
        parts.disc((0.29 * side, 1.18 + bob), 0.075, dark);
        parts.bent(
            [(0.30 * side, 1.17 + bob), (0.38 * side, 0.92 + swing * 0.4), (0.36 * side, 0.68 + swing)],
            [0.05, 0.05, 0.05],
            metal * 0.85,
        );
        parts.disc((0.36 * side, 0.64 + swing), 0.065, dark);
    }
    parts.limb((0.0, 1.25 + bob), (0.0, 1.34 + bob), (0.05, 0.05), dark);
    parts.block((0.0, 1.48 + bob), (0.19, 0.15), 0.05, metal);
    parts.block((0.0, 1.49 + bob), (0.15, 0.075), 0.04, Color::surface(0x12_161c));
    for side in [-1.0, 1.0] {
        parts.disc((0.07 * side, 1.49 + bob), 0.036, Color::surface(0x60_e0ff));
        parts.glowing();
    }
    parts.limb((0.0, 1.62 + bob), (0.0, 1.74 + bob), (0.012, 0.012), dark);
    parts.disc((0.0, 1.76 + bob), 0.03, Color::surface(0xff_5040));
    parts.glowing();
}
