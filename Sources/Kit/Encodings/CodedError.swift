/// An error that callers identify by its code. Two errors with the same code are equal, so tests and callers
/// never depend on an error's text.
///
/// `description` is safe to show to users and to log. Only `debugDescription` contains parts of the input.
public protocol CodedError: Error, Equatable, CustomStringConvertible {
    /// Closed enumeration of the codes. A new code breaks every exhaustive `switch` that does not handle it.
    associatedtype Code: Equatable, Sendable

    var code: Code { get }
}

extension CodedError {
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }
}
