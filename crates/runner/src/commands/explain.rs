//! `runner explain`: why a shot would be made again, and what hangs on it. Nothing is submitted, nothing written.

use std::sync::Arc;

use engine::explain::Explanation;
use engine::{Ledger, LedgerError};
use serde_json::json;
use workflow::plan::{NodeIx, Plan};

use crate::args::{Explain, Format};
use crate::commands::complain;
use crate::exit::Exit;
use crate::load;
use crate::place::Place;
use crate::report;
use crate::service_choice::Choice;

pub(crate) async fn explain(args: Explain) -> Exit {
    let plan = match load::load(&args.input.file, &args.input.given) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(args.format),
    };
    let nodes = match chosen(&plan, &args.shots) {
        Ok(nodes) => nodes,
        Err(why) => {
            complain(why);
            return Exit::InvalidInput;
        }
    };
    let service = match Choice::from_environment() {
        Ok(choice) => choice.identity(),
        Err(why) => {
            complain(why);
            return Exit::Unusable;
        }
    };
    match explanations(&args, &plan, &service, &nodes).await {
        Ok(explanations) => {
            match args.format {
                Format::Text => out!("{}", report::explained(&explanations)),
                Format::Json => outln!("{:#}", json!({ "version": 1, "shots": explanations })),
                Format::Ndjson => explanations.iter().for_each(|one| outln!("{}", json!(one))),
            }
            Exit::Done
        }
        Err(error) => {
            complain(error);
            Exit::Unusable
        }
    }
}

/// The nodes that are named, in file order and each once; all of them where none is.
fn chosen(plan: &Plan, names: &[String]) -> Result<Vec<NodeIx>, String> {
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
    args: &Explain,
    plan: &Arc<Plan>,
    service: &str,
    nodes: &[NodeIx],
) -> Result<Vec<Explanation>, LedgerError> {
    let place = Place::of(&args.input.file)?;
    let ledger = Ledger::open_existing(&place.ledger(), &place.folder)?;
    engine::explain::explain(plan, ledger.as_ref(), service, nodes).await
}
