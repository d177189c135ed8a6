//! Forty files from ffmpeg, each between two others in a film: whatever the muxer, the codec and the sound, the film shows the right frames, with
//! ffmpeg and, where the codecs are native, without it. Each frame shows its number, as eight bits.

use std::path::Path;
use std::process::Command;

use media::{Ffmpeg, FrameRate, JoinOptions, join};

use crate::foreign::{ffmpeg, note, run, text, whole_clips};

const SIZE: (u32, u32) = (192, 64);
/// Frames of a clip, and the number of its first one.
const FRAMES: u8 = 12;
const FIRST: u8 = 64;

/// A file: its name, the rate of its frames, the options that make it, and whether it is joined without ffmpeg.
struct Case(&'static str, &'static str, &'static str, bool);

const X264: &str = "-c:v libx264 -pix_fmt yuv420p -c:a aac";

/// `H264` stands for [`X264`].
const CASES: [Case; 40] = [
    Case("plain.mp4", "25", "H264", true),
    Case("baseline.mp4", "25", "H264 -profile:v baseline", true),
    Case("main.mp4", "25", "H264 -profile:v main -bf 0", true),
    Case("pyramid.mp4", "25", "H264 -bf 4 -b_strategy 0", true),
    Case("open.mp4", "25", "H264 -x264-params open-gop=1:keyint=6:min-keyint=6:bframes=2:scenecut=0", true),
    Case("intra.mp4", "25", "H264 -g 1", true),
    Case("slices.mp4", "25", "H264 -x264-params slices=4", true),
    Case("cavlc.mp4", "25", "H264 -coder 0", true),
    Case("full.mp4", "25", "-c:v libx264 -pix_fmt yuvj420p -color_range pc -c:a aac", true),
    Case(
        "bt601.mp4",
        "25",
        "H264 -colorspace smpte170m -color_primaries smpte170m -color_trc smpte170m",
        true,
    ),
    Case("bt709.mp4", "25", "H264 -colorspace bt709 -color_primaries bt709 -color_trc bt709", true),
    Case("late-index.mp4", "25", "H264 -movflags -faststart", true),
    Case("early-index.mp4", "25", "H264 -movflags +faststart", true),
    Case("fragments.mp4", "25", "H264 -movflags +frag_keyframe+empty_moov", true),
    Case("fragments-moof.mp4", "25", "H264 -movflags +frag_keyframe+empty_moov+default_base_moof", true),
    Case("no-edits.mp4", "25", "H264 -use_editlist 0 -bf 0 -an", true),
    Case("time-code.mp4", "25", "H264 -timecode 01:00:00:00", true),
    Case("scaled.mp4", "25", "H264 -s 384x128", true),
    Case("odd.mp4", "25", "-c:v libx264 -pix_fmt yuv444p -s 191x64 -c:a aac", false),
    Case("cinema.mp4", "24", "H264", true),
    Case("ntsc.mp4", "30000/1001", "H264", true),
    Case("thirty.mp4", "30", "H264", true),
    Case("silent.mp4", "25", "H264 -an", true),
    Case("mono.mp4", "25", "H264 -ac 1 -ar 44100", true),
    Case("five.mp4", "25", "H264 -ac 6", true),
    Case("mp3.mp4", "25", "H264 -c:a libmp3lame", false),
    Case("opus.mp4", "25", "H264 -c:a libopus", false),
    Case("ac3.mp4", "25", "H264 -c:a ac3", false),
    Case("quicktime.mov", "25", "H264", true),
    Case("pcm.mov", "25", "H264 -c:a pcm_s16le", false),
    Case("prores.mov", "25", "-c:v prores_ks -c:a pcm_s16le", false),
    Case("jpeg.mov", "25", "-c:v mjpeg -pix_fmt yuvj420p -c:a aac", false),
    Case("ten-bit.mp4", "25", "-c:v libx264 -pix_fmt yuv420p10le -c:a aac", false),
    Case("interlaced.mp4", "25", "H264 -flags +ilme+ildct", false),
    Case(
        "hevc.mp4",
        "25",
        "-c:v libx265 -x265-params log-level=error -pix_fmt yuv420p -tag:v hvc1 -c:a aac",
        false,
    ),
    Case("vp9.mp4", "25", "-c:v libvpx-vp9 -pix_fmt yuv420p -c:a aac", false),
    Case("vp9.webm", "25", "-c:v libvpx-vp9 -pix_fmt yuv420p -c:a libopus", false),
    Case("vp8.webm", "25", "-c:v libvpx -pix_fmt yuv420p -c:a libvorbis", false),
    Case("matroska.mkv", "25", "H264", false),
    Case("visual.mp4", "25", "-c:v mpeg4 -q:v 2 -c:a aac", false),
];

/// Makes a clip; `false` where this ffmpeg lacks an encoder.
fn make(ffmpeg: &Path, path: &Path, first: u8, rate: &str, options: &str) -> bool {
    let (width, height) = SIZE;
    let numbers = format!(
        "color=gray:s={width}x{height}:r={rate},geq=lum='if(mod(floor((N+{first})/pow(2,floor(X/24))),2),220,30)':cb=128:cr=128,\
         trim=end_frame={FRAMES}"
    );
    let options = options.replace("H264", X264);
    let mut arguments = vec!["-f", "lavfi", "-i", &numbers, "-f", "lavfi", "-i", "sine=440:r=48000:d=0.5"];
    arguments.extend(options.split(' '));
    arguments.push(text(path));
    run(ffmpeg, &arguments)
}

/// The numbers of a video's frames.
fn numbers(ffmpeg: &Path, video: &Path) -> Vec<u8> {
    let arguments =
        ["-v", "error", "-i", text(video), "-vf", "scale=8:1:flags=area,format=gray", "-fps_mode"];
    let output =
        Command::new(ffmpeg).args(arguments).args(["passthrough", "-f", "rawvideo", "-"]).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bit = |(index, level): (usize, &u8)| u8::from(*level > 125) << index;
    output.stdout.chunks_exact(8).map(|levels| levels.iter().enumerate().map(bit).sum()).collect()
}

#[test]
fn films_of_foreign_files_show_the_right_frames() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("reference.mp4");
    if !make(&ffmpeg, &reference, 0, "25", X264) {
        return note("this ffmpeg has no libx264");
    }
    let film = folder.path().join("film.mp4");
    let base = JoinOptions { size: Some(SIZE), frame_rate: FrameRate::new(25, 1), ..JoinOptions::default() };
    for Case(name, rate, options, is_native) in CASES {
        let clip = folder.path().join(name);
        if !make(&ffmpeg, &clip, FIRST, rate, options) {
            note(&format!("this ffmpeg cannot make {name}"));
            continue;
        }
        let clips = whole_clips(&[reference.clone(), clip, reference.clone()]);
        for tools in [Ffmpeg::with_ffmpeg(ffmpeg.clone()), Ffmpeg::default()] {
            let has_tools = tools.ffmpeg.is_some();
            let joined = join(&clips, &film, &JoinOptions { ffmpeg: tools, ..base.clone() });
            let joined = match joined {
                Ok(joined) if has_tools || is_native => joined,
                Err(error) if !has_tools && !is_native => {
                    assert!(error.needs_ffmpeg(), "{name}: {error}");
                    continue;
                }
                other => panic!("{name}: {other:?}"),
            };
            let shown = numbers(&ffmpeg, &film);
            let (up, down) = rate.split_once('/').unwrap_or((rate, "1"));
            let seconds = f64::from(FRAMES) * down.parse::<f64>().unwrap() / up.parse::<f64>().unwrap();
            let own = (seconds * 25.0).round() as usize;
            let ends: Vec<u8> = (0..FRAMES).collect();
            assert_eq!(shown.len(), own + 24, "{name}: {shown:?}");
            assert_eq!((&shown[..12], &shown[12 + own..]), (&*ends, &*ends), "{name}: {shown:?}");
            let middle = &shown[12..12 + own];
            assert_eq!(middle[0], FIRST, "{name}: {middle:?}");
            assert!(middle.is_sorted(), "{name}: {middle:?}");
            let last = FIRST + FRAMES - 1;
            assert!(
                middle[own - 1] == last || rate != "25" && middle[own - 1] + 1 == last,
                "{name}: {middle:?}"
            );
            if rate == "25" {
                let all: Vec<u8> = (FIRST..=last).collect();
                assert_eq!(middle, all, "{name}");
            }
            assert!(joined.has_audio, "{name}");
        }
    }
}
