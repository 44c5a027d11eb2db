package import Encodings

/// The wrong secrets of a client from one address or network, for operators.
package struct SecretGuesses: Sendable, Equatable {
    /// `nil` stands for all requests from unknown addresses.
    package let network: CountedNetwork?
    /// Number of wrong secrets that were counted. What is refused during a pause is not.
    package let wrong: Int
    /// True if the free attempts are used up, so that each further wrong secret begins a pause.
    package let isSlowed: Bool
    /// Seconds of the pause; `nil` when the next wrong secret is counted.
    package let pause: Int64?
}
