//! The external programs ffmpeg and ffprobe, for codecs that are not handled natively. Located by the caller.
//!
//! They run on untrusted files, hence: no standard input, no environment, local files only, a whitelist of containers, a time limit.
//! Results arrive through a pipe as raw frames or samples, so ffmpeg needs no encoders and leaves no files, except where a film is encoded in
//! another format ([`Delivery`]); an exit code of 0 without output is an error.

mod decode_whole;
mod encode;
mod fit;
mod message;
mod probe;
mod process;
mod tone_mapping;

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusty_h264::YuvFrame;

pub use self::encode::{Delivery, DeliveryFormat};
use self::process::input;
use crate::audio_buffer::AudioBuffer;
use crate::{Cancellation, Fit, FrameRate, MAX_SIDE, MediaError, Probe, RgbImage};

/// Makes pixels square without a loss, as [`crate::presentation::Presentation`] does.
const SQUARE_PIXELS: &str =
    "scale=w='if(gt(sar,1),round(iw*sar),iw)':h='if(lt(sar,1),round(ih/sar),ih)',setsar=1";
/// Bound on the audio read from one file, in bytes of `f32` samples.
const MAX_AUDIO_BYTES: u64 = 1 << 30;

/// The programs to use. Without them only natively supported formats work.
#[derive(Clone, Debug)]
pub struct Ffmpeg {
    pub ffmpeg: Option<PathBuf>,
    /// The ffprobe program, part of ffmpeg.
    pub ffprobe: Option<PathBuf>,
    /// A process that runs longer is killed.
    pub time_limit: Duration,
    /// Ends what uses these programs, and the encodings that may use them, early.
    pub cancellation: Cancellation,
}

impl Default for Ffmpeg {
    fn default() -> Self {
        Self {
            ffmpeg: None,
            ffprobe: None,
            time_limit: Duration::from_mins(5),
            cancellation: Cancellation::default(),
        }
    }
}

impl Ffmpeg {
    /// This ffmpeg, and the ffprobe beside it. For tests, which replace both; the program gets each by a path of its own.
    pub fn with_ffmpeg(ffmpeg: PathBuf) -> Self {
        let name = if ffmpeg.extension().is_some_and(|e| e.eq_ignore_ascii_case("exe")) {
            "ffprobe.exe"
        } else {
            "ffprobe"
        };
        let ffprobe = Some(ffmpeg.with_file_name(name));
        Self { ffmpeg: Some(ffmpeg), ffprobe, ..Self::default() }
    }

    /// As [`crate::probe`], and ffprobe for files that are not read natively: other containers, and MP4 files whose index is refused
    /// although ffmpeg decodes all of it without a complaint.
    ///
    /// # Errors
    /// As [`crate::probe`], [`MediaError::NeedsFfmpeg`] for another container without ffprobe, and [`MediaError::Tool`].
    pub fn probe(&self, path: &Path) -> Result<Probe, MediaError> {
        match crate::probe(path) {
            Err(error) if self.ffprobe.is_some() && self.can_take(path, &error) => {
                // Of a file that is no media, the native error says more.
                self.ffprobe(path)
                    .map_err(|other_error| if is_other_kind(&error) { error } else { other_error.at(path) })
            }
            outcome => outcome,
        }
    }

    /// As [`crate::first_frame`], and ffmpeg for files that are not decoded natively.
    ///
    /// # Errors
    /// As [`crate::first_frame`], and [`MediaError::Tool`].
    pub fn first_frame(&self, path: &Path) -> Result<RgbImage, MediaError> {
        match crate::first_frame(path) {
            Err(error) if self.can_take(path, &error) => {
                self.still(path, &[], &["-frames:v", "1"]).map_err(|error| error.at(path))
            }
            outcome => outcome,
        }
    }

    /// As [`crate::middle_frame`], and ffmpeg for files that are not decoded natively.
    ///
    /// # Errors
    /// As [`crate::middle_frame`], and [`MediaError::Tool`].
    pub fn middle_frame(&self, path: &Path) -> Result<RgbImage, MediaError> {
        match crate::middle_frame(path) {
            Err(error) if self.can_take(path, &error) => {
                let middle = self.probe(path)?.duration.as_secs_f64() / 2.0;
                self.still(path, &["-ss", &middle.to_string()], &["-frames:v", "1"])
                    .map_err(|error| error.at(path))
            }
            outcome => outcome,
        }
    }

    /// As [`crate::last_frame`], and ffmpeg for files that are not decoded natively.
    ///
    /// # Errors
    /// As [`crate::last_frame`], and [`MediaError::Tool`].
    pub fn last_frame(&self, path: &Path) -> Result<RgbImage, MediaError> {
        match crate::last_frame(path) {
            Err(error) if self.can_take(path, &error) => self
                // Seeking to just before the end may land after the last frame; three seconds do not. Where even that
                // finds nothing, everything is decoded.
                .still(path, &["-sseof", "-3"], &[])
                .or_else(|_| self.still(path, &[], &[]))
                .map_err(|error| error.at(path)),
            outcome => outcome,
        }
    }

    /// Whether ffmpeg takes over a file that was refused natively with this error: if it is of another kind, or if it decodes without a
    /// complaint although it looks damaged here. ffmpeg conceals damage, so that a frame of such a file proves nothing.
    pub(crate) fn can_take(&self, path: &Path, error: &MediaError) -> bool {
        self.ffmpeg.is_some()
            && match error.root() {
                MediaError::NeedsFfmpeg { .. } | MediaError::NotMedia(_) => true,
                MediaError::Damaged(_) => self.decode_whole(path).is_ok(),
                _ => false,
            }
    }

    /// The last frame that ffmpeg delivers with these options, as it is.
    fn still(&self, path: &Path, before: &[&str], after: &[&str]) -> Result<RgbImage, MediaError> {
        let filter = format!("{}{SQUARE_PIXELS}", self.tone_mapping(path)?);
        let mut arguments = input(before, path);
        arguments.extend(["-map", "0:v:0", "-an", "-sn", "-dn", "-vf", &filter].map(OsString::from));
        arguments.extend(after.iter().map(OsString::from));
        arguments
            .extend(["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"].map(OsString::from));
        let mut last = None;
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            while let Some(frame) = read_ppm(pipe)? {
                last = Some(frame);
            }
            Ok(())
        })?;
        last.ok_or_else(|| tool("ffmpeg", "found no frame in the file"))
    }

    /// Every frame at this rate and in this size, in this crate's color.
    pub(crate) fn frames(
        &self,
        path: &Path,
        ((width, height), fit): ((u32, u32), Fit),
        rate: FrameRate,
        show: &mut dyn FnMut(YuvFrame) -> Result<(), MediaError>,
    ) -> Result<u64, MediaError> {
        let (up, down) = (rate.numerator(), rate.denominator());
        let tone_mapping = self.tone_mapping(path)?;
        // What begins late would be filled up with the first frame.
        let fitted = fit::filters(fit, (width, height));
        let filter = format!("setpts=PTS-STARTPTS,fps={up}/{down},{tone_mapping}{fitted}");
        let mut arguments = input(&[], path);
        arguments.extend(["-map", "0:v:0", "-an", "-sn", "-dn", "-vf", &filter].map(OsString::from));
        arguments.extend(["-f", "rawvideo", "-pix_fmt", "yuv420p", "pipe:1"].map(OsString::from));
        let mut count = 0;
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            let mut frame = YuvFrame::black(width as usize, height as usize);
            while read_whole(pipe, &mut frame.y)?
                && read_whole(pipe, &mut frame.u)?
                && read_whole(pipe, &mut frame.v)?
            {
                count += 1;
                show(frame.clone())?;
            }
            Ok(())
        })?;
        if count == 0 {
            return Err(tool("ffmpeg", "found no frame in the file"));
        }
        Ok(count)
    }

    /// The first audio track, at this rate and number of channels.
    pub(crate) fn sound(
        &self,
        path: &Path,
        sample_rate: u32,
        channels: u16,
    ) -> Result<AudioBuffer, MediaError> {
        self.audio_until(path, sample_rate, channels, None)
    }

    /// The same, and no more than the beginning of it.
    pub(crate) fn audio_until(
        &self,
        path: &Path,
        sample_rate: u32,
        channels: u16,
        end: Option<Duration>,
    ) -> Result<AudioBuffer, MediaError> {
        let mut arguments = input(&[], path);
        if let Some(end) = end {
            arguments.extend(["-t".into(), end.as_secs_f64().to_string().into()]);
        }
        arguments.extend(["-map", "0:a:0", "-vn", "-sn", "-dn"].map(OsString::from));
        // Audio that begins late is padded with silence.
        arguments.extend(["-af", "aresample=async=1:first_pts=0"].map(OsString::from));
        let (rate, count) = (sample_rate.to_string(), channels.to_string());
        arguments.extend(["-ar", &rate, "-ac", &count, "-f", "f32le", "pipe:1"].map(OsString::from));
        let mut bytes = Vec::new();
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            pipe.take(MAX_AUDIO_BYTES)
                .read_to_end(&mut bytes)
                .map_err(MediaError::io("cannot read what ffmpeg writes"))?;
            Ok(())
        })?;
        let samples: Vec<f32> =
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if samples.is_empty() {
            return Err(tool("ffmpeg", "found no sound in the file"));
        }
        Ok(AudioBuffer { sample_rate, channels, samples })
    }
}

fn is_other_kind(error: &MediaError) -> bool {
    matches!(error.root(), MediaError::NotMedia(_))
}

fn tool(tool: &'static str, reason: impl Into<String>) -> MediaError {
    MediaError::Tool { tool, reason: reason.into() }
}

/// Fills `bytes`; `false` at the end of the pipe.
fn read_whole(pipe: &mut dyn Read, bytes: &mut [u8]) -> Result<bool, MediaError> {
    match pipe.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(MediaError::io("cannot read what ffmpeg writes")(error)),
    }
}

/// One frame of a stream of them: `P6`, width, height, 255, each followed by one space, then the bytes.
fn read_ppm(pipe: &mut dyn Read) -> Result<Option<RgbImage>, MediaError> {
    let mut words: Vec<String> = vec![String::new()];
    while words.len() <= 4 {
        let mut byte = [0];
        if !read_whole(pipe, &mut byte)? {
            return Ok(None);
        }
        if byte[0].is_ascii_whitespace() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut().filter(|word| word.len() < 8) {
            word.push(char::from(byte[0]));
        }
    }
    let side = |index: usize| words[index].parse::<u32>().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let (Some(width), Some(height), "P6", "255") = (side(1), side(2), words[0].as_str(), words[3].as_str())
    else {
        return Err(tool("ffmpeg", "wrote a frame of unknown form"));
    };
    let mut image = RgbImage::new(width, height);
    Ok(read_whole(pipe, image.pixels_mut())?.then_some(image))
}
