import AppleAccounts
import AuthorizationServer
import EventDelivery
import HTTPEngine
import OAuth
import SignIn
import StrictJSON

/// Endpoints for sign-in: the token, credential and App Attest endpoints that backends call, the notification
/// endpoint that Apple calls, and the endpoints of the web sign-in flow.
extension Endpoint {
    static let verifyIdentityToken = Endpoint(
        "verifyIdentityToken", .post, "/v1/identity-tokens/verify", of: \.tokens, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, wait: .keys,
        Operation(
            .tokens, "Verify an identity token. Nothing is stored.",
            takes: .content(
                IdentityTokenRequest.self,
                example: [
                    "identity_token":
                        "eyJraWQiOiJBQkNERUZHSElKIiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.QUFB",
                    "nonce":
                        "siwa-nonce-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq",
                ]),
            returns: [
                .body(
                    200, "The token is valid.", VerifiedToken.self,
                    example: [
                        "identity": [
                            "iss": "https://appleid.apple.com",
                            "sub": "000317.d4f53f86755a4051a88a6d8526750e7f.1444", "aud": "com.example.app",
                            "team_id": "A1B2C3D4E5", "client_id": "com.example.app",
                            "iat": "2026-11-21T02:24:03.000Z", "exp": "2026-11-22T02:24:03.000Z",
                            "auth_time": "2026-11-21T02:24:03.000Z",
                            "email": "vwjnku38yv@privaterelay.appleid.com", "email_verified": true,
                            "is_private_email": true, "nonce_supported": true, "real_user_status": 2,
                        ]
                    ])
            ],
            refuses: [400, 401, 403, 503])
    ) { try $0.verify($1) }

    static let signIn = Endpoint(
        "signIn", .post, "/v1/sign-ins", of: \.tokens, caller: .apiKey, body: .json, errors: .problem,
        priority: .ordinary, wait: .keys,
        Operation(
            .tokens,
            "Verify an identity token and sign the user in. The result is durable before the response.",
            takes: .content(
                SignInRequest.self,
                example: [
                    "identity_token":
                        "eyJraWQiOiJBQkNERUZHSElKIiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.QUFB",
                    "nonce":
                        "siwa-nonce-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq",
                    "authorization_code": "c4fbd1a7f0a1b4e3c9d2b7a5e6f8d9c0b.0.rtux.Gm6Lr3gUeNq1",
                    "user": [
                        "name": ["firstName": "Ada", "lastName": "Lovelace"], "email": "ada@example.com",
                    ],
                ]),
            returns: [
                .body(
                    200, "The user already has an account.", SignedIn.self,
                    links: [
                        "account": "AccountOfSignIn", "credential": "CredentialOfSignIn",
                        "erasure": "ErasureOfSignIn",
                    ]),
                .body(
                    201, "The sign-in created the account.", SignedIn.self,
                    example: [
                        "account": Example.account, "credential": Example.credential, "is_new_account": true,
                    ],
                    links: [
                        "account": "AccountOfSignIn", "credential": "CredentialOfSignIn",
                        "erasure": "ErasureOfSignIn",
                    ]),
                .problem(
                    403,
                    """
                    `credential_revoked`: the token is not newer than the last revocation; `account_disabled`: the
                    account is disabled here; or `caller_forbidden`.
                    """),
                .problem(404, "`account_not_found`: `create` is false, and the user has no account."),
            ],
            refuses: [400, 401, 503])
    ) { try $0.signIn($1) }

    static let getCredential = Endpoint(
        "getCredential", .get, "/v1/credentials/{sub}", of: \.credentials, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .credentials,
            "Get the state of a user's credential for an app. `notFound` is a state, not an error.",
            parameters: [
                .path(
                    "sub", "Apple's user ID.", .text, example: "000317.d4f53f86755a4051a88a6d8526750e7f.1444"),
                .clientID,
                .header(
                    "If-None-Match", "The `ETag` of an earlier response.", ["type": "string"],
                    example: #""0h3k9x2m5v7q1""#),
            ],
            returns: [
                .body(
                    200, "The credential.", Credential.self, example: Example.credential,
                    headers: [
                        "ETag": [
                            "description": "Changes exactly when the response changes.", "required": true,
                            "schema": ["type": "string", "pattern": #"^"[0-9a-v]{13}"$"#],
                        ]
                    ]),
                .empty(
                    304, "Not modified.", headers: ["ETag": ["required": true, "schema": ["type": "string"]]]),
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.one($1) }

    static let queryCredentials = Endpoint(
        "queryCredentials", .post, "/v1/credentials/query", of: \.credentials, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary,
        Operation(
            .credentials, "Get the states of many credentials, in the order of the request.",
            takes: .content(
                CredentialQuery.self,
                example: [
                    "client_id": "com.example.app",
                    "subs": [
                        "000317.d4f53f86755a4051a88a6d8526750e7f.1444",
                        "000317.0c1d2e3f405162738495a6b7c8d9eaf0.0815",
                    ],
                ]),
            returns: [
                .body(
                    200, "One credential for each `sub`.", CredentialList.self,
                    example: [
                        "credentials": [
                            [
                                "sub": "000317.d4f53f86755a4051a88a6d8526750e7f.1444",
                                "client_id": "com.example.app", "state": "authorized", "reason": "signed_in",
                                "source": "sign_in", "since": "2026-11-21T02:24:03.000Z",
                            ],
                            [
                                "sub": "000317.0c1d2e3f405162738495a6b7c8d9eaf0.0815",
                                "client_id": "com.example.app", "state": "notFound",
                            ],
                        ]
                    ])
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.many($1) }

    /// The call needs no request body.
    static let mintNonce = Endpoint(
        "mintNonce", .post, "/v1/nonces", of: \.tokens, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary,
        Operation(
            .tokens, "Create a nonce for one sign-in.",
            returns: [
                .body(
                    201, "The nonce, and its digest for native apps.", MintedNonce.self,
                    example: [
                        "nonce":
                            "siwa-nonce-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq",
                        "nonce_sha256": "96c1dadc1b0346920a071ce292d4d13e66d44f5f2cbb856426c05873bb098d7e",
                        "expires_at": "2026-11-21T02:34:03.889Z",
                    ])
            ],
            refuses: [503])
    ) { try $0.mintNonce($1) }

    static let mintChallenge = Endpoint(
        "mintChallenge", .post, "/v1/app-attest/challenges", of: \.appAttest, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary,
        Operation(
            .appCheck,
            "Create a challenge for one attestation or one assertion of App Attest. Nothing is stored.",
            takes: .content(
                ChallengeRequest.self, example: ["purpose": "assertion", "client_id": "com.example.app"]),
            returns: [
                .body(
                    201, "The challenge. It is valid for 5 minutes and for one use.", AppAttestChallenge.self,
                    example: [
                        "challenge":
                            "siwa-challenge-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq",
                        "expires_at": "2026-11-21T02:29:03.889Z",
                    ])
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.mintChallenge($1) }

    static let registerKey = Endpoint(
        "registerKey", .post, "/v1/app-attest/keys", of: \.appAttest, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary,
        Operation(
            .appCheck, "Verify an attestation of App Attest, and register its key.",
            text: """
                A repetition changes nothing and returns the registered key, also with the same challenge: a known
                key keeps its counter. The challenge is used up whatever the result is, unless it has expired or is
                not for this app.
                """,
            takes: .content(
                KeyRegistrationRequest.self,
                example: [
                    "attestation": "o2NmbXRvYXBwbGUtYXBwYXR0ZXN0",
                    "key_id": "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo=",
                    "challenge":
                        "siwa-challenge-AaIE9cBpEJ4QyVgxsoEen0hAacJrqu8IAUg9F5Z8axEKKBeuhBeqyIFFpOthcm9r8a6T9Ovq",
                    "client_id": "com.example.app",
                ]),
            returns: [
                .body(200, "The key was registered before.", KeyRegistration.self),
                .body(
                    201, "The key is registered.", KeyRegistration.self,
                    example: [
                        "key": [
                            "key_id": "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo=",
                            "client_id": "com.example.app", "team_id": "A1B2C3D4E5",
                            "environment": "production", "created_at": "2026-11-21T02:24:03.889Z",
                        ], "is_new_key": true,
                    ]),
            ],
            refuses: [400, 401, 403, 404, 503])
    ) { try $0.registerKey($1) }

    /// The path contains the key ID in base64url, because base64 can contain slashes.
    static let getAttestedKey = Endpoint(
        "getAttestedKey", .get, "/v1/app-attest/keys/{key_id}", of: \.appAttest, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary,
        Operation(
            .appCheck, "Show a key of App Attest, with its counter and its risk metric.",
            parameters: [
                .path(
                    "key_id",
                    """
                    The ID of the key in base64url without padding, or in base64 as the device has it, with `/` as
                    `%2F`.
                    """, .text, example: "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo")
            ],
            returns: [
                .body(
                    200, "The key. The metric decides nothing.", StoredKeyResponse.self,
                    example: [
                        "key": [
                            "key_id": "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo=",
                            "client_id": "com.example.app", "team_id": "A1B2C3D4E5",
                            "environment": "production", "created_at": "2026-11-21T02:24:03.889Z",
                            "counter": 12, "used_at": "2026-11-22T08:00:12.001Z", "validation_category": 4,
                            "bundle_version": "42", "risk_metric": 2,
                        ]
                    ])
            ],
            refuses: [400, 404, 503])
    ) { try $0.showKey($1) }

    static let getAppCheck = Endpoint(
        "getAppCheck", .get, "/v1/apps/{client_id}/app-check", of: \.appCheck, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .appCheck, "Show the counts of App Check of an app and of its OAuth clients, by hour for 7 days.",
            parameters: [
                .path("client_id", "A client ID of the app.", .text, example: "com.example.app")
            ],
            returns: [
                .body(
                    200, "The counts of all replicas. They are up to 15 seconds old.", AppCheckReport.self,
                    example: [
                        "app": "com.example.app",
                        "targets": [
                            [
                                "kind": "app", "bundle_id": "com.example.app", "app_check": "monitored",
                                "environment": "production", "first_attesting_version": "4.2",
                                "total": [
                                    "verified": 812, "outdated_app": 31, "unknown_origin": 2, "invalid": 0,
                                ],
                                "hours": [
                                    [
                                        "begins_at": "2026-11-24T20:00:00.000Z", "verified": 812,
                                        "outdated_app": 31, "unknown_origin": 2, "invalid": 0,
                                    ]
                                ],
                            ]
                        ],
                        "clients": [
                            [
                                "kind": "client_id", "client_id": "com.example.app", "app_check": "monitored",
                                "declared_app_check": "monitored", "basis": "own",
                            ],
                            [
                                "kind": "oauth_client", "client_id": "phone", "app_check": "monitored",
                                "declared_app_check": "off", "basis": "bundle_id",
                            ],
                        ],
                    ])
            ],
            refuses: [400, 404, 503])
    ) { try $0.show($1) }

    static let receiveAppleNotification = Endpoint(
        "receiveAppleNotification", .post, "/v1/apple/notifications", of: \.notifications, caller: .anyone,
        body: .json, errors: .problem, priority: .notification, wait: .keys,
        Operation(
            .apple, "Receives Apple's server-to-server notifications. They are durable before the response.",
            takes: .content(
                AppleNotification.self,
                example: [
                    "payload":
                        "eyJraWQiOiJBQkNERUZHSElKIiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.QUFB"
                ]),
            returns: [
                .body(
                    200, "The notification is stored, or was stored before.", NotificationReceipt.self,
                    example: ["result": "applied"]),
                .problem(401, "The notification is not signed by Apple for this service."),
            ],
            refuses: [400, 503])
    ) { try $0.receive($1) }

    static let beginWebSignIn = Endpoint(
        "beginWebSignIn", .get, "/v1/web/sign-in", of: \.web, caller: .anyone, body: .none, errors: .problem,
        priority: .ordinary,
        Operation(
            .web, "Start a sign-in in a browser. Link to this path.",
            parameters: [
                .query(
                    "client_id", "A Services ID with a redirect URL. Optional when there is only one.", .text,
                    example: "com.example.app"),
                .query(
                    "state", "A value of the calling page, at most 512 bytes. It is returned unchanged.",
                    ["type": "string", "minLength": 1, "maxLength": 512, "pattern": #"^[^\x00]+$"#],
                    example: "a5c1f0e2"),
                .query(
                    "scope", "",
                    [
                        "type": "string", "enum": ["name", "email", "name email", "email name"],
                        "default": "name email",
                    ], example: "name email"),
            ],
            returns: [
                .shared(303, "Redirect")
            ],
            refuses: [400, 404])
    ) { try $0.begin($1) }

    /// Accepts Apple's form, which comes from Apple's origin. Its state binds the form to the browser.
    static let receiveWebCallback = Endpoint(
        "receiveWebCallback", .post, "/v1/web/callback", of: \.web, caller: .anyone, body: .form,
        errors: .pageForBrowsers, priority: .ordinary, wait: .keys, fields: .browser, origins: .others,
        Operation(
            .web, "Receives the form of Apple's page. Register this path at Apple as a return URL.",
            takes: .content(
                .appleForm, example: ["state": "AQEGZGV2ZWxvcG1lbnQ", "error": "user_cancelled_authorize"]),
            returns: [
                .shared(303, "Redirect"),
                .shared(400, "Page"),
            ])
    ) { $0.callback($1) }

    static let finishWebSignIn = Endpoint(
        "finishWebSignIn", .get, "/v1/web/finish", of: \.web, caller: .anyone, body: .none,
        errors: .pageForBrowsers, priority: .ordinary, fields: .browser,
        Operation(
            .web, "Checks that the browser began the sign-in, and redirects it to the app's page.",
            text: """
                The page gets `code` and `state`, or `error`, `error_description` and `state`. `error` is Apple's
                error code (`user_cancelled_authorize`), or `invalid_identity_token`, `sign_in_refused`,
                `temporarily_unavailable` or `invalid_request`. In the latter cases `error_description` is a problem
                code of this interface.
                """,
            parameters: [
                .query(
                    "ticket",
                    """
                    From the callback's redirect. Valid for a short time, and only in the browser that began the
                    sign-in.
                    """, .text, example: "AQEGZGV2ZWxvcG1lbnQ", isRequired: true)
            ],
            returns: [
                .shared(303, "Redirect"),
                .shared(400, "Page"),
            ])
    ) { $0.finish($1) }

    static let redeemWebCode = Endpoint(
        "redeemWebCode", .post, "/v1/web/results", of: \.web, caller: .apiKey, body: .json, errors: .problem,
        priority: .ordinary,
        Operation(
            .web,
            "Exchange the code from the redirect for the result of the sign-in. Once, within two minutes.",
            takes: .content(WebCode.self, example: ["code": "Zk3vTq8mWc5yRb1nXe7hLgPq2sUd4fJ6kM9oA0iBtCw"]),
            returns: [
                .body(200, "The user already has an account.", SignedIn.self),
                .body(201, "The sign-in created the account.", SignedIn.self),
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.redeem($1) }
}
