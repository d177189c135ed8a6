//! Downloads a finished video: resumed from an earlier attempt, synced, decoded as a whole, and only then committed to the store.
//!
//! Bytes of two files are never joined: a download is resumed only with a validator that identifies the bytes (a strong `ETag`, or
//! `Last-Modified` and the length), and the response has to repeat it, because servers exist that ignore `If-Range`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use media::Ffmpeg;

use crate::artifact::sha256;
use crate::artifact_store::{ArtifactStore, DownloadOrigin, PartialDownload};
use crate::blocking::run_blocking;
use crate::provider::{DownloadSink, DownloadStart, Provider, Resume};
use crate::storage;
use crate::time::Clock;
use scheduler::policy::MinRate;
use scheduler::{Artifact, Download, Failure, FailureKind};

/// A failed download, with the bytes kept for the next attempt.
#[derive(Debug)]
pub struct DownloadError {
    pub failure: Failure,
    /// Bytes on disk, from which the next attempt resumes.
    pub partial_bytes: u64,
}

impl From<Failure> for DownloadError {
    fn from(failure: Failure) -> Self {
        Self { failure, partial_bytes: 0 }
    }
}

/// When a download is cut off, besides [`Download::deadline`].
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    /// The clock that its deadline is read by.
    pub clock: &'a Clock,
    /// Its minimum rate, from its first byte on.
    pub min_rate: MinRate,
    pub max_bytes: u64,
}

/// Downloads, verifies and stores one video.
///
/// # Errors
/// When it could not be downloaded this time.
pub async fn fetch(
    provider: &dyn Provider,
    download: &Download,
    bounds: Bounds<'_>,
    target: &Path,
    store: &ArtifactStore,
    ffmpeg: &Ffmpeg,
) -> Result<Artifact, DownloadError> {
    fetch_then(provider, download, bounds, target, store, ffmpeg, |_| {}).await
}

/// As [`fetch`]; `then` runs where the video was stored, on the same blocking thread.
pub(crate) async fn fetch_then(
    provider: &dyn Provider,
    download: &Download,
    bounds: Bounds<'_>,
    target: &Path,
    store: &ArtifactStore,
    ffmpeg: &Ffmpeg,
    then: impl FnOnce(&Artifact) + Send + 'static,
) -> Result<Artifact, DownloadError> {
    let part = store
        .partial_download(&download.attempt)
        .map_err(|error| storage::failure("the partial download cannot be read", &error))?;
    let url = download.url.as_deref().filter(|_| download.uses_url());
    let source = url.map_or_else(|| "content".to_owned(), address_digest);
    let resume = part
        .origin()
        .filter(|origin| origin.source == source && origin.identifies_bytes())
        .map(|origin| Resume { offset: part.length(), validator: origin.validator.clone() });
    let received = Arc::new(AtomicU64::new(NOT_STARTED));
    let mut sink = PartSink {
        part,
        source,
        total: None,
        io_error: None,
        has_started: false,
        is_other_file: false,
        max_bytes: bounds.max_bytes,
        is_too_large: false,
        received: Arc::clone(&received),
    };
    let downloaded = tokio::select! {
        // First, so that a download whose time is up sends no request.
        biased;
        failure = time_up(download, bounds.clock) => Err(failure),
        failure = too_slow(&received, bounds.min_rate) => Err(failure),
        downloaded = provider.download(&download.task, url, resume.as_ref(), &mut sink) => downloaded,
    };
    let PartSink { part, total, io_error, has_started, is_other_file, is_too_large, .. } = sink;
    if is_too_large {
        part.discard();
        let message =
            format!("it is larger than {}, the maximum size of a video", in_words(bounds.max_bytes));
        return Err(Failure::new(FailureKind::Transient, message).into());
    }
    if let Some(error) = io_error {
        part.discard();
        return Err(storage::failure("the video cannot be written", &error).into());
    }
    if is_other_file {
        part.discard();
        let message = "the file has changed since its first part was downloaded; it is downloaded again from the beginning";
        return Err(Failure::new(FailureKind::Transient, message).into());
    }
    if let Err(failure) = downloaded {
        // The service rejected the range: the next attempt starts from the beginning.
        if !has_started && resume.is_some() && failure.kind == FailureKind::Invalid {
            part.discard();
            return Err(failure.into());
        }
        return Err(DownloadError { failure, partial_bytes: part.keep_for_resume() });
    }
    if let Some(total) = total.filter(|total| *total != part.length()) {
        let message = format!("{} of {total} bytes arrived", part.length());
        return Err(DownloadError {
            failure: Failure::new(FailureKind::Transient, message),
            partial_bytes: part.keep_for_resume(),
        });
    }
    let (download, target, ffmpeg, store) =
        (download.clone(), target.to_owned(), ffmpeg.clone(), store.clone());
    let stored = run_blocking(move || store_video(part, &download, &target, &store, &ffmpeg).inspect(then));
    let stored =
        stored.await.unwrap_or_else(|error| Err(Failure::new(FailureKind::Corrupt, error.to_string())));
    Ok(stored?)
}

fn store_video(
    mut part: PartialDownload,
    download: &Download,
    target: &Path,
    store: &ArtifactStore,
    ffmpeg: &Ffmpeg,
) -> Result<Artifact, Failure> {
    let sha256 = match part.finish() {
        Ok(sha256) => sha256,
        Err(error) => {
            part.discard();
            return Err(storage::failure("the video cannot be written", &error));
        }
    };
    let (duration, width, height) = match ffmpeg.verify(part.path()) {
        Ok(probed) => {
            let Some(video) = probed.video else {
                return Err(no_video(part, "what was downloaded holds no frames"));
            };
            (probed.duration, video.width, video.height)
        }
        Err(error) => {
            return Err(no_video(part, &format!("what was downloaded is not a whole video: {error}")));
        }
    };
    let bytes = part.length();
    let (path, modified_at) = store
        .commit(part, &sha256, target)
        .map_err(|error| storage::failure("the video cannot be given its name", &error))?;
    Ok(Artifact {
        path,
        sha256,
        first_sha256: None,
        bytes,
        duration,
        width,
        height,
        last_frame_url: download.last_frame_url.clone(),
        expires_at: download.expires_at,
        modified_at,
    })
}

/// The failure of a download that is no video, for this reason. Where it does not even begin as one, it says nothing about the task: a page
/// for signing in, a gateway's message, an image, compressed data, nothing at all.
fn no_video(part: PartialDownload, reason: &str) -> Failure {
    match media::content_in_place_of_video(part.path()) {
        Err(error) => storage::failure("the video cannot be read", &error),
        Ok(Some(content)) => {
            part.discard();
            Failure::new(
                FailureKind::Transient,
                format!("what was downloaded is {content} instead of a video"),
            )
        }
        Ok(None) => {
            let path = part.quarantine().map(|path| format!("; it is kept as {}", path.display()));
            Failure::new(FailureKind::Corrupt, format!("{reason}{}", path.unwrap_or_default()))
        }
    }
}

/// Value of the count of received bytes before the first one.
const NOT_STARTED: u64 = u64::MAX;

/// Resolves when the time for the download is up.
async fn time_up(download: &Download, clock: &Clock) -> Failure {
    match download.deadline {
        Some(deadline) => clock.sleep_until(deadline).await,
        None => std::future::pending().await,
    }
    Failure::new(FailureKind::Transient, "it was not downloaded within the shot's timeout")
}

/// Resolves when fewer bytes have arrived in a window than the minimum rate asks for. The client bounds the time to the first byte.
async fn too_slow(received: &AtomicU64, min_rate: MinRate) -> Failure {
    let mut before = NOT_STARTED;
    loop {
        tokio::time::sleep(min_rate.window).await;
        let now = received.load(Ordering::Relaxed);
        if before != NOT_STARTED && now.saturating_sub(before) < min_rate.bytes {
            let rate = min_rate.bytes as f64 / min_rate.window.as_secs_f64() / 1024.0;
            let message = format!("it arrives too slowly, at less than {rate:.1} KiB per second");
            return Failure::new(FailureKind::Transient, message);
        }
        before = now;
    }
}

/// Identifies a URL without its query, which may hold a signature that differs each time.
fn address_digest(url: &str) -> String {
    sha256(url.split(['?', '#']).next().unwrap_or_default().as_bytes())
}

struct PartSink {
    part: PartialDownload,
    source: String,
    total: Option<u64>,
    /// An error of the local disk, as opposed to the network.
    io_error: Option<io::Error>,
    has_started: bool,
    /// Whether the rest that the service sent belongs to another file than the part.
    is_other_file: bool,
    /// See [`Bounds::max_bytes`].
    max_bytes: u64,
    is_too_large: bool,
    /// Bytes received in this try, or [`NOT_STARTED`].
    received: Arc<AtomicU64>,
}

impl PartSink {
    fn record_error<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.io_error = Some(error);
            copy
        })
    }

    /// Refuses a video of so many bytes, if that is too many.
    fn check_size(&mut self, bytes: u64) -> io::Result<()> {
        self.is_too_large = bytes > self.max_bytes;
        if self.is_too_large { Err(io::Error::other("the video is too large")) } else { Ok(()) }
    }
}

impl DownloadSink for PartSink {
    fn start(&mut self, start: DownloadStart) -> io::Result<()> {
        self.has_started = true;
        self.received.store(0, Ordering::Relaxed);
        self.total = start.total;
        self.check_size(start.total.unwrap_or_default())?;
        if start.offset == 0 {
            let origin = start.validator.map(|validator| DownloadOrigin {
                source: self.source.clone(),
                validator,
                total: start.total,
            });
            let restarted = self.part.restart(origin);
            return self.record_error(restarted);
        }
        let is_rest = start.offset == self.part.length()
            && self.part.origin().is_some_and(|origin| {
                start.validator.as_ref() == Some(&origin.validator)
                    && (origin.total.is_none() || start.total == origin.total)
            });
        if is_rest {
            return Ok(());
        }
        self.is_other_file = true;
        Err(io::Error::other("what the service sent is not the rest of the file"))
    }
}

impl Write for PartSink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.check_size(self.part.length().saturating_add(piece.len() as u64))?;
        let written = self.part.push(piece);
        self.record_error(written)?;
        self.received.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A size in words; a part of a GiB is in bytes.
fn in_words(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 30) { format!("{} GiB", bytes >> 30) } else { format!("{bytes} bytes") }
}
