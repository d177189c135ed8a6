//! ffmpeg on `PATH`, for media formats that the program does not decode itself.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The tools for `media`: ffmpeg and ffprobe where they are on `PATH`.
pub(crate) fn find() -> media::Ffmpeg {
    find_in(&std::env::var_os("PATH").unwrap_or_default())
}

/// The first of each program in these folders; ffprobe rather beside ffmpeg, so that both are of one version.
fn find_in(paths: &OsStr) -> media::Ffmpeg {
    let file_name = |program: &str| format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let on_path = |program: &str| {
        std::env::split_paths(paths).map(|folder| folder.join(file_name(program))).find(|file| file.is_file())
    };
    let ffmpeg = on_path("ffmpeg");
    let beside =
        |ffmpeg: &PathBuf| Some(ffmpeg.with_file_name(file_name("ffprobe"))).filter(|file| file.is_file());
    let ffprobe = ffmpeg.as_ref().and_then(beside).or_else(|| on_path("ffprobe"));
    media::Ffmpeg { ffmpeg, ffprobe, ..media::Ffmpeg::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ffprobe_is_searched_beside_ffmpeg_and_then_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a", "b"].map(|name| folder.path().join(name));
        let path = std::env::join_paths(&folders).unwrap();
        let file = |folder: usize, program: &str| {
            folders[folder].join(format!("{program}{}", std::env::consts::EXE_SUFFIX))
        };
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        let tools = || {
            let tools = find_in(&path);
            (tools.ffmpeg, tools.ffprobe)
        };
        assert_eq!(tools(), (None, None));
        std::fs::write(file(1, "ffmpeg"), "").unwrap();
        assert_eq!(tools(), (Some(file(1, "ffmpeg")), None));
        std::fs::write(file(0, "ffprobe"), "").unwrap();
        assert_eq!(tools(), (Some(file(1, "ffmpeg")), Some(file(0, "ffprobe"))));
        std::fs::write(file(1, "ffprobe"), "").unwrap();
        assert_eq!(tools(), (Some(file(1, "ffmpeg")), Some(file(1, "ffprobe"))));
    }
}
