import AppleAccounts
import Cryptography
import SignIn

/// Sessions of browsers that have ended before their time, so that a copy of the cookie is of no use any more.
///
/// A row has the digest of a session's ID, and stays until the session would have ended by the clock of every replica. Only the holder of a
/// genuine session can write a row, and one for each sign-in at Apple.
struct EndedSessions: Sendable {
    let tickets: any TicketStore

    /// Ends a session. Ending it again changes nothing.
    ///
    /// - Throws: `StorageError`.
    func insert(_ session: BrowserSession) async throws {
        _ = try await tickets.insertTicket(
            Ticket(
                digest: Self.digest(of: session), purpose: .endedSession, payload: [],
                // A replica with a slow clock must still find it.
                expiresAt: session.expiresAt.advanced(
                    byMilliseconds: SignInUseCases.longestClockDifference)))
    }

    /// - Throws: `StorageError`.
    func contains(_ session: BrowserSession, at moment: Moment) async throws -> Bool {
        try await tickets.hasTicket(digest: Self.digest(of: session), purpose: .endedSession, at: moment)
    }

    private static func digest(of session: BrowserSession) -> TicketDigest {
        TicketDigest(SHA256Digest.hash(session.id))
    }
}
