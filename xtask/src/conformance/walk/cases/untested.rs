//! Statements that cannot be tested from outside, with the reason.

use crate::conformance::walk::report::Report;
use crate::conformance::walk::statements::Cite;

const UNSPECIFIED: &str = "it leaves something open; docs/service.md has the decision";
const NO_CONSEQUENCE: &str = "it has no consequence that a request could show";

const UNTESTED: [(Cite, &str); 21] = [
    (("2.2", "No defaults are specified"), UNSPECIFIED),
    (("2.2", "4. A task with a `video_url` item"), "the API shows no prices"),
    (("2.2", "| `user` |"), "that it is not used for rendering has no trace in a response"),
    (
        ("2.2", "| `generate_audio` |"),
        "sound is in the video, which the tests of the renderer look at; here clips are blank",
    ),
    (
        ("2.2", "| `watermark` |"),
        "it is in the video, which the tests of the renderer look at; here clips are blank",
    ),
    (
        ("2.2", "| `camera_fixed` |"),
        "it is in the video, which the tests of the renderer look at; here clips are blank",
    ),
    (("2.4", "The model id's suffix sets the resolution"), "the API shows no prices"),
    (("2.5", "The other members of `metadata`"), UNSPECIFIED),
    (("3", "Unspecified: the transitions"), UNSPECIFIED),
    (("4.1", "Failures are HTTP 400, 401, 429 and 500"), "no request provokes a fault of the service (500)"),
    (("4.2", "Unspecified: query parameters"), UNSPECIFIED),
    (("4.3", "Unspecified: the content type"), UNSPECIFIED),
    (
        ("4.4", "`POST /v1/video/generations`"),
        "models of other vendors are outside of this service: the path is unknown to it",
    ),
    (("4.4", "Their request fields are unspecified"), NO_CONSEQUENCE),
    (
        ("5", "Keys come from the service's console."),
        "keys are created by `runner serve keys add`, which the tests of the command line run",
    ),
    (("6", "Callbacks, webhooks"), UNSPECIFIED),
    (
        ("7", "| 500 |"),
        "no request provokes a fault of the service; fault profiles inject one (docs/service.md)",
    ),
    (("7", "Unspecified: all other codes"), UNSPECIFIED),
    (("8", "Unspecified: their numbers"), UNSPECIFIED),
    (("9", "Deprecation and compatibility"), UNSPECIFIED),
    (
        ("2.1", "| `modelb-video-480p`"),
        "that there is audio is in the video, which the tests of the renderer look at; here clips are blank",
    ),
];

pub(super) fn record(report: &mut Report) {
    for (cite, reason) in UNTESTED {
        report.not_testable(cite, reason);
    }
}
