extension String {
    /// How many Unicode scalars it has. Counts the bytes that begin one, instead of decoding them.
    package var characterCount: Int {
        var text = self
        return text.withUTF8 { bytes in
            var count = 0
            for byte in bytes where byte & 0xC0 != 0x80 { count += 1 }
            return count
        }
    }
}
