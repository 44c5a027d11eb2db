public import Encodings

/// Error codes of a verification that runs in steps.
public protocol StepErrorCode: RawRepresentable<String>, Equatable, Sendable, CaseIterable {
    associatedtype Step: Sendable

    /// The refused object's name in messages.
    static var object: String { get }
    /// The step that throws this code.
    var step: Step { get }
}

/// A refusal by a verification step, with the found value and the expected value. Match on `code`.
///
/// Both values may repeat parts of the input, so they are for a
/// debugger, never for a log or a response. Comparisons ignore them.
public struct StepError<Code: StepErrorCode>: CodedError, CustomDebugStringConvertible {
    public let code: Code
    public let found: String
    public let expected: String

    /// Creates the error. The initializer is public because tests compare errors.
    public init(_ code: Code, found: String = "", expected: String = "") {
        (self.code, self.found, self.expected) = (code, found, expected)
    }

    /// The verification step that failed.
    public var step: Code.Step { code.step }

    // This repeats the comparison from `CodedError`, because otherwise a file that does not import
    // `Encodings` would compare all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Code.object) refused: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (found \(found), expected \(expected))" }
}
