//! A service on loopback that answers like any other and renders in no time: blank clips of two frames.

use std::ops::ControlFlow;
use std::sync::Arc;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use renderer::{Job, Progress, RenderError, Renderer, Rendering};
use secrecy::SecretString;
use service::{
    ApiKeyStore, Config, Deps, KeyLimits, Keys, NewKey, OsRandomness, Permissions, Service, SystemClock,
};
use tempfile::TempDir;

/// The API key of a [`BlankService`].
pub(crate) const KEY: &str = "sk-conformance";

/// The data folder of the service within its temporary folder.
const FOLDER: &str = "service";

/// A key that a [`BlankService`] starts with.
pub(crate) struct NamedKey {
    pub(crate) name: &'static str,
    /// The permission for 1080p.
    pub(crate) full_hd: bool,
    pub(crate) limits: Option<KeyLimits>,
}

/// A running service with its data folder.
pub(crate) struct BlankService {
    service: Service,
    _data: TempDir,
}

impl BlankService {
    pub(crate) async fn start(configure: impl FnOnce(&mut Config)) -> Result<Self, String> {
        let data = tempfile::tempdir().map_err(|error| error.to_string())?;
        Self::start_in(data, configure).await
    }

    /// A service with these keys instead of [`KEY`]; returns their secrets as well.
    pub(crate) async fn with_keys(
        keys: &[NamedKey],
        configure: impl FnOnce(&mut Config),
    ) -> Result<(Self, Vec<SecretString>), String> {
        let data = tempfile::tempdir().map_err(|error| error.to_string())?;
        let store = ApiKeyStore::open(&data.path().join(FOLDER)).map_err(|error| error.to_string())?;
        let mut secrets = Vec::new();
        for NamedKey { name, full_hd, limits } in keys {
            let permissions = Permissions { full_hd: *full_hd };
            let new = NewKey { name: (*name).to_owned(), permissions, limits: limits.clone() };
            secrets.push(store.add(&new, &SystemClock, &OsRandomness).map_err(|error| error.to_string())?);
        }
        let service = Self::start_in(data, |config| {
            config.keys = Keys::Stored;
            configure(config);
        });
        Ok((service.await?, secrets))
    }

    async fn start_in(data: TempDir, configure: impl FnOnce(&mut Config)) -> Result<Self, String> {
        let mut config = Config::embedded(data.path().join(FOLDER), SecretString::from(KEY));
        configure(&mut config);
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

/// Renders a small black clip for every job. A prompt with "fails" fails, as does one with "from an image" without a first frame; one with
/// "slowly" takes half a second.
struct BlankRenderer;

impl Renderer for BlankRenderer {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        let job_error = |reason: &str| Err(RenderError::Job { what: reason.to_owned() });
        if job.prompt.contains("fails") {
            return job_error("the prompt says so");
        }
        if job.prompt.contains("from an image") && job.first_frame.is_none() {
            return job_error("it has no first frame");
        }
        let frames = if job.prompt.contains("slowly") { 50 } else { 1 };
        for done in 1..=frames {
            if progress(Progress { frames_done: done, frames_total: frames }).is_break() {
                return Err(RenderError::Cancelled);
            }
            if frames > 1 {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        let rate = FrameRate::new(job.frame_rate, 1)
            .ok_or_else(|| RenderError::Job { what: "no frame rate".to_owned() })?;
        let frame = RgbImage::new(64, 36);
        let mut writer = ClipWriter::new(ClipSpec::new(64, 36, rate))?;
        writer.push_frame(&frame)?;
        Ok(Rendering { mp4: writer.finish()?, last_frame: frame })
    }
}
