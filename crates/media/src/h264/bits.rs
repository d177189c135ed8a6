//! Bit-level reading and writing of H.264 headers, emulation prevention, and splitting into NAL units.

/// Reads bits from the left. Every read past the end is `None`.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bits read so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn bit(&mut self) -> Option<bool> {
        let byte = *self.bytes.get(self.position / 8)?;
        let bit = byte >> (7 - self.position % 8) & 1;
        self.position += 1;
        Some(bit == 1)
    }

    /// Up to 32 bits as a number.
    pub(crate) fn bits(&mut self, count: u32) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            value = value << 1 | u32::from(self.bit()?);
        }
        Some(value)
    }

    /// `ue(v)`: an unsigned Exp-Golomb number.
    pub(crate) fn unsigned(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while !self.bit()? {
            zeros += 1;
            if zeros > 31 {
                return None;
            }
        }
        let rest = self.bits(zeros)?;
        ((1u64 << zeros) - 1 + u64::from(rest)).try_into().ok()
    }

    /// `se(v)`: a signed Exp-Golomb number.
    pub(crate) fn signed(&mut self) -> Option<i32> {
        let code = i64::from(self.unsigned()?);
        let magnitude = (code + 1) / 2;
        i32::try_from(if code % 2 == 0 { -magnitude } else { magnitude }).ok()
    }
}

/// Writes bits from the left.
#[derive(Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    used: usize,
}

impl BitWriter {
    pub(crate) fn bit(&mut self, bit: bool) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let (true, Some(last)) = (bit, self.bytes.last_mut()) {
            *last |= 0x80 >> (self.used % 8);
        }
        self.used += 1;
    }

    pub(crate) fn bits(&mut self, value: u32, count: u32) {
        for shift in (0..count).rev() {
            self.bit(value >> shift & 1 == 1);
        }
    }

    pub(crate) fn unsigned(&mut self, value: u32) {
        let code = u64::from(value) + 1;
        let length = 64 - code.leading_zeros();
        for _ in 1..length {
            self.bit(false);
        }
        for shift in (0..length).rev() {
            self.bit(code >> shift & 1 == 1);
        }
    }

    pub(crate) fn signed(&mut self, value: i32) {
        let magnitude = value.unsigned_abs();
        self.unsigned(if value > 0 { magnitude * 2 - 1 } else { magnitude * 2 });
    }

    /// Copies the first `count` bits of `bytes`.
    pub(crate) fn copy(&mut self, bytes: &[u8], count: usize) {
        let mut reader = BitReader::new(bytes);
        for _ in 0..count {
            self.bit(reader.bit().unwrap_or(false));
        }
    }

    /// Copies the bits `from..to` of `bytes`.
    pub(crate) fn copy_range(&mut self, bytes: &[u8], from: usize, to: usize) {
        let mut position = from;
        while position < to && !(position.is_multiple_of(8) && position + 8 <= to) {
            self.bit(bytes[position / 8] >> (7 - position % 8) & 1 == 1);
            position += 1;
        }
        let shift = self.used % 8;
        self.bytes.reserve((to - position) / 8 + 1);
        for &byte in &bytes[position / 8..position.max(to) / 8] {
            match self.bytes.last_mut() {
                Some(last) if shift > 0 => {
                    *last |= byte >> shift;
                    self.bytes.push(byte << (8 - shift));
                }
                _ => self.bytes.push(byte),
            }
            self.used += 8;
            position += 8;
        }
        for position in position..to {
            self.bit(bytes[position / 8] >> (7 - position % 8) & 1 == 1);
        }
    }

    /// Fills up the last byte with `bit`.
    pub(crate) fn align(&mut self, bit: bool) {
        while !self.used.is_multiple_of(8) {
            self.bit(bit);
        }
    }

    /// `rbsp_trailing_bits`: a one, then zeros up to the byte's end.
    pub(crate) fn trailing(mut self) -> Vec<u8> {
        self.bit(true);
        self.align(false);
        self.bytes
    }

    /// The whole bytes written so far; call [`BitWriter::align`] first.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes the stuffing bytes out of a NAL unit's payload.
pub(crate) fn unescape(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len());
    let mut zeros = 0;
    for &byte in payload {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
    out
}

/// Where a byte of what [`unescape`] returns is in the payload.
pub(crate) fn unescaped_position(payload: &[u8], index: usize) -> Option<usize> {
    let mut zeros = 0;
    let mut unescaped = 0;
    for (position, &byte) in payload.iter().enumerate() {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        if unescaped == index {
            return Some(position);
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        unescaped += 1;
    }
    None
}

/// Puts stuffing bytes into a payload, appending it to `out`.
pub(crate) fn escape_into(payload: &[u8], out: &mut Vec<u8>) {
    let mut zeros = 0;
    for &byte in payload {
        if zeros >= 2 && byte <= 3 {
            out.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
}

/// The NAL units of a byte stream with start codes, without these.
pub(crate) fn nal_units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = after_start_code(stream);
    std::iter::from_fn(move || {
        let current = rest?;
        let end = current.windows(3).position(|w| matches!(w, [0, 0, 0 | 1])).unwrap_or(current.len());
        rest = after_start_code(&current[end..]);
        Some(&current[..end])
    })
    .filter(|unit| !unit.is_empty())
}

fn after_start_code(stream: &[u8]) -> Option<&[u8]> {
    stream.windows(3).position(|w| w == [0, 0, 1]).map(|position| &stream[position + 3..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_numbers_round_trip() {
        let mut writer = BitWriter::default();
        let unsigned = [0, 1, 2, 7, 255, 65_534, u32::MAX - 1];
        let signed = [0, 1, -1, 26, -26, 40_000, -40_000];
        for n in unsigned {
            writer.unsigned(n);
        }
        for n in signed {
            writer.signed(n);
        }
        let bytes = writer.trailing();
        let mut reader = BitReader::new(&bytes);
        for n in unsigned {
            assert_eq!(reader.unsigned(), Some(n));
        }
        for n in signed {
            assert_eq!(reader.signed(), Some(n));
        }
    }

    #[test]
    fn ranges_are_copied_at_any_offset() {
        let bytes: Vec<u8> = (0..40u8).map(|n| n.wrapping_mul(89) ^ 0x5a).collect();
        for (written, from, to) in
            [(0, 0, 320), (3, 0, 317), (5, 13, 200), (7, 16, 24), (1, 17, 22), (2, 9, 9)]
        {
            let mut writer = BitWriter::default();
            writer.copy(&bytes, written);
            writer.copy_range(&bytes, from, to);
            writer.bits(0b101, 3);
            let copied = writer.trailing();
            let mut reader = BitReader::new(&copied);
            reader.bits(written as u32);
            for position in from..to {
                assert_eq!(
                    reader.bit(),
                    Some(bytes[position / 8] >> (7 - position % 8) & 1 == 1),
                    "{written} {from} {to} {position}"
                );
            }
            assert_eq!(reader.bits(3), Some(0b101));
        }
    }

    #[test]
    fn emulation_prevention_round_trip() {
        for payload in [&[0, 0, 1, 5, 0, 0, 0, 0, 3, 0, 0, 2][..], &[0, 0, 3], &[0; 9], &[]] {
            let mut escaped = Vec::new();
            escape_into(payload, &mut escaped);
            assert!(!escaped.windows(3).any(|w| matches!(w, [0, 0, 0..=2])), "{escaped:?}");
            assert_eq!(unescape(&escaped), payload);
            let positions = (0..payload.len()).map(|index| unescaped_position(&escaped, index));
            assert!(
                positions
                    .zip(payload)
                    .all(|(position, byte)| position.is_some_and(|position| escaped[position] == *byte))
            );
            assert_eq!(unescaped_position(&escaped, payload.len()), None);
        }
    }

    #[test]
    fn nal_units_split_at_short_and_long_start_codes() {
        let stream = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 5];
        let units: Vec<&[u8]> = nal_units(&stream).collect();
        assert_eq!(units, [&[0x67, 1, 2][..], &[0x68, 3], &[0x65, 4, 5]]);
        assert_eq!(nal_units(&[1, 2, 3]).count(), 0);
    }
}
