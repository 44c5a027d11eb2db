import AppleAccounts
import Pages

/// An ID in a table: its kind and its end. The beginning of an account's ID is a time, so that neighbours look alike.
enum ShortID {
    /// Characters of an ID that is shown whole.
    static let whole = 20

    static func text(_ id: String) -> String {
        guard id.count > whole else { return id }
        let kind = id.firstIndex { "_.".contains($0) }.map { id[...$0] } ?? id.prefix(4)
        return "\(kind.prefix(10))…\(id.suffix(8))"
    }
}

extension HTML {
    /// Returns a link to the page of an account, as a table shows it.
    static func shortLink(to account: AccountID) -> HTML {
        let id = account.rawValue
        return "<a href=\"/console/people/\(id)\" title=\"\(id)\"><code>\(ShortID.text(id))</code></a>"
    }
}
