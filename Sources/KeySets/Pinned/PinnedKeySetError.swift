public import Encodings

/// Refusal of a pinned key set. This is a configuration error, and the service should not start. Equality is
/// on `code`.
public struct PinnedKeySetError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The file cannot be opened or read.
        case unreadable
        case empty
        /// More than 64 KiB.
        case tooLarge = "too_large"
        /// Not a JSON Web Key Set.
        case malformed
        /// No key in it can be used for verification.
        case noUsableKey = "no_usable_key"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension PinnedKeySetError: CustomDebugStringConvertible {
    public var description: String { "pinned key set refused: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
