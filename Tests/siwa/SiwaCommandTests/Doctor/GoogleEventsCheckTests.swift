import AppleAccounts
import AsyncHTTPClient
import AuthorizationServer
import Cryptography
import Foundation
import JOSE
import TestSupport
import Testing

@testable import Composition
@testable import OAuth

/// `siwa doctor` on Google's security events.
@Suite(.timeLimit(.hung)) struct GoogleEventsCheckTests {
    private static let moment = Moment(milliseconds: 1_764_000_000_000)
    private static let url = "https://accounts.example.com/v1/google/security-events"

    private static func registration(
        _ url: String = url, _ status: EventStream.Status? = .enabled,
        events: [String] = EventStream.wantedEvents
    ) -> EventRegistration {
        EventRegistration(
            account: "a@b", expectedURL: Self.url, stream: EventStream(url: url, events: events),
            status: status)
    }

    @Test(
        arguments: [
            (.at(moment), "registered, last event 2025-11-24T16:00:00.000Z"),
            (.absent, "registered, no event in the last 30 days"),
            (.unknown, "registered, the last event is not known"),
        ] as [(GoogleEventsDiagnosis.LastEvent, String)])
    func `a registration as this configuration wants it is good`(
        last: GoogleEventsDiagnosis.LastEvent, text: String
    ) {
        let finding = GoogleEventsDiagnosis(registration: .success(Self.registration()), lastEvent: last)
            .finding
        #expect(finding == .good("Google events", text))
    }

    @Test(
        arguments: [
            registration("https://other.example"), registration(url, .disabled),
            registration(events: []),
            EventRegistration(account: "a@b", expectedURL: url, stream: nil, status: nil),
        ])
    func `a registration that sends nothing here is wrong`(registration: EventRegistration) {
        let finding = GoogleEventsDiagnosis(
            registration: .success(registration), lastEvent: .at(Self.moment)
        ).finding
        #expect(finding.verdict == .wrong)
        #expect(finding.text.contains("last event 2025"))
        #expect(finding.advice?.contains("siwa google risc register") == true)
    }

    @Test(arguments: EventStreamError.Code.allCases)
    func `Google's refusal has its own advice, and an outage is no finding`(code: EventStreamError.Code) {
        let finding = GoogleEventsDiagnosis(
            registration: .failure(EventStreamError(code, "what failed\nwhat to do")), lastEvent: .absent
        ).finding
        let isOutage = [.unreachable, .throttled, .failed].contains(code)
        #expect(finding.verdict == (isOutage ? .skipped : .wrong))
        #expect(finding.text == "what failed; no event in the last 30 days")
        #expect(finding.advice == (isOutage ? nil : "what to do"))
    }

    @Test func `without a service account the last event decides`() {
        let silent = GoogleEventsDiagnosis(registration: nil, lastEvent: .absent).finding
        #expect(silent.verdict == .note)
        #expect(silent.advice?.contains("SIWA_GOOGLE_SERVICE_ACCOUNT_FILE") == true)
        let heard = GoogleEventsDiagnosis(registration: nil, lastEvent: .at(Self.moment)).finding
        #expect(heard == .good("Google events", "last event 2025-11-24T16:00:00.000Z; Google was not asked"))
    }

    private func findings(
        _ changes: [String: String] = [:], file: String = OAuthSettingsTests.file,
        store: (any ServiceStore) async throws -> Void = { _ in }
    ) async throws -> [Finding] {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let url = "sqlite://\(directory)/siwa.sqlite"
            try await StoredAccounts.with(url: url, store)
            let settings = try await SettingsReaderTests.read(
                ["DATABASE_URL": url].merging(changes) { $1 }, file: file)
            let client = HTTPClient(eventLoopGroupProvider: .singleton)
            let findings = await GoogleEventsCheck(
                settings: settings, client: client, secondsSince1970: { 1_764_000_000 }
            ).run()
            try await client.shutdown()
            return findings
        }
    }

    @Test func `the database of the service has the last event`() async throws {
        #expect(try await findings().map(\.verdict) == [.note])
        let heard = try await findings { store in
            let event = GoogleEventCommand(jti: "jti", payload: [], events: [], receivedAt: Self.moment)
            let result = await withCheckedContinuation { continuation in
                store.commit([.googleEvent(event)]) { continuation.resume(returning: $0) }
            }
            _ = try result.get()
        }
        #expect(heard.map(\.text) == ["last event 2025-11-24T16:00:00.000Z; Google was not asked"])
    }

    @Test func `a missing key file is wrong, and a service without Google is not examined`() async throws {
        let missing = try await findings(["SIWA_GOOGLE_SERVICE_ACCOUNT_FILE": "/nonexistent/risc.json"])
        #expect(missing.map(\.verdict) == [.wrong])
        #expect(missing.first?.text.contains("/nonexistent/risc.json cannot be read") == true)
        let without = OAuthSettingsTests.file.replacing(
            "google_client_ids: [123.apps.googleusercontent.com]", with: "google_client_ids: []")
        #expect(try await findings(file: without).isEmpty)
    }
}

/// Findings of `siwa doctor` about the stored keys that sign the service's own tokens.
@Suite(.timeLimit(.hung)) struct TokenSigningKeysCheckTests {
    /// The findings about a database whose keys were made with the sealing key `a`.
    ///
    /// - Parameter url: URL of the database; `nil` for a new file.
    static func findings(
        _ sealingKeys: String, url: String? = nil, oauth: Bool = true, keysMade: Bool = true,
        _ change: (any ServiceStore) async throws -> Void = { _ in }
    ) async throws -> [Finding] {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let url = url ?? "sqlite://\(directory)/siwa.sqlite"
            try await StoredAccounts.with(url: url) { store in
                if keysMade {
                    let keys = SigningKeys(
                        store: store, sealingKeys: try ResealingTests.ring("a"),
                        algorithms: [.ES256, .RS256], schedule: SigningKeySchedule(longestToken: 3_600_000),
                        now: { StoredAccounts.now }, logger: .silent)
                    try await keys.refresh()
                }
                try await change(store)
            }
            var settings = try await SettingsReaderTests.read(
                ["DATABASE_URL": url], file: OAuthSettingsTests.file)
            settings.sealingKeys = try ResealingTests.ring(sealingKeys)
            if !oauth { settings.oauth = nil }
            return await DatabaseCheck(settings: settings).run().filter { $0.check == "OAuth keys" }
        }
    }

    @Test func `keys that open are good, and a database without keys is noted`() async throws {
        #expect(try await Self.findings("a").map(\.verdict) == [.good])
        #expect(try await Self.findings("a", keysMade: false).map(\.verdict) == [.note])
    }

    @Test func `names the sealing key that is missing`() async throws {
        let findings = try await Self.findings("b")
        #expect(findings.map(\.verdict) == [.wrong])
        #expect(findings.first?.text == "keys that sign tokens are sealed by a, which is not configured")
        #expect(findings.first?.advice?.contains("Add that key to SIWA_SEALING_KEYS again") == true)
    }

    @Test func `counts the keys that were changed`() async throws {
        let findings = try await Self.findings("a") { store in
            let keys = try await store.signingKeys()
            #expect(try await store.replaceSealed(keys[0], with: keys[1].sealed))
        }
        #expect(findings.map(\.verdict) == [.wrong])
        #expect(findings.first?.text == "1 of 2 keys that sign tokens cannot be decrypted")
    }

    @Test func `without OAuth clients nothing is said`() async throws {
        #expect(try await Self.findings("b", oauth: false).isEmpty)
    }
}
