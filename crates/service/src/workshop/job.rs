//! From an order to what the renderer takes: assets read and decoded.

use media::{AudioBuffer, Ffmpeg, RgbImage, decode_audio, decode_image};
use renderer::{Job, Quality};

use crate::{
    inputs::REFERENCE_SOUND,
    order::{Input, Order, Part},
    store::Files,
    task::Failure,
};

/// Frames a second of every video (the document names none).
pub(crate) const FRAME_RATE: u32 = 24;

pub(super) fn job(order: &Order, files: &Files, ffmpeg: &Ffmpeg) -> Result<Job, Failure> {
    let pictures = |part: Part| -> Result<Vec<RgbImage>, Failure> {
        order.inputs.iter().filter(|input| input.part == part).map(|input| picture(input, files)).collect()
    };
    let mut references = pictures(Part::ReferenceImage)?;
    let mut reference_videos = Vec::new();
    for input in order.inputs.iter().filter(|input| input.part == Part::ReferenceVideo) {
        references.extend(frames(input, files)?);
        reference_videos.push(files.input(&input.digest));
    }
    let sounds = order.inputs.iter().filter(|input| input.part == Part::ReferenceAudio);
    let sounds: Vec<AudioBuffer> =
        sounds.map(|input| sound(input, files, ffmpeg)).collect::<Result<_, _>>()?;
    Ok(Job {
        prompt: order.prompt.clone(),
        width: order.size.width,
        height: order.size.height,
        frame_rate: FRAME_RATE,
        seconds: order.seconds,
        // The same 64 bits, read without a sign.
        seed: order.seed as u64,
        first_frame: pictures(Part::FirstFrame)?.pop(),
        last_frame: pictures(Part::LastFrame)?.pop(),
        references,
        reference_videos,
        reference_audio: one_after_another(sounds),
        generate_audio: order.generate_audio,
        camera_fixed: order.camera_fixed,
        watermark: order.watermark,
        quality: if order.fast { Quality::Fast } else { Quality::Standard },
    })
}

fn picture(input: &Input, files: &Files) -> Result<RgbImage, Failure> {
    let bytes = fs_err::read(files.input(&input.digest)).map_err(|error| lost(input, &error))?;
    decode_image(&bytes).map_err(|error| lost(input, &error))
}

fn sound(input: &Input, files: &Files, ffmpeg: &Ffmpeg) -> Result<AudioBuffer, Failure> {
    let bytes = fs_err::read(files.input(&input.digest)).map_err(|error| lost(input, &error))?;
    decode_audio(&bytes, ffmpeg, REFERENCE_SOUND).map_err(|error| lost(input, &error))
}

/// Several pieces of sound are one, in the order of the request.
fn one_after_another(sounds: Vec<AudioBuffer>) -> Option<AudioBuffer> {
    sounds.into_iter().reduce(|mut one, next| {
        one.samples.extend(next.samples);
        one
    })
}

/// A reference video lends its first and its last picture.
fn frames(input: &Input, files: &Files) -> Result<[RgbImage; 2], Failure> {
    let path = files.input(&input.digest);
    let first = media::first_frame(&path).map_err(|error| lost(input, &error))?;
    let last = media::last_frame(&path).map_err(|error| lost(input, &error))?;
    Ok([first, last])
}

fn lost(input: &Input, error: &dyn std::fmt::Display) -> Failure {
    tracing::error!(input = %input.digest, %error, "an accepted asset cannot be used");
    Failure::new("input_unavailable", "an asset of this task can no longer be read; submit it again")
}
