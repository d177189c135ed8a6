//! Reverberation (Schroeder): parallel comb filters followed by all-pass filters.

use super::Mix;

/// Echo lengths in samples at 48 kHz; mutually prime, and longer on the right for width.
const ECHOES: [usize; 4] = [1687, 1931, 2053, 2251];
const SMEARS: [usize; 2] = [347, 113];
const WIDTH: usize = 37;

/// Adds `source` and its reverberation (a share of `wet`) to `target`.
pub(super) fn add(source: &Mix, target: &mut Mix, wet: f32) {
    if source.samples.iter().flatten().all(|sample| *sample == 0.0) {
        return;
    }
    for channel in 0..2 {
        let longer = channel * WIDTH;
        let mut echoes = ECHOES.map(|length| (vec![0.0_f32; length + longer], 0, 0.0_f32));
        let mut smears = SMEARS.map(|length| (vec![0.0_f32; length + longer], 0));
        for (input, output) in source.samples.iter().zip(&mut target.samples) {
            let dry = input[channel];
            let feed = (input[0] + input[1]) * 0.5;
            let mut sum = 0.0;
            for (line, position, damped) in &mut echoes {
                let out = line[*position];
                sum += out;
                *damped += (out - *damped) * 0.55;
                line[*position] = feed + *damped * 0.83;
                *position = (*position + 1) % line.len();
            }
            for (line, position) in &mut smears {
                let delayed = line[*position];
                let through = delayed - 0.5 * sum;
                line[*position] = sum + 0.5 * through;
                sum = through;
                *position = (*position + 1) % line.len();
            }
            output[channel] += dry * (1.0 - wet * 0.4) + sum * wet * 0.4;
        }
    }
}
