import AppAttestation
public import AppleAccounts
import AppleIdentity
import HTTPEngine
import NIOHTTP1
public import SignIn
public import StrictJSON

// The bodies of the nonce endpoint, and of the endpoints that accept an identity token.

extension IdentityTokenRequest: RequestBody {
    static var schemaName: String { "IdentityTokenRequest" }

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        try self.init(&member, code: "Compared with `c_hash` of the token.")
    }

    /// Reads the members that both requests with an identity token share.
    ///
    /// - Parameter code: Describes the purpose of the authorization code.
    fileprivate init<C: RequestCourse>(_ member: inout C, code: String) throws(C.Failure) {
        self.init(
            identityToken: try member.required("identity_token", .identityToken),
            nonce: try member("nonce", .optionalText("The raw nonce, before the app hashed it.")),
            clientID: try member(
                "client_id", .optionalText("If present, the token must be for this client ID.")),
            authorizationCode: try member("authorization_code", .optionalText(code)),
            accessToken: try member(
                "access_token", .optionalText("Compared with `at_hash` of the token.")),
            evidence: AppEvidence(
                proof: try member(
                    "attestation",
                    .attestationProof("A proof of the genuine app. It vouches for the identity token.")
                ) { (value) throws(Problem) in PostedProof(value) },
                appVersion: try member(
                    "app_version", .optionalText("`CFBundleShortVersionString` of the app."))))
    }
}

extension SignInRequest: RequestBody {
    static var schemaName: String { "SignInRequest" }

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        self.init(
            token: try IdentityTokenRequest(
                &member,
                code:
                    "Stored encrypted, and later exchanged for a refresh token. It never delays the sign-in or "
                    + "makes it fail."),
            user: try member("user", .user) { (value) throws(Problem) in try UserProfile(posted: value) },
            createsAccount: try member(
                "create",
                [
                    "type": ["boolean", "null"], "default": true,
                    "description": "With true, an unknown user gets an account.",
                ]) ?? true)
    }
}

extension JSONSchema {
    fileprivate static var identityToken: JSONSchema {
        .component("IdentityToken") {
            [
                "type": "string", "minLength": 1, "maxLength": 16384, "pattern": #"^[^\x00]+$"#,
                "description": "Apple's token in compact serialization, at most 16 KiB.",
            ]
        }
    }

    static func attestationProof(_ text: String) -> JSONSchema {
        let proof = JSONSchema.component("AttestationProof") {
            .object(
                required: [],
                properties: [
                    ("key_id", ["type": "string", "description": "The ID of a registered key."]),
                    (
                        "assertion",
                        [
                            "type": "string",
                            "description": "The assertion of `generateAssertion`, in base64 with padding.",
                        ]
                    ),
                    (
                        "client_data",
                        [
                            "type": "string",
                            "description": """
                            The JSON text, at most 1,024 bytes, whose UTF-8 bytes were hashed for the assertion: \
                            an object with exactly `challenge` and `sha256`, the base64url of SHA-256 of what the \
                            proof vouches for.
                            """,
                        ]
                    ),
                ], components: []
            ).with(
                "A proof of App Attest. A proof in another form does not make the request malformed: the proof does not hold."
            )
        }
        return proof.orNull.with(JSONSchema(stringLiteral: text))
    }

    /// The schema of Apple's user object, or of its JSON text.
    fileprivate static var user: JSONSchema {
        let apple = JSONSchema.component("AppleUser") { appleUser }
        let text: JSONSchema = [
            "type": "string", "format": "apple-user", "contentMediaType": "application/json",
            "contentSchema": .object(apple.keywords),
        ]
        return .combined(
            "anyOf", [apple, text, ["type": "null"]],
            "Apple's object, or its JSON text, which Apple's form posts to a web page. An empty text is none."
        )
    }

    private static var appleUser: JSONSchema {
        let text = component("AppleUserText") {
            [
                "type": ["string", "null"],
                "description": "An empty string counts as absent. A name is cut to 256 characters.",
                "pattern": #"^[^\x00]*$"#,
            ]
        }
        let (part, any) = (JSONValue.object(text.keywords), JSONValue.object(anyValue.keywords))
        return JSONSchema(
            [
                ("type", "object"),
                (
                    "description",
                    """
                    Apple's object, which the app gets once. It is not signed. It may have more members. Other spellings of libraries are
                    accepted too: `fullName` in place of `name`, and `givenName`, `given_name`, `familyName`, `family_name`, also flat.
                    """
                ),
                (
                    "properties",
                    [
                        "name": [
                            "description":
                                "The user's name as the user edited it: its parts, or the whole name as one text.",
                            "type": ["object", "string", "null"],
                            "properties": ["firstName": part, "lastName": part], "propertyNames": anyName,
                            "additionalProperties": any,
                        ],
                        "email": part,
                    ]
                ),
                ("propertyNames", anyName), ("additionalProperties", any),
            ], components: text.components + anyValue.components)
    }

}

extension UserProfile {
    /// Reads the `user` member: Apple's object, or the JSON text that Apple's form sends to a web page.
    ///
    /// Returns `nil` for an empty string. Throws `member_malformed` for a malformed value, and
    /// `character_not_allowed` for a string with U+0000.
    init?(posted value: JSONValue) throws(Problem) {
        do throws(Fault) {
            switch value {
            case .object(let object): self = try UserProfile(object)
            case .string(let text) where text.isEmpty: return nil
            case .string(let text): self = try UserProfile(parsing: text)
            case .null, .bool, .integer, .number, .array: throw .malformed
            }
        } catch {
            switch error {
            case .malformed: throw Problem(.memberMalformed, subject: .member("user"))
            case .characterNotAllowed: throw Problem(.characterNotAllowed, subject: .member("user"))
            }
        }
    }

    /// Reads the `user` field of Apple's form. Apple sends the field once and does not sign it, and the
    /// user's browser posts it, so only the address in Apple's token is reliable: this initializer ignores
    /// the field's address. Drops a malformed field, because the sign-in is valid without it. Returns `nil`
    /// for an empty field.
    init?(unsigned text: String) {
        guard !text.isEmpty else { return nil }
        self = (try? UserProfile(parsing: text)) ?? .unreadable
        email = nil
    }
}

/// The response to a sign-in.
struct SignedIn: JSONBody {
    static var schemaName: String { "SignInOutcome" }
    let outcome: SignInOutcome
    /// Result of App Check; `nil` if App Check does not apply to the app.
    let app: AppCheckResult?

    @inline(__always)
    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("account") { $0.outcome.account }
        member("credential") { $0.outcome.credential }
        member("is_new_account", "True if this sign-in created the account.") { $0.outcome.isNewAccount }
        member("app_check") { $0.app }
        member("dropped", .dropped) { $0.outcome.dropped.unlessEmpty }
    }
}

extension HTTPResponse {
    /// Returns the response to a sign-in, with status 201 if the sign-in created the account.
    ///
    /// - Parameter app: Result of App Check; `nil` if App Check does not apply to the app.
    static func signedIn(_ outcome: SignInOutcome, app: AppCheckResult? = nil) -> HTTPResponse {
        .json(
            outcome.isNewAccount ? .created : .ok, SignedIn(outcome: outcome, app: app),
            reservingCapacity: 896)
    }

    static func json(
        _ status: HTTPResponseStatus, _ body: some JSONBody, reservingCapacity capacity: Int = 512
    ) -> HTTPResponse {
        .json(status, body.json(reservingCapacity: capacity))
    }
}

/// The response to a verification.
struct VerifiedToken: JSONBody {
    static var schemaName: String { "VerifiedIdentity" }
    let verified: VerifiedSignIn
    /// Result of App Check; `nil` if App Check does not apply to the app.
    let app: AppCheckResult?

    @inline(__always)
    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("identity") { $0.verified }
        member("app_check") { $0.app }
        member("dropped", .dropped) { $0.verified.identity.dropped.names.unlessEmpty }
    }
}

/// The token's claims, under Apple's names. Booleans are JSON booleans, and times are in RFC 3339 format.
extension VerifiedSignIn: JSONBody {
    public static var schemaName: String { "Identity" }
    public static var schemaText: String {
        "The claims of the token with Apple's names, and with JSON booleans."
    }

    @inline(__always)
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("iss", .nonEmpty("The issuer. Always Apple.")) { $0.identity.issuer }
        member("sub", AppleSubject.schema) { $0.identity.subject }
        member("aud", ClientID.schema) { $0.identity.clientID }
        member("team_id") { $0.app.team }
        member("client_id", "The app's primary client ID.") { $0.app.primaryClientID }
        member("iat", Moment.schema) { $0.identity.issuedAt.rfc3339 }
        member("exp", Moment.schema) { $0.identity.expiresAt.rfc3339 }
        member("auth_time", Moment.schema) { $0.identity.authenticatedAt?.rfc3339 }
        member("nonce", "The nonce of the request, as the token has it.") { $0.identity.nonce }
        member("nonce_supported", "True if the platform supports nonces.") { $0.identity.nonceSupported }
        member("c_hash", "The hash of the authorization code (OpenID Connect Core §3.3.2.11).") {
            $0.identity.codeHash
        }
        member("at_hash", "The hash of the access token (OpenID Connect Core §3.1.3.6).") {
            $0.identity.accessTokenHash
        }
        member("email", "The e-mail address or the private relay address.") { $0.identity.email }
        member("email_verified", "Apple has verified the address.") { $0.identity.emailVerified }
        member(
            "is_private_email",
            "Apple's claim. Without the claim, true if the address has one of Apple's relay domains."
        ) { $0.identity.isPrivateEmail }
        member("real_user_status", .realUserStatus) { $0.identity.realUserStatus }
        member("transfer_sub", "The user's transfer identifier, for 60 days after a transfer of the app.") {
            $0.identity.transferSubject
        }
        member("org_id", "The organization of a managed Apple Account.") { $0.identity.organizationID }
    }
}

extension NumericDate {
    /// The time in RFC 3339 format, in UTC.
    var rfc3339: String { Moment(seconds: secondsSince1970).rfc3339 }
}

extension MintedNonce: JSONBody {
    public static var schemaName: String { "Nonce" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("nonce", .nonEmpty("The raw nonce, which the backend posts with the token.")) { $0.nonce }
        member(
            "nonce_sha256",
            ["pattern": "^[0-9a-f]{64}$", "description": "The value for Apple in a native app."]
        ) { $0.nonceSHA256 }
        member("expires_at") { $0.expiresAt }
    }
}

/// The body of `POST /v1/web/results`.
struct WebCode: RequestBody {
    static var schemaName: String { "WebCode" }
    let code: String

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        code = try member.required("code", .text)
    }
}

/// The body of a notification from Apple. Ignores all members except `payload`, because Apple may add
/// members.
struct AppleNotification: RequestBody {
    static var schemaName: String { "AppleNotification" }
    static var schemaText: String { "It may have more members." }
    static var ignoresUnknownMembers: Bool { true }
    static var schemaDetail: JSONSchema { .openObject }
    let payload: String

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        payload = try member.required("payload", .text)
    }
}

extension JSONSchema {
    /// The schema of an object that Apple may add members to.
    fileprivate static var openObject: JSONSchema {
        JSONSchema(
            [("propertyNames", anyName), ("additionalProperties", .object(anyValue.keywords))],
            components: anyValue.components)
    }
}

extension NotificationReceipt: JSONBody {
    public static var schemaName: String { "NotificationReceipt" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("result", .notificationResult) { $0.word }
    }
}

extension JSONSchema {
    fileprivate static var notificationResult: JSONSchema {
        .component("NotificationResult") {
            .words(
                NotificationReceipt.allCases.map(\.word).reduce(into: []) { words, word in
                    if !words.contains(word) { words.append(word) }
                })
        }
    }
}
