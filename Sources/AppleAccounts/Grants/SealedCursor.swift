/// A place in the sequence of all sealed secrets of a store.
///
/// Secrets move forward in it, from codes to tokens to erasures, and never back, so that one which moves
/// while somebody goes through it is met again rather than missed.
public struct SealedCursor: Sendable, Hashable {
    public enum Place: Int64, Sendable, Hashable, CaseIterable {
        case code = 1
        case token, erasure
    }

    public let place: Place
    /// Of the code or the erasure's grant; of the account for a token.
    public let id: UniqueID
    /// Only for a token.
    public let clientID: ClientID?

    public init(place: Place, id: UniqueID, clientID: ClientID? = nil) {
        (self.place, self.id, self.clientID) = (place, id, clientID)
    }
}
