public import AppleAccounts

/// A poll for security event tokens (RFC 8936 §2.2).
public struct PollRequest: Sendable, Hashable {
    /// Largest number of tokens in a response. A receiver that asks for more gets this many.
    public static let mostTokens = 64
    /// Largest number of tokens that a request can take or refuse: more are never handed out and open.
    public static let mostEnded = DeliveryRetry.mostPerReceiver

    /// 0 for a request that only takes tokens.
    public let mostTokens: Int
    /// True for a response without a wait.
    public let isImmediate: Bool
    /// `ack`: the tokens that the receiver has taken.
    public let taken: Set<EventID>
    /// `setErrs`: the tokens that the receiver cannot use. They are not sent again.
    public let refused: Set<EventID>

    public init(
        mostTokens: Int = Self.mostTokens, isImmediate: Bool = false, taken: Set<EventID> = [],
        refused: Set<EventID> = []
    ) {
        self.mostTokens = min(max(mostTokens, 0), Self.mostTokens)
        (self.isImmediate, self.taken, self.refused) = (isImmediate, taken, refused)
    }
}

/// The response to a poll (RFC 8936 §2.3).
public struct PollResponse: Sendable, Hashable {
    /// A security event token with its `jti`.
    public struct Token: Sendable, Hashable {
        public let id: EventID
        public let text: String

        public init(id: EventID, text: String) { (self.id, self.text) = (id, text) }
    }

    public internal(set) var tokens: [Token] = []
    /// Indicates that further tokens can be asked for at once. It can be true where all others are of no
    /// interest for the receiver.
    public internal(set) var hasMore = false
    /// Number of tokens that the request has taken. Tokens that were not handed out do not count.
    public internal(set) var taken = 0
    /// Number of tokens that the request has refused.
    public internal(set) var refused = 0
}

/// The refusal of a poll: the receiver took nothing for seven days, and an operator must resume it.
public struct ReceiverPaused: Error, Sendable, Equatable {
    public init() {}
}
