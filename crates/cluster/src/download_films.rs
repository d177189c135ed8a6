//! Downloads films from the shared store to this machine.

use std::path::Path;
use std::sync::Arc;

use scheduler::RunId;
use workflow::plan::Plan;

use crate::client::EngineClient;
use crate::error::ClusterError;
use crate::store::{ObjectKind, SharedStore, is_file_with};

/// Downloads a film and what is beside it into a folder. A film of another content under its name is kept as an earlier cut.
///
/// # Errors
/// When Restate, the shared store or the folder cannot be used.
pub(crate) async fn download_film(
    client: &EngineClient,
    store: &SharedStore,
    run: &RunId,
    plan: &Plan,
    index: usize,
    output: &Path,
) -> Result<(), ClusterError> {
    let films: Arc<[String]> = plan.films().iter().map(|film| film.output.clone()).collect();
    for file in client.film_files(run, index).await? {
        // Names of the plan; whatever else a store may say, nothing is written elsewhere.
        let Some(name) = file.path.file_name().filter(|name| Path::new(name) == file.path) else {
            return Err(ClusterError::Unreadable {
                what: format!("the name of a film, {}", file.path.display()),
                reason: "it is not a file name".to_owned(),
            });
        };
        let target = output.join(name);
        if is_file_with(&target, &file.sha256).await? {
            continue;
        }
        fs_err::create_dir_all(output)?;
        let scratch = tempfile::Builder::new().prefix(".film-").suffix(".part").tempdir_in(output)?;
        let new = scratch.path().join(name);
        store.get_file(ObjectKind::Film, &file.sha256, &new).await?;
        let films = Arc::clone(&films);
        // It compares whole films.
        let replaced = tokio::task::spawn_blocking(move || {
            let is_film = |name: &str| films.iter().any(|film| film == name);
            engine::cuts::replace(&new, &target, &is_film)
        });
        replaced.await.map_err(std::io::Error::other)??;
    }
    Ok(())
}
