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

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }

    // Here too, because a file that does not import `Encodings` would get the comparison of all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Code.subject): \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
