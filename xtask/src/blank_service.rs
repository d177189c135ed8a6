//! A service on loopback that answers like any other and renders in no time: blank clips of one frame.

use std::ops::ControlFlow;
use std::sync::Arc;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use renderer::{Job, Progress, RenderError, Renderer, Rendering};
use secrecy::SecretString;
use service::{Config, Deps, Service};
use tempfile::TempDir;

/// The API key of a [`BlankService`].
pub(crate) const KEY: &str = "sk-conformance";

/// A running service with its data folder.
pub(crate) struct BlankService {
    service: Service,
    _data: TempDir,
}

impl BlankService {
    pub(crate) async fn start() -> Result<Self, String> {
        let data = tempfile::tempdir().map_err(|error| error.to_string())?;
        let config = Config::embedded(data.path().join("service"), SecretString::from(KEY));
        let service = Service::start(config, Arc::new(BlankRenderer), Deps::system());
        let service = service.await.map_err(|error| error.to_string())?;
        Ok(Self { service, _data: data })
    }

    /// Ends in `/`.
    pub(crate) fn base_url(&self) -> String {
        self.service.base_url().to_string()
    }

    pub(crate) async fn shutdown(self) {
        self.service.shutdown().await;
    }
}

/// Renders a small black clip for every job. A prompt with "fails" fails.
struct BlankRenderer;

impl Renderer for BlankRenderer {
    fn render(
        &self,
        job: &Job,
        _: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        let job_error = |reason: &str| RenderError::Job { what: reason.to_owned() };
        if job.prompt.contains("fails") {
            return Err(job_error("the prompt says so"));
        }
        let rate = FrameRate::new(job.frame_rate, 1).ok_or_else(|| job_error("no frame rate"))?;
        let frame = RgbImage::new(64, 36);
        let mut writer = ClipWriter::new(ClipSpec::new(64, 36, rate))?;
        writer.push_frame(&frame)?;
        Ok(Rendering { mp4: writer.finish()?, last_frame: frame })
    }
}
