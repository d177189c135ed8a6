//! Reproducible archives: tar.gz, and zip for Windows.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::target::Target;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Relative to the archive's folder, with `/`.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_executable: bool,
}

impl Entry {
    fn mode(&self) -> u32 {
        if self.is_executable { 0o755 } else { 0o644 }
    }
}

/// The archive of a target: all files in one folder, in the order of their paths.
pub(super) fn pack(target: Target, folder: &str, files: &[Entry], time: u64) -> Result<Vec<u8>, String> {
    let mut sorted: Vec<&Entry> = files.iter().collect();
    sorted.sort();
    let packed = if target.is_windows() { zip(folder, &sorted) } else { tar_gz(folder, &sorted, time) };
    packed.map_err(|error| format!("the archive cannot be written: {error}"))
}

fn tar_gz(folder: &str, files: &[&Entry], time: u64) -> std::io::Result<Vec<u8>> {
    // The header of gzip has no time and no name.
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for file in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(file.bytes.len() as u64);
        header.set_mode(file.mode());
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, format!("{folder}/{}", file.path), file.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}

/// Without times, because those of zip have no time zone.
fn zip(folder: &str, files: &[&Entry]) -> std::io::Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(file.mode());
        archive.start_file(format!("{folder}/{}", file.path), options)?;
        archive.write_all(&file.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use crate::dist::target;

    use super::*;

    fn entry(path: &str, is_executable: bool) -> Entry {
        Entry { path: path.to_owned(), bytes: path.as_bytes().to_vec(), is_executable }
    }

    #[test]
    fn archives_do_not_depend_on_the_order_of_files() {
        let files = [entry("runner", true), entry("README.md", false), entry("man/man1/runner.1", false)];
        let reversed: Vec<Entry> = files.iter().rev().cloned().collect();
        for triple in ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc"] {
            let target = target::find(triple).expect("a target");
            let packed = pack(target, "runner-1", &files, 1_700_000_001).expect("an archive");
            assert_eq!(packed, pack(target, "runner-1", &reversed, 1_700_000_001).expect("an archive"));
        }
    }

    #[test]
    fn tar_has_modes_times_and_contents() {
        let target = target::find("x86_64-unknown-linux-gnu").expect("a target");
        let files = [entry("runner", true), entry("README.md", false)];
        let packed = pack(target, "runner-1", &files, 1_700_000_001).expect("an archive");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let mut entries = Vec::new();
        for file in archive.entries().expect("entries") {
            let mut file = file.expect("an entry");
            let mut text = String::new();
            file.read_to_string(&mut text).expect("text");
            let path = file.path().expect("a path").to_string_lossy().into_owned();
            let header = file.header();
            entries.push((path, header.mode().expect("a mode"), header.mtime().expect("a time"), text));
        }
        let time = 1_700_000_001;
        assert_eq!(
            entries,
            [
                ("runner-1/README.md".to_owned(), 0o644, time, "README.md".to_owned()),
                ("runner-1/runner".to_owned(), 0o755, time, "runner".to_owned()),
            ]
        );
    }
}
