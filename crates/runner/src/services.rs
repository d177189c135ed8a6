//! The services of a project: those of `services.yaml` beside the workflow, then those of the user's own file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workflow::DirFiles;
use workflow::services::{Service, Services};

use crate::error::CommandError;
use crate::input_file::{self, LoadError};
use crate::project_paths::{ProjectPaths, display_path};
use crate::terminal;

/// The name of the file, beside a workflow and in the user's folder.
pub(crate) const FILE: &str = "services.yaml";

/// The user's folder of settings; `None` where there is none.
pub(crate) fn user_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    etcetera::choose_base_strategy().ok().map(|folders| folders.config_dir().join("runner"))
}

/// Reads the services that workflows in a folder may name. Warnings are printed to standard error.
///
/// # Errors
/// One of the files cannot be read or used.
pub(crate) fn load(folder: &Path) -> Result<Services, LoadError> {
    let mut configured: BTreeMap<String, Service> = BTreeMap::new();
    // Whoever writes the user's file may send the user's keys wherever they go.
    if let Some(user) = user_folder() {
        let own = read(&user)?.into_iter().map(|(name, mut service)| {
            service.address.as_mut().into_iter().for_each(|address| address.is_trusted = true);
            (name, service)
        });
        configured.extend(own);
    }
    configured.extend(read(folder)?);
    Ok(Services::new(configured))
}

/// As [`load`], once the workflow is loaded: what is wrong with them was reported then.
pub(crate) fn of_project(paths: &ProjectPaths) -> Result<Services, CommandError> {
    load(&paths.folder).map_err(|error| CommandError::invalid(error.text()))
}

/// The services of the file in a folder.
fn read(folder: &Path) -> Result<BTreeMap<String, Service>, LoadError> {
    let file = folder.join(FILE);
    let unreadable =
        |error: std::io::Error| LoadError::Unreadable(format!("cannot read the services: {error}"));
    if !file.is_file() {
        return Ok(BTreeMap::new());
    }
    let bytes = input_file::read(&file).map_err(unreadable)?;
    let files = DirFiles::new(folder, engine::MEDIA_GATE);
    let mut outcome = workflow::services_file::check(&bytes, &display_path(&file), &files);
    let Some(mut services) = outcome.services.take() else {
        return Err(LoadError::Report(Box::new(outcome.report)));
    };
    if !outcome.report.diagnostics.is_empty() {
        err!("{}", outcome.report.render(terminal::has_color()));
    }
    for service in services.values_mut() {
        service.prices = service.prices.take().map(|prices| folder.join(prices));
    }
    Ok(services)
}
