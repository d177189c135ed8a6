//! The media gate: a local file that cannot be sent is reported by `check`, `plan` and `run` before anything is submitted.

use media::{RgbImage, encode_png};

use crate::support::{Project, cli_snapshot};

/// Two shots, of which the second takes `media`; the first one would be paid for.
fn two_shots(media: &str) -> String {
    format!(
        "version: 1\nname: gate\ndefaults: {{model: modelb-video-480p, seconds: 1}}\nshots:\n  \
         - {{id: first, prompt: a quiet sea}}\n  - {{id: second, needs: first, {media}, prompt: the sea wakes}}\n"
    )
}

/// Puts a file beside a workflow that uses it as a first frame; gives what `check` says.
#[track_caller]
fn refused(name: &str, bytes: &[u8]) -> String {
    let project = Project::new("gate.yaml", &two_shots(&format!("first_frame: {name}")));
    fs_err::write(project.file(name), bytes).expect("a file is written");
    assert_refused_everywhere(&project)
}

#[track_caller]
fn assert_refused_everywhere(project: &Project) -> String {
    let check = project.runner(&["check", "gate.yaml"]).expect(2);
    for command in ["plan", "run"] {
        assert_eq!(project.runner(&[command, "gate.yaml"]).expect(2).err, check.err, "{command}");
    }
    assert!(!project.file(".runner").exists(), "nothing is recorded, so nothing was submitted");
    check.err
}

#[test]
fn check_png_of_22_mib_is_refused() {
    insta::assert_snapshot!(refused("big.png", &vec![0; 22 << 20]));
}

/// The beginning of a file in the container of MP4 with a brand.
fn image_of_brand(brand: [u8; 4]) -> Vec<u8> {
    [&b"\0\0\0\x18ftyp"[..], &brand, b"\0\0\0\0mif1miaf\0\0\0\x08mdat"].concat()
}

#[test]
fn check_heic_is_refused_by_its_name() {
    insta::assert_snapshot!(refused("photo.heic", &image_of_brand(*b"heic")));
}

#[test]
fn run_accepted_file_is_sent() {
    let project = Project::new("gate.yaml", &two_shots("first_frame: still.png"));
    fs_err::write(project.file("still.png"), encode_png(&RgbImage::new(64, 48))).expect("a file is written");
    project.runner(&["check", "gate.yaml"]).expect(0);
    project.runner(&["run", "gate.yaml"]).expect(0);
}

/// One shot, which would be paid for, in a film with this music.
fn film_with(music: &str) -> String {
    format!(
        "version: 1\nname: gate\ndefaults: {{model: modelb-video-480p, seconds: 1}}\nshots:\n  \
         - {{id: first, prompt: a quiet sea}}\nfilms:\n  - {{output: gate.mp4, music: {music}}}\n"
    )
}

/// A WAV file of 8 bits and 8 kHz in this coding. Its samples are zeros that take no room on disk.
fn write_wav(project: &Project, name: &str, coding: u16, seconds: u32) {
    let mut header = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    header.extend([coding, 1].map(u16::to_le_bytes).concat());
    header.extend(8_000_u32.to_le_bytes().repeat(2));
    header.extend(b"\x01\0\x08\0data");
    header.extend((8_000 * seconds).to_le_bytes());
    let mut file = fs_err::File::create(project.file(name)).expect("a file");
    std::io::Write::write_all(&mut file, &header).expect("it is written");
    file.set_len(header.len() as u64 + 8_000 * u64::from(seconds)).expect("it grows");
}

/// The header of a damaged stream says nothing: it is decoded whole before anything is paid for.
#[test]
fn check_truncated_music_is_refused() {
    let flac = include_bytes!("../../crates/media/tests/it/sounds/tone.flac");
    let project = Project::new("gate.yaml", &film_with("score.flac"));
    fs_err::write(project.file("score.flac"), &flac[..flac.len() / 2]).expect("a file is written");
    insta::assert_snapshot!(assert_refused_everywhere(&project));
}

/// Which formats are decoded depends on the machine: the shots are kept, and the film is joined once ffmpeg is there.
#[test]
fn check_tells_which_music_needs_ffmpeg() {
    const MU_LAW: u16 = 7;
    let project = Project::new("gate.yaml", &film_with("score.wav"));
    write_wav(&project, "score.wav", MU_LAW, 1);
    let folder = project.file("tools");
    fs_err::create_dir(&folder).expect("a folder");
    let check = || project.runner_with(("PATH", folder.to_str().expect("a path")), &["check", "gate.yaml"]);
    cli_snapshot!("check_music_without_ffmpeg", check().expect(0));
    fs_err::write(folder.join(format!("ffmpeg{}", std::env::consts::EXE_SUFFIX)), "").expect("a file");
    assert_eq!(check().expect(0).err, "");
}
