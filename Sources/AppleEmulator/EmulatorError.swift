public import Encodings

/// Why the emulator refused a control request. Match on `code`; its raw value is the stable `code` of the
/// problem.
///
/// `detail` contains member names and limits of the control API, never a claim or a token, so it may be
/// shown.
public struct EmulatorError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The configuration of the emulator is invalid.
        case configurationInvalid = "configuration_invalid"
        /// The state file is incomplete, or was not written by this program.
        case stateFileDamaged = "state_file_damaged"
        case stateFileUnwritable = "state_file_unwritable"
        case pathNotFound = "path_not_found"
        /// `Host` names another server: a web page of another site may have let its own name resolve to this
        /// machine.
        case hostRefused = "host_refused"
        /// A page of another site sent the request.
        case originRefused = "origin_refused"
        /// A browser sent the request. The control API is for tools, and web pages must not use it.
        case browserRefused = "browser_refused"
        case bodyTooLarge = "body_too_large"
        /// The body is not one strict JSON object.
        case bodyMalformed = "body_malformed"
        /// A string of the body contains U+0000.
        case characterNotAllowed = "character_not_allowed"
        case memberUnknown = "member_unknown"
        case memberMalformed = "member_malformed"
        /// A member without effect: for example, the name of an absent claim that should be removed.
        case memberIneffective = "member_ineffective"
        /// A query or path parameter has an unknown name or an invalid value.
        case parameterMalformed = "parameter_malformed"
        /// No app has this client ID.
        case clientIDUnknown = "client_id_unknown"
        case userNotFound = "user_not_found"
        case userExists = "user_exists"
        case tooManyUsers = "too_many_users"
        /// Not a P-256 key, or a key ID that has not Apple's format.
        case clientKeyRefused = "client_key_refused"
        /// Neither an https URL with a domain name nor a URL on this machine.
        case redirectURIRefused = "redirect_uri_refused"
        case tooManyRedirectURIs = "too_many_redirect_uris"
        case tooManyTransfers = "too_many_transfers"
        case keyNotFound = "key_not_found"
        case keyExists = "key_exists"
        case tooManyKeys = "too_many_keys"
        /// All keys are retired, so no valid token can be signed.
        case noSigningKey = "no_signing_key"
        /// A delivery was requested, but no URL is known.
        case notificationURLMissing = "notification_url_missing"
        /// Not an http or https URL, or a host that the emulator may not call.
        case notificationURLRefused = "notification_url_refused"
        /// libjwt writes headers with `typ`, and it cannot write these claims.
        case tokenUnsignable = "token_unsignable"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension EmulatorError {
    public var description: String {
        detail.isEmpty ? "emulator: \(code.rawValue)" : "emulator: \(code.rawValue) (\(detail))"
    }
}
