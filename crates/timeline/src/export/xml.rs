//! XML 1.0, written with `quick-xml`.

use std::borrow::Cow;
use std::fmt::Display;

use quick_xml::Writer;
use quick_xml::escape::escape;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// An attribute: its name and its value, which is escaped.
pub type XmlAttribute<'a> = (&'a str, &'a dyn Display);

/// Writes a document into memory, indented by two spaces.
pub struct XmlWriter(Writer<Vec<u8>>);

impl XmlWriter {
    /// A document in UTF-8.
    pub fn new() -> Self {
        let mut xml = Self(Writer::new_with_indent(Vec::new(), b' ', 2));
        xml.event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
        xml
    }

    pub fn doctype(&mut self, name: &str) {
        self.event(Event::DocType(BytesText::from_escaped(name)));
    }

    /// An element with its content.
    pub fn element(&mut self, name: &str, attributes: &[XmlAttribute<'_>], content: impl FnOnce(&mut Self)) {
        self.event(Event::Start(start(name, attributes)));
        content(self);
        self.event(Event::End(BytesEnd::new(name)));
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: &[XmlAttribute<'_>]) {
        self.event(Event::Empty(start(name, attributes)));
    }

    /// An element with text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.element(name, &[], |xml| xml.event(Event::Text(BytesText::new(&legal(text)))));
    }

    /// The document.
    pub fn into_string(self) -> String {
        let mut text = String::from_utf8_lossy(&self.0.into_inner()).into_owned();
        text.push('\n');
        text
    }

    fn event(&mut self, event: Event<'_>) {
        // Writing into memory cannot fail.
        let _ = self.0.write_event(event);
    }
}

impl Default for XmlWriter {
    fn default() -> Self {
        Self::new()
    }
}

fn start<'a>(name: &'a str, attributes: &[XmlAttribute<'_>]) -> BytesStart<'a> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        let value = value.to_string();
        // Line ends would be read as spaces (XML 1.0, 3.3.3).
        let value = escape(&*legal(&value)).replace('\n', "&#10;").replace('\t', "&#9;");
        start.push_attribute(Attribute::from((name.as_bytes(), value.as_bytes())));
    }
    start
}

/// Text in which characters that XML 1.0 cannot contain (2.2), and control characters that nobody wants, are U+FFFD.
fn legal(text: &str) -> Cow<'_, str> {
    let is_legal =
        |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    if text.chars().all(is_legal) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_legal(c) { c } else { '\u{fffd}' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_legal() {
        let mut xml = XmlWriter::new();
        xml.element("a", &[("b", &"\"<&>'\n\u{0}"), ("c", &7)], |xml| {
            xml.text("d", "1 < 2\u{b}\n& more");
            xml.empty("e", &[]);
        });
        insta::assert_snapshot!(xml.into_string(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <a b="&quot;&lt;&amp;&gt;&apos;&#10;�" c="7">
          <d>1 &lt; 2�
        &amp; more</d>
          <e/>
        </a>
        "#);
    }
}
