//! `runner export --video`: the finished film in other formats, measured with ffprobe.

use std::process::Command;

use serde_json::Value;

use crate::film::tone;
use crate::support::{Output, Project, cli_snapshot};

const FILM: &str = "version: 1
name: pier
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: door, prompt: the door opens }
  - { id: stairs, prompt: up the stairs }
film:
  output: pier.mp4
  music: {file: score.wav, repeat: true}
  shots: [door, stairs]
";

/// What a program prints; `None` where it is not installed.
fn program_output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Needs ffmpeg, and of the formats those whose encoders it has.
#[test]
fn film_is_encoded_in_other_formats() {
    let project = Project::new("pier.yaml", FILM);
    fs_err::write(project.file("score.wav"), tone(220.0)).expect("the folder can be written");
    cli_snapshot!(
        "export_video_before_run",
        project.runner(&["export", "pier.yaml", "--video", "prores"]).expect(2)
    );
    project.runner(&["run", "pier.yaml"]).expect(0);
    let mut command = project.command(&["export", "pier.yaml", "--video", "prores"]);
    command.env("PATH", "");
    let refused = Output::from_process(&command.output().expect("the program can be started"));
    cli_snapshot!("export_video_without_ffmpeg", refused.expect(5));
    let (Some(encoders), Some(_)) =
        (program_output("ffmpeg", &["-hide_banner", "-encoders"]), program_output("ffprobe", &["-version"]))
    else {
        println!("skipped: ffmpeg and ffprobe are not installed");
        return;
    };
    let formats = [
        ("prores", "prores_ks", "pier.mov", "prores", Some("pcm_s16le")),
        ("h265", "libx265", "pier.h265.mp4", "hevc", Some("aac")),
        ("av1", "av1", "pier.av1.mp4", "av1", Some("aac")),
        ("webm", "libvpx-vp9", "pier.webm", "vp9", Some("opus")),
        ("gif", "gif", "pier.gif", "gif", None),
    ];
    for (format, encoder, name, codec, sound) in formats {
        if !encoders.contains(encoder) {
            println!("skipped: this ffmpeg lacks {encoder}");
            continue;
        }
        let output = project.runner(&["export", "pier.yaml", "--video", format]).expect(0);
        assert_eq!(output.out.trim(), format!("out/pier/{name}"), "{}", output.transcript());
        let file = project.file(&format!("out/pier/{name}"));
        let arguments = [
            "-v",
            "error",
            "-count_frames",
            "-show_streams",
            "-show_format",
            "-show_chapters",
            "-of",
            "json",
        ];
        let probe = program_output("ffprobe", &[&arguments[..], &[&*file.to_string_lossy()]].concat())
            .expect("ffprobe");
        let probe: Value = serde_json::from_str(&probe).expect("JSON");
        let stream = |kind: &str| {
            let streams = probe["streams"].as_array().expect("streams");
            streams.iter().find(|stream| stream["codec_type"] == kind).cloned()
        };
        let video = stream("video").expect("frames");
        assert_eq!(video["codec_name"], codec, "{format}");
        let frame_count: u64 =
            video["nb_read_frames"].as_str().and_then(|count| count.parse().ok()).expect("a count");
        // Two seconds: eight frames per second in the film, twelve in the animation.
        assert_eq!(frame_count, if format == "gif" { 24 } else { 16 }, "{format}");
        let audio = stream("audio").map(|sound| sound["codec_name"].as_str().unwrap_or_default().to_owned());
        assert_eq!(audio.as_deref(), sound, "{format}");
        let bytes = fs_err::read(&file).expect("a file");
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has("http://cv.iptc.org/newscodes/digitalsourcetype/algorithmicMedia"), "{format}");
        assert!(has("door: the door opens\nstairs: up the stairs"), "{format}");
        if format == "webm" {
            assert!(probe["format"]["tags"]["DIGITAL_SOURCE_TYPE"].is_string(), "{probe}");
        } else {
            let box_name = match format {
                "prores" => "XMP_<?xpacket",
                "gif" => "XMP DataXMP<?xpacket",
                _ => "uuid",
            };
            assert!(has(box_name), "{format}");
        }
        if format != "gif" {
            assert_eq!(probe["chapters"].as_array().map(Vec::len), Some(2), "{format}");
            assert!(probe["format"]["tags"].to_string().contains("Synthetic preview"), "{format}: {probe}");
        }
    }
    cli_snapshot!(
        "export_video_existing_file",
        project.runner(&["export", "pier.yaml", "--video", "prores"]).expect(2)
    );
    project.runner(&["export", "pier.yaml", "--video", "gif", "--overwrite"]).expect(0);
    let name = ["export", "pier.yaml", "--video", "h265", "--output", "out/pier/pier.mp4", "--overwrite"];
    cli_snapshot!("export_video_over_the_film", project.runner(&name).expect(2));
    // Another edit is another film.
    fs_err::write(project.file("pier.yaml"), FILM.replace("[door, stairs]", "[stairs, door]"))
        .expect("a file");
    cli_snapshot!(
        "export_video_of_an_earlier_cut",
        project.runner(&["export", "pier.yaml", "--video", "gif", "--overwrite"]).expect(2)
    );
}
