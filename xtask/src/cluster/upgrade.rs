//! A new version of the workers is registered while runs are in flight, and the old ones end.

use std::path::Path;
use std::time::Duration;

use super::processes::{Cluster, KEY, wait_for_success, wait_until};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};

const CLIENTS: usize = 2;
const CELLS: usize = 30;
/// Tasks that are accepted before the upgrade, and that are left for the time after it.
const TASKS_BEFORE: usize = 8;
const TIMEOUT: Duration = Duration::from_mins(3);

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let behavior = Behavior::without_faults(Duration::from_millis(300), Duration::from_secs(2));
    let service = CountingService::start(1, behavior)?;
    let mut cluster =
        Cluster::start(server, program, 2, (service.base_url(), KEY), &["--max-in-flight", "6"])?;
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let file = cluster.write_sweep(&format!("upgrade-{number}"), CELLS)?;
        clients.push(cluster.spawn_client(number, &["run", &file], "client.log")?);
    }
    wait_until(TIMEOUT, "nothing is submitted", || Ok(service.accepted() >= TASKS_BEFORE))?;
    let before = service.accepted();
    cluster.upgrade()?;
    let during = service.accepted() - before;
    let remaining = CLIENTS * CELLS - service.accepted();
    if remaining == 0 {
        return Err("the runs were over before the old workers ended, so nothing was tested".to_owned());
    }
    for client in clients {
        wait_for_success(client, TIMEOUT, "a run after the upgrade")?;
    }
    for number in 0..CLIENTS {
        for cell in 1..=CELLS {
            let prompt = format!("upgrade-{number} {cell}");
            let paid = service.paid(&prompt).len();
            if paid != 1 {
                return Err(format!("`{prompt}` was paid for {paid} times"));
            }
        }
    }
    Ok(format!(
        "an upgrade of the workers under load: {before} tasks before it, {during} until the old workers had ended, {remaining} after that; \
         every run ended, none of {} cells was paid for twice",
        CLIENTS * CELLS
    ))
}
