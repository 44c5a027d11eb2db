import HTTPTypes

/// The reasons that several emulators have.
extension EmulatorError.Code {
    /// The configuration of the emulator is invalid.
    public static let configurationInvalid = Self("configuration_invalid", .internalServerError)
    /// The state file is incomplete, or was not written by this emulator.
    public static let stateFileDamaged = Self("state_file_damaged", .internalServerError)
    /// The state file cannot be written, or another process has locked it.
    public static let stateFileUnwritable = Self("state_file_unwritable", .internalServerError)
    public static let pathNotFound = Self("path_not_found", .notFound)
    /// `Host` names another server: a web page of another site may have let its own name resolve to this
    /// machine (RFC 9110 §15.5.20: this server is not responsible for the host in the request).
    public static let hostRefused = Self("host_refused", .misdirectedRequest)
    /// A page of another site sent the request.
    public static let originRefused = Self("origin_refused", .forbidden)
    /// A browser sent the request. The control API is for tools, and web pages must not use it.
    public static let browserRefused = Self("browser_refused", .forbidden)
    public static let bodyTooLarge = Self("body_too_large", .contentTooLarge)
    /// The body is not one strict JSON object, or not a form.
    public static let bodyMalformed = Self("body_malformed", .badRequest)
    /// A string of the body contains U+0000.
    public static let characterNotAllowed = Self("character_not_allowed", .badRequest)
    public static let memberUnknown = Self("member_unknown", .badRequest)
    public static let memberMalformed = Self("member_malformed", .badRequest)
    /// A query or path parameter has an unknown name or an invalid value.
    public static let parameterMalformed = Self("parameter_malformed", .badRequest)
    /// The form is of a page from an earlier run.
    public static let pageOutdated = Self("page_outdated", .badRequest)
}
