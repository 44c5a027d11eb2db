import AppleAccounts
public import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import SignIn
import StrictJSON

/// A verified security event token from Google (RFC 8417, RISC).
struct GoogleEventToken: Sendable {
    let jti: String
    let events: [GoogleEventCommand.Event]
    /// The state in a verification event. See `GoogleEventCommand`.
    let verificationState: String?

    /// - Parameters:
    ///   - clients: The configured clients. The token's audience must be one of their Google client IDs.
    ///   - now: The current time by this machine's clock.
    /// - Throws: `SecurityEventError`; `KeySetError` if Google's keys are unavailable.
    init(
        _ text: String, settings: GoogleSettings, clients: [OAuthClient], keys: any VerificationKeys,
        at now: Moment
    ) async throws {
        let token: GoogleToken
        do {
            token = try await GoogleToken(text, keys: keys)
        } catch GoogleToken.Fault.malformed {
            throw SecurityEventError(.invalidRequest, "The body must be one signed JWT in RS256 with a kid.")
        } catch GoogleToken.Fault.notSigned {
            throw SecurityEventError(.invalidKey, "The signature is not by a current key of the issuer.")
        }
        // Token events of a Google project concern only this project's clients.
        let named = SecurityEventClaims.audiences(of: token.claims)
        let recipients = clients.filter { client in
            (client.googleLinking?.googleClientIDs ?? []).contains { id in
                named.contains(where: id.isByteEqual)
            }
        }
        let claims = try SecurityEventClaims(
            token.claims, issuer: settings.eventIssuer,
            audiences: recipients.flatMap { $0.googleLinking?.googleClientIDs ?? [] },
            at: now.milliseconds / 1000)
        jti = claims.id
        // The event's time is in whole seconds. The moment is 999 ms later, so that a grant made within the
        // same second counts as older.
        let moment = Moment(milliseconds: claims.issuedAt * 1000 + 999)
        events = claims.events.members.map { name, value in
            Self.event(name, value, Set(recipients.map(\.id)), settings: settings, at: moment)
        }
        verificationState = claims.events.members.lazy.compactMap { Self.state($0.name, $0.value) }.first
    }

    private static func event(
        _ uri: String, _ event: JSONValue, _ recipients: Set<OAuthClientID>, settings: GoogleSettings,
        at moment: Moment
    ) -> GoogleEventCommand.Event {
        let kind = GoogleEventKind(uri: uri)
        return GoogleEventCommand.Event(
            kind, reason: event["reason"]?.string.flatMap { GoogleEventReason(rawValue: $0) },
            changes(kind, event, recipients, settings: settings, at: moment))
    }

    private static func changes(
        _ kind: GoogleEventKind, _ event: JSONValue, _ recipients: Set<OAuthClientID>,
        settings: GoogleSettings, at moment: Moment
    ) -> [GoogleEventCommand.Change] {
        // Google documents two formats: the subject is a separate member, or the event itself contains the
        // subject's members.
        let subject = event["subject"] ?? event
        if kind == .tokenRevoked {
            guard let digest = tokenDigest(subject) else { return [] }
            let account = account(subject, settings) ?? account(event, settings)
            return [.endToken(doubleSHA512: digest, of: recipients, googleSubject: account)]
        }
        guard let account = account(subject, settings) else { return [] }
        switch kind {
        case .sessionsRevoked:
            return [.endFamilies(googleSubject: account, upTo: moment, of: nil)]
        case .tokensRevoked:
            return [.endFamilies(googleSubject: account, upTo: moment, of: recipients)]
        case .accountDisabled:
            return [
                .endFamilies(googleSubject: account, upTo: moment, of: nil),
                .disable(googleSubject: account, at: moment),
            ]
        case .accountEnabled:
            return [.enable(googleSubject: account, at: moment)]
        case .tokenRevoked, .credentialChangeRequired, .verification, .other:
            return [.name(googleSubject: account)]
        }
    }

    /// Returns the state in a verification event; `nil` for any other event, and for a state that is too long
    /// to store.
    private static func state(_ uri: String, _ event: JSONValue) -> String? {
        guard GoogleEventKind(uri: uri) == .verification, let state = event["state"]?.string,
            state.utf8.count <= GoogleEventCommand.longestState, !state.hasControlCharacters
        else { return nil }
        return state
    }

    /// Returns the Google account in an `iss-sub` subject; `nil` for any other subject.
    private static func account(_ subject: JSONValue, _ settings: GoogleSettings) -> String? {
        let issuers = [settings.eventIssuer] + settings.identityIssuers
        guard let issuer = subject["iss"]?.string, issuers.contains(where: { $0.isByteEqual(to: issuer) }),
            let account = subject["sub"]?.string, (1...255).contains(account.utf8.count),
            !account.hasControlCharacters
        else { return nil }
        return account
    }

    /// Returns the double SHA-512 digest of a refresh token. Google's documentation spells the name of this
    /// algorithm in two ways, and both are accepted.
    private static func tokenDigest(_ subject: JSONValue) -> SHA512Digest? {
        guard let text = subject["token"]?.string else { return nil }
        let bytes: [UInt8]? =
            switch subject["token_identifier_alg"]?.string {
            // Google does not document whether the digits are lowercase or uppercase.
            case "hash_SHA512_double": Hexadecimal.decode(text.lowercased())
            case "hash_base64_sha512_sha512": Base64.decode(text) ?? Base64URL.decode(text)
            default: nil
            }
        return bytes.flatMap { SHA512Digest($0) }
    }
}

/// Handles `POST /v1/google/security-events`: receives Google's security events about linked Google accounts
/// (RISC).
public struct SecurityEventReceiver: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Verifies the token, applies its events, and stores it. Returns when the transaction is durable. A
    /// token whose `jti` is already known changes nothing.
    ///
    /// - Throws: `SecurityEventError`; `KeySetError` if Google's keys are unavailable; `StorageError`,
    ///   `OverloadedError`.
    public func receive(_ token: String) async throws -> GoogleEventReceipt {
        let now = server.now()
        let event = try await GoogleEventToken(
            token, settings: server.dependencies.google,
            clients: server.settings.clients.clients, keys: server.dependencies.googleEventKeys, at: now)
        return try await server.dependencies.commits.submit(
            GoogleEventCommand(
                jti: event.jti, payload: Array(token.utf8), events: event.events,
                verificationState: event.verificationState, receivedAt: now))
    }
}
