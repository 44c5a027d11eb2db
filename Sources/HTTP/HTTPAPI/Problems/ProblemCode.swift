import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import NIOHTTP1
import SignIn

/// A stable code of this interface with its status, texts and page.
///
/// Refusals by other modules have the wire code of their own error (`token_expired`, `credential_revoked`,
/// ...). The meaning of a code never changes; callers branch on it, never on a title.
struct ProblemCode: Sendable {
    /// The code on the wire.
    let rawValue: String
    let status: HTTPResponseStatus
    let title: String
    let detail: String
    /// Seconds after which a retry makes sense.
    let retryAfter: Int?
    /// Text for users where a browser shows the error as a page.
    let page: @Sendable (AuthorizeTexts.Refusals) -> AuthorizeTexts.Refusal

    private init(
        _ rawValue: String, _ status: HTTPResponseStatus, _ title: String, _ detail: String,
        retryAfter: Int? = nil,
        page: @escaping @Sendable (AuthorizeTexts.Refusals) -> AuthorizeTexts.Refusal = \.requestUnreadable
    ) {
        (self.rawValue, self.status, self.title, self.detail) = (rawValue, status, title, detail)
        (self.retryAfter, self.page) = (retryAfter, page)
    }

    static let requestMalformed = ProblemCode(
        "request_malformed", .badRequest, "Malformed request",
        "The received bytes are not a valid HTTP/1.1 request.")

    static let requestTimeout = ProblemCode(
        "request_timeout", .requestTimeout, "Request incomplete",
        "The request did not arrive completely within its time limit.")

    static let headerTooLarge = ProblemCode(
        "header_too_large", .requestHeaderFieldsTooLarge, "Request header too large",
        "The request line and header fields exceed 16 KiB.")

    static let bodyTooLarge = ProblemCode(
        "body_too_large", .payloadTooLarge, "Request body too large",
        "The request body exceeds 64 KiB, or the bound of its form.")

    static let bodyNotJSON = ProblemCode(
        "body_not_json", .badRequest, "Body is not JSON",
        "The body must be one JSON object (RFC 8259) in UTF-8, without duplicate members.")

    static let characterNotAllowed = ProblemCode(
        "character_not_allowed", .badRequest, "Character not allowed",
        "A string of the body, the path, the query or the form contains U+0000. Remove it.")

    static let contentTypeUnsupported = ProblemCode(
        "content_type_unsupported", .unsupportedMediaType, "Unsupported content type",
        "Send the body as application/json. Only Apple's callback accepts a form.")

    static let memberMissing = ProblemCode(
        "member_missing", .badRequest, "Member missing",
        "The body lacks a member that this request requires.")

    static let memberMalformed = ProblemCode(
        "member_malformed", .badRequest, "Member malformed",
        "A member of the body has the wrong type or is outside its bounds.")

    static let memberUnknown = ProblemCode(
        "member_unknown", .badRequest, "Unknown member",
        "The body has a member that this request does not define. Check its spelling.")

    static let parameterMissing = ProblemCode(
        "parameter_missing", .badRequest, "Parameter missing",
        "The query lacks a parameter that this request requires.", page: \.signInUnknown)

    static let parameterMalformed = ProblemCode(
        "parameter_malformed", .badRequest, "Parameter malformed",
        "A path or query parameter is not well formed or is outside its bounds.", page: \.signInUnknown)

    static let parameterUnknown = ProblemCode(
        "parameter_unknown", .badRequest, "Unknown parameter",
        "The query has a parameter that this request does not define, or one that comes twice.",
        page: \.signInUnknown)

    /// RFC 9110 §15.5.20: this service is not authoritative for the requested host.
    static let hostRefused = ProblemCode(
        "host_refused", .misdirectedRequest, "Host refused",
        "In development the Host field must be localhost, 127.0.0.1, [::1], SIWA_HOST, the host "
            + "of SIWA_PUBLIC_URL or one of SIWA_ALLOWED_HOSTS. Add the name to SIWA_ALLOWED_HOSTS if "
            + "it is correct.")

    static let originRefused = ProblemCode(
        "origin_refused", .forbidden, "Origin refused",
        "A page of another site sent this request. In development such a page must not change "
            + "anything.")

    static let notFound = ProblemCode(
        "not_found", .notFound, "Not found",
        "There is no such resource.", page: \.pageUnknown)

    static let methodNotAllowed = ProblemCode(
        "method_not_allowed", .methodNotAllowed, "Method not allowed",
        "The resource does not support this method. The Allow header lists the methods that it "
            + "supports.")

    static let callerUnauthenticated = ProblemCode(
        "caller_unauthenticated", .unauthorized, "Caller not authenticated",
        "Send a configured API key as Authorization: Bearer.")

    static let callerForbidden = ProblemCode(
        "caller_forbidden", .forbidden, "Caller not allowed",
        "This API key is limited to other apps.")

    static let nonceNotMinted = ProblemCode(
        "nonce_not_minted", .unauthorized, "Nonce not minted here",
        "The app demands a nonce of this service (require_minted_nonce). Ask POST /v1/nonces for a nonce, give its "
            + "nonce_sha256 to Apple, and send the nonce along.")

    static let clientIDUnknown = ProblemCode(
        "client_id_unknown", .notFound, "Unknown client ID",
        "No app with this client ID is configured.")

    static let attestedKeyNotFound = ProblemCode(
        "attestation_key_not_found", .notFound, "Key not found",
        "There is no such key of App Attest, or the caller may not see its app.")

    static let appAttestNotConfigured = ProblemCode(
        "app_attest_not_configured", .notFound, "App Attest not configured",
        "The client ID must be a bundle ID with an entry in app_attest. Add the entry to its app.")

    static let erasureNotFound = ProblemCode(
        "erasure_not_found", .notFound, "Erasure not found",
        "There is no erasure with this ID that this API key may see.")

    static let cursorAhead = ProblemCode(
        "cursor_ahead", .conflict, "Cursor ahead of the feed",
        "The cursor must be one of this feed, and it is past its end: the database was restored "
            + "from a backup, or is another one. Query the state of each credential, and continue "
            + "with after=latest.")

    static let disablingOver = ProblemCode(
        "disabling_over", .conflict, "Disabling over",
        "The `until` of the request must be in the future, and it has passed. The account was not changed.")

    static let grantNotFound = ProblemCode(
        "grant_not_found", .notFound, "Grant not found",
        "The account has no grant with this ID that this API key may see.")

    static let receiverNotFound = ProblemCode(
        "receiver_not_found", .notFound, "Receiver not found",
        "There is no receiver with this name that this API key may poll.")

    static let receiverPaused = ProblemCode(
        "receiver_paused", .conflict, "Receiver paused",
        "The receiver took no event for seven days, so it gets nothing. An operator resumes it: siwa deliveries "
            + "resume.")

    static let streamNotFound = ProblemCode(
        "stream_not_found", .notFound, "Stream not found",
        "The client has no such event stream. Its configuration has the way of delivery.")

    static let verificationTooSoon = ProblemCode(
        "verification_too_soon", .tooManyRequests, "Verification too soon",
        "A verification of the stream was requested less than a minute ago.")

    static let redirectURIMismatch = ProblemCode(
        "redirect_uri_mismatch", .badRequest, "Redirect URI mismatch",
        "The redirect URI must be one of those that Google uses for App Flip. Pass on the one "
            + "of the universal link.")

    static let formMalformed = ProblemCode(
        "form_malformed", .badRequest, "Malformed form",
        "The body is not a form as Apple sends it.", page: \.signInUnknown)

    static let keysUnavailable = ProblemCode(
        "keys_unavailable", .serviceUnavailable, "Apple's keys unavailable",
        "Apple's public keys are unavailable, so no token can be verified. Retry later.", retryAfter: 5,
        page: \.unavailable)

    static let signingKeysShut = ProblemCode(
        "signing_keys_shut", .serviceUnavailable, "Signing keys do not open",
        "The keys that sign tokens do not open with the sealing keys of the service. Retry later.",
        retryAfter: 60, page: \.unavailable)

    static let storageUnavailable = ProblemCode(
        "storage_unavailable", .serviceUnavailable, "Storage unavailable",
        "The database is unavailable. Retry later.", retryAfter: 2, page: \.unavailable)

    static let overloaded = ProblemCode(
        "overloaded", .serviceUnavailable, "Overloaded",
        "Too many requests are waiting. Retry later.", retryAfter: 1, page: \.unavailable)

    static let stopping = ProblemCode(
        "stopping", .serviceUnavailable, "Stopping",
        "This process is about to stop. It still serves requests; send new ones to another.", retryAfter: 5,
        page: \.unavailable)

    static let internalError = ProblemCode(
        "internal_error", .internalServerError, "Internal error",
        "The service failed. Look for the request ID in its log.", page: \.failed)

    /// All codes. A test compares them with `openapi.yaml`.
    static let all: [ProblemCode] = [
        .requestMalformed, .requestTimeout, .headerTooLarge, .bodyTooLarge, .bodyNotJSON,
        .characterNotAllowed, .contentTypeUnsupported, .memberMissing, .memberMalformed, .memberUnknown,
        .parameterMissing, .parameterMalformed, .parameterUnknown, .hostRefused, .originRefused, .notFound,
        .methodNotAllowed, .callerUnauthenticated, .callerForbidden, .nonceNotMinted,
        .clientIDUnknown,
        .appAttestNotConfigured, .attestedKeyNotFound,
        .erasureNotFound,
        .cursorAhead, .disablingOver, .grantNotFound,
        .receiverNotFound, .receiverPaused, .streamNotFound, .verificationTooSoon, .redirectURIMismatch,
        .formMalformed, .keysUnavailable, .signingKeysShut,
        .storageUnavailable, .overloaded, .stopping, .internalError,
    ]
}

extension ProblemCode: Equatable {
    static func == (lhs: ProblemCode, rhs: ProblemCode) -> Bool { lhs.rawValue == rhs.rawValue }
}

extension Problem {
    /// Makes the problem for a code of this interface.
    ///
    /// - Parameter retryAfter: Replaces the seconds of the code.
    init(_ code: ProblemCode, subject: Subject? = nil, retryAfter: Int? = nil, allow: String? = nil) {
        self.init(
            code.status, code: code.rawValue, title: code.title, detail: code.detail, subject: subject,
            retryAfter: retryAfter ?? code.retryAfter, allow: allow)
    }
}

/// A code of a refusal with its meaning, for pages. The pages of the documentation say more.
package struct ExplainedCode: Sendable {
    package let code: String
    /// `nil` for a reason, which is in the log and the metrics and not on the wire.
    package let status: Int?
    package let sentence: String

    /// Codes of problems: the list of `ErrorCode` in `openapi.yaml`.
    package static let problems: [ExplainedCode] = {
        let problems: [Problem] =
            ProblemCode.all.map { Problem($0) }
            + AppleTokenError.Code.allCases.map { AppleTokenError($0).problem }
            + AccountRefusal.Code.allCases.map { AccountRefusal($0).problem }
            + WebRefusal.Code.allCases.map { WebRefusal($0).problem }
            + AppCheckRefusal.Code.allCases.map { AppCheckRefusal($0, cause: .proofMissing).problem }
        var seen: Set<String> = []
        return problems.filter { seen.insert($0.code).inserted }.map {
            ExplainedCode(code: $0.code, status: Int($0.status.code), sentence: $0.detail)
        }
    }()

    /// Codes of OAuth 2.0 that no reason explains.
    package static let oauth: [ExplainedCode] = OAuthError.Code.allCases.compactMap { code in
        let error = TokenEndpointError(OAuthError(code, ""))
        guard error.error.reason == nil, code != .invalidGrant else { return nil }
        return ExplainedCode(
            code: code.rawValue, status: error.status, sentence: "Expected: \(code.expectation)")
    }

    /// Reasons of refused token requests.
    package static let reasons = TokenRefusalReason.allCases.map {
        ExplainedCode(code: $0.rawValue, status: nil, sentence: $0.explanation)
    }
}
