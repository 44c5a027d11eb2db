import AppleAccounts

/// Sessions that ended before their time, because their operators signed out. A copied cookie of such a
/// session opens nothing in this process. Does no I/O and reads no clock.
struct EndedConsoleSessions: Sendable {
    /// Above this number, sessions that would expire first are forgotten. Only operators can end one.
    static let most = 1024

    private var sessions: [[UInt8]: Moment] = [:]

    var count: Int { sessions.count }

    func contains(_ session: ConsoleSession) -> Bool { sessions[session.id] != nil }

    mutating func end(_ session: ConsoleSession, at now: Moment) {
        if sessions.count >= Self.most { sessions = sessions.filter { $0.value > now } }
        if sessions.count >= Self.most, let first = sessions.min(by: { $0.value < $1.value }) {
            sessions[first.key] = nil
        }
        sessions[session.id] = session.expiresAt
    }
}
