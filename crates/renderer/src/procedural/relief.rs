//! The land as functions of position: height and material.

use std::array::from_fn;

use super::breakwater::Breakwater;
use super::math::{Color, mix, smooth};
use super::noise::{Octaves, Rng};
use super::prompt::Landscape;

/// The land of one scene. Sea level is height 0; north is where the first frame looks.
#[derive(Clone, Debug)]
pub(crate) struct Relief {
    landscape: Landscape,
    broad: Octaves,
    /// Mountains, near or at the horizon.
    crests: Octaves,
    fine: Octaves,
    patch: Octaves,
    /// Which side the land lies on, where a scene has a land side: -1 west, 1 east.
    pub(crate) side: f32,
    /// A headland for a building by the sea: east, north, radius, height.
    pub(crate) headland: Option<[f32; 4]>,
    pub(crate) breakwater: Option<Breakwater>,
    /// Height of the main features, in metres.
    scale: f32,
    is_autumn: bool,
    /// Whether everything that is not steep has fresh snow.
    pub(crate) has_snow: bool,
    snowline: f32,
    grain: f32,
    /// The height of a city's streets; below sea level makes them wet.
    pub(crate) street: f32,
}

impl Relief {
    pub(crate) fn new(landscape: Landscape, side: f32, autumn: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "relief");
        let (broad, fine) = match landscape {
            Landscape::Mountains | Landscape::Lake => (1600.0, 260.0),
            Landscape::Desert => (420.0, 90.0),
            Landscape::Canyon => (900.0, 120.0),
            Landscape::Snowfield => (700.0, 120.0),
            Landscape::Forest => (900.0, 140.0),
            Landscape::Sea | Landscape::Coast | Landscape::Harbour => (1400.0, 90.0),
            Landscape::Meadow | Landscape::City => (620.0, 110.0),
        };
        Self {
            landscape,
            broad: Octaves::new(rng.next() as u32, broad * rng.range(0.85, 1.2), 9),
            crests: Octaves { gain: 0.5, ..Octaves::new(rng.next() as u32, rng.range(2900.0, 3900.0), 8) },
            fine: Octaves::new(rng.next() as u32, fine, 5),
            patch: Octaves::new(rng.next() as u32, 60.0, 3),
            side,
            headland: None,
            breakwater: None,
            scale: rng.range(0.85, 1.2),
            is_autumn: autumn,
            has_snow: false,
            snowline: rng.range(520.0, 800.0),
            grain: rng.range(0.0, 50.0),
            street: 0.0,
        }
    }

    /// Metres above the sea at `N` points; features finer than `finest` metres are left out.
    pub(crate) fn height<const N: usize>(&self, x: [f32; N], y: [f32; N], finest: f32) -> [f32; N] {
        let far: [f32; N] = from_fn(|i| (x[i] * x[i] * 1.4 + y[i] * y[i]).sqrt());
        match self.landscape {
            Landscape::Mountains => self.range(x, y, far, finest).map(|range| range + 24.0),
            Landscape::Lake => {
                let shore = self.fine.rolling(x.map(|x| x * 0.35), y.map(|y| y * 0.35), finest);
                let range = self.range(x, y, far, finest);
                from_fn(|i| {
                    let across = x[i] * self.side;
                    // Water ahead, land around it and close on one side.
                    let basin = ((y[i] - 900.0).abs() * 0.78).max((across - 40.0).abs() * 1.05 - 60.0)
                        - 700.0
                        + shore[i] * 60.0;
                    let near_bank = smooth(-160.0, -40.0, -y[i] - 60.0 + across * 0.2);
                    let land = smooth(-40.0, 900.0, basin);
                    -9.0 + land * (range[i] * 0.85 + 46.0)
                        + near_bank * 10.0
                        + smooth(-60.0, 60.0, basin) * 13.0
                })
            }
            Landscape::Sea => {
                let share = far.map(|far| smooth(5200.0, 8000.0, far));
                let islands =
                    if_visible(share, || self.broad.ridged(x.map(|x| x * 0.6), y.map(|y| y * 0.6), finest));
                from_fn(|i| share[i] * (islands[i] * 520.0 * self.scale - 150.0) - 30.0)
            }
            Landscape::Coast | Landscape::Harbour => self.seaside(x, y, far, finest),
            Landscape::Desert => self.dunes(x, y, far, finest),
            Landscape::Snowfield => {
                let roll = self.broad.rolling(x, y, finest);
                let drift =
                    self.fine.rolling(from_fn(|i| x[i] * 0.7 + roll[i] * 40.0), y.map(|y| y * 1.8), finest);
                let share = far.map(|far| smooth(1400.0, 4200.0, far));
                let range = if_visible(share, || self.range(x, y, far, finest));
                from_fn(|i| roll[i] * 46.0 + (1.0 - drift[i].abs()) * 5.0 + share[i] * range[i] * 0.75 + 40.0)
            }
            Landscape::Forest => {
                let (broad, fine) = (self.broad.rolling(x, y, finest), self.fine.rolling(x, y, finest));
                let share = far.map(|far| smooth(900.0, 3800.0, far));
                let range = if_visible(share, || self.range(x, y, far, finest));
                from_fn(|i| {
                    broad[i] * 95.0 * smooth(-50.0, 500.0, far[i])
                        + fine[i] * 7.0
                        + share[i] * range[i] * 0.55
                        + 60.0
                })
            }
            Landscape::Meadow => {
                let (roll, fine) = (self.broad.rolling(x, y, finest), self.fine.rolling(x, y, finest));
                let share = far.map(|far| smooth(1500.0, 6000.0, far));
                let range = if_visible(share, || self.range(x, y, far, finest));
                from_fn(|i| {
                    roll[i] * 34.0 * smooth(0.0, 420.0, far[i])
                        + fine[i] * 2.2
                        + share[i] * range[i] * 0.42
                        + 30.0
                })
            }
            Landscape::City => [self.street; N],
            Landscape::Canyon => {
                let wall = self.broad.rolling(x, y.map(|y| y * 0.55), finest);
                let fine = self.fine.rolling(x, y, finest);
                from_fn(|i| {
                    let wall =
                        wall[i] + smooth(60.0, 700.0, x[i].abs() * 0.9 + y[i].abs() * 0.08) * 1.1 - 0.5;
                    let raw = smooth(-0.2, 0.9, wall) * 330.0 * self.scale;
                    let ledge = raw / 46.0;
                    let step = ledge.floor() + smooth(0.25, 0.75, ledge - ledge.floor());
                    step * 46.0 + fine[i] * 7.0 + 20.0
                })
            }
        }
    }

    /// Mountains: low in front, rising to crests.
    fn range<const N: usize>(&self, x: [f32; N], y: [f32; N], far: [f32; N], finest: f32) -> [f32; N] {
        let warp = self.fine.rolling(x.map(|x| x * 0.12), y.map(|y| y * 0.12), finest);
        let warp = warp.map(|warp| warp * 160.0);
        let crests: [f32; N] =
            self.crests.ridged(from_fn(|i| x[i] + warp[i]), from_fn(|i| y[i] - warp[i] * 0.7), finest);
        let fine = self.fine.rolling(x, y, finest);
        from_fn(|i| {
            let (crests, lift) = (crests[i], smooth(250.0, 4200.0, far[i]));
            crests * (0.2 + 0.8 * crests) * 1750.0 * self.scale * (0.035 + 0.965 * lift)
                + fine[i] * (5.0 + 9.0 * lift)
        })
    }

    fn seaside<const N: usize>(&self, x: [f32; N], y: [f32; N], far: [f32; N], finest: f32) -> [f32; N] {
        let bend = self.broad.rolling([0.0; N], y.map(|y| y * 0.9), 40.0);
        let inlet = self.fine.rolling([3.0; N], y, finest);
        let rough = self.fine.rolling(x, y, finest);
        let inland: [f32; N] = from_fn(|i| {
            let bend = bend[i] * 70.0 + inlet[i] * 16.0;
            // The coast recedes to the side with distance, so that the sea stays open ahead.
            x[i] * self.side - 62.0 - 0.16 * y[i].max(0.0) - bend * smooth(0.0, 260.0, y[i].abs())
        });
        let mut height: [f32; N] = from_fn(|i| {
            let cliff = smooth(-6.0, 24.0, inland[i] + rough[i] * 9.0);
            -11.0 + cliff * 24.0 + inland[i].clamp(0.0, 900.0) * 0.07 + rough[i] * 2.4 * cliff
        });
        if let Some([hx, hy, radius, top]) = self.headland {
            let crag = self.fine.ridged(x.map(|x| x * 2.6), y.map(|y| y * 2.6), finest);
            for i in 0..N {
                let (rough, crag) = (rough[i], crag[i]);
                let d = ((x[i] - hx).powi(2) + (y[i] - hy).powi(2)).sqrt() + rough * 11.0 - crag * 9.0;
                let rise = smooth(radius * 1.42, radius * 0.55, d);
                // Broken on its flanks, level where something can be built.
                let broken = (crag - 0.4) * 9.0 * rise * (1.0 - rise) * 4.0;
                let rock = -11.0 + (11.0 + top) * rise + broken + rough * 0.8;
                height[i] = height[i].max(rock);
            }
        }
        if self.breakwater.is_none() && self.headland.is_some() {
            // Rocks awash.
            let skerry = self.fine.ridged(x.map(|x| x * 1.5), y.map(|y| y * 1.5), finest);
            for i in 0..N {
                let rock = skerry[i] * 9.0 - 7.2 - smooth(20.0, 200.0, -inland[i]) * 5.0;
                height[i] = height[i].max(rock);
            }
        }
        let share = far.map(|far| smooth(3800.0, 7500.0, far));
        let distant = if_visible(share, || self.broad.ridged(x.map(|x| x * 0.5), y.map(|y| y * 0.5), finest));
        from_fn(|i| height[i].max(share[i] * (distant[i] * 620.0 * self.scale - 190.0) - 30.0))
    }

    fn dunes<const N: usize>(&self, x: [f32; N], y: [f32; N], far: [f32; N], finest: f32) -> [f32; N] {
        let rolling = |scale: f32, east: f32| {
            self.broad.rolling(x.map(|x| x * scale + east), y.map(|y| y * scale), finest)
        };
        let (bend, gate, swell) = (rolling(0.5, 0.0), rolling(0.8, 900.0), rolling(0.3, 0.0));
        let ridge = |along: f32, spacing: f32| {
            // A long windward slope and a short slip face.
            let p = along / spacing;
            let p = p - p.floor();
            if p < 0.7 { smooth(0.0, 1.0, p / 0.7) } else { smooth(1.0, 0.0, (p - 0.7) / 0.3) }
        };
        from_fn(|i| {
            let (x, y, bend) = (x[i], y[i], bend[i] * 130.0);
            let large = ridge(y * 0.85 + x * 0.42 * self.side + bend + self.grain * 9.0, 340.0 * self.scale);
            let gate = 0.45 + 0.55 * gate[i].clamp(-0.6, 1.0);
            let small = ridge(y * 0.6 - x * 0.5 * self.side + bend * 0.6 + self.grain, 88.0);
            let open = smooth(0.0, 160.0, far[i]);
            large * 44.0 * gate * (0.25 + 0.75 * open) + small * 6.0 * gate * open + swell[i] * 26.0 + 30.0
        })
    }

    /// The material at `N` points of height `h` and slope (rise over run) `slope`.
    pub(crate) fn surface<const N: usize>(
        &self,
        x: [f32; N],
        y: [f32; N],
        h: [f32; N],
        slope: [f32; N],
        finest: f32,
    ) -> [Color; N] {
        if self.landscape == Landscape::City {
            return [self.material([0.0; 2], 0.0, 0.0, 0.0); N];
        }
        // Sand is even from near.
        let is_even = self.landscape == Landscape::Desert;
        let blotch = if is_even { [0.0; N] } else { self.patch.rolling(x, y, finest) };
        let wide = self.fine.rolling(x.map(|x| x * 0.3 + 70.0), y.map(|y| y * 0.3), finest);
        let wood = self.wood(x, y, h, slope);
        from_fn(|i| {
            let noise = [blotch[i].clamp(-1.0, 1.0), wide[i].clamp(-1.0, 1.0)];
            self.material(noise, wood[i], h[i], slope[i])
        })
    }

    /// The material by fine and by coarse noise, the density of the trees, height and slope.
    fn material(&self, [blotch, wide]: [f32; 2], wood: f32, h: f32, slope: f32) -> Color {
        let hex = Color::surface;
        match self.landscape {
            Landscape::Mountains | Landscape::Lake | Landscape::Forest | Landscape::Meadow => {
                let (lush, dry) =
                    if self.is_autumn { (0x6e_5a24, 0x9a_6a2c) } else { (0x41_562a, 0x7a_7440) };
                let grass = mix(hex(lush), hex(dry), smooth(-0.6, 0.7, blotch * 0.5 + wide * 0.6));
                let heath = mix(grass, hex(0x4c_4634), smooth(120.0, 420.0, h + wide * 90.0) * 0.8);
                let rock = mix(hex(0x5c_564e), hex(0x7e_766a), 0.5 + 0.5 * blotch);
                let ground = mix(
                    heath,
                    rock,
                    smooth(0.55, 0.95, slope + blotch * 0.12).max(smooth(420.0, 760.0, h + wide * 120.0)),
                );
                let snow =
                    smooth(self.snowline - 60.0, self.snowline + 120.0, h + wide * 170.0 + blotch * 40.0)
                        * smooth(1.25, 0.7, slope);
                let wooded =
                    mix(ground, hex(if self.is_autumn { 0x5a_3c18 } else { 0x20_301e }), wood * 0.85);
                let shore = mix(hex(0x6b_6252), wooded, smooth(0.4, 3.0, h + blotch));
                let fresh = if self.has_snow {
                    0.9 * smooth(0.9, 0.5, slope) * smooth(-0.9, 0.1, blotch + 0.6)
                } else {
                    0.0
                };
                mix(shore, hex(0xe9_eef5), snow.max(fresh))
            }
            Landscape::Sea | Landscape::Coast | Landscape::Harbour => {
                let grass = mix(hex(0x4a_5630), hex(0x7c_7648), smooth(-0.5, 0.6, blotch * 0.6 + wide * 0.5));
                let rock = mix(hex(0x46_423e), hex(0x6f_675c), 0.5 + 0.5 * blotch);
                let weed = mix(hex(0x24_241c), rock, smooth(0.2, 2.2, h + blotch * 0.5));
                mix(
                    mix(weed, grass, smooth(4.0, 8.5, h + wide * 1.5)),
                    rock,
                    smooth(0.5, 0.95, slope + blotch * 0.2),
                )
            }
            Landscape::Desert => mix(
                mix(hex(0xc0_8a50), hex(0xd8_a868), 0.5 + 0.5 * wide),
                hex(0xa8_7040),
                smooth(0.3, 0.6, slope) * 0.5,
            ),
            Landscape::Snowfield => {
                let snow = mix(hex(0xe4_ebf4), hex(0xf4_f7fb), 0.5 + 0.5 * blotch);
                mix(
                    snow,
                    mix(hex(0x56_5a62), hex(0x80_848a), 0.5 + 0.5 * wide),
                    smooth(0.75, 1.15, slope + blotch * 0.15),
                )
            }
            Landscape::City => hex(0x2c_2c2e),
            Landscape::Canyon => {
                let band = ((h + wide * 9.0) / 13.0).sin() * 0.5 + 0.5;
                let rock = mix(hex(0x9a_4a2a), hex(0xc8_814e), band);
                mix(rock, mix(hex(0xb8_865a), hex(0x8a_7a4a), 0.5 + 0.5 * blotch), smooth(0.5, 0.15, slope))
            }
        }
    }

    /// How densely trees stand at `N` points: 0 none, 1 closed forest.
    pub(crate) fn wood<const N: usize>(
        &self,
        x: [f32; N],
        y: [f32; N],
        h: [f32; N],
        slope: [f32; N],
    ) -> [f32; N] {
        // By the density of the stand: offset and share; and the height above which no trees grow.
        let (offset, share, line) = match self.landscape {
            Landscape::Forest => (0.55, 0.9, 900.0),
            Landscape::Mountains => (0.25, 1.2, self.snowline - 140.0),
            Landscape::Lake => (0.4, 1.1, self.snowline - 120.0),
            Landscape::Meadow => (-0.55, 1.6, 240.0),
            Landscape::Snowfield => (-0.62, 1.6, 200.0),
            _ => return [0.0; N],
        };
        let stand = self.patch.rolling(x.map(|x| x * 0.22 + 300.0), y.map(|y| y * 0.22), 20.0);
        from_fn(|i| {
            (offset + stand[i] * share).clamp(0.0, 1.0)
                * smooth(line, line - 120.0, h[i])
                * smooth(0.95, 0.6, slope[i])
                * smooth(1.2, 3.0, h[i])
        })
    }

    /// The fine texture of the ground: its strength, and its stretch across the view.
    pub(crate) const fn texture(&self) -> (f32, f32) {
        match self.landscape {
            Landscape::Desert => (0.16, 3.0),
            Landscape::Snowfield => (0.10, 2.0),
            Landscape::Forest | Landscape::Meadow => (0.5, 1.0),
            _ => (0.4, 1.0),
        }
    }

    /// Ground below this height lies under water too deep to see through.
    pub(crate) const fn sea_bed(&self) -> f32 {
        match self.landscape {
            Landscape::Sea | Landscape::Coast | Landscape::Harbour | Landscape::Lake => -5.0,
            _ => f32::NEG_INFINITY,
        }
    }
}

/// Values that are multiplied with `share`: not computed where all shares are 0.
fn if_visible<const N: usize>(share: [f32; N], values: impl FnOnce() -> [f32; N]) -> [f32; N] {
    if share.iter().all(|share| *share <= 0.0) { [0.0; N] } else { values() }
}
