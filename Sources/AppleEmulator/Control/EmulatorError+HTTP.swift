import HTTPTypes

extension EmulatorError.Code {
    /// The status of the problem that a caller gets (RFC 9457).
    var status: HTTPResponse.Status {
        switch self {
        case .configurationInvalid, .stateFileDamaged, .stateFileUnwritable: .internalServerError
        case .pathNotFound, .userNotFound, .keyNotFound, .clientIDUnknown: .notFound
        // RFC 9110 §15.5.20: it does not speak for the host that was asked.
        case .hostRefused: .misdirectedRequest
        case .browserRefused, .originRefused: .forbidden
        case .bodyTooLarge: .contentTooLarge
        case .bodyMalformed, .characterNotAllowed, .memberUnknown, .memberMalformed, .memberIneffective,
            .parameterMalformed:
            .badRequest
        case .userExists, .tooManyUsers, .keyExists, .tooManyKeys, .noSigningKey, .notificationURLMissing,
            .tooManyTransfers, .tooManyRedirectURIs:
            .conflict
        case .notificationURLRefused, .tokenUnsignable, .clientKeyRefused, .redirectURIRefused:
            .unprocessableContent
        }
    }
}
