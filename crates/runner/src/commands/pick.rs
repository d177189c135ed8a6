//! `runner pick`: picks the take of a shot that dependent shots and the film use.

use std::collections::BTreeMap;

use workflow::plan::{NodeIx, Plan};
use workflow::{DirFiles, ShotRef, Source};

use crate::args::{Format, PickArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load::{self, LoadError};
use crate::picks::PickStore;
use crate::project_paths::ProjectPaths;
use crate::report::Table;

pub(crate) fn pick(args: &PickArgs) -> Result<Exit, CommandError> {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => plan,
        Err(error) => return Ok(error.report(Format::Text)),
    };
    let plan = &plan;
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let store = PickStore::new(&args.workflow.file, &paths);
    let groups = groups(plan);
    let Some(shot) = &args.shot else {
        return Ok(list(plan, &groups, &store.read().map_err(CommandError::invalid)?));
    };
    let mut reference = ShotRef::parse(shot).map_err(CommandError::invalid)?;
    let take = match (reference.take.take(), args.take) {
        (Some(_), Some(_)) => {
            return Err(CommandError::invalid("the take is given twice: write `lamp 2` or `lamp#2`"));
        }
        (named, given) => named.or(given),
    };
    let matched = matching(plan, &groups, &reference)?;
    check_not_picked_in_file(args, &reference)?;
    if args.clear {
        store
            .change(|picks| picks.retain(|name, _| !matched.contains_key(name.as_str())))
            .map_err(CommandError::invalid)?;
        for name in matched.keys() {
            outln!("{name}: pick removed");
        }
        return Ok(Exit::Done);
    }
    let take = take.ok_or_else(|| {
        CommandError::invalid(format!("no take of {shot} is given"))
            .hint(format!("for example `runner pick FILE {shot} 2`"))
    })?;
    for (name, takes) in &matched {
        if !takes.contains_key(&take) {
            let known = takes.keys().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(CommandError::invalid(format!("{name} has no take {take}; its takes are {known}")));
        }
    }
    store
        .change(|picks| picks.extend(matched.keys().map(|name| ((*name).to_owned(), take))))
        .map_err(CommandError::invalid)?;
    for name in matched.keys() {
        outln!("{name}: picked take {take}; the next run continues with it");
    }
    Ok(Exit::Done)
}

/// The takes of a shot or instance by number.
type Takes = BTreeMap<u32, NodeIx>;

/// All shots and instances with takes, by name.
fn groups(plan: &Plan) -> BTreeMap<&str, Takes> {
    let mut groups: BTreeMap<&str, Takes> = BTreeMap::new();
    for (ix, node) in plan.nodes() {
        if let Some(take) = node.take {
            groups.entry(node.name_without_take()).or_default().insert(take, ix);
        }
    }
    groups
}

fn matching<'p>(
    plan: &'p Plan,
    groups: &BTreeMap<&'p str, Takes>,
    reference: &ShotRef,
) -> Result<BTreeMap<&'p str, Takes>, CommandError> {
    let nodes = plan.select(&reference.to_string()).map_err(CommandError::invalid)?;
    let named = nodes.iter().map(|ix| plan.node(*ix).name_without_take());
    let matched: BTreeMap<&str, Takes> =
        named.filter_map(|name| Some((name, groups.get(name)?.clone()))).collect();
    if !matched.is_empty() {
        return Ok(matched);
    }
    let known: Vec<&str> = groups.keys().copied().take(12).collect();
    let help = match known.as_slice() {
        [] => "no shot of this workflow has takes".to_owned(),
        known => format!("shots with takes: {}", known.join(", ")),
    };
    Err(CommandError::invalid(format!("`{reference}` has no takes; {help}")))
}

/// A pick in the workflow file overrides a recorded one, so recording one would have no effect.
fn check_not_picked_in_file(args: &PickArgs, reference: &ShotRef) -> Result<(), CommandError> {
    let text = fs_err::read_to_string(&args.workflow.file).map_err(CommandError::invalid)?;
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let mut source = Source::new(args.workflow.file.display().to_string(), text);
    let options =
        load::options(&args.workflow.file, &args.workflow.overrides).map_err(|error| match error {
            LoadError::Unreadable(why) => CommandError::invalid(why),
            LoadError::Report(report) => CommandError::invalid(report.render(false)),
        })?;
    // It was read without a problem a moment ago.
    let Ok(workflow) =
        workflow::parse(&mut source, &DirFiles::new(&paths.folder, engine::MEDIA_GATE), &options)
    else {
        return Ok(());
    };
    let shot = workflow.shots.iter().find(|shot| shot.id.value == reference.shot);
    match shot.and_then(|shot| shot.pick.as_ref()).filter(|pick| !pick.value.is_null()) {
        Some(pick) => {
            let at = source.position(pick.key.span.start());
            Err(CommandError::invalid(format!(
                "{}:{}:{}: the workflow file itself picks the take of {}; change it there",
                source.name(),
                at.line,
                at.column,
                reference.shot
            )))
        }
        None => Ok(()),
    }
}

fn list(plan: &Plan, groups: &BTreeMap<&str, Takes>, picks: &crate::picks::Picks) -> Exit {
    if groups.is_empty() {
        outln!("no shot of this workflow has takes");
        return Exit::Done;
    }
    let open: Vec<&str> = plan.open_picks().into_iter().map(|takes| plan.takes_name(takes)).collect();
    let mut table = Table::new(["shot", "takes", "picked"]);
    for (name, takes) in groups {
        let numbers = takes.keys().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let picked = match picks.get(*name) {
            Some(take) if takes.contains_key(take) => take.to_string(),
            _ if open.contains(name) => "unpicked".to_owned(),
            _ => "-".to_owned(),
        };
        table.row([(*name).to_owned(), numbers, picked]);
    }
    out!("{}", table.render());
    if open.is_empty() { Exit::Done } else { Exit::ActionNeeded }
}
