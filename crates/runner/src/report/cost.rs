//! The cost of a run, for people.

use std::fmt::Write as _;

use scheduler::spending::Spending;

use crate::price_table::PriceTable;

/// The actual cost of a run by a price table, as lines.
pub(crate) fn cost_report(spending: &Spending, table: &PriceTable) -> String {
    let Spending { made, spent, unpriced, open, at_most_besides, failed, failed_at_most } = spending;
    if *made == 0 && *open == 0 && *failed == 0 {
        return String::new();
    }
    let currency = table.prices.currency();
    let videos = if *made == 1 { "video" } else { "videos" };
    let mut text = format!("spent: {spent} {currency} for {made} {videos}");
    for (count, tasks, cost) in
        [(open, "unfinished {}", at_most_besides), (failed, "{} without a video", failed_at_most)]
    {
        if *count > 0 {
            let tasks = tasks.replace("{}", if *count == 1 { "task" } else { "tasks" });
            let _ = write!(text, "; {count} {tasks} may cost up to {cost} {currency} more");
        }
    }
    if *unpriced > 0 {
        let _ = write!(text, "; plus {unpriced} without a price");
    }
    format!("{text}\nprices: {}\n", table.origin())
}
