import AppleAccounts
import AuthorizationServer
import EventDelivery
import HTTPEngine
import OAuth
import SignIn
import StrictJSON

/// Endpoints for backends that read and change accounts, their events and their grants.
extension Endpoint {
    static let listEvents = Endpoint(
        "listEvents", .get, "/v1/events", of: \.events, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary, wait: .longPoll(SignInUseCases.longestWait),
        Operation(
            .events, "Get account events in commit order, without gaps.",
            parameters: [
                .query(
                    "after",
                    """
                    The `cursor` of the previous page. Without it, the feed starts at the beginning. `latest` starts at
                    the end: the response is an empty page with the cursor for the next request, or with `wait` the next
                    events.
                    """, ["type": "string", "pattern": "^([0-9]{1,18}|latest)$"], example: "0"),
                .query(
                    "limit", "The largest number of events of a page.",
                    .number(1...Int64(SignInUseCases.largestEventPage), default: EventRoutes.defaultLimit),
                    example: 100),
                .query(
                    "wait", "The longest wait for an event when there is no event, in seconds.",
                    .number(0...SignInUseCases.longestWait.components.seconds, default: 0), example: 0),
            ],
            returns: [
                .body(
                    200, "A page. It can be empty even if more pages follow.", EventPage.self,
                    example: [
                        "events": [
                            [
                                "id": "evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10",
                                "type": "credential_revoked", "team_id": "A1B2C3D4E5",
                                "sub": "000317.d4f53f86755a4051a88a6d8526750e7f.1444",
                                "account_id": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922",
                                "client_id": "com.example.app", "reason": "consent_revoked",
                                "source": "notification", "occurred_at": "2026-11-21T02:31:10.622Z",
                                "recorded_at": "2026-11-21T02:31:22.101Z",
                            ]
                        ], "cursor": "17", "has_more": false,
                    ], links: ["next": "NextEvents"]),
                .problem(
                    409,
                    """
                    `cursor_ahead`: the cursor is past the end of the feed, because the database was restored from a
                    backup.
                    """),
            ],
            refuses: [400, 503])
    ) { try $0.page($1) }

    static let pollEvents = Endpoint(
        "pollEvents", .post, "/v1/event-receivers/{name}/poll", of: \.eventPolls, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, wait: .longPoll(EventPolling.longestWait),
        Operation(
            .events, "Take security event tokens, and get the next ones (RFC 8936).",
            text: """
                For receivers that the configuration binds to an API key. The path does not exist without such a
                receiver. A token that the receiver does not take comes again after a minute, and later at intervals
                that grow to an hour. A response has one token of an account at most: the next one follows when the
                receiver has taken it.
                """,
            parameters: [
                .path(
                    "name", "The name of the receiver in the configuration.",
                    ["type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[A-Za-z0-9._-]+$"],
                    example: "billing")
            ],
            takes: .content(
                PollRequest.self,
                example: [
                    "ack": ["evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10"], "maxEvents": 10,
                    "returnImmediately": true,
                ]),
            returns: [
                .body(
                    200,
                    """
                    The next tokens. Without one, the response comes after 30 seconds, unless `returnImmediately` is
                    true.
                    """, PollResponse.self,
                    example: Example.poll),
                .problem(404, "`receiver_not_found`: there is no such receiver for this API key."),
                .problem(
                    409,
                    "`receiver_paused`: the receiver took nothing for seven days. An operator resumes it."),
            ],
            refuses: [400, 503])
    ) { try $0.poll($1) }

    static let getAccount = Endpoint(
        "getAccount", .get, "/v1/accounts/{id}", of: \.accounts, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .accounts, "Get an account with its credentials.",
            parameters: [
                .account
            ],
            returns: [
                .shared(200, "Account")
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.byID($1) }

    static let findAccount = Endpoint(
        "findAccount", .get, "/v1/accounts", of: \.accounts, caller: .apiKey, body: .none, errors: .problem,
        priority: .ordinary,
        Operation(
            .accounts, "Get an account by Apple's user ID, or search accounts.",
            text: """
                With `sub`, which needs `client_id` and no other parameter, the response is one account. Without
                `sub` it is a page of the accounts that match all other parameters, the newest first. Only accounts
                and credentials that the API key may see count. At most one of `email`, `name` and `grant_id` is
                allowed. `state`, `reason`, `apple_token` and `client_id` must hold for one credential together.
                """,
            parameters: [
                .query(
                    "client_id", "Any client ID of the app. Required with `sub`.", .text,
                    example: "com.example.app"),
                .query(
                    "sub", "Apple's user ID. It has at most 255 characters; a longer user ID is not found.",
                    .text, example: "000317.d4f53f86755a4051a88a6d8526750e7f.1444"),
                .query(
                    "email",
                    "The whole e-mail address or private relay address, with ASCII letters in upper or lower case.",
                    ["type": "string", "minLength": 1, "maxLength": 520]),
                .query(
                    "name",
                    "The first name, the last name, or both with one space, with ASCII letters in upper or lower case.",
                    ["type": "string", "minLength": 1, "maxLength": 520]),
                .query(
                    "grant_id", "The `id` of a grant to an OAuth client.",
                    ["type": "string", "pattern": "^grt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"]),
                .query("state", "The state of a credential.", CredentialState.schema),
                .query("reason", "The reason of the state of a credential.", CredentialReason.schema),
                .query("disabled", "Accounts that are disabled, or are not.", ["type": "boolean"]),
                .query(
                    "linked", "Accounts with a grant to an OAuth client, or without any.", ["type": "boolean"]
                ),
                .query(
                    "apple_token", "Credentials with a refresh token of Apple's, or without one.",
                    ["type": "boolean"]),
                .query(
                    "created_after", "Accounts that were created after this moment (RFC 3339).",
                    ["type": "string", "format": "date-time"]),
                .query(
                    "after", "The `cursor` of the previous page of the same search.",
                    [
                        "type": "string",
                        "pattern": "^(a[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|r(0|[1-9][0-9]{0,17}))$",
                    ]),
                .query(
                    "limit", "The largest number of accounts of a page.",
                    .number(
                        1...Int64(SignInUseCases.largestAccountPage), default: AccountSearchQuery.defaultLimit
                    )),
            ],
            returns: [
                .body(
                    200, "The account, with the credentials that the caller may see, or a page of accounts.",
                    .combined("oneOf", [Account.schema, AccountPage.schema]), example: Example.account)
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.find($1) }

    static let listAccountEvents = Endpoint(
        "listAccountEvents", .get, "/v1/accounts/{id}/events", of: \.accounts, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .events, "Get the events of one account in commit order, also of an erased account.",
            parameters: [
                .account,
                .query(
                    "after",
                    "The `cursor` of the previous page. Without it, the first event of the account comes first.",
                    ["type": "string", "pattern": "^[0-9]{1,18}$"], example: "0"),
                .query(
                    "limit", "The largest number of events of a page.",
                    .number(1...Int64(SignInUseCases.largestEventPage), default: EventRoutes.defaultLimit),
                    example: 100),
            ],
            returns: [
                .body(200, "A page.", EventPage.self)
            ],
            refuses: [400, 404, 503])
    ) { try $0.events($1) }

    static let eraseAccount = Endpoint(
        "eraseAccount", .delete, "/v1/accounts/{id}", of: \.erasures, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary, wait: .atMost(SignInUseCases.longestErasureWait),
        Operation(
            .accounts, "Erase an account and revoke its tokens at Apple.",
            text: """
                All personal data is deleted before the response. Every stored token is revoked at Apple, and the
                revocation is proven by a refresh that Apple must refuse. A repeated request gets the same erasure.
                An API key that is limited to apps can erase an account only if it may see all its credentials.
                """,
            parameters: [
                .account
            ],
            returns: [
                .body(
                    200, "The erasure is complete.", ErasureResponse.self,
                    example: Example.erasure, links: ["erasure": "ReportOfErasure"]),
                .body(
                    202, "Requests to Apple are still needed. The current report is at `Location`.",
                    ErasureResponse.self,
                    headers: [
                        "Location": [
                            "description": "`/v1/erasures/{id}`", "required": true,
                            "schema": [
                                "type": "string", "format": "uri-reference", "pattern": "^/v1/erasures/era_",
                            ],
                        ]
                    ], links: ["erasure": "ReportOfErasure"]),
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.erase($1) }

    static let disableAccount = Endpoint(
        "disableAccount", .post, "/v1/accounts/{id}/disable", of: \.accountChanges, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary,
        Operation(
            .accounts, "Disable an account. Its user cannot sign in, and its OAuth tokens are suspended.",
            text: """
                Nothing is deleted. A repeated request with other values replaces them. An API key that is limited
                to apps can disable an account only if it may see all its credentials.
                """,
            parameters: [
                .account
            ],
            takes: .content(
                DisablingRequest.self, example: ["reason": "security", "until": "2099-11-28T00:00:00.000Z"]),
            returns: [
                .shared(200, "Account"),
                .problem(409, "`disabling_over`: `until` is not in the future."),
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.disable($1) }

    /// The call needs no request body.
    static let enableAccount = Endpoint(
        "enableAccount", .post, "/v1/accounts/{id}/enable", of: \.accountChanges, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary,
        Operation(
            .accounts, "Enable an account. An account that is not disabled stays as it is.",
            text:
                "An API key that is limited to apps can enable an account only if it may see all its credentials.",
            parameters: [
                .account
            ],
            returns: [
                .shared(200, "Account")
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.enable($1) }

    static let signOutAccount = Endpoint(
        "signOutAccount", .post, "/v1/accounts/{id}/sign-out", of: \.accountChanges, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary,
        Operation(
            .accounts, "Sign a user out everywhere.",
            text: """
                Ends the user's grants with all of their tokens, except grants of Google, and the sessions of
                browsers at `/oauth/authorize`. Apple's authorization stays. An API key that is limited to apps can
                sign a user out only if it may see all credentials of the account.
                """,
            parameters: [
                .account
            ],
            takes: .content(SignOutRequest.self, example: ["google": false]),
            returns: [
                .shared(200, "Account")
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.signOut($1) }

    static let getErasure = Endpoint(
        "getErasure", .get, "/v1/erasures/{id}", of: \.erasures, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary,
        Operation(
            .accounts, "Get the report of an erasure.",
            parameters: [
                .path(
                    "id", "The `id` of an erasure.", ErasureID.schema,
                    example: "era_01a1fca4-861b-7ad2-b0d1-5950c0d5ea9c")
            ],
            returns: [
                .body(
                    200, "The report.", ErasureResponse.self,
                    example: Example.erasure)
            ],
            refuses: [400, 404, 503])
    ) { try $0.report($1) }

    static let answerAppFlip = Endpoint(
        "answerAppFlip", .post, "/v1/oauth/app-flip", of: \.oauth?.grants, caller: .apiKey, body: .json,
        errors: .problem, priority: .ordinary, wait: .keys, fields: .oauth,
        Operation(
            .grants, "Convert a user's decision in the app to the URL that returns to Google.",
            takes: .content(
                AppFlipBody.self,
                example: [
                    "client_id": "google",
                    "redirect_uri": "https://oauth-redirect.googleusercontent.com/a/com.google.OPA",
                    "state": "af0ifjsldkj", "scope": "openid devices", "decision": "granted",
                    "identity_token":
                        "eyJraWQiOiJBQkNERUZHSElKIiwiYWxnIjoiUlMyNTYifQ.eyJpc3MiOiJodHRwczovL2FwcGxlaWQuYXBwbGUuY29tIn0.QUFB",
                ]),
            returns: [
                .body(
                    200, "The app opens `redirect_to` unchanged.", AppFlipResponse.self,
                    example: [
                        "redirect_to":
                            "https://oauth-redirect.googleusercontent.com/a/com.google.OPA?code=siwa_ac_f0V2&state=af0ifjsldkj",
                        "outcome": "code", "message": "Your account is being linked.",
                    ])
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.appFlip($1) }

    static let promptAppFlip = Endpoint(
        "promptAppFlip", .post, "/v1/oauth/app-flip/prompt", of: \.oauth?.grants, caller: .apiKey,
        body: .json, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .grants,
            "Get the contents of the app's own sheet for Google's universal link, or the URL that returns to Google.",
            text:
                "Makes the decisions of `POST /v1/oauth/app-flip` before the user is asked. Nothing is stored.",
            takes: .content(
                AppFlipPromptBody.self,
                example: [
                    "client_id": "google",
                    "redirect_uri": "https://oauth-redirect.googleusercontent.com/a/com.google.OPA",
                    "state": "af0ifjsldkj", "scope": "openid devices",
                    "account_id": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922",
                ]),
            returns: [
                .body(
                    200, "The app shows `prompt`, or opens `redirect_to` without asking.", AppFlipPrompt.self,
                    example: [
                        "outcome": "invalid_request",
                        "redirect_to":
                            "https://oauth-redirect.googleusercontent.com/a/com.google.OPA?error=invalid_request&state=af0ifjsldkj",
                        "message": "The app cannot answer this request.", "sign_in_again": false,
                    ])
            ],
            refuses: [400, 403, 404, 503])
    ) { try $0.appFlipPrompt($1) }

    static let listGrants = Endpoint(
        "listGrants", .get, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey, body: .none,
        errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .grants, "List the grants of a user to OAuth clients.",
            parameters: [
                .account
            ],
            returns: [
                .body(
                    200, "The grants for the apps that the API key may see.", Grants.self,
                    example: [
                        "grants": [
                            [
                                "id": "grt_01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b",
                                "account_id": "acc_01a1fbea-fd31-77cb-bae8-b913bd619922",
                                "client_id": "google", "client_name": "Google", "app": "com.example.app",
                                "scope": "openid devices", "google_account_known": false,
                                "created_at": "2026-11-21T02:24:03.889Z",
                                "consented_at": "2026-11-21T02:24:03.889Z", "last_used_on": "2026-11-24",
                            ]
                        ]
                    ])
            ],
            refuses: [400, 404, 503])
    ) { try $0.list($1) }

    static let endGrants = Endpoint(
        "endGrants", .delete, "/v1/accounts/{id}/grants", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .grants, "End all grants of a user with all of their tokens.",
            text: "Ends the grants for the apps that the API key may see, in one transaction.",
            parameters: [
                .account
            ],
            returns: [
                .empty(204, "No grant is left for these apps, also if there was none.")
            ],
            refuses: [400, 404, 503])
    ) { try $0.endAll($1) }

    static let endGrant = Endpoint(
        "endGrant", .delete, "/v1/accounts/{id}/grants/{grant_id}", of: \.oauth?.grants, caller: .apiKey,
        body: .none, errors: .problem, priority: .ordinary, fields: .oauth,
        Operation(
            .grants, "End a grant with all of its tokens. The user has unlinked in the app.",
            parameters: [
                .account,
                .grant,
            ],
            returns: [
                .empty(204, "The grant has ended, and its tokens are inactive.")
            ],
            refuses: [400, 404, 503])
    ) { try $0.end($1) }

    static let receiveGoogleEvent = Endpoint(
        "receiveGoogleEvent", .post, "/v1/google/security-events", of: \.oauth?.grants, caller: .oauthClient,
        body: .securityEventToken, errors: .problem, priority: .notification, wait: .keys, fields: .oauth,
        Operation(
            .grants, "Receives Google's security event tokens. They are durable before the response.",
            takes: .content(
                .text,
                example:
                    "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20vIn0.QUFB"
            ),
            returns: [
                .empty(202, "The event is stored, or was stored before."),
                .body(
                    400, "The token is refused (RFC 8935 §2.4).", SecurityEventError.self,
                    example: [
                        "err": "invalid_key",
                        "description": "The signature is not by a current key of the issuer.",
                    ]),
            ],
            refuses: [404, 503])
    ) { try $0.receiveEvent($1) }
}
