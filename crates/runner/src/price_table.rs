//! The price table of a run: `--prices FILE`, or `prices.yaml` beside the workflow.

use std::io::Read as _;
use std::path::Path;

use contract::Contract;
use workflow::plan::Plan;
use workflow::prices::{Interval, MissingPrice, PriceInputs, Prices};
use workflow::units::Money;

use crate::input_file::{LoadError, MAX_FILE_BYTES};
use crate::project_paths::{ProjectPaths, display_path};
use crate::terminal;

/// File name of the default price table.
pub(crate) const DEFAULT_FILE: &str = "prices.yaml";

/// A price table and its file.
#[derive(Debug)]
pub(crate) struct PriceTable {
    /// The file's display path.
    pub(crate) file: String,
    pub(crate) prices: Prices,
}

/// The cost of a node's task. `None` without a price table.
pub(crate) type NodeCost = Option<Result<Interval<Money>, MissingPrice>>;

impl PriceTable {
    /// Loads the named table, or the default one if it exists and is filled in. Warnings are printed to standard error.
    pub(crate) fn load(explicit: Option<&Path>, workflow: &Path) -> Result<Option<Self>, LoadError> {
        let unreadable =
            |error: std::io::Error| LoadError::Unreadable(format!("cannot read the price table: {error}"));
        let file = match explicit {
            Some(file) => file.to_owned(),
            None => ProjectPaths::for_workflow(workflow).map_err(unreadable)?.folder.join(DEFAULT_FILE),
        };
        // A pipe that nobody named would be waited for.
        if explicit.is_none() && file.exists() && !file.is_file() {
            return Err(LoadError::Unreadable(format!(
                "{} is not a file: remove it, or name a price table with `--prices FILE`",
                display_path(&file)
            )));
        }
        let mut text = Vec::new();
        match fs_err::File::open(&file) {
            Ok(opened) => opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?,
            Err(error) if explicit.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(unreadable(error)),
        };
        let file = display_path(&file);
        let checked = workflow::prices::check(&text, &file, Contract::embedded());
        let Some(prices) = checked.prices else {
            return match (checked.report.errors(), explicit) {
                (0, None) => Ok(None),
                (0, Some(_)) => Err(LoadError::Unreadable(format!(
                    "{file} has no prices yet: fill it in (docs/prices.md)"
                ))),
                _ => Err(LoadError::Report(Box::new(checked.report))),
            };
        };
        if !checked.report.diagnostics.is_empty() {
            err!("{}", checked.report.render(terminal::has_color()));
        }
        Ok(Some(Self { file, prices }))
    }

    /// The source of the prices, on one line.
    pub(crate) fn origin(&self) -> String {
        let (file, as_of, source) = (&self.file, self.prices.as_of(), self.prices.source());
        format!("{file}, as of {as_of} ({})", source.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// The inputs to pricing of each node, in the plan's order.
pub(crate) fn price_inputs(plan: &Plan) -> Vec<PriceInputs> {
    plan.nodes().map(|(_, node)| PriceInputs::clone(&node.price)).collect()
}

/// The cost of a task by a price table.
pub(crate) fn cost(table: Option<&PriceTable>, inputs: &PriceInputs) -> NodeCost {
    table.map(|table| table.prices.estimate(inputs))
}
