public import Encodings

/// A failure to read signing keys. Match on `code`.
public struct SigningKeyError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The file or directory does not exist.
        case missing
        /// The file or the directory cannot be read.
        case unreadable
        /// A directory without a file named `AuthKey_<KEYID>.p8`.
        case noKey = "no_key"
        /// More keys than a rotation needs.
        case tooManyKeys = "too_many_keys"
        /// The key ID is neither configured nor part of the file name.
        case keyIDMissing = "key_id_missing"
        case keyIDMalformed = "key_id_malformed"
        case notPEM = "not_pem"
        case notP256 = "not_p256"
    }

    public let code: Code
    /// The path of the file or directory with the error.
    public let path: String?

    public init(_ code: Code, path: String? = nil) {
        (self.code, self.path) = (code, path)
    }

    init(_ refusal: ClientSigningKey.Refusal, path: String?) {
        let code: Code =
            switch refusal {
            case .keyIDMalformed: .keyIDMalformed
            case .notPEM: .notPEM
            case .notP256: .notP256
            }
        self.init(code, path: path)
    }
}

extension SigningKeyError {
    public var description: String { "signing key: \(code.rawValue)" }
}
