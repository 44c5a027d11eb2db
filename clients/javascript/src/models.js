// The models of siwa's responses. scripts/client-models makes this file from docs/openapi.yaml.
// Texts with known values can get further values without a new version.

/**
 * Known values.
 * @typedef {"signed_in" | "consent_revoked" | "apple_account_deleted" | "refresh_token_rejected" | "erased" |
 * (string & {})} CredentialReason
 */

/**
 * Known values.
 * @typedef {"sign_in" | "notification" | "daily_check" | "erasure" | (string & {})} CredentialSource
 */

/**
 * Known values. The values of `getCredentialState`. The user may stay signed in only with `authorized`.
 * @typedef {"authorized" | "revoked" | "notFound" | (string & {})} CredentialState
 */

/**
 * Known values. `abuse`: the user broke the rules of the app; `security`: another person may use the account;
 * `requested`: the user asked for it.
 * @typedef {"abuse" | "fraud" | "security" | "payment" | "legal" | "requested" | "other" | (string & {})}
 * DisablingReason
 */

/**
 * Known values. Apple's forwarding of e-mail from the relay address.
 * @typedef {"enabled" | "disabled" | "unknown" | (string & {})} EmailForwarding
 */

/**
 * Known values.
 * @typedef {"pending" | "revoked_and_proven" | "not_revoked" | (string & {})} ErasureOutcome
 */

/**
 * Known values.
 * @typedef {"in_progress" | "completed" | (string & {})} ErasureState
 */

/**
 * Known values.
 * @typedef {"account_created" | "credential_authorized" | "credential_revoked" | "email_changed" |
 * "email_forwarding_changed" | "profile_changed" | "account_deleted" | "account_erased" | "account_transferred" |
 * "grant_created" | "grant_revoked" | "account_disabled" | "account_enabled" | "sessions_ended" | "token_revoked"
 * | (string & {})} EventType
 */

/**
 * Known values.
 * @typedef {"unlinked" | "client_revoked" | "token_reused" | "replaced" | "google_revoked" | "consent_revoked" |
 * "apple_account_deleted" | "erased" | "signed_out" | (string & {})} GrantEndReason
 */

/**
 * Known values. The reason why there is no refresh token. Only with `unavailable`.
 * @typedef {"no_sealing_key" | "no_signing_key" | "code_rejected" | "code_expired" | "exchange_uncertain" |
 * "client_rejected" | "identity_mismatch" | "rejected" | "credential_revoked" | "transferred" |
 * "sealed_unreadable" | (string & {})} RefreshTokenCause
 */

/**
 * Known values. Absent when no authorization code was ever posted.
 * @typedef {"held" | "pending" | "unavailable" | (string & {})} RefreshTokenState
 */

/**
 * Known values. The reason why the revocation of a token is not proven, or why there was no token: a cause of
 * `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these values.
 * @typedef {"still_valid" | "no_token" | "unreachable" | "circuit_open" | "timed_out" | "connection_lost" |
 * "answer_unusable" | "server_failed" | "throttled" | "signing_failed" | "invalid_client" | "invalid_grant" |
 * "invalid_request" | "unauthorized_client" | "unsupported_grant_type" | "invalid_scope" | (string & {})}
 * RevocationCause
 */

/**
 * See Account in siwa's OpenAPI document.
 * @typedef {object} Account
 * @property {string} id Opaque and stable.
 * @property {string} team_id An Apple developer team.
 * @property {string} sub `sub`: Apple's user ID for one team. It is compared as bytes.
 * @property {EmailForwarding} email_forwarding Apple's forwarding of e-mail from the relay address.
 * @property {Date} created_at RFC 3339 in UTC, always with milliseconds.
 * @property {Credential[]} credentials One credential for each app that the caller may see.
 * @property {string} [email] The e-mail address or the private relay address.
 * @property {boolean} [email_verified] Apple has verified the address.
 * @property {boolean} [is_private_email] Absent when it is not known.
 * @property {string} [first_name] The first name that the app posted at the first sign-in.
 * @property {string} [last_name] The last name that the app posted at the first sign-in.
 * @property {number} [real_user_status] 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers.
 * @property {Disabled} [disabled] Present only while the account is disabled.
 * @property {Date} [sessions_ended_at] Time at which the user was last signed out everywhere. Absent when never.
 * @property {Date} [last_sign_in_at] Time of the last sign-in to one of the apps that the caller may see.
 */

/**
 * See AccountPage in siwa's OpenAPI document.
 * @typedef {object} AccountPage
 * @property {Account[]} accounts The newest first. Can be empty although more accounts match.
 * @property {boolean} has_more True if there is a next page.
 * @property {string} [cursor] The `after` of the next page. Absent on the last page.
 */

/**
 * Result of judging the app. Absent where App Check is off.
 * @typedef {object} AppCheckResult
 * @property {string} kind The kind of the request.
 * @property {string} [cause] Reason why the proof does not hold, with `invalid`.
 * @property {number} [validation_category] `apple_validation_category_01` of iOS 27 and later.
 * @property {string} [bundle_version] `apple_bundle_version_01` of iOS 27 and later.
 */

/**
 * The texts of the consent page as plain text, in the order in which they are shown.
 * @typedef {object} AppFlipPrompt
 * @property {string} language The language of all texts (BCP 47).
 * @property {string} direction `ltr` or `rtl`.
 * @property {string} title The heading of the sheet.
 * @property {string[]} purpose Paragraphs below the heading.
 * @property {string} scopes_title The heading of the list of scopes.
 * @property {AppFlipPromptScope[]} scopes The scopes of the link, in its order.
 * @property {AppFlipPromptNote[]} notes Sentences below the scopes: the authorization, Google's privacy policy,
 * where to unlink.
 * @property {string} agree The label of the button for the decision `granted`.
 * @property {string} cancel The label of the button for the decision `denied`.
 * @property {AppFlipPromptAccount} [account] The account that is signed in. Absent without `account_id`.
 * @property {string} [optional_scopes_note] Present if the user can leave out some of the scopes: says how.
 */

/**
 * The account that is signed in. Absent without `account_id`.
 * @typedef {object} AppFlipPromptAccount
 * @property {string} label "Signed in as", in the language of the sheet.
 * @property {string} title The name, or the address of a user without a name.
 * @property {string} [subtitle] The address of a user who has a name.
 */

/**
 * A link to a page of Google.
 * @typedef {object} AppFlipPromptLink
 * @property {string} text The part of the sentence that is the link.
 * @property {string} url The target.
 */

/**
 * A sentence, with at most one link in it.
 * @typedef {object} AppFlipPromptNote
 * @property {string} text The sentence. It contains the text of the link.
 * @property {AppFlipPromptLink} [link] A link to a page of Google.
 */

/**
 * The contents of the sheet (`prompt`), or the URL that leads back to Google (`redirect_to`), never both.
 * @typedef {object} AppFlipPromptResponse
 * @property {string} outcome `prompt` when the app asks the user; otherwise the cause for which it does not.
 * @property {AppFlipPrompt} [prompt] The texts of the consent page as plain text, in the order in which they are
 * shown.
 * @property {string} [redirect_to] Open this URL unchanged.
 * @property {string} [message] A sentence for the user, with `redirect_to`.
 * @property {string} [detail] With `invalid_request`: the fault of the link, for the developer.
 * @property {boolean} [sign_in_again] With `redirect_to`: true if the user can be linked after a new sign-in with
 * Apple in the app.
 */

/**
 * A scope that the link requests.
 * @typedef {object} AppFlipPromptScope
 * @property {string} scope The name, for `granted_scopes`.
 * @property {string} text What the scope allows.
 * @property {boolean} optional The user can leave the scope out.
 * @property {string} [detail] For `email`: the address that is shared.
 */

/**
 * The URL that leads back to Google, and what the app can tell the user.
 * @typedef {object} AppFlipResponse
 * @property {string} redirect_to Open this URL unchanged.
 * @property {string} outcome `code` when Google gets an authorization code; otherwise the cause.
 * @property {string} message A sentence for the user. In English it is also the `error_description` of
 * `redirect_to`.
 * @property {string} [detail] With `invalid_request`: the fault of the request, for the developer.
 * @property {string} [code] The authorization code, for an Android app: only with a redirect URI of the project.
 */

/**
 * A key of App Attest.
 * @typedef {object} AttestedKey
 * @property {string} key_id The ID of the key in base64.
 * @property {string} client_id The bundle ID of the app that owns the key.
 * @property {string} team_id The team of the app.
 * @property {string} environment The environment of the attestation.
 * @property {Date} created_at RFC 3339 in UTC, always with milliseconds.
 * @property {number} [validation_category] `apple_validation_category_01` of iOS 27 and later, in this
 * attestation.
 * @property {string} [bundle_version] `apple_bundle_version_01` of iOS 27 and later, in this attestation.
 */

/**
 * See Challenge in siwa's OpenAPI document.
 * @typedef {object} Challenge
 * @property {string} challenge The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing.
 * @property {Date} expires_at RFC 3339 in UTC, always with milliseconds.
 */

/**
 * See Credential in siwa's OpenAPI document.
 * @typedef {object} Credential
 * @property {string} client_id The app's primary client ID.
 * @property {CredentialState} state The values of `getCredentialState`. The user may stay signed in only with
 * `authorized`.
 * @property {CredentialReason} [reason]
 * @property {CredentialSource} [source]
 * @property {Date} [since] RFC 3339 in UTC, always with milliseconds.
 * @property {RefreshTokenState} [refresh_token] Absent when no authorization code was ever posted.
 * @property {RefreshTokenCause} [refresh_token_cause] The reason why there is no refresh token. Only with
 * `unavailable`.
 * @property {boolean} [account_disabled] The account is disabled here, whatever the state at Apple. Absent
 * otherwise.
 */

/**
 * See CredentialList in siwa's OpenAPI document.
 * @typedef {object} CredentialList
 * @property {CredentialOfSubject[]} credentials In the order of the query.
 */

/**
 * See CredentialOfSubject in siwa's OpenAPI document.
 * @typedef {object} CredentialOfSubject
 * @property {string} client_id The app's primary client ID.
 * @property {CredentialState} state The values of `getCredentialState`. The user may stay signed in only with
 * `authorized`.
 * @property {string} sub The `sub` of the request.
 * @property {CredentialReason} [reason]
 * @property {CredentialSource} [source]
 * @property {Date} [since] RFC 3339 in UTC, always with milliseconds.
 * @property {RefreshTokenState} [refresh_token] Absent when no authorization code was ever posted.
 * @property {RefreshTokenCause} [refresh_token_cause] The reason why there is no refresh token. Only with
 * `unavailable`.
 * @property {boolean} [account_disabled] The account is disabled here, whatever the state at Apple. Absent
 * otherwise.
 */

/**
 * Present only while the account is disabled.
 * @typedef {object} Disabled
 * @property {DisablingReason} reason `abuse`: the user broke the rules of the app; `security`: another person may
 * use the account; `requested`: the user asked for it.
 * @property {Date} since By this service's clock.
 * @property {Date} [until] Time from which the account is enabled again. Absent without an end.
 */

/**
 * See ErasedToken in siwa's OpenAPI document.
 * @typedef {object} ErasedToken
 * @property {string} client_id The client ID to which the token was issued.
 * @property {ErasureOutcome} outcome
 * @property {number} attempts Number of requests to Apple.
 * @property {RevocationCause} [cause] The reason why the revocation of a token is not proven, or why there was no
 * token: a cause of `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one
 * of these values.
 */

/**
 * See Erasure in siwa's OpenAPI document.
 * @typedef {object} Erasure
 * @property {string} id
 * @property {string} account_id Opaque and stable.
 * @property {ErasureState} state
 * @property {Date} requested_at RFC 3339 in UTC, always with milliseconds.
 * @property {string} personal_data Always `erased`: the data is deleted before the first response.
 * @property {ErasedToken[]} tokens The Apple tokens that are revoked.
 * @property {boolean} user_must_revoke True if Apple did not accept a revocation: the user must revoke the
 * authorization in Apple's settings.
 * @property {Date} [finished_at] RFC 3339 in UTC, always with milliseconds.
 * @property {ManualRevocation[]} [user_must_revoke_at] The apps that the user must remove.
 * @property {string} [instructions] Instructions for a user who must revoke the authorization at Apple.
 */

/**
 * See ErasureResponse in siwa's OpenAPI document.
 * @typedef {object} ErasureResponse
 * @property {Erasure} erasure
 */

/**
 * See Event in siwa's OpenAPI document.
 * @typedef {object} Event
 * @property {string} id Stays the same when the event is read again.
 * @property {EventType} type
 * @property {string} team_id An Apple developer team.
 * @property {Date} occurred_at By Apple's clock.
 * @property {Date} recorded_at By this service's clock.
 * @property {string} [sub] Absent for an erased account.
 * @property {string} [account_id] Opaque and stable.
 * @property {string} [client_id] A bundle ID or a Services ID.
 * @property {string} [reason] With `grant_revoked` and `token_revoked`, the reason of the grant.
 * @property {CredentialSource} [source]
 * @property {GrantOfEvent} [grant] The OAuth grant that was created or has ended. Only with `grant_created`,
 * `grant_revoked` and `token_revoked`.
 */

/**
 * See EventPage in siwa's OpenAPI document.
 * @typedef {object} EventPage
 * @property {Event[]} events In commit order.
 * @property {string} cursor The `after` of the next page.
 * @property {boolean} has_more True if another page can be read at once.
 */

/**
 * The security event of Google that ended the grant.
 * @typedef {object} GoogleEvent
 * @property {string} type The last part of the event's URI.
 * @property {string} [reason] Google's reason. Absent when Google gave no reason, or an unknown one.
 */

/**
 * See Grant in siwa's OpenAPI document.
 * @typedef {object} Grant
 * @property {string} id
 * @property {string} account_id Opaque and stable.
 * @property {string} client_id The OAuth client, by the ID in its configuration.
 * @property {string} app The primary client ID of the app.
 * @property {string} scope All scopes that the user has agreed to, separated by spaces.
 * @property {boolean} google_account_known True if the `sub` of the Google account is known, as after streamlined
 * linking. Google's events about the account end only grants with true.
 * @property {Date} created_at RFC 3339 in UTC, always with milliseconds.
 * @property {Date} consented_at RFC 3339 in UTC, always with milliseconds.
 * @property {string} [client_name] Absent for a client that is no longer configured.
 * @property {string} [last_used_on] The last day (UTC) on which the client got tokens; absent before the first
 * tokens.
 */

/**
 * The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and `token_revoked`.
 * @typedef {object} GrantOfEvent
 * @property {string} id
 * @property {string} client_id The OAuth client.
 * @property {GrantEndReason} [reason] Only with `grant_revoked` and `token_revoked`.
 * @property {GoogleEvent} [google_event] Only with the reason `google_revoked`.
 */

/**
 * See Grants in siwa's OpenAPI document.
 * @typedef {object} Grants
 * @property {Grant[]} grants All grants of the account.
 */

/**
 * The claims of the token with Apple's names, and with JSON booleans.
 * @typedef {object} Identity
 * @property {string} iss The issuer. Always Apple.
 * @property {string} sub `sub`: Apple's user ID for one team. It is compared as bytes.
 * @property {string} aud A bundle ID or a Services ID.
 * @property {string} team_id An Apple developer team.
 * @property {string} client_id The app's primary client ID.
 * @property {Date} iat RFC 3339 in UTC, always with milliseconds.
 * @property {Date} exp RFC 3339 in UTC, always with milliseconds.
 * @property {Date} [auth_time] RFC 3339 in UTC, always with milliseconds.
 * @property {string} [nonce] The nonce of the request, as the token has it.
 * @property {boolean} [nonce_supported] True if the platform supports nonces.
 * @property {string} [c_hash] The hash of the authorization code (OpenID Connect Core §3.3.2.11).
 * @property {string} [at_hash] The hash of the access token (OpenID Connect Core §3.1.3.6).
 * @property {string} [email] The e-mail address or the private relay address.
 * @property {boolean} [email_verified] Apple has verified the address.
 * @property {boolean} [is_private_email] Apple's claim. Without the claim, true if the address has one of Apple's
 * relay domains.
 * @property {number} [real_user_status] 0 unsupported, 1 unknown, 2 likely real. Apple may add numbers.
 * @property {string} [transfer_sub] The user's transfer identifier, for 60 days after a transfer of the app.
 * @property {string} [org_id] The organization of a managed Apple Account.
 */

/**
 * An introspection response (RFC 7662 §2.2). An inactive token has `active` alone.
 * @typedef {object} IntrospectionResponse
 * @property {boolean} active True if the token is good now: issued here, not expired, not revoked, and the account
 * may use it.
 * @property {string} [scope] The granted scope. Space-separated.
 * @property {string} [client_id] The OAuth client.
 * @property {string} [sub] The account ID.
 * @property {string} [iss] The issuer of the token.
 * @property {number} [auth_time] When the end user signed in with Apple, in seconds since 1970.
 * @property {string} [token_type] `Bearer`, of an access token.
 * @property {string} [aud] The audience of the client.
 * @property {number} [iat] When the token was issued, in seconds since 1970.
 * @property {number} [exp] When the token expires, in seconds since 1970.
 * @property {string} [jti] The ID of the token.
 */

/**
 * See KeyRegistration in siwa's OpenAPI document.
 * @typedef {object} KeyRegistration
 * @property {AttestedKey} key A key of App Attest.
 * @property {boolean} is_new_key False if the key was registered before.
 */

/**
 * See ManualRevocation in siwa's OpenAPI document.
 * @typedef {object} ManualRevocation
 * @property {string} client_id A bundle ID or a Services ID.
 * @property {RevocationCause} cause The reason why the revocation of a token is not proven, or why there was no
 * token: a cause of `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one
 * of these values.
 */

/**
 * See Nonce in siwa's OpenAPI document.
 * @typedef {object} Nonce
 * @property {string} nonce The raw nonce, which the backend posts with the token.
 * @property {string} nonce_sha256 The value for Apple in a native app.
 * @property {Date} expires_at RFC 3339 in UTC, always with milliseconds.
 */

/**
 * See SignInOutcome in siwa's OpenAPI document.
 * @typedef {object} SignInOutcome
 * @property {Account} account
 * @property {Credential} credential
 * @property {boolean} is_new_account True if this sign-in created the account.
 * @property {AppCheckResult} [app_check] Result of judging the app. Absent where App Check is off.
 * @property {string[]} [dropped] Values that decide nothing and were dropped for their form. Absent without any.
 */

/**
 * See VerifiedIdentity in siwa's OpenAPI document.
 * @typedef {object} VerifiedIdentity
 * @property {Identity} identity The claims of the token with Apple's names, and with JSON booleans.
 * @property {AppCheckResult} [app_check] Result of judging the app. Absent where App Check is off.
 * @property {string[]} [dropped] Values that decide nothing and were dropped for their form. Absent without any.
 */

/**
 * All models by their names.
 * @typedef {object} Models
 * @property {Account} Account
 * @property {AccountPage} AccountPage
 * @property {AppCheckResult} AppCheckResult
 * @property {AppFlipPrompt} AppFlipPrompt
 * @property {AppFlipPromptAccount} AppFlipPromptAccount
 * @property {AppFlipPromptLink} AppFlipPromptLink
 * @property {AppFlipPromptNote} AppFlipPromptNote
 * @property {AppFlipPromptResponse} AppFlipPromptResponse
 * @property {AppFlipPromptScope} AppFlipPromptScope
 * @property {AppFlipResponse} AppFlipResponse
 * @property {AttestedKey} AttestedKey
 * @property {Challenge} Challenge
 * @property {Credential} Credential
 * @property {CredentialList} CredentialList
 * @property {CredentialOfSubject} CredentialOfSubject
 * @property {Disabled} Disabled
 * @property {ErasedToken} ErasedToken
 * @property {Erasure} Erasure
 * @property {ErasureResponse} ErasureResponse
 * @property {Event} Event
 * @property {EventPage} EventPage
 * @property {GoogleEvent} GoogleEvent
 * @property {Grant} Grant
 * @property {GrantOfEvent} GrantOfEvent
 * @property {Grants} Grants
 * @property {Identity} Identity
 * @property {IntrospectionResponse} IntrospectionResponse
 * @property {KeyRegistration} KeyRegistration
 * @property {ManualRevocation} ManualRevocation
 * @property {Nonce} Nonce
 * @property {SignInOutcome} SignInOutcome
 * @property {VerifiedIdentity} VerifiedIdentity
 */

/**
 * The kinds of all members, for the decoder. Optional ones end with a question mark.
 * @type {Record<string, Record<string, string>>}
 */
export const SCHEMAS = {
    Account: {
        id: "text",
        team_id: "text",
        sub: "text",
        email_forwarding: "text",
        created_at: "time",
        credentials: "[Credential]",
        email: "text?",
        email_verified: "boolean?",
        is_private_email: "boolean?",
        first_name: "text?",
        last_name: "text?",
        real_user_status: "integer?",
        disabled: "Disabled?",
        sessions_ended_at: "time?",
        last_sign_in_at: "time?",
    },
    AccountPage: {
        accounts: "[Account]",
        has_more: "boolean",
        cursor: "text?",
    },
    AppCheckResult: {
        kind: "text",
        cause: "text?",
        validation_category: "integer?",
        bundle_version: "text?",
    },
    AppFlipPrompt: {
        language: "text",
        direction: "text",
        title: "text",
        purpose: "[text]",
        scopes_title: "text",
        scopes: "[AppFlipPromptScope]",
        notes: "[AppFlipPromptNote]",
        agree: "text",
        cancel: "text",
        account: "AppFlipPromptAccount?",
        optional_scopes_note: "text?",
    },
    AppFlipPromptAccount: {
        label: "text",
        title: "text",
        subtitle: "text?",
    },
    AppFlipPromptLink: {
        text: "text",
        url: "text",
    },
    AppFlipPromptNote: {
        text: "text",
        link: "AppFlipPromptLink?",
    },
    AppFlipPromptResponse: {
        outcome: "text",
        prompt: "AppFlipPrompt?",
        redirect_to: "text?",
        message: "text?",
        detail: "text?",
        sign_in_again: "boolean?",
    },
    AppFlipPromptScope: {
        scope: "text",
        text: "text",
        optional: "boolean",
        detail: "text?",
    },
    AppFlipResponse: {
        redirect_to: "text",
        outcome: "text",
        message: "text",
        detail: "text?",
        code: "text?",
    },
    AttestedKey: {
        key_id: "text",
        client_id: "text",
        team_id: "text",
        environment: "text",
        created_at: "time",
        validation_category: "integer?",
        bundle_version: "text?",
    },
    Challenge: {
        challenge: "text",
        expires_at: "time",
    },
    Credential: {
        client_id: "text",
        state: "text",
        reason: "text?",
        source: "text?",
        since: "time?",
        refresh_token: "text?",
        refresh_token_cause: "text?",
        account_disabled: "boolean?",
    },
    CredentialList: {
        credentials: "[CredentialOfSubject]",
    },
    CredentialOfSubject: {
        client_id: "text",
        state: "text",
        sub: "text",
        reason: "text?",
        source: "text?",
        since: "time?",
        refresh_token: "text?",
        refresh_token_cause: "text?",
        account_disabled: "boolean?",
    },
    Disabled: {
        reason: "text",
        since: "time",
        until: "time?",
    },
    ErasedToken: {
        client_id: "text",
        outcome: "text",
        attempts: "integer",
        cause: "text?",
    },
    Erasure: {
        id: "text",
        account_id: "text",
        state: "text",
        requested_at: "time",
        personal_data: "text",
        tokens: "[ErasedToken]",
        user_must_revoke: "boolean",
        finished_at: "time?",
        user_must_revoke_at: "[ManualRevocation]?",
        instructions: "text?",
    },
    ErasureResponse: {
        erasure: "Erasure",
    },
    Event: {
        id: "text",
        type: "text",
        team_id: "text",
        occurred_at: "time",
        recorded_at: "time",
        sub: "text?",
        account_id: "text?",
        client_id: "text?",
        reason: "text?",
        source: "text?",
        grant: "GrantOfEvent?",
    },
    EventPage: {
        events: "[Event]",
        cursor: "text",
        has_more: "boolean",
    },
    GoogleEvent: {
        type: "text",
        reason: "text?",
    },
    Grant: {
        id: "text",
        account_id: "text",
        client_id: "text",
        app: "text",
        scope: "text",
        google_account_known: "boolean",
        created_at: "time",
        consented_at: "time",
        client_name: "text?",
        last_used_on: "text?",
    },
    GrantOfEvent: {
        id: "text",
        client_id: "text",
        reason: "text?",
        google_event: "GoogleEvent?",
    },
    Grants: {
        grants: "[Grant]",
    },
    Identity: {
        iss: "text",
        sub: "text",
        aud: "text",
        team_id: "text",
        client_id: "text",
        iat: "time",
        exp: "time",
        auth_time: "time?",
        nonce: "text?",
        nonce_supported: "boolean?",
        c_hash: "text?",
        at_hash: "text?",
        email: "text?",
        email_verified: "boolean?",
        is_private_email: "boolean?",
        real_user_status: "integer?",
        transfer_sub: "text?",
        org_id: "text?",
    },
    IntrospectionResponse: {
        active: "boolean",
        scope: "text?",
        client_id: "text?",
        sub: "text?",
        iss: "text?",
        auth_time: "integer?",
        token_type: "text?",
        aud: "text?",
        iat: "integer?",
        exp: "integer?",
        jti: "text?",
    },
    KeyRegistration: {
        key: "AttestedKey",
        is_new_key: "boolean",
    },
    ManualRevocation: {
        client_id: "text",
        cause: "text",
    },
    Nonce: {
        nonce: "text",
        nonce_sha256: "text",
        expires_at: "time",
    },
    SignInOutcome: {
        account: "Account",
        credential: "Credential",
        is_new_account: "boolean",
        app_check: "AppCheckResult?",
        dropped: "[text]?",
    },
    VerifiedIdentity: {
        identity: "Identity",
        app_check: "AppCheckResult?",
        dropped: "[text]?",
    },
};
