//! `runner explain`: why a shot would be rendered again, and what depends on it; or what a code means. Submits and writes nothing.

use std::path::Path;
use std::sync::Arc;

use engine::Ledger;
use serde_json::json;
use workflow::plan::{NodeIx, Plan};

use super::explain_code;
use crate::args::{ExplainArgs, Format};
use crate::backend;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::report;
use crate::selection::nodes_by_name;

pub(crate) async fn explain(args: ExplainArgs) -> Result<Exit, CommandError> {
    if let Some(code) = explain_code::find(&args.file)? {
        explain_code::explain(code, args.format);
        return Ok(Exit::Done);
    }
    let plan = match load::load(&args.file, &args.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(args.format)),
    };
    let nodes = selected_nodes(&plan, &args.shots, &args.file)?;
    let paths = ProjectPaths::for_workflow(&args.file)?;
    let services = backend::planned_without_keys(&plan)?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    let explanations =
        engine::explain::explain(&plan, ledger.as_ref(), &services.identity, &services.accounts, &nodes)
            .await?;
    match args.format {
        Format::Text => out!("{}", report::explanations(&explanations, !args.shots.is_empty())),
        Format::Json => outln!("{:#}", json!({ "version": 1, "shots": explanations })),
        Format::Ndjson => explanations.iter().for_each(|explanation| outln!("{}", json!(explanation))),
    }
    Ok(Exit::Done)
}

/// The named nodes in file order, without duplicates; all nodes without names.
fn selected_nodes(plan: &Plan, names: &[String], file: &Path) -> Result<Vec<NodeIx>, CommandError> {
    if names.is_empty() {
        return Ok(plan.nodes().map(|(ix, _)| ix).collect());
    }
    let mut nodes = nodes_by_name(names, plan, file)?;
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}
