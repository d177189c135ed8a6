//! The price table of a run: `--prices FILE`, or `prices.yaml` beside the workflow.

use std::path::{Path, PathBuf};

use contract::Contract;
use workflow::plan::Plan;
use workflow::prices::{Interval, MissingPrice, PriceInputs, Prices};
use workflow::units::Money;

use crate::input_file::{self, LoadError};
use crate::project_paths::{ProjectPaths, display_path};
use crate::services;
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
    /// Loads the named table, or the default one if it exists and is filled in, and those of services. Warnings are printed to standard error.
    pub(crate) fn load(explicit: Option<&Path>, workflow: &Path) -> Result<Option<Self>, LoadError> {
        let services = services::load(&ProjectPaths::for_workflow(workflow).map_err(unreadable)?.folder)?;
        let default = match explicit {
            Some(file) => Some(file.to_owned()),
            None => default_file(workflow)?,
        };
        let names = || services.names().filter_map(|name| Some(&*services.get(name)?.contract));
        let mut table = match default {
            Some(file) => {
                let contracts: Vec<&Contract> =
                    std::iter::once(&**Contract::embedded()).chain(names()).collect();
                read(&file, explicit.is_some(), &contracts)?
            }
            None => None,
        };
        for (name, service) in services.configured() {
            let Some(file) = &service.prices else { continue };
            let Some(own) = read(file, true, &[&*service.contract])? else { continue };
            let base =
                table.unwrap_or_else(|| Self { file: own.file.clone(), prices: own.prices.without_prices() });
            let (file, currency) = (own.file.clone(), own.prices.currency().to_owned());
            let prices = base.prices.with_service(name, own.prices).map_err(|other| {
                LoadError::Unreadable(format!(
                    "the prices in {file} are in {currency}, and others in {other}: write into it what one {currency} is in {other}, such as `exchange: {{currency: {other}, rate: 0.14}}`"
                ))
            })?;
            table = Some(Self { file: base.file, prices });
        }
        Ok(table)
    }

    /// The source of the prices, on one line.
    pub(crate) fn origin(&self) -> String {
        let (file, as_of, source) = (&self.file, self.prices.as_of(), self.prices.source());
        format!("{file}, as of {as_of} ({})", source.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn unreadable(error: std::io::Error) -> LoadError {
    LoadError::Unreadable(format!("cannot read the price table: {error}"))
}

/// The default table of a workflow, if it exists.
fn default_file(workflow: &Path) -> Result<Option<PathBuf>, LoadError> {
    let file = ProjectPaths::for_workflow(workflow).map_err(unreadable)?.folder.join(DEFAULT_FILE);
    // A pipe that nobody named would be waited for.
    if file.exists() && !file.is_file() {
        return Err(LoadError::Unreadable(format!(
            "{} is not a file: remove it, or name a price table with `--prices FILE`",
            display_path(&file)
        )));
    }
    Ok(file.exists().then_some(file))
}

/// The table in a file; `None` if it is not filled in and nobody named it.
fn read(file: &Path, is_named: bool, contracts: &[&Contract]) -> Result<Option<PriceTable>, LoadError> {
    let text = input_file::read(file).map_err(unreadable)?;
    let file = display_path(file);
    let checked = workflow::prices::check(&text, &file, contracts);
    let Some(prices) = checked.prices else {
        return match (checked.report.errors(), is_named) {
            (0, false) => Ok(None),
            (0, true) => Err(LoadError::Unreadable(format!(
                "{file} has no prices yet: write the price of each model in it"
            ))),
            _ => Err(LoadError::Report(Box::new(checked.report))),
        };
    };
    if !checked.report.diagnostics.is_empty() {
        err!("{}", checked.report.render(terminal::has_color()));
    }
    Ok(Some(PriceTable { file, prices }))
}

/// The inputs to pricing of each node, in the plan's order.
pub(crate) fn price_inputs(plan: &Plan) -> Vec<PriceInputs> {
    plan.nodes().map(|(_, node)| PriceInputs::clone(&node.price)).collect()
}

/// The cost of a task by a price table.
pub(crate) fn cost(table: Option<&PriceTable>, inputs: &PriceInputs) -> NodeCost {
    table.map(|table| table.prices.estimate(inputs))
}
