//! Where secrets are, and where they are not: the API key of the service is in workers only, prompts and images are in the shared store only.
//!
//! A run with canaries as its key, prompt and image; afterwards every file of the cluster is searched: Restate's data, the shared store, the
//! logs of workers at their most talkative, what clients print and write. A canary that has to be in Restate's data shows that the search would
//! find one there.
//!
//! The same run shows that workers with an identity key serve a server that signs its requests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use super::processes::{Cluster, stderr};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};
use crate::exit_code::{ACTION_NEEDED, DONE};

const KEY: &str = "sk-canary-key-2f6b1c9e8d7a";
const PROMPT: &str = "canary prompt 7c1e5a90";
/// Ends the first line of the image's text, which nobody draws.
const IMAGE: &str = "canary image 41d8b3f2";
/// The name of a shot: it is in Restate's data.
const SHOT: &str = "canary-shot-93ab";
const CELLS: usize = 12;

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    // Answers that are lost, and refusals: their messages are in the journal.
    let behavior = Behavior {
        dropped_answers: 15,
        dropped_requests: 15,
        throttled: 15,
        latency: Duration::from_millis(100),
        task: Duration::from_millis(500),
    };
    let service = CountingService::start(3, behavior)?;
    let keys = tempfile::tempdir().map_err(|error| error.to_string())?;
    let key_file = keys.path().join("api-key");
    fs_err::write(&key_file, format!("{KEY}\n")).map_err(|error| error.to_string())?;
    let key_file = key_file.display().to_string();
    // From a file; the variable is empty, as if it were not set.
    let (server, identity) = prepare_server(server, keys.path())?;
    let key_args = ["--api-key-file", key_file.as_str(), "--identity-key", identity.as_str()];
    // Submissions whose outcome is unknown make room again once their tasks have certainly ended.
    let args = [&["-vvv", "--hold-indeterminate", "2"], key_args.as_slice()].concat();
    let cluster = Cluster::start(&server, program, 2, (service.base_url(), ""), &args)?;
    // Not in the cluster's folder: the workflow and its image are the user's own.
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = write_project(project.path())?;
    let mut outputs = Vec::new();
    let formats = ["text", "ndjson", "json"];
    for format in formats {
        let output = cluster
            .command(&["-vvv", "run", &file, "--output-dir", "out", "--format", format])
            .output()
            .map_err(|error| error.to_string())?;
        if !matches!(output.status.code(), Some(DONE | ACTION_NEEDED)) {
            return Err(format!("a run ended with {}: {}", output.status, stderr(&output)));
        }
        outputs.extend([output.stdout, output.stderr].concat());
    }
    if service.accepted() == 0 {
        return Err("nothing was submitted".to_owned());
    }
    fs_err::write(cluster.folder().join("printed"), &outputs).map_err(|error| error.to_string())?;
    for id in cluster.worker_ids() {
        // Where the system tells the command lines of processes.
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        if contains(&line, &forms(KEY)) {
            return Err("the API key is in the command line of a worker".to_owned());
        }
    }
    let searched = search(cluster.folder())?;
    Ok(format!(
        "the API key is in none of {searched} files of Restate, the store, logs and outputs; the prompt and the image are in the store only"
    ))
}

/// The server with an identity of its own, and with files that can be searched: what it compresses cannot. Returns the public key as well.
fn prepare_server(server: &ServerProgram, folder: &Path) -> Result<(ServerProgram, String), String> {
    let unusable = |_| "no key can be made".to_owned();
    let private = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(unusable)?;
    let pair = Ed25519KeyPair::from_pkcs8(private.as_ref()).map_err(|error| error.to_string())?;
    let public = format!("publickeyv1_{}", bs58::encode(pair.public_key().as_ref()).into_string());
    let (pem, script) = (folder.join("identity.pem"), folder.join("restate-server"));
    let text = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(private.as_ref())
    );
    fs_err::write(&pem, text).map_err(|error| error.to_string())?;
    let text = format!(
        "#!/bin/sh\nexport RESTATE_ROCKSDB_DISABLE_WAL_COMPRESSION=true RESTATE_ROCKSDB_DISABLE_L0_L1_COMPRESSION=true \
         RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE='{}'\nexec '{}' \"$@\"\n",
        pem.display(),
        server.path.display()
    );
    fs_err::write(&script, text).map_err(|error| error.to_string())?;
    make_executable(&script).map_err(|error| error.to_string())?;
    Ok((ServerProgram { path: script, nodes: server.nodes }, public))
}

#[cfg(unix)]
fn make_executable(script: &Path) -> std::io::Result<()> {
    fs_err::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_executable(_script: &Path) -> std::io::Result<()> {
    Ok(())
}

/// A sweep whose shots begin with an image.
fn write_project(folder: &Path) -> Result<String, String> {
    let mut image = media::RgbImage::new(640, 360);
    image.pixels_mut().fill(90);
    let png = with_text(&media::encode_png(&image), IMAGE);
    fs_err::write(folder.join("image.png"), png).map_err(|error| error.to_string())?;
    let file = folder.join("secrets.yaml");
    let text = format!(
        "version: 1\nname: secrets\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: {SHOT}\n    prompt: \"{PROMPT} {{{{ x }}}}\"\n    first_frame: image.png\n    matrix:\n      x: {{from: 1, to: {CELLS}}}\n"
    );
    fs_err::write(&file, text).map_err(|error| error.to_string())?;
    Ok(file.display().to_string())
}

/// A PNG with a chunk of text, which decoders skip, before its last chunk (PNG, 11.3.4.3).
fn with_text(png: &[u8], text: &str) -> Vec<u8> {
    let mut chunk = b"tEXtComment\0".to_vec();
    chunk.extend(text.as_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&chunk);
    let length = u32::try_from(chunk.len() - 4).unwrap_or_default();
    // `IEND` is the last chunk: twelve bytes.
    let (before, end) = png.split_at(png.len() - 12);
    [before, &length.to_be_bytes(), &chunk, &crc.sum().to_be_bytes(), end].concat()
}

/// A text as it is, and as base64 has it at any of the three offsets.
fn forms(text: &str) -> Vec<Vec<u8>> {
    let shifted = (0..3).map(|shift| {
        let padded = [vec![b' '; shift], text.as_bytes().to_vec()].concat();
        let encoded = STANDARD.encode(&padded);
        // Without the letters that depend on what is before and after it.
        let (begin, end) = (shift.div_ceil(3) * 4, padded.len() / 3 * 4);
        encoded.as_bytes()[begin..end].to_vec()
    });
    std::iter::once(text.as_bytes().to_vec()).chain(shifted).collect()
}

fn contains(content: &[u8], forms: &[Vec<u8>]) -> bool {
    forms.iter().any(|form| content.windows(form.len()).any(|window| window == form.as_slice()))
}

/// Searches all files of a cluster; returns how many there are.
fn search(folder: &Path) -> Result<usize, String> {
    let (key, private, shot) = (forms(KEY), [forms(PROMPT), forms(IMAGE)].concat(), forms(SHOT));
    let mut files = Vec::new();
    list(folder, &mut files)?;
    let (mut shot_in_restate, mut stored) = (false, [false, false]);
    for file in &files {
        // Restate may have removed one of its files.
        let Ok(content) = std::fs::read(file) else { continue };
        let name = file.strip_prefix(folder).unwrap_or(file).display();
        if contains(&content, &key) {
            return Err(format!("the API key is in {name}"));
        }
        let is_store = file.starts_with(folder.join("store"));
        if !is_store && contains(&content, &private) {
            return Err(format!("the prompt or the image is in {name}"));
        }
        if is_store {
            stored[0] |= contains(&content, &forms(PROMPT));
            stored[1] |= contains(&content, &forms(IMAGE));
        }
        shot_in_restate |= file.starts_with(folder.join("restate")) && contains(&content, &shot);
    }
    if stored != [true, true] {
        return Err(format!("the store has not what it should have: prompt, image: {stored:?}"));
    }
    if !shot_in_restate {
        return Err("the search does not find in Restate's data what is there".to_owned());
    }
    Ok(files.len())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for entry in fs_err::read_dir(folder).map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        let kind = entry.file_type().map_err(|error| error.to_string())?;
        if kind.is_dir() {
            list(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_match_base64_at_any_offset() {
        for before in ["", "a", "ab", "abc", "Bearer "] {
            for after in ["", "x", "xy"] {
                let encoded = STANDARD.encode(format!("{before}{KEY}{after}"));
                assert!(contains(encoded.as_bytes(), &forms(KEY)), "{before}{KEY}{after}");
            }
        }
        assert!(!contains(STANDARD.encode("sk-canary-key-another1").as_bytes(), &forms(KEY)));
    }

    #[test]
    fn image_with_text_is_an_image() {
        let png = with_text(&media::encode_png(&media::RgbImage::new(8, 8)), IMAGE);
        assert!(contains(&png, &forms(IMAGE)));
        assert!(media::inspect(&png).is_ok());
    }
}
