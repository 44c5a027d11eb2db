/// Limits that bound the cost of reading CBOR.
struct CBORLimits: Sendable {
    /// The largest size of the input in bytes.
    let size: Int
    /// The largest nesting depth of arrays and maps. An attestation object has 3.
    let depth: Int
    /// The largest number of elements of an array, or of entries of a map. Duplicate keys are found by
    /// comparing keys pairwise, so this also limits that work.
    let items: Int

    init(size: Int = 16 * 1024, depth: Int = 6, items: Int = 32) {
        (self.size, self.depth, self.items) = (size, depth, items)
    }
}
