/// Limits that bound the cost of reading a JSON document.
public struct JSONLimits: Sendable {
    /// The largest nesting depth of objects and arrays.
    public let depth: Int
    /// The largest number of members of an object. Duplicates are found by comparing names pairwise, so this
    /// also limits that work.
    public let members: Int

    public init(depth: Int = 8, members: Int = 64) {
        (self.depth, self.members) = (depth, members)
    }
}
