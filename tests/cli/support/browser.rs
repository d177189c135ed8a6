//! Plays a film to its end in headless Chromium; the page reports the result.

use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--autoplay-policy=no-user-gesture-required",
    "--remote-debugging-port=0",
];

/// Plays a film of `length` seconds at four times its speed and checks that the browser reaches its end. Without a browser it says that it
/// skips.
#[track_caller]
pub(crate) fn plays_to_its_end(film: &Path, length: f64) {
    let Some(browser) = NAMES.iter().find(|name| Command::new(name).arg("--version").output().is_ok()) else {
        println!("skipped: there is no Chromium on this machine to play the film in");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let page = folder.path().join("page.html");
    fs_err::write(&page, html(film, port)).expect("the page can be written");
    let mut running = Command::new(browser)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let report = listen(&listener);
    running.kill().expect("the browser can be ended");
    running.wait().expect("the browser ends");
    let end_time = report.as_deref().and_then(|report| report.strip_prefix("ended-")?.parse::<f64>().ok());
    assert!(
        end_time.is_some_and(|end_time| (end_time - length).abs() < 0.05),
        "the page says {report:?} of {length} s"
    );
}

fn html(film: &Path, port: u16) -> String {
    format!(
        "<video id=v muted preload=auto src=\"file://{}\"></video><script>
const v = document.getElementById('v');
const say = word => {{ new Image().src = 'http://127.0.0.1:{port}/' + word; }};
v.onerror = () => say('error-' + v.error.code);
v.onended = () => say('ended-' + v.duration.toFixed(3));
v.onloadedmetadata = () => {{ v.playbackRate = 4; v.play().catch(() => say('refused')); }};
</script>",
        film.display()
    )
}

/// The first text on the page, within two minutes.
fn listen(listener: &TcpListener) -> Option<String> {
    listener.set_nonblocking(true).expect("a listener can be asked without waiting");
    let deadline = Instant::now() + Duration::from_mins(2);
    while Instant::now() < deadline {
        match listener.accept() {
            Ok((mut connection, _)) => {
                connection.set_nonblocking(false).expect("a connection can be waited for");
                connection.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
                let mut line = String::new();
                if BufReader::new(&connection).read_line(&mut line).is_err() {
                    continue;
                }
                let _ = connection.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
                if let Some(word) = line.split_whitespace().nth(1).and_then(|path| path.strip_prefix('/')) {
                    return Some(word.to_owned());
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => panic!("the listener fails: {error}"),
        }
    }
    None
}
