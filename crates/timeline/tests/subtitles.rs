//! Lines of clips become cues of the film.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod support;

use std::time::Duration;

use support::{clip, facts, film};
use timeline::resolve;
use timeline::subtitles::{Line, cues, srt, vtt};

fn line(item: usize, start: u64, end: u64, text: &str) -> Line {
    Line {
        item,
        start: Duration::from_millis(start),
        end: Duration::from_millis(end),
        speaker: (item == 1).then(|| "The <Keeper>\n".to_owned()),
        text: text.to_owned(),
    }
}

#[test]
fn cues_follow_the_speed_of_their_clip() {
    let mut film = film(vec![clip("24f", "", "", ""), clip("", "", "", "")]);
    film.clips[0].speed = "50%".parse().unwrap();
    film.clips[1].speed = "2".parse().unwrap();
    let timeline = resolve(&film, &[facts("a", 120, "24"), facts("b", 120, "24")], &[]).unwrap();
    let lines = [line(0, 500, 1_500, "cut"), line(0, 2_000, 3_000, "slow"), line(1, 1_000, 3_000, "fast")];
    let times: Vec<_> =
        cues(&timeline, &lines).iter().map(|cue| (cue.start.as_millis(), cue.end.as_millis())).collect();
    // The first clip begins a second into its video, and lasts eight.
    assert_eq!(times, [(0, 1_000), (2_000, 4_000), (8_500, 9_500)]);
}

#[test]
fn cues_follow_the_edit() {
    let film = film(vec![clip("24f", "96f", "", ""), clip("", "", "", "")]);
    let timeline = resolve(&film, &[facts("a", 120, "24"), facts("b", 120, "24")], &[]).unwrap();
    let lines = [
        line(1, 500, 2_000, "Light the lamp & go --> now\n\nbefore <b>the storm</b>"),
        // Begins before the clip's in point and ends after its out point.
        line(0, 500, 4_900, "Who is there?"),
        // Is cut away, is empty, has no clip, ends before it begins.
        line(0, 0, 900, "trimmed"),
        line(0, 1_000, 2_000, " \n"),
        line(7, 0, 1_000, "nobody"),
        line(1, 3_000, 2_000, "backwards"),
        line(1, 2_000, 5_000, &"the lamp is lit before the storm comes ".repeat(4)),
    ];
    let cues = cues(&timeline, &lines);
    for pair in cues.windows(2) {
        assert!(pair[0].start < pair[0].end && pair[0].end < pair[1].start, "{pair:?}");
    }
    assert!(cues.last().unwrap().end <= Duration::from_secs(8));
    insta::assert_snapshot!(srt(&cues));
    insta::assert_snapshot!(vtt(&cues));
}
