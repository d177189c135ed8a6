//! A linear change of colors, in luma and chroma of BT.709.

use rusty_h264::YuvFrame;

/// What is done to the colors of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Correction {
    /// Of luma, Cb and Cr.
    pub(super) components: [Linear; 3],
}

/// `value * gain + offset`, where a component's range is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Linear {
    pub(super) gain: f64,
    pub(super) offset: f64,
}

impl Linear {
    pub(super) const NONE: Self = Self { gain: 1.0, offset: 0.0 };

    pub(super) fn apply(self, value: f64) -> f64 {
        value * self.gain + self.offset
    }
}

impl Correction {
    pub(super) fn apply(&self, frame: &mut YuvFrame, full_range: bool) {
        let planes = [&mut frame.y, &mut frame.u, &mut frame.v];
        for (component, (plane, linear)) in planes.into_iter().zip(self.components).enumerate() {
            let (zero, range) = match (component, full_range) {
                (0, false) => (16.0, 219.0),
                (0, true) => (0.0, 255.0),
                (_, false) => (128.0, 224.0),
                (_, true) => (128.0, 255.0),
            };
            let table: Vec<u8> = (0..=255)
                .map(|value| {
                    let value = linear.apply((f64::from(value) - zero) / range) * range + zero;
                    value.round().clamp(0.0, 255.0) as u8
                })
                .collect();
            for value in plane.iter_mut() {
                *value = table[usize::from(*value)];
            }
        }
    }
}
