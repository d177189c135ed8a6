//! `runner schema`: the JSON Schema of workflow files, for editors; the published `workflows/workflow.schema.json` is the same.

use contract::Contract;

use crate::exit::Exit;

pub(crate) fn schema() -> Exit {
    println!("{:#}", workflow::workflow_schema(Contract::embedded()));
    Exit::Done
}
