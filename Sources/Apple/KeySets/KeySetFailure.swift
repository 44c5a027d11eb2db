public import Encodings

/// Codes of a failure to get keys.
public protocol KeySetFailureCode: RawRepresentable<String>, Equatable, Sendable, CaseIterable {
    /// The first words of the message.
    static var subject: String { get }
}

/// A failure to get keys, with its code. Match on `code`; equality is on `code`.
public struct KeySetFailure<Code: KeySetFailureCode>: CodedError, CustomDebugStringConvertible {
    public let code: Code
    public let detail: String
    /// Seconds until the next attempt to get keys; `nil` when the moment is not known.
    public let retryAfter: Int?

    public init(_ code: Code, detail: String = "", retryAfter: Int? = nil) {
        (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
    }

    // Here too, because a file that does not import `Encodings` would get the comparison of all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Code.subject): \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
