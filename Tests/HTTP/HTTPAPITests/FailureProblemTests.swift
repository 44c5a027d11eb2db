import AppleAccounts
import Commits
import HTTPAPI
import JOSE
import KeySets
import SignIn
import StrictJSON
import Testing

/// Responses to callers when the service cannot do its work.
@Suite struct FailureProblemTests {
    @Test(arguments: [
        (StorageError.Code.unavailable, 503), (.busy, 503), (.full, 503), (.readOnly, 503), (.corrupted, 503),
        (.schemaTooNew, 503), (.migrationFailed, 503), (.valueRefused, 500),
    ])
    func `a failing database is said to fail, with nothing about it`(
        code: StorageError.Code, status: Int
    ) async throws {
        let store = FailingStore(error: StorageError(code, detail: "SELECT secret"))
        try await RunningService.with(.init(store: store)) { service in
            let response = try await service.call("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            #expect(response.status == status)
            #expect(response.code == (status == 503 ? "storage_unavailable" : "internal_error"))
            #expect((response["retry-after"] != nil) == (status == 503))
            #expect(!response.text.contains("SELECT"))
            let ready = try await service.call("GET", "/readyz", secret: nil)
            #expect(ready.status == status)
            #expect(ready.json?["cause"]?.string == code.rawValue)
            #expect(response.json?["cause"] == nil, "callers learn nothing of the database")
            let alive = try await service.call("GET", "/livez", secret: nil)
            #expect(alive.status == 200)
            let health = try await service.call("GET", "/health", secret: nil)
            #expect(health.status == 503)
        }
    }

    @Test func `too much waiting work is told to come back`() async throws {
        try await RunningService.with(.init(store: FailingStore(error: OverloadedError()))) { service in
            let response = try await service.call("GET", "/v1/events")
            #expect(response.status == 503)
            #expect(response.code == "overloaded")
            #expect(response["retry-after"] == "1")
        }
    }

    @Test func `without keys no token is accepted and none is refused`() async throws {
        try await RunningService.with(.init(keys: NoKeys())) { service in
            let verified = try await service.call(
                "POST", ProblemContractTests.verify, body: try Bodies.identityToken())
            #expect(verified.status == 503)
            #expect(verified.code == "keys_unavailable")
            #expect(verified["retry-after"] != nil)
            let notified = try await service.call(
                "POST", "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
            #expect(notified.status == 503)
            let ready = try await service.call("GET", "/readyz", secret: nil)
            #expect(ready.status == 503)
            #expect(ready.code == "keys_unavailable")
            #expect(ready.json?["cause"]?.string == "unreachable")
        }
    }

    @Test func `a key that no fetch has looked for is told when to come back`() async throws {
        struct CoolingKeys: VerificationKeys {
            func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
            func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
                throw KeySetError(.keysUnavailable, retryAfter: 17)
            }
            var health: KeySetHealth { KeySetHealth(status: .ready, keyCount: 1) }
        }
        try await RunningService.with(.init(keys: CoolingKeys())) { service in
            let verified = try await service.call(
                "POST", ProblemContractTests.verify, body: try Bodies.identityToken())
            #expect(verified.code == "keys_unavailable")
            #expect(verified["retry-after"] == "17")
        }
    }

    struct Mishap: Error {}

    @Test func `an unexpected error is a problem too, and its words stay inside`() async throws {
        try await RunningService.with(.init(store: FailingStore(error: Mishap()))) { service in
            let response = try await service.call("GET", "/v1/events")
            #expect(response.status == 500)
            #expect(response.code == "internal_error")
            #expect(service.loggedText().contains("Mishap"))
        }
    }
}
