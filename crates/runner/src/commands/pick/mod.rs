//! `runner pick`: picks the take or the instance of a shot that dependent shots and the film use.

mod candidates;
mod choice;
mod renders;

use std::collections::BTreeSet;

use engine::Ledger;
use workflow::plan::{NodeIx, PickGroup, PickKind, Plan};
use workflow::{CheckOutcome, Picks, ShotRef};

use self::choice::{Choice, cell_of};
use crate::args::{Format, PickArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::input_file::LoadError;
use crate::load;
use crate::picks::PickStore;
use crate::project_paths::ProjectPaths;
use crate::selection::select;
use crate::shell;

pub(crate) async fn pick(args: PickArgs) -> Result<Exit, CommandError> {
    let file = &args.workflow.file;
    let plan = match load::load(file, &args.workflow.overrides) {
        Ok(plan) => plan,
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let Some(shot) = &args.shot else {
        return candidates::list(&plan, file, &args.engine, None).await;
    };
    let scope = ShotRef::parse(shot).map_err(CommandError::invalid)?;
    let paths = ProjectPaths::for_workflow(file)?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    let picker =
        Picker { args: &args, plan: &plan, store: PickStore::new(file, &paths), ledger: ledger.as_ref() };
    if args.clear {
        return picker.clear(&scope);
    }
    match Choice::parse(&scope, args.choice.as_deref())? {
        Some(choice) => picker.pick(&choice),
        None => candidates::list(&plan, file, &args.engine, Some(&scope)).await,
    }
}

struct Picker<'a> {
    args: &'a PickArgs,
    plan: &'a Plan,
    store: PickStore,
    /// `None` before the first run.
    ledger: Option<&'a Ledger>,
}

impl Picker<'_> {
    fn select(&self, name: &str) -> Result<Vec<NodeIx>, CommandError> {
        select(self.plan, name, &self.args.workflow.file)
    }

    fn pick(&self, choice: &Choice) -> Result<Exit, CommandError> {
        let mut recorded = self.store.read().map_err(CommandError::invalid)?;
        let picked = self.record(choice, &mut recorded)?;
        // What depends on the pick may name instances that there are no more.
        match load::check_with_picks(&self.args.workflow.file, &self.args.workflow.overrides, recorded) {
            Ok(CheckOutcome { plan: Some(_), .. }) => {}
            Ok(CheckOutcome { report, .. }) => {
                errln!("nothing is picked: with {}, the workflow is invalid", picked.join(" and "));
                return Ok(LoadError::Report(Box::new(report)).report(Format::Text));
            }
            Err(error) => return Ok(error.report(Format::Text)),
        }
        // Once more, under the lock: somebody else may have picked for another shot. It fails only for what the plan says.
        let mut result = Ok(Vec::new());
        self.store.change(|picks| result = self.record(choice, picks)).map_err(CommandError::invalid)?;
        let picked = result?;
        let file = shell::path(&self.args.workflow.file) + &self.args.engine.suffix();
        for name in picked {
            outln!("picked {name}; `runner run {file}` continues with it");
        }
        Ok(Exit::Done)
    }

    /// Changes picks by a choice; the names of what is picked.
    fn record(&self, choice: &Choice, picks: &mut Picks) -> Result<Vec<String>, CommandError> {
        match &choice.cell {
            Some(cell) => self.pick_cells(choice, cell, picks),
            None => self.pick_takes(choice, picks),
        }
    }

    /// Records a take of each matched instance; the names of what is picked.
    fn pick_takes(&self, choice: &Choice, recorded: &mut Picks) -> Result<Vec<String>, CommandError> {
        let take = choice.take.unwrap_or_default();
        let instances = self.without_takes(&choice.scope())?;
        if !instances.is_empty() {
            return self.pick_renders(&instances, take, recorded);
        }
        let groups = self.take_groups(choice.scope())?;
        for group in &groups {
            check_not_in_file(group)?;
            let takes: Vec<u32> = group.candidates.iter().filter_map(|ix| self.plan.node(*ix).take).collect();
            if !takes.contains(&take) {
                let takes = takes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let name = &group.name;
                return Err(CommandError::invalid(format!(
                    "{name} has no take {take}; its takes are {takes}"
                )));
            }
        }
        recorded.takes.extend(groups.iter().map(|group| (group.name.clone(), take)));
        Ok(groups.iter().map(|group| format!("{}#{take}", group.name)).collect())
    }

    /// The matched instances whose shot has no takes: one of their renders counts.
    fn without_takes(&self, scope: &ShotRef) -> Result<Vec<&str>, CommandError> {
        let nodes = self.select(&scope.to_string())?.into_iter().map(|ix| self.plan.node(ix));
        Ok(nodes.filter(|node| node.take.is_none()).map(|node| node.name.as_str()).collect())
    }

    /// Records a render of each of these instances; the names of what is picked.
    fn pick_renders(
        &self,
        instances: &[&str],
        render: u32,
        recorded: &mut Picks,
    ) -> Result<Vec<String>, CommandError> {
        for instance in instances {
            let written = self.plan.find(instance).and_then(|ix| self.plan.node(ix).picked);
            if written.is_some() && !recorded.takes.contains_key(*instance) {
                return Err(CommandError::invalid(format!(
                    "the workflow file itself picks the render of {instance}; change it there"
                )));
            }
            let finished = renders::finished(self.ledger, self.plan.name(), instance)?;
            if !finished.contains(&render) {
                let listed = finished.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let message = match finished.len() {
                    0 => format!("{instance} has no video yet"),
                    _ => format!(
                        "{instance} has no render {render} with a video; those that have one are {listed}"
                    ),
                };
                return Err(CommandError::invalid(message));
            }
        }
        recorded.takes.extend(instances.iter().map(|instance| ((*instance).to_owned(), render)));
        Ok(instances.iter().map(|instance| format!("{instance}#{render}")).collect())
    }

    /// Records one instance of each matched group, and its take if the choice has one; the names of what is picked.
    fn pick_cells(
        &self,
        choice: &Choice,
        cell: &str,
        recorded: &mut Picks,
    ) -> Result<Vec<String>, CommandError> {
        let shot = choice.shot.as_str();
        let groups = self.cell_groups(shot)?;
        let matched = self.select(&format!("{shot}@{cell}"))?;
        let mut picked = Vec::new();
        for group in groups {
            let names: BTreeSet<&str> = matched
                .iter()
                .filter(|ix| group.candidates.contains(ix))
                .map(|ix| self.plan.node(*ix).name_without_take())
                .collect();
            let name = match names.iter().collect::<Vec<_>>().as_slice() {
                [] => continue,
                [only] => **only,
                several => {
                    let examples = several.iter().take(5).map(ToString::to_string).collect::<Vec<_>>();
                    return Err(CommandError::invalid(format!(
                        "`{cell}` means {} instances of {shot}",
                        several.len()
                    ))
                    .hint(format!("name one of them, such as {}", examples.join(" or "))));
                }
            };
            check_not_in_file(group)?;
            let group_cells: BTreeSet<&str> =
                group.candidates.iter().map(|ix| cell_of(self.plan.node(*ix).name_without_take())).collect();
            let cells = recorded.cells.entry(shot.to_owned()).or_default();
            cells.retain(|cell| !group_cells.contains(cell.as_str()));
            cells.insert(cell_of(name).to_owned());
            picked.push(name.to_owned());
        }
        let Some(take) = choice.take else { return Ok(picked) };
        let mut takes = Vec::new();
        for name in &picked {
            let scope = ShotRef::parse(name).map_err(CommandError::invalid)?;
            let choice = Choice { shot: scope.shot, scope_cell: scope.cell, cell: None, take: Some(take) };
            takes.extend(self.pick_takes(&choice, recorded)?);
        }
        Ok(takes)
    }

    fn clear(&self, scope: &ShotRef) -> Result<Exit, CommandError> {
        let instances = self.without_takes(scope)?;
        let takes = self.take_groups(scope.clone());
        let cells = self.cell_groups(&scope.shot).unwrap_or_default();
        let takes = if cells.is_empty() && instances.is_empty() { takes? } else { takes.unwrap_or_default() };
        let names = |group: &&PickGroup| group.name.clone();
        let recorded = self.store.read().map_err(CommandError::invalid)?.takes;
        let of_instances = instances.iter().filter(|name| recorded.contains_key(**name));
        let cleared: BTreeSet<String> = takes
            .iter()
            .map(names)
            .chain(cells.iter().map(names))
            .chain(of_instances.map(|name| (*name).to_owned()))
            .collect();
        self.store
            .change(|picks| {
                picks.takes.retain(|name, _| {
                    !takes.iter().any(|group| group.name == *name) && !instances.contains(&name.as_str())
                });
                if !cells.is_empty() {
                    picks.cells.remove(&scope.shot);
                }
            })
            .map_err(CommandError::invalid)?;
        for name in cleared {
            outln!("{name}: pick removed");
        }
        Ok(Exit::Done)
    }

    /// The groups of takes that a reference matches.
    fn take_groups(&self, mut scope: ShotRef) -> Result<Vec<&PickGroup>, CommandError> {
        scope.take = None;
        let nodes = self.select(&scope.to_string())?;
        let names: BTreeSet<&str> = nodes.iter().map(|ix| self.plan.node(*ix).name_without_take()).collect();
        let with_takes = || self.plan.pick_groups().iter().filter(|group| group.kind == PickKind::Take);
        let matched: Vec<&PickGroup> =
            with_takes().filter(|group| names.contains(group.name.as_str())).collect();
        if !matched.is_empty() {
            return Ok(matched);
        }
        let examples: Vec<&str> = with_takes().map(|group| group.name.as_str()).take(12).collect();
        let help = match examples.as_slice() {
            [] => "no shot of this workflow has takes".to_owned(),
            examples => format!("shots with takes: {}", examples.join(", ")),
        };
        Err(CommandError::invalid(format!("`{scope}` has no takes; {help}")))
    }

    /// The groups of instances of a shot.
    fn cell_groups(&self, shot: &str) -> Result<Vec<&PickGroup>, CommandError> {
        self.select(shot)?;
        let of_shot = |group: &&PickGroup| {
            let first = group.candidates.first();
            group.kind == PickKind::Cell && first.is_some_and(|first| *self.plan.node(*first).shot == *shot)
        };
        let groups: Vec<&PickGroup> = self.plan.pick_groups().iter().filter(of_shot).collect();
        if groups.is_empty() {
            return Err(CommandError::invalid(format!(
                "`{shot}` has no instances to pick from: it has no matrix"
            )));
        }
        Ok(groups)
    }
}

/// A pick in the workflow file overrides a recorded one, so recording one would have no effect.
fn check_not_in_file(group: &PickGroup) -> Result<(), CommandError> {
    let noun = if group.kind == PickKind::Take { "take" } else { "instance" };
    match &group.location {
        None => Ok(()),
        Some(location) => Err(CommandError::invalid(format!(
            "{location}: the workflow file itself picks the {noun} of {}; change it there",
            group.name
        ))),
    }
}
