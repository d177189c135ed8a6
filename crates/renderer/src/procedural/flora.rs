//! Trees: conifers and broadleaf trees as billboards, drawn front to back.

use std::ops::Range;

use super::canvas::Canvas;
use super::compositing::CompositingLayer;
use super::frame_context::FrameContext;
use super::light::Light;
use super::math::{Color, cell, fract, lerp, mix, smooth};
use super::noise::{Rng, gradient, unit2};
use super::relief::Relief;
use super::terrain::Terrain;

/// A billboard: per texel opacity, brightness, rim light and snow. A mip chain, each level half the size of the one before.
struct Card {
    sizes: Vec<MipLevel>,
}

/// A mip level, with a transparent border of one texel.
struct MipLevel {
    width: usize,
    height: usize,
    texels: Vec<Color>,
    /// For each column, border included, the rows that are not transparent.
    extents: Vec<(usize, usize)>,
}

const CARD_WIDTH: usize = 64;
const CARD_HEIGHT: usize = 128;

struct Tree {
    foot: [f32; 3],
    height: f32,
    card: usize,
    tint: Color,
    lit: f32,
}

/// Columns of the image that are drawn together: they stay in the cache.
const STRIP: usize = 32;

/// A tree in a strip of the image.
pub(crate) struct DrawnTree {
    strip: u32,
    distance: f32,
    tree: u32,
}

/// All trees of a scene.
pub(crate) struct Flora {
    cards: Vec<Card>,
    trees: Vec<Tree>,
    snowed: f32,
    side_light: f32,
}

/// The appearance of the trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Season {
    pub(crate) is_autumn: bool,
    pub(crate) snowed: f32,
    /// Conifers only, or broadleaf trees too.
    pub(crate) broad_share: f32,
}

impl Flora {
    /// Plants trees around `centre` where the relief has forest, except on the path of the camera.
    pub(crate) fn plant(
        relief: &Relief,
        terrain: &Terrain,
        light: &Light,
        season: Season,
        centre: [f32; 2],
        seed: u64,
    ) -> Self {
        let mut rng = Rng::new(seed, "flora");
        let salt = rng.next() as u32;
        let cards = (0..3).map(|i| conifer(salt ^ i)).chain((0..2).map(|i| crown(salt ^ (i + 40)))).collect();
        let mut flora = Self { cards, trees: Vec::new(), snowed: season.snowed, side_light: light.sun[0] };
        // Denser near the camera, where single trees are seen.
        for (inner, outer, spacing) in [(13.0, 240.0, 7.5), (240.0, 900.0, 15.0), (900.0, 2600.0, 36.0)] {
            let cells = (outer / spacing) as i32;
            for iy in -cells / 6..cells {
                for ix in -cells..=cells {
                    let own = |k: u32| unit2(ix, iy, salt ^ (k * 7919) ^ (spacing as u32));
                    let x = centre[0] + (ix as f32 + own(1)) * spacing;
                    let y = centre[1] + (iy as f32 + own(2)) * spacing;
                    let (dx, dy) = (x - centre[0], y - centre[1]);
                    let distance = dx.hypot(dy);
                    let seen = dx.abs() < dy.max(0.0) * 1.1 + 60.0;
                    if !(inner..outer).contains(&distance) || !seen {
                        continue;
                    }
                    let z = terrain.height(x, y);
                    let slope = (terrain.height(x + 4.0, y) - z).hypot(terrain.height(x, y + 4.0) - z) / 4.0;
                    let clear = smooth(14.0, 60.0, distance);
                    let [wood] = relief.wood([x], [y], [z], [slope]);
                    if own(3) > wood * clear {
                        continue;
                    }
                    flora.trees.push(tree([x, y, z], spacing, season, terrain, own));
                }
            }
        }
        flora
    }

    pub(crate) fn draw(
        &self,
        context: &FrameContext<'_>,
        order: &mut Vec<DrawnTree>,
        layer: &mut CompositingLayer,
        canvas: &mut Canvas,
    ) {
        order.clear();
        for (index, tree) in self.trees.iter().enumerate() {
            if let Some(spot) = context.view.project(tree.foot) {
                let reach = tree.height * context.view.focal / spot.distance;
                let visible =
                    spot.x > -reach && spot.x < context.view.width + reach && spot.y > 0.0 && reach > 1.2;
                if visible && spot.distance > 5.0 {
                    let strip = |x: f32| (x.max(0.0) as usize).min(canvas.width - 1) / STRIP;
                    for strip in strip(spot.x - reach * 0.25 - 1.0)..=strip(spot.x + reach * 0.25 + 1.0) {
                        order.push(DrawnTree {
                            strip: strip as u32,
                            distance: spot.distance,
                            tree: index as u32,
                        });
                    }
                }
            }
        }
        // Equal trees at equal distances cannot be told apart.
        order.sort_unstable_by(|a, b| a.strip.cmp(&b.strip).then(a.distance.total_cmp(&b.distance)));
        layer.begin(canvas);
        for DrawnTree { strip, tree, .. } in order.iter() {
            let columns = *strip as usize * STRIP..(*strip as usize + 1) * STRIP;
            self.draw_tree(&self.trees[*tree as usize], columns, context, layer, canvas);
        }
        layer.composite_onto(canvas);
    }

    fn draw_tree(
        &self,
        tree: &Tree,
        columns: Range<usize>,
        context: &FrameContext<'_>,
        layer: &mut CompositingLayer,
        canvas: &Canvas,
    ) {
        let Some(projection) = context.project(tree.foot) else { return };
        let half = tree.height * 0.25;
        let Some([x0, x1, y0, y1]) = projection.bounds(-half, half, -0.2, tree.height, canvas) else {
            return;
        };
        let card = &self.cards[tree.card];
        let pixels = tree.height * projection.scale;
        let sky = context.light.skylight;
        let sun = context.light.sunlight * (tree.lit * 0.75);
        let (base, lift) =
            (projection.through_air(tree.tint * sky), projection.through_air(tree.tint * (sky + sun)));
        let white = projection.through_air((sky + sun * 0.6) * 0.9);
        let side = 0.45 * self.side_light.signum();
        let texel_step = CARD_HEIGHT as f32 / pixels;
        let drawing = card.size_for(texel_step);
        let (across_texels, up_texels) = (drawing.width as f32, drawing.height as f32);
        let sway = 0.012 * (context.time * 1.3 + tree.foot[0]).sin() * across_texels;
        let hidden = projection.nearness * 1.03;
        for x in x0.max(columns.start)..x1.min(columns.end) {
            let across = (x as f32 + 0.5 - projection.spot.x) / projection.scale;
            let u = (across / (2.0 * half) + 0.5) * across_texels;
            let (first, last) = drawing.extent(u, u + sway);
            let row_of = |v: f32| projection.spot.y - (1.0 - v / up_texels) * pixels - 0.5;
            let y0 = (row_of(first).floor().max(0.0) as usize).clamp(y0, y1);
            let y1 = (row_of(last).ceil().max(0.0) as usize + 1).clamp(y0, y1);
            let behind = &canvas.nearness[canvas.at(x, y0)..][..y1 - y0];
            let mut span = layer.span(x, y0, y1);
            for (row, behind) in behind.iter().enumerate() {
                if *behind > hidden || span.is_covered(row) {
                    continue;
                }
                let up = (projection.spot.y - (y0 + row) as f32 - 0.5) / pixels;
                let texel = drawing.sample(u + sway * up * up, (1.0 - up) * up_texels);
                let [opacity, bright, edge, snow] = texel.0;
                if opacity < 0.02 {
                    continue;
                }
                let sunny = bright * (0.55 + side * edge).clamp(0.15, 1.0);
                let mut color = mix(base * (0.35 + 0.65 * bright), lift * (0.4 + 0.6 * bright), sunny * 0.8);
                color = mix(color, white, snow * self.snowed * 0.6);
                span.add(row, color, opacity, projection.nearness);
            }
        }
    }
}

fn tree(foot: [f32; 3], spacing: f32, season: Season, terrain: &Terrain, own: impl Fn(u32) -> f32) -> Tree {
    let broad = own(4) < season.broad_share;
    let height =
        if broad { lerp(7.0, 13.0, own(5)) } else { lerp(8.0, 19.0, own(5) * own(6) + 0.25 * own(5)) };
    let hue = own(7);
    let tint = match (season.is_autumn, broad) {
        (true, true) => mix(Color::surface(0xb0_541a), Color::surface(0xd0_9a2a), hue),
        (true, false) => mix(Color::surface(0x4a_4420), Color::surface(0x8a_5a1e), hue * hue),
        (false, true) => mix(Color::surface(0x3c_5622), Color::surface(0x60_742c), hue),
        (false, false) => mix(Color::surface(0x1c_3426), Color::surface(0x38_4e2a), hue),
    };
    Tree {
        foot,
        // Far cards stand for a group.
        height: height * if spacing > 30.0 { 1.35 } else { 1.0 },
        card: if broad { 3 + (own(8) * 1.99) as usize } else { (own(8) * 2.99) as usize },
        tint: tint * 1.25,
        lit: terrain.sunlit(foot[0], foot[1], foot[2] + height * 0.6),
    }
}

impl Card {
    /// A billboard from the texels of its largest level.
    fn new(texels: impl Iterator<Item = Color>) -> Self {
        let mut sizes = vec![MipLevel::new(CARD_WIDTH, CARD_HEIGHT, &texels.collect::<Vec<_>>())];
        while let Some(larger) = sizes.last()
            && larger.width > 2
        {
            let smaller = larger.halved();
            sizes.push(smaller);
        }
        Self { sizes }
    }

    /// The level to use where a pixel covers so many texels of the largest.
    fn size_for(&self, texels_a_pixel: f32) -> &MipLevel {
        let halvings = (texels_a_pixel * 1.4).max(1.0).log2() as usize;
        &self.sizes[halvings.min(self.sizes.len() - 1)]
    }
}

impl MipLevel {
    fn new(width: usize, height: usize, inside: &[Color]) -> Self {
        let mut texels = vec![Color::BLACK; (width + 2) * (height + 2)];
        for (y, row) in inside.chunks_exact(width).enumerate() {
            texels[(y + 1) * (width + 2) + 1..][..width].copy_from_slice(row);
        }
        let extents = (0..width + 2)
            .map(|x| {
                let seen = |y: &usize| texels[y * (width + 2) + x].0[0] > 0.0;
                let (first, last) = ((0..height + 2).find(seen), (0..height + 2).rfind(seen));
                first.zip(last).map_or((height, 0), |(first, last)| (first, last + 1))
            })
            .collect();
        Self { width, height, texels, extents }
    }

    /// The texel rows between which anything is seen in the columns around `from..=to`; empty if the first is not above the second.
    fn extent(&self, from: f32, to: f32) -> (f32, f32) {
        let column = |u: f32| (u + 0.5).clamp(0.0, self.width as f32 + 0.999) as usize;
        let columns = &self.extents[column(from.min(to))..=column(from.max(to)) + 1];
        let first = columns.iter().map(|rows| rows.0).min().unwrap_or(0);
        let last = columns.iter().map(|rows| rows.1).max().unwrap_or(0);
        // Rows are interpolated with their neighbours, and are counted from the border.
        (first as f32 - 1.5, last as f32 - 0.5)
    }

    fn halved(&self) -> Self {
        let (width, height, stride) = (self.width / 2, self.height / 2, self.width + 2);
        let mean = |i: usize| {
            let source = (i / width * 2 + 1) * stride + i % width * 2 + 1;
            let t = &self.texels;
            (t[source] + t[source + 1] + t[source + stride] + t[source + stride + 1]) * 0.25
        };
        Self::new(width, height, &(0..width * height).map(mean).collect::<Vec<_>>())
    }

    /// Bilinear, in texels; transparent outside.
    #[inline]
    fn sample(&self, u: f32, v: f32) -> Color {
        // Shifted by the rim and by half a texel: whole numbers are then texel centres.
        let u = (u + 0.5).clamp(0.0, self.width as f32 + 0.999);
        let v = (v + 0.5).clamp(0.0, self.height as f32 + 0.999);
        let ((x, fx), (y, fy)) = (cell(u), cell(v));
        let (x, y, stride) = (x as usize, y as usize, self.width + 2);
        let (above, below) = (&self.texels[y * stride + x..][..2], &self.texels[(y + 1) * stride + x..][..2]);
        mix(mix(above[0], above[1], fx), mix(below[0], below[1], fx), fy)
    }
}

/// Draws a conifer: layers of hanging boughs.
fn conifer(salt: u32) -> Card {
    let layers = 8.0 + unit2(1, 2, salt) * 4.0;
    let texels = (0..CARD_WIDTH * CARD_HEIGHT).map(|i| {
        let (x, y) = (i % CARD_WIDTH, i / CARD_WIDTH);
        let u = (x as f32 + 0.5) / CARD_WIDTH as f32 * 2.0 - 1.0;
        let v = (y as f32 + 0.5) / CARD_HEIGHT as f32;
        let ragged = gradient(u * 9.0, v * 26.0, salt) * 0.5 + gradient(u * 21.0, v * 50.0, salt ^ 9) * 0.3;
        // Boughs hang lower the further they reach.
        let hang = v - u.abs() * 0.10 + ragged * 0.018;
        let layer = fract(hang * layers + unit2(2, (hang * layers) as i32, salt) * 0.3);
        let width = (0.05 + 0.80 * v.powf(0.92)) * (0.58 + 0.42 * layer);
        let body = smooth(0.05, -0.06, u.abs() - width * (1.0 + ragged * 0.28));
        let crown = smooth(0.0, 0.02, v) * smooth(0.975, 0.945, v);
        let trunk = smooth(0.055, 0.03, u.abs()) * smooth(0.9, 0.93, v);
        let opacity = (body * crown).max(trunk);
        let bright =
            (0.42 + 0.46 * (1.0 - layer) + 0.30 * ragged - 0.25 * trunk * (1.0 - body)).clamp(0.05, 1.0);
        let snow = smooth(0.45, 0.1, layer) * smooth(-0.3, 0.4, ragged + 0.25) * body;
        Color([opacity, bright, u / width.max(0.1), snow])
    });
    Card::new(texels)
}

/// Draws a broadleaf tree: a trunk under a cluster of leaf masses.
fn crown(salt: u32) -> Card {
    let mut rng = Rng::new(u64::from(salt), "crown");
    let masses: Vec<[f32; 3]> = (0..17)
        .map(|_| {
            let angle = rng.range(0.0, std::f32::consts::TAU);
            let out = rng.unit().sqrt() * 0.52;
            [angle.cos() * out * 1.08, 0.34 + angle.sin() * out * 0.52, rng.range(0.17, 0.30)]
        })
        .collect();
    let texels = (0..CARD_WIDTH * CARD_HEIGHT).map(|i| {
        let (x, y) = (i % CARD_WIDTH, i / CARD_WIDTH);
        let u = (x as f32 + 0.5) / CARD_WIDTH as f32 * 2.0 - 1.0;
        let v = (y as f32 + 0.5) / CARD_HEIGHT as f32;
        let ragged = gradient(u * 8.0, v * 16.0, salt) * 0.55 + gradient(u * 19.0, v * 38.0, salt ^ 3) * 0.4;
        let mut best = -1.0_f32;
        let mut bright = 0.0_f32;
        for [cx, cy, r] in &masses {
            let (dx, dy) = (u - cx, (v - cy) * 1.9);
            let inside = 1.0 - (dx * dx + dy * dy).sqrt() / r + ragged * 0.34;
            if inside > best {
                best = inside;
                bright = 0.58 - dy / r * 0.34 + ragged * 0.3;
            }
        }
        let leaves = smooth(-0.04, 0.1, best);
        let trunk = smooth(0.075, 0.04, (u - 0.03 * (v * 9.0).sin()).abs())
            * smooth(0.5, 0.6, v)
            * smooth(0.995, 0.98, v);
        let shade = if leaves > trunk { bright } else { 0.22 };
        Color([leaves.max(trunk), shade.clamp(0.05, 1.0), u * 1.2, smooth(0.5, 0.9, bright) * leaves])
    });
    Card::new(texels)
}
