//! `runner run`: the main job.

use std::path::PathBuf;
use std::sync::Arc;

use engine::spending::Spending;
use engine::{Clock, Ledger, LedgerError, RunId, RunSummary, Setup};
use tokio::sync::watch;
use workflow::plan::Plan;

use super::resolve::now;
use crate::args::{Format, Run};
use crate::commands::complain;
use crate::exit::Exit;
use crate::load;
use crate::place::Place;
use crate::prices::{self, PriceTable};
use crate::report;
use crate::service_choice::{Choice, Connected};

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
        Ok((summary, prices)) => {
            let spent = prices.map(|table| (table, spending(&plan, &summary, table)));
            match args.format {
                Format::Text => {
                    print!("{}", report::closing(&summary));
                    if let Some((table, spending)) = &spent {
                        print!("{}", report::spent(spending, table));
                    }
                }
                Format::Json => println!("{:#}", report::summary_json(&summary, spent.as_ref())),
                Format::Ndjson => println!("{}", report::summary_json(&summary, spent.as_ref())),
            }
            if let Some(engine::state::Halt::Unusable { failure }) = &summary.halt {
                complain(format!("the service cannot be used: {}", failure.message));
            }
            Exit::of(&summary)
        }
        Err(why) => {
            complain(why);
            Exit::Unusable
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

/// Says what the run will submit and cost, before it does.
async fn announce(
    plan: &Arc<Plan>,
    ledger: &Ledger,
    service: &str,
    table: &PriceTable,
) -> Result<(), String> {
    let previews =
        engine::preview::preview(plan, Some(ledger), service).await.map_err(|error| error.to_string())?;
    let document = report::plan::Document::new(plan, &previews, service, Some(table));
    for line in report::plan::estimate(&document) {
        eprintln!("{line}");
    }
    Ok(())
}

/// Runs the plan. With the summary comes the table of prices that applies: none does to the embedded service.
async fn carry_out<'t>(
    args: &Run,
    plan: Arc<Plan>,
    table: Option<&'t PriceTable>,
) -> Result<(RunSummary, Option<&'t PriceTable>), String> {
    let place = Place::of(&args.input.file).map_err(|error| error.to_string())?;
    let folder = match &args.out {
        Some(folder) => std::path::absolute(folder).map_err(|error| error.to_string())?,
        None => place.out(plan.name()),
    };
    let choice = Choice::from_environment()?;
    let ledger = open(&place).map_err(|error| error.to_string())?;
    let table = table.filter(|_| !choice.is_free());
    let identity = choice.identity();
    let Connected { provider, mut policy, service } = choice.connect(&place, tools()).await?;
    if let Some(table) = table {
        announce(&plan, &ledger, &identity, table).await?;
    }
    if let Some(jobs) = args.jobs {
        policy.in_flight = usize::from(jobs);
    }
    let setup = Setup {
        run: run_id(),
        ledger: Arc::new(ledger),
        provider,
        policy,
        clock: Clock::starting_at(now()),
        folder,
        sources: place.folder.clone(),
        tools: tools(),
        interrupt: interrupts(),
    };
    let mut reporter = report::reporter(args.format);
    let summary = engine::run(plan, setup, &mut *reporter).await.map_err(|error| error.to_string());
    if let Some(service) = service {
        service.stop().await;
    }
    summary.map(|summary| (summary, table))
}

fn open(place: &Place) -> Result<Ledger, LedgerError> {
    Ledger::open(&place.ledger(), &place.folder)
}

/// Names a run by its second and process: readable, and unique among the runs of one ledger.
fn run_id() -> RunId {
    let at = jiff::Timestamp::from_millisecond(now().0).unwrap_or_default();
    RunId(format!("{}-{:x}", at.strftime("%Y%m%dT%H%M%S"), std::process::id()))
}

/// ffmpeg, where it is on the path: only unusual formats need it.
pub(crate) fn tools() -> media::Tools {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    let found: Option<PathBuf> =
        std::env::split_paths(&paths).map(|folder| folder.join(&name)).find(|file| file.is_file());
    media::Tools { ffmpeg: found, ..media::Tools::default() }
}

/// Becomes true with the first interrupt. The second one ends the process at once: the ledger is good for that at any instant.
pub(crate) fn interrupts() -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        asked_to_end().await;
        sender.send_replace(true);
        asked_to_end().await;
        quit();
    });
    receiver
}

#[expect(clippy::exit, reason = "the user insists; every paid task is in the ledger")]
fn quit() {
    std::process::exit(130);
}

#[cfg(unix)]
async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn asked_to_end() {
    drop(tokio::signal::ctrl_c().await);
}
