public import AppAttestation
import Encodings

/// The facts of iOS 27 and macOS 27 about the app that uses a key, in a form that every store can keep. They never
/// decide.
public struct AttestedAppFacts: Sendable, Hashable {
    /// In bytes. The longest `CFBundleVersion` that Apple documents has 18 characters.
    public static let longestBundleVersion = 64

    /// Values that `ValidationCategory` does not have are possible.
    public let validationCategory: UInt32?
    public let bundleVersion: String?

    /// The app runs on an older system.
    public static let none = AttestedAppFacts()

    /// A version that is too long, or has a control character, counts as absent: the text is untrusted.
    public init(validationCategory: UInt32? = nil, bundleVersion: String? = nil) {
        self.validationCategory = validationCategory
        self.bundleVersion = bundleVersion.flatMap { text in
            (1...Self.longestBundleVersion).contains(text.utf8.count) && !text.hasControlCharacters
                ? text : nil
        }
    }

    public init(_ extensions: AuthenticatorExtensions) {
        self.init(
            validationCategory: extensions.validationCategory, bundleVersion: extensions.bundleVersion)
    }
}
