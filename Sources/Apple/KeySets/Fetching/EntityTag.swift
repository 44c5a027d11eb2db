/// Checks entity tags (RFC 9110 §8.8.3) before they are stored and sent back.
enum EntityTag {
    private static let longest = 256

    /// Returns `nil` for a tag that a request header cannot carry: once stored, it would break every later
    /// fetch.
    static func usable(_ tag: String?) -> String? {
        guard let tag, (1...longest).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return tag
    }
}
