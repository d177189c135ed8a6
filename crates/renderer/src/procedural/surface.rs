//! The height field of ray marching: the higher of land and sea at each point.

use super::ground::Ground;
use super::raymarch::{HeightField, Stretch, SurfaceKind};
use super::water::{Sea, Swell};

/// Distance in metres beyond which waves have no visible silhouette.
pub(crate) const MAX_WAVE_DISTANCE: f32 = 260.0;

/// Land and sea at one point in time.
pub(crate) struct Surfaces<'a> {
    ground: &'a Ground,
    sea: Option<&'a Sea>,
    swell: Option<Swell<'a>>,
}

impl<'a> Surfaces<'a> {
    /// `time` in seconds since the first frame.
    pub(crate) fn new(ground: &'a Ground, sea: Option<&'a Sea>, time: f32) -> Self {
        Self { ground, sea, swell: sea.map(|sea| sea.at(time)) }
    }
}

/// What an area contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeightHint {
    /// The finest grid of the land that has a part in it; `None` where all land lies under water.
    land: Option<usize>,
    has_breakwater: bool,
    has_water: bool,
}

impl HeightField for Surfaces<'_> {
    type AreaData = HeightHint;

    fn stretch(&self, from: [f32; 2], to: [f32; 2], distance: f32) -> Stretch<HeightHint> {
        let bounds = self.ground.terrain.extremes(from, to);
        let rough = self.ground.roughness(distance);
        let (low, mut high) = (bounds.low - rough, bounds.high + rough);
        let breakwater = self.ground.breakwater_near(from, to, distance);
        if let Some(breakwater) = breakwater {
            high = high.max(breakwater.highest());
        }
        let waves = self.sea.filter(|_| distance < MAX_WAVE_DISTANCE).map_or(0.0, Sea::reach);
        let water = self.sea.is_some() && low < waves;
        let drowned = water && high < -waves;
        if water {
            high = high.max(waves);
        }
        let hint = HeightHint {
            land: (!drowned).then_some(bounds.finest),
            has_breakwater: breakwater.is_some(),
            has_water: water,
        };
        let kind = if drowned && waves > 0.0 {
            SurfaceKind::Swell(hint)
        } else if drowned {
            SurfaceKind::Level(0.0)
        } else if high - low < 0.01 {
            SurfaceKind::Level(high)
        } else {
            SurfaceKind::Rough(hint)
        };
        Stretch { high, kind }
    }

    #[inline]
    fn height(&self, hint: HeightHint, x: f32, y: f32, distance: f32) -> f32 {
        let level = match &self.swell {
            Some(swell) if hint.has_water && distance < MAX_WAVE_DISTANCE => swell.level(x, y),
            Some(_) if hint.has_water => 0.0,
            _ => f32::NEG_INFINITY,
        };
        match hint.land {
            Some(finest) => self.ground.height(finest, hint.has_breakwater, x, y, distance).max(level),
            None => level,
        }
    }
}
