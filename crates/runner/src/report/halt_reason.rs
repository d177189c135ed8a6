//! Why a run submits nothing more, in messages about shots that it did not start.

use scheduler::Halt;
use scheduler::budget::BudgetCaps;

use super::sanitize;
use crate::budget;

/// Why a run with these caps submits nothing more.
pub(super) fn halted(halt: &Halt, caps: &BudgetCaps) -> String {
    match halt {
        Halt::Interrupted => "the run is interrupted".to_owned(),
        Halt::ServiceUnusable { .. } => "the service cannot be used".to_owned(),
        Halt::StorageUnusable { .. } => "videos cannot be stored".to_owned(),
        Halt::BudgetExceeded { cap } => format!("{} is reached", budget::cap(*cap, caps)),
        Halt::FailFast { shot } => format!("{} failed (--fail-fast)", sanitize::line(shot)),
    }
}
