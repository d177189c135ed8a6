//! A simulated service with faults, and the oracle that records what is paid for.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::provider::{
    DownloadSink, DownloadStart, PreparedRequest, Provider, Resume, Submission, SubmissionLookup,
};
use futures_util::future::BoxFuture;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::clip::CLIP;
use super::responses::{self, Form, INDETERMINATE, no_response, poll_result, submission};
use client::CallError;
use scheduler::{Failure, FailureKind, PollResult, TaskId, Timestamp};

/// The longest wait that a run owes to the service, whatever that asks for.
const MAX_WAIT: Duration = Duration::from_mins(5);
/// The waits that the service asks for.
const WAITS: [Option<Duration>; 5] = [
    None,
    Some(Duration::ZERO),
    Some(Duration::from_secs(3)),
    Some(Duration::from_secs(20)),
    Some(Duration::from_hours(24)),
];

/// A deterministic random number generator.
#[derive(Debug, Clone)]
pub(crate) struct Rng(SplitMix64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0.next_u64() % sides
    }
}

/// One accepted task: something to pay for.
#[derive(Debug)]
struct AcceptedTask {
    shot: String,
    digest: String,
    done_at: Instant,
    fails: bool,
    /// Whether a run was told that it had completed while it had not: then its slot was released.
    lied_about: bool,
    /// Whether a run has asked about it.
    was_polled: bool,
    /// From when on the service does not know it any more, and whether it says that it has expired.
    forgotten: Option<(Instant, bool)>,
}

/// How a service may answer about a task that was finished long ago, and about its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AgedTask {
    Unchanged,
    /// As failed: "file expired".
    Failed,
    Unknown,
    Expired,
    /// Finished, with files that have expired.
    WithoutFiles,
    /// Finished. The host of its video cannot be reached, and the service has no content endpoint.
    Unreachable,
}

#[derive(Debug)]
struct WorldState {
    opened: Instant,
    rng: Rng,
    /// From when to when the service knows no task at all.
    knows_nothing: Option<(Instant, Instant)>,
    tasks: BTreeMap<String, AcceptedTask>,
    /// What became of tasks that had been finished for long.
    aged: BTreeMap<String, AgedTask>,
    /// Whether the service forgets a task once its video was delivered.
    forgets_delivered: bool,
    /// How often the whole video of a task was delivered.
    deliveries: BTreeMap<String, u32>,
    /// Most unfinished tasks at once.
    max_in_flight: usize,
    /// When POSTs arrived.
    posts: Vec<Instant>,
    /// When polls arrived in this run.
    polls: Vec<Instant>,
    /// Until when the service has asked this run to send no POSTs, and since when.
    no_posts: Option<(Instant, Instant)>,
    /// The same of polls.
    no_polls: Option<(Instant, Instant)>,
    downloading: usize,
    max_downloading: usize,
    /// What came although the service had asked to wait.
    impatient: Vec<&'static str>,
    /// How often each thing was rolled for each shot.
    rolls: BTreeMap<(&'static str, String), u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    books: Arc<Mutex<WorldState>>,
    /// Whether it can say what became of a lost submission.
    pub(crate) finds_tasks: bool,
    /// Out of a hundred calls, how many go wrong.
    pub(crate) trouble: u64,
    /// With it, what becomes of a shot depends on this seed and on how often it was tried, and not on when.
    by_shot: Option<u64>,
}

impl World {
    pub(crate) fn new(seed: u64, finds_tasks: bool, trouble: u64) -> Self {
        let (opened, mut rng) = (Instant::now(), Rng::new(seed));
        let knows_nothing = (trouble > 0 && rng.roll(4) == 0).then(|| {
            let from = opened + Duration::from_millis(rng.roll(120_000));
            (from, from + Duration::from_millis(rng.roll(240_000)))
        });
        let books = WorldState {
            opened,
            rng,
            knows_nothing,
            tasks: BTreeMap::new(),
            aged: BTreeMap::new(),
            forgets_delivered: false,
            deliveries: BTreeMap::new(),
            max_in_flight: 0,
            posts: Vec::new(),
            polls: Vec::new(),
            no_posts: None,
            no_polls: None,
            downloading: 0,
            max_downloading: 0,
            impatient: Vec::new(),
            rolls: BTreeMap::new(),
        };
        Self { books: Arc::new(Mutex::new(books)), finds_tasks, trouble, by_shot: None }
    }

    /// A service in which what becomes of a shot depends on the seed and on how often it was tried: two engines that try the same see the
    /// same. Other faults only delay.
    pub(crate) fn by_shot(seed: u64, finds_tasks: bool, trouble: u64) -> Self {
        let world = Self::new(seed, finds_tasks, trouble);
        world.with(|books| books.knows_nothing = None);
        Self { by_shot: Some(seed), ..world }
    }

    fn with<T>(&self, access: impl FnOnce(&mut WorldState) -> T) -> T {
        access(&mut self.books.lock().expect("no test panics while it holds the books"))
    }

    /// For half a minute out of two.
    fn is_behind(&self) -> bool {
        self.with(|books| books.opened.elapsed().as_secs() % 120 < 30)
    }

    fn roll(&self, sides: u64) -> u64 {
        self.with(|books| books.rng.roll(sides))
    }

    fn roll_for(&self, call: &'static str, shot: &str, sides: u64) -> u64 {
        let Some(seed) = self.by_shot else { return self.roll(sides) };
        let count = self.with(|books| {
            let count = books.rolls.entry((call, shot.to_owned())).or_default();
            *count += 1;
            *count
        });
        let mut hasher = DefaultHasher::new();
        (seed, call, shot, count).hash(&mut hasher);
        Rng::new(hasher.finish()).roll(sides)
    }

    /// Whether a call about a shot's task goes wrong. By shot, every second one is answered: an engine that asks again gets on.
    fn injects_fault(&self, call: &'static str, shot: &str) -> bool {
        let rolled = self.roll_for(call, shot, 100) < self.trouble;
        let is_second =
            self.with(|books| books.rolls.get(&(call, shot.to_owned())).is_some_and(|count| count % 2 == 0));
        rolled && (self.by_shot.is_none() || !is_second)
    }

    async fn pause(&self) {
        sleep(Duration::from_millis(5 + self.roll(200))).await;
    }

    /// Time passes: finished tasks may be forgotten, and so may their files.
    pub(crate) fn age(&self) {
        use AgedTask::{Expired, Failed, Unchanged, Unknown, Unreachable, WithoutFiles};
        self.with(|books| {
            let now = Instant::now();
            let finished: Vec<String> = books
                .tasks
                .iter()
                .filter(|(_, task)| task.done_at <= now && !task.fails)
                .map(|(id, _)| id.clone())
                .collect();
            for id in finished {
                let kinds = [Unchanged, Failed, Unknown, Expired, WithoutFiles, Unreachable];
                let aged = kinds[books.rng.roll(kinds.len() as u64) as usize];
                books.aged.insert(id, aged);
            }
        });
    }

    /// From now on the service forgets a task once its video was delivered, and says that it has expired.
    pub(crate) fn forget_delivered(&self) {
        self.with(|books| books.forgets_delivered = true);
    }

    /// How many tasks were accepted for each shot, and how many of these failed (a failed task costs nothing).
    pub(crate) fn accepted(&self) -> BTreeMap<String, (usize, usize)> {
        self.with(|books| {
            let mut counts = BTreeMap::new();
            for task in books.tasks.values() {
                let count: &mut (usize, usize) = counts.entry(task.shot.clone()).or_default();
                count.0 += 1;
                count.1 += usize::from(task.fails);
            }
            counts
        })
    }

    /// How many tasks were ever accepted.
    pub(crate) fn total(&self) -> usize {
        self.with(|books| books.tasks.len())
    }

    /// Tasks that are paid for and have to be downloaded: those that do not fail, with their shots.
    pub(crate) fn paid(&self) -> Vec<(String, TaskId)> {
        self.with(|books| {
            let good = books.tasks.iter().filter(|(_, task)| !task.fails);
            good.map(|(id, task)| (task.shot.clone(), TaskId(id.clone()))).collect()
        })
    }

    /// Maximum number of tasks in flight at once: accepted, unfinished, and not reported as finished.
    pub(crate) fn max_in_flight(&self) -> usize {
        self.with(|books| books.max_in_flight)
    }

    /// Most downloads at once.
    pub(crate) fn max_downloading(&self) -> usize {
        self.with(|books| books.max_downloading)
    }

    /// Most POSTs in any stretch of `per`, in all runs together.
    pub(crate) fn max_posts_within(&self, per: Duration) -> usize {
        self.with(|books| max_within(&books.posts, per))
    }

    /// Most polls in any stretch of `per` in this run.
    pub(crate) fn max_polls_within(&self, per: Duration) -> usize {
        self.with(|books| max_within(&books.polls, per))
    }

    /// What came although the service had asked to wait.
    pub(crate) fn impatient(&self) -> Vec<&'static str> {
        self.with(|books| books.impatient.clone())
    }

    /// Another process begins, which knows only the ledger.
    pub(crate) fn begin_run(&self) {
        self.with(|books| {
            books.polls.clear();
            books.no_posts = None;
            books.no_polls = None;
            books.downloading = 0;
        });
    }

    /// A POST or a poll arrives.
    fn arrive(&self, is_post: bool) {
        self.with(|books| {
            let now = Instant::now();
            let (times, asked, name) = if is_post {
                (&mut books.posts, books.no_posts, "a POST")
            } else {
                (&mut books.polls, books.no_polls, "a poll")
            };
            times.push(now);
            // What left before the service had said so is not to blame.
            if asked.is_some_and(|(since, until)| since < now && now < until) {
                books.impatient.push(name);
            }
        });
    }

    /// Asks to wait, or does not say how long.
    fn ask_to_wait(&self, is_post: bool) -> Option<Duration> {
        let wait = WAITS[self.roll(WAITS.len() as u64) as usize];
        self.with(|books| {
            let asked = if is_post { &mut books.no_posts } else { &mut books.no_polls };
            if let Some(wait) = wait.map(|wait| wait.min(MAX_WAIT)) {
                let (now, before) = (Instant::now(), *asked);
                let until = before.map_or(now + wait, |(_, until)| until.max(now + wait));
                // Retry-After that was sent earlier continues to count from then.
                let since = before.filter(|(_, until)| *until > now).map_or(now, |(since, _)| since);
                *asked = Some((since, until));
            }
        });
        wait
    }

    fn accept(&self, request: &PreparedRequest) -> TaskId {
        let shot = shot(request);
        let forgets = self.trouble > 0 && self.by_shot.is_none();
        let fails = self.by_shot.map(|_| self.roll_for("task", &shot, 100) < 10);
        self.with(|books| {
            let now = Instant::now();
            let number = books.tasks.len() + 1;
            // Any string can be an id.
            let id =
                if number % 3 == 0 { format!("tâche/{number}?a=b+c@d#") } else { format!("task_{number}") };
            let done_at = now + Duration::from_millis(100 + books.rng.roll(20_000));
            let fails = fails.unwrap_or_else(|| books.rng.roll(100) < 10);
            let is_forgotten = forgets && books.rng.roll(100) < 5;
            let forgotten = is_forgotten.then(|| {
                let after = Duration::from_millis(books.rng.roll(90_000));
                (done_at + after, books.rng.roll(2) == 0)
            });
            books.tasks.insert(
                id.clone(),
                AcceptedTask {
                    shot,
                    digest: request.digest().to_owned(),
                    done_at,
                    fails,
                    lied_about: false,
                    was_polled: false,
                    forgotten,
                },
            );
            let is_out = |task: &&AcceptedTask| task.done_at > now && !task.lied_about;
            books.max_in_flight = books.max_in_flight.max(books.tasks.values().filter(is_out).count());
            TaskId(id)
        })
    }
}

impl World {
    async fn respond_to_post(&self, request: &PreparedRequest) -> Result<Value, CallError> {
        let shot = shot(request);
        if self.roll_for("POST", &shot, 100) < self.trouble {
            // By shot, nothing is about another shot's task.
            let fault = match self.roll_for("fault", &shot, 7) {
                5 if self.by_shot.is_some() => 6,
                fault => fault,
            };
            match fault {
                0 => {
                    let wait = self.ask_to_wait(true);
                    return Err(responses::error(429, Form::Service, None, wait));
                }
                1 => {
                    let wait = Some(Duration::from_secs(2));
                    return Err(responses::error(503, Form::Service, None, wait));
                }
                2 => return Err(no_response("the request was lost on its way")),
                3 => {
                    self.accept(request);
                    self.pause().await;
                    return Err(no_response("the answer was lost on its way"));
                }
                // Answered with the id of another task. A service that can find tasks keeps them apart.
                5 if !self.finds_tasks => {
                    let other_task = self.task_that_was_polled();
                    let task = self.accept(request);
                    self.pause().await;
                    return Ok(responses::task(&other_task.unwrap_or(task.0), "queued", None, None, false));
                }
                _ => {
                    let accepted = (self.roll_for("accepted", &shot, 2) == 0).then(|| self.accept(request));
                    self.pause().await;
                    let named = accepted.filter(|_| self.roll_for("named", &shot, 3) == 0);
                    let kinds = INDETERMINATE.len() as u64;
                    let (status, form) = match self.roll_for("answer", &shot, kinds + 2) {
                        // Refusals, but for the task that they name.
                        0 if named.is_some() => (503, Form::Service),
                        1 if named.is_some() => (429, Form::Service),
                        kind => INDETERMINATE[(kind % kinds) as usize],
                    };
                    // By shot: after one of these a run may stop, depending on what other shots were told before.
                    let status =
                        if self.by_shot.is_some() && matches!(status, 401..=404) { 400 } else { status };
                    return Err(responses::error(status, form, named.as_ref().map(TaskId::as_str), None));
                }
            }
        }
        let task = self.accept(request);
        // A run that is killed here has a task that it does not know of.
        self.pause().await;
        Ok(responses::task(task.as_str(), "queued", None, None, self.has_words()))
    }

    fn respond_to_poll(&self, task: &TaskId) -> Result<Value, CallError> {
        let id = task.as_str();
        self.with(|books| books.tasks.get_mut(id).map(|task_state| task_state.was_polled = true));
        let words = self.has_words();
        let shot = self
            .with(|books| books.tasks.get(id).map(|task_state| task_state.shot.clone()))
            .unwrap_or_default();
        if self.injects_fault("poll", &shot) {
            // By shot, a poll that goes wrong says nothing.
            let fault = if self.by_shot.is_some() {
                [2, 3, 5, 6, 7, 8][self.roll(6) as usize]
            } else {
                self.roll(10)
            };
            return match fault {
                // The replica that is asked is behind for a while.
                0 if self.is_behind() => Err(responses::error(404, Form::Service, None, None)),
                // Reported as completed, without a video yet. A run has to believe that it is no longer in flight.
                1 => {
                    self.with(|books| books.tasks.get_mut(id).map(|task_state| task_state.lied_about = true));
                    Ok(responses::task(id, "completed", None, None, words))
                }
                2 => Err(no_response("simulated")),
                3 => Err(responses::error(429, Form::Service, None, self.ask_to_wait(false))),
                // Another task's object: no news about this one.
                4 => {
                    let other_task = self.task_that_was_polled().filter(|other_task| other_task != id);
                    let other_task = other_task.unwrap_or_else(|| "a task of somebody else".to_owned());
                    Ok(responses::task(
                        &other_task,
                        "completed",
                        None,
                        Some("https://cdn.example/other"),
                        false,
                    ))
                }
                // A gateway's page says nothing about the task.
                5 => Err(responses::error(404, Form::Gateway, None, None)),
                6 => Err(responses::error(404, Form::Imitation, None, None)),
                7 => Ok(responses::stray_status()),
                8 => Err(responses::error(403, Form::Imitation, None, None)),
                _ => Ok(responses::task(id, "thinking", None, None, words)),
            };
        }
        self.with(|books| {
            let (now, task_state) = (Instant::now(), &books.tasks[id]);
            let unknown =
                |expired| Err(responses::error(if expired { 410 } else { 404 }, Form::Service, None, None));
            if let Some((_, expired)) = task_state.forgotten.filter(|(from, _)| *from <= now) {
                return unknown(expired);
            }
            if books.knows_nothing.is_some_and(|(from, until)| (from..until).contains(&now)) {
                return unknown(task_state.done_at.duration_since(books.opened).as_millis() % 2 == 0);
            }
            match books.aged.get(id) {
                Some(AgedTask::Failed) => return Ok(responses::failed_task(id)),
                Some(AgedTask::Unknown) => return unknown(false),
                Some(AgedTask::Expired) => return unknown(true),
                Some(AgedTask::Unchanged | AgedTask::WithoutFiles | AgedTask::Unreachable) | None => {}
            }
            Ok(if task_state.done_at > now {
                responses::task(id, "in_progress", Some(40), None, words)
            } else if task_state.fails {
                responses::failed_task(id)
            } else {
                responses::task(id, "completed", None, Some("https://cdn.example/v"), words)
            })
        })
    }

    /// Whether a response carries an `error` that says nothing.
    fn has_words(&self) -> bool {
        self.trouble > 0 && self.roll(20) == 0
    }

    /// A task that a run asked about, and so has on record.
    fn task_that_was_polled(&self) -> Option<String> {
        self.with(|books| {
            let polled: Vec<&String> =
                books.tasks.iter().filter(|(_, task)| task.was_polled).map(|(id, _)| id).collect();
            if polled.is_empty() {
                return None;
            }
            Some(polled[books.rng.roll(polled.len() as u64) as usize].clone())
        })
    }
}

/// Most of these times, which are in order, in any stretch of `per`: its beginning counts, its end does not.
fn max_within(times: &[Instant], per: Duration) -> usize {
    let within = |start: usize| times[start..].iter().take_while(|time| **time < times[start] + per).count();
    (0..times.len()).map(within).max().unwrap_or(0)
}

/// A download that runs, until its run is over or cut off.
struct Downloading<'a>(&'a World);

impl<'a> Downloading<'a> {
    fn begin(world: &'a World) -> Self {
        world.with(|books| {
            books.downloading += 1;
            books.max_downloading = books.max_downloading.max(books.downloading);
        });
        Self(world)
    }
}

impl Drop for Downloading<'_> {
    fn drop(&mut self) {
        self.0.with(|books| books.downloading = books.downloading.saturating_sub(1));
    }
}

/// The shot of a request.
fn shot(request: &PreparedRequest) -> String {
    let body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    body["prompt"].as_str().unwrap_or_default().to_owned()
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "simulated")
}

impl World {
    /// The video of a task, with other bytes each time: players skip a box of this kind.
    fn clip(&self, task: &TaskId) -> Vec<u8> {
        let deliveries = self.with(|books| books.deliveries.get(task.as_str()).copied().unwrap_or_default());
        let mut clip = CLIP.clone();
        clip.extend(12_u32.to_be_bytes());
        clip.extend(b"free");
        clip.extend(deliveries.to_be_bytes());
        clip
    }
}

impl Provider for World {
    fn identity(&self) -> &'static str {
        "simulated"
    }

    fn prepare(&self, _model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        PreparedRequest::new(request).map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(async move {
            self.arrive(true);
            self.pause().await;
            submission(self.respond_to_post(request).await)
        })
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        Box::pin(async move {
            self.arrive(false);
            self.pause().await;
            poll_result(task, self.respond_to_poll(task))
        })
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let _running = Downloading::begin(self);
            self.pause().await;
            let is_ready = self.with(|books| {
                let task_state = &books.tasks[task.as_str()];
                task_state.done_at <= Instant::now() && !task_state.fails
            });
            if !is_ready {
                return Err(failure(FailureKind::Transient));
            }
            match (self.with(|books| books.aged.get(task.as_str()).copied()), url) {
                (Some(AgedTask::WithoutFiles), _) => return Err(failure(FailureKind::Expired)),
                (Some(AgedTask::Unreachable), Some(_)) => return Err(failure(FailureKind::Transient)),
                (Some(AgedTask::Unreachable), None) => {
                    let refused = responses::error(404, Form::Service, None, None);
                    return Err(responses::failed_download(refused));
                }
                _ => {}
            }
            let local = |error: std::io::Error| Failure::new(FailureKind::Local, error.to_string());
            let clip = self.clip(task);
            let first = resume.map_or(0, |resume| resume.offset as usize).min(clip.len());
            let start = DownloadStart {
                offset: first as u64,
                total: Some(clip.len() as u64),
                validator: (self.roll(2) == 0).then(|| "\"clip\"".to_owned()),
            };
            sink.start(start).map_err(local)?;
            let shot = self.with(|books| books.tasks[task.as_str()].shot.clone());
            if self.injects_fault("download", &shot) {
                // The connection breaks, or the end just does not come.
                let middle = first + (clip.len() - first) / 2;
                sink.write_all(&clip[first..middle]).map_err(local)?;
                return match self.roll_for("broken", &shot, 2) {
                    0 => Err(failure(FailureKind::Transient)),
                    _ => Ok(()),
                };
            }
            sink.write_all(&clip[first..]).map_err(local)?;
            self.with(|books| {
                *books.deliveries.entry(task.as_str().to_owned()).or_default() += 1;
                if books.forgets_delivered
                    && let Some(task_state) = books.tasks.get_mut(task.as_str())
                {
                    task_state.forgotten.get_or_insert((Instant::now(), true));
                }
            });
            Ok(())
        })
    }

    fn find_tasks<'a>(&'a self, digest: &'a str, _since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        Box::pin(async move {
            if !self.finds_tasks {
                return SubmissionLookup::Unsupported;
            }
            self.with(|books| {
                let matches = books.tasks.iter().filter(|(_, task)| task.digest == digest);
                SubmissionLookup::Tasks(matches.map(|(id, _)| TaskId(id.clone())).collect())
            })
        })
    }
}
