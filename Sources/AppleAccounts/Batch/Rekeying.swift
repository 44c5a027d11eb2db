/// An account that is found under another name from now on. Its row stays, and with it its events; a row that
/// the new name had, without account, goes into it.
public struct Rekeying: Sendable, Hashable {
    public let from: SubjectKey
    public let to: SubjectKey
    /// Whether the new name's row is the tombstone of somebody who was erased, which stays as it is.
    public let leavesTombstone: Bool
}
