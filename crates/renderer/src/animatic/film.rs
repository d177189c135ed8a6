//! The frames and the sound of an animatic.

use media::RgbImage;

use super::backdrop::Backdrop;
use super::camera::{Move, Pose};
use super::card::{Card, Shown};
use super::numbers::{Rng, ease, hash};
use super::palette::Palette;
use super::particles::Particles;
use super::prompt::Reading;
use super::sound::{RATE, Score};
use super::still::Still;
use super::watermark;
use crate::Job;

/// Drawings a second; frames between two of them show the first again, as animators draw on twos.
const DRAWINGS_PER_SECOND: u32 = 12;
/// The dissolve from a first frame, or to a last frame: seconds, and at most this share of the shot.
const DISSOLVE_SECONDS: f32 = 1.0;
const MAX_DISSOLVE: f32 = 0.4;

/// An animatic.
#[derive(Debug)]
pub(super) struct Film<'a> {
    job: &'a Job,
    reading: Reading,
    movement: Option<Move>,
    backdrop: Backdrop,
    particles: Option<Particles>,
    first: Option<Still>,
    last: Option<Still>,
    card: Option<Card>,
    rng: Rng,
    shown: Option<State>,
    image: RgbImage,
}

/// All that a drawing depends on.
#[derive(Clone, Debug, PartialEq)]
struct State {
    /// Strengths of the first and of the last frame, up to 256.
    first: u32,
    last: u32,
    pose: Pose,
    /// Seconds, where something falls or drifts.
    time: Option<f32>,
    card: Shown,
}

impl<'a> Film<'a> {
    pub(super) fn new(job: &'a Job) -> Self {
        let reading = Reading::of(&job.prompt);
        let mut rng = Rng::new(hash(&job.prompt) ^ job.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let palette = Palette::new(&reading.mood, &mut rng);
        let size = (job.width, job.height);
        let movement = if job.camera_fixed { Some(Move::Static) } else { reading.movement };
        let still = |image: &RgbImage| Still::new(image, job.width, job.height);
        Self {
            backdrop: Backdrop::new(size, &palette, &mut rng),
            particles: Particles::new(reading.mood.weather, &palette, &mut rng),
            first: job.first_frame.as_ref().map(still),
            last: job.last_frame.as_ref().map(still),
            card: Card::new(job, movement, &palette),
            image: RgbImage::new(job.width, job.height),
            shown: None,
            job,
            reading,
            movement,
            rng,
        }
    }

    /// The frame of an index; `None` where it equals the one that was asked for before.
    pub(super) fn next(&mut self, frame: u32) -> Option<&RgbImage> {
        let state = self.state(frame);
        if self.shown.as_ref() == Some(&state) {
            return None;
        }
        self.draw(&state);
        self.shown = Some(state);
        Some(&self.image)
    }

    fn state(&self, frame: u32) -> State {
        let last_frame = self.job.frames_total() - 1;
        let hold = (self.job.frame_rate / DRAWINGS_PER_SECOND).max(1);
        // What is handed on is drawn at its own moment.
        let drawn = if frame == last_frame { frame } else { frame / hold * hold };
        let seconds = |frame: u32| frame as f32 / self.job.frame_rate as f32;
        let (time, end) = (seconds(drawn), seconds(last_frame));
        let dissolve = DISSOLVE_SECONDS.min(end * MAX_DISSOLVE);
        let strength = |share: f32| (share * 256.0).round() as u32;
        State {
            first: self.first.as_ref().map_or(0, |_| strength(1.0 - ease(0.0, dissolve, time))),
            last: self.last.as_ref().map_or(0, |_| strength(ease(end - dissolve, end, time))),
            pose: self.pose(time, end),
            time: self.particles.as_ref().map(|_| time),
            card: self.card.as_ref().map(|card| card.shown(time)).unwrap_or_default(),
        }
    }

    fn pose(&self, time: f32, end: f32) -> Pose {
        self.movement.map_or(Pose::REST, |movement| movement.pose(time / end.max(1e-3), time))
    }

    fn draw(&mut self, state: &State) {
        let start = self.pose(0.0, 1.0);
        // As the camera has moved since the frame that it was given; there is nothing around that.
        let since = Pose {
            right: state.pose.right - start.right,
            down: state.pose.down - start.down,
            zoom: (state.pose.zoom / start.zoom).max(1.0),
            parallax: Pose::REST.parallax,
        };
        if state.first < 256 && state.last < 256 {
            self.backdrop.draw(state.pose, &mut self.image);
            if let (Some(particles), Some(time)) = (&self.particles, state.time) {
                particles.draw(time, &mut self.image);
            }
        }
        if let Some(first) = &self.first {
            first.lay(&mut self.image, state.first, since);
        }
        if let Some(last) = &self.last {
            last.lay(&mut self.image, state.last, Pose::REST);
        }
        if let Some(card) = &self.card {
            card.lay(&state.card, &mut self.image);
        }
        if self.job.watermark {
            watermark::stamp(&mut self.image);
        }
    }

    /// The sound track, exactly as long as the video: one channel.
    pub(super) fn sound(&self) -> Vec<f32> {
        let samples = u64::from(self.job.frames_total()) * u64::from(RATE) / u64::from(self.job.frame_rate);
        let spans = || self.card.iter().flat_map(Card::spans);
        let score = Score {
            beds: self.reading.beds.clone(),
            ticks: spans().map(|span| span.from).collect(),
            speech: spans().filter(|span| span.is_speech).map(|span| (span.from, span.until)).collect(),
        };
        score.play(samples as usize, self.job.reference_audio.as_ref(), &mut self.rng.clone())
    }
}
