//! ffmpeg on `PATH`, for media formats that the program does not decode itself.

/// The tools for `media`: ffmpeg where it is on `PATH`.
pub(crate) fn find() -> media::Ffmpeg {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let ffmpeg = std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|file| file.is_file());
    media::Ffmpeg { ffmpeg, ..media::Ffmpeg::default() }
}
