//! `runner run`: the main job.

use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::preview::Preview;
use engine::store::Check;
use engine::{Clock, Ledger, LedgerError, Setup};
use scheduler::spending::Spending;
use scheduler::{Budget, Halt, Keys, RunId, RunSummary, Scope};
use workflow::plan::{NodeIx, Plan, Selection};

use super::resolve::now;
use crate::args::{Format, Run};
use crate::budget::{self, Unaffordable};
use crate::choosing::{self, Chosen, NotChosen};
use crate::commands::complain;
use crate::exit::Exit;
use crate::interrupt::{Kept, interrupts_saying};
use crate::load;
use crate::place::Place;
use crate::prices::{self, PriceTable};
use crate::report::{self, Head, Telling, Worth};
use crate::service_choice::{Choice, Connected};
use crate::terminal;

/// Why there is no summary: what to say, and how to end.
struct Stop {
    why: String,
    exit: Exit,
}

impl Stop {
    /// Something that a run cannot do without cannot be used.
    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    fn unusable(why: impl ToString) -> Self {
        Self { why: why.to_string(), exit: Exit::Unusable }
    }
}

pub(crate) async fn run(args: Run) -> Exit {
    let plan = match load::load(&args.input.file, &args.input.given) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(args.format),
    };
    let prices = match PriceTable::load(args.prices.as_deref(), &args.input.file) {
        Ok(prices) => prices,
        Err(refused) => return refused.exit(args.format),
    };
    match carry_out(&args, Arc::clone(&plan), prices.as_ref()).await {
        Ok((summary, prices, telling)) => {
            let spent = prices.map(|table| (table, spending(&plan, &summary, table)));
            // Before anything else is said: with it the live lines go.
            telling.end(&summary, report::spending_json(spent.as_ref()), now());
            match args.format {
                Format::Text => {
                    out!("{}", report::closing(&summary, terminal::columns()));
                    if let Some((table, spending)) = &spent {
                        out!("{}", report::spent(spending, table));
                    }
                }
                Format::Json => outln!("{:#}", report::summary_json(&plan, &summary, spent.as_ref())),
                Format::Ndjson => {}
            }
            match &summary.halt {
                Some(Halt::Unusable { failure }) => {
                    complain(format!("the service cannot be used: {}", failure.message));
                }
                Some(Halt::Capped { cap }) => complain(format!(
                    "the cap on {cap} is reached: what was out is finished, the rest is not submitted; \
                     run again with a higher cap to go on"
                )),
                Some(Halt::FailFast { shot }) => complain(format!(
                    "{shot} failed: what was out is finished, the rest is not submitted (--fail-fast); \
                     `--failed` makes these shots again"
                )),
                Some(Halt::Interrupted) | None => {}
            }
            Exit::of(&summary)
        }
        Err(Stop { why, exit: Exit::Done }) => {
            match args.format {
                Format::Text => {}
                Format::Json => outln!("{:#}", report::nothing_json()),
                Format::Ndjson => report::stream::nothing(&why, now()),
            }
            errln!("{why}");
            Exit::Done
        }
        Err(stop) => {
            complain(stop.why);
            stop.exit
        }
    }
}

/// What the run has cost, by the table.
fn spending(plan: &Plan, summary: &RunSummary, table: &PriceTable) -> Spending {
    let billings = prices::billings(plan);
    Spending::of(summary, |at, video| {
        let billing = billings.get(at)?;
        match video {
            Some(video) => table.prices.settle(billing, video).ok(),
            None => table.prices.estimate(billing).ok(),
        }
    })
}

/// The nodes that are to be made anew, in file order and each once.
fn forced(args: &Run, plan: &Plan, selection: Option<&Selection>) -> Result<Vec<NodeIx>, Stop> {
    let Some(names) = &args.force else { return Ok(Vec::new()) };
    let refused = |why| Stop { why, exit: Exit::InvalidInput };
    let is_selected = |ix: &NodeIx| selection.is_none_or(|selection| selection.contains(*ix));
    let mut nodes = choosing::named(names, plan).map_err(refused)?;
    if let Some(other) = nodes.iter().find(|ix| !is_selected(ix)) {
        let name = &plan.node(*other).name;
        return Err(refused(format!(
            "--force names {name}, which is not among the shots that this run makes"
        )));
    }
    if names.is_empty() {
        nodes.extend(plan.nodes().map(|(ix, _)| ix).filter(is_selected));
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// The nodes that the run is to make, where that is not all of them.
fn chosen(args: &Run, plan: &Plan, place: &Place) -> Result<Option<Selection>, Stop> {
    // Where a name is wrong nothing is made, not even a ledger.
    let ledger = Ledger::open_existing(&place.ledger(), &place.folder).map_err(Stop::unusable)?;
    match args.choosing.of(plan, ledger.as_ref()) {
        Ok(Chosen::All) => Ok(None),
        Ok(Chosen::Some(selection)) => Ok(Some(selection)),
        Ok(Chosen::Nothing(why)) => Err(Stop { why, exit: Exit::Done }),
        Err(NotChosen::Unknown(why)) => Err(Stop { why, exit: Exit::InvalidInput }),
        Err(NotChosen::Ledger(error)) => Err(Stop::unusable(error)),
    }
}

/// What is to be done with each shot, where that has to be known before the run begins.
async fn foreseen(
    args: &Run,
    plan: &Arc<Plan>,
    ledger: &Ledger,
    keys: &Keys,
    selection: Option<&Selection>,
    table: Option<&PriceTable>,
) -> Result<Option<Vec<Preview>>, Stop> {
    let caps = budget::caps(&args.budget);
    if table.is_none() && caps.is_none() && args.force.is_none() && selection.is_none() {
        return Ok(None);
    }
    let check = if args.verify { Check::Hash } else { Check::Quick };
    let mut previews =
        engine::preview::preview_with(plan, Some(ledger), keys, check).await.map_err(Stop::unusable)?;
    if let Some(selection) = selection {
        choosing::mark(plan, selection, &mut previews)
            .map_err(|why| Stop { why, exit: Exit::InvalidInput })?;
    }
    Ok(Some(previews))
}

/// Says what the run will submit and cost, before it does, and stops it where that does not fit the caps. Answers with the cost, as far as
/// it is known.
fn announce(
    args: &Run,
    plan: &Plan,
    keys: &Keys,
    previews: &[Preview],
    service: &str,
    table: Option<&PriceTable>,
    is_free: bool,
) -> Result<Option<Worth>, Stop> {
    let document = report::plan::Document::new(plan, previews, service, table);
    budget::look(&args.budget, is_free, &document).map_err(|unaffordable| match unaffordable {
        Unaffordable::BelowFloor(why) => Stop { why, exit: Exit::Capped },
        Unaffordable::Unpriced(why) => Stop { why, exit: Exit::InvalidInput },
    })?;
    let again: Vec<&str> =
        plan.nodes().filter(|(ix, _)| keys.is_forced(*ix)).map(|(_, node)| node.name.as_str()).collect();
    if !again.is_empty() {
        errln!("made anew, whatever there is of them: {}", again.join(", "));
    }
    if table.is_some() || !again.is_empty() || args.choosing.is_any() {
        for line in report::plan::estimate(&document) {
            errln!("{line}");
        }
    }
    let estimate = document.totals.cost;
    Ok(table.map(|table| Worth { estimate, currency: table.prices.currency().to_owned() }))
}

/// Runs the plan. With the summary comes the table of prices that applies: none does to the embedded service.
async fn carry_out<'t>(
    args: &Run,
    plan: Arc<Plan>,
    table: Option<&'t PriceTable>,
) -> Result<(RunSummary, Option<&'t PriceTable>, Telling), Stop> {
    let place = Place::of(&args.input.file).map_err(Stop::unusable)?;
    let folder = match &args.out {
        Some(folder) => std::path::absolute(folder).map_err(Stop::unusable)?,
        None => place.out(plan.name()),
    };
    let choice = Choice::from_environment().map_err(Stop::unusable)?;
    let selection = chosen(args, &plan, &place)?;
    let force = forced(args, &plan, selection.as_ref())?;
    let ledger = open(&place).map_err(Stop::unusable)?;
    let is_free = choice.is_free();
    let table = table.filter(|_| !is_free);
    let (run, identity) = (run_id(), choice.identity());
    let keys = Keys::of_service(identity.clone())
        .with_salt(args.salt.clone())
        .following(ledger.salts().map_err(Stop::unusable)?)
        .making_anew(force.iter().copied(), run.as_str());
    let worth = match foreseen(args, &plan, &ledger, &keys, selection.as_ref(), table).await? {
        Some(previews) => announce(args, &plan, &keys, &previews, &identity, table, is_free)?,
        None => None,
    };
    let Connected { provider, mut policy, service } =
        choice.connect(&place, tools()).await.map_err(Stop::unusable)?;
    args.limits.apply(&mut policy);
    policy.grace = Duration::from_secs_f64(args.grace);
    let (kept, file) = (Kept::default(), args.input.file.display().to_string());
    let head = Head { run: run.clone(), service: identity, jobs: policy.in_flight, worth };
    // Runs that are refused together do not come back together.
    policy.seed = RandomState::new().hash_one(run.as_str());
    let prices = budget::prices(&plan, is_free, table.map(|table| &table.prices));
    let setup = Setup {
        run,
        ledger: Arc::new(ledger),
        provider,
        policy,
        clock: Clock::starting_at(now()),
        folder,
        sources: place.folder.clone(),
        tools: tools(),
        budget: Budget::new(budget::caps(&args.budget), prices),
        keys,
        check: if args.verify { Check::Hash } else { Check::Quick },
        scope: Scope { selection, fail_fast: args.fail_fast },
        interrupt: interrupts_saying({
            let kept = kept.clone();
            move || kept.words(&file)
        }),
    };
    let mut telling = Telling::begin(args.format, head);
    let ended =
        engine::run(plan, setup, &mut kept.watching(telling.reporter())).await.map_err(Stop::unusable);
    if let Some(service) = service {
        service.stop().await;
    }
    match ended {
        Ok(summary) => Ok((summary, table, telling)),
        Err(stop) => {
            telling.broken(&stop.why, stop.exit, now());
            Err(stop)
        }
    }
}

fn open(place: &Place) -> Result<Ledger, LedgerError> {
    Ledger::open(&place.ledger(), &place.folder)
}

/// Names a run by its second, its process and a little chance: readable, and unique among the runs of one ledger, whichever machine or
/// container they come from.
fn run_id() -> RunId {
    let at = jiff::Timestamp::from_millisecond(now().0).unwrap_or_default();
    let chance = RandomState::new().hash_one(std::process::id()) & 0xffff;
    RunId(format!("{}-{:x}-{chance:04x}", at.strftime("%Y%m%dT%H%M%S"), std::process::id()))
}

/// ffmpeg, where it is on the path: only unusual formats need it.
pub(crate) fn tools() -> media::Tools {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let found: Option<PathBuf> =
        std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|file| file.is_file());
    media::Tools { ffmpeg: found, ..media::Tools::default() }
}
