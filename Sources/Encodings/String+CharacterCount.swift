extension String {
    /// The number of Unicode scalars. It counts the bytes that begin a scalar, instead of decoding the text.
    package var characterCount: Int {
        var text = self
        return text.withUTF8 { bytes in
            var count = 0
            for byte in bytes where byte & 0xC0 != 0x80 { count += 1 }
            return count
        }
    }
}
