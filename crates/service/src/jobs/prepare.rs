//! Builds the renderer's [`Job`] from a render spec: reads and decodes the media inputs.

use std::sync::{Mutex, PoisonError};

use media::{AudioBuffer, Ffmpeg, RgbImage, decode_audio, decode_image};
use renderer::Job;

use crate::{
    inputs::REFERENCE_AUDIO,
    render_spec::{MediaInput, MediaRole, RenderSpec},
    store::FileStore,
    task::Failure,
};

/// Frames per second of every video (the spec names none).
pub(crate) const FRAME_RATE: u32 = 24;

pub(super) fn prepare(spec: &RenderSpec, files: &FileStore, ffmpeg: &Ffmpeg) -> Result<Job, Failure> {
    let images = |role: MediaRole| -> Result<Vec<RgbImage>, Failure> {
        spec.inputs.iter().filter(|input| input.role == role).map(|input| image(input, files)).collect()
    };
    let mut references = images(MediaRole::ReferenceImage)?;
    let mut reference_videos = Vec::new();
    for input in spec.inputs.iter().filter(|input| input.role == MediaRole::ReferenceVideo) {
        references.extend(frames(input, files)?);
        reference_videos.push(files.input(&input.digest));
    }
    let buffers = spec.inputs.iter().filter(|input| input.role == MediaRole::ReferenceAudio);
    let buffers: Vec<AudioBuffer> =
        buffers.map(|input| audio(input, files, ffmpeg)).collect::<Result<_, _>>()?;
    Ok(Job {
        prompt: spec.prompt.clone(),
        model: spec.model.clone(),
        width: spec.size.width,
        height: spec.size.height,
        frame_rate: FRAME_RATE,
        seconds: spec.seconds,
        // The same 64 bits, unsigned.
        seed: spec.seed as u64,
        first_frame: images(MediaRole::FirstFrame)?.pop(),
        last_frame: images(MediaRole::LastFrame)?.pop(),
        references,
        reference_videos,
        reference_audio: concatenate(buffers),
        generate_audio: spec.generate_audio,
        camera_fixed: spec.camera_fixed,
        watermark: spec.watermark,
        fast: spec.fast,
    })
}

/// Images are kept with at most this many pixels a side: no video is larger, and a request may have nine references of 36 megapixels.
const MAX_IMAGE_SIDE: u32 = 2_048;

fn image(input: &MediaInput, files: &FileStore) -> Result<RgbImage, Failure> {
    /// One image at a time is decoded, over all workers.
    static DECODING: Mutex<()> = Mutex::new(());
    let bytes = fs_err::read(files.input(&input.digest)).map_err(|error| unavailable(input, &error))?;
    let _turn = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let image = decode_image(&bytes).map_err(|error| unavailable(input, &error))?;
    Ok(image.within(MAX_IMAGE_SIDE))
}

fn audio(input: &MediaInput, files: &FileStore, ffmpeg: &Ffmpeg) -> Result<AudioBuffer, Failure> {
    let bytes = fs_err::read(files.input(&input.digest)).map_err(|error| unavailable(input, &error))?;
    decode_audio(&bytes, ffmpeg, REFERENCE_AUDIO).map_err(|error| unavailable(input, &error))
}

/// Concatenates audio inputs in the order of the request.
fn concatenate(buffers: Vec<AudioBuffer>) -> Option<AudioBuffer> {
    buffers.into_iter().reduce(|mut joined, next| {
        joined.samples.extend(next.samples);
        joined
    })
}

/// The first and the last frame of a reference video.
fn frames(input: &MediaInput, files: &FileStore) -> Result<[RgbImage; 2], Failure> {
    let path = files.input(&input.digest);
    let first = media::first_frame(&path).map_err(|error| unavailable(input, &error))?;
    let last = media::last_frame(&path).map_err(|error| unavailable(input, &error))?;
    Ok([first, last])
}

fn unavailable(input: &MediaInput, error: &dyn std::fmt::Display) -> Failure {
    tracing::error!(input = %input.digest, %error, "an accepted media input cannot be read");
    Failure::new(
        "input_unavailable",
        "a media input of this task can no longer be read; submit the task again",
    )
}
