//! A finished video onto the disk: to a temporary name, verified, synced, and only then under its own name.

use std::io::Write;
use std::path::Path;

use media::Tools;
use sha2::{Digest, Sha256};

use crate::artifact::Artifact;
use crate::provider::Provider;
use crate::state::{Download, Failure, FailureKind};

/// The largest video that is accepted.
const LARGEST: u64 = 8 << 30;

/// Fetches, verifies and keeps one video.
pub(super) async fn fetch(
    provider: &dyn Provider,
    order: &Download,
    target: &Path,
    tools: &Tools,
) -> Result<Artifact, Failure> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".")
        .suffix(".part")
        .tempfile_in(folder)
        .map_err(|error| local(&format!("a file cannot be made in {}", folder.display()), &error))?;
    let mut sink = Sink { file, hasher: Sha256::new(), bytes: 0, trouble: None };
    let url = order.url.as_deref().filter(|_| order.turn.is_multiple_of(2));
    let fetched = provider.download(&order.task, url, &mut sink).await;
    if let Some(error) = sink.trouble.take() {
        return Err(local("the video cannot be written", &error));
    }
    fetched?;

    let Sink { file, hasher, bytes, .. } = sink;
    let sha256 = hex::encode(hasher.finalize());
    let (order, target, tools) = (order.clone(), target.to_owned(), tools.clone());
    let kept = tokio::task::spawn_blocking(move || {
        let probed = tools.probe(file.path()).map_err(|error| {
            Failure::new(FailureKind::Corrupt, format!("what was downloaded is not a whole video: {error}"))
        })?;
        let Some(video) = probed.video else {
            return Err(Failure::new(FailureKind::Corrupt, "what was downloaded holds no pictures"));
        };
        file.as_file().sync_all().map_err(|error| local("the video cannot be synced", &error))?;
        file.persist(&target).map_err(|error| local("the video cannot be given its name", &error.error))?;
        sync_folder(&target).map_err(|error| local("the folder cannot be synced", &error))?;
        Ok(Artifact {
            path: target,
            sha256,
            bytes,
            seconds: probed.duration.as_secs_f64(),
            width: video.width,
            height: video.height,
            last_frame_url: order.last_frame_url,
            expires_at: order.expires_at,
        })
    });
    kept.await.unwrap_or_else(|error| Err(Failure::new(FailureKind::Corrupt, error.to_string())))
}

/// Makes a new name in a folder durable.
pub(super) fn sync_folder(target: &Path) -> std::io::Result<()> {
    match target.parent() {
        #[cfg(unix)]
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

struct Sink {
    file: tempfile::NamedTempFile,
    hasher: Sha256,
    bytes: u64,
    /// Trouble of this machine, told apart from trouble of the network.
    trouble: Option<std::io::Error>,
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        self.bytes += piece.len() as u64;
        let written = if self.bytes > LARGEST {
            Err(std::io::Error::other("it is larger than any video should be"))
        } else {
            self.file.as_file_mut().write_all(piece)
        };
        match written {
            Ok(()) => {
                self.hasher.update(piece);
                Ok(piece.len())
            }
            Err(error) => {
                let told = std::io::Error::new(error.kind(), error.to_string());
                self.trouble = Some(error);
                Err(told)
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

fn local(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(FailureKind::Local, format!("{what}: {error}"))
}
