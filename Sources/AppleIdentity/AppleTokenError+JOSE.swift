import JOSE

extension AppleTokenError {
    /// What a refusal by `JOSE` means for a token.
    init(_ error: JOSEError) {
        let code: Code =
            switch error.code {
            case .jwsMalformed, .jsonInvalid, .characterNotAllowed: .tokenMalformed
            case .algorithmNotAllowed: .algorithmNotAllowed
            case .headerNotAllowed: .headerNotAllowed
            case .keyIDInvalid: .keyIDInvalid
            case .keyUnusable, .keySetMalformed: .unknownKey
            case .signingFailed: .signatureInvalid
            }
        self.init(code, detail: error.detail)
    }
}
