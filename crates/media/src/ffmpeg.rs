//! The external programs ffmpeg and ffprobe, for codecs that are not handled natively. Located by the caller.
//!
//! They run on untrusted files, hence: no standard input, no environment, local files only, a whitelist of containers, a time limit.
//! Results arrive through a pipe as raw frames or samples, so ffmpeg needs no encoders and leaves no files; an exit code of 0 without
//! output is an error.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use rusty_h264::YuvFrame;

use crate::audio::AudioBuffer;
use crate::probe::{coding_name, nearest_rate};
use crate::tool_message::readable;
use crate::{AudioTrack, FrameRate, MAX_SIDE, MediaError, Probe, RgbImage, VideoTrack};

/// Containers that ffmpeg may open. Playlists and scripts, which would make it open other files, are excluded.
const FORMATS: &str = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,flv,ogg,asf,ivf,h264,hevc,obu,gif,mp3,aac,flac,wav";
/// Bound on the audio read from one file, in bytes of `f32` samples.
const MAX_AUDIO_BYTES: u64 = 1 << 30;

/// The programs to use. Without them only natively supported formats work.
#[derive(Clone, Debug)]
pub struct Ffmpeg {
    /// The ffmpeg program.
    pub ffmpeg: Option<PathBuf>,
    /// The ffprobe program, part of ffmpeg.
    pub ffprobe: Option<PathBuf>,
    /// A process that runs longer is killed.
    pub time_limit: Duration,
}

impl Default for Ffmpeg {
    fn default() -> Self {
        Self { ffmpeg: None, ffprobe: None, time_limit: Duration::from_mins(5) }
    }
}

impl Ffmpeg {
    /// This ffmpeg, and the ffprobe beside it.
    #[must_use]
    pub fn with_ffmpeg(ffmpeg: PathBuf) -> Self {
        let name = if ffmpeg.extension().is_some_and(|e| e.eq_ignore_ascii_case("exe")) {
            "ffprobe.exe"
        } else {
            "ffprobe"
        };
        let ffprobe = Some(ffmpeg.with_file_name(name));
        Self { ffmpeg: Some(ffmpeg), ffprobe, ..Self::default() }
    }

    /// As [`crate::probe`], and ffprobe for other containers.
    ///
    /// # Errors
    /// As [`crate::probe`], and [`MediaError::Tool`].
    pub fn probe(&self, path: &Path) -> Result<Probe, MediaError> {
        match (crate::probe(path), &self.ffprobe) {
            (Err(error), Some(ffprobe)) if is_unsupported(&error) => {
                self.ffprobe(ffprobe, path).map_err(|error| error.at(path))
            }
            (outcome, _) => outcome,
        }
    }

    /// As [`crate::first_frame`], and ffmpeg for other codings.
    ///
    /// # Errors
    /// As [`crate::first_frame`], and [`MediaError::Tool`].
    pub fn first_frame(&self, path: &Path) -> Result<RgbImage, MediaError> {
        match crate::first_frame(path) {
            Err(error) if is_unsupported(&error) && self.ffmpeg.is_some() => {
                self.still(path, &[], &["-frames:v", "1"]).map_err(|error| error.at(path))
            }
            outcome => outcome,
        }
    }

    /// As [`crate::last_frame`], and ffmpeg for other codings.
    ///
    /// # Errors
    /// As [`crate::last_frame`], and [`MediaError::Tool`].
    pub fn last_frame(&self, path: &Path) -> Result<RgbImage, MediaError> {
        match crate::last_frame(path) {
            Err(error) if is_unsupported(&error) && self.ffmpeg.is_some() => self
                // Seeking to just before the end may land behind the last picture; three seconds do not. Where even that
                // finds nothing, everything is decoded.
                .still(path, &["-sseof", "-3"], &[])
                .or_else(|_| self.still(path, &[], &[]))
                .map_err(|error| error.at(path)),
            outcome => outcome,
        }
    }

    /// The last picture that ffmpeg delivers with these options, as it is.
    fn still(&self, path: &Path, before: &[&str], after: &[&str]) -> Result<RgbImage, MediaError> {
        let mut arguments = input(before, path);
        arguments.extend(["-map", "0:v:0", "-an", "-sn", "-dn"].map(OsString::from));
        arguments.extend(after.iter().map(OsString::from));
        arguments
            .extend(["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"].map(OsString::from));
        let mut last = None;
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            while let Some(picture) = read_ppm(pipe)? {
                last = Some(picture);
            }
            Ok(())
        })?;
        last.ok_or_else(|| tool("ffmpeg", "found no picture in the file"))
    }

    /// Every picture at this rate, inside this size with black bars, in this crate's color.
    pub(crate) fn pictures(
        &self,
        path: &Path,
        (width, height): (u32, u32),
        rate: FrameRate,
        show: &mut dyn FnMut(YuvFrame) -> Result<(), MediaError>,
    ) -> Result<u64, MediaError> {
        let filter = format!(
            "fps={}/{},scale={width}:{height}:force_original_aspect_ratio=decrease:out_color_matrix=bt709:out_range=tv:flags=bicubic,\
             pad={width}:{height}:(ow-iw)/2:(oh-ih)/2,setsar=1,format=yuv420p",
            rate.numerator(),
            rate.denominator()
        );
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
            return Err(tool("ffmpeg", "found no picture in the file"));
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

    fn ffprobe(&self, ffprobe: &Path, path: &Path) -> Result<Probe, MediaError> {
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.extend(["-v", "error", "-show_streams", "-show_format", "-of", "flat"].map(OsString::from));
        arguments.extend(restrictions());
        arguments.push(file_url(path));
        let mut text = String::new();
        self.run("ffprobe", Some(ffprobe), &arguments, &mut |pipe| {
            let mut bytes = Vec::new();
            pipe.take(1 << 20)
                .read_to_end(&mut bytes)
                .map_err(MediaError::io("cannot read what ffprobe writes"))?;
            text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(())
        })?;
        read_probe(&text).ok_or_else(|| tool("ffprobe", "found neither pictures nor sound in the file"))
    }

    /// Runs a program and passes its output to `consume`. Killed at the time limit, and when `consume` fails.
    fn run(
        &self,
        name: &'static str,
        program: Option<&Path>,
        arguments: &[OsString],
        consume: &mut dyn FnMut(&mut dyn Read) -> Result<(), MediaError>,
    ) -> Result<(), MediaError> {
        let program = program.ok_or_else(|| tool(name, "is not at hand"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| tool(name, format!("cannot be started: {error}")).at(program))?;
        let (output, complaints) = (child.stdout.take(), child.stderr.take());
        let child = Mutex::new(child);
        let late = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (done, watch) = mpsc::channel::<()>();
            let (child, late) = (&child, &late);
            scope.spawn(move || {
                if watch.recv_timeout(self.time_limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                    late.store(true, Ordering::Relaxed);
                    end(child);
                }
            });
            let complaint = scope.spawn(move || complaints.map(last_line).unwrap_or_default());
            let consumed = output.map_or(Ok(()), |mut pipe| {
                let outcome = consume(&mut pipe);
                if outcome.is_err() {
                    end(child);
                }
                outcome
            });
            let status = wait(child);
            drop(done);
            let complaint = readable(&complaint.join().unwrap_or_default(), arguments);
            if late.load(Ordering::Relaxed) {
                return Err(tool(
                    name,
                    format!("took longer than {} seconds and was ended", self.time_limit.as_secs()),
                ));
            }
            consumed?;
            match status {
                Some(status) if status.success() => Ok(()),
                _ if complaint.is_empty() => Err(tool(name, "failed without a message")),
                _ => Err(tool(name, format!("failed: {complaint}"))),
            }
        })
    }
}

/// Whether a failure means that the file is of another kind, rather than broken.
pub(crate) fn is_unsupported(error: &MediaError) -> bool {
    matches!(error.root(), MediaError::NeedsFfmpeg { .. } | MediaError::NotMedia(_))
}

fn tool(tool: &'static str, reason: impl Into<String>) -> MediaError {
    MediaError::Tool { tool, reason: reason.into() }
}

fn restrictions() -> [OsString; 4] {
    ["-protocol_whitelist", "file,pipe", "-format_whitelist", FORMATS].map(OsString::from)
}

/// A name that can be taken neither for an option nor for another protocol.
fn file_url(path: &Path) -> OsString {
    let mut url = OsString::from("file:");
    url.push(path);
    url
}

fn input(before: &[&str], path: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["-nostdin", "-hide_banner", "-loglevel", "error"].iter().map(OsString::from).collect();
    arguments.extend(before.iter().map(OsString::from));
    arguments.extend(restrictions());
    arguments.push(OsStr::new("-i").to_owned());
    arguments.push(file_url(path));
    arguments
}

/// Ends a child that may have ended by itself.
fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // An error here means that it is gone already.
    let _gone = child.kill();
}

/// Waits without holding the lock, so that the time limit can still end the child.
fn wait(child: &Mutex<Child>) -> Option<std::process::ExitStatus> {
    loop {
        let state = child.lock().unwrap_or_else(std::sync::PoisonError::into_inner).try_wait();
        match state {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(_) => return None,
        }
    }
}

/// Drains a pipe and returns its last non-empty line.
fn last_line(mut pipe: impl Read) -> String {
    let mut tail = Vec::new();
    let mut block = [0; 4096];
    while let Ok(count) = pipe.read(&mut block) {
        if count == 0 {
            break;
        }
        tail.extend_from_slice(&block[..count]);
        let surplus = tail.len().saturating_sub(4096);
        tail.drain(..surplus);
    }
    let text = String::from_utf8_lossy(&tail);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().to_owned()
}

/// Fills `bytes`; `false` at the end of the pipe.
fn read_whole(pipe: &mut dyn Read, bytes: &mut [u8]) -> Result<bool, MediaError> {
    match pipe.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(MediaError::io("cannot read what ffmpeg writes")(error)),
    }
}

/// One picture of a stream of them: `P6`, width, height, 255, each before one blank, then the bytes.
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
    let side = |at: usize| words[at].parse::<u32>().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let (Some(width), Some(height), "P6", "255") = (side(1), side(2), words[0].as_str(), words[3].as_str())
    else {
        return Err(tool("ffmpeg", "wrote a picture of unknown form"));
    };
    let mut image = RgbImage::new(width, height);
    Ok(read_whole(pipe, image.pixels_mut())?.then_some(image))
}

/// Reads ffprobe's flat form: lines such as `streams.stream.0.width=854`.
fn read_probe(text: &str) -> Option<Probe> {
    let value = |key: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches('"'))
    };
    let seconds = |key: &str| {
        let seconds: f64 = value(key)?.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let whole = seconds("format.duration").unwrap_or_default();
    let mut probe = Probe { duration: whole, video: None, audio: None, faststart: false };
    for stream in 0..16 {
        let key = |field: &str| format!("streams.stream.{stream}.{field}");
        let codec = || {
            let name = value(&key("codec_name")).unwrap_or("unknown");
            match name {
                "h264" => coding_name(*b"avc1"),
                "hevc" => coding_name(*b"hvc1"),
                "aac" => coding_name(*b"mp4a"),
                other => other.to_uppercase(),
            }
        };
        let number = |field: &str| value(&key(field)).and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
        let duration = seconds(&key("duration")).unwrap_or(whole);
        match value(&key("codec_type")) {
            Some("video") if probe.video.is_none() => {
                let (numerator, denominator) =
                    value(&key("avg_frame_rate")).and_then(|rate| rate.split_once('/'))?;
                let frame_rate = FrameRate::new(numerator.parse().ok()?, denominator.parse().ok()?)
                    .unwrap_or_else(|| nearest_rate(25.0));
                let counted = value(&key("nb_frames")).and_then(|n| n.parse().ok());
                probe.video = Some(VideoTrack {
                    codec: codec(),
                    profile: value(&key("profile")).map(str::to_owned),
                    width: number("width"),
                    height: number("height"),
                    frame_rate,
                    frames: counted.unwrap_or((duration.as_secs_f64() * frame_rate.as_f64()).round() as u64),
                    duration,
                });
            }
            Some("audio") if probe.audio.is_none() => {
                let (sample_rate, channels) = (number("sample_rate"), number("channels") as u16);
                probe.audio = Some(AudioTrack { codec: codec(), sample_rate, channels, duration });
            }
            _ => {}
        }
    }
    (probe.video.is_some() || probe.audio.is_some()).then_some(probe)
}
