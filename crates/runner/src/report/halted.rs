//! Why a run submits nothing more, in messages about shots that it did not start.

use scheduler::Halt;
use scheduler::budget::BudgetLimits;

use super::sanitize;
use crate::budget;

/// Why a run with these caps submits nothing more.
pub(super) fn halted(halt: &Halt, caps: &BudgetLimits) -> String {
    match halt {
        Halt::Interrupted => "the run is interrupted".to_owned(),
        Halt::ServiceUnusable { .. } => "the service cannot be used".to_owned(),
        Halt::BudgetExceeded { limit } => format!("{} is reached", budget::cap(*limit, caps)),
        Halt::FailFast { shot } => format!("{} failed (--fail-fast)", sanitize::line(shot)),
    }
}
