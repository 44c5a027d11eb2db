/// The caller may not use this app.
public struct CallerForbidden: Error, Sendable, Equatable {
    public init() {}
}

/// The app demands a nonce that this service minted, and the sign-in has none.
public struct NonceNotMinted: Error, Sendable, Equatable {
    public init() {}
}

/// The caller named a client ID that belongs to no app of this deployment.
public struct UnknownClientID: Error, Sendable, Equatable {
    public init() {}
}

/// A reader's cursor is past the end of the event feed. The database was restored from a backup, replaced by
/// a standby that lagged behind, or exchanged: events that the reader has seen are missing from it, and their
/// sequence numbers will be used again.
public struct EventCursorAhead: Error, Sendable, Equatable {
    public init() {}
}

/// The end of a disabling is not in the future, so the account would not be disabled.
public struct DisablingOver: Error, Sendable, Equatable {
    public init() {}
}
