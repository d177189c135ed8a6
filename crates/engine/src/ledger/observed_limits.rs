//! Limits that services were observed to have, by service, in a file beside the ledger. Not in the database: they may be lost, and nothing
//! that is paid for depends on them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use super::Ledger;
use scheduler::ObservedLimits;

/// The name of the file.
const FILE: &str = "limits.json";
/// The record of a service has some 100 bytes.
const MAX_BYTES: u64 = 1 << 20;

impl Ledger {
    /// The limits that earlier runs observed at `service`; none if there is no record of them that can be read.
    pub fn observed_limits(&self, service: &str) -> ObservedLimits {
        self.read_limits().remove(service).unwrap_or_default()
    }

    /// Records the limits of `service` for the next run.
    ///
    /// # Errors
    /// When the file cannot be written. The next run then learns them again.
    pub fn record_limits(&self, service: &str, limits: ObservedLimits) -> std::io::Result<()> {
        let mut all = self.read_limits();
        if limits == all.get(service).copied().unwrap_or_default() {
            return Ok(());
        }
        all.insert(service.to_owned(), limits);
        // Replaced as a whole: another run may read it meanwhile.
        let mut new = tempfile::Builder::new().prefix(".limits").tempfile_in(&self.folder)?;
        new.write_all(&serde_json::to_vec_pretty(&all)?)?;
        new.persist(self.limits_file())?;
        Ok(())
    }

    fn limits_file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn read_limits(&self) -> BTreeMap<String, ObservedLimits> {
        let file = self.limits_file();
        let is_readable =
            file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES);
        let text = if is_readable { fs_err::read(file).unwrap_or_default() } else { Vec::new() };
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use scheduler::ObservedRate;

    #[test]
    fn limits_are_recorded_per_service_and_unreadable_ones_are_learned_again()
    -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let ledger = Ledger::open_without_sync(&folder.path().join("ledger.db"), folder.path())?;
        assert_eq!(ledger.observed_limits("https://a.example"), ObservedLimits::default());
        let rate = Some(ObservedRate { count: 10, per: Duration::from_millis(1_010) });
        let (a, b) =
            (ObservedLimits { rate, in_flight: None }, ObservedLimits { rate: None, in_flight: Some(4) });
        ledger.record_limits("https://a.example", a)?;
        ledger.record_limits("https://b.example", b)?;
        assert_eq!(ledger.observed_limits("https://a.example"), a);
        assert_eq!(ledger.observed_limits("https://b.example"), b);
        fs_err::write(ledger.limits_file(), "{")?;
        assert_eq!(ledger.observed_limits("https://a.example"), ObservedLimits::default());
        Ok(())
    }
}
