import AppleAccounts
import Commits
import StorageConformance
import Testing
import TokenMint

@testable import SignIn

/// Cases in which a use case has to wait, and the commands that it leaves to commit.
@Suite struct StepTests {
    private static func request() throws -> IdentityTokenRequest {
        IdentityTokenRequest(identityToken: try Subject.token())
    }

    @Test func `has the result at once when the key is at hand`() throws {
        let useCases = try Subject().useCases
        #expect(try useCases.verify(Self.request(), allowed: .all).isNow)
        #expect(try useCases.signIn(SignInRequest(token: Self.request()), allowed: .all).isNow)
        #expect(try useCases.receiveNotification(payload: Subject.notification()).isNow)
    }

    @Test func `waits for a key that has to be fetched, and fetches it once`() async throws {
        let keys = StubKeys(fetched: try TokenMint.shared.publicKeys())
        let useCases = try Subject(keys: keys).useCases
        let verification = try useCases.verify(Self.request(), allowed: .all)
        let signIn = try useCases.signIn(SignInRequest(token: Self.request()), allowed: .all)
        let notification = try useCases.receiveNotification(payload: Subject.notification())
        #expect(!verification.isNow && !signIn.isNow && !notification.isNow)
        #expect(keys.fetchCount == 0)
        _ = try await (verification.value, signIn.value, notification.value)
        #expect(keys.fetchCount == 3)
    }

    @Test func `waits for the state of a credential when the store has to`() async throws {
        let useCases = try Subject().useCases
        let unknown = try useCases.credential(subject: "x", clientID: "com.example.app", allowed: .all)
        #expect(!unknown.isNow)
        let impossible = try useCases.credential(subject: "", clientID: "com.example.app", allowed: .all)
        #expect(impossible.isNow)
        #expect(try await unknown.value == impossible.value)
    }

    @Test func `stores nothing before the commit is submitted`() async throws {
        let subject = try Subject()
        let pending = try await subject.useCases.signIn(
            SignInRequest(token: Self.request()), allowed: .all
        ).value
        #expect(try await subject.store.allEvents().isEmpty)
        #expect(try await subject.commits.submit(pending).isNewAccount)
    }

    @Test func `takes the outcome of its own command only`() throws {
        let pending = PendingCommit(NotificationCommand.sample(), result: { $0 })
        #expect(try pending.result(.success(.notification(.applied))) == .applied)
        #expect(throws: StorageError(.unavailable, detail: "")) {
            try pending.result(.success(.exchangeFinished(.kept)))
        }
    }
}

extension Step {
    fileprivate var isNow: Bool {
        if case .now = self { true } else { false }
    }
}
