import AuthorizationServer
import EventDelivery
import HTTPEngine
import OAuth
import SignIn
import StrictJSON

/// Endpoints that OAuth clients, resource servers and Google call.
extension Endpoint {
    static let introspectToken = Endpoint(
        "introspectToken", .post, "/oauth/introspect", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Report whether a token is active (RFC 7662).",
            text: """
                For backends with an API key (bearer, or HTTP Basic with the name of the key as user name) and for
                confidential clients (HTTP Basic, or `client_id` and `client_secret` in the form). A confidential
                client sees its own tokens only.
                """,
            security: [.apiKey, .apiKeyBasic, .clientBasic, .none],
            takes: .content(.introspectionRequest, example: ["token": "eyJhbGciOiJFUzI1NiJ9.e30.QUFB"]),
            returns: [
                .body(
                    200,
                    """
                    The claims of an active token. Otherwise `active` is false, also for tokens that the caller may not
                    see.
                    """, TokenDescription.self,
                    example: [
                        "active": true, "scope": "openid email", "client_id": "shop", "token_type": "Bearer",
                        "sub": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922",
                    ])
            ])
    ) { try $0.introspect($1) }

    static let issueTokens = Endpoint(
        "issueTokens", .post, "/oauth/token", of: \.oauth?.tokens, caller: .oauthClient, body: .oauthForm,
        errors: .oauth, priority: .ordinary, wait: .keys, fields: .oauth,
        Operation(
            .oauth,
            """
            Exchange a code, a refresh token, an identity token of Apple or an assertion of Google for tokens \
            (RFC 6749 §3.2).
            """,
            text: """
                A confidential client authenticates by HTTP Basic, or with `client_secret` in the form, never both
                (RFC 6749 §2.3). A public client sends `client_id` alone.
                """,
            security: [.clientBasic, .none],
            takes: .content(
                .tokenRequest,
                example: [
                    "grant_type": "authorization_code", "code": "siwa_ac_f0V2",
                    "redirect_uri": "https://shop.example.com/cb", "client_id": "shop",
                    "client_secret": "siwa_cs_abc",
                ]),
            returns: [
                .body(
                    200, "The tokens, or the response of streamlined linking.", TokenResponse.self,
                    example: [
                        "access_token": "eyJhbGciOiJFUzI1NiJ9.e30.QUFB", "token_type": "Bearer",
                        "expires_in": 3600, "refresh_token": "siwa_rt_AZ", "scope": "openid email",
                    ]),
                .shared(404, "AccountFound"),
            ])
    ) { try $0.issue($1) }

    static let authorizeDevice = Endpoint(
        "authorizeDevice", .post, "/oauth/device_authorization", of: \.oauth?.devices, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "A device without a browser asks for a user (RFC 8628 §3.1).",
            text: """
                For clients with `allow_device_grant`. The device shows `verification_uri` and `user_code`, and
                polls the token endpoint with `device_code`. At most 1,000 devices of a client and 10,000 in all
                wait for a user; beyond this the error is `temporarily_unavailable`.
                """,
            security: [.clientBasic, .none],
            takes: .content(.deviceRequest, example: ["client_id": "desktop", "scope": "openid email"]),
            returns: [
                .body(
                    200, "The codes.", DeviceResponse.self,
                    example: [
                        "device_code": "siwa_dc_AZ", "user_code": "BCDF-GHJK",
                        "verification_uri": "https://signin.example.com/oauth/device",
                        "verification_uri_complete":
                            "https://signin.example.com/oauth/device?user_code=BCDF-GHJK", "expires_in": 600,
                        "interval": 5,
                    ])
            ])
    ) { try $0.authorize($1) }

    /// Serves native clients that have no backend to call `mintNonce`. The endpoint stores nothing.
    static let mintClientNonce = Endpoint(
        "mintClientNonce", .post, "/oauth/nonce", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Mint a nonce for a native sign-in, for an app without a backend.",
            text: """
                For clients with `allow_native_sign_in`. The app gives `nonce_sha256` to Apple, and sends `nonce`
                with the identity token to the token endpoint. A nonce is valid for one sign-in within ten minutes.
                Nothing is stored before the nonce is used.
                """,
            security: [.clientBasic, .none],
            takes: .content(.nonceRequest, example: ["client_id": "phone"]),
            returns: [
                .body(
                    201, "The nonce.", ClientNonce.self,
                    example: [
                        "nonce": "siwa-nonce-AZ",
                        "nonce_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                        "expires_in": 600,
                    ])
            ])
    ) { try $0.mintNonce($1) }

    /// Serves native clients that have no backend to call `mintChallenge`. The endpoint stores nothing.
    static let mintClientChallenge = Endpoint(
        "mintClientChallenge", .post, "/oauth/app-attest/challenges", of: \.oauth?.tokens,
        caller: .oauthClient, body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Create a challenge of App Attest, for an app without a backend. Nothing is stored.",
            text: """
                For native clients whose `app_check` is `monitored` or `enforced`. A challenge is valid for 5
                minutes, one use, one purpose and the app of the client.
                """,
            security: [.clientBasic, .none],
            takes: .content(
                .clientChallengeRequest, example: ["client_id": "phone", "purpose": "assertion"]),
            returns: [
                .body(
                    201, "The challenge.", ClientChallenge.self,
                    example: ["challenge": "siwa-challenge-AZ", "expires_in": 300])
            ])
    ) { try $0.mintChallenge($1) }

    /// Serves native clients that have no backend to call `registerKey`.
    static let registerClientKey = Endpoint(
        "registerClientKey", .post, "/oauth/app-attest/keys", of: \.oauth?.tokens, caller: .oauthClient,
        body: .oauthForm, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Verify an attestation of App Attest and register its key, for an app without a backend.",
            text: """
                For the same clients. An address can send 300 attestations in a minute, and an app gets 6,000 new
                keys in a minute at each replica; further requests get `temporarily_unavailable` with `Retry-After`.
                An attestation that does not hold is `invalid_client` with its `cause`.
                """,
            security: [.clientBasic, .none],
            takes: .content(
                .clientKeyRequest,
                example: [
                    "client_id": "phone", "key_id": "xYtkGpAhqO0fdYrQdXDzaMhOcz5QWHKQzUvBRqSqqRo=",
                    "attestation": "o2NmbXRvYXBwbGUtYXBwYXR0ZXN0", "challenge": "siwa-challenge-AZ",
                ]),
            returns: [
                .body(200, "The key was registered before. It keeps its counter.", KeyRegistration.self),
                .body(201, "The key is registered.", KeyRegistration.self),
            ])
    ) { try $0.registerKey($1) }

    static let getUserInfo = Endpoint(
        "getUserInfo", .get, "/oauth/userinfo", of: \.oauth?.tokens, caller: .oauthClient, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers,
        .userInfo
    ) { try $0.userInfo($1) }

    /// Serves web pages that have an access token.
    static let postUserInfo = Endpoint(
        "postUserInfo", .post, "/oauth/userinfo", of: \.oauth?.tokens, caller: .oauthClient, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth, origins: .readers,
        .userInfo
    ) { try $0.userInfo($1) }

    static let revokeToken = Endpoint(
        "revokeToken", .post, "/oauth/revoke", of: \.oauth?.tokens, caller: .oauthClient, body: .oauthForm,
        errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "End a token and the tokens that belong to it (RFC 7009).",
            text: "The client authenticates as at the token endpoint.",
            security: [.clientBasic, .none],
            takes: .content(.revocationRequest, example: ["token": "siwa_rt_AZ", "client_id": "desktop"]),
            returns: [
                .body(
                    200, "The token is inactive, or the client has no such token.", .emptyObject, example: [:]
                )
            ])
    ) { try $0.revoke($1) }

    static let explainRevocation = Endpoint(
        "explainRevocation", .get, "/oauth/revoke", of: \.oauth?.tokens, caller: .anyone, body: .none,
        errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "Explains the revocation of a token.",
            returns: [
                .body(
                    400, "A revocation is a POST.", OAuthError.self,
                    example: [
                        "error": "invalid_request",
                        "error_description": "Send POST with the parameters token and client_id.",
                    ])
            ])
    ) { family, _ in try family.explainRevocation() }

    static let pollClientEvents = Endpoint(
        "pollClientEvents", .post, "/oauth/events/poll", of: \.oauth?.streams, caller: .oauthClient,
        body: .json, errors: .oauth, priority: .ordinary, wait: .longPoll(EventPolling.longestWait),
        fields: .oauth,
        Operation(
            .oauth, "Take security event tokens of the client's stream, and get the next ones (RFC 8936).",
            text: "For clients with `events` `poll` and a secret. The rules are those of `pollEvents`.",
            security: [.clientBasic],
            takes: .content(PollRequest.self, example: ["returnImmediately": true]),
            returns: [
                .body(
                    200, "The next tokens.", PollResponse.self,
                    example: Example.poll)
            ])
    ) { try $0.poll($1) }

    static let showEventStream = Endpoint(
        "showEventStream", .get, "/oauth/events/stream", of: \.oauth?.streams, caller: .oauthClient,
        body: .none, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth, "The client's event stream (OpenID Shared Signals Framework 1.0 §8.1.1.2).",
            text:
                "With `stream_id` the stream, and without it the list of the client's streams, which has one.",
            security: [.clientBasic],
            parameters: [
                .query(
                    "stream_id",
                    "The `stream_id` of the client's stream. Any other is 404 `stream_not_found`.", .text,
                    example: "client:shop")
            ],
            returns: [
                .body(
                    200, "The stream, or the list.", EventStream.responseSchema,
                    example: [
                        "stream_id": "client:shop", "iss": "https://accounts.example.com", "aud": "shop",
                        "delivery": [
                            "method": "urn:ietf:rfc:8936",
                            "endpoint_url": "https://accounts.example.com/oauth/events/poll",
                        ],
                        "events_supported": [
                            "https://schemas.openid.net/secevent/risc/event-type/account-purged"
                        ],
                        "events_requested": [
                            "https://schemas.openid.net/secevent/risc/event-type/account-purged"
                        ],
                        "events_delivered": [
                            "https://schemas.openid.net/secevent/risc/event-type/account-purged"
                        ], "min_verification_interval": 60,
                    ])
            ])
    ) { try $0.show($1) }

    static let verifyEventStream = Endpoint(
        "verifyEventStream", .post, "/oauth/events/verify", of: \.oauth?.streams, caller: .oauthClient,
        body: .json, errors: .oauth, priority: .ordinary, fields: .oauth,
        Operation(
            .oauth,
            "Ask for a verification event on the client's stream (OpenID Shared Signals Framework 1.0 §8.1.4.2).",
            text: "Once a minute; sooner it is 429 `verification_too_soon`. The event is sent once.",
            security: [.clientBasic],
            takes: .content(
                VerificationRequest.self,
                example: ["stream_id": "client:shop", "state": "VGhpcyBpcyBhbiBleGFtcGxl"]),
            returns: [
                .empty(204, "The event is sent with the next poll, or by push within seconds.")
            ])
    ) { try $0.verify($1) }
}
