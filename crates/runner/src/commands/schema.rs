//! `runner schema`: prints the JSON Schemas, which are also published as `workflows/workflow.schema.json`, `docs/events.schema.json`,
//! `docs/status.schema.json`, `docs/manifest.schema.json` and `docs/sidecar.schema.json`.

use std::sync::Arc;

use contract::Contract;

use crate::args::{SchemaArgs, SchemaKind};
use crate::commands::{services, status};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::stream;

pub(crate) fn schema(args: &SchemaArgs) -> Result<Exit, CommandError> {
    let schema = match args.kind {
        SchemaKind::Workflow if args.services.is_empty() => workflow::workflow_schema(Contract::embedded()),
        SchemaKind::Workflow => {
            let mut contracts: Vec<Arc<Contract>> = Vec::with_capacity(args.services.len());
            for name in &args.services {
                let Some(contract) = services::description(name, &args.project)? else {
                    return Ok(Exit::InvalidInput);
                };
                if !contracts.iter().any(|other| Arc::ptr_eq(other, &contract)) {
                    contracts.push(contract);
                }
            }
            workflow::workflow_schema_of(&contracts.iter().map(|contract| &**contract).collect::<Vec<_>>())
        }
        SchemaKind::Events => stream::schema(),
        SchemaKind::Status => status::schema(),
        SchemaKind::Manifest => viewer::schema(),
        SchemaKind::Sidecar => engine::sidecar::schema(),
    };
    outln!("{schema:#}");
    Ok(Exit::Done)
}
