/// What a connection is for.
enum SessionPurpose: Sendable {
    case service
    /// The server itself sees to it that nothing is written.
    case inspection
}
