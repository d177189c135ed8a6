//! `runner serve --limits FILE`: reads the limits, and reads them again on SIGHUP.

use std::{convert::Infallible, path::Path};

use service::{LiveLimits, Service};

use crate::{error::CommandError, project_paths::display_path};

pub(super) fn read(file: &Path) -> Result<LiveLimits, CommandError> {
    let text = fs_err::read_to_string(file).map_err(CommandError::invalid)?;
    LiveLimits::from_json(&text)
        .map_err(|error| CommandError::invalid(format!("{}: {error}", display_path(file))))
}

/// Applies the file's limits at each SIGHUP. A file that cannot be read changes nothing. Without a file the signal keeps
/// its meaning: it ends the process.
#[cfg(unix)]
pub(super) async fn on_hangup(service: &Service, file: Option<&Path>) -> Infallible {
    use tokio::signal::unix::{SignalKind, signal};
    let Some(file) = file else { return std::future::pending().await };
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => {
            tracing::warn!(%error, "limits cannot be reloaded: SIGHUP cannot be received");
            return std::future::pending().await;
        }
    };
    while hangups.recv().await.is_some() {
        match read(file) {
            Ok(limits) => {
                tracing::info!(file = %file.display(), "limits reloaded");
                service.set_limits(limits);
            }
            Err(error) => tracing::error!(error = error.message, "the limits stay as they are"),
        }
    }
    std::future::pending().await
}

/// There is no such signal on this system.
#[cfg(not(unix))]
pub(super) async fn on_hangup(_service: &Service, _file: Option<&Path>) -> Infallible {
    std::future::pending().await
}
