//! Media inputs of a request: from a URL, a data URI or Base64 to a validated file in the data directory, before the
//! task is accepted.

mod address;
mod data_uri;
mod fetch;
mod validate;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use media::{AudioDecodeSpec, Ffmpeg};
use renderer::AUDIO_SAMPLE_RATE;
use tokio::{sync::Semaphore, time::Instant};
use url::Url;

use self::{data_uri::EncodedMedia, fetch::Fetcher};
use crate::{
    api_error::ApiError,
    blocking::blocking,
    limits::MediaLimits,
    memory::{MemoryBudget, MemoryPermit},
    render_spec::{MediaInput, MediaRole},
    request::MediaRef,
    store::Store,
};

/// The format that reference audio is decoded to: that of the mix of the animatic, with a bounded length.
pub(crate) const REFERENCE_AUDIO: AudioDecodeSpec =
    AudioDecodeSpec { sample_rate: AUDIO_SAMPLE_RATE, channels: 2, max_duration: Duration::from_mins(5) };

/// Fetches, validates and stores media inputs.
#[derive(Debug)]
pub(crate) struct MediaFetcher {
    store: Arc<Store>,
    fetcher: Fetcher,
    limits: MediaLimits,
    ffmpeg: Ffmpeg,
    own: OwnUrls,
    /// Bounds how much is decoded at once: an image of some hundred kilobytes may have 256 MiB of pixels.
    decodes: Arc<Semaphore>,
    /// Memory for fetched media.
    memory: MemoryBudget,
}

impl MediaFetcher {
    pub(crate) fn new(
        store: Arc<Store>,
        limits: MediaLimits,
        decodes: usize,
        ffmpeg: Ffmpeg,
        allow_private: bool,
        base: Url,
    ) -> Self {
        let fetcher = Fetcher::new(allow_private, &base);
        let decodes = Arc::new(Semaphore::new(decodes));
        let memory = MemoryBudget::new(limits.total_bytes, limits.clip_bytes.max(limits.image_bytes));
        Self { store, fetcher, limits, ffmpeg, own: OwnUrls { base }, decodes, memory }
    }

    /// Validates and stores all media of a request; errors name the request field at fault. Inline media come first, and
    /// the `memory` of the request is given back before any URL is fetched.
    pub(crate) async fn fetch_all(
        &self,
        media: Vec<MediaRef>,
        memory: MemoryPermit,
        now: i64,
    ) -> Result<Vec<MediaInput>, ApiError> {
        if let Some(excess) = media.get(self.limits.assets) {
            let message = format!(
                "{} media items in one request; at most {} are accepted",
                media.len(),
                self.limits.assets
            );
            return Err(ApiError::invalid("too_many_assets", message).with_param(excess.param.clone()));
        }
        let mut inputs: Vec<Option<MediaInput>> = vec![None; media.len()];
        let mut remote = Vec::new();
        for (index, MediaRef { param, role, source }) in media.into_iter().enumerate() {
            let stored = match MediaSource::parse(source) {
                Ok(MediaSource::Remote(url)) => {
                    remote.push((index, param, role, url));
                    continue;
                }
                Ok(MediaSource::Inline(encoded)) => {
                    self.store(role, FetchedMedia::EncodedMedia(encoded)).await
                }
                Err(error) => Err(error),
            };
            inputs[index] = Some(stored.map_err(|error| error.with_param(param))?);
        }
        drop(memory);
        // One deadline for all of them, so that slow hosts do not add up.
        let deadline = Instant::now() + self.limits.fetch_timeout;
        for (index, param, role, url) in remote {
            let stored = match self.fetch(role, url, now, deadline).await {
                Ok((bytes, _memory)) => self.store(role, FetchedMedia::Bytes(bytes)).await,
                Err(error) => Err(error),
            };
            inputs[index] = Some(stored.map_err(|error| error.with_param(param))?);
        }
        Ok(inputs.into_iter().flatten().collect())
    }

    async fn fetch(
        &self,
        role: MediaRole,
        url: Url,
        now: i64,
        deadline: Instant,
    ) -> Result<(Bytes, MemoryPermit), ApiError> {
        match self.own_file(&url, self.limit(role), now).await? {
            Some(file) => Ok(file),
            None => self.fetcher.fetch(url, self.limit(role), deadline, &self.memory).await,
        }
    }

    /// Bytes of one item.
    fn limit(&self, role: MediaRole) -> usize {
        match role {
            MediaRole::FirstFrame | MediaRole::LastFrame | MediaRole::ReferenceImage => {
                self.limits.image_bytes
            }
            MediaRole::ReferenceVideo | MediaRole::ReferenceAudio => self.limits.clip_bytes,
        }
    }

    async fn store(&self, role: MediaRole, fetched: FetchedMedia) -> Result<MediaInput, ApiError> {
        let limit = self.limit(role);
        let (limits, ffmpeg, store) = (self.limits.clone(), self.ffmpeg.clone(), Arc::clone(&self.store));
        let turn = Arc::clone(&self.decodes).acquire_owned().await;
        blocking("a media input could not be validated", move || {
            // The turn ends with the work, also where the client does not wait for it.
            let _turn = turn;
            let bytes = match fetched {
                FetchedMedia::Bytes(bytes) => bytes,
                FetchedMedia::EncodedMedia(encoded) => encoded.decode(limit)?,
            };
            let size = validate::validate(role, &bytes, &limits, &ffmpeg)?;
            let digest = store
                .files
                .store_input(&bytes)
                .map_err(|error| ApiError::from_store("a media input could not be stored", &error.into()))?;
            Ok(MediaInput { role, digest, size })
        })
        .await
    }

    /// The bytes of a file of this service, if the URL refers to one; saves a request to itself.
    async fn own_file(
        &self,
        url: &Url,
        limit: usize,
        now: i64,
    ) -> Result<Option<(Bytes, MemoryPermit)>, ApiError> {
        let Some(token) = self.own.token(url) else { return Ok(None) };
        let (token, store) = (token.to_owned(), Arc::clone(&self.store));
        let lookup = blocking("a file of this service could not be found", move || {
            let task = store
                .task_of_file(&token)
                .map_err(|error| ApiError::internal("the task store cannot be read", &error))?;
            let Some(task) = task else { return Ok(None) };
            if task.files_expired(now) {
                let message = format!("the file belongs to {} and has expired", task.id);
                return Err(ApiError::invalid("expired_media", message));
            }
            let video = task.video.as_ref().filter(|video| video.token == token);
            Ok(match (video, &task.last_frame) {
                (Some(video), _) => Some((store.files.video(&task.id), video.bytes)),
                (None, Some(frame)) => Some((store.files.last_frame(&task.id), frame.bytes)),
                (None, None) => None,
            })
        });
        let Some((path, length)) = lookup.await? else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > limit {
            return Err(data_uri::too_large(limit));
        }
        let memory = self.memory.reserve(length).await?;
        let read = blocking("a file of this service could not be read", move || {
            fs_err::read(path)
                .map_err(|error| ApiError::internal("a file of this service cannot be read", &error))
        });
        Ok(Some((Bytes::from(read.await?), memory)))
    }
}

/// The form of a media reference.
enum MediaSource {
    Inline(EncodedMedia),
    Remote(Url),
}

/// Media bytes, fetched or still encoded as text.
enum FetchedMedia {
    EncodedMedia(EncodedMedia),
    Bytes(Bytes),
}

impl MediaSource {
    fn parse(text: String) -> Result<Self, ApiError> {
        let scheme = text.trim_start().split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("data") => Ok(Self::Inline(EncodedMedia::data_uri(text)?)),
            Some("http" | "https") => {
                let url = Url::parse(&text).map_err(|error| {
                    ApiError::invalid("invalid_url", format!("the URL cannot be read: {error}"))
                })?;
                if fetch::has_credentials(&url) {
                    let message =
                        "the URL holds a user name or a password; media must be reachable without a login";
                    return Err(ApiError::invalid("invalid_url", message));
                }
                Ok(Self::Remote(url))
            }
            Some(_) => Err(ApiError::invalid(
                "invalid_url",
                "media are given as an http or https URL, as a data URI, or as Base64",
            )),
            None => Ok(Self::Inline(EncodedMedia::bare(text))),
        }
    }
}

/// Recognizes the file URLs of this service.
#[derive(Debug)]
struct OwnUrls {
    base: Url,
}

impl OwnUrls {
    /// The token in a file URL of this service. An embedded service changes its port at each start, so any loopback
    /// address is accepted: tokens are unguessable, and unknown ones are not found.
    fn token<'a>(&self, url: &'a Url) -> Option<&'a str> {
        if url.origin() != self.base.origin() && !address::is_loopback_host(url) {
            return None;
        }
        let name = url.path().rsplit_once("/files/")?.1;
        let (token, kind) = name.split_once('.')?;
        (matches!(kind, "mp4" | "png") && !token.is_empty()).then_some(token)
    }
}

/// Timeout for connecting to a media host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
