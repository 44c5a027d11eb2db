public import Encodings

/// The refusal of one step of a verification, with the value that was found and the value that was expected.
///
/// Both values may repeat parts of the input: they are for a debugger, never for a log or a response. They play no part
/// in a comparison.
public protocol StepError: CodedError, CustomDebugStringConvertible where Code: RawRepresentable<String> {
    var found: String { get }
    var expected: String { get }
    /// The refused object, in the words of a message.
    static var object: String { get }
}

extension StepError {
    // Here too, because a file that does not import `Encodings` would get the comparison of all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Self.object) refused: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (found \(found), expected \(expected))" }
}
