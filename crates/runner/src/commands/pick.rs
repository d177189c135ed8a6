//! `runner pick`: says which of a shot's takes is used by the shots that continue it and by the film.

use std::collections::BTreeMap;

use workflow::plan::{NodeIx, Plan};
use workflow::{DirFiles, ShotRef, Source};

use crate::args::PickArgs;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::load::{self, LoadError};
use crate::picks::PickStore;
use crate::project_paths::ProjectPaths;
use crate::report::Table;

pub(crate) fn pick(args: &PickArgs) -> Exit {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => plan,
        Err(refused) => {
            refused.print();
            return Exit::InvalidInput;
        }
    };
    match execute(args, &plan) {
        Ok(exit) => exit,
        Err(why) => {
            print_error(why);
            Exit::InvalidInput
        }
    }
}

fn execute(args: &PickArgs, plan: &Plan) -> Result<Exit, String> {
    let paths = ProjectPaths::for_workflow(&args.workflow.file).map_err(|error| error.to_string())?;
    let store = PickStore::new(&args.workflow.file, &paths);
    let groups = groups(plan);
    let Some(shot) = &args.shot else { return Ok(list(plan, &groups, &store.read()?)) };
    let mut reference = ShotRef::parse(shot)?;
    let take = match (reference.take.take(), args.take) {
        (Some(_), Some(_)) => return Err("name the take once: `lamp 2` or `lamp#2`".to_owned()),
        (named, given) => named.or(given),
    };
    let meant = meant(plan, &groups, &reference)?;
    refuse_if_the_file_says(args, &reference)?;
    if args.clear {
        store.change(|picks| picks.retain(|name, _| !meant.contains_key(name.as_str())))?;
        for name in meant.keys() {
            outln!("{name}: no take is picked any more");
        }
        return Ok(Exit::Done);
    }
    let take = take.ok_or_else(|| format!("which take of {shot}? say `runner pick FILE {shot} 2`"))?;
    for (name, takes) in &meant {
        if !takes.contains_key(&take) {
            let there = takes.keys().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(format!("{name} has no take {take}; its takes are {there}"));
        }
    }
    store.change(|picks| picks.extend(meant.keys().map(|name| ((*name).to_owned(), take))))?;
    for name in meant.keys() {
        outln!("{name}: take {take} is picked; what waited for it goes on with the next run");
    }
    Ok(Exit::Done)
}

/// The takes of a shot or instance by their number.
type Takes = BTreeMap<u32, NodeIx>;

/// All shots and instances that have takes, by name.
fn groups(plan: &Plan) -> BTreeMap<&str, Takes> {
    let mut groups: BTreeMap<&str, Takes> = BTreeMap::new();
    for (ix, node) in plan.nodes() {
        if let Some(take) = node.take {
            groups.entry(node.name_without_take()).or_default().insert(take, ix);
        }
    }
    groups
}

fn meant<'p>(
    plan: &'p Plan,
    groups: &BTreeMap<&'p str, Takes>,
    reference: &ShotRef,
) -> Result<BTreeMap<&'p str, Takes>, String> {
    let nodes = plan.select(&reference.to_string())?;
    let named = nodes.iter().map(|ix| plan.node(*ix).name_without_take());
    let meant: BTreeMap<&str, Takes> =
        named.filter_map(|name| Some((name, groups.get(name)?.clone()))).collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let known: Vec<&str> = groups.keys().copied().take(12).collect();
    let help = match known.as_slice() {
        [] => "no shot of this workflow has takes".to_owned(),
        known => format!("shots with takes are {}", known.join(", ")),
    };
    Err(format!("there is nothing to pick from in `{reference}`; {help}"))
}

/// A pick in the file goes before one that is recorded: recording another would change nothing.
fn refuse_if_the_file_says(args: &PickArgs, reference: &ShotRef) -> Result<(), String> {
    let text = fs_err::read_to_string(&args.workflow.file).map_err(|error| error.to_string())?;
    let paths = ProjectPaths::for_workflow(&args.workflow.file).map_err(|error| error.to_string())?;
    let mut source = Source::new(args.workflow.file.display().to_string(), text);
    let options =
        load::options(&args.workflow.file, &args.workflow.overrides).map_err(|refused| match refused {
            LoadError::Unreadable(why) => why,
            LoadError::Report(report) => report.render(false),
        })?;
    // It was read without a problem a moment ago.
    let Ok(workflow) = workflow::parse(&mut source, &DirFiles::new(&paths.folder), &options) else {
        return Ok(());
    };
    let shot = workflow.shots.iter().find(|shot| shot.id.value == reference.shot);
    match shot.and_then(|shot| shot.pick.as_ref()).filter(|pick| !pick.value.is_null()) {
        Some(pick) => {
            let at = source.position(pick.key.span.start());
            Err(format!(
                "{}:{}:{}: the file itself says which take of {} is picked; change it there",
                source.name(),
                at.line,
                at.column,
                reference.shot
            ))
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
            _ if open.contains(name) => "open".to_owned(),
            _ => "-".to_owned(),
        };
        table.row([(*name).to_owned(), numbers, picked]);
    }
    out!("{}", table.render());
    if open.is_empty() { Exit::Done } else { Exit::Outstanding }
}
