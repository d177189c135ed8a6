//! One scale of the waves of water: a tiled patch that drifts.

/// Base-2 logarithm of the width of the wave patch in texels; small enough for the L1 cache.
pub(super) const PATCH: u32 = 6;

/// One scale of waves: a tiled, drifting patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaveLayer {
    /// Metres the patch spans.
    pub(super) length: f32,
    /// Root-mean-square height in metres.
    pub(super) height: f32,
    pub(super) drift: [f32; 2],
    /// Rotation of the patch: cosine and sine.
    pub(super) turn: [f32; 2],
}

impl WaveLayer {
    pub(super) fn at(&self, time: f32) -> LayerTransform {
        let scale = (1 << PATCH) as f32 / self.length;
        let [cos, sin] = self.turn;
        let (x, y) = (self.drift[0] * time, self.drift[1] * time);
        LayerTransform {
            turn: [cos * scale, sin * scale],
            // Within the patch: small numbers are exact ones.
            offset: [-(x * cos + y * sin) * scale, -(y * cos - x * sin) * scale]
                .map(|o| o % (1 << PATCH) as f32),
        }
    }
}

/// The transform of a layer at a point in time: rotation and offset, in texels.
#[derive(Clone, Copy)]
pub(super) struct LayerTransform {
    pub(super) turn: [f32; 2],
    offset: [f32; 2],
}

impl LayerTransform {
    #[inline]
    pub(super) fn texel(&self, x: f32, y: f32) -> (f32, f32) {
        let [cos, sin] = self.turn;
        (x * cos + y * sin + self.offset[0], y * cos - x * sin + self.offset[1])
    }
}
