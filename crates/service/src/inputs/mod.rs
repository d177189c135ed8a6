//! Assets of a request: from a URL, a data URI or Base64 to a checked file in the data directory, before the task
//! is accepted.

mod address;
mod check;
mod data_uri;
mod fetch;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use media::{AudioDecodeSpec, Ffmpeg};
use renderer::AUDIO_SAMPLE_RATE;
use tokio::{sync::Semaphore, time::Instant};
use url::Url;

use self::{data_uri::Encoded, fetch::Fetcher};
use crate::{
    blocking::blocking,
    error::ServiceError,
    limits::MediaLimits,
    order::{Input, Part},
    refusal::Refusal,
    store::Store,
    wish::MediaWish,
};

/// Assets decoded at once: each may take a few hundred megabytes.
const EXAMINED_AT_ONCE: usize = 4;

/// What reference sound is decoded to: what the procedural renderer mixes, and no more of it than makes sense.
pub(crate) const REFERENCE_SOUND: AudioDecodeSpec =
    AudioDecodeSpec { sample_rate: AUDIO_SAMPLE_RATE, channels: 2, max_duration: Duration::from_mins(5) };

/// Brings assets in.
#[derive(Debug)]
pub(crate) struct Intake {
    store: Arc<Store>,
    fetcher: Fetcher,
    limits: MediaLimits,
    ffmpeg: Ffmpeg,
    own: OwnUrls,
    examining: Semaphore,
}

impl Intake {
    pub(crate) fn new(
        store: Arc<Store>,
        limits: MediaLimits,
        ffmpeg: Ffmpeg,
        allow_private: bool,
        base: Url,
    ) -> Result<Self, ServiceError> {
        let fetcher = Fetcher::new(allow_private)?;
        let examining = Semaphore::new(EXAMINED_AT_ONCE);
        Ok(Self { store, fetcher, limits, ffmpeg, own: OwnUrls { base }, examining })
    }

    /// Brings all assets of a request in, or says which one is at fault.
    pub(crate) async fn take(&self, wishes: Vec<MediaWish>, now: i64) -> Result<Vec<Input>, Refusal> {
        if let Some(first_too_many) = wishes.get(self.limits.assets) {
            let message =
                format!("{} assets in one request; {} are taken at most", wishes.len(), self.limits.assets);
            return Err(Refusal::invalid("too_many_assets", message).about(first_too_many.param.clone()));
        }
        // One span of time for all of them: many slow hosts must not add up to a caller that waits for ever.
        let deadline = Instant::now() + self.limits.fetch_time;
        let mut inputs = Vec::with_capacity(wishes.len());
        for MediaWish { param, part, source } in wishes {
            let input = self.take_one(part, source, now, deadline).await;
            inputs.push(input.map_err(|refusal| refusal.about(param))?);
        }
        Ok(inputs)
    }

    async fn take_one(
        &self,
        part: Part,
        source: String,
        now: i64,
        deadline: Instant,
    ) -> Result<Input, Refusal> {
        let limit = match part {
            Part::FirstFrame | Part::LastFrame | Part::ReferenceImage => self.limits.image_bytes,
            Part::ReferenceVideo | Part::ReferenceAudio => self.limits.clip_bytes,
        };
        let brought = match Source::parse(source)? {
            Source::Inline(encoded) => Brought::Encoded(encoded),
            Source::Remote(url) => Brought::Bytes(match self.own_file(&url, now).await? {
                Some(bytes) => bytes,
                None => self.fetcher.fetch(url, limit, deadline).await?,
            }),
        };
        let permit = self.examining.acquire().await;
        let (limits, ffmpeg, store) = (self.limits.clone(), self.ffmpeg.clone(), Arc::clone(&self.store));
        let input = blocking("an asset could not be examined", move || {
            let bytes = match brought {
                Brought::Bytes(bytes) => bytes,
                Brought::Encoded(encoded) => encoded.decode(limit)?,
            };
            let picture = check::check(part, &bytes, &limits, &ffmpeg)?;
            let digest = store
                .files
                .keep_input(&bytes)
                .map_err(|error| Refusal::internal("an asset could not be stored", &error))?;
            Ok(Input { part, digest, picture })
        });
        let input = input.await;
        drop(permit);
        input
    }

    /// The bytes of a file of this service's own, when the URL is of one: no request to ourselves is needed.
    async fn own_file(&self, url: &Url, now: i64) -> Result<Option<Bytes>, Refusal> {
        let Some(token) = self.own.token(url) else { return Ok(None) };
        let (token, store) = (token.to_owned(), Arc::clone(&self.store));
        blocking("an own file could not be read", move || {
            let task = store
                .task_of_file(&token)
                .map_err(|error| Refusal::internal("the task store cannot be read", &error))?;
            let Some(task) = task else { return Ok(None) };
            let is_video = task.video.as_ref().is_some_and(|video| video.token == token);
            let path = if is_video { store.files.video(&task.id) } else { store.files.last_frame(&task.id) };
            if task.expired(now) {
                let message = format!("that file belongs to {} and has expired", task.id);
                return Err(Refusal::invalid("expired_media", message));
            }
            let bytes = fs_err::read(path)
                .map_err(|error| Refusal::internal("an own file cannot be read", &error))?;
            Ok(Some(Bytes::from(bytes)))
        })
        .await
    }
}

/// How an asset is given.
enum Source {
    Inline(Encoded),
    Remote(Url),
}

/// An asset that is here, decoded or not.
enum Brought {
    Encoded(Encoded),
    Bytes(Bytes),
}

impl Source {
    fn parse(text: String) -> Result<Self, Refusal> {
        let scheme = text.trim_start().split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("data") => Ok(Self::Inline(Encoded::data_uri(text)?)),
            Some("http" | "https") => {
                let url = Url::parse(&text).map_err(|error| {
                    Refusal::invalid("invalid_url", format!("the URL cannot be read: {error}"))
                })?;
                if !url.username().is_empty() || url.password().is_some() {
                    let message =
                        "the URL holds a user name or a password; media must be reachable without a login";
                    return Err(Refusal::invalid("invalid_url", message));
                }
                Ok(Self::Remote(url))
            }
            Some(_) => Err(Refusal::invalid(
                "invalid_url",
                "media are given as an http or https URL, as a data URI, or as Base64",
            )),
            None => Ok(Self::Inline(Encoded::bare(text))),
        }
    }
}

/// Recognises the URLs that this service gives out.
#[derive(Debug)]
struct OwnUrls {
    base: Url,
}

impl OwnUrls {
    /// The token in a URL of ours. An embedded service has another port after each start, so any loopback address
    /// will do: the token cannot be guessed, and one that is not ours is not found.
    fn token<'a>(&self, url: &'a Url) -> Option<&'a str> {
        if url.origin() != self.base.origin() && !address::is_loopback_host(url) {
            return None;
        }
        let name = url.path().rsplit_once("/files/")?.1;
        let (token, kind) = name.split_once('.')?;
        (matches!(kind, "mp4" | "png") && !token.is_empty()).then_some(token)
    }
}

/// How long it may take to connect to a host of media.
const CONNECT_TIME: Duration = Duration::from_secs(5);
