extension String {
    /// Whether the text contains one of U+0000 to U+001F or U+007F to U+009F.
    package var hasControlCharacters: Bool {
        var text = self
        return text.withUTF8 { bytes in
            var previous: UInt8 = 0
            for byte in bytes {
                if byte < 0x20 || byte == 0x7F { return true }
                // U+0080 to U+009F are C2 80 to C2 9F.
                if previous == 0xC2, byte < 0xA0 { return true }
                previous = byte
            }
            return false
        }
    }
}
