//! The box structure of MP4: nested, each with its size and a four-letter name.

/// Appends boxes and their fields; sizes are filled in when a box ends.
#[derive(Default)]
pub(crate) struct BoxWriter {
    bytes: Vec<u8>,
}

impl BoxWriter {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A box with the contents that `body` writes.
    pub(crate) fn child(&mut self, name: [u8; 4], body: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.u32(0);
        self.bytes(&name);
        body(self);
        let size = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&size.to_be_bytes());
    }

    /// A box with version and flags.
    pub(crate) fn full(&mut self, name: [u8; 4], version: u8, flags: u32, body: impl FnOnce(&mut Self)) {
        self.child(name, |out| {
            out.u32(u32::from(version) << 24 | flags);
            body(out);
        });
    }

    /// A full box whose times are 64 bits wide (version 1) if the longest of them needs it; `body` receives the version.
    pub(crate) fn timed(
        &mut self,
        name: [u8; 4],
        flags: u32,
        longest: u64,
        body: impl FnOnce(&mut Self, bool),
    ) {
        // Signed fields share this rule, hence not all 32 bits.
        let wide = longest > i32::MAX as u64;
        self.full(name, u8::from(wide), flags, |out| body(out, wide));
    }

    pub(crate) fn time(&mut self, wide: bool, value: u64) {
        if wide { self.u64(value) } else { self.u32(value as u32) }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    pub(crate) fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    pub(crate) fn identity_matrix(&mut self) {
        for value in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] {
            self.u32(value);
        }
    }
}

/// The boxes that lie one after the other in `bytes`: name, payload, and the whole box. Ends at the first that does not fit.
pub(crate) fn children(bytes: &[u8]) -> impl Iterator<Item = ChildBox<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let head: [u8; 8] = rest.get(..8)?.try_into().ok()?;
        let name = [head[4], head[5], head[6], head[7]];
        let (header, size) = match u32::from_be_bytes([head[0], head[1], head[2], head[3]]) {
            0 => (8, rest.len()),
            1 => {
                let long: [u8; 8] = rest.get(8..16)?.try_into().ok()?;
                (16, usize::try_from(u64::from_be_bytes(long)).ok()?)
            }
            size => (8, size as usize),
        };
        let whole = rest.get(..size).filter(|whole| whole.len() >= header)?;
        rest = &rest[size..];
        Some(ChildBox { name, payload: &whole[header..], whole })
    })
}

/// A box that was found.
#[derive(Clone, Copy)]
pub(crate) struct ChildBox<'a> {
    pub(crate) name: [u8; 4],
    pub(crate) payload: &'a [u8],
    pub(crate) whole: &'a [u8],
}

/// The payload of the box at the end of a path of names, each the first of its name.
pub(crate) fn find<'a>(bytes: &'a [u8], path: &[[u8; 4]]) -> Option<&'a [u8]> {
    path.iter().try_fold(bytes, |parent, name| {
        children(parent).find(|child| child.name == *name).map(|child| child.payload)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_nested_round_trip() {
        let mut out = BoxWriter::default();
        out.child(*b"aaaa", |out| {
            out.child(*b"bbbb", |out| out.u16(7));
            out.full(*b"cccc", 1, 3, |out| out.u8(9));
        });
        let bytes = out.into_bytes();
        assert_eq!(find(&bytes, &[*b"aaaa", *b"bbbb"]), Some(&[0, 7][..]));
        assert_eq!(find(&bytes, &[*b"aaaa", *b"cccc"]), Some(&[1, 0, 0, 3, 9][..]));
        assert_eq!(find(&bytes, &[*b"aaaa", *b"dddd"]), None);
    }

    #[test]
    fn boxes_oversized_end_the_iteration() {
        for bytes in
            [&[0, 0, 0, 9, 1, 2, 3, 4][..], &[0, 0, 0, 1, 1, 2, 3, 4], &[0, 0, 0, 4, 1, 2, 3, 4], &[0; 7]]
        {
            assert_eq!(children(bytes).count(), 0, "{bytes:?}");
        }
        assert_eq!(children(&[0, 0, 0, 0, 1, 2, 3, 4, 5]).count(), 1, "a size of zero reaches to the end");
    }
}
