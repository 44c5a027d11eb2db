import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
package import NIOHTTP1
import SignIn

/// A problem type (RFC 9457 §4): a kind of refusal with all its properties, as a row in the catalogue.
///
/// A code's meaning never changes. Callers should branch on the code, never on the title.
package struct ProblemType: Sendable {
    /// The text for users, if a browser shows the refusal as a page.
    typealias Page = any KeyPath<AuthorizeTexts.Refusals, AuthorizeTexts.Refusal> & Sendable

    /// The code in the response.
    package let code: String
    package let status: HTTPResponseStatus
    let title: String
    /// The explanation for developers. It repeats no part of the request.
    package let detail: String
    /// The rule that the request violates, for operators. For a token it is the rule that the check enforces,
    /// otherwise `detail`.
    let expected: String
    /// Number of seconds until the caller should retry.
    let retryAfter: Int?
    let page: Page
    package let place: DocumentationPlace

    /// All problem types. A code that two modules share occurs only once.
    package static let all: [ProblemType] = {
        var seen: Set<String> = []
        return
            (ProblemCode.types + AppleTokenError.Code.types + AccountRefusal.Code.types
            + WebRefusal.Code.types + AppCheckRefusal.Code.types).filter { seen.insert($0.code).inserted }
    }()
}

/// The documentation page and section that explain a code.
package struct DocumentationPlace: Sendable, Equatable {
    package let file: String
    package let heading: String

    package static let errors = DocumentationPlace(file: "docs/api.md", heading: "Errors")
    package static let token = DocumentationPlace(file: "docs/api.md", heading: "The token (401, 403)")
    package static let appCheck = DocumentationPlace(file: "docs/app-check.md", heading: "Refusals")
    package static let tokenRequest = DocumentationPlace(
        file: "docs/oauth.md", heading: "Why a token request was refused")

    package static let all: [DocumentationPlace] = [.errors, .token, .appCheck, .tokenRequest]
}

extension ProblemType: Equatable {
    package static func == (lhs: ProblemType, rhs: ProblemType) -> Bool { lhs.code == rhs.code }
}

/// One module's codes, each with its problem type. A new code does not compile without a problem type.
protocol CataloguedCode: RawRepresentable<String>, CaseIterable, Sendable {
    var type: ProblemType { get }
}

extension CataloguedCode {
    static var types: [ProblemType] { allCases.map(\.type) }

    /// - Parameter page: The text for users. The default is right for most codes of other modules, because no
    ///   page shows them.
    fileprivate func row(
        _ status: HTTPResponseStatus, _ title: String, _ detail: String, expected: String? = nil,
        retryAfter: Int? = nil, page: ProblemType.Page = \.failed, in place: DocumentationPlace = .errors
    ) -> ProblemType {
        ProblemType(
            code: rawValue, status: status, title: title, detail: detail, expected: expected ?? detail,
            retryAfter: retryAfter, page: page, place: place)
    }
}

/// The codes that this module defines. Refusals by other modules use those modules' own error codes.
enum ProblemCode: String, CataloguedCode {
    case requestMalformed = "request_malformed"
    case requestTimeout = "request_timeout"
    case headerTooLarge = "header_too_large"
    case bodyTooLarge = "body_too_large"
    case bodyNotJSON = "body_not_json"
    case characterNotAllowed = "character_not_allowed"
    case contentTypeUnsupported = "content_type_unsupported"
    case memberMissing = "member_missing"
    case memberMalformed = "member_malformed"
    case memberUnknown = "member_unknown"
    case parameterMissing = "parameter_missing"
    case parameterMalformed = "parameter_malformed"
    case parameterUnknown = "parameter_unknown"
    case hostRefused = "host_refused"
    case originRefused = "origin_refused"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case callerUnauthenticated = "caller_unauthenticated"
    case callerForbidden = "caller_forbidden"
    case nonceNotMinted = "nonce_not_minted"
    case clientIDUnknown = "client_id_unknown"
    case appAttestNotConfigured = "app_attest_not_configured"
    case attestedKeyNotFound = "attestation_key_not_found"
    case erasureNotFound = "erasure_not_found"
    case cursorAhead = "cursor_ahead"
    case disablingOver = "disabling_over"
    case grantNotFound = "grant_not_found"
    case receiverNotFound = "receiver_not_found"
    case receiverPaused = "receiver_paused"
    case streamNotFound = "stream_not_found"
    case verificationTooSoon = "verification_too_soon"
    case redirectURIMismatch = "redirect_uri_mismatch"
    case formMalformed = "form_malformed"
    case keysUnavailable = "keys_unavailable"
    case signingKeysShut = "signing_keys_shut"
    case storageUnavailable = "storage_unavailable"
    case overloaded = "overloaded"
    case stopping = "stopping"
    case internalError = "internal_error"

    var type: ProblemType {
        switch self {
        case .requestMalformed:
            own(
                .badRequest, "Malformed request", "The received bytes are not a valid HTTP/1.1 request.")
        case .requestTimeout:
            own(
                .requestTimeout, "Request incomplete",
                "The request did not arrive completely within its time limit.")
        case .headerTooLarge:
            own(
                .requestHeaderFieldsTooLarge, "Request header too large",
                "The request line and header fields exceed 16 KiB.")
        case .bodyTooLarge:
            own(
                .payloadTooLarge, "Request body too large",
                "The request body exceeds 64 KiB, or the bound of its form.")
        case .bodyNotJSON:
            own(
                .badRequest, "Body is not JSON",
                "The body must be one JSON object (RFC 8259) in UTF-8, without duplicate members.")
        case .characterNotAllowed:
            own(
                .badRequest, "Character not allowed",
                "A string of the body, the path, the query or the form contains U+0000. Remove it.")
        case .contentTypeUnsupported:
            own(
                .unsupportedMediaType, "Unsupported content type",
                "Send the body as application/json. Only Apple's callback accepts a form.")
        case .memberMissing:
            own(
                .badRequest, "Member missing", "The body lacks a member that this request requires.")
        case .memberMalformed:
            own(
                .badRequest, "Member malformed",
                "A member of the body has the wrong type or is outside its bounds."
            )
        case .memberUnknown:
            own(
                .badRequest, "Unknown member",
                "The body has a member that this request does not define. Check its spelling.")
        case .parameterMissing:
            own(
                .badRequest, "Parameter missing", "The query lacks a parameter that this request requires.",
                page: \.signInUnknown)
        case .parameterMalformed:
            own(
                .badRequest, "Parameter malformed",
                "A path or query parameter is not well formed or is outside its bounds.",
                page: \.signInUnknown)
        case .parameterUnknown:
            own(
                .badRequest, "Unknown parameter",
                "The query has a parameter that this request does not define, or one that comes twice.",
                page: \.signInUnknown)
        // The status is 421, because this service is not authoritative for the requested host (RFC 9110
        // §15.5.20).
        case .hostRefused:
            own(
                .misdirectedRequest, "Host refused",
                "In development the Host field must be localhost, 127.0.0.1, [::1], SIWA_HOST, the host of SIWA_PUBLIC_URL or one of SIWA_ALLOWED_HOSTS. Add the name to SIWA_ALLOWED_HOSTS if it is correct."
            )
        case .originRefused:
            own(
                .forbidden, "Origin refused",
                "A page of another site sent this request. In development such a page must not change anything."
            )
        case .notFound:
            own(.notFound, "Not found", "There is no such resource.", page: \.pageUnknown)
        case .methodNotAllowed:
            own(
                .methodNotAllowed, "Method not allowed",
                "The resource does not support this method. The Allow header lists the methods that it supports."
            )
        case .callerUnauthenticated:
            own(
                .unauthorized, "Caller not authenticated",
                "Send a configured API key as Authorization: Bearer.")
        case .callerForbidden:
            own(
                .forbidden, "Caller not allowed", "This API key is limited to other apps.")
        case .nonceNotMinted:
            own(
                .unauthorized, "Nonce not minted here",
                "The app demands a nonce of this service (require_minted_nonce). Ask POST /v1/nonces for a nonce, give its nonce_sha256 to Apple, and send the nonce along."
            )
        case .clientIDUnknown:
            own(
                .notFound, "Unknown client ID", "No app with this client ID is configured.")
        case .appAttestNotConfigured:
            own(
                .notFound, "App Attest not configured",
                "The client ID must be a bundle ID with an entry in app_attest. Add the entry to its app.")
        case .attestedKeyNotFound:
            own(
                .notFound, "Key not found",
                "There is no such key of App Attest, or the caller may not see its app.", in: .appCheck)
        case .erasureNotFound:
            own(
                .notFound, "Erasure not found", "There is no erasure with this ID that this API key may see.")
        case .cursorAhead:
            own(
                .conflict, "Cursor ahead of the feed",
                "The cursor must be one of this feed, and it is past its end: the database was restored from a backup, or is another one. Query the state of each credential, and continue with after=latest."
            )
        case .disablingOver:
            own(
                .conflict, "Disabling over",
                "The `until` of the request must be in the future, and it has passed. The account was not changed."
            )
        case .grantNotFound:
            own(
                .notFound, "Grant not found",
                "The account has no grant with this ID that this API key may see.")
        case .receiverNotFound:
            own(
                .notFound, "Receiver not found",
                "There is no receiver with this name that this API key may poll.")
        case .receiverPaused:
            own(
                .conflict, "Receiver paused",
                "The receiver took no event for seven days, so it gets nothing. An operator resumes it: siwa deliveries resume."
            )
        case .streamNotFound:
            own(
                .notFound, "Stream not found",
                "The client has no such event stream. Its configuration has the way of delivery.")
        case .verificationTooSoon:
            own(
                .tooManyRequests, "Verification too soon",
                "A verification of the stream was requested less than a minute ago.")
        case .redirectURIMismatch:
            own(
                .badRequest, "Redirect URI mismatch",
                "The redirect URI must be one of those that Google uses for App Flip. Pass on the one of the universal link."
            )
        case .formMalformed:
            own(
                .badRequest, "Malformed form", "The body is not a form as Apple sends it.",
                page: \.signInUnknown)
        case .keysUnavailable:
            own(
                .serviceUnavailable, "Apple's keys unavailable",
                "Apple's public keys are unavailable, so no token can be verified. Retry later.",
                retryAfter: 5, page: \.unavailable)
        case .signingKeysShut:
            own(
                .serviceUnavailable, "Signing keys do not open",
                "The keys that sign tokens do not open with the sealing keys of the service. Retry later.",
                retryAfter: 60, page: \.unavailable)
        case .storageUnavailable:
            own(
                .serviceUnavailable, "Storage unavailable", "The database is unavailable. Retry later.",
                retryAfter: 2, page: \.unavailable)
        case .overloaded:
            own(
                .serviceUnavailable, "Overloaded", "Too many requests are waiting. Retry later.",
                retryAfter: 1, page: \.unavailable)
        case .stopping:
            own(
                .serviceUnavailable, "Stopping",
                "This process is about to stop. It still serves requests; send new ones to another.",
                retryAfter: 5, page: \.unavailable)
        case .internalError:
            own(
                .internalServerError, "Internal error",
                "The service failed. Look for the request ID in its log.", page: \.failed)
        }
    }

    private func own(
        _ status: HTTPResponseStatus, _ title: String, _ detail: String, retryAfter: Int? = nil,
        page: ProblemType.Page = \.requestUnreadable, in place: DocumentationPlace = .errors
    ) -> ProblemType {
        row(status, title, detail, retryAfter: retryAfter, page: page, in: place)
    }
}

/// These errors have status 401, because the request does not prove that the caller's user is the token's
/// user.
extension AppleTokenError.Code: CataloguedCode {
    var type: ProblemType {
        switch self {
        case .tokenTooLarge:
            token("Token too large", "The token is longer than 16 KiB.", expected: "At most 16 KiB.")
        case .tokenMalformed:
            token(
                "Token malformed", "The token is not three segments of strict base64url around strict JSON.",
                expected: "Three segments of strict base64url around strict JSON.")
        case .algorithmNotAllowed:
            token("Algorithm not allowed", "The token's alg is not RS256.", expected: "alg is RS256.")
        case .headerNotAllowed:
            token(
                "Header not allowed", "The token's header has a parameter that is not allowed.",
                expected: "No crit, b64, jwk, jku, x5u or x5c in the header.")
        case .keyIDInvalid:
            token(
                "Key ID invalid", "The token's kid is not a string of 1 to 64 characters.",
                expected: "kid is a string of 1 to 64 characters.")
        case .unknownKey:
            token(
                "Unknown key", "Apple's key set has no usable key with the token's kid.",
                expected: "kid is the ID of a usable key in Apple's key set.")
        case .signatureInvalid:
            token(
                "Signature invalid", "The token is not signed by the key that it names.",
                expected: "The signature is of the key that kid names.")
        case .notAnIdentityToken:
            token(
                "Not an identity token", "The token is a notification.",
                expected: "An identity token, which has no events.")
        case .notANotification:
            token(
                "Not a notification", "The token has no events.",
                expected: "A notification, which has events.")
        case .claimMissing:
            token(
                "Claim missing", "The token lacks a claim that Apple always sends.",
                expected: "Every claim that Apple always sends.")
        case .claimMalformed:
            token(
                "Claim malformed", "A claim has the wrong type or is out of range.",
                expected: "Claims of the right type, and times within the years 1970 to 9999.")
        case .issuerMismatch:
            token(
                "Issuer mismatch", "The token's iss is not accepted here.",
                expected: "iss is one of APPLE_ISSUERS.")
        case .audienceMismatch:
            token(
                "Audience mismatch", "The token's aud is not the expected client ID.",
                expected: "aud is one configured client ID, the one that the request names.")
        case .tokenExpired: token("Token expired", "The token is past its exp.", expected: "exp is not past.")
        case .tokenNotYetValid:
            token(
                "Token not yet valid", "The token's nbf is later than this service's clock.",
                expected: "nbf is not later than the clock of this service.")
        case .issuedInFuture:
            token(
                "Issued in the future", "The token's iat is later than this service's clock.",
                expected: "iat, auth_time and event_time are not later than the clock of this service.")
        case .subjectInvalid:
            token(
                "Subject invalid", "The token's sub is not a string of 1 to 255 characters.",
                expected: "sub is a string of 1 to 255 characters without control characters.")
        case .nonceMissing:
            token(
                "Nonce missing", "The token has no nonce.",
                expected: "A nonce in the token, because the request has one.")
        case .nonceMismatch:
            token(
                "Nonce mismatch", "The token's nonce is not the one in the request.",
                expected: "The nonce of the request, or its SHA-256 in hexadecimal.")
        case .codeHashMissing:
            token(
                "Code hash missing", "The token has no c_hash.",
                expected: "A c_hash in the token, because the request has a code.")
        case .codeHashMismatch:
            token(
                "Code hash mismatch",
                "The token's c_hash does not match the authorization code in the request.",
                expected: "c_hash is the hash of the code in the request.")
        case .accessTokenHashMissing:
            token(
                "Access token hash missing", "The token has no at_hash.",
                expected: "An at_hash in the token, because the request has an access token.")
        case .accessTokenHashMismatch:
            token(
                "Access token hash mismatch",
                "The token's at_hash does not match the access token in the request.",
                expected: "at_hash is the hash of the access token in the request.")
        case .eventsMalformed:
            token(
                "Events malformed", "The token's events do not have a form that Apple uses.",
                expected: "Events in one of the forms that Apple has used.")
        }
    }

    private func token(_ title: String, _ detail: String, expected: String) -> ProblemType {
        row(.unauthorized, title, detail, expected: expected, in: .token)
    }
}

extension AccountRefusal.Code: CataloguedCode {
    var type: ProblemType {
        switch self {
        case .credentialRevoked:
            row(
                .forbidden, "Credential revoked",
                "The user withdrew consent after this token was issued. The user has to sign in again.")
        case .accountNotFound:
            row(.notFound, "Account not found", "There is no account of this user that this API key may see.")
        case .nonceExpired:
            row(.unauthorized, "Nonce expired", "The nonce has expired, or this service did not make it.")
        case .nonceUsed: row(.unauthorized, "Nonce used", "The nonce was used in a sign-in before.")
        case .accountExists: row(.conflict, "Account exists", "The user has another account already.")
        case .callerForbidden: ProblemCode.callerForbidden.type
        case .challengeUsed:
            row(
                .unauthorized, "Challenge used", "The challenge of App Attest was used before. Get a new one."
            )
        case .counterNotIncreased:
            row(
                .unauthorized, "Counter not increased",
                "The assertion is a replay, or came late. Make a new one with the same key.")
        case .attestationKeyUnknown:
            row(
                .unauthorized, "Attestation key unknown",
                "This app has no key with this ID. Attest a new key.", in: .appCheck)
        case .attestationKeyTaken:
            row(
                .conflict, "Attestation key taken", "Another app has attested this key. Attest a new key.",
                in: .appCheck)
        case .attestationKeysFull:
            row(.conflict, "Attestation keys full", "The app has as many keys as are kept.", in: .appCheck)
        case .accountDisabled:
            row(
                .forbidden, "Account disabled",
                "The account is disabled here. Show the user where to ask, and do not sign the user in.")
        }
    }
}

extension WebRefusal.Code: CataloguedCode {
    var type: ProblemType {
        switch self {
        case .stateInvalid:
            row(.badRequest, "Sign-in not known", "This sign-in was not started here.", page: \.signInUnknown)
        case .stateExpired:
            row(
                .badRequest, "Sign-in took too long", "The sign-in was started more than ten minutes ago.",
                page: \.signInOver)
        case .stateUsed:
            row(
                .badRequest, "Sign-in already done", "This sign-in has been completed before.",
                page: \.signInOver)
        case .ticketInvalid:
            row(
                .badRequest, "Sign-in not known", "This page does not belong to a sign-in.",
                page: \.signInUnknown)
        case .ticketExpired:
            row(.badRequest, "Sign-in took too long", "This page has expired.", page: \.signInOver)
        case .browserMismatch:
            row(
                .badRequest, "Another browser",
                "The sign-in was started in another browser, or this browser does not store cookies.",
                page: \.otherBrowser)
        case .codeInvalid:
            row(
                .badRequest, "Code invalid",
                "The code is unknown, was used before, or is older than two minutes.", page: \.signInUnknown)
        }
    }
}

/// These refusals have status 401, because the request does not prove that it comes from the app. The detail
/// depends on the cause.
extension AppCheckRefusal.Code: CataloguedCode {
    var type: ProblemType {
        let explanation = AppCheckRefusal(self, cause: .proofMissing).explanation
        return switch self {
        case .attestationRequired: row(.unauthorized, "Proof of the app required", explanation, in: .appCheck)
        case .attestationInvalid: row(.unauthorized, "Proof of the app invalid", explanation, in: .appCheck)
        }
    }
}

/// A code and its meaning, for pages. It is a problem code, an OAuth error code, or a reason that appears
/// only in the log and the metrics.
package struct ExplainedCode: Sendable {
    package let code: String
    /// The HTTP status; `nil` for a reason, because no response contains a reason.
    package let status: Int?
    package let sentence: String
    package let place: DocumentationPlace

    /// The problem codes, which the OpenAPI document lists as `ProblemCode`.
    package static let problems = ProblemType.all.map {
        ExplainedCode(code: $0.code, status: Int($0.status.code), sentence: $0.detail, place: $0.place)
    }

    /// The OAuth 2.0 codes that have no more specific reasons.
    package static let oauth: [ExplainedCode] = OAuthError.Code.allCases.compactMap { code in
        let error = TokenEndpointError(OAuthError(code, ""))
        guard error.error.reason == nil, code != .invalidGrant else { return nil }
        return ExplainedCode(
            code: code.rawValue, status: error.status, sentence: "Expected: \(code.expectation)",
            place: .tokenRequest)
    }

    /// The reasons for refused token requests.
    package static let reasons = TokenRefusalReason.allCases.map {
        ExplainedCode(code: $0.rawValue, status: nil, sentence: $0.explanation, place: .tokenRequest)
    }
}
