//! `runner schema`: prints the JSON Schemas, which are also published as `workflows/workflow.schema.json`, `docs/events.schema.json`,
//! `docs/status.schema.json`, `docs/manifest.schema.json` and `docs/sidecar.schema.json`.

use contract::Contract;

use crate::args::{SchemaArgs, SchemaKind};
use crate::commands::status;
use crate::exit::Exit;
use crate::report::stream;

pub(crate) fn schema(args: &SchemaArgs) -> Exit {
    let schema = match args.kind {
        SchemaKind::Workflow => workflow::workflow_schema(Contract::embedded()),
        SchemaKind::Events => stream::schema(),
        SchemaKind::Status => status::schema(),
        SchemaKind::Manifest => viewer::schema(),
        SchemaKind::Sidecar => engine::sidecar::schema(),
    };
    outln!("{schema:#}");
    Exit::Done
}
