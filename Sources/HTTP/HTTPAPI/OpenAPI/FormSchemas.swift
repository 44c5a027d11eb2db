import AuthorizationServer
import StrictJSON

// The forms that browsers and OAuth clients send.
extension JSONSchema {
    static var logoutForm: JSONSchema {
        .component("LogoutForm") {
            .strings(
                """
                The parameters of a client, or the form of the page: `csrf_token` and `decision`. A form with both
                is refused.
                """,
                [
                    ("id_token_hint", "As in the query."),
                    ("client_id", .length(0...128, "As in the query.")),
                    ("post_logout_redirect_uri", .length(0...2048, "As in the query.")),
                    ("state", .length(0...4096, "As in the query.")),
                    ("ui_locales", "As in the query."),
                    ("csrf_token", "Proves that the form belongs to this session and this request."),
                    ("decision", "The button of the page: `sign_out` or `stay`."),
                ])
        }
    }

    static var connectionsForm: JSONSchema {
        .component("ConnectionsForm") {
            .strings(
                "The form of the page about connected clients.",
                [
                    ("csrf_token", "The token of this session and grant."),
                    ("grant", "The `id` of the grant."),
                ])
        }
    }

    static var consentForm: JSONSchema {
        .component("ConsentForm") {
            .strings(
                "",
                [
                    ("csrf_token", "The value from the page. It belongs to the session and to the request."),
                    ("decision", "`agree` or `cancel`"),
                ]
            ).with([
                "additionalProperties": [
                    "description": "`scope:NAME` for each scope whose checkbox is ticked.", "type": "string",
                ]
            ])
        }
    }

    static var appleForm: JSONSchema {
        .component("AppleForm") {
            .strings(
                "The form that Apple's page posts. It may have more fields.", required: ["state"],
                [
                    ("state", .text),
                    ("code", .text),
                    ("id_token", .text),
                    (
                        "user",
                        [
                            "allOf": [["$ref": "#/components/schemas/Text"]],
                            "description": "Apple's JSON object. Only at the first authorization.",
                        ]
                    ),
                    (
                        "error",
                        [
                            "description": "Apple's error code, instead of `code` and `id_token`.",
                            "allOf": [["$ref": "#/components/schemas/Text"]],
                            "examples": ["user_cancelled_authorize"],
                        ]
                    ),
                ])
        }
    }

    static var tokenRequest: JSONSchema {
        .component("TokenRequest") {
            .strings(
                """
                An access token request (RFC 6749 §4.1.3), a refresh request (§6), an identity token of Apple (RFC
                8693 §2.1), or an assertion of Google (RFC 7523 §2.1). Unknown parameters are ignored. An empty
                parameter is the same as an absent parameter (§3.2).
                """, required: ["grant_type"],
                [
                    (
                        "grant_type",
                        .length(
                            1...128,
                            GrantType.all.map { "`\($0.name)` for \($0.clients)" }.joined(separator: ", ")
                                + ".")
                    ),
                    ("code", .length(0...512, "The authorization code.")),
                    ("redirect_uri", .length(0...2048, "As in the authorization request.")),
                    (
                        "code_verifier",
                        .length(0...128, "The verifier of the request's `code_challenge` (RFC 7636 §4.5).")
                    ),
                    ("refresh_token", .length(0...512, "The refresh token of the last response.")),
                    ("assertion", .length(0...8192, "Google's ID token (streamlined linking).")),
                    ("subject_token", .length(0...8192, "Apple's identity token (token exchange).")),
                    (
                        "subject_token_type",
                        .length(0...128, "`urn:ietf:params:oauth:token-type:id_token` (token exchange).")
                    ),
                    (
                        "requested_token_type",
                        .length(
                            0...128,
                            "`urn:ietf:params:oauth:token-type:access_token`, if present (token exchange).")
                    ),
                    (
                        "audience",
                        .length(
                            0...512,
                            "The client's `audience` (token exchange). Any other value is `invalid_target`.")
                    ),
                    ("device_code", .length(0...512, "The device code (RFC 8628 §3.4).")),
                    (
                        "nonce",
                        .length(
                            0...512,
                            "The nonce of `/oauth/nonce` or `/v1/nonces` whose digest is in the identity token (token exchange)."
                        )
                    ),
                    (
                        "authorization_code",
                        .length(
                            0...1024, "Apple's code, which came with the identity token (token exchange).")
                    ),
                    (
                        "user",
                        .length(
                            0...4096,
                            "Apple's object with the name of the user, as JSON text (token exchange).")
                    ),
                    ("intent", .length(0...128, "`check`, `get` or `create` (streamlined linking).")),
                    (
                        "scope",
                        .length(
                            0...2048,
                            """
                            In a refresh, a part of the granted scope (RFC 6749 §6). In a token exchange, some scopes of the
                            client; all without it.
                            """)
                    ),
                    (
                        "resource",
                        .length(
                            0...512,
                            "The client's `audience` (RFC 8707). Any other value is `invalid_target`.")
                    ),
                    (
                        "client_id",
                        .length(0...128, "The client, where it does not authenticate by HTTP Basic.")
                    ),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a confidential client (RFC 6749 §2.3.1).")
                    ),
                    (
                        "attestation_key_id",
                        .length(
                            0...64,
                            "The ID of the key of App Attest. The three parameters vouch for all other parameters."
                        )
                    ),
                    ("attestation_assertion", .length(0...8192, "The assertion of App Attest, in base64.")),
                    (
                        "attestation_client_data",
                        .length(
                            0...1024,
                            "The client data of the assertion: the JSON text whose bytes were hashed.")
                    ),
                    ("app_version", .length(0...64, "`CFBundleShortVersionString` of the app.")),
                ])
        }
    }

    static var deviceRequest: JSONSchema {
        .component("DeviceRequest") {
            .strings(
                "A device authorization request (RFC 8628 §3.1). Unknown parameters are ignored.",
                [
                    (
                        "client_id",
                        .length(
                            1...128,
                            "A client with `allow_device_grant`, where it does not authenticate by HTTP Basic."
                        )
                    ),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a client that has one (RFC 6749 §2.3.1).")
                    ),
                    (
                        "scope",
                        .length(0...2048, "Some scopes of the client; all without it. Space-separated.")
                    ),
                    (
                        "resource",
                        .length(
                            0...512,
                            "The client's `audience` (RFC 8707). Any other value is `invalid_target`.")
                    ),
                ])
        }
    }

    static var nonceRequest: JSONSchema {
        .component("NonceRequest") {
            .strings(
                "A request for a nonce. Unknown parameters are ignored.", required: ["client_id"],
                [
                    ("client_id", .length(1...128, "A native client with `allow_native_sign_in`.")),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a client that has one (RFC 6749 §2.3.1).")
                    ),
                ])
        }
    }

    static var clientChallengeRequest: JSONSchema {
        .component("ClientChallengeRequest") {
            .strings(
                "A request for a challenge of App Attest. Unknown parameters are ignored.",
                required: ["client_id", "purpose"],
                [
                    ("client_id", .length(1...128, "A native client whose `app_check` is not `off`.")),
                    (
                        "purpose",
                        [
                            "pattern": "^(attestation|assertion)$",
                            "description":
                                "`attestation` or `assertion`. The challenge is valid for no other purpose.",
                        ]
                    ),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a client that has one (RFC 6749 §2.3.1).")
                    ),
                ])
        }
    }

    static var clientKeyRequest: JSONSchema {
        .component("ClientKeyRequest") {
            .strings(
                "An attestation of App Attest. Unknown parameters are ignored.",
                required: ["client_id", "key_id", "attestation", "challenge"],
                [
                    ("client_id", .length(1...128, "A native client whose `app_check` is not `off`.")),
                    ("key_id", .length(1...64, "The text that `generateKey` returned.")),
                    (
                        "attestation",
                        .length(1...12288, "The attestation object of `attestKey`, in base64 with padding.")
                    ),
                    (
                        "challenge",
                        .length(1...1024, "The challenge. `clientDataHash` was SHA-256 of its UTF-8 bytes.")
                    ),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a client that has one (RFC 6749 §2.3.1).")
                    ),
                ])
        }
    }

    static var revocationRequest: JSONSchema {
        .component("RevocationRequest") {
            .strings(
                "A revocation request (RFC 7009 §2.1). Unknown parameters are ignored.", required: ["token"],
                [
                    ("token", .nonEmpty("An access token or a refresh token.")),
                    ("token_type_hint", "`access_token` or `refresh_token`. Others are ignored."),
                    (
                        "client_id",
                        .length(0...128, "The client, where it does not authenticate by HTTP Basic.")
                    ),
                    (
                        "client_secret",
                        .length(0...255, "The secret of a confidential client (RFC 6749 §2.3.1).")
                    ),
                ])
        }
    }

    static var introspectionRequest: JSONSchema {
        .component("IntrospectionRequest") {
            .strings(
                "An introspection request (RFC 7662 §2.1). Unknown parameters are ignored.",
                required: ["token"],
                [
                    ("token", .nonEmpty("An access token or a refresh token.")),
                    ("token_type_hint", "`access_token` or `refresh_token`. Others are ignored."),
                    (
                        "client_id",
                        "The confidential client, where it does not authenticate by HTTP Basic. Absent with an API key."
                    ),
                    ("client_secret", "The secret of the client (RFC 6749 §2.3.1)."),
                ])
        }
    }
}
