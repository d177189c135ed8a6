//! The page with its data.

use crate::Manifest;

/// The page as `web/` builds it.
const TEMPLATE: &str = include_str!("../assets/viewer.html");

/// Stands for the data in the template.
const PLACEHOLDER: &str = r#"{"__VIEWER_DATA__":0}"#;

/// The page that shows a manifest: self-contained besides the files that the manifest names.
///
/// # Errors
/// When the manifest cannot be serialized, which does not happen.
pub fn page(manifest: &Manifest) -> Result<String, serde_json::Error> {
    fill(TEMPLATE, manifest)
}

fn fill(template: &str, manifest: &Manifest) -> Result<String, serde_json::Error> {
    // In a script element of JSON, `<` is the only character that could end it or begin a comment (HTML 13.2.5.4).
    let data = serde_json::to_string(manifest)?.replace('<', r"\u003c");
    Ok(template.replacen(PLACEHOLDER, &data, 1))
}

/// In the policy of the template: the page from disk asks nobody for anything.
const OFFLINE: &str = "connect-src 'none'";

/// Also in the policy: files are played as they are.
const FILES_ONLY: &str = "media-src 'self'";

/// The element that holds the data in the template.
const DATA_ELEMENT: &str = r#"<script type="application/json" id="data">"#;

/// The same page as `runner ui` serves it: with events and actions of its server.
///
/// # Errors
/// As [`page`].
pub fn live_page(manifest: &Manifest) -> Result<String, serde_json::Error> {
    let live = format!(r#"<script type="application/json" id="live">{{"version":1}}</script>{DATA_ELEMENT}"#);
    // Before the data is in it: a manifest may contain anything.
    let template = TEMPLATE
        .replacen(OFFLINE, "connect-src 'self'", 1)
        // Files that are loaded as a whole.
        .replacen(FILES_ONLY, "media-src 'self' blob:", 1)
        .replacen(DATA_ELEMENT, &live, 1);
    fill(&template, manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_has_one_placeholder() {
        assert_eq!(TEMPLATE.matches(PLACEHOLDER).count(), 1);
    }

    #[test]
    fn live_page_may_ask_its_server_only() {
        let manifest = Manifest::new(
            String::new(),
            DATA_ELEMENT.to_owned(),
            OFFLINE.to_owned(),
            scheduler::Timestamp(0),
        );
        for part in [OFFLINE, FILES_ONLY, DATA_ELEMENT] {
            assert_eq!(TEMPLATE.matches(part).count(), 1, "{part}");
        }
        let (page, live) = (page(&manifest).unwrap(), live_page(&manifest).unwrap());
        assert!(!page.contains("connect-src 'self'") && !page.contains(r#"id="live""#));
        assert!(
            live.contains("connect-src 'self'")
                && live.contains("media-src 'self' blob:")
                && live.contains(r#"id="live""#)
        );
        assert_eq!(live.matches(r#""connect-src 'none'""#).count(), 1, "the manifest is as it was");
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let hostile = "</script><!--<script>alert(1)</script>\u{2028}\u{202e}";
        let manifest = Manifest::new(
            "runner test".to_owned(),
            hostile.to_owned(),
            "film.yaml".to_owned(),
            scheduler::Timestamp(0),
        );
        let page = page(&manifest).unwrap();
        let start = page.find(r#"id="data">"#).unwrap() + r#"id="data">"#.len();
        let end = start + page[start..].find("</script>").unwrap();
        let read: Manifest = serde_json::from_str(&page[start..end]).unwrap();
        assert_eq!(read.workflow.name, hostile);
        assert_eq!(page.matches("alert(1)").count(), 1);
    }
}
