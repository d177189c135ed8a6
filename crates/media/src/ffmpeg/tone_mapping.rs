//! Conversion of HDR video to the range of this crate.

use std::ffi::OsString;
use std::path::Path;

use super::process::{file_url, restrictions};
use super::{Ffmpeg, tool};
use crate::MediaError;

/// PQ and HLG (ITU-R BT.2100), as ffprobe names them.
const HDR_TRANSFERS: [&str; 2] = ["smpte2084", "arib-std-b67"];
/// Reference white is at 203 cd/m2 (ITU-R BT.2408). Up to mid grey nothing changes; highlights are compressed.
const FILTERS: &str = "zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=mobius:desat=0,\
                       zscale=t=bt709:m=bt709:r=tv,format=yuv420p,";

impl Ffmpeg {
    /// The filters that a video's frames go through before all others; none unless it is HDR.
    ///
    /// # Errors
    /// When it is HDR, and this ffmpeg cannot convert it: its frames would be washed out.
    pub(super) fn tone_mapping(&self, path: &Path) -> Result<&'static str, MediaError> {
        if self.ffprobe.is_none() {
            return Ok("");
        }
        let arguments = ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=color_transfer"];
        let mut arguments: Vec<OsString> = arguments.map(OsString::from).into();
        arguments.extend(["-of", "csv=p=0"].map(OsString::from));
        arguments.extend(restrictions());
        arguments.push(file_url(path));
        let (transfer, _) = self.text("ffprobe", self.ffprobe.as_deref(), &arguments)?;
        if !HDR_TRANSFERS.iter().any(|name| transfer.contains(name)) {
            return Ok("");
        }
        let list = ["-v", "error", "-filters"].map(OsString::from);
        let (filters, _) = self.text("ffmpeg", self.ffmpeg.as_deref(), &list)?;
        if !filters.contains(" zscale ") {
            return Err(tool(
                "ffmpeg",
                "has no filter `zscale`, which converts HDR video: install one that is built with libzimg, or save the video in SDR",
            ));
        }
        Ok(FILTERS)
    }
}
