//! `runner rate`: rates the videos of shots, for the page of `view`. Nothing else depends on it.

use engine::artifact_store::Verify;
use engine::preview::survey;
use engine::provider::Accounts;

use crate::args::{Format, RateArgs, Rating};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::picks::PickStore;
use crate::project_paths::ProjectPaths;
use crate::records::Records;
use crate::selection::select;
use crate::shell;

pub(crate) async fn rate(args: RateArgs) -> Result<Exit, CommandError> {
    let RateArgs { workflow, shot, rating: Rating(rating), engine } = args;
    let file = &workflow.file;
    let plan = match load::load(file, &workflow.overrides) {
        Ok(plan) => plan,
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let nodes = select(&plan, &shot, file)?;
    let paths = ProjectPaths::for_workflow(file)?;
    let records = Records::open(&paths, &engine, Some(plan.name())).await?;
    let services = records.services_without_keys(&plan)?;
    let keys = records.key_resolver(&plan, &services.identity).await?;
    let (_, videos) = survey(&plan, records.work(), &keys, &Accounts::default(), &Verify::Metadata).await?;
    let rated: Vec<_> = nodes.into_iter().filter_map(|ix| Some((ix, videos[ix.index()].as_ref()?))).collect();
    if rated.is_empty() {
        let command = format!("render it: runner run {} --only {}", shell::path(file), shell::quote(&shot));
        return Err(CommandError::invalid(format!("`{shot}` has no video to rate")).hint(command));
    }
    let store = PickStore::new(file, &paths);
    let videos = rated.iter().map(|(_, video)| video.sha256.clone());
    store.rate(videos, rating).map_err(CommandError::invalid)?;
    let said = match rating {
        None => "not rated".to_owned(),
        Some(0) => "rejected".to_owned(),
        Some(rating) => format!("{rating} of 5"),
    };
    for (ix, _) in rated {
        outln!("{}: {said}", plan.node(ix).name);
    }
    Ok(Exit::Done)
}
