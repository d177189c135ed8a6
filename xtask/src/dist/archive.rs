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
pub(super) fn pack(target: &Target, folder: &str, files: &[Entry], time: u64) -> Result<Vec<u8>, String> {
    let mut sorted: Vec<&Entry> = files.iter().collect();
    sorted.sort();
    let packed = if target.is_windows() { zip(folder, &sorted, time) } else { tar_gz(folder, &sorted, time) };
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

fn zip(folder: &str, files: &[&Entry], time: u64) -> std::io::Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip_time(time))
            .unix_permissions(file.mode());
        archive.start_file(format!("{folder}/{}", file.path), options)?;
        archive.write_all(&file.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A time of zip, in UTC: from 1980 on, in steps of two seconds.
fn zip_time(seconds: u64) -> zip::DateTime {
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days; for years from 1970 on.
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    zip::DateTime::from_date_and_time(
        year as u16,
        month as u8,
        day as u8,
        hour as u8,
        minute as u8,
        second as u8,
    )
    .unwrap_or_default()
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
    fn archives_do_not_depend_on_the_order_of_files_and_have_their_times() {
        let files = [entry("runner", true), entry("README.md", false), entry("man/man1/runner.1", false)];
        let reversed: Vec<Entry> = files.iter().rev().cloned().collect();
        for triple in ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc"] {
            let target = target::find(triple).expect("a target");
            let packed = pack(target, "runner-1", &files, 1_700_000_001).expect("an archive");
            assert_eq!(packed, pack(target, "runner-1", &reversed, 1_700_000_001).expect("an archive"));
            assert_ne!(packed, pack(target, "runner-1", &files, 1_600_000_000).expect("an archive"));
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

    #[test]
    fn zip_times_are_utc() {
        // `date -u -d @1700000001`: 2023-11-14 22:13:21.
        let time = zip_time(1_700_000_001);
        assert_eq!((time.year(), time.month(), time.day()), (2023, 11, 14));
        assert_eq!((time.hour(), time.minute(), time.second()), (22, 13, 20));
        // 2024-02-29 00:00:00, a leap day.
        let time = zip_time(1_709_164_800);
        assert_eq!((time.year(), time.month(), time.day()), (2024, 2, 29));
    }
}
