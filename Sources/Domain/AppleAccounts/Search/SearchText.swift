/// The comparison of names and addresses in searches.
public enum SearchText {
    /// Returns a text with its ASCII letters in lower case, as the indexes of the stores have it.
    public static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }

    /// The number of places at which a name is divided, at most.
    private static let mostDivisions = 4

    /// Returns the last names that a searched name can contain: the whole name, and what follows one of its spaces.
    public static func lastNames(in name: String) -> [String] {
        let words = name.split(separator: " ", maxSplits: mostDivisions, omittingEmptySubsequences: true)
        return words.indices.map { words[$0...].joined(separator: " ") }
    }

    /// Returns true if a name in a profile is the searched name.
    public static func matches(_ profile: Profile, name: String) -> Bool {
        let wanted = folded(
            name.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " "))
        guard !wanted.isEmpty else { return false }
        let both = [profile.firstName, profile.lastName].compactMap { $0 }
        return both.contains { folded($0) == wanted } || folded(both.joined(separator: " ")) == wanted
    }
}
