public import CodedErrors

/// Why the emulator refused a control call. Match on `code`; its raw value is the wire's stable `code`.
///
/// `detail` names members and bounds of the control API, never a claim or a token, so it may be shown.
public struct EmulatorError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The configuration that the emulator was started with makes no sense.
        case configurationInvalid = "configuration_invalid"
        /// The state file is not whole, or not one of this program.
        case stateFileDamaged = "state_file_damaged"
        case stateFileUnwritable = "state_file_unwritable"
        case pathNotFound = "path_not_found"
        /// The request names another server: a foreign web page may have led its own name here.
        case hostRefused = "host_refused"
        /// A page of another site sent the request.
        case originRefused = "origin_refused"
        /// A browser sent the call. The control API is for tools, and no page may drive it.
        case browserRefused = "browser_refused"
        case bodyTooLarge = "body_too_large"
        /// The body is not one strict JSON object.
        case bodyMalformed = "body_malformed"
        /// A string of the body has U+0000.
        case characterNotAllowed = "character_not_allowed"
        case memberUnknown = "member_unknown"
        case memberMalformed = "member_malformed"
        /// A member that would change nothing beside the others: a name to remove that is not there, for example.
        case memberIneffective = "member_ineffective"
        /// A query parameter, or a part of the path, that is unknown or has a value that is not allowed.
        case parameterMalformed = "parameter_malformed"
        /// No app has this client ID.
        case clientIDUnknown = "client_id_unknown"
        case userNotFound = "user_not_found"
        case userExists = "user_exists"
        case tooManyUsers = "too_many_users"
        /// No key on P-256, or an ID of another form than Apple's.
        case clientKeyRefused = "client_key_refused"
        /// Neither https with a domain name nor this machine.
        case redirectURIRefused = "redirect_uri_refused"
        case tooManyRedirectURIs = "too_many_redirect_uris"
        case tooManyTransfers = "too_many_transfers"
        case keyNotFound = "key_not_found"
        case keyExists = "key_exists"
        case tooManyKeys = "too_many_keys"
        /// Every key is retired, so nothing can sign an honest token.
        case noSigningKey = "no_signing_key"
        /// A delivery was asked for, and no URL is known.
        case notificationURLMissing = "notification_url_missing"
        /// Not an http(s) URL, or a host that this emulator may not call.
        case notificationURLRefused = "notification_url_refused"
        /// A header with `typ` is libjwt's to write, and it cannot write these claims.
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
