import AppleAccounts
import Cryptography
import SignIn
import Synchronization

/// Sessions that ended before their time, because their operators signed out.
///
/// The end is a row in the database until the session would have expired, so that a copied cookie opens nothing at
/// any replica and after a restart. No bound in memory forgets it: a forgotten end would be a session again.
final class EndedConsoleSessions: Sendable {
    private let tickets: any TicketStore
    /// Ends that the database could not keep: the latest expiry of such a session, by the name of its key. All
    /// sessions of the key that expire no later count as ended, so that there are at most as many entries as keys.
    private let unwritten = Mutex<[String: Moment]>([:])

    init(_ tickets: any TicketStore) {
        self.tickets = tickets
    }

    /// Ends a session. Ending it again changes nothing.
    ///
    /// - Throws: `StorageError`. Then the session has ended in this process alone.
    func end(_ session: ConsoleSession) async throws {
        do {
            _ = try await tickets.insertTicket(
                Ticket(
                    digest: Self.digest(of: session), purpose: .endedSession, payload: [],
                    // A replica with a slow clock must still find it.
                    expiresAt: session.expiresAt.advanced(
                        byMilliseconds: SignInUseCases.longestClockDifference)))
        } catch {
            unwritten.withLock { ends in
                ends[session.key] = max(ends[session.key] ?? session.expiresAt, session.expiresAt)
            }
            throw error
        }
    }

    /// - Throws: `StorageError`. Then no session counts as good.
    func contains(_ session: ConsoleSession, at moment: Moment) async throws -> Bool {
        if let end = unwritten.withLock({ $0[session.key] }), session.expiresAt <= end { return true }
        return try await tickets.hasTicket(
            digest: Self.digest(of: session), purpose: .endedSession, at: moment)
    }

    /// Differs from the digests of browsers' sessions, which are rows of the same purpose.
    private static func digest(of session: ConsoleSession) -> TicketDigest {
        TicketDigest(SHA256Digest.hash(Array("siwa console session\n".utf8) + session.id))
    }
}
