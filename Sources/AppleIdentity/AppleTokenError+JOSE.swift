import JOSE

extension AppleTokenError {
    /// The token error for an error of `JOSE`.
    init(_ error: JOSEError) {
        let code: Code =
            switch error.code {
            case .jwsMalformed: .tokenMalformed
            case .algorithmNotAllowed: .algorithmNotAllowed
            case .headerNotAllowed: .headerNotAllowed
            case .keyIDInvalid: .keyIDInvalid
            case .keyUnusable, .keySetMalformed: .unknownKey
            case .signingFailed: .signatureInvalid
            }
        self.init(code, detail: error.detail)
    }
}
