//! `runner schema`: JSON Schemas. The published `workflows/workflow.schema.json` and `docs/events.schema.json` are the same.

use contract::Contract;

use crate::args::{Schema, SchemaOf};
use crate::exit::Exit;
use crate::report::stream;

pub(crate) fn schema(args: &Schema) -> Exit {
    let schema = match args.of {
        SchemaOf::Workflow => workflow::workflow_schema(Contract::embedded()),
        SchemaOf::Events => stream::schema(),
    };
    outln!("{schema:#}");
    Exit::Done
}
