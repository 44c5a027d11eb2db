import AppleAccounts
import Inspection

/// Personal texts as a page shows them before an operator asks to see them.
enum MaskedText {
    /// "a…@p…" for an address. Relay addresses and others look alike.
    static func email(_ address: String, isShown: Bool) -> String {
        isShown ? address : PersonMask.address(address)
    }

    /// The first letter and "…".
    static func text(_ text: String, isShown: Bool) -> String {
        isShown ? text : text.prefix(1) + "…"
    }

    static func name(_ profile: Profile, isShown: Bool) -> String? {
        let parts = [profile.firstName, profile.lastName].compactMap { $0 }
        return parts.isEmpty ? nil : parts.map { text($0, isShown: isShown) }.joined(separator: " ")
    }
}
