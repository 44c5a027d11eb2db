import AppleAccounts
import StorageConformance
import Testing

@testable import OAuth

@Suite struct EndedSessionsTests {
    private static let session = BrowserSession(
        accountID: AccountID(UniqueID(high: 1, low: 1)), clientID: "com.example.app",
        authenticatedAt: 1_000_000,
        expiresAt: 2_000_000)

    @Test func `a replica with a slow clock finds the end after another has purged what is over`()
        async throws
    {
        let store = ReferenceStore()
        let ended = EndedSessions(tickets: store)
        try await ended.insert(Self.session)
        try await ended.insert(Self.session)
        _ = try await store.purgeTickets(expiredBefore: 2_300_000)
        #expect(try await ended.contains(Self.session, at: 1_999_999))
        _ = try await store.purgeTickets(expiredBefore: 2_400_000)
        #expect(try await !ended.contains(Self.session, at: 1_999_999))
    }
}
