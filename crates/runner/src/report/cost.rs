//! What a run has cost, for people.

use std::fmt::Write as _;

use scheduler::spending::Spending;

use crate::price_table::PriceTable;

/// What a run has cost, by a table of prices; each line ended.
pub(crate) fn cost_report(spending: &Spending, table: &PriceTable) -> String {
    let Spending { made, spent, unpriced, open, at_most_besides } = spending;
    if *made == 0 && *open == 0 {
        return String::new();
    }
    let currency = table.prices.currency();
    let videos = if *made == 1 { "video" } else { "videos" };
    let mut said = format!("spent: {spent} {currency} for {made} {videos}");
    if *open > 0 {
        let tasks = if *open == 1 { "1 task that".to_owned() } else { format!("{open} tasks that") };
        let _ =
            write!(said, "; {tasks} did not end well may cost up to {at_most_besides} {currency} besides");
    }
    if *unpriced > 0 {
        let _ = write!(said, "; {unpriced} without a price come on top");
    }
    format!("{said}\nprices: {}\n", table.origin())
}
