//! The seam of a chain: how much neighbouring frames differ at the join of two shots, and elsewhere.

use std::ops::ControlFlow;

use media::RgbImage;
use renderer::{Job, Procedural, Renderer};

/// The most by which the step at the join may differ from those in the middle of the clips, in dB.
const MAX_DIFFERENCE: f64 = 3.0;
const SECONDS: f64 = 3.0;

/// The seam of a chain, in words.
pub(super) struct Seam {
    pub(super) report: String,
    /// Whether the step at the join is within its bound.
    pub(super) is_continuous: bool,
}

/// Renders a shot and one that continues it, and compares their steps as drawn. The frame that both have counts once.
pub(super) fn measure(job: &Job) -> Result<Seam, String> {
    let failed = |error: renderer::RenderError| error.to_string();
    let first = Job { seconds: SECONDS, ..job.clone() };
    let rendering = Procedural.render(&first, &mut |_| ControlFlow::Continue(())).map_err(failed)?;
    let second = Job { first_frame: Some(rendering.last_frame), ..first.clone() };
    let mut before = None;
    let mut steps = [Vec::new(), Vec::new()];
    let mut seam = 0.0;
    for (shot, job) in [&first, &second].into_iter().enumerate() {
        let mut number = 0;
        Procedural
            .draw(job, &mut |frame| {
                // What a continuation begins with is the last frame of the shot before.
                if shot == 0 || number > 0 {
                    let step = before.as_ref().map(|before| likeness(before, frame));
                    match step {
                        Some(step) if shot == 1 && number == 1 => seam = step,
                        Some(step) => steps[shot].push(step),
                        None => {}
                    }
                    before = Some(frame.clone());
                }
                number += 1;
                Ok(())
            })
            .map_err(failed)?;
    }
    let [first_mean, second_mean] = steps.map(|steps| mean(&steps[steps.len() / 4..steps.len() * 3 / 4]));
    let expected = 0.5 * (first_mean + second_mean);
    let is_continuous = (seam - expected).abs() <= MAX_DIFFERENCE;
    let verdict = if is_continuous { "kept" } else { "not kept" };
    let report = format!(
        "\nPSNR of neighbouring frames of a chain: {first_mean:.1} dB in the middle of the first shot, {seam:.1} dB at the join, {second_mean:.1} dB in the middle \
         of the second; at most {MAX_DIFFERENCE} dB between the join and their mean are wanted: {verdict}\n"
    );
    Ok(Seam { report, is_continuous })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Peak signal-to-noise ratio in dB.
fn likeness(a: &RgbImage, b: &RgbImage) -> f64 {
    let squares: f64 =
        a.pixels().iter().zip(b.pixels()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 / (squares / a.pixels().len().max(1) as f64).max(1e-9)).log10()
}
