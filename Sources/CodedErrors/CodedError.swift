// CodedErrors owns what the errors of all modules have in common. It knows no error.

/// An error that callers tell apart by its code. Two errors with one code are equal, whatever else they carry, so that
/// tests and callers never depend on a text.
///
/// `description` may go to a log or to a user. Parts of the input stand in `debugDescription` only.
public protocol CodedError: Error, Equatable, CustomStringConvertible {
    /// Closed, so that a `switch` that gives each code a meaning does not compile without the newest one.
    associatedtype Code: Equatable, Sendable

    var code: Code { get }
}

extension CodedError {
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }
}
