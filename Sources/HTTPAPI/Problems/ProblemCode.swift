/// The stable codes of this interface.
///
/// Refusals by other modules have the wire code of their own error (`token_expired`, `credential_revoked`,
/// ...). The meaning of a code never changes; callers branch on it, never on a title.
public enum ProblemCode: String, Sendable, CaseIterable {
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
    case clientIDUnknown = "client_id_unknown"
    case erasureNotFound = "erasure_not_found"
    case cursorAhead = "cursor_ahead"
    case grantNotFound = "grant_not_found"
    case redirectURIMismatch = "redirect_uri_mismatch"
    case formMalformed = "form_malformed"
    case keysUnavailable = "keys_unavailable"
    case storageUnavailable = "storage_unavailable"
    case overloaded
    case stopping
    case internalError = "internal_error"
}
