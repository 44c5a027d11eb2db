import AppleIdentity
import Foundation
import KeySets
import TestSupport
import Testing

@Suite struct TokenCaseTests {
    static let keySets = FixtureFolder("key-sets")

    @Test(arguments: try FixtureFolder("identity-tokens").files(of: TokenCase.self))
    func `judges an identity token as its file says`(file: FixtureFile<TokenCase>) async throws {
        let tokenCase = file.content
        #expect(tokenCase.kind == .identityToken)
        let verifier = IdentityTokenVerifier(policy: tokenCase.policy)
        try await expect(tokenCase, finds: tokenCase.identity) {
            IdentityFacts(
                try await verifier.verify(
                    tokenCase.compact, keys: try keys(of: tokenCase),
                    expecting: tokenCase.identityExpectations,
                    at: try tokenCase.at.date()))
        }
    }

    @Test(arguments: try FixtureFolder("notifications").files(of: TokenCase.self))
    func `judges a notification as its file says`(file: FixtureFile<TokenCase>) async throws {
        let tokenCase = file.content
        #expect(tokenCase.kind == .notification)
        let verifier = NotificationVerifier(policy: tokenCase.policy)
        try await expect(tokenCase, finds: tokenCase.notification) {
            NotificationFacts(
                try await verifier.verify(
                    tokenCase.compact, keys: try keys(of: tokenCase), at: try tokenCase.at.date()))
        }
    }

    private func keys(of tokenCase: TokenCase) throws -> PinnedKeySet {
        try PinnedKeySet(parsing: try Self.keySets.bytes(of: tokenCase.keySet))
    }

    private func expect<Facts: Equatable>(
        _ tokenCase: TokenCase, finds expected: Facts?, verify: () async throws -> Facts
    ) async throws {
        do {
            let facts = try await verify()
            #expect(tokenCase.verdict == .accepted, "\(tokenCase.summary)")
            #expect(facts == expected, "\(tokenCase.summary)")
        } catch let refusal as AppleTokenError {
            #expect(tokenCase.verdict == .refused, "\(tokenCase.summary) \(refusal.debugDescription)")
            #expect(refusal.code.rawValue == tokenCase.code, "\(tokenCase.summary)")
        }
    }
}

/// A frozen identity token or notification, and its expected result.
struct TokenCase: Decodable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case summary, kind, token, configuration, expectations, at, verdict, code, identity, notification
        case tokenParts = "token_parts"
        case keySet = "key_set"
    }

    let summary: String
    let kind: Kind
    let token: String?
    let tokenParts: [TokenPart]?
    let keySet: String
    let configuration: Configuration
    let expectations: Expectations?
    let at: Timestamp
    let verdict: Verdict
    let code: String?
    let identity: IdentityFacts?
    let notification: NotificationFacts?

    enum Kind: String, Decodable {
        case identityToken = "identity-token"
        case notification
    }

    enum Verdict: String, Decodable {
        case accepted, refused
    }

    struct TokenPart: Decodable {
        let text: String
        let times: Int?
    }

    struct Configuration: Decodable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case issuers
            case clientIDs = "client_ids"
            case leewaySeconds = "leeway_seconds"
        }

        let clientIDs: [String]
        let issuers: [String]?
        let leewaySeconds: Int64?
    }

    struct Expectations: Decodable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case nonce
            case clientID = "client_id"
            case authorizationCode = "authorization_code"
            case accessToken = "access_token"
        }

        let nonce, clientID, authorizationCode, accessToken: String?
    }
}

extension TokenCase {
    var compact: String {
        token ?? (tokenParts ?? []).map { String(repeating: $0.text, count: $0.times ?? 1) }.joined()
    }

    var policy: VerificationPolicy {
        VerificationPolicy(
            issuers: configuration.issuers ?? [VerificationPolicy.appleIssuer],
            clientIDs: configuration.clientIDs, leeway: configuration.leewaySeconds ?? 60)
    }

    var identityExpectations: IdentityTokenExpectations {
        IdentityTokenExpectations(
            nonce: expectations?.nonce, clientID: expectations?.clientID,
            authorizationCode: expectations?.authorizationCode, accessToken: expectations?.accessToken)
    }
}

/// Expected values of a verified identity. A member that the file does not name must be absent.
struct IdentityFacts: Decodable, Equatable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case iss, sub, iat, exp, nonce, email
        case clientID = "client_id"
        case authTime = "auth_time"
        case authorizationMoment = "authorization_moment"
        case nonceSupported = "nonce_supported"
        case emailVerified = "email_verified"
        case isPrivateEmail = "is_private_email"
        case realUserStatus = "real_user_status"
        case transferSub = "transfer_sub"
        case organizationID = "org_id"
        case codeHash = "c_hash"
        case accessTokenHash = "at_hash"
    }

    let iss, sub, clientID: ExactText
    let iat, exp, authorizationMoment: Int64
    let authTime: Int64?
    let nonce, email, transferSub, organizationID, codeHash, accessTokenHash: ExactText?
    let nonceSupported, emailVerified, isPrivateEmail: Bool?
    let realUserStatus: Int64?

    init(_ identity: VerifiedIdentity) {
        iss = ExactText(identity.issuer)
        sub = ExactText(identity.subject)
        clientID = ExactText(identity.clientID)
        iat = identity.issuedAt.secondsSince1970
        exp = identity.expiresAt.secondsSince1970
        authorizationMoment = identity.authorizationMoment.secondsSince1970
        authTime = identity.authenticatedAt?.secondsSince1970
        nonce = ExactText(identity.nonce)
        email = ExactText(identity.email)
        transferSub = ExactText(identity.transferSubject)
        organizationID = ExactText(identity.organizationID)
        codeHash = ExactText(identity.codeHash)
        accessTokenHash = ExactText(identity.accessTokenHash)
        nonceSupported = identity.nonceSupported
        emailVerified = identity.emailVerified
        isPrivateEmail = identity.isPrivateEmail
        realUserStatus = identity.realUserStatus
    }
}

/// Expected values of a verified notification. A member that the file does not name must be absent.
struct NotificationFacts: Decodable, Equatable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case iat, exp, jti, events
        case clientID = "client_id"
    }

    let clientID: ExactText
    let iat, exp: Int64
    let jti: ExactText?
    let events: [Event]

    struct Event: Decodable, Equatable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case kind, type, sub, email
            case eventTimeMilliseconds = "event_time_milliseconds"
            case isPrivateEmail = "is_private_email"
        }

        let kind: String
        let type: ExactText
        let sub, email: ExactText?
        let eventTimeMilliseconds: Int64?
        let isPrivateEmail: Bool?
    }

    init(_ notification: VerifiedNotification) {
        clientID = ExactText(notification.clientID)
        iat = notification.issuedAt.secondsSince1970
        exp = notification.expiresAt.secondsSince1970
        jti = ExactText(notification.identifier)
        events = notification.events.map { Event($0) }
    }
}

extension NotificationFacts.Event {
    init(_ event: NotificationEvent) {
        kind =
            switch event.kind {
            case .consentRevoked: "consent-revoked"
            case .accountDeleted: "account-deleted"
            case .emailEnabled: "email-enabled"
            case .emailDisabled: "email-disabled"
            case .unknown: "unknown"
            }
        type = ExactText(event.type)
        sub = ExactText(event.subject)
        email = ExactText(event.email)
        eventTimeMilliseconds = event.eventTimeMilliseconds
        isPrivateEmail = event.isPrivateEmail
    }
}

@Suite struct RealTokenTests {
    @Test(arguments: try RealTokenCase.all())
    func `accepts what Apple signed`(real: RealTokenCase) async throws { try await verify(real) }

    @Test(arguments: try RealTokenCase.all().filter { $0.kind == .identityToken })
    func `calls a relay address private, and no other public unasked`(real: RealTokenCase) async throws {
        let keys = try PinnedKeySet(parsing: try real.keySet())
        let identity = try await IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: [real.clientID]))
            .verify(
                real.jwt, keys: keys, expecting: IdentityTokenExpectations(), at: try real.at.date(after: 0))
        let isRelay = identity.email?.hasSuffix("@privaterelay.appleid.com") == true
        #expect(identity.isPrivateEmail == (isRelay ? true : nil))
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it for another client ID`(real: RealTokenCase) async throws {
        await #expect(throws: AppleTokenError(.audienceMismatch)) {
            try await verify(real, clientID: real.clientID + ".other")
        }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it two days later`(real: RealTokenCase) async throws {
        await #expect(throws: AppleTokenError(.tokenExpired)) { try await verify(real, later: 2 * 86400) }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it under another key`(real: RealTokenCase) async throws {
        let isLabelled = try UnverifiedToken(real.jwt).keyID == "AIDOPK1"
        await #expect(throws: AppleTokenError(isLabelled ? .signatureInvalid : .unknownKey)) {
            try await verify(real, keySet: RealTokenCase.decoy())
        }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it with one bit of the signature changed`(real: RealTokenCase) async throws {
        // The character before the last carries six bits of the signature and no unused ones.
        let position = real.jwt.index(real.jwt.endIndex, offsetBy: -2)
        var changed = real.jwt
        changed.replaceSubrange(position...position, with: real.jwt[position] == "A" ? "B" : "A")
        await #expect(throws: AppleTokenError(.signatureInvalid)) { try await verify(real, token: changed) }
    }

    private func verify(
        _ real: RealTokenCase, token: String? = nil, clientID: String? = nil, later: Int64 = 0,
        keySet: [UInt8]? = nil
    ) async throws {
        let policy = VerificationPolicy(clientIDs: [clientID ?? real.clientID])
        let keys = try PinnedKeySet(parsing: try keySet ?? real.keySet())
        let now = try real.at.date(after: later)
        switch real.kind {
        case .identityToken:
            _ = try await IdentityTokenVerifier(policy: policy)
                .verify(token ?? real.jwt, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        case .notification:
            _ = try await NotificationVerifier(policy: policy).verify(token ?? real.jwt, keys: keys, at: now)
        }
    }
}

/// A token that Apple signed. Such tokens are third-party data and not part of this project: a test run reads
/// them from the folder in `SIWA_REAL_TOKENS`.
struct RealTokenCase: Decodable, Sendable, CustomTestStringConvertible {
    enum CodingKeys: String, CodingKey {
        case kind, jwt, jwks, at
        case clientID = "client_id"
    }

    static let fewest = 13

    let kind: TokenCase.Kind
    let jwt: String
    let jwks: String
    let clientID: String
    let at: Timestamp

    static var folder: URL? {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_TOKENS"], !path.isEmpty else {
            return nil
        }
        return URL(filePath: path)
    }

    /// Returns no cases without a folder. Throws when the folder is incomplete.
    static func all() throws -> [RealTokenCase] {
        guard let folder else { return [] }
        let data = try Data(contentsOf: folder.appending(path: "cases.json"))
        let cases = try JSONDecoder().decode([RealTokenCase].self, from: data)
        guard cases.count >= fewest else { throw FixtureError("only \(cases.count) real tokens") }
        return cases
    }

    /// Another key under one of Apple's key IDs.
    static func decoy() throws -> [UInt8] {
        guard let folder else { throw FixtureError("no folder of real tokens") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        guard let name = names.first(where: { $0.hasPrefix("decoy") }) else { throw FixtureError("no decoy") }
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    func keySet() throws -> [UInt8] {
        guard let folder = Self.folder else { throw FixtureError("no folder of real tokens") }
        return Array(try Data(contentsOf: folder.appending(path: jwks)))
    }

    var testDescription: String { "\(kind.rawValue) for \(clientID)" }
}
