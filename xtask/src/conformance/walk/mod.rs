//! A walk of the document from outside: every statement of docs/spec.md with what was sent for it, and its verdict. Create requests
//! are data (`cases.yaml`); a statement without a case or a reason why there is none fails.

mod cases;
mod client;
mod flow;
mod media_host;
mod protocol;
mod report;
mod statements;
mod task_object;

use std::path::Path;

use tokio::runtime::Runtime;

use self::client::Walker;
use self::report::Report;

/// Walks the document. The report, which lists every statement, is the error if one fails.
pub(super) fn run(root: &Path) -> Result<String, String> {
    let page =
        fs_err::read_to_string(root.join("docs").join("spec.md")).map_err(|error| error.to_string())?;
    let mut report = Report::new(statements::read(&page));
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let walker = Walker::start().await?;
        let result = async {
            cases::walk(&walker, &mut report).await?;
            flow::walk(&walker, &mut report).await?;
            task_object::walk(&walker, &mut report).await?;
            protocol::walk(&walker, &mut report).await
        }
        .await;
        walker.shutdown().await;
        result
    })?;
    report.finish()
}
