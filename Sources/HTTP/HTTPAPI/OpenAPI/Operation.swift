import AppleAccounts
import OAuth
import StrictJSON

/// An endpoint's texts, parameters, bodies and responses, for the OpenAPI document. `Endpoint` contains the
/// endpoint's other properties.
struct Operation: Sendable {
    let tag: Tag
    let summary: String
    let text: String
    /// Security schemes for callers without an API key. If empty, `Endpoint.caller` determines the scheme.
    let security: [SecurityScheme]
    let parameters: [Parameter]
    let takes: Content?
    let returns: [Response]
    /// Status codes of refusals that have a shared response.
    let refuses: [Int]

    init(
        _ tag: Tag, _ summary: String, text: String = "", security: [SecurityScheme] = [],
        parameters: [Parameter] = [], takes: Content? = nil, returns: [Response] = [], refuses: [Int] = []
    ) {
        (self.tag, self.summary, self.text, self.security) = (tag, summary, text, security)
        (self.parameters, self.takes, self.returns, self.refuses) = (parameters, takes, returns, refuses)
    }

    enum Tag: String, Sendable, CaseIterable {
        case tokens, accounts, credentials
        case appCheck = "app-check"
        case events, web, apple, grants, oauth, operations

        var text: String {
            switch self {
            case .tokens: "Requests with a token, and nonces."
            case .accounts: "Accounts, by Apple's user ID or by account ID, and their erasure."
            case .credentials: "The state of a user's authorization of an app."
            case .appCheck: "Proofs of App Attest that a request comes from the genuine app."
            case .events: "Changes of accounts, in commit order."
            case .web: "Sign-in in a browser. The paths do not exist when web sign-in is not configured."
            case .apple: "Requests from Apple."
            case .grants:
                "Grants of users to OAuth clients. The paths do not exist when no OAuth client is configured."
            case .oauth:
                """
                The authorization server (OAuth 2.0, OpenID Connect). Errors are in the form of RFC 6749 and not
                problems. Unknown parameters are ignored. The paths do not exist when no OAuth client is configured.
                """
            case .operations: "Health, metrics and this document."
            }
        }
    }

    enum SecurityScheme: String, Sendable {
        case apiKey, apiKeyBasic, clientBasic, accessToken
        /// The call also accepts requests without credentials.
        case none
    }

    struct Parameter: Sendable {
        enum Place: String, Sendable { case path, query, header }

        let place: Place
        let name: String
        let text: String
        let schema: JSONSchema
        let example: JSONValue?
        let isRequired: Bool
        /// True if the parameter belongs to the path item instead of each operation.
        var isOfPath = false

        static func path(
            _ name: String, _ text: String, _ schema: JSONSchema, example: JSONValue
        ) -> Parameter {
            Parameter(
                place: .path, name: name, text: text, schema: schema, example: example, isRequired: true)
        }

        static func query(
            _ name: String, _ text: String, _ schema: JSONSchema, example: JSONValue? = nil,
            isRequired: Bool = false
        ) -> Parameter {
            Parameter(
                place: .query, name: name, text: text, schema: schema, example: example,
                isRequired: isRequired)
        }

        static func header(
            _ name: String, _ text: String, _ schema: JSONSchema, example: JSONValue
        ) -> Parameter {
            Parameter(
                place: .header, name: name, text: text, schema: schema, example: example, isRequired: false)
        }
    }

    /// The content of a request or response body.
    struct Content: Sendable {
        let schema: JSONSchema
        /// The media type; `nil` for the media type of `Endpoint.body`.
        let mediaType: String?
        let example: JSONValue?

        static func content(_ body: (some RequestBody).Type, example: JSONValue) -> Content {
            Content(schema: body.schema, mediaType: nil, example: example)
        }

        static func content(_ schema: JSONSchema, example: JSONValue) -> Content {
            Content(schema: schema, mediaType: nil, example: example)
        }
    }

    struct Response: Sendable {
        let status: Int
        var text = ""
        /// Name of the shared response.
        var shared: String?
        var content: Content?
        var headers: [(String, JSONValue)] = []
        /// Names of the links, each with the name of its component.
        var links: [(String, String)] = []

        static func body(
            _ status: Int, _ text: String, _ body: (some JSONBody).Type, example: JSONValue? = nil,
            headers: KeyValuePairs<String, JSONValue> = [:], links: KeyValuePairs<String, String> = [:]
        ) -> Response {
            .body(status, text, body.schema, example: example, headers: headers, links: links)
        }

        static func body(
            _ status: Int, _ text: String, _ schema: JSONSchema, as mediaType: String = "application/json",
            example: JSONValue? = nil, headers: KeyValuePairs<String, JSONValue> = [:],
            links: KeyValuePairs<String, String> = [:]
        ) -> Response {
            Response(
                status: status, text: text,
                content: Content(schema: schema, mediaType: mediaType, example: example),
                headers: headers.map { ($0.key, $0.value) }, links: links.map { ($0.key, $0.value) })
        }

        static func empty(
            _ status: Int, _ text: String, headers: KeyValuePairs<String, JSONValue> = [:]
        ) -> Response {
            Response(status: status, text: text, headers: headers.map { ($0.key, $0.value) })
        }

        static func problem(_ status: Int, _ text: String) -> Response {
            .body(status, text, ProblemBody.schema, as: "application/problem+json")
        }

        static func shared(_ status: Int, _ name: String) -> Response {
            Response(status: status, shared: name)
        }
    }
}

extension JSONSchema {
    static func number(_ bound: ClosedRange<Int64>, default standard: Int64) -> JSONSchema {
        Int64.schema.with(.within(bound)).with(["default": .integer(standard)])
    }
}

extension Operation.Parameter {
    /// The `{id}` parameter of all paths below an account.
    static var account: Operation.Parameter {
        var parameter = path(
            "id", "The `id` of an account.", AccountID.schema,
            example: "acc_01a1fbea-fd31-77cb-bae8-b913bd619922")
        parameter.isOfPath = true
        return parameter
    }

    static var clientID: Operation.Parameter {
        query(
            "client_id", "Any client ID of the app. The response has the primary client ID.", .text,
            example: "com.example.app", isRequired: true)
    }

    static var grant: Operation.Parameter {
        var parameter = path(
            "grant_id", "The `id` of a grant.", GrantID.schema,
            example: "grt_01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b")
        parameter.isOfPath = true
        return parameter
    }
}

/// Example values that several calls share.
enum Example {
    static let account: JSONValue = [
        "id": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922", "team_id": "A1B2C3D4E5",
        "sub": "000317.d4f53f86755a4051a88a6d8526750e7f.1444",
        "email": "vwjnku38yv@privaterelay.appleid.com", "email_verified": true, "is_private_email": true,
        "email_forwarding": "unknown", "first_name": "Ada", "last_name": "Lovelace", "real_user_status": 2,
        "created_at": "2026-11-21T02:24:03.889Z", "last_sign_in_at": "2026-11-21T02:24:03.889Z",
        "credentials": [credential],
    ]

    static let credential: JSONValue = [
        "client_id": "com.example.app", "state": "authorized", "reason": "signed_in", "source": "sign_in",
        "since": "2026-11-21T02:24:03.000Z", "refresh_token": "pending",
    ]

    static let poll: JSONValue = [
        "sets": [
            "evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a11":
                "eyJ0eXAiOiJzZWNldmVudCtqd3QifQ.e30.QUFB"
        ], "moreAvailable": false,
    ]

    static let erasure: JSONValue = [
        "erasure": [
            "id": "era_01a1fca4-861b-7ad2-b0d1-5950c0d5ea9c",
            "account_id": "acc_01a1fca4-5699-766a-893b-c1a151389af8", "state": "completed",
            "requested_at": "2026-11-21T05:46:43.099Z",
            "finished_at": "2026-11-21T05:46:43.115Z", "personal_data": "erased",
            "tokens": [
                [
                    "client_id": "com.example.app", "outcome": "revoked_and_proven",
                    "attempts": 1,
                ]
            ], "user_must_revoke": false,
        ]
    ]
}

// Responses that two calls share.
extension Operation.Response {
    static let keySet = Operation.Response.body(
        200, "The key set.", JWKSet.self,
        example: [
            "keys": [
                [
                    "kty": "EC", "kid": "1", "use": "sig", "alg": "ES256", "crv": "P-256",
                    "x": "AA", "y": "AA",
                ]
            ]
        ])

    static let metadata = Operation.Response.body(
        200, "The metadata.", ServerMetadata.self,
        example: [
            "issuer": "https://accounts.example.com",
            "authorization_endpoint": "https://accounts.example.com/oauth/authorize",
            "token_endpoint": "https://accounts.example.com/oauth/token",
            "jwks_uri": "https://accounts.example.com/oauth/jwks.json",
            "response_types_supported": ["code"],
        ])
}

extension Operation {
    /// The UserInfo endpoint. GET and POST have the same description.
    static let userInfo = Operation(
        .oauth, "The claims that the scope of an access token allows (OpenID Connect Core §5.3).",
        security: [.accessToken],
        returns: [
            .body(
                200, "The claims.", UserInfoResponse.self,
                example: [
                    "sub": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922", "email": "ada@example.com",
                    "email_verified": true,
                ]),
            .shared(401, "TokenRefused"),
        ])
}
