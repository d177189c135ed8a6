//! Encoding of a finished film into another format with ffmpeg: for editors, platforms and pages.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::process::{file_url, input};
use super::{Ffmpeg, tool};
use crate::MediaError;
use crate::mp4::xmp;

/// Columns of an animation at most: each of its frames has a palette of 256 colors and is hardly compressed.
const GIF_COLUMNS: u32 = 640;
/// Frames per second of an animation. A GIF counts in hundredths of a second.
const GIF_RATE: u32 = 12;
/// Bound on the list of ffmpeg's encoders, in bytes: it has 20 KB.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A format in which a film is delivered besides MP4 with H.264 and AAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryFormat {
    /// Apple `ProRes` 422 HQ with 16-bit PCM in `QuickTime`: for editing.
    ProRes,
    /// H.265 (HEVC) with the film's AAC in MP4: half the size of H.264.
    H265,
    /// AV1 with the film's AAC in MP4: smaller still, and slow to encode.
    Av1,
    /// VP9 with Opus in `WebM`: for pages.
    WebM,
    /// An animated GIF without sound, at most 640 columns and 12 frames per second.
    Gif,
}

impl DeliveryFormat {
    /// What follows the film's name in the name of a file of this format.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::ProRes => "mov",
            Self::H265 => "h265.mp4",
            Self::Av1 => "av1.mp4",
            Self::WebM => "webm",
            Self::Gif => "gif",
        }
    }

    /// ffmpeg's encoders for the frames, best first.
    fn encoders(self) -> &'static [&'static str] {
        match self {
            Self::ProRes => &["prores_ks"],
            Self::H265 => &["libx265"],
            Self::Av1 => &["libsvtav1", "libaom-av1"],
            Self::WebM => &["libvpx-vp9"],
            Self::Gif => &["gif"],
        }
    }

    /// The container, frames and sound, for one of the encoders.
    fn options(self, encoder: &str) -> Vec<&'static str> {
        match self {
            Self::ProRes => {
                vec!["-f", "mov", "-profile:v", "3", "-pix_fmt", "yuv422p10le", "-c:a", "pcm_s16le"]
            }
            Self::H265 => vec![
                "-f",
                "mp4",
                "-movflags",
                "+faststart",
                "-crf",
                "20",
                "-tag:v",
                "hvc1",
                "-x265-params",
                "log-level=none",
                "-c:a",
                "copy",
            ],
            Self::Av1 => {
                let speed = if encoder == "libsvtav1" { ["-preset", "6"] } else { ["-cpu-used", "5"] };
                [
                    &["-f", "mp4", "-movflags", "+faststart", "-crf", "28", "-b:v", "0", "-c:a", "copy"],
                    &speed[..],
                ]
                .concat()
            }
            Self::WebM => vec![
                "-f",
                "webm",
                "-crf",
                "30",
                "-b:v",
                "0",
                "-row-mt",
                "1",
                "-cpu-used",
                "3",
                "-c:a",
                "libopus",
                "-b:a",
                "128k",
            ],
            Self::Gif => vec!["-f", "gif", "-loop", "0"],
        }
    }
}

/// A film to be encoded.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The film: MP4 as [`crate::join`] writes it.
    pub film: &'a Path,
    /// The file to write. It must not exist.
    pub output: &'a Path,
    pub format: DeliveryFormat,
    /// An empty folder for what is needed meanwhile.
    pub scratch: &'a Path,
}

impl Ffmpeg {
    /// Encodes a film in another format, with its metadata and chapters as far as the format has them; its packet of XMP, with the mark of
    /// synthetic media, goes into all but `WebM`, which has the mark as a tag. `progress` gets the number of frames
    /// so far and of all. The time limit grows with the film's length.
    ///
    /// # Errors
    /// [`MediaError::Tool`] without ffmpeg or one of its encoders, when ffmpeg fails, and when what it has written lacks frames; and as
    /// [`crate::probe`] for the film.
    pub fn encode_film(
        &self,
        delivery: Delivery<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), MediaError> {
        let Delivery { film, output, format, scratch } = delivery;
        let encoder = self.encoder(format)?;
        let probe = crate::probe(film)?;
        let video = probe.video.ok_or_else(|| tool("ffmpeg", "was given a film without frames"))?;
        // A minute and more for each second: the slowest encoders, on a slow machine.
        let time_limit = self.time_limit + video.duration * 120;
        let patient = Self { time_limit, ..self.clone() };
        let mut arguments = input(&[], film);
        if format == DeliveryFormat::Gif {
            let palette = scratch.join("palette.png");
            patient.palette(film, &palette)?;
            arguments.extend(["-f", "png_pipe", "-i"].map(OsString::from));
            arguments.push(file_url(&palette));
            let draw =
                format!("[0:v]{}[frames];[frames][1:v]paletteuse=dither=bayer:bayer_scale=4", gif_filter());
            arguments.extend(["-lavfi", &draw].map(OsString::from));
        } else {
            arguments.extend(["-map", "0:v:0", "-map", "0:a:0?"].map(OsString::from));
            arguments.extend(["-map_metadata", "0", "-map_chapters", "0"].map(OsString::from));
        }
        let packet = xmp::film_packet(film)?;
        // WebM has tags only.
        if let Some(source) =
            packet.as_deref().and_then(xmp::source_of).filter(|_| format == DeliveryFormat::WebM)
        {
            let tag = format!("DIGITAL_SOURCE_TYPE={source}");
            arguments.extend(["-metadata", &tag].map(OsString::from));
        }
        arguments.extend(["-c:v", encoder].map(OsString::from));
        arguments.extend(format.options(encoder).iter().map(OsString::from));
        arguments.extend(["-n", "-progress", "pipe:1"].map(OsString::from));
        arguments.push(file_url(output));
        let all = match format {
            DeliveryFormat::Gif => (video.duration.as_secs_f64() * f64::from(GIF_RATE)).floor() as u64,
            _ => video.frames,
        };
        let mut written = 0;
        patient.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            for line in BufReader::new(pipe).lines() {
                let line = line.map_err(MediaError::io("cannot read what ffmpeg writes"))?;
                if let Some(count) = line.strip_prefix("frame=").and_then(|count| count.trim().parse().ok()) {
                    written = count;
                    progress(written, all);
                }
            }
            Ok(())
        })?;
        if written < all {
            return Err(tool("ffmpeg", format!("has written {written} of {all} frames")));
        }
        let Some(packet) = packet else { return Ok(()) };
        let added = match format {
            DeliveryFormat::ProRes => xmp::add_to_quicktime(output, &packet),
            DeliveryFormat::H265 | DeliveryFormat::Av1 => xmp::append_to_mp4(output, &packet),
            DeliveryFormat::Gif => xmp::add_to_gif(output, &packet),
            DeliveryFormat::WebM => Ok(()),
        };
        added.map_err(MediaError::io("cannot add the metadata")).map_err(|error| error.at(output))
    }

    /// The first of a format's encoders that this ffmpeg has.
    fn encoder(&self, format: DeliveryFormat) -> Result<&'static str, MediaError> {
        let mut list = String::new();
        let arguments = ["-hide_banner", "-encoders"].map(OsString::from);
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            let read = pipe.take(MAX_LIST_BYTES).read_to_string(&mut list);
            read.map_err(MediaError::io("cannot read what ffmpeg writes")).map(drop)
        })?;
        let names = format.encoders();
        let has = |name: &&&str| list.lines().any(|line| line.split_whitespace().nth(1) == Some(**name));
        names.iter().find(has).copied().ok_or_else(|| {
            tool("ffmpeg", format!("lacks the encoder {}: install a build that has it", names.join(" or ")))
        })
    }

    /// Writes the 256 colors that suit a film best. Two passes, because one would hold all frames in memory.
    fn palette(&self, film: &Path, palette: &Path) -> Result<(), MediaError> {
        let mut arguments = input(&[], film);
        let filter = format!("{},palettegen=stats_mode=diff", gif_filter());
        arguments
            .extend(["-vf", &filter, "-frames:v", "1", "-update", "1", "-f", "image2"].map(OsString::from));
        arguments.push(file_url(palette));
        self.run("ffmpeg", self.ffmpeg.as_deref(), &arguments, &mut |pipe| {
            std::io::copy(pipe, &mut std::io::sink())
                .map_err(MediaError::io("cannot read what ffmpeg writes"))
                .map(drop)
        })
    }
}

/// Rate and size of an animation.
fn gif_filter() -> String {
    format!("fps={GIF_RATE},scale=w='min({GIF_COLUMNS},iw)':h=-2:flags=lanczos")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_ffmpeg_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let delivery = Delivery {
            film: Path::new("film.mp4"),
            output: Path::new("film.mov"),
            format: DeliveryFormat::ProRes,
            scratch: folder.path(),
        };
        let refused = Ffmpeg::default().encode_film(delivery, &mut |_, _| {}).unwrap_err();
        assert_eq!(refused.to_string(), "ffmpeg is not at hand");
    }
}
