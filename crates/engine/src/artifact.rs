//! Finished videos on disk: what is known of one, how its file is named, and whether it is still what was paid for.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use workflow::plan::{Node, NodeKey};

use crate::time::Millis;

/// A downloaded, verified video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Where the file is.
    pub path: PathBuf,
    /// SHA-256 of the file, lower-case hex.
    pub sha256: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Playing time in seconds, as probed.
    pub seconds: f64,
    /// Picture width in pixels.
    pub width: u32,
    /// Picture height in pixels.
    pub height: u32,
    /// Where the service keeps the last frame, when the task returned one (`metadata.last_frame_url`).
    pub last_frame_url: Option<String>,
    /// When the service's own copies expire (spec 2.5 `expires_at`), where it said so.
    pub expires_at: Option<Millis>,
    /// When the file was last changed, in nanoseconds since the epoch, as its file system tells: with the size, enough to see that it is
    /// still the same without reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<i64>,
}

impl Artifact {
    /// The last frame's address if it can still be relied upon: `margin` must remain before it expires.
    #[must_use]
    pub fn usable_last_frame_url(&self, now: Millis, margin: std::time::Duration) -> Option<&str> {
        match self.expires_at {
            Some(expires) if now.after(margin) >= expires => None,
            _ => self.last_frame_url.as_deref(),
        }
    }

    /// Whether the file is there and byte for byte what was downloaded.
    ///
    /// # Errors
    /// When the file exists but cannot be read.
    pub fn verify(&self) -> std::io::Result<bool> {
        match std::fs::metadata(&self.path) {
            Ok(found) if found.is_file() && found.len() == self.bytes => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(file_sha256(&self.path)? == self.sha256)
    }
}

/// SHA-256 of bytes, lower-case hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// SHA-256 of a file, lower-case hex, read in pieces.
///
/// # Errors
/// When the file cannot be read; the error names it.
pub fn file_sha256(path: &Path) -> std::io::Result<String> {
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
#[must_use]
pub fn file_name(node: &Node, key: &NodeKey) -> String {
    let mut name = String::new();
    for letter in node.name.chars() {
        let safe = letter.is_ascii_alphanumeric() || matches!(letter, '_' | '=' | '.');
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
