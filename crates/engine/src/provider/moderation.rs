//! Which error codes and messages mean that moderation refused something. The contract names none, so services use their own.

/// Parts of error codes and messages, in lower case.
const TERMS: &[&str] = &[
    "moderat",
    "sensitive",
    "content_policy",
    "content policy",
    "contentpolicy",
    "policy_violation",
    "content_filter",
    "content filter",
    "content security policy",
    "nsfw",
    "safety",
    "prohibited",
];

/// Parts of error codes only, because messages may quote a prompt: letters and digits in lower case, as [`normalized`] leaves them.
const CODE_TERMS: &[&str] = &[
    "blocklist",
    "celebrity",
    "contentfilter",
    "contentrestricted",
    "contentsecurity",
    "datainspection",
    "illegaldetect",
    "inappropriate",
    "infringement",
    "policyviolation",
    "promptblocked",
    "promptrejected",
    "publicfigure",
    "raifilter",
    "recitation",
    "responsibleai",
    "riskdetect",
    "submitillegal",
    "unsafe",
];

/// Error codes of one service that mean moderation, added by its user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModerationCodes(Vec<String>);

impl ModerationCodes {
    /// Codes separated by commas. Case, and what is neither letter nor digit, does not matter when they are compared.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        Self(list.split(',').map(normalized).filter(|code| !code.is_empty()).collect())
    }

    /// Whether an error code (may be empty) means moderation.
    pub(super) fn has_code(&self, code: &str) -> bool {
        let bare = normalized(code);
        is_named(&code.to_lowercase())
            || CODE_TERMS.iter().any(|term| bare.contains(term))
            || (!bare.is_empty() && self.0.contains(&bare))
    }

    /// Whether a code, or the message beside it, means moderation.
    pub(super) fn is_refusal(&self, code: &str, message: &str) -> bool {
        self.has_code(code) || is_named(&message.to_lowercase())
    }
}

fn is_named(text: &str) -> bool {
    TERMS.iter().any(|term| text.contains(term))
}

/// Letters and digits in lower case: `DataInspectionFailed`, `data_inspection_failed` and `DATA.INSPECTION.FAILED` are one code.
fn normalized(code: &str) -> String {
    code.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes as services document or send them.
    const CODES: &[&str] = &[
        "content_filter",
        "ContentFilter",
        "CONTENT_FILTERED",
        "content_filter_error",
        "content_policy_violation",
        "content_moderated",
        "moderation_blocked",
        "Content Moderated",
        "Request Moderated",
        "nsfw",
        "NSFW_CONTENT_DETECTED",
        "nsfw_prompt",
        "SAFETY",
        "SAFETY.INPUT.TEXT",
        "SAFETY.OUTPUT.VIDEO",
        "INPUT_PREPROCESSING.SAFETY.TEXT",
        "safety_violation",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "RECITATION",
        "RAI_FILTERED",
        "ResponsibleAIPolicyViolation",
        "InputTextSensitiveContentDetected",
        "InputTextSensitiveContentDetected.PolicyViolation",
        "OutputVideoSensitiveContentDetected",
        "InputImageRiskDetection",
        "DataInspectionFailed",
        "data_inspection_failed",
        "IPInfringementSuspect",
        "CreationPolicyViolation",
        "AuditSubmitIllegal",
        "OperationDenied.ImageIllegalDetected",
        "OperationDenied.TextIllegalDetected",
        "PromptBlocked",
        "prompt_rejected",
        "unsafe_content",
        "inappropriate-content",
        "content_restricted",
        "public_figure",
        "celebrity_detected",
    ];

    #[test]
    fn moderation_codes_of_services() {
        for code in CODES {
            assert!(ModerationCodes::default().has_code(code), "{code}");
        }
    }

    /// Each is in use: without it a code of the table above is taken for another failure.
    #[test]
    fn moderation_terms_each_match_a_code_or_a_message() {
        let messages =
            ["violates our content policy", "refused by our content filter", "content security policy"];
        for term in TERMS {
            let mut texts = CODES.iter().map(|code| code.to_lowercase());
            let is_in_message = messages.iter().any(|message| message.contains(term));
            assert!(
                is_in_message || texts.any(|code| code.contains(term)) || *term == "contentpolicy",
                "{term}"
            );
        }
        for term in CODE_TERMS {
            assert!(
                CODES.iter().any(|code| normalized(code).contains(term)) || *term == "contentsecurity",
                "{term}"
            );
        }
    }

    #[test]
    fn codes_of_other_failures_are_not_moderation() {
        for code in [
            "",
            "render_failed",
            "InternalServiceError",
            "rate_limit_exceeded",
            "invalid_image",
            "quota_exceeded",
            "1301",
            "no_content",
            "request_blocked_by_firewall",
            "filter_graph_failed",
        ] {
            assert!(!ModerationCodes::default().has_code(code), "{code}");
        }
        // A message may quote the prompt.
        assert!(!ModerationCodes::default().is_refusal("render_failed", "no public figure of a celebrity"));
    }

    #[test]
    fn codes_of_the_user_are_added() {
        let codes = ModerationCodes::parse("1301, Creative.Block,,");
        for code in ["1301", "creative_block", "CREATIVEBLOCK", "nsfw"] {
            assert!(codes.has_code(code), "{code}");
        }
        for code in ["13010", "", "creative_blocked"] {
            assert!(!codes.has_code(code), "{code}");
        }
        assert!(!ModerationCodes::parse(" , ").has_code(""));
    }
}
