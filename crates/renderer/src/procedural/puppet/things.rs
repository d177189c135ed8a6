//! Plants, houses and things.

use super::Appearance;
use super::shapes::{Parts, Point};
use crate::procedural::math::{Color, mix};

/// A flower of 0.5 m.
pub(super) fn flower(parts: &mut Parts, appearance: Appearance) {
    let sway = 0.03 * (appearance.time * 1.3 + appearance.variant as f32).sin();
    let green = Color::surface(0x3e_7a34);
    let head = (sway, 0.44);
    parts.bent([(0.0, 0.0), (sway * 0.3, 0.22), head], [0.014, 0.012, 0.010], green);
    parts.polygon(&[(0.0, 0.08), (0.13, 0.20), (0.06, 0.22)], green);
    parts.polygon(&[(0.0, 0.13), (-0.14, 0.24), (-0.05, 0.26)], green * 0.85);
    for petal in 0..9 {
        let angle = std::f32::consts::TAU * petal as f32 / 9.0 + 0.1 * sway;
        let (sin, cos) = angle.sin_cos();
        let tone = 0.8 + 0.2 * sin;
        parts.limb(
            (head.0 + cos * 0.045, head.1 + sin * 0.045),
            (head.0 + cos * 0.105, head.1 + sin * 0.105),
            (0.034, 0.040),
            appearance.color * tone,
        );
    }
    parts.disc(head, 0.048, Color::surface(0xe0_a020));
    parts.disc((head.0 - 0.008, head.1 + 0.01), 0.030, Color::surface(0xb8_7a18));
}

/// A broad tree of 6 m.
pub(super) fn tree(parts: &mut Parts, appearance: Appearance) {
    let bark = Color::surface(0x52_3a26);
    parts.polygon(&[(-0.42, 0.0), (0.44, 0.0), (0.20, 1.2), (0.22, 2.6), (-0.16, 2.6), (-0.18, 1.2)], bark);
    parts.limb((0.0, 2.0), (1.1, 3.4), (0.14, 0.07), bark);
    parts.limb((0.0, 2.2), (-1.1, 3.5), (0.13, 0.06), bark * 0.85);
    let leaves: [(Point, f32, f32); 8] = [
        ((-1.25, 3.7), 1.0, 0.62),
        ((1.3, 3.6), 1.0, 0.70),
        ((0.0, 3.3), 1.2, 0.55),
        ((-0.7, 4.5), 1.15, 0.85),
        ((0.85, 4.45), 1.1, 0.92),
        ((0.05, 5.2), 1.0, 1.0),
        ((-0.3, 4.0), 0.9, 0.95),
        ((0.6, 3.9), 0.7, 1.08),
    ];
    for (index, ((x, y), radius, tone)) in leaves.into_iter().enumerate() {
        let sway = 0.05 * (appearance.time * 1.1 + index as f32).sin();
        parts.ellipse((x + sway, y), (radius, radius * 0.86), appearance.color * tone);
    }
}

/// A house of 5 m with a chimney that smokes.
pub(super) fn house(parts: &mut Parts, appearance: Appearance) {
    let wall = appearance.color;
    let roof = Color::surface(0x7a_3428);
    let lit = Color::surface(0xff_d890);
    parts.block((1.6, 4.5), (0.28, 0.8), 0.0, roof * 0.7);
    for puff in 0..4 {
        let age = (appearance.time * 0.35 + puff as f32 * 0.25).fract();
        parts.disc((1.6 + 0.7 * age, 5.4 + 1.6 * age), 0.18 + 0.35 * age, Color::grey(0.55 + 0.2 * age));
        parts.faint(0.55 * (1.0 - age));
    }
    parts.polygon(&[(-2.8, 0.0), (2.8, 0.0), (2.8, 2.8), (0.0, 4.9), (-2.8, 2.8)], wall);
    parts.polygon(&[(-3.3, 2.55), (0.0, 5.1), (3.3, 2.55), (3.0, 3.05), (0.0, 5.45), (-3.0, 3.05)], roof);
    parts.block((0.0, 0.95), (0.5, 0.95), 0.05, Color::surface(0x50_3420));
    parts.disc((0.32, 0.95), 0.06, Color::surface(0xd0_a040));
    for x in [-1.7, 1.7] {
        parts.block((x, 1.6), (0.62, 0.62), 0.02, Color::surface(0xe8_e0d0));
        parts.block((x, 1.6), (0.52, 0.52), 0.0, lit);
        parts.glowing();
        parts.limb((x, 1.1), (x, 2.1), (0.04, 0.04), Color::surface(0xe8_e0d0));
        parts.limb((x - 0.5, 1.6), (x + 0.5, 1.6), (0.04, 0.04), Color::surface(0xe8_e0d0));
    }
    parts.disc((0.0, 3.5), 0.42, Color::surface(0xe8_e0d0));
    parts.disc((0.0, 3.5), 0.34, lit);
    parts.glowing();
}

/// A table of 0.75 m.
pub(super) fn table(parts: &mut Parts, appearance: Appearance) {
    let wood = appearance.color;
    for x in [-0.72, 0.72] {
        parts.limb((x, 0.70), (x * 1.04, 0.02), (0.045, 0.03), wood * 0.6);
    }
    parts.block((0.0, 0.66), (0.76, 0.05), 0.01, wood * 0.7);
    parts.block((0.0, 0.735), (0.88, 0.03), 0.02, wood);
}

/// A cup that steams, 0.1 m.
pub(super) fn cup(parts: &mut Parts, appearance: Appearance) {
    let china = appearance.color;
    for wisp in 0..3 {
        let age = (appearance.time * 0.45 + wisp as f32 / 3.0).fract();
        let x = -0.025 + 0.025 * wisp as f32 + 0.012 * (appearance.time * 2.0 + age * 7.0).sin();
        parts.ellipse((x, 0.115 + 0.085 * age), (0.006 + 0.008 * age, 0.018), Color::grey(0.75));
        parts.faint(0.35 * (1.0 - age));
    }
    parts.ellipse((0.0, 0.006), (0.088, 0.012), china * 0.8);
    parts.bent([(0.045, 0.078), (0.085, 0.062), (0.046, 0.028)], [0.008, 0.009, 0.008], china * 0.85);
    parts.polygon(
        &[(-0.055, 0.10), (0.055, 0.10), (0.046, 0.03), (0.028, 0.008), (-0.028, 0.008), (-0.046, 0.03)],
        china,
    );
    parts.ellipse((0.0, 0.10), (0.055, 0.013), mix(china, Color::grey(1.0), 0.4));
    parts.ellipse((0.0, 0.099), (0.047, 0.0095), Color::surface(0x3a_2010));
}

/// A bottle of perfume, 0.14 m.
pub(super) fn bottle(parts: &mut Parts, appearance: Appearance) {
    let glass = appearance.color;
    let gold = Color::surface(0xd0_a048);
    parts.block((0.0, 0.048), (0.046, 0.048), 0.014, glass * 0.55);
    parts.block((0.0, 0.040), (0.038, 0.036), 0.010, glass);
    parts.block((0.0, 0.045), (0.026, 0.016), 0.002, Color::surface(0xf0_ead8));
    parts.limb((-0.036, 0.085), (-0.036, 0.016), (0.003, 0.003), Color::grey(1.4));
    parts.block((0.0, 0.103), (0.014, 0.010), 0.002, gold * 0.8);
    parts.block((0.0, 0.126), (0.021, 0.018), 0.004, gold);
    let glint = (appearance.time * 0.4).fract();
    parts.limb(
        (-0.04 + 0.08 * glint, 0.088),
        (-0.03 + 0.08 * glint, 0.084),
        (0.002, 0.002),
        Color::grey(1.6),
    );
}

/// An open book, 0.3 m wide.
pub(super) fn book(parts: &mut Parts, appearance: Appearance) {
    parts.polygon(&[(-0.16, 0.0), (0.16, 0.0), (0.165, 0.012), (-0.165, 0.012)], appearance.color);
    let page = Color::surface(0xf0_e8d8);
    parts.polygon(&[(0.0, 0.012), (-0.15, 0.012), (-0.155, 0.085), (-0.08, 0.105), (0.0, 0.085)], page);
    parts.polygon(&[(0.0, 0.012), (0.15, 0.012), (0.155, 0.085), (0.08, 0.105), (0.0, 0.085)], page * 0.92);
    for line in 0..4 {
        let y = 0.032 + 0.015 * line as f32;
        parts.limb((-0.13, y), (-0.025, y), (0.002, 0.002), Color::surface(0x70_6a60));
        parts.limb((0.025, y), (0.13, y), (0.002, 0.002), Color::surface(0x70_6a60));
    }
    // A leaf that turns.
    let turn = (appearance.time * 0.5).fract();
    let x = 0.15 * (std::f32::consts::PI * turn).cos();
    parts.polygon(
        &[(0.0, 0.02), (x, 0.03), (x, 0.10 + 0.05 * (std::f32::consts::PI * turn).sin()), (0.0, 0.088)],
        page * 0.97,
    );
}

/// A candle with its flame, 0.2 m.
pub(super) fn candle(parts: &mut Parts, appearance: Appearance) {
    let waver = 0.004 * (appearance.time * 11.0).sin() + 0.003 * (appearance.time * 7.3).sin();
    parts.ellipse((0.0, 0.006), (0.05, 0.010), Color::surface(0x80_6030));
    parts.block((0.0, 0.065), (0.024, 0.06), 0.006, appearance.color);
    parts.limb((0.0, 0.125), (0.0, 0.136), (0.002, 0.002), Color::surface(0x20_1810));
    parts.limb((0.0, 0.142), (waver, 0.180), (0.013, 0.002), Color::surface(0xff_a030));
    parts.glowing();
    parts.limb((0.0, 0.142), (waver * 0.6, 0.162), (0.007, 0.002), Color::surface(0xff_f0b0));
    parts.glowing();
}

/// A telephone or another device, 0.15 m.
pub(super) fn device(parts: &mut Parts, appearance: Appearance) {
    parts.block((0.0, 0.080), (0.040, 0.080), 0.012, appearance.color * 0.5);
    parts.block((0.0, 0.080), (0.036, 0.074), 0.008, Color::surface(0x10_141c));
    let glow = 0.85 + 0.15 * (appearance.time * 1.5).sin();
    parts.block((0.0, 0.092), (0.032, 0.050), 0.004, Color::surface(0x4c_a0e8) * glow);
    parts.glowing();
    for (row, tint) in [0xf0_f4f8, 0xa8_c8e8, 0xa8_c8e8].into_iter().enumerate() {
        parts.block((-0.004, 0.118 - 0.018 * row as f32), (0.022, 0.0045), 0.002, Color::surface(tint));
        parts.glowing();
    }
    parts.disc((0.0, 0.024), 0.009, Color::surface(0xe8_ecf0));
    parts.glowing();
}
