public import Encodings

/// Why the fake Google refused a request. Match on `code`; its raw value is the stable `code` of the problem.
///
/// `detail` never contains a token, so it may be shown.
public struct GoogleEmulatorError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case configurationInvalid = "configuration_invalid"
        /// The state file is incomplete, or was not written by this program.
        case stateFileDamaged = "state_file_damaged"
        case stateFileUnwritable = "state_file_unwritable"
        case pathNotFound = "path_not_found"
        case hostRefused = "host_refused"
        case originRefused = "origin_refused"
        /// A browser sent a control request.
        case browserRefused = "browser_refused"
        case bodyTooLarge = "body_too_large"
        case bodyMalformed = "body_malformed"
        case memberUnknown = "member_unknown"
        case memberMalformed = "member_malformed"
        case linkNotFound = "link_not_found"
        /// No authorization server is configured, or none with this endpoint.
        case serverMissing = "server_missing"
        /// The answer at a redirect URI belongs to no link that was begun.
        case stateUnknown = "state_unknown"
        /// The link has no token for this.
        case tokenMissing = "token_missing"
        /// The page is from an earlier run.
        case pageOutdated = "page_outdated"
        case signingFailed = "signing_failed"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }

    public var description: String {
        detail.isEmpty ? "fake Google: \(code.rawValue)" : "fake Google: \(code.rawValue) (\(detail))"
    }
}
