import AppleAccounts
import AuthorizationServer
import OAuth
import StrictJSON

/// A response that several calls share.
struct SharedResponse: Sendable {
    let name: String
    let text: String
    let headers: KeyValuePairs<String, JSONValue>
    let content: [Content]

    enum Content: Sendable {
        case json(JSONSchema, example: JSONValue? = nil)
        case problem(JSONValue? = nil)
        case html
    }

    init(
        _ name: String, _ text: String, headers: KeyValuePairs<String, JSONValue> = [:],
        content: [Content] = []
    ) {
        (self.name, self.text, self.headers, self.content) = (name, text, headers, content)
    }

    private static func header(_ name: String) -> JSONValue {
        ["$ref": .string("#/components/headers/\(name)")]
    }

    static let securitySchemes: JSONValue = [
        "apiKey": [
            "type": "http", "scheme": "bearer",
            "description": "A configured API key. It can be limited to apps.",
        ],
        "apiKeyBasic": [
            "type": "http", "scheme": "basic",
            "description": "A configured API key as the password, with its name as the user name.",
        ],
        "clientBasic": [
            "type": "http", "scheme": "basic",
            "description": """
            The `client_id` and the secret of a confidential OAuth client, each form-encoded first (RFC 6749
            §2.3.1). The alternative is `client_id` and `client_secret` in the form.
            """,
        ],
        "accessToken": [
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "An access token of this service with the scope `openid` (RFC 6750 §2.1).",
        ],
    ]

    static let headers: JSONValue = [
        "RequestID": [
            "description": "The ID of the request in the response, in the problem and in the log.",
            "required": true, "schema": ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"],
        ],
        "APIVersion": [
            "description":
                "The version of the interface. A client that knows another version logs a warning.",
            "required": true, "schema": ["type": "string", "const": .string(APIVersion.number)],
        ],
        "RetryAfter": [
            "description": "Seconds to wait before a retry (RFC 9110 §10.2.3).", "required": true,
            "schema": ["type": "integer", "minimum": 1],
        ],
        "WWWAuthenticate": [
            "description":
                "The authentication scheme. Present with `caller_unauthenticated`, not with refused tokens.",
            "schema": ["type": "string", "pattern": "^Bearer"],
        ],
        "Allow": [
            "description": "The methods of the resource. Present with 405.", "schema": ["type": "string"],
        ],
    ]

    static let links: JSONValue = [
        "AccountOfSignIn": ["operationId": "getAccount", "parameters": ["id": "$response.body#/account/id"]],
        "CredentialOfSignIn": [
            "operationId": "getCredential",
            "parameters": [
                "sub": "$response.body#/account/sub", "client_id": "$response.body#/credential/client_id",
            ],
        ],
        "ErasureOfSignIn": [
            "operationId": "eraseAccount", "parameters": ["id": "$response.body#/account/id"],
        ],
        "ReportOfErasure": ["operationId": "getErasure", "parameters": ["id": "$response.body#/erasure/id"]],
        "NextEvents": [
            "operationId": "listEvents", "parameters": ["after": "$response.body#/cursor"],
            "description": "The next page.",
        ],
    ]

    static let responses: [SharedResponse] = [
        SharedResponse(
            "BadRequest",
            """
            The request is malformed. `member` or `parameter` names the wrong member or parameter, if a single
            member or parameter is wrong.
            """,
            content: [
                .problem([
                    "type": "urn:siwa:problem:member_missing", "title": "Member missing", "status": 400,
                    "code": "member_missing", "detail": "The body lacks a member that this request requires.",
                    "member": "identity_token", "request_id": "7f4m1eqgrg9uf",
                ])
            ]),
        SharedResponse(
            "Unauthorized",
            "The token is refused, or the caller is not authenticated (`caller_unauthenticated`).",
            headers: ["WWW-Authenticate": header("WWWAuthenticate")],
            content: [
                .problem([
                    "type": "urn:siwa:problem:token_expired", "title": "Token expired", "status": 401,
                    "code": "token_expired", "detail": "The token is past its exp.",
                    "request_id": "7f4m1eqgrg9uf",
                ])
            ]),
        SharedResponse(
            "Forbidden", "The API key is limited to other apps (`caller_forbidden`).", content: [.problem()]),
        SharedResponse(
            "NotFound", "There is no such resource, or no app with this client ID (`client_id_unknown`).",
            content: [.problem()]),
        SharedResponse(
            "Unavailable",
            """
            `storage_unavailable`, `keys_unavailable` or `overloaded`; at `/readyz` also `stopping`; where
            events are polled also `signing_keys_shut`. The request may have been executed. It can be sent
            again.
            """, headers: ["Retry-After": header("RetryAfter")], content: [.problem()]),
        SharedResponse(
            "Problem", "Another error (RFC 9457).",
            headers: ["Allow": header("Allow"), "WWW-Authenticate": header("WWWAuthenticate")],
            content: [.problem()]),
        SharedResponse(
            "OAuthError",
            "An error of OAuth (RFC 6749 §5.2, RFC 6750 §3), or a problem when no OAuth client is configured.",
            headers: [
                "Allow": header("Allow"),
                "Retry-After": [
                    "description": """
                    Seconds to wait before a retry (RFC 9110 §10.2.3). Present with 503, and after too many wrong
                    secrets.
                    """, "schema": ["type": "integer", "minimum": 1],
                ],
                "WWW-Authenticate": [
                    "description":
                        "The authentication scheme. Present with 401 when the client used HTTP Basic, and at userinfo.",
                    "schema": ["type": "string", "pattern": "^(Basic|Bearer)"],
                ],
            ], content: [.json(OAuthError.schema), .problem()]),
        SharedResponse(
            "TokenRefused",
            "The access token is not valid. Without an access token the object is empty (RFC 6750 §3.1).",
            headers: ["WWW-Authenticate": ["schema": ["type": "string", "pattern": "^Bearer"]]],
            content: [
                .json(.combined("anyOf", [OAuthError.schema, ["type": "object", "maxProperties": 0]]))
            ]),
        SharedResponse(
            "AccountFound",
            "Streamlined linking, intent `check`, or a problem when no OAuth client is configured.",
            content: [.json(TokenResponse.schema), .problem()]),
        SharedResponse(
            "Account", "The account, with the credentials that the caller may see.",
            content: [.json(Account.schema, example: Example.account)]),
        SharedResponse(
            "Redirect", "Redirects the browser.",
            headers: [
                "Location": [
                    "required": true,
                    "schema": ["type": "string", "format": "uri-reference", "minLength": 1],
                ],
                "Set-Cookie": [
                    "description": "Identifies the browser that began the sign-in.",
                    "schema": ["type": "string"],
                ],
            ]),
        SharedResponse(
            "Page", "An error page, when the browser cannot be redirected to the app.", content: [.html]),
        SharedResponse(
            "AuthorizeError", "An error page, or a problem when no OAuth client is configured.",
            headers: [
                "Allow": header("Allow"),
                "Retry-After": [
                    "description": "Seconds to wait before a retry (RFC 9110 §10.2.3). Present with 503.",
                    "schema": ["type": "integer", "minimum": 1],
                ],
            ], content: [.html, .problem()]),
        SharedResponse(
            "ConsentPage", "The page that asks the user for consent.",
            headers: [
                "Content-Security-Policy": [
                    "description": "Its `form-action` names the target of this request's redirect.",
                    "schema": ["type": "string"],
                ],
                "Set-Cookie": ["description": "The session, when it changes.", "schema": ["type": "string"]],
            ], content: [.html]),
        SharedResponse(
            "LogoutPage", "The page that asks the user, or says whether the user is signed out.",
            headers: [
                "Content-Security-Policy": [
                    "description":
                        "Its `form-action` allows this service and the redirect URI of the request.",
                    "schema": ["type": "string"],
                ]
            ], content: [.html]),
        SharedResponse(
            "DevicePage", "A page for the user of a device.",
            headers: [
                "Content-Security-Policy": [
                    "description": "Its `form-action` allows this service alone, or nothing.",
                    "schema": ["type": "string"],
                ],
                "Retry-After": [
                    "description": "Seconds to wait after too many wrong codes. Present with 429.",
                    "schema": ["type": "integer", "minimum": 1],
                ],
            ], content: [.html]),
        SharedResponse(
            "ConnectionsPage", "The page about the clients that have access, or the choice of an app.",
            headers: [
                "Content-Security-Policy": [
                    "description": "Its `form-action` allows this service alone.",
                    "schema": ["type": "string"],
                ]
            ], content: [.html]),
    ]
}
