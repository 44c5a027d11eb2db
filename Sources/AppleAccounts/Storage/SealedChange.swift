/// A sealed secret as it was read, and what takes its place.
public struct SealedChange: Sendable, Hashable {
    public let row: SealedRow
    public let sealed: SealedSecret

    public init(_ row: SealedRow, to sealed: SealedSecret) {
        (self.row, self.sealed) = (row, sealed)
    }
}
