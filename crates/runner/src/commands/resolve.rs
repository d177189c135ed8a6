//! `runner resolve`: someone who can see the account at the service says what became of a submission whose answer was lost.

use std::time::SystemTime;

use engine::ledger::Resolution;
use engine::{AttemptId, Ledger, LedgerError, Millis, TaskId};

use crate::args::Resolve;
use crate::commands::complain;
use crate::exit::Exit;
use crate::place::Place;
use crate::report::Table;

pub(crate) fn resolve(args: Resolve) -> Exit {
    match attempt(args) {
        Ok(exit) => exit,
        Err(error @ LedgerError::NotResolvable(_)) => {
            complain(error);
            Exit::InvalidInput
        }
        Err(error) => {
            complain(error);
            Exit::Unusable
        }
    }
}

fn attempt(args: Resolve) -> Result<Exit, LedgerError> {
    let place = Place::of(&args.file)?;
    let Some(ledger) = Ledger::open_existing(&place.ledger(), &place.folder)? else {
        complain(format!("nothing has been run beside {}: there is no ledger", args.file.display()));
        return Ok(Exit::InvalidInput);
    };
    let Some(attempt) = args.attempt else { return list(&ledger) };
    let resolution = match args.choice.task {
        Some(task) => Resolution::Accepted(TaskId(task)),
        None => Resolution::NotAccepted,
    };
    ledger.resolve(&AttemptId(attempt.clone()), &resolution, now())?;
    match resolution {
        Resolution::Accepted(task) => println!("{attempt}: the next run adopts task {task}"),
        Resolution::NotAccepted => println!("{attempt}: the next run submits it anew"),
    }
    Ok(Exit::Done)
}

fn list(ledger: &Ledger) -> Result<Exit, LedgerError> {
    let mut table = Table::new(["attempt", "shot", "at", "what is known"]);
    let mut any = false;
    for row in ledger.unaccounted()? {
        if ledger.is_alive(&row.run) {
            continue;
        }
        any = true;
        let at = jiff::Timestamp::from_millisecond(row.intended_at.0)
            .map_or_else(|_| "?".to_owned(), |at| format!("{at:.0}"));
        let known = row.failure.unwrap_or_else(|| "the run ended before the answer came".to_owned());
        table.row([row.attempt.to_string(), row.node, at, known]);
    }
    if any {
        print!("{}", table.render());
        println!(
            "\nlook at your account at the service, then: runner resolve FILE ATTEMPT --task ID, or --not-accepted"
        );
        return Ok(Exit::Outstanding);
    }
    println!("every submission is accounted for");
    Ok(Exit::Done)
}

/// The machine's clock.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
