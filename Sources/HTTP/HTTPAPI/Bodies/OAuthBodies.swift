public import AppleAccounts
import AuthorizationServer
public import EventDelivery
public import OAuth
import SignIn
public import StrictJSON

// The bodies of the authorization server's endpoints, except the bodies that lower modules declare.

extension GrantUseCases.Listed: JSONBody {
    public static var schemaName: String { "Grant" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.grant.id }
        member("account_id") { $0.grant.accountID }
        // Grant events use the same member.
        member("client_id", "The OAuth client, by the ID in its configuration.") {
            $0.grant.oauthClientID.rawValue
        }
        member("client_name", "Absent for a client that is no longer configured.") {
            $0.client?.name.english
        }
        member("app", "The primary client ID of the app.") { $0.grant.clientID.rawValue }
        member("scope", "All scopes that the user has agreed to, separated by spaces.") { $0.grant.scope }
        member(
            "google_account_known",
            """
            True if the `sub` of the Google account is known, as after streamlined linking. Google's events about the
            account end only grants with true.
            """
        ) { $0.grant.googleSubject != nil }
        member("created_at") { $0.grant.createdAt }
        member("consented_at") { $0.grant.consentedAt }
        member(
            "last_used_on",
            [
                "format": "date",
                "description":
                    "The last day (UTC) on which the client got tokens; absent before the first tokens.",
            ]
        ) { $0.grant.lastUsedAt.map { String($0.rfc3339.prefix(10)) } }
    }
}

struct Grants: JSONBody {
    static var schemaName: String { "Grants" }
    let grants: [GrantUseCases.Listed]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("grants", "All grants of the account.") { $0.grants }
    }
}

/// A nonce for a native client. Its lifetime is given in seconds, because the device's clock may be wrong.
struct ClientNonce: JSONBody {
    static var schemaName: String { "ClientNonce" }
    static var schemaText: String { "A nonce for one native sign-in." }
    let minted: MintedNonce
    let now: Moment

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("nonce", "The nonce, for the token endpoint.") { $0.minted.nonce }
        member("nonce_sha256", "The SHA-256 of the nonce in lowercase hexadecimal, for Apple.") {
            $0.minted.nonceSHA256
        }
        member("expires_in", "Seconds until the nonce expires.") {
            $0.minted.expiresAt.seconds(after: $0.now)
        }
    }
}

/// A challenge for a native client.
struct ClientChallenge: JSONBody {
    static var schemaName: String { "ClientChallenge" }
    static var schemaText: String { "A challenge of App Attest." }
    let challenge: AppAttestChallenge
    let now: Moment

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "challenge", "The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing."
        ) { $0.challenge.text }
        member("expires_in", "Seconds until the challenge expires.") {
            $0.challenge.expiresAt.seconds(after: $0.now)
        }
    }
}

extension Moment {
    /// Returns the number of whole seconds since an earlier time, rounded up.
    fileprivate func seconds(after earlier: Moment) -> Int64 {
        (milliseconds - earlier.milliseconds + 999) / 1000
    }
}

/// An error response to a pushed security event token (RFC 8935 §2.3).
extension SecurityEventError: JSONBody {
    public static var schemaName: String { "SecurityEventErrorResponse" }
    public static var schemaText: String {
        "An error response to a pushed security event token (RFC 8935 §2.3)."
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("err", "The code of the error, like `invalid_key`.") { $0.code.rawValue }
        member("description", "A sentence for developers.") { $0.description }
    }
}

/// Reads the body of a poll (RFC 8936 §2.2). Ignores members that the RFC does not define, and each `jti`
/// that this service did not create.
extension PollRequest: RequestBody {
    static var schemaName: String { "PollRequest" }
    static var schemaText: String { "A poll (RFC 8936 §2.2). Unknown members are ignored." }
    static var ignoresUnknownMembers: Bool { true }
    // Allows one element more than the limit, so that the error names the member.
    static var limits: JSONLimits { JSONLimits(members: mostEnded + 1) }

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        let most = try member("maxEvents", .maxEvents) { (value) throws(Problem) in
            guard let number = Self.count(value) else { throw Self.malformed("maxEvents") }
            return number
        }
        let isImmediate: Bool? = try member(
            "returnImmediately",
            [
                "type": ["boolean", "null"], "default": false,
                "description": "With `false`, the response waits for a token, for 30 seconds at most.",
            ])
        let taken = try member("ack", .taken) { (value) throws(Problem) in
            guard let list = value.array, list.count <= Self.mostEnded,
                list.allSatisfy({ $0.string != nil })
            else { throw Self.malformed("ack") }
            return list.compactMap { $0.string.flatMap { EventID($0) } }
        }
        let refused = try member("setErrs", .refused) { (value) throws(Problem) in
            guard let object = value.object, object.members.count <= Self.mostEnded,
                object.members.allSatisfy({ Self.isError($0.value) })
            else { throw Self.malformed("setErrs") }
            return object.members.compactMap { EventID($0.name) }
        }
        self.init(
            mostTokens: most ?? Self.mostTokens, isImmediate: isImmediate ?? false, taken: Set(taken ?? []),
            refused: Set(refused ?? []))
    }

    /// Returns `true` for an error in the format of RFC 8936 §2.6: a code and an optional description.
    private static func isError(_ value: JSONValue) -> Bool {
        guard value["err"]?.string != nil else { return false }
        let description = value["description"]
        return description == nil || description?.string != nil
    }

    /// Returns the number of tokens, capped at the limit, or `nil` for a negative or malformed number.
    ///
    /// Accepts `10.0` and `1e1`, which are integers in JSON, because programs without an integer type write
    /// numbers like this.
    private static func count(_ value: JSONValue) -> Int? {
        switch value {
        case .integer(let number): return number >= 0 ? Int(min(number, Int64(mostTokens))) : nil
        case .number(let text):
            guard let number = Double(text), number >= 0, number == number.rounded() else { return nil }
            return Int(min(number, Double(mostTokens)))
        case .null, .bool, .string, .array, .object: return nil
        }
    }

    private static func malformed(_ name: String) -> Problem {
        Problem(.memberMalformed, subject: .member(name))
    }
}

extension JSONSchema {
    fileprivate static var maxEvents: JSONSchema {
        [
            "type": ["integer", "null"], "minimum": 0,
            "description": "The largest number of tokens to return, at most 64. 0 only takes tokens.",
        ]
    }

    fileprivate static var taken: JSONSchema {
        [
            "type": ["array", "null"], "maxItems": .integer(Int64(PollRequest.mostEnded)),
            "description": "The `jti` of tokens that the receiver has taken. An unknown one is ignored.",
            "items": ["type": "string", "pattern": #"^[^\x00]*$"#, "description": "A `jti`."],
        ]
    }

    fileprivate static var refused: JSONSchema {
        let error = component("PollError") {
            .object(
                required: ["err"],
                properties: [
                    (
                        "err",
                        [
                            "type": "string", "pattern": #"^[^\x00]*$"#,
                            "description": "A code of RFC 8935 §2.4, like `invalid_key`.",
                        ]
                    ),
                    (
                        "description",
                        [
                            "type": "string", "pattern": #"^[^\x00]*$"#,
                            "description": "A sentence for developers.",
                        ]
                    ),
                ], components: []
            ).with("The reason why a token cannot be used (RFC 8936 §2.6).")
        }
        return JSONSchema(
            [
                ("type", ["object", "null"]), ("maxProperties", .integer(Int64(PollRequest.mostEnded))),
                (
                    "description",
                    "Tokens that the receiver cannot use, by `jti`. They are not sent again."
                ),
                ("propertyNames", ["type": "string", "pattern": #"^[^\x00]*$"#]),
                ("additionalProperties", .object(error.keywords)),
            ], components: error.components)
    }
}

/// The response to a poll (RFC 8936 §2.3).
extension PollResponse: JSONBody {
    public static var schemaName: String { "PollResponse" }
    public static var schemaText: String { "The response to a poll (RFC 8936 §2.3)." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "sets",
            [
                "description": "Security event tokens by their `jti`, at most 64.",
                "additionalProperties": ["type": "string", "description": "A security event token."],
            ]
        ) { JSONObject($0.tokens.map { ($0.id.rawValue, .string($0.text)) }) }
        member("moreAvailable", "True if a further poll can get tokens at once.") { $0.hasMore }
    }
}

/// A client's event stream.
struct EventStream: JSONBody {
    static var schemaName: String { "EventStream" }
    static var schemaText: String { "A stream (OpenID Shared Signals Framework 1.0 §8.1.1)." }
    static let pushMethod = "urn:ietf:rfc:8935"
    static let pollMethod = "urn:ietf:rfc:8936"

    let stream: EventStreams.ClientStream
    let client: OAuthClientID
    let issuer: Issuer

    private var requested: [String] {
        ClientEvents.kinds.filter(stream.kinds.contains).map(\.securityEventType.uri)
    }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("stream_id", "`client:` and the client's ID.") { $0.stream.name.rawValue }
        member("iss", "The `iss` of the tokens.") { $0.issuer.text }
        member("aud", "The `aud` of the tokens.") { $0.client.rawValue }
        member("delivery") { Delivery(delivery: $0.stream.delivery, issuer: $0.issuer) }
        member("events_supported", .uris("The types of events that a client can get.")) { _ in
            ClientEvents.kinds.map(\.securityEventType.uri)
        }
        member("events_requested", .uris("The types that the configuration chooses.")) { $0.requested }
        member("events_delivered", .uris("The same types.")) { $0.requested }
        member("min_verification_interval", "Seconds between two verifications.") { _ in
            StreamVerification.interval / 1000
        }
    }

    struct Delivery: JSONBody {
        static var schemaName: String { "EventStreamDelivery" }
        static var schemaText: String { "The way in which a stream is delivered." }
        let delivery: EventStreams.ClientStream.Delivery
        let issuer: Issuer

        private var shown: (method: String, url: String) {
            switch delivery {
            case .push(let url): (EventStream.pushMethod, url)
            case .poll: (EventStream.pollMethod, issuer.url(Endpoint.pollClientEvents.path.description))
            }
        }

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("method", "`urn:ietf:rfc:8935` for push, `urn:ietf:rfc:8936` for poll.") {
                $0.shown.method
            }
            member("endpoint_url", "The client's URL for push, or the URL to poll.") { $0.shown.url }
        }
    }

    /// The response schema: the list of the client's streams, or one stream.
    static var responseSchema: JSONSchema {
        .component("EventStreamResponse") {
            .combined(
                "oneOf",
                [
                    schema,
                    .component("EventStreamList") { .array(of: schema, "The streams of the client.") },
                ], "A stream, or the list of the client's streams.")
        }
    }
}

extension JSONSchema {
    fileprivate static func uris(_ text: String) -> JSONSchema {
        ["description": .string(text), "items": ["type": "string", "description": "A URI."]]
    }
}

/// The body of a request for a verification event (OpenID Shared Signals Framework 1.0 §8.1.4.2).
struct VerificationRequest: RequestBody {
    static var schemaName: String { "VerificationRequest" }
    static var schemaText: String { "A request for a verification event. Unknown members are ignored." }
    static var ignoresUnknownMembers: Bool { true }
    let stream: String
    let state: String?

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        stream = try member.required(
            "stream_id",
            [
                "maxLength": 255, "pattern": #"^[^\x00]+$"#,
                "description": "The `stream_id` of the client's stream.",
            ])
        state = try member(
            "state", 1...StreamVerification.longestState,
            [
                "pattern": #"^[^\x00]+$"#,
                "description": "A text that the event repeats, of 1,024 bytes at most.",
            ])
    }
}

/// The transmitter metadata of OpenID Shared Signals Framework 1.0 §7.1.
struct SSFConfiguration: JSONBody {
    static var schemaName: String { "SSFConfiguration" }
    static var schemaText: String { "Metadata of OpenID Shared Signals Framework 1.0 §7.1." }
    let issuer: Issuer

    private func url(_ endpoint: Endpoint) -> String { issuer.url(endpoint.path.description) }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("spec_version", "The version of the framework.") { _ in "1_0" }
        member("issuer", "The `iss` of security event tokens.") { $0.issuer.text }
        member("jwks_uri", "The keys that sign them.") { $0.url(.getKeySet) }
        member(
            "delivery_methods_supported",
            ["description": "Push and poll.", "items": ["type": "string", "description": "A URN."]]
        ) { _ in [EventStream.pushMethod, EventStream.pollMethod] }
        member.unrequired(
            "configuration_endpoint",
            "Shows the client's stream. Streams are made in the configuration of the service."
        ) { $0.url(.showEventStream) }
        member.unrequired("verification_endpoint", "Sends a verification event.") {
            $0.url(.verifyEventStream)
        }
        member.unrequired(
            "critical_subject_members",
            [
                "description": "Empty, because no subject has parts.",
                "items": ["type": "string", "description": "A name."],
            ]
        ) { _ in [String]() }
        member.unrequired("authorization_schemes", "HTTP Basic with client ID and secret (RFC 7617).") { _ in
            [Scheme()]
        }
        member.unrequired("default_subjects", "`ALL`: all users who granted the client something.") { _ in
            "ALL"
        }
    }

    struct Scheme: JSONBody {
        static var schemaName: String { "SSFAuthorizationScheme" }
        static var schemaText: String { "A way to authenticate." }

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            // The scheme is HTTP Basic with the client ID and secret.
            member("spec_urn", "The specification of the scheme.") { _ in "urn:ietf:rfc:7617" }
        }
    }
}

/// The configuration that Google reads for cross-account protection.
struct RISCConfiguration: JSONBody {
    static var schemaName: String { "RISCConfiguration" }
    static var schemaText: String {
        "The configuration that Google reads for cross-account protection (OpenID RISC Profile 1.0)."
    }
    let issuer: Issuer

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("issuer", "The `iss` of security event tokens.") { $0.issuer.text }
        member("jwks_uri", "The JWK Set with the keys that sign security event tokens.") {
            $0.issuer.url(Endpoint.getKeySet.path.description)
        }
    }
}

/// The public keys (RFC 7517 §5).
struct JWKSet: JSONBody {
    static var schemaName: String { "JWKSet" }
    static var schemaText: String { "A JWK Set (RFC 7517 §5)." }
    let keys: [JSONObject]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "keys",
            .array(
                of: .jwk, "Public keys. A key is published at least a day before it signs.")
        ) { $0.keys }
    }
}

extension JSONSchema {
    fileprivate static var jwk: JSONSchema {
        .component("JWK") {
            .strings(
                "A public key (RFC 7517 §4, RFC 7518 §6).", required: ["kty", "kid", "use", "alg"],
                [
                    ("kty", "`EC` or `RSA`."), ("kid", "The ID of the key."), ("use", "`sig`"),
                    ("alg", "`ES256` or `RS256`."), ("crv", "`P-256`, of an EC key."),
                    ("x", "The x coordinate of an EC key, in base64url."),
                    ("y", "The y coordinate of an EC key, in base64url."),
                    ("n", "The modulus of an RSA key, in base64url."),
                    ("e", "The exponent of an RSA key, in base64url."),
                ])
        }
    }

    /// Returns the schema of an object whose members are all strings.
    static func strings(
        _ text: String, required: [String] = [], _ members: [(name: String, detail: JSONSchema)]
    ) -> JSONSchema {
        object(
            required: required.map { .string($0) },
            properties: members.map { ($0.name, .object(String.schema.with($0.detail).keywords)) },
            components: []
        ).with(JSONSchema(stringLiteral: text))
    }

    static var emptyObject: JSONSchema {
        component("EmptyObject") { ["type": "object", "description": "An object without members."] }
    }
}
