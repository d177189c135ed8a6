//! The renders of a shot's instances: all videos that there are of each, whatever asked for them.

use contract::Word;
use engine::Ledger;
use engine::ledger::RecordedRender;
use scheduler::AttemptState;
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::error::CommandError;
use crate::project_paths::display_path;
use crate::report::{Table, sanitize};

/// The renders of an instance that have a video, by their numbers in its list.
pub(super) fn finished(
    ledger: Option<&Ledger>,
    workflow: &str,
    instance: &str,
) -> Result<Vec<u32>, CommandError> {
    let Some(ledger) = ledger else { return Ok(Vec::new()) };
    let renders = ledger.renders_of(workflow, instance)?;
    let finished = renders.iter().filter(|render| render.row.state == AttemptState::Completed);
    let mut numbers: Vec<u32> = finished.map(|render| render.render).collect();
    numbers.dedup();
    Ok(numbers)
}

/// The renders of a node's instance: how many, and a table; `None` if there is none. `counting`: the key of the one that counts.
pub(super) fn table(
    plan: &Plan,
    ledger: &Ledger,
    node: NodeIx,
    counting: Option<NodeKey>,
) -> Result<Option<(usize, String)>, CommandError> {
    let instance = plan.node(node).name_without_take();
    let renders = ledger.renders_of(plan.name(), instance)?;
    if renders.is_empty() {
        return Ok(None);
    }
    let mut table = Table::new(["", "render", "seed", "cost", "made", "why", "file"]);
    for render in &renders {
        let row = &render.row;
        let made = row.ended_at.or(row.submitted_at).unwrap_or(row.intended_at);
        let file = match (&row.artifact, row.state) {
            (Some(video), AttemptState::Completed) => display_path(&video.path),
            (_, state) => state.as_str().to_owned(),
        };
        table.row([
            if counting == Some(render.key) { "*" } else { "" }.to_owned(),
            render.render.to_string(),
            seed(ledger, render)?,
            row.reservation.cost.map_or_else(|| "-".to_owned(), |cost| cost.to_string()),
            crate::clock::utc_time(made),
            why(render, counting),
            sanitize::line(&file).into_owned(),
        ]);
    }
    table.keep(|column| column != 3 || renders.iter().any(|render| render.row.reservation.cost.is_some()));
    Ok(Some((renders.len(), table.render())))
}

/// Why there is a render, and whether its request is another one by now.
fn why(render: &RecordedRender, counting: Option<NodeKey>) -> String {
    let is_of_request = counting.is_none_or(|key| key.numbered(1) == render.key.numbered(1));
    let why = if render.is_asked { "asked for" } else { "the file" };
    if is_of_request { why.to_owned() } else { format!("{why}, of an earlier request") }
}

/// The seed of the request, as the record has it.
fn seed(ledger: &Ledger, render: &RecordedRender) -> Result<String, CommandError> {
    let shot = render.row.node.split(['@', '#']).next().unwrap_or_default();
    let records = ledger.attempts_of_shot(shot)?;
    let record = records.iter().find(|record| record.attempt == render.row.attempt);
    let parts = record.map(|record| record.parts.as_slice()).unwrap_or_default();
    let seed = parts.iter().find(|part| part.name == Word::Seed.as_str());
    Ok(seed.and_then(|part| part.value.clone()).unwrap_or_else(|| "-".to_owned()))
}
