//! The cost of a run, for people.

use std::fmt::Write as _;

use scheduler::spending::Spending;

use crate::price_table::PriceTable;

/// The actual cost of a run by a price table, as lines.
pub(crate) fn cost_report(spending: &Spending, table: &PriceTable) -> String {
    let Spending { made, spent, unpriced, open, at_most_besides } = spending;
    if *made == 0 && *open == 0 {
        return String::new();
    }
    let currency = table.prices.currency();
    let videos = if *made == 1 { "video" } else { "videos" };
    let mut text = format!("spent: {spent} {currency} for {made} {videos}");
    if *open > 0 {
        let tasks =
            if *open == 1 { "1 unfinished task".to_owned() } else { format!("{open} unfinished tasks") };
        let _ = write!(text, "; {tasks} may cost up to {at_most_besides} {currency} more");
    }
    if *unpriced > 0 {
        let _ = write!(text, "; plus {unpriced} without a price");
    }
    format!("{text}\nprices: {}\n", table.origin())
}
