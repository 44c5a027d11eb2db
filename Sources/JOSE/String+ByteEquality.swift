extension String {
    /// Compares the UTF-8 of two strings.
    ///
    /// `==` is canonical equivalence: an attacker's U+212A (Kelvin) equals "K" there, while databases and Apple
    /// compare bytes.
    public func isByteEqual(to other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
