//! The video service under load and under attack.

mod attacks;
mod polls;
mod storage;
mod victim;

use std::path::Path;

use tokio::runtime::Runtime;

use crate::release::release_runner;

/// The figures; an error where a bound is exceeded.
pub(super) fn measure(root: &Path) -> Result<String, String> {
    let program = release_runner(root)?;
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let results = [
        runtime.block_on(polls::under_load()),
        runtime.block_on(attacks::measure(&program)),
        runtime.block_on(storage::measure(&program)),
    ];
    let is_exceeded = results.iter().any(Result::is_err);
    let reports: Vec<String> =
        results.into_iter().map(|result| result.unwrap_or_else(|failed| failed)).collect();
    let text = reports.join("\n");
    if is_exceeded { Err(text) } else { Ok(text) }
}
