//! The files beside a new workflow: what git leaves out, and a price table to be filled in.

use std::fmt::Write as _;

use contract::Contract;

/// The entries of the `.gitignore` beside a workflow.
pub const IGNORED: [&str; 2] = [".runner/", "out/"];

/// The text of the `.gitignore` beside a workflow.
pub fn gitignore() -> String {
    let [records, output] = IGNORED;
    format!(
        "# The record of all submissions, and the videos that were paid for. It belongs to this machine: back it up, and do not delete\n\
         # it. Without it a run does not know what exists, and renders and pays for everything again.\n{records}\n\
         # Clips and films by name. `runner run` links and joins them again from the videos above, at no cost.\n{output}\n"
    )
}

/// The text of a price table in which every line is a comment: until it is filled in, there are no prices.
pub fn price_table(contract: &Contract) -> String {
    let mut out = String::from(
        "# What tasks cost: for the estimates of `runner plan`, and for `--max-cost`. The figures are those of your account, and nobody else\n\
         # knows them. As long as all lines are comments there are no prices: costs are unknown, and nothing counts as free.\n\
         #\n\
         # Remove the `# ` in front of the lines below, and replace DATE, PAGE and AMOUNT. Delete the models that you do not use.\n\
         # Conditions of a price: `resolution: 720p`, `sound: true`, `video_input: true`. The line with the most conditions counts.\n\
         # Amounts: `per_second` of video, `per_task`, or both together.\n\
         #\n\
         # version: 1\n\
         # currency: USD\n\
         # as_of: DATE        # such as 2026-01-31: when you read the prices\n\
         # source: PAGE       # where you read them\n\
         # prices:\n",
    );
    for model in contract.models() {
        let by_resolution = match model.resolutions() {
            [_, _, ..] => model.resolutions(),
            _ => &[],
        };
        for resolution in by_resolution {
            let _ =
                writeln!(out, "#   - {{model: {}, resolution: {resolution}, per_second: AMOUNT}}", model.id);
        }
        if by_resolution.is_empty() {
            let _ = writeln!(out, "#   - {{model: {}, per_second: AMOUNT}}", model.id);
        }
    }
    out
}
