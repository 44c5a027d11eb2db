import HTTPTypes

extension EmulatorError.Code {
    /// The HTTP status of the problem (RFC 9457).
    var status: HTTPResponse.Status {
        switch self {
        case .configurationInvalid, .stateFileDamaged, .stateFileUnwritable: .internalServerError
        case .pathNotFound, .userNotFound, .keyNotFound, .clientIDUnknown: .notFound
        // RFC 9110 §15.5.20: this server does not answer for the host in the request.
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
