//! Decoding of a file as a whole with ffmpeg, to find damage.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::process::input;
use super::{Ffmpeg, tool};
use crate::MediaError;

/// What ffmpeg has decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecodeReport {
    pub(crate) frames: u64,
    pub(crate) duration: Duration,
}

impl Ffmpeg {
    /// Decodes the frames and the sound of a video to their end. Stops at the first error; any complaint is one.
    ///
    /// # Errors
    /// [`MediaError::Tool`] with what ffmpeg complains about.
    pub(crate) fn decode_whole(&self, path: &Path) -> Result<DecodeReport, MediaError> {
        let mut arguments = input(&["-xerror", "-err_detect", "explode"], path);
        arguments.extend(["-map", "0:v:0", "-map", "0:a:0?", "-sn", "-dn"].map(OsString::from));
        arguments.extend(["-progress", "pipe:1", "-f", "null", "-"].map(OsString::from));
        let (report, complaint) = self.text("ffmpeg", self.ffmpeg.as_deref(), &arguments)?;
        if !complaint.is_empty() {
            return Err(tool("ffmpeg", format!("failed: {complaint}")));
        }
        read_report(&report).ok_or_else(|| tool("ffmpeg", "found no frame in the file"))
    }
}

/// The last values of a progress report, which has lines such as `frame=30`.
fn read_report(text: &str) -> Option<DecodeReport> {
    let last = |key: &str| {
        text.lines()
            .rev()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('=')?.trim().parse::<u64>().ok())
    };
    let frames = last("frame").filter(|frames| *frames > 0)?;
    Some(DecodeReport { frames, duration: Duration::from_micros(last("out_time_us").unwrap_or(0)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_values_of_a_progress_report_count() {
        let report =
            "frame=12\nout_time_us=480000\nprogress=continue\nframe=30\nout_time_us=1200000\nprogress=end\n";
        let decoded = DecodeReport { frames: 30, duration: Duration::from_millis(1200) };
        assert_eq!(read_report(report), Some(decoded));
        assert_eq!(read_report("frame=0\nout_time_us=N/A\nprogress=end\n"), None);
        assert_eq!(read_report("frame=1\nout_time_us=-5\n").map(|decoded| decoded.frames), Some(1));
    }
}
