//! The size that frames are drawn at, and their buffers.

use media::RgbImage;

use super::color_grading::Grade;
use super::prompt::Landscape;
use super::scene::Workspace;
use super::scene_spec::SceneSpec;
use super::upscale::Upscale;
use super::weather::Weather;
use crate::animatic::Look;
use crate::{Job, Quality};

/// Larger frames are drawn with at most this many pixels and upscaled.
const MAX_DRAWN_PIXELS: f64 = 1_000_000.0;
/// The shares of the pixels that scenes are drawn with, by their finest details.
const WINDOWS: f64 = 0.4;
const DETAILED: f64 = 0.5;
const WOODED: f64 = 0.42;
const SOFT: f64 = 0.25;
/// Frames are not drawn smaller than this, in pixels.
const MIN_REDUCED_PIXELS: f64 = 20_000.0;

/// The buffers that a frame is drawn in, at its size or smaller.
pub(super) struct FrameBuffers {
    pub(super) work: Workspace,
    small: Option<(Vec<i16>, Upscale)>,
}

impl FrameBuffers {
    pub(super) fn new(job: &Job, resolution: RenderScale) -> Self {
        let (width, height) = resolution.size(job);
        Self {
            work: Workspace::new(width as usize, height as usize),
            small: ((width, height) != (job.width, job.height))
                .then(|| (Vec::new(), Upscale::new((width, height), (job.width, job.height)))),
        }
    }

    pub(super) fn develop(&mut self, grade: &Grade, frame: u32, image: &mut RgbImage) {
        let Workspace { canvas, bloom, .. } = &self.work;
        let grain = grade.grain.frame(frame);
        match &mut self.small {
            None => grade.develop(canvas, bloom, grain, image),
            Some((small, upscale)) => {
                grade.develop_fine(canvas, bloom, small);
                upscale.enlarge(small, grain, image);
            }
        }
    }
}

/// How large the frames of a shot are drawn, before they are enlarged to the size of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RenderScale {
    /// Of the pixels.
    share: f64,
    max_pixels: f64,
}

impl RenderScale {
    const FULL: Self = Self { share: 1.0, max_pixels: MAX_DRAWN_PIXELS };
    /// For sketches, and for comparing images.
    pub(super) const SKETCH: Self = Self { share: 0.16, max_pixels: MAX_DRAWN_PIXELS * 0.4 };

    pub(super) fn new(job: &Job, look: Look, spec: &SceneSpec) -> Self {
        match (look, job.quality) {
            (Look::Animatic, _) | (_, Quality::Fast) => Self::SKETCH,
            (Look::Scene, Quality::Standard) => Self::of_scene(spec),
        }
    }

    /// As many pixels as the details of a scene need: with fewer it would look softer, with more it would look the same.
    pub(super) fn of_scene(spec: &SceneSpec) -> Self {
        let Weather { rain, snow, .. } = spec.weather;
        let share = match spec.landscape {
            _ if spec.set.is_some() || !spec.figures.is_empty() => DETAILED,
            // A figure far away, and streaks a pixel wide.
            _ if spec.has_walker || rain > 0.0 || snow > 0.0 => WOODED,
            Landscape::Forest | Landscape::Lake | Landscape::Meadow | Landscape::Snowfield => WOODED,
            _ => SOFT,
        };
        let is_city = spec.set.is_none() && spec.landscape == Landscape::City;
        Self { share: if is_city { WINDOWS } else { share }, ..Self::FULL }
    }

    /// The size that a job is drawn at: even, with the aspect ratio of the job.
    fn size(self, job: &Job) -> (u32, u32) {
        let pixels = f64::from(job.width) * f64::from(job.height);
        let limit = (pixels * self.share).max(MIN_REDUCED_PIXELS).min(self.max_pixels);
        if pixels <= limit {
            return (job.width, job.height);
        }
        let scale = (limit / pixels).sqrt();
        let even = |side: u32| ((f64::from(side) * scale * 0.5).round() as u32 * 2).clamp(16, side);
        (even(job.width), even(job.height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedural::prompt::SceneBrief;
    use crate::procedural::stage::Stage;
    use crate::procedural::terrain::Detail;

    fn job(prompt: &str) -> Job {
        Job::new(prompt, (854, 480), 5.0)
    }

    fn spec(job: &Job) -> SceneSpec {
        SceneSpec::resolve(&SceneBrief::read(&job.prompt), false, 5.0, 1)
    }

    #[test]
    fn reduced_scenes_look_like_whole_ones() {
        // Least likeness in dB. What is drawn with more pixels has finer details, which fall between other pixels.
        for (prompt, min_likeness) in [
            ("drone flyover of mountains at sunset", 37.0),
            ("desert dunes at golden hour, pan left", 37.0),
            ("pine forest in morning mist, dolly in", 36.0),
            ("sunrise over a calm sea, lighthouse, thin fog", 34.0),
        ] {
            let job = job(prompt);
            let spec = spec(&job);
            let style = spec.style;
            let stage = Stage::own(&job, spec.clone(), 1, Detail::Full);
            let [reduced, full] = [RenderScale::of_scene(&spec), RenderScale::FULL].map(|resolution| {
                let mut drawn = FrameBuffers::new(&job, resolution);
                let mut image = RgbImage::new(job.width, job.height);
                stage.draw(0.5, 2.5, &mut drawn.work);
                drawn.develop(&Grade::new(style, 1.0, None), 60, &mut image);
                image
            });
            let pairs = reduced.pixels().iter().zip(full.pixels());
            let squares: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
            let likeness = 10.0 * (255.0 * 255.0 / (squares / full.pixels().len() as f64)).log10();
            assert!(likeness > min_likeness, "{prompt}: {likeness:.1} dB");
        }
    }

    #[test]
    fn finer_details_are_drawn_with_more_pixels() {
        let share = |prompt: &str| RenderScale::of_scene(&spec(&job(prompt))).share;
        for (prompt, expected) in [
            ("dunes", SOFT),
            ("a pine forest", WOODED),
            ("a woman in a room", DETAILED),
            ("mountains in heavy rain", WOODED),
            ("a city at night", WINDOWS),
        ] {
            assert!((share(prompt) - expected).abs() < 1e-9, "{prompt}: {}", share(prompt));
        }
    }

    #[test]
    fn sizes_are_even_and_bounded() {
        let size =
            |resolution: RenderScale, width, height| resolution.size(&Job { width, height, ..job("") });
        assert_eq!(size(RenderScale::FULL, 854, 480), (854, 480));
        assert_eq!(size(RenderScale::SKETCH, 854, 480), (342, 192));
        // Small frames are not reduced, and large ones always.
        assert_eq!(size(RenderScale::SKETCH, 160, 96), (160, 96));
        let (width, height) = size(RenderScale::FULL, 3840, 2160);
        assert!(width % 2 == 0 && height % 2 == 0 && (900_000..=1_001_000).contains(&(width * height)));
    }
}
