//! The state of a project: its video files, and its tasks at the embedded service.

use std::path::PathBuf;

use super::Project;

/// Every shot's name and file.
pub(crate) fn shots(project: &Project, workflow: &str) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs_err::read_dir(project.file("out").join(workflow)) else { return Vec::new() };
    let mut shots: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|file| {
            let stem = file.file_name()?.to_str()?;
            let stem = stem.strip_suffix(".mp4").or(stem.strip_suffix(".mov"))?.to_owned();
            let (name, _key) = stem.rsplit_once('-')?;
            Some((name.to_owned(), file))
        })
        .collect();
    shots.sort();
    shots
}

/// The attempts whose outcome a person has to state, as `resolve` lists them, oldest first.
pub(crate) fn indeterminate(project: &Project, workflow: &str) -> Vec<String> {
    let list = project.runner(&["resolve", workflow, "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).expect("a list");
    let rows = list.as_array().expect("a list").iter();
    let rows = rows.filter(|row| row["state"] == "indeterminate" || row["state"] == "intended");
    // By shot: those of a run are submitted at once.
    let mut rows: Vec<_> = rows.map(|row| (row["shot"].to_string(), &row["attempt"])).collect();
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    rows.into_iter().map(|(_, attempt)| attempt.as_str().expect("an attempt").to_owned()).collect()
}

/// How many tasks the embedded service has accepted in all. It must not be running: its store belongs to one process at a time.
pub(crate) fn accepted(project: &Project) -> usize {
    let file = project.file(".runner/service/service.db");
    let store = rusqlite::Connection::open(file).expect("the service's store is there");
    let count: i64 =
        store.query_row("SELECT count(*) FROM task", [], |row| row.get(0)).expect("a table of tasks");
    usize::try_from(count).expect("a small number")
}

/// Removes the ledger of a project, and leaves what else is in its folder.
pub(crate) fn remove_ledger(project: &Project) {
    for file in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        drop(fs_err::remove_file(project.file(".runner").join(file)));
    }
}

/// The files of the ledger with their contents.
pub(crate) type Backup = Vec<(PathBuf, Vec<u8>)>;

pub(crate) fn back_up(project: &Project) -> Backup {
    let files = ["ledger.db", "ledger.db-wal"].map(|file| project.file(".runner").join(file)).into_iter();
    files.filter_map(|path| Some((path.clone(), fs_err::read(&path).ok()?))).collect()
}

/// Puts a backup in the place of the ledger, as `rm` and `cp` do.
pub(crate) fn restore(project: &Project, backup: &Backup) {
    remove_ledger(project);
    for (path, bytes) in backup {
        fs_err::write(path, bytes).expect("a writable folder");
    }
}
