/// Why a sealed value could not be opened. Match on `code`.
public struct SealError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// Too short, of an unknown version, or without a key name.
        case malformed
        /// Sealed by a key that is not in the ring.
        case unknownKey = "unknown_key"
        /// Changed, sealed for another purpose or row, or sealed by another key with the same name. These
        /// cases cannot be distinguished.
        case authenticationFailed = "authentication_failed"
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}

extension SealError: CustomStringConvertible {
    public var description: String { "sealed value refused: \(code.rawValue)" }
}
