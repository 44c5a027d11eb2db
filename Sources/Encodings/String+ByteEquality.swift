extension String {
    /// Compares the UTF-8 of two strings.
    ///
    /// `==` is canonical equivalence: an attacker's U+212A (Kelvin) equals "K" there, while databases and Apple
    /// compare bytes.
    package func isByteEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Native strings are contiguous; then this is a comparison of memory.
        let isEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                WordScan.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(theirs))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
