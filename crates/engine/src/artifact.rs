//! Files of finished videos: hashing, naming, and verification against the [`Artifact`] on record.

use std::io::Read;
use std::path::Path;

use scheduler::Artifact;
use sha2::{Digest, Sha256};
use workflow::plan::{Node, NodeKey};

use crate::sidecar::is_hex;

/// Whether the file is there and byte for byte what was downloaded.
///
/// # Errors
/// When the file exists but cannot be read.
pub fn verify(artifact: &Artifact) -> std::io::Result<bool> {
    match std::fs::metadata(&artifact.path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == artifact.bytes => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    Ok(file_sha256(&artifact.path)? == artifact.sha256)
}

/// SHA-256 of bytes, lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// SHA-256 of a file, lower-case hex, read in pieces.
///
/// # Errors
/// When the file cannot be read or is no regular file; the error names it.
pub fn file_sha256(path: &Path) -> std::io::Result<String> {
    // Before it is opened: a pipe would wait for a writer.
    if !fs_err::metadata(path)?.is_file() {
        return Err(std::io::Error::other(format!("{} is not a regular file", path.display())));
    }
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0_u8; 1 << 16];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hex::encode(hasher.finalize()));
        }
        hasher.update(&piece[..read]);
    }
}

/// The file name of a node's video: its own name made safe, and the beginning of its key, so that two versions of a shot never
/// share a file and nothing paid for is overwritten.
pub fn file_name(node: &Node, key: &NodeKey) -> String {
    file_name_of(&node.name, key)
}

/// As [`file_name`], by the node's name.
pub fn file_name_of(node: &str, key: &NodeKey) -> String {
    let mut name = String::new();
    for letter in node.chars() {
        let safe = workflow::is_name_letter(letter) || matches!(letter, '_' | '=' | '.');
        match (safe, name.ends_with('-')) {
            (true, _) => name.push(letter),
            (false, false) => name.push('-'),
            (false, true) => {}
        }
        if name.len() >= 80 {
            break;
        }
    }
    let name = name.trim_matches(['-', '.']);
    let name = if name.is_empty() { "shot" } else { name };
    format!("{name}-{}.mp4", key.short())
}

/// Digits of a key in a file name.
const KEY_DIGITS: usize = 12;

/// The beginning of the key, with its number, in the name of a video: `0123456789ab`, `0123456789ab-2`.
pub(crate) fn key_of_file_name(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    if !media::VIDEO_EXTENSIONS.contains(&extension) {
        return None;
    }
    let is_key = |key: &str| key.len() == KEY_DIGITS && is_hex(key);
    let (before, last) = stem.rsplit_once('-')?;
    if is_key(last) {
        return Some(last);
    }
    let (_, key) = before.rsplit_once('-')?;
    let is_number = !last.starts_with('0') && last.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && is_key(key)).then(|| &stem[stem.len() - key.len() - 1 - last.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_letters_of_any_script() {
        let key = NodeKey::parse(&"ab".repeat(32)).unwrap();
        let name = |node: &str| file_name_of(node, &key).replace(&key.short(), "KEY");
        assert_eq!(name("harbor@lens=24mm,seed=1#2"), "harbor-lens=24mm-seed=1-2-KEY.mp4");
        assert_eq!(name("海@look=灯台の夜"), "海-look=灯台の夜-KEY.mp4");
        assert_eq!(name("../🌊"), "shot-KEY.mp4");
        let long = name(&"あ".repeat(200));
        assert!(long.starts_with('あ') && long.len() < 120, "{long}");
    }
}
