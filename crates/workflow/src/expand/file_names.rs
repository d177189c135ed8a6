//! The files that misspelled names of files probably mean.

use std::path::Path;

use super::ExpandCx;
use crate::diagnostic::nearest;
use crate::files::{DirEntry, Files, normalize_relative};

/// Entries of a folder that are compared with a name.
const MAX_ENTRIES: usize = 200;
/// Names of files for which others are looked for: reading folders takes long.
const MAX_LOOKUPS: usize = 50;

/// The help for a name of a file that does not exist, or that a workflow may not read.
pub(super) fn suggestion(written: &str, cx: &ExpandCx<'_>) -> Option<String> {
    let lookups = cx.file_lookups.get();
    cx.file_lookups.set(lookups + 1);
    if lookups < MAX_LOOKUPS { meant(written, cx.files) } else { None }
}

fn meant(written: &str, files: &dyn Files) -> Option<String> {
    // What is in the workflow's folder may be named from elsewhere, and with the separators of Windows.
    let path = written.replace('\\', "/");
    let is_inside = normalize_relative(&path).is_some();
    let mut rest = Some(path.trim_start_matches('/'));
    while let Some(part) = rest {
        // A file that is there and cannot be read is no misspelled one.
        if let Some(name) = existing(part, files).filter(|name| name != written) {
            return Some(format!("did you mean `{name}`?"));
        }
        rest = part.split_once('/').map(|(_, below)| below).filter(|_| !is_inside);
    }
    (is_inside && path != written).then(|| format!("write `/` between folders: `{path}`"))
}

/// The file whose path is the one given, or nearest to it in each of its parts.
fn existing(path: &str, files: &dyn Files) -> Option<String> {
    let path = normalize_relative(path)?;
    let mut existing_path = String::new();
    let mut parts = path.iter().peekable();
    while let Some(part) = parts.next() {
        let is_folder = parts.peek().is_some();
        let mut entries = files.list(Path::new(&existing_path), MAX_ENTRIES).ok()?;
        entries.retain(|entry| entry.folder == is_folder);
        let name = nearest_entry(part.to_str()?, &entries)?;
        if !existing_path.is_empty() {
            existing_path.push('/');
        }
        existing_path.push_str(name);
    }
    Some(existing_path)
}

/// The entry of a name, or the nearest one. Names are compared without their endings: those of images differ in little.
fn nearest_entry<'e>(name: &str, entries: &'e [DirEntry]) -> Option<&'e str> {
    let names = || entries.iter().map(|entry| entry.name.as_str());
    let stem = |name: &str| name.rsplit_once('.').map_or(name.to_owned(), |(stem, _)| stem.to_owned());
    let lower = name.to_lowercase();
    names()
        .find(|entry| *entry == name)
        .or_else(|| names().find(|entry| entry.to_lowercase() == lower))
        .or_else(|| {
            let stems: Vec<String> = names().map(stem).collect();
            let meant = nearest(&stem(name), stems.iter().map(String::as_str))?;
            names().find(|entry| stem(entry) == meant)
        })
}

#[cfg(test)]
mod tests {
    use super::meant;
    use crate::files::{Files, InMemory};

    #[test]
    fn files_that_exist_are_suggested() {
        let files = InMemory::default().with("stills/keeper.png", "x").with("a.png", "x");
        for (written, expected) in [
            ("stills/keper.png", Some("did you mean `stills/keeper.png`?")),
            ("Stills/Keeper.PNG", Some("did you mean `stills/keeper.png`?")),
            ("still/keeper.jpg", Some("did you mean `stills/keeper.png`?")),
            ("stills\\keeper.png", Some("did you mean `stills/keeper.png`?")),
            ("/films/harbor/stills/keeper.png", Some("did you mean `stills/keeper.png`?")),
            ("C:\\film\\a.png", Some("did you mean `a.png`?")),
            ("videos\\b.png", Some("write `/` between folders: `videos/b.png`")),
            ("b.png", None),
            ("nowhere/b.png", None),
            ("", None),
        ] {
            assert_eq!(meant(written, &files).as_deref(), expected, "{written}");
        }
        assert!(files.read("stills/keeper.png".as_ref(), 10).is_ok());
    }
}
