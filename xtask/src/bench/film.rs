//! Joining of long films: time and memory, with a dissolve in every tenth cut, music, ducking and a loudness.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use media::{
    ClipSpec, ClipWriter, FrameRate, JoinClip, JoinOptions, JoinTransition, Music, RgbImage, Soundtrack,
    TransitionKind,
};

/// Distinct clips; the film repeats them.
const CLIPS: u32 = 6;
const CLIP_SECONDS: u32 = 10;
const SIZE: (u32, u32) = (854, 480);
const SAMPLE_RATE: u32 = 48_000;
/// Films that are joined, in minutes.
const MINUTES: [u32; 3] = [2, 20, 120];
/// Peak memory of the longest film, in megabytes.
const MAX_MEGABYTES: f64 = 300.0;

/// Joins the films one after the other. The peak of memory is that of the process, so that of the longest film includes the others.
pub(crate) fn measure() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let clips: Vec<PathBuf> =
        (0..CLIPS).map(|number| clip(folder.path(), number)).collect::<Result<_, _>>()?;
    let score = score(folder.path())?;
    let mut report = String::from(
        "| film | joined in | seconds per minute of film | copied, encoded | loudness | peak memory |\n|---|---|---|---|---|---|\n",
    );
    for minutes in MINUTES {
        let begin = Instant::now();
        let joined = join(&clips, &score, minutes, &folder.path().join("film.mp4"))?;
        let took = begin.elapsed().as_secs_f64();
        eprintln!("{minutes} min in {took:.1} s");
        let peak = super::peak_megabytes(std::process::id()).ok_or("this system has no /proc")?;
        let loudness = joined.loudness.ok_or("the film is silent")?;
        let _ = writeln!(
            report,
            "| {minutes} min | {took:.1} s | {:.2} | {}, {} | {:.1} LUFS, {:.1} dBTP | {peak:.0} MB |",
            took / f64::from(minutes),
            joined.copied_frames,
            joined.encoded_frames,
            loudness.integrated,
            loudness.true_peak,
        );
        if peak > MAX_MEGABYTES {
            return Err(format!("{report}\n{minutes} minutes took {peak:.0} MB, more than {MAX_MEGABYTES}"));
        }
    }
    Ok(report)
}

fn join(clips: &[PathBuf], score: &Path, minutes: u32, output: &Path) -> Result<media::JoinReport, String> {
    let dissolve = JoinTransition { kind: TransitionKind::Dissolve, before: 6, after: 6 };
    let count = (minutes * 60 / CLIP_SECONDS) as usize;
    let film: Vec<JoinClip> = (0..count)
        .map(|index| {
            // A dissolve plays frames beyond the cut.
            let (leads, follows) = (index % 10 == 9 && index + 1 < count, index % 10 == 0 && index > 0);
            let first = if follows { 6 } else { 0 };
            let end = u64::from(CLIP_SECONDS) * 24 - if leads { 6 } else { 0 };
            let transition = leads.then_some(dissolve);
            let clip = JoinClip::whole(clips[index % clips.len()].clone());
            JoinClip { first, frames: Some(end - first), transition, ..clip }
        })
        .collect();
    let music = Music {
        path: score.to_owned(),
        gain: 0.3,
        start: Duration::ZERO,
        is_repeated: true,
        fade_in: Duration::from_secs(1),
        fade_out: Duration::from_secs(2),
        duck: 0.4,
        speech: (0..minutes).map(|minute| seconds(minute * 60 + 10)..seconds(minute * 60 + 15)).collect(),
    };
    let soundtrack = Soundtrack { music: Some(music), voices: Vec::new(), loudness: Some(-16.0) };
    let options = JoinOptions { soundtrack, ..JoinOptions::default() };
    media::join(&film, output, &options).map_err(|error| error.to_string())
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}

/// A gradient that moves, with noise that is louder in the middle.
fn clip(folder: &Path, number: u32) -> Result<PathBuf, String> {
    let spec = ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA).with_audio(SAMPLE_RATE, 2);
    let mut writer = ClipWriter::new(spec).map_err(|error| error.to_string())?;
    for frame in 0..CLIP_SECONDS * 24 {
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            let (x, y) = (index as u32 % SIZE.0, index as u32 / SIZE.0);
            pixel.copy_from_slice(&[(x + frame) as u8, (y + number * 40) as u8, (x + y) as u8 / 2]);
        }
        writer.push_frame(&image).map_err(|error| error.to_string())?;
    }
    let frames = CLIP_SECONDS * SAMPLE_RATE;
    let mut state = number + 1;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    let sound: Vec<f32> = (0..frames)
        .flat_map(|n| {
            let level = (std::f32::consts::PI * n as f32 / frames as f32).sin() * 0.4;
            [noise() * level, noise() * level]
        })
        .collect();
    writer.push_audio(&sound).map_err(|error| error.to_string())?;
    let path = folder.join(format!("{number}.mp4"));
    let bytes = writer.finish().map_err(|error| error.to_string())?;
    fs_err::write(&path, bytes).map_err(|error| error.to_string())?;
    Ok(path)
}

/// A minute of chords in stereo, as WAV.
fn score(folder: &Path) -> Result<PathBuf, String> {
    let frames = 60 * SAMPLE_RATE;
    let mut file = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0".to_vec();
    file.extend(SAMPLE_RATE.to_le_bytes());
    file.extend((SAMPLE_RATE * 4).to_le_bytes());
    file.extend(b"\x04\0\x10\0data");
    file.extend((frames * 4).to_le_bytes());
    for n in 0..frames {
        let angle = n as f32 / SAMPLE_RATE as f32 * std::f32::consts::TAU;
        for hertz in [220.0_f32, 277.0] {
            let sample = ((angle * hertz).sin() + (angle * hertz * 1.5).sin()) * 8_000.0;
            file.extend((sample as i16).to_le_bytes());
        }
    }
    let path = folder.join("score.wav");
    fs_err::write(&path, file).map_err(|error| error.to_string())?;
    Ok(path)
}
