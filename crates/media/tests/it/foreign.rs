//! Interoperability with ffmpeg, both ways. Skipped with a message if it is not installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use media::{
    AudioDecodeSpec, ClipSpec, ClipWriter, Effort, Ffmpeg, Fit, FrameRate, JoinClip, JoinOptions, MediaError,
    decode_audio, first_frame, join, last_frame, probe,
};

use crate::fixtures::{PLAIN, Recipe, psnr, sample_image};

/// ffmpeg from the search path; `None`, with a note in the test's output, where there is none.
pub(crate) fn ffmpeg() -> Option<PathBuf> {
    let program = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join("ffmpeg")).find(|ffmpeg| ffmpeg.is_file())
    });
    if program.is_none() {
        note("ffmpeg is not installed: nothing to compare with");
    }
    program
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn note(reason: &str) {
    eprintln!("skipped: {reason}");
}

pub(crate) fn run(ffmpeg: &Path, arguments: &[&str]) -> bool {
    let output =
        Command::new(ffmpeg).args(["-v", "error", "-nostdin", "-y"]).args(arguments).output().unwrap();
    output.status.success() && output.stderr.is_empty()
}

fn is_copied(joined: &media::JoinReport) -> bool {
    joined.encoded_frames == 0
}

pub(crate) fn whole_clips(clips: &[PathBuf]) -> Vec<JoinClip> {
    clips.iter().cloned().map(JoinClip::whole).collect()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Makes a clip of three seconds with ffmpeg; `false` where it lacks the encoder.
pub(crate) fn make(ffmpeg: &Path, path: &Path, options: &[&str]) -> bool {
    let mut arguments = vec![
        "-f",
        "lavfi",
        "-i",
        "testsrc2=s=192x108:r=25:d=1.2",
        "-f",
        "lavfi",
        "-i",
        "sine=440:r=44100:d=1.2",
    ];
    arguments.extend(options);
    arguments.push(text(path));
    let made = run(ffmpeg, &arguments);
    if !made {
        note("this ffmpeg cannot make such a clip");
    }
    made
}

#[test]
fn ffmpeg_decodes_clips_and_films_without_warnings() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let sound = Some((48_000, 2));
    let clips = [
        Recipe { frames: 60, sound, ..PLAIN }.write(folder.path(), "a.mp4"),
        Recipe { seed: 5, ..PLAIN }.write(folder.path(), "b.mp4"),
        Recipe { seed: 6, sound, ..PLAIN }.write(folder.path(), "c.mp4"),
    ];
    let film = folder.path().join("film.mp4");
    join(&whole_clips(&clips), &film, &JoinOptions::default()).unwrap();
    for path in clips.iter().chain([&film]) {
        assert!(run(&ffmpeg, &["-i", text(path), "-f", "null", "-"]), "{}", path.display());
    }
}

#[test]
fn last_frame_equals_ffmpegs() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = Recipe { frames: 30, ..PLAIN }.write(folder.path(), "own.mp4");
    let x264 = folder.path().join("x264.mp4");
    let options = ["-c:v", "libx264", "-bf", "3", "-g", "10", "-pix_fmt", "yuv420p", "-c:a", "aac"];
    let mut clips = vec![own];
    if make(&ffmpeg, &x264, &options) {
        assert_eq!(probe(&x264).unwrap().video.unwrap().frames, 30);
        clips.push(x264);
    }
    for clip in clips {
        let image = folder.path().join("last.png");
        assert!(run(&ffmpeg, &["-sseof", "-1", "-i", text(&clip), "-update", "1", text(&image)]));
        let theirs = media::decode_image(&std::fs::read(&image).unwrap()).unwrap();
        let ours = media::last_frame(&clip).unwrap();
        assert!(psnr(&ours, &theirs) > 28.0, "{}: {:.1} dB", clip.display(), psnr(&ours, &theirs));
    }
}

#[test]
fn join_mixes_ffmpeg_clips_with_ours() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let x264 = folder.path().join("x264.mp4");
    if !make(&ffmpeg, &x264, &["-c:v", "libx264", "-bf", "3", "-pix_fmt", "yuv420p", "-c:a", "aac"]) {
        return;
    }
    let own = Recipe { size: (192, 108), rate: 25, frames: 25, sound: Some((48_000, 2)), ..PLAIN };
    let own = own.write(folder.path(), "own.mp4");
    let film = folder.path().join("film.mp4");
    let joined =
        join(&whole_clips(&[x264.clone(), own, x264.clone()]), &film, &JoinOptions::default()).unwrap();
    assert!(!is_copied(&joined) && joined.has_audio);
    assert_eq!(probe(&film).unwrap().video.unwrap().frames, 30 + 25 + 30);
    assert!(run(&ffmpeg, &["-i", text(&film), "-f", "null", "-"]));
    // Two of the same, with reordered frames and an edit list, are copied.
    let joined = join(&whole_clips(&[x264.clone(), x264.clone()]), &film, &JoinOptions::default()).unwrap();
    assert!(is_copied(&joined));
    assert!(run(&ffmpeg, &["-i", text(&film), "-f", "null", "-"]));
    assert_eq!(media::last_frame(&film).unwrap(), media::last_frame(&x264).unwrap());
}

/// A digest of each frame of a video, as ffmpeg decodes it.
fn frame_digests(ffmpeg: &Path, path: &Path) -> Vec<String> {
    let arguments = ["-v", "error", "-nostdin", "-i", text(path), "-map", "0:v", "-f", "framemd5", "-"];
    let output = Command::new(ffmpeg).args(arguments).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let digest = |line: &str| line.rsplit(',').next().map(|digest| digest.trim().to_owned());
    lines.lines().filter(|line| !line.starts_with('#')).filter_map(digest).collect()
}

#[test]
fn ffmpeg_repeats_frames() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repeated.mp4");
    for effort in [Effort::Draft, Effort::Full] {
        let spec = ClipSpec::new(160, 96, FrameRate::CINEMA).with_effort(effort);
        let mut writer = ClipWriter::new(spec).unwrap();
        // More frames than a group has, and than `frame_num` and `pic_order_cnt_lsb` count.
        for number in 0..80 {
            writer.push_frame(&sample_image(160, 96, 0, number)).unwrap();
            writer.repeat_frame().unwrap();
        }
        std::fs::write(&path, writer.finish().unwrap()).unwrap();
        let digests = frame_digests(&ffmpeg, &path);
        assert_eq!(digests.len(), 160, "{effort:?}");
        assert!(digests.chunks(2).all(|pair| pair[0] == pair[1]), "{effort:?}");
        assert!(digests.windows(3).all(|frames| frames[0] != frames[2]), "{effort:?}");
    }
}

/// One frame of a video, as ffmpeg decodes it.
fn frame(ffmpeg: &Path, folder: &Path, video: &Path, number: usize) -> media::RgbImage {
    let image = folder.join("frame.png");
    let select = format!("select=eq(n\\,{number})");
    let arguments = ["-i", text(video), "-vf", &select, "-frames:v", "1", "-update", "1", text(&image)];
    assert!(run(ffmpeg, &arguments));
    media::decode_image(&std::fs::read(&image).unwrap()).unwrap()
}

#[test]
fn trimmed_foreign_clips_are_copied_between_their_cuts() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in [("b", &["-bf", "3"][..]), ("p", &["-bf", "0"]), ("main", &["-profile:v", "main"])]
    {
        let clip = folder.path().join(format!("{name}.mp4"));
        let common = ["-c:v", "libx264", "-g", "10", "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-an"];
        if !make(&ffmpeg, &clip, &[&common[..], options].concat()) {
            return;
        }
        let film = folder.path().join("film.mp4");
        let part = |first, frames| JoinClip { first, frames: Some(frames), ..JoinClip::whole(clip.clone()) };
        let joined = join(&[part(3, 22), part(0, 29)], &film, &JoinOptions::default()).unwrap();
        // Frames 3 to 9 precede the first one that needs no other; at most two beside a cut are needed by those after it.
        assert!((7..=7 + 2 + 2).contains(&joined.encoded_frames), "{name}: {joined:?}");
        assert_eq!(joined.copied_frames + joined.encoded_frames, 51);
        let (own, copied) = (frame_digests(&ffmpeg, &clip), frame_digests(&ffmpeg, &film));
        assert_eq!((own.len(), copied.len()), (30, 51), "{name}");
        assert_eq!(copied[7..20], own[10..23], "{name}");
        assert_eq!(copied[22..49], own[0..27], "{name}");
        // The encoded ones look like them, here as there.
        let frame = |path: &Path, number| frame(&ffmpeg, folder.path(), path, number);
        for (number, original) in [(0, 3), (6, 9), (21, 24), (50, 28)] {
            let quality = psnr(&frame(&film, number), &frame(&clip, original));
            assert!(quality > 30.0, "{name}: frame {number} has {quality:.1} dB");
        }
        assert!(psnr(&media::first_frame(&film).unwrap(), &frame(&film, 0)) > 28.0, "{name}");
    }
}

#[test]
fn clips_with_open_groups_are_right_after_a_cut() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (clip, film) = (folder.path().join("open.mp4"), folder.path().join("film.mp4"));
    let groups = "open-gop=1:keyint=10:min-keyint=10:bframes=2:scenecut=0";
    if !make(&ffmpeg, &clip, &["-c:v", "libx264", "-x264-params", groups, "-pix_fmt", "yuv420p", "-an"]) {
        return;
    }
    for first in [10, 12] {
        let part = JoinClip { first, frames: Some(15), ..JoinClip::whole(clip.clone()) };
        join(&[JoinClip::whole(clip.clone()), part], &film, &JoinOptions::default()).unwrap();
        assert_eq!(frame_digests(&ffmpeg, &film).len(), 45);
        assert!(
            psnr(
                &media::last_frame(&film).unwrap(),
                &frame(&ffmpeg, folder.path(), &clip, first as usize + 14)
            ) > 30.0
        );
        for number in [30, 33, 40] {
            let expected = frame(&ffmpeg, folder.path(), &clip, first as usize + number - 30);
            let quality = psnr(&frame(&ffmpeg, folder.path(), &film, number), &expected);
            assert!(quality > 30.0, "from {first}: frame {number} has {quality:.1} dB");
        }
    }
}

/// Clips of several encoders in one film: those of the one that shows most of it are copied.
#[test]
fn minority_of_another_encoding_is_encoded() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let clip = |name: &str| folder.path().join(name);
    let most = ["-c:v", "libx264", "-crf", "16", "-pix_fmt", "yuv420p"];
    let other = ["-c:v", "libx264", "-profile:v", "main", "-bf", "0", "-crf", "16", "-pix_fmt", "yuv420p"];
    let wide = ["-c:v", "libx264", "-s", "384x216", "-crf", "16", "-pix_fmt", "yuv420p", "-an"];
    let full = ["-c:v", "libx264", "-crf", "16", "-pix_fmt", "yuvj420p", "-color_range", "pc"];
    let made = [("a.mp4", &most[..]), ("b.mp4", &other[..]), ("c.mp4", &most[..]), ("d.mp4", &wide[..])];
    for (name, options) in
        made.into_iter().chain([("e.mp4", &full[..]), ("f.mp4", &most[..]), ("g.mp4", &most[..])])
    {
        if !make(&ffmpeg, &clip(name), options) {
            return;
        }
    }
    let names = ["b.mp4", "a.mp4", "d.mp4", "c.mp4", "e.mp4", "f.mp4", "g.mp4"];
    let clips: Vec<PathBuf> = names.into_iter().map(clip).collect();
    let film = clip("film.mp4");
    let joined = join(&whole_clips(&clips), &film, &JoinOptions::default()).unwrap();
    assert_eq!((joined.copied_frames, joined.encoded_frames), (120, 90));
    assert_eq!(frame_digests(&ffmpeg, &film).len(), 210);
    // All show the same.
    for (index, number) in (0..names.len()).flat_map(|index| [0, 17, 29].map(|number| (index, number))) {
        let quality = psnr(
            &frame(&ffmpeg, folder.path(), &film, index * 30 + number),
            &frame(&ffmpeg, folder.path(), &clip("a.mp4"), number),
        );
        assert!(quality > 27.0, "{}: frame {number} has {quality:.1} dB", names[index]);
    }
}

#[test]
fn frames_that_an_edit_list_hides_do_not_count() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (clip, trimmed) = (folder.path().join("clip.mp4"), folder.path().join("trimmed.mp4"));
    if !make(&ffmpeg, &clip, &["-c:v", "libx264", "-g", "60", "-pix_fmt", "yuv420p", "-an"]) {
        return;
    }
    // Copied without encoding, so the frames before the beginning are stored, and hidden.
    assert!(run(&ffmpeg, &["-ss", "0.4", "-i", text(&clip), "-c", "copy", text(&trimmed)]));
    let shown = frame_digests(&ffmpeg, &trimmed).len() as u64;
    assert_eq!(shown, 20);
    assert_eq!(probe(&trimmed).unwrap().video.unwrap().frames, shown);
    let film = folder.path().join("film.mp4");
    let joined = join(&whole_clips(&[trimmed.clone(), clip]), &film, &JoinOptions::default()).unwrap();
    assert_eq!((joined.encoded_frames, joined.copied_frames), (shown, 30));
    assert!(psnr(&media::first_frame(&film).unwrap(), &media::first_frame(&trimmed).unwrap()) > 30.0);
}

#[test]
fn ffmpegs_fragments_are_read() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let unfragmented = folder.path().join("whole.mp4");
    if !make(
        &ffmpeg,
        &unfragmented,
        &["-c:v", "libx264", "-bf", "2", "-g", "8", "-pix_fmt", "yuv420p", "-c:a", "aac"],
    ) {
        return;
    }
    let (expected, last) = (probe(&unfragmented).unwrap(), media::last_frame(&unfragmented).unwrap());
    for flags in [
        "frag_keyframe",
        "frag_keyframe+empty_moov",
        "frag_every_frame+empty_moov",
        "frag_every_frame",
        "frag_keyframe+empty_moov+omit_tfhd_offset",
        "frag_keyframe+empty_moov+default_base_moof",
        "frag_keyframe+separate_moof+empty_moov",
        "dash",
        "cmaf",
        "frag_keyframe+delay_moov+faststart",
        "dash+global_sidx",
    ] {
        let path = folder.path().join(format!("{flags}.mp4"));
        if !run(&ffmpeg, &["-i", text(&unfragmented), "-c", "copy", "-movflags", flags, text(&path)]) {
            note("this ffmpeg cannot make such fragments");
            continue;
        }
        let video = probe(&path).unwrap_or_else(|error| panic!("{flags}: {error}")).video.unwrap();
        let expected = expected.video.as_ref().unwrap();
        assert_eq!((video.frames, video.width), (expected.frames, expected.width), "{flags}");
        assert_eq!(media::last_frame(&path).unwrap(), last, "{flags}");
        let film = folder.path().join("film.mp4");
        let clips = [JoinClip::whole(path.clone()), JoinClip::whole(path)];
        let joined = join(&clips, &film, &JoinOptions::default()).unwrap();
        assert_eq!(joined.copied_frames + joined.encoded_frames, 60, "{flags}");
    }
}

#[test]
fn other_codecs_need_ffmpeg() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let foreign = [
        (
            "hevc.mp4",
            &["-c:v", "libx265", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p", "-an"][..],
        ),
        ("vp9.webm", &["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"]),
        ("ten.mp4", &["-c:v", "libx264", "-pix_fmt", "yuv420p10le", "-c:a", "aac"]),
        ("-dash.mkv", &["-c:v", "mpeg4", "-c:a", "aac"]),
    ];
    let program = ffmpeg;
    let ffmpeg = Ffmpeg::with_ffmpeg(program.clone());
    for (name, options) in foreign {
        let path = folder.path().join(name);
        if !make(&program, &path, options) {
            continue;
        }
        let error = media::last_frame(&path).unwrap_err();
        assert!(
            matches!(error.root(), MediaError::NeedsFfmpeg { .. } | MediaError::NotMedia(_)),
            "{name} is refused natively: {error}"
        );
        let probed = ffmpeg.probe(&path).unwrap();
        assert_eq!(probed.video.as_ref().unwrap().width, 192, "{name}");
        let (first, last) = (ffmpeg.first_frame(&path).unwrap(), ffmpeg.last_frame(&path).unwrap());
        assert_eq!((last.width(), last.height()), (192, 108), "{name}");
        assert!(psnr(&first, &last) < 40.0, "{name} moves");
        let own = Recipe { frames: 24, sound: Some((48_000, 2)), ..PLAIN }.write(folder.path(), "own.mp4");
        let film = folder.path().join("film.mp4");
        let clips = [own, path];
        assert!(join(&whole_clips(&clips), &film, &JoinOptions::default()).is_err(), "{name} without ffmpeg");
        let options = JoinOptions { ffmpeg: ffmpeg.clone(), ..JoinOptions::default() };
        let joined = join(&whole_clips(&clips), &film, &options).unwrap();
        assert!(joined.has_audio && joined.duration > Duration::from_secs(2), "{name}: {joined:?}");
        assert!(run(&program, &["-i", text(&film), "-f", "null", "-"]), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn ffmpeg_that_hangs_is_killed_after_the_time_limit() {
    let sleeper = Path::new("/bin/sleep");
    if !sleeper.is_file() {
        note("there is no /bin/sleep to stand in for a hanging program");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [script, program] = ["script", "ffmpeg"].map(|name| folder.path().join(name));
    std::fs::write(&script, "#!/bin/sh\nexec /bin/sleep 600\n").unwrap();
    // Another program writes what is executed: children that other tests start at this moment have our open files until they execute theirs.
    let copied = Command::new("install").args(["-m", "755"]).args([&script, &program]).status();
    assert!(copied.unwrap().success());
    let foreign = folder.path().join("clip.webm");
    std::fs::write(&foreign, b"\x1a\x45\xdf\xa3 and so on, for a while").unwrap();
    let mut ffmpeg = Ffmpeg::with_ffmpeg(program);
    (ffmpeg.ffprobe, ffmpeg.time_limit) = (None, Duration::from_millis(200));
    let start = std::time::Instant::now();
    let error = ffmpeg.last_frame(&foreign).unwrap_err().to_string();
    assert!(error.contains("took longer"), "{error}");
    assert!(start.elapsed() < Duration::from_mins(5), "it has not slept to its end");
}

#[test]
fn frames_of_another_shape_fit_alike_with_and_without_ffmpeg() {
    let Some(program) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let ffmpeg = Ffmpeg::with_ffmpeg(program.clone());
    let (native, foreign) = (folder.path().join("native.mp4"), folder.path().join("foreign.mkv"));
    let color = ["-vf", "scale=out_color_matrix=bt709", "-colorspace", "bt709", "-an"];
    let native_options = [&["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "4"][..], &color].concat();
    let foreign_options = [&["-c:v", "ffv1", "-pix_fmt", "yuv420p"][..], &color].concat();
    if !make(&program, &native, &native_options) || !make(&program, &foreign, &foreign_options) {
        return;
    }
    for size in [(128, 128), (256, 108)] {
        let mut shapes = Vec::new();
        for fit in [Fit::Letterbox, Fit::Crop, Fit::Blur] {
            let film = folder.path().join("film.mp4");
            let shown = |clip: &Path| {
                let options =
                    JoinOptions { size: Some(size), fit, ffmpeg: ffmpeg.clone(), ..JoinOptions::default() };
                join(&whole_clips(&[clip.to_owned()]), &film, &options).unwrap();
                first_frame(&film).unwrap()
            };
            let (own, other) = (shown(&native), shown(&foreign));
            let similar = psnr(&own, &other);
            assert!(similar > 24.0, "{size:?} {fit:?}: {similar} dB");
            shapes.push(own);
        }
        assert!(psnr(&shapes[0], &shapes[1]) < 20.0 && psnr(&shapes[0], &shapes[2]) < 30.0);
    }
}

/// A grey card and a white one, as a phone records them: in PQ or HLG, with reference white at 203 cd/m2.
#[test]
fn hdr_is_converted_and_not_washed_out() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tools = Ffmpeg::with_ffmpeg(ffmpeg.clone());
    for (codec, transfer) in
        [("libx265", "smpte2084"), ("libx265", "arib-std-b67"), ("libx264", "arib-std-b67")]
    {
        let clip = folder.path().join(format!("{codec}-{transfer}.mp4"));
        let filter = format!(
            "format=yuv444p,setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv,\
             zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt2020:t={transfer}:m=bt2020nc:r=tv:npl=203,format={}",
            if codec == "libx265" { "yuv420p10le" } else { "yuv420p" }
        );
        let cards = "color=0x777777:s=96x96:r=25:d=1,pad=192:96:0:0:white";
        let mut arguments = vec!["-f", "lavfi", "-i", cards, "-vf", &filter, "-c:v", codec, "-crf", "8"];
        arguments.extend(["-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc"]);
        let quiet = ["-x265-params", "log-level=error"];
        arguments.extend(quiet.iter().filter(|_| codec == "libx265"));
        arguments.push(text(&clip));
        if !run(&ffmpeg, &arguments) {
            note("this ffmpeg cannot make HDR video");
            return;
        }
        let refusal = last_frame(&clip).unwrap_err();
        assert!(refusal.needs_ffmpeg(), "{refusal}");
        let film = folder.path().join("film.mp4");
        join(
            &whole_clips(std::slice::from_ref(&clip)),
            &film,
            &JoinOptions { ffmpeg: tools.clone(), ..JoinOptions::default() },
        )
        .unwrap();
        for frame in [tools.last_frame(&clip).unwrap(), first_frame(&film).unwrap()] {
            let (grey, white) = (frame.pixel(48, 48), frame.pixel(144, 48));
            assert!(grey.iter().all(|c| c.abs_diff(0x77) < 8), "{codec} {transfer}: {grey:?}");
            assert!(white.iter().all(|c| *c > 205), "{codec} {transfer}: {white:?}");
        }
    }
}

/// A flash after a second of frames, and a tone with it; the frames begin half a second after the sound.
#[test]
fn late_frames_stay_in_sync_with_their_sound() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [frames, late] = ["frames.mp4", "late.mp4"].map(|name| folder.path().join(name));
    let flash = "color=black:s=64x64:r=25:d=2,drawbox=t=fill:c=white:enable='eq(n,25)'";
    let tone = "aevalsrc='if(between(t,1.5,1.6),sin(2*PI*1000*t),0)':s=48000:d=2.5";
    let made = run(&ffmpeg, &["-f", "lavfi", "-i", flash, "-c:v", "libx264", text(&frames)])
        && run(
            &ffmpeg,
            &[
                "-itsoffset",
                "0.5",
                "-i",
                text(&frames),
                "-f",
                "lavfi",
                "-i",
                tone,
                "-c:v",
                "copy",
                text(&late),
            ],
        );
    if !made {
        note("this ffmpeg cannot make such a clip");
        return;
    }
    let video = probe(&late).unwrap().video.unwrap();
    assert_eq!((video.frames, video.duration, video.start.as_millis()), (50, Duration::from_secs(2), 500));
    let film = folder.path().join("film.mp4");
    join(&whole_clips(&[late]), &film, &JoinOptions::default()).unwrap();
    let spec = AudioDecodeSpec { sample_rate: 48_000, channels: 1, max_duration: Duration::from_secs(9) };
    let sound = decode_audio(&std::fs::read(&film).unwrap(), &Ffmpeg::default(), spec).unwrap();
    let heard = sound.samples.iter().position(|sample| sample.abs() > 0.2).unwrap();
    assert!(heard.abs_diff(48_000) < 1_000, "{heard}");
}
