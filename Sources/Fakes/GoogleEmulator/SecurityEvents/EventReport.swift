import Cryptography
import EmulatorServer
import Encodings
import JOSE
public import StrictJSON

/// Reason for refusing a security event token (RFC 8935 §2.4). The raw value is the response's `err`.
enum EventReportRefusal: String, Error {
    case malformed = "invalid_request"
    case key = "invalid_key"
    case issuer = "invalid_issuer"
    case audience = "invalid_audience"
    case signature = "authentication_failed"
}

/// Checks the security event tokens that the authorization server reports (RFC 8417). Shares no code with the
/// signer.
struct EventReport: Sendable {
    static let audience = "google_account_linking"
    static let event = "https://schemas.openid.net/secevent/oauth/event-type/token-revoked"
    /// Maximum token size in bytes.
    static let longestToken = 16 * 1024

    let state: GoogleState

    /// Verifies a token. Returns its event, with the link whose refresh token the event names.
    func receive(_ compact: String) async throws(EventReportRefusal) -> ReceivedEvent {
        guard let segments = JWSSegments(compact: compact),
            let header = try? JSONValue(parsing: segments.header), header["alg"]?.string == "RS256",
            let keyID = header["kid"]?.string, let claims = try? JSONValue(parsing: segments.payload)
        else { throw .malformed }
        guard let server = try? state.server(), claims["iss"]?.string == server.issuer else { throw .issuer }
        guard let key = await keys(of: server)?.key(for: keyID) else { throw .key }
        guard key.isValidSignature(segments.signature, for: segments.signingInput[...]) else {
            throw .signature
        }
        guard claims["aud"]?.string == Self.audience else { throw .audience }
        guard claims["exp"] == nil, let jti = claims["jti"]?.string, !jti.isEmpty, jti.utf8.count <= 255,
            let issuedAt = claims["iat"]?.integer, let events = claims["events"]?.object,
            events.members.count == 1, let event = events[Self.event],
            event["subject_type"]?.string == "oauth_token", event["token_type"]?.string == "refresh_token",
            event["token_identifier_alg"]?.string == "hash_SHA512_double",
            let hash = event["token"]?.string, Hexadecimal.decode(hash)?.count == SHA512Digest.size
        else { throw .malformed }
        return state.update { world in
            let link = world.links.links.last { $0.refreshToken.map(Self.hash) == hash }
            if let link, link.status == .linked {
                world.links.change(link.id) { $0.status = .unlinkedByService }
            }
            let event = ReceivedEvent(
                jti: jti, type: "token-revoked", issuedAt: issuedAt, tokenHash: hash, linkID: link?.id,
                deliveries: 1)
            world.inbox.add(event)
            return event
        }
    }

    /// Returns SHA-512(SHA-512(token)) in lowercase hexadecimal.
    static func hash(_ token: String) -> String {
        Hexadecimal.encode(SHA512Digest.hash(SHA512Digest.hash(Array(token.utf8)).bytes).bytes)
    }

    /// Fetches the server's keys from the location that its configuration names, as Google does.
    private func keys(of server: LinkedServer) async -> JSONWebKeySet? {
        let client = ServerClient(state: state)
        let configuration = await client.get(
            .serverMetadata, "Google looks for the server's keys", server.riscConfigurationURL)
        guard configuration.status == 200, configuration.json?["issuer"]?.string == server.issuer,
            let url = configuration.json?["jwks_uri"]?.string, url.hasPrefix("http")
        else { return nil }
        let response = await client.get(
            .serverKeys, "Google fetches the server's keys", url)
        guard response.status == 200 else { return nil }
        return try? JSONWebKeySet(parsing: response.body)
    }
}

/// A security event token that the authorization server has reported and Google has accepted.
public struct ReceivedEvent: Sendable, Equatable, Codable {
    public let jti: String
    /// Last part of the event's URI, such as `token-revoked`.
    public let type: String
    /// Issue time in seconds since 1970.
    public let issuedAt: Int64
    /// SHA-512(SHA-512(refresh token)) in lowercase hexadecimal.
    public let tokenHash: String
    /// ID of the link with this refresh token; `nil` if Google does not know the token.
    public let linkID: String?
    /// Number of times the event has been delivered so far.
    public internal(set) var deliveries: Int
}

extension ReceivedEvent: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("jti") { $0.jti }
        member("type", "The last part of the event's URI.") { $0.type }
        member("iat", "Seconds since 1970.") { $0.issuedAt }
        member("token", "SHA-512(SHA-512(refresh token)) in hexadecimal.") { $0.tokenHash }
        member("deliveries", "How often the event has arrived.") { $0.deliveries }
        member("link", "The link with this refresh token; absent if there is none.") { $0.linkID }
    }
}

/// The accepted events. Drops the oldest events to stay within its limit, and does no I/O.
struct EventInbox: Sendable, Codable {
    static let capacity = 200

    private(set) var events: [ReceivedEvent] = []

    /// Adds an event. For a repeated `jti`, only counts the delivery (RFC 8417 §2.2).
    mutating func add(_ event: ReceivedEvent) {
        if let index = events.firstIndex(where: { $0.jti == event.jti }) {
            events[index].deliveries += 1
            return
        }
        if events.count >= Self.capacity { events.removeFirst() }
        events.append(event)
    }

    mutating func clear() { events = [] }
}
