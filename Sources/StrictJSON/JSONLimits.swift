/// What a JSON document may cost its reader.
public struct JSONLimits: Sendable {
    /// How many objects and arrays may be open at once.
    public let depth: Int
    /// How many members one object may have. Duplicates are found by comparing names pairwise, so this also
    /// bounds that work.
    public let members: Int

    public init(depth: Int = 8, members: Int = 64) {
        (self.depth, self.members) = (depth, members)
    }
}
