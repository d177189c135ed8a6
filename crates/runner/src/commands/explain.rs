//! `runner explain`: why a shot would be made again, and what hangs on it. Nothing is submitted, nothing written.

use std::sync::Arc;

use engine::explain::Explanation;
use engine::{Ledger, LedgerError};
use serde_json::json;
use workflow::plan::{NodeIx, Plan};

use crate::args::{ExplainArgs, Format};
use crate::backend::Backend;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::report;

pub(crate) async fn explain(args: ExplainArgs) -> Exit {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(args.format),
    };
    let nodes = match selected_nodes(&plan, &args.shots) {
        Ok(nodes) => nodes,
        Err(why) => {
            print_error(why);
            return Exit::InvalidInput;
        }
    };
    let service = match Backend::from_environment() {
        Ok(backend) => backend.identity(),
        Err(why) => {
            print_error(why);
            return Exit::Unusable;
        }
    };
    match explanations(&args, &plan, &service, &nodes).await {
        Ok(explanations) => {
            match args.format {
                Format::Text => out!("{}", report::explanations(&explanations)),
                Format::Json => outln!("{:#}", json!({ "version": 1, "shots": explanations })),
                Format::Ndjson => explanations.iter().for_each(|one| outln!("{}", json!(one))),
            }
            Exit::Done
        }
        Err(error) => {
            print_error(error);
            Exit::Unusable
        }
    }
}

/// The nodes that are named, in file order and each once; all of them where none is.
fn selected_nodes(plan: &Plan, names: &[String]) -> Result<Vec<NodeIx>, String> {
    if names.is_empty() {
        return Ok(plan.nodes().map(|(ix, _)| ix).collect());
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(plan.select(name)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

async fn explanations(
    args: &ExplainArgs,
    plan: &Arc<Plan>,
    service: &str,
    nodes: &[NodeIx],
) -> Result<Vec<Explanation>, LedgerError> {
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    engine::explain::explain(plan, ledger.as_ref(), service, nodes).await
}
