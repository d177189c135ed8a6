//! The land baked into four nested grids (a clipmap) of height and lit color, fine near the camera and coarse to the horizon.

use std::array::from_fn;

use super::light::Light;
use super::math::{Color, cell, floor, lerp, mix, smooth};
use super::relief::Relief;

/// How finely the land is baked. Either way the grids cover the same land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Full,
    /// For images that are drawn with a quarter of the pixels or less: a third of the work.
    Sketch,
}

impl Detail {
    /// Cells along a side of each grid, from near to far: multiples of [`LANES`] and [`BLOCK`]. The far ones have the outlines of mountains.
    const fn sides(self) -> [usize; 4] {
        match self {
            Self::Full => [224, 256, 320, 320],
            Self::Sketch => [112, 128, 224, 224],
        }
    }
}

/// Metres along a side of each grid, from near to far.
const EXTENTS: [f32; 4] = [256.0, 1280.0, 5120.0, 20_480.0];
/// How far ahead of the camera each grid is centred, as a share of its half extent.
const LEAD: [f32; 4] = [0.62, 0.7, 0.76, 0.8];

/// Points of a row that are computed side by side; a side is a multiple of it, and of [`BLOCK`].
const LANES: usize = 16;

/// Cells along a side of a block, whose lowest and highest corner are known.
const BLOCK: usize = 16;

/// The height of the land where no grid reaches: deep sea.
const BEYOND: f32 = -40.0;

/// One grid: color as lit by sun and sky, height as the fourth lane.
struct Level {
    /// Cells along a side.
    side: usize,
    /// Metres a cell.
    cell: f32,
    /// Cells a metre.
    density: f32,
    west: f32,
    south: f32,
    texels: Vec<Color>,
    /// The heights once more, by themselves: marching reads nothing else.
    heights: Vec<f32>,
    /// Height up to which the sun is hidden.
    shadow: Vec<f32>,
    /// Lowest and highest ground of each block.
    blocks: Vec<[f32; 2]>,
}

/// The lowest and the highest land of some area, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) low: f32,
    pub(crate) high: f32,
    /// The finest grid that has a part in the area; what [`Terrain::height_from`] starts from.
    pub(crate) finest: usize,
}

/// The whole baked land.
pub(crate) struct Terrain {
    levels: Vec<Level>,
}

impl Level {
    fn bounds(index: usize, centre: [f32; 2], side: usize) -> Self {
        let cell = EXTENTS[index] / side as f32;
        let half = EXTENTS[index] * 0.5;
        Self {
            side,
            cell,
            density: 1.0 / cell,
            west: centre[0] - half,
            south: centre[1] + half * LEAD[index] - half,
            texels: Vec::new(),
            heights: Vec::new(),
            shadow: Vec::new(),
            blocks: Vec::new(),
        }
    }

    #[inline]
    fn cell_at(&self, x: f32, y: f32) -> Option<(usize, f32, f32)> {
        let (u, v) = ((x - self.west) * self.density, (y - self.south) * self.density);
        let last = self.side as f32 - 1.0;
        let inside = u >= 0.0 && v >= 0.0 && u < last && v < last;
        if !inside {
            return None;
        }
        let ((iu, fu), (iv, fv)) = (cell(u), cell(v));
        Some((iv as usize * self.side + iu as usize, fu, fv))
    }

    #[inline]
    fn texel(&self, x: f32, y: f32) -> Option<Color> {
        let (index, fx, fy) = self.cell_at(x, y)?;
        let above = index + self.side;
        let (low, high) = (&self.texels[index..index + 2], &self.texels[above..above + 2]);
        Some(mix(mix(low[0], low[1], fx), mix(high[0], high[1], fx), fy))
    }

    #[inline]
    fn height(&self, x: f32, y: f32) -> Option<f32> {
        let (index, fx, fy) = self.cell_at(x, y)?;
        let above = index + self.side;
        let (low, high) = (&self.heights[index..index + 2], &self.heights[above..above + 2]);
        Some(lerp(lerp(low[0], low[1], fx), lerp(high[0], high[1], fx), fy))
    }

    /// Takes in the part of the box `from..=to` (east, north) that lies in this grid, give or take a block. `true` when
    /// that is all of it.
    fn widen(&self, from: [f32; 2], to: [f32; 2], extremes: &mut Extremes) -> bool {
        let last = self.side as f32 - 1.0;
        let blocks = self.side / BLOCK;
        let range = |from: f32, to: f32, origin: f32| {
            let (from, to) = ((from - origin) * self.density, (to - origin) * self.density);
            (from, to, from >= 0.0 && to < last)
        };
        let (u0, u1, across) = range(from[0], to[0], self.west);
        let (v0, v1, along) = range(from[1], to[1], self.south);
        if u1 < 0.0 || v1 < 0.0 || u0 >= last || v0 >= last {
            return false;
        }
        let block = |coordinate: f32| (coordinate.max(0.0) as usize / BLOCK).min(blocks - 1);
        for row in block(v0)..=block(v1) {
            for [low, high] in &self.blocks[row * blocks..][block(u0)..=block(u1)] {
                extremes.low = extremes.low.min(*low);
                extremes.high = extremes.high.max(*high);
            }
        }
        across && along
    }

    fn shadow_at(&self, x: f32, y: f32) -> Option<f32> {
        let (index, fx, fy) = self.cell_at(x, y)?;
        let s = &self.shadow;
        let above = index + self.side;
        Some(lerp(lerp(s[index], s[index + 1], fx), lerp(s[above], s[above + 1], fx), fy))
    }
}

impl Terrain {
    /// Bakes `relief` under `light` around `centre`.
    pub(crate) fn bake(relief: &Relief, light: &Light, centre: [f32; 2], detail: Detail) -> Self {
        let mut levels: Vec<Level> = Vec::with_capacity(EXTENTS.len());
        // Coarse first: a finer grid takes its rim, and the shadows that fall into it, from the coarser one.
        for index in (0..EXTENTS.len()).rev() {
            let level =
                bake_level(Level::bounds(index, centre, detail.sides()[index]), relief, light, levels.last());
            levels.push(level);
        }
        levels.reverse();
        Self { levels }
    }

    /// Height of the land; beyond the last grid the depth of the sea.
    #[inline]
    pub(crate) fn height(&self, x: f32, y: f32) -> f32 {
        self.height_from(0, x, y)
    }

    /// The same, where no grid before `finest` reaches.
    #[inline]
    pub(crate) fn height_from(&self, finest: usize, x: f32, y: f32) -> f32 {
        self.levels[finest..].iter().find_map(|level| level.height(x, y)).unwrap_or(BEYOND)
    }

    /// Lit color, with the height as fourth lane, where no grid before `finest` reaches.
    #[inline]
    pub(crate) fn texel_from(&self, finest: usize, x: f32, y: f32) -> Color {
        self.levels[finest..].iter().find_map(|level| level.texel(x, y)).unwrap_or(Color::BLACK.with(BEYOND))
    }

    /// Bounds of the height within the box `from..=to` (east, north).
    pub(crate) fn extremes(&self, from: [f32; 2], to: [f32; 2]) -> Extremes {
        let mut extremes =
            Extremes { low: f32::INFINITY, high: f32::NEG_INFINITY, finest: self.levels.len() };
        for (index, level) in self.levels.iter().enumerate() {
            let is_contained = level.widen(from, to, &mut extremes);
            if extremes.high > f32::NEG_INFINITY {
                extremes.finest = extremes.finest.min(index);
            }
            if is_contained {
                return extremes;
            }
        }
        Extremes { low: extremes.low.min(BEYOND), high: extremes.high.max(BEYOND), ..extremes }
    }

    /// The farthest that each grid reaches from a point, in metres.
    pub(crate) fn reaches(&self, [x, y]: [f32; 2]) -> [f32; EXTENTS.len()] {
        let mut reaches = [0.0; EXTENTS.len()];
        for (reach, level) in reaches.iter_mut().zip(&self.levels) {
            let side = level.cell * level.side as f32;
            let far =
                |coordinate: f32, low: f32| (coordinate - low).abs().max((coordinate - low - side).abs());
            *reach = far(x, level.west).hypot(far(y, level.south));
        }
        reaches
    }

    /// Whether the sun reaches a point at height `z`: 0 shadow, 1 sun.
    pub(crate) fn sunlit(&self, x: f32, y: f32, z: f32) -> f32 {
        let hidden = self.levels.iter().find_map(|level| level.shadow_at(x, y)).unwrap_or(-100.0);
        smooth(-3.0, 1.0, z - hidden)
    }
}

/// The slope of the land at a point, as rise over run, and the mean height around it.
#[derive(Clone, Copy)]
struct Slope {
    east: f32,
    north: f32,
    around: f32,
}

impl Slope {
    fn steepness(self) -> f32 {
        (self.east * self.east + self.north * self.north).sqrt()
    }
}

fn bake_level(mut level: Level, relief: &Relief, light: &Light, coarser: Option<&Level>) -> Level {
    let side = level.side;
    let finest = level.cell * 1.6;
    let coordinate = |i: usize, origin: f32| origin + i as f32 * level.cell;
    let rim = |iu: usize, iv: usize| {
        let edge = iu.min(iv).min(side - 1 - iu).min(side - 1 - iv) as f32 / side as f32;
        smooth(0.005, 0.09, edge)
    };
    let mut heights = vec![0.0_f32; side * side];
    for (index, heights) in heights.chunks_exact_mut(LANES).enumerate() {
        let (iu, iv) = (index * LANES % side, index * LANES / side);
        let (x, y) =
            (from_fn(|lane| coordinate(iu + lane, level.west)), [coordinate(iv, level.south); LANES]);
        let own = relief.height::<LANES>(x, y, finest);
        for (lane, (height, own)) in heights.iter_mut().zip(own).enumerate() {
            let inner = rim(iu + lane, iv);
            *height = match coarser.and_then(|c| c.height(x[lane], y[lane])) {
                Some(outer) if inner < 1.0 => lerp(outer, own, inner),
                _ => own,
            };
        }
    }
    level.shadow = sweep_shadows(&heights, &level, light, coarser);
    let slope_at = |iu: usize, iv: usize| {
        let sample = |du: isize, dv: isize| {
            let u = iu.saturating_add_signed(du).min(side - 1);
            let v = iv.saturating_add_signed(dv).min(side - 1);
            heights[v * side + u]
        };
        let around = 0.25 * (sample(3, 0) + sample(-3, 0) + sample(0, 3) + sample(0, -3));
        let per_metre = 1.0 / (2.0 * level.cell);
        Slope {
            east: (sample(1, 0) - sample(-1, 0)) * per_metre,
            north: (sample(0, 1) - sample(0, -1)) * per_metre,
            around,
        }
    };
    let mut texels = Vec::with_capacity(side * side);
    for index in (0..side * side).step_by(LANES) {
        let (iu, iv) = (index % side, index / side);
        let (x, y) =
            (from_fn(|lane| coordinate(iu + lane, level.west)), [coordinate(iv, level.south); LANES]);
        let h: [f32; LANES] = from_fn(|lane| heights[index + lane]);
        let slopes: [Slope; LANES] = from_fn(|lane| slope_at(iu + lane, iv));
        // Nobody sees the bottom of the sea.
        let is_seen = h.iter().any(|h| *h >= relief.sea_bed());
        let steepness = from_fn(|lane| slopes[lane].steepness());
        let albedo = if is_seen { relief.surface(x, y, h, steepness, finest) } else { [Color::BLACK; LANES] };
        for lane in 0..LANES {
            let (h, Slope { east, north, around }, slope) = (h[lane], slopes[lane], steepness[lane]);
            let scale = 1.0 / (1.0 + slope * slope).sqrt();
            let open = (1.0 + (h - around) / (level.cell * 3.0) * 0.7).clamp(0.35, 1.1);
            let lit = smooth(-0.6 * level.cell - 0.4, 0.3, h - level.shadow[index + lane]);
            let mut color = albedo[lane] * light.on([-east * scale, -north * scale, scale], lit, open);
            let inner = rim(iu + lane, iv);
            if inner < 1.0
                && let Some(outer) = coarser.and_then(|c| c.texel(x[lane], y[lane]))
            {
                color = mix(outer, color, inner);
            }
            texels.push(color.with(h));
        }
    }
    level.texels = texels;
    level.blocks = blocks(&heights, side);
    level.heights = heights;
    level
}

/// Lowest and highest corner of every block's cells; neighbours share the corners between them.
fn blocks(heights: &[f32], side: usize) -> Vec<[f32; 2]> {
    let blocks_along = side / BLOCK;
    let corners = |block: usize| block * BLOCK..=((block + 1) * BLOCK).min(side - 1);
    let mut blocks = Vec::with_capacity(blocks_along * blocks_along);
    for row in 0..blocks_along {
        for column in 0..blocks_along {
            let mut bounds = [f32::INFINITY, f32::NEG_INFINITY];
            for v in corners(row) {
                for height in &heights[v * side..][corners(column)] {
                    bounds = [bounds[0].min(*height), bounds[1].max(*height)];
                }
            }
            blocks.push(bounds);
        }
    }
    blocks
}

/// Propagates the shadow height from row to row, away from the sun.
fn sweep_shadows(heights: &[f32], level: &Level, light: &Light, coarser: Option<&Level>) -> Vec<f32> {
    const NONE: f32 = -1e4;
    let side = level.side;
    let [sx, sy, up] = light.sun;
    let flat = sx.hypot(sy);
    let mut shadow = vec![NONE; side * side];
    if up <= 0.01 || flat < 1e-3 {
        // Below the horizon there is no direct light whose shadow could be seen.
        return shadow;
    }
    let by_rows = sy.abs() >= sx.abs();
    let (major, minor) = if by_rows { (sy, sx) } else { (sx, sy) };
    let drop = level.cell * (flat / major.abs()) * up / flat;
    let shift = minor / major.abs();
    let index = |line: usize, along: usize| if by_rows { line * side + along } else { along * side + line };
    let borrowed = |line: usize, along: usize| {
        let (u, v) = if by_rows { (along, line) } else { (line, along) };
        coarser
            .and_then(|c| {
                c.shadow_at(level.west + u as f32 * level.cell, level.south + v as f32 * level.cell)
            })
            .unwrap_or(NONE)
    };
    for step in 0..side {
        let line = if major > 0.0 { side - 1 - step } else { step };
        for along in 0..side {
            let source = along as f32 + shift;
            let left = floor(source);
            let value = if step == 0 || left < 0 || left as usize >= side - 1 {
                borrowed(line, along)
            } else {
                let before = if major > 0.0 { line + 1 } else { line - 1 };
                let share = source - left as f32;
                let edge = |i: usize| shadow[index(before, i)].max(heights[index(before, i)]);
                lerp(edge(left as usize), edge(left as usize + 1), share) - drop
            };
            shadow[index(line, along)] = value;
        }
    }
    shadow
}
