//! The background: a sky with a light in it, and two layers of abstract shapes that the camera moves past.

use media::RgbImage;

use super::camera::Pose;
use super::numbers::{Rng, lerp, wave};
use super::palette::{Palette, Rgb};

/// The width of a layer's world, as a multiple of the frame's height, and where its middle is.
const WORLD: f32 = 8.0;
/// Samples of a profile for each pixel.
const FINENESS: f32 = 1.0;

/// The background of a shot.
#[derive(Debug)]
pub(super) struct Backdrop {
    sky: RgbImage,
    layers: [Layer; 2],
    /// Rows of edges, for the frame that is drawn.
    edges: [Vec<i32>; 2],
}

/// Shapes in front of the sky, from their upper edge down.
#[derive(Debug)]
struct Layer {
    /// The upper edge in pixels from the top, along the world.
    profile: Vec<f32>,
    color: Rgb,
    /// The color at the lower edge of the frame.
    foot: Rgb,
    /// How near it is, 0 to 1.
    nearness: f32,
}

/// A family of shapes.
#[derive(Clone, Copy)]
enum Shape {
    Swells,
    Planes,
    Arcs,
}

impl Backdrop {
    pub(super) fn new((width, height): (u32, u32), palette: &Palette, rng: &mut Rng) -> Self {
        let shape = [Shape::Swells, Shape::Planes, Shape::Arcs][(rng.next() % 3) as usize];
        let sky = sky((width, height), palette, rng);
        let (far_base, near_base) = (rng.between(0.60, 0.70), rng.between(0.80, 0.86));
        let mist = |color: Rgb, share: f32| {
            [0, 1, 2].map(|c| lerp(f32::from(color[c]), f32::from(palette.bottom[c]), share) as u8)
        };
        let mut layer = |base: f32, relief: f32, color, foot, nearness| Layer {
            profile: profile(shape, height as f32, base, relief, rng),
            color,
            foot,
            nearness,
        };
        let far = layer(far_base, 0.16, palette.far, mist(palette.far, 0.45), 0.4);
        let near = layer(
            near_base,
            0.10,
            palette.near,
            palette.near.map(|value| (u32::from(value) * 3 / 4) as u8),
            1.0,
        );
        let edges = [vec![0; width as usize], vec![0; width as usize]];
        Self { sky, layers: [far, near], edges }
    }

    /// Draws the background as the camera sees it.
    pub(super) fn draw(&mut self, pose: Pose, image: &mut RgbImage) {
        let (width, height) = (image.width() as usize, image.height() as usize);
        for (layer, edges) in self.layers.iter().zip(&mut self.edges) {
            layer.trace(pose, (width, height), edges);
        }
        let highest = |edges: &[i32]| edges.iter().copied().min().unwrap_or(0) >> 8;
        let lowest = |edges: &[i32]| (edges.iter().copied().max().unwrap_or(0) >> 8) + 1;
        // Of the sky, what is seen.
        let horizon = self.edges.iter().map(|edges| lowest(edges)).min().unwrap_or(0);
        let seen = (horizon.clamp(0, height as i32) as usize + 1).min(height) * width * 3;
        image.pixels_mut()[..seen].copy_from_slice(&self.sky.pixels()[..seen]);
        for (layer, edges) in self.layers.iter().zip(&self.edges) {
            let (from, whole) = (highest(edges).max(0) as usize, lowest(edges).max(0) as usize);
            let rows = image.pixels_mut().chunks_exact_mut(width * 3).enumerate().skip(from);
            for (y, row) in rows {
                let ink = layer.color_at(y, height);
                if y > whole {
                    row.as_chunks_mut().0.fill(ink);
                    continue;
                }
                // The lower edge of the row, in 256ths of a pixel.
                let below = ((y as i32) << 8) + 256;
                for (pixel, edge) in row.as_chunks_mut::<3>().0.iter_mut().zip(edges) {
                    let covered = (below - edge).clamp(0, 256) as u32;
                    if covered == 256 {
                        *pixel = ink;
                    } else if covered > 0 {
                        for channel in 0..3 {
                            let mixed = u32::from(ink[channel]) * covered
                                + u32::from(pixel[channel]) * (256 - covered);
                            pixel[channel] = (mixed >> 8) as u8;
                        }
                    }
                }
            }
        }
    }
}

impl Layer {
    /// The upper edge of each column, in 256ths of a pixel.
    fn trace(&self, pose: Pose, (width, height): (usize, usize), edges: &mut [i32]) {
        let (width, height) = (width as f32, height as f32);
        let moves = (1.0 - pose.parallax * (1.0 - self.nearness)).max(-1.0);
        let zoom = 1.0 + (pose.zoom - 1.0) * moves.max(0.0);
        let middle = self.profile.len() as f32 * 0.5;
        for (x, edge) in edges.iter_mut().enumerate() {
            let world = (x as f32 + 0.5 - width * 0.5) / zoom + pose.right * moves * height;
            let at = (middle + world * FINENESS).clamp(0.0, self.profile.len() as f32 - 2.0);
            let (index, share) = (at as usize, at - at.floor());
            let own = lerp(self.profile[index], self.profile[index + 1], share);
            let seen = (own - height * 0.5) * zoom + height * 0.5 - pose.down * moves * height;
            *edge = (seen * 256.0).round() as i32;
        }
    }

    fn color_at(&self, y: usize, height: usize) -> Rgb {
        let share = (y * 256 / height.max(1)) as u32;
        [0, 1, 2].map(|channel| {
            let (from, to) = (u32::from(self.color[channel]), u32::from(self.foot[channel]));
            ((from * (256 - share) + to * share + 128) >> 8) as u8
        })
    }
}

/// A gradient from the top down, and a soft light.
fn sky((width, height): (u32, u32), palette: &Palette, rng: &mut Rng) -> RgbImage {
    /// Thresholds that keep slow gradients free of bands, in 16ths of a step.
    const DITHER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let (cx, cy) = (rng.between(0.55, 0.95) * width as f32, rng.between(0.45, 0.75) * height as f32);
    let reach = rng.between(0.7, 1.0) * height as f32;
    let mut image = RgbImage::new(width, height);
    let glow = palette.glow.map(i32::from);
    for (y, row) in image.pixels_mut().chunks_exact_mut(width as usize * 3).enumerate() {
        let down = y as f32 / height as f32;
        let share = down * down * (3.0 - 2.0 * down);
        let ground = [0, 1, 2].map(|channel| {
            (lerp(f32::from(palette.top[channel]), f32::from(palette.bottom[channel]), share) * 256.0) as i32
        });
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let (dx, dy) = ((x as f32 - cx) / reach, (y as f32 - cy) / reach);
            let falloff = (1.0 - dx * dx - dy * dy).max(0.0);
            let light = (falloff * falloff * 140.0) as i32;
            let dither = DITHER[y % 4][x % 4] * 16;
            for (channel, value) in pixel.iter_mut().enumerate() {
                let lit = ground[channel] + (((glow[channel] * 256 - ground[channel]) * light) >> 8);
                *value = ((lit + dither) >> 8).clamp(0, 255) as u8;
            }
        }
    }
    image
}

/// The upper edge of a layer whose shapes rise from a base, both as shares of the height.
fn profile(shape: Shape, height: f32, base: f32, relief: f32, rng: &mut Rng) -> Vec<f32> {
    let length = (WORLD * height * FINENESS) as usize;
    // From 0 to 1 at a position in heights.
    let rise: Box<dyn Fn(f32) -> f32> = match shape {
        Shape::Swells => {
            let phases = [rng.unit(), rng.unit(), rng.unit()];
            let pace = rng.between(0.8, 1.2);
            Box::new(move |x| {
                let waves = wave(x * 0.42 * pace + phases[0])
                    + 0.5 * wave(x * 0.97 * pace + phases[1])
                    + 0.25 * wave(x * 2.3 * pace + phases[2]);
                waves / 3.5 + 0.5
            })
        }
        // Long slopes: short ones would be taken for mountains.
        Shape::Planes => {
            let mut points = vec![(0.0, rng.unit())];
            while points.last().is_some_and(|(x, _)| *x < WORLD) {
                let (x, y) = points[points.len() - 1];
                let next = if y > 0.5 { rng.between(0.0, 0.4) } else { rng.between(0.6, 1.0) };
                points.push((x + rng.between(0.5, 1.5), next));
            }
            Box::new(move |x| {
                let index = points.partition_point(|(from, _)| *from <= x).clamp(1, points.len() - 1);
                let ((x0, y0), (x1, y1)) = (points[index - 1], points[index]);
                lerp(y0, y1, (x - x0) / (x1 - x0))
            })
        }
        Shape::Arcs => {
            let arcs: Vec<(f32, f32)> =
                (0..28).map(|_| (rng.between(0.0, WORLD), rng.between(0.2, 0.62))).collect();
            Box::new(move |x| {
                let cap = |(center, radius): &(f32, f32)| {
                    let off = (x - center) / radius;
                    (1.0 - off * off).max(0.0).sqrt() * radius * 1.6
                };
                arcs.iter().map(cap).fold(0.0, f32::max)
            })
        }
    };
    (0..length)
        .map(|index| (base + relief * (0.5 - rise(index as f32 / height / FINENESS))) * height)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::palette::Mood;
    use super::*;

    fn drawn(pose: Pose, seed: u64) -> RgbImage {
        let mut rng = Rng::new(seed);
        let palette = Palette::new(&Mood::default(), &mut rng);
        let mut image = RgbImage::new(160, 90);
        Backdrop::new((160, 90), &palette, &mut rng).draw(pose, &mut image);
        image
    }

    #[test]
    fn camera_moves_the_layers_and_not_the_sky() {
        let (rest, moved) = (drawn(Pose::REST, 5), drawn(Pose { right: 0.3, ..Pose::REST }, 5));
        assert_ne!(rest, moved);
        assert_eq!(rest.row(0), moved.row(0));
        for seed in 0..40 {
            assert_eq!(drawn(Pose::REST, seed), drawn(Pose::REST, seed));
        }
    }
}
