//! The codes of diagnostics.

use super::{did_you_mean, shortened};

macro_rules! codes {
    ($($code:literal: $meaning:literal,)*) => {
        /// All codes with their meanings. Codes are stable: a code keeps its meaning.
        pub const CODES: [(&str, &str); [$($code),*].len()] = [$(($code, $meaning)),*];

        /// The example of each code; [`crate::code_example`] reads them.
        pub(crate) const EXAMPLES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../examples/", $code, ".txt")))),*];
    };
}

/// The codes that warnings have; of some, the other half is errors.
pub(crate) fn warning_codes() -> impl Iterator<Item = &'static str> {
    CODES.iter().filter(|(_, meaning)| meaning.contains("warning")).map(|(code, _)| *code)
}

/// The code of a warning, which can be allowed.
///
/// # Errors
/// What is wrong with the code, and what to write.
pub fn allowable(code: &str) -> Result<&'static str, (String, String)> {
    if let Some(code) = warning_codes().find(|listed| *listed == code) {
        return Ok(code);
    }
    Err(if CODES.iter().any(|(listed, _)| *listed == code) {
        let message = format!("`{code}` is an error, and only warnings can be allowed");
        (message, format!("`runner explain {code}` shows how to mend it"))
    } else {
        let of_warning = || "a warning has its code in brackets, as in `warning[unused-param]`".to_owned();
        let help = did_you_mean(code, warning_codes()).unwrap_or_else(of_warning);
        (format!("there is no code `{}`", shortened(code)), help)
    })
}

codes! {
    "ambiguous-instance": "a reference that needs one instance matches several",
    "ambiguous-pick": "a pick names several instances",
    "bad-axis": "an axis from the command line cannot be read, or nothing uses it",
    "bad-cast": "there are too many characters, or their descriptions are too long together",
    "bad-description": "the description of a service contradicts itself, or does not say what is needed",
    "bad-dialogue": "a line of dialogue is outside of its video, or there are too many or too long ones",
    "bad-duration": "a duration cannot be read",
    "bad-file": "a file that the workflow names is missing, outside its folder, or of the wrong kind",
    "bad-film": "a film shows nothing, is too long, or has the name of another; a warning where a voice outlasts it",
    "bad-group": "there are too many groups",
    "bad-include": "an included file is missing, outside the workflow's folder, or not text",
    "bad-key": "a key is not text",
    "bad-matrix": "a matrix has something that is not an axis",
    "bad-medium": "a value is not a medium that fits there",
    "bad-name": "a name has characters that names may not have",
    "bad-param": "a parameter's declaration contradicts itself, or its value is not what it declares",
    "bad-pick": "a pick names a take or an instance that does not exist",
    "bad-service": "a service of `services.yaml` has no usable description or address",
    "bad-table": "a shot list cannot be read as a table, or it has no column for the prompt",
    "bad-value": "a value in a price table is invalid",
    "blank-prompt": "warning: a prompt is empty",
    "comment-in-text": "warning: text ends where YAML begins a comment",
    "curly-quotes": "warning: a text stands within the quotes of a word processor, which are a part of it",
    "cycle": "shots depend on each other in a cycle",
    "dollar-before-template": "warning: a template has a `$` before it, which is text",
    "duplicate-id": "two shots have the same id",
    "duplicate-key": "a key occurs twice in a mapping",
    "empty-file": "the file is empty",
    "equal-cells": "warning: two cells of a matrix request the same video",
    "excluded": "a reference needs a shot that its `when` excludes",
    "field-in-text": "warning: a line of a text looks like a field of the shot",
    "file-too-large": "the file is larger than a workflow may be",
    "foreign-placeholder": "warning: a placeholder of another template language, which is text",
    "frame-conflict": "the request field of a frame has another value",
    "frame-unsupported": "the model does not accept such a frame or reference",
    "include-cycle": "included files include each other",
    "include-limit": "too many or too large files are included, or too deep",
    "included-twice": "two included files define the same name",
    "invalid-plan": "the plan violates an invariant: a bug in the compiler",
    "invalid-request": "the request violates the contract",
    "length-changed": "warning: the model does not render the length that a shot list has",
    "local-file": "a request field names a local file",
    "matrix-too-large": "there are too many instances, or too many of them to compare",
    "media-too-large": "the local media of a shot are together too large for one request; a warning where the size of a frame is not known yet",
    "missing-character": "warning: no font of a film has a character that is drawn",
    "missing-key": "a required key is missing",
    "missing-model": "a shot has no model",
    "missing-param": "a required parameter has no value",
    "mixed-kinds": "a template compares values of different kinds, such as text and a number; a warning for `==` and `!=`",
    "needs-ffmpeg": "warning: a file of a film is decoded with ffmpeg, which is not installed",
    "never-true": "warning: `when` leaves no shot to render",
    "no-dialogue": "warning: a film has subtitles, and nobody speaks in it",
    "no-matching-instance": "a reference matches no instance",
    "no-prompt": "a row of a shot list has no text for a prompt",
    "no-shots": "there is nothing to render",
    "not-utf8": "the file is not UTF-8 text",
    "other-encoding": "warning: a file to import is read as UTF-16 or Windows-1252",
    "ratio-unstated": "warning: the aspect ratio is left to the service, and there is no image to follow",
    "renamed-shot": "warning: two shots of a shot list have the same name",
    "retry-with-seed": "warning: a retry requests the same video with the same seed",
    "seconds-unstated": "warning: the length of a video is left to the service",
    "secret-in-file": "the file has an API key in it",
    "service-may-refuse": "warning: the API reference does not forbid it, but a service may refuse it",
    "stale-pick": "warning: the picked take or instance no longer exists",
    "sweep-without-seed": "warning: a sweep has no seed",
    "template-error": "a template fails to render",
    "template-limit": "a template takes too many steps or gives too much text",
    "template-syntax": "a template has a syntax error",
    "too-many": "a price table is too long",
    "two-first-frames": "a shot has two first frames",
    "two-prices": "two prices fit the same task equally well",
    "undefined-name": "a template uses an undefined name",
    "unknown-character": "there is no such character in the `cast`",
    "unknown-code": "`allow` names what is not the code of a warning",
    "unknown-field": "a request has no such field",
    "unknown-group": "there is no such group of shots",
    "unknown-key": "the file format has no such key there",
    "unknown-member": "warning: an object of a request has a member like one that the document defines",
    "unknown-model": "there is no such model",
    "unknown-param": "a value is set for a parameter that does not exist",
    "unknown-service": "no service has the name: `services.yaml` does not list it",
    "unknown-shot": "there is no such shot",
    "unsafe-retry": "`retry` names a failure that may not, or need not, be retried",
    "unsupported-version": "the file has another version of the format",
    "unused-axis": "warning: nothing uses an axis",
    "unused-character": "warning: no shot shows a character",
    "unused-default": "warning: no model of the workflow takes a default",
    "unused-exclude": "warning: an entry of `exclude` matches no cell",
    "unused-param": "warning: nothing uses a parameter",
    "unused-price": "warning: no task can have a price",
    "wrong-type": "a value has the wrong type",
    "yaml-limit": "the file is too deep or has too many values",
    "yaml-syntax": "the file is not YAML",
}
