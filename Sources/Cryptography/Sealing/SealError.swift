/// Why a sealed value was not opened. Match on `code`.
public struct SealError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// Too short, of another version, or with no key's name in it.
        case malformed
        /// Sealed by a key that the ring does not have.
        case unknownKey = "unknown_key"
        /// Changed, sealed for something else, or sealed by another key of the same name. Which of them cannot be told.
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
