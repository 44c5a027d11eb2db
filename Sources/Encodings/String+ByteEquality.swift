extension String {
    /// Compares the UTF-8 of two strings.
    ///
    /// `==` is canonical equivalence, in which U+212A (Kelvin sign) equals "K", while databases and Apple
    /// compare bytes. An attacker could use the difference.
    package func isByteEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Native strings are contiguous, so this compares memory.
        let isEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                WordScan.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(theirs))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
