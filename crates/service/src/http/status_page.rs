//! The status page at `/`, without a key. It shows counts only, no client data; a service on loopback without a public URL, which is its
//! user's own, also shows the words of prompts that were not drawn.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{Html, IntoResponse},
};
use contract::Contract;

use super::{AppState, operations::gauges};
use crate::{
    metrics::{Gauges, Totals},
    unread_words::UnreadWords,
};

const STYLE: &str = "
  :root { color-scheme: light dark; --faint: color-mix(in srgb, currentColor 12%, transparent); --good: #2e9e6b; --bad: #c8553d }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
  h1 { font-size: 1.5rem; margin: 0 0 .25rem } p { margin: .25rem 0 1.5rem; opacity: .75 }
  h2 { font-size: 1rem; margin: 2rem 0 .5rem }
  .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem }
  .card { border: 1px solid var(--faint); border-radius: .6rem; padding: .6rem .9rem }
  .card b { display: block; font-size: 1.7rem; line-height: 1.3; font-variant-numeric: tabular-nums }
  .card span { opacity: .75 }
  .bar { display: flex; height: .6rem; margin: 1rem 0; border-radius: .3rem; overflow: hidden; background: var(--faint) }
  .completed { background: var(--good) } .failed { background: var(--bad) }
  table { border-collapse: collapse; width: 100% }
  td { border-top: 1px solid var(--faint); padding: .35rem 0 } td + td { text-align: right; font-variant-numeric: tabular-nums }
  code { font-size: .95em } a { color: inherit }
  .problem { opacity: 1; border-left: .3rem solid var(--bad); padding-left: .6rem }
";

/// Unread words on the page.
const MAX_SHOWN_WORDS: usize = 60;

pub(super) async fn page(State(state): State<Arc<AppState>>) -> impl IntoResponse {
    let page = html(
        gauges(&state),
        state.metrics.totals(),
        &state.metrics.unread_words,
        Contract::embedded().version(),
    );
    ([(header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'")], Html(page))
}

fn html(gauges: Gauges, totals: Totals, unread: &UnreadWords, version: &str) -> String {
    let Gauges { unfinished, waiting, workers, is_storage_available } = gauges;
    let rendering = unfinished.saturating_sub(waiting).min(workers);
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<meta name=\"viewport\" content=\"width=device-width\">\n<meta http-equiv=\"refresh\" content=\"5\">\n\
         <title>Video service: {rendering} rendering, {waiting} waiting</title>\n<style>{STYLE}</style>\n\
         <h1>Video service</h1>\n<p>Contract version {version}. Tasks are submitted with <code>POST /v1/videos</code> and an API key.</p>\n"
    );
    if !is_storage_available {
        page.push_str(
            "<p class=\"problem\">Tasks cannot be stored for the moment; submissions are refused.</p>\n",
        );
    }
    page.push_str("<div class=\"cards\">\n");
    let cards = [
        (format!("{rendering} of {workers}"), "rendering"),
        (waiting.to_string(), "waiting"),
        (totals.completed.to_string(), "completed"),
        (totals.failed.to_string(), "failed"),
    ];
    for (number, label) in cards {
        let _ = writeln!(page, "  <div class=\"card\"><b>{number}</b><span>{label}</span></div>");
    }
    let all = (totals.completed + totals.failed + unfinished as u64).max(1) as f64;
    let share = |part: u64| part as f64 * 100.0 / all;
    let _ = write!(
        page,
        "</div>\n<div class=\"bar\"><div class=\"completed\" style=\"width:{:.1}%\"></div>\
         <div class=\"failed\" style=\"width:{:.1}%\"></div></div>\n<h2>Since the start</h2>\n<table>\n",
        share(totals.completed),
        share(totals.failed)
    );
    let rows = [
        ("tasks accepted", totals.accepted),
        ("frames rendered", totals.frames),
        ("requests rejected", totals.rejected),
        ("words of prompts that are not drawn", unread.total()),
    ];
    for (label, count) in rows {
        let _ = writeln!(page, "  <tr><td>{label}<td>{count}");
    }
    page.push_str("</table>\n");
    let words = unread.most_frequent(MAX_SHOWN_WORDS);
    if !words.is_empty() {
        page.push_str("<h2>Words that are not drawn</h2>\n<p>");
        for (number, (word, count)) in words.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            let _ = write!(page, "{comma}{}", escaped(word));
            if *count > 1 {
                let _ = write!(page, " ({count})");
            }
        }
        page.push_str("</p>\n");
    }
    // Relative links: a proxy may serve the service below a path.
    page.push_str(
        "<h2>For programs</h2>\n<p><a href=\"openapi.json\">openapi.json</a> · <a href=\"healthz\">healthz</a> · \
         <a href=\"metrics\">metrics</a></p>\n</html>\n",
    );
    page
}

/// Words consist of letters and digits; nothing else could do harm, but what comes from outside is escaped.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendering_count_is_capped_at_workers() {
        let totals = Totals { accepted: 9, completed: 3, failed: 1, frames: 360, rejected: 2 };
        let gauges = Gauges { unfinished: 5, waiting: 2, workers: 2, is_storage_available: true };
        let unread = UnreadWords::new(true);
        unread.add(&["wok".to_owned(), "a<b".to_owned(), "wok".to_owned()]);
        let page = html(gauges, totals, &unread, "1.0.0");
        for part in [
            "<b>2 of 2</b><span>rendering",
            "<b>2</b><span>waiting",
            "width:33.3%",
            "width:11.1%",
            "<td>360",
            "drawn<td>3",
            "<p>wok (2), a&lt;b</p>",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("cannot be stored"));
        let gauges = Gauges { unfinished: 0, waiting: 0, workers: 2, is_storage_available: false };
        let idle = html(gauges, Totals::default(), &UnreadWords::default(), "1.0.0");
        assert!(idle.contains("cannot be stored"));
        assert!(idle.contains("<b>0 of 2</b>") && idle.contains("width:0.0%"), "{idle}");
    }
}
