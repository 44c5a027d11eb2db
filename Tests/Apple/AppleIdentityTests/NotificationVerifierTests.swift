import JOSE
import StrictJSON
import Testing
import TokenMint

@testable import AppleIdentity

@Suite struct NotificationVerifierTests {
    private let verifier = NotificationVerifier(policy: VerificationPolicy(clientIDs: [TokenMint.clientID]))

    private func verify(_ claims: JSONObject, at now: NumericDate = .sample) throws -> VerifiedNotification {
        let token = try UnverifiedToken(TokenMint.shared.sign(claims))
        return try verifier.verify(token, with: TokenMint.shared.privateKey.publicKey(), at: now)
    }

    private func claims(events: JSONValue?) -> JSONObject {
        var claims = TokenMint.notificationClaims()
        claims["events"] = events
        return claims
    }

    private static func event(
        _ type: String = "consent-revoked", _ changes: [(String, JSONValue?)] = []
    ) -> JSONValue {
        var event = JSONObject([
            ("type", .string(type)), ("sub", .string(TokenMint.subject)),
            ("event_time", .integer(TokenMint.sampleTime * 1000 - 13_705)),
        ])
        for (name, value) in changes { event[name] = value }
        return .object(event)
    }

    private static func text(_ value: JSONValue) -> JSONValue {
        .string(String(decoding: value.serialized(), as: UTF8.self))
    }

    @Test(arguments: [text(event()), event(), .array([event()]), text(.array([event()]))])
    func `reads events in every form that Apple has documented or sent`(events: JSONValue) throws {
        let notification = try verify(claims(events: events))
        #expect(notification.clientID == TokenMint.clientID)
        #expect(notification.identifier == "G2NcvZVDpFwSdQFbowCEpQ")
        let event = try #require(notification.events.first)
        #expect(notification.events.count == 1)
        #expect(event.kind == .consentRevoked)
        #expect(event.subject == TokenMint.subject)
        #expect(event.eventTimeMilliseconds == TokenMint.sampleTime * 1000 - 13_705)
    }

    @Test(arguments: [
        ("consent-revoked", NotificationEvent.Kind.consentRevoked), ("account-delete", .accountDeleted),
        ("account-deleted", .accountDeleted), ("email-enabled", .emailEnabled),
        ("email-disabled", .emailDisabled),
        ("Consent-Revoked", .unknown), ("account-paused", .unknown),
    ])
    func `knows both spellings of account deletion, and accepts unknown types`(
        type: String, kind: NotificationEvent.Kind
    ) throws {
        let event = try verify(claims(events: Self.event(type))).events.first
        #expect(event?.kind == kind)
        #expect(event?.type == type)
    }

    @Test func `reads e-mail events, with booleans as strings`() throws {
        let changes: [(String, JSONValue?)] = [
            ("email", .string("x@privaterelay.appleid.com")), ("is_private_email", .string("true")),
        ]
        let event = try verify(claims(events: Self.event("email-disabled", changes))).events.first
        #expect(event?.email == "x@privaterelay.appleid.com")
        #expect(event?.isPrivateEmail == true)
    }

    @Test(arguments: [
        (TokenMint.sampleTime, TokenMint.sampleTime * 1000), (1_608_767_944_622, 1_608_767_944_622),
    ])
    func `distinguishes seconds from milliseconds`(sent: Int64, milliseconds: Int64) throws {
        let event = try verify(
            claims(events: Self.event("consent-revoked", [("event_time", .integer(sent))]))
        ).events[0]
        #expect(event.eventTimeMilliseconds == milliseconds)
    }

    @Test(arguments: [
        event("account-paused", [("sub", nil), ("event_time", nil)]),
        event("account-paused", [("sub", .integer(1))]),
        event("account-paused", [("event_time", .number("1e300"))]), .object(JSONObject()),
    ])
    func `accepts an unknown type with any members`(events: JSONValue) throws {
        #expect(try verify(claims(events: events)).events.map(\.kind) == [.unknown])
    }

    @Test(
        arguments: [
            .null, .integer(1), .string(""), .string("{"), .string(#"{"type":"a","type":"b"}"#), .array([]),
            .array([.integer(1)]), .array(Array(repeating: event(), count: 17)),
            event("consent-revoked", [("sub", nil)]),
            event("consent-revoked", [("sub", .string(""))]), event("consent-revoked", [("event_time", nil)]),
            event("consent-revoked", [("event_time", .integer(-1))]),
            event("consent-revoked", [("event_time", .integer(.max))]),
            event("consent-revoked", [("event_time", .integer(.min))]),
            event("email-disabled", [("email", .integer(1))]),
            event("consent-revoked", [("type", .integer(1))]),
            event("email-disabled", [("is_private_email", .string("yes"))]),
        ] as [JSONValue])
    func `refuses events in any other form`(events: JSONValue) {
        #expect(throws: AppleTokenError(.eventsMalformed)) { try verify(claims(events: events)) }
    }

    @Test func `never accepts an identity token as a notification`() {
        #expect(throws: AppleTokenError(.notANotification)) { try verify(TokenMint.identityClaims()) }
    }

    @Test func `checks issuer, audience and times like an identity token`() {
        let attacks: [(String, JSONValue?, AppleTokenError.Code)] = [
            ("iss", .string("https://evil.example"), .issuerMismatch),
            ("aud", .string("com.other"), .audienceMismatch),
            ("exp", .integer(TokenMint.sampleTime - 60), .tokenExpired),
            ("iat", .integer(TokenMint.sampleTime + 61), .issuedInFuture),
            ("nbf", .integer(TokenMint.sampleTime + 61), .tokenNotYetValid),
            ("nbf", .bool(true), .claimMalformed),
            ("jti", .integer(1), .claimMalformed),
            ("iss", nil, .claimMissing),
        ]
        for (name, value, code) in attacks {
            var claims = TokenMint.notificationClaims()
            claims[name] = value
            #expect(throws: AppleTokenError(code)) { try verify(claims) }
        }
    }

    @Test func `refuses an event from the far future, which would win over every later sign-in`() throws {
        let edge = TokenMint.sampleTime * 1000 + 60_999
        _ = try verify(claims(events: Self.event("consent-revoked", [("event_time", .integer(edge))])))
        #expect(throws: AppleTokenError(.issuedInFuture)) {
            try verify(claims(events: Self.event("consent-revoked", [("event_time", .integer(edge + 1))])))
        }
    }
}

@Suite struct RelayAddressTests {
    @Test(arguments: ["a@privaterelay.appleid.com", "a@example.com", nil], [true, false])
    func `the claim decides when it is present`(address: String?, claim: Bool) {
        #expect(RelayAddress.isPrivate(claim, address: address) == claim)
    }

    @Test(arguments: [
        "a@privaterelay.appleid.com", "a@private.icloud.com", "A@PrivateRelay.AppleID.com",
        "@private.icloud.com",
        "a@b@privaterelay.appleid.com",
    ])
    func `the domain decides when the claim is absent`(address: String) {
        #expect(RelayAddress.isPrivate(nil, address: address) == true)
    }

    @Test(arguments: [
        nil, "", "@", "a@example.com", "a@icloud.com", "privaterelay.appleid.com",
        "a@xprivaterelay.appleid.com",
        "a@mail.privaterelay.appleid.com", "a@privaterelay.appleid.com.attacker.example",
        "a@privaterelay.appleid.com@attacker.example", "a@privaterelay.appleid.com.",
        "a@privaterelay.appleid.com ",
        "a@private.icloud.co", "a@private\u{212A}icloud.com", "a@prıvaterelay.appleid.com",
    ])
    func `any other address decides nothing`(address: String?) {
        #expect(RelayAddress.isPrivate(nil, address: address) == nil)
    }
}
