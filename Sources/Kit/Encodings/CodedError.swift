/// An error that callers distinguish by its code. Two errors with the same code are equal, so
/// that tests and callers never depend on texts.
///
/// `description` may be logged or shown to a user. Only `debugDescription` contains parts of the input.
public protocol CodedError: Error, Equatable, CustomStringConvertible {
    /// The codes: a closed enumeration, so that an exhaustive `switch` over the codes
    /// does not compile when a new code is missing.
    associatedtype Code: Equatable, Sendable

    var code: Code { get }
}

extension CodedError {
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }
}
