//! [`Animatic`]: the scene of [`crate::Procedural`] with a storyboard panel over it, which says what the shot is and that it is a rehearsal.

mod camera_icon;
mod layer;
mod panel;

use std::ops::ControlFlow;

use crate::{Job, Progress, PromptReading, RenderError, Renderer, Rendering, procedural};

pub(crate) use self::panel::{Panel, Shot};

#[cfg(test)]
mod tests;

/// The procedural renderer with a storyboard panel: prompt, camera move, seconds, model, seed, frames and references.
///
/// The panel is seen in full for a moment, then as a slim lower third, and is gone before the last half second; the first and the last frame
/// are without it. Invariant: deterministic, as [`crate::Procedural`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Animatic;

impl Renderer for Animatic {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        procedural::render(job, Look::Animatic, progress)
    }

    fn read_prompt(&self, prompt: &str) -> Option<PromptReading> {
        crate::Procedural.read_prompt(prompt)
    }
}

/// How the renderers of this crate present a shot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// With a storyboard panel over the scene: [`Animatic`].
    #[default]
    Animatic,
    /// The scene alone: [`crate::Procedural`].
    Scene,
}

impl Look {
    /// Every look with its name.
    pub const ALL: [(Self, &str); 2] = [(Self::Animatic, "animatic"), (Self::Scene, "scene")];

    /// The look of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, candidate)| *candidate == name).map(|(look, _)| *look)
    }

    /// Draws one frame of a job by its index, without sound or encoding; of an index beyond the end the last frame.
    ///
    /// # Errors
    /// [`RenderError::Job`] for sizes and lengths out of bounds.
    pub fn draw_frame(self, job: &Job, frame: u32) -> Result<media::RgbImage, RenderError> {
        procedural::draw_frame(job, self, frame)
    }

    /// Draws the frames of a job without sound or encoding, for benchmarks; those that are interpolated are left out.
    ///
    /// # Errors
    /// [`RenderError::Job`] for sizes and lengths out of bounds, and the errors of `show`.
    pub fn draw(
        self,
        job: &Job,
        show: &mut dyn FnMut(&media::RgbImage) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        procedural::draw(job, self, show)
    }

    /// The renderer that has this look.
    #[must_use]
    pub fn renderer(self) -> std::sync::Arc<dyn Renderer> {
        match self {
            Self::Animatic => std::sync::Arc::new(Animatic),
            Self::Scene => std::sync::Arc::new(crate::Procedural),
        }
    }
}
