//! Exit codes of `runner`, as `runner --help` lists them (`runner::exit::Exit`).

pub(crate) const DONE: i32 = 0;
/// A shot or a film failed.
pub(crate) const FAILED: i32 = 1;
pub(crate) const INVALID_INPUT: i32 = 2;
/// A pick, an indeterminate submission or a task in flight.
pub(crate) const ACTION_NEEDED: i32 = 3;
/// A cap was reached.
pub(crate) const BUDGET_EXCEEDED: i32 = 4;
/// The service, the ledger or the disk cannot be used.
pub(crate) const UNUSABLE: i32 = 5;
pub(crate) const INTERRUPTED: i32 = 130;
/// A panic: Rust's own code, which is not in the list.
pub(crate) const PANICKED: i32 = 101;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_help() {
        let page = include_str!("../../docs/commands.md");
        let (_, list) = page.split_once("Exit codes:\n").expect("a list of exit codes");
        let rows = list.lines().take_while(|line| *line != "```");
        // Other lines continue a description.
        let codes: Vec<i32> =
            rows.filter_map(|row| row.strip_prefix("  ")?.split(' ').next()?.parse().ok()).collect();
        let named = [DONE, FAILED, INVALID_INPUT, ACTION_NEEDED, BUDGET_EXCEEDED, UNUSABLE, INTERRUPTED];
        assert_eq!(codes, named);
    }
}
