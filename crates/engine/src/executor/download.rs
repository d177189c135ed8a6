//! A finished video onto the disk: from where an earlier try broke off, synced, verified, and only then under its own names.

use std::io::{self, Write};
use std::path::Path;

use media::Tools;
use scheduler::{Artifact, Download, Failure, FailureKind};

use crate::artifact::sha256;
use crate::blocking::blocking;
use crate::provider::{Provider, Resume, Sink, Start};
use crate::store::{Origin, Part, Store};

/// The largest video that is accepted.
const LARGEST: u64 = 8 << 30;

/// Why a video is not there yet, and how much of it is kept for the next try.
pub(super) struct Broken {
    pub(super) failure: Failure,
    pub(super) kept: u64,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, kept: 0 }
    }
}

/// Fetches, verifies and keeps one video.
pub(super) async fn fetch(
    provider: &dyn Provider,
    order: &Download,
    target: &Path,
    store: &Store,
    tools: &Tools,
) -> Result<Artifact, Broken> {
    let part = store
        .part(&order.attempt)
        .map_err(|error| local("what there is of the video cannot be read", &error))?;
    let url = order.url.as_deref().filter(|_| order.uses_url());
    let source = url.map_or_else(|| "content".to_owned(), address);
    let resume = part
        .from()
        .filter(|from| from.source == source)
        .map(|from| Resume { first: part.length(), validator: from.validator.clone() });
    let mut sink = Filling { part, source, total: None, trouble: None, begun: false };
    let fetched = provider.download(&order.task, url, resume.as_ref(), &mut sink).await;
    let Filling { part, total, trouble, begun, .. } = sink;
    if let Some(error) = trouble {
        part.discard();
        return Err(local("the video cannot be written", &error).into());
    }
    if let Err(failure) = fetched {
        // What the service will not go on from is of no use.
        if !begun && resume.is_some() && failure.kind == FailureKind::Invalid {
            part.discard();
            return Err(failure.into());
        }
        return Err(Broken { failure, kept: part.leave() });
    }
    if let Some(total) = total.filter(|total| *total != part.length()) {
        let said = format!("{} of {total} bytes came", part.length());
        return Err(Broken { failure: Failure::new(FailureKind::Transient, said), kept: part.leave() });
    }
    let (order, target, tools, store) = (order.clone(), target.to_owned(), tools.clone(), store.clone());
    let kept = blocking(move || keep(part, &order, &target, &store, &tools));
    let kept = kept.await.unwrap_or_else(|error| Err(Failure::new(FailureKind::Corrupt, error.to_string())));
    Ok(kept?)
}

fn keep(
    mut part: Part,
    order: &Download,
    target: &Path,
    store: &Store,
    tools: &Tools,
) -> Result<Artifact, Failure> {
    let corrupt = |said: &str, part: Part| {
        let kept = part.set_aside().map(|path| format!("; it is kept as {}", path.display()));
        Failure::new(FailureKind::Corrupt, format!("{said}{}", kept.unwrap_or_default()))
    };
    let sha256 = match part.settle() {
        Ok(sha256) => sha256,
        Err(error) => {
            part.discard();
            return Err(local("the video cannot be written", &error));
        }
    };
    let (seconds, width, height) = match tools.probe(part.path()) {
        Ok(probed) => {
            let Some(video) = probed.video else {
                return Err(corrupt("what was downloaded holds no pictures", part));
            };
            (probed.duration.as_secs_f64(), video.width, video.height)
        }
        Err(error) => {
            return Err(corrupt(&format!("what was downloaded is not a whole video: {error}"), part));
        }
    };
    let bytes = part.length();
    let changed_at = store
        .keep(part, &sha256, target)
        .map_err(|error| local("the video cannot be given its name", &error))?;
    Ok(Artifact {
        path: target.to_owned(),
        sha256,
        bytes,
        seconds,
        width,
        height,
        last_frame_url: order.last_frame_url.clone(),
        expires_at: order.expires_at,
        changed_at,
    })
}

/// What stands for an address: without its query, which may hold a signature and changes with each.
fn address(url: &str) -> String {
    sha256(url.split(['?', '#']).next().unwrap_or_default().as_bytes())
}

struct Filling {
    part: Part,
    source: String,
    total: Option<u64>,
    /// Trouble of this machine, told apart from trouble of the network.
    trouble: Option<io::Error>,
    begun: bool,
}

impl Filling {
    fn noting<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let told = io::Error::new(error.kind(), error.to_string());
            self.trouble = Some(error);
            told
        })
    }
}

impl Sink for Filling {
    fn begin(&mut self, start: Start) -> io::Result<()> {
        self.begun = true;
        self.total = start.total;
        if start.offset == 0 {
            let from = start.validator.map(|validator| Origin { source: self.source.clone(), validator });
            let restarted = self.part.restart(from);
            return self.noting(restarted);
        }
        if start.offset == self.part.length() {
            return Ok(());
        }
        Err(io::Error::other("the service goes on from another byte than it was asked to"))
    }
}

impl Write for Filling {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let written = if self.part.length().saturating_add(piece.len() as u64) > LARGEST {
            Err(io::Error::other("it is larger than any video should be"))
        } else {
            self.part.push(piece)
        };
        self.noting(written)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn local(what: &str, error: &io::Error) -> Failure {
    Failure::new(FailureKind::Local, format!("{what}: {error}"))
}
