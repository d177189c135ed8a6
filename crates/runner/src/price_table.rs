//! The table of prices for a run: the one that is named, or `prices.yaml` beside the workflow.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::Contract;
use workflow::plan::Plan;
use workflow::prices::{Interval, Money, PriceInputs, Prices, Unpriced};

use crate::load::{LoadError, MAX_FILE_BYTES};
use crate::project_paths::{ProjectPaths, display_path};
use crate::terminal;

/// The table's name where none is given.
const DEFAULT_FILE: &str = "prices.yaml";

/// A table of prices and where it stands.
#[derive(Debug)]
pub(crate) struct PriceTable {
    /// The file, as a person would name it.
    pub(crate) file: String,
    /// What it says.
    pub(crate) prices: Prices,
}

/// What a node's task costs: nothing is known without a table.
pub(crate) type Cost = Option<Result<Interval<Money>, Unpriced>>;

impl PriceTable {
    /// Reads the table that is named, or the one beside the workflow where there is one. Warnings are said on standard error.
    pub(crate) fn load(named: Option<&Path>, workflow: &Path) -> Result<Option<Self>, LoadError> {
        let unreadable =
            |error: std::io::Error| LoadError::Unreadable(format!("cannot read the prices: {error}"));
        let file: PathBuf = match named {
            Some(file) => file.to_owned(),
            None => ProjectPaths::for_workflow(workflow).map_err(unreadable)?.folder.join(DEFAULT_FILE),
        };
        let mut text = Vec::new();
        match fs_err::File::open(&file) {
            Ok(open) => open.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let file = display_path(&file);
        let checked = workflow::prices::check(&text, &file, Contract::embedded());
        let Some(prices) = checked.prices else { return Err(LoadError::Report(Box::new(checked.report))) };
        if !checked.report.diagnostics.is_empty() {
            err!("{}", checked.report.render(terminal::has_color()));
        }
        Ok(Some(Self { file, prices }))
    }

    /// Where the figures come from, in one line for people.
    pub(crate) fn origin(&self) -> String {
        let (file, as_of, source) = (&self.file, self.prices.as_of(), self.prices.source());
        format!("{file}, as of {as_of} ({})", source.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// What of each node's request decides its price, in the plan's order.
pub(crate) fn billings(plan: &Plan) -> Vec<PriceInputs> {
    plan.nodes().map(|(_, node)| PriceInputs::from_node(node, Contract::embedded())).collect()
}

/// What a task costs by a table, where there is one.
pub(crate) fn cost(table: Option<&PriceTable>, billing: &PriceInputs) -> Cost {
    table.map(|table| table.prices.estimate(billing))
}
