/// A text for users in one or more languages of the pages.
public struct LocalizedText: Sendable, Hashable {
    /// The text for users whose language has no text.
    public let english: String
    private let others: [PageLanguage: String]

    public init(english: String, _ others: [PageLanguage: String] = [:]) {
        self.english = english
        self.others = others.filter { $0.key != .english }
    }

    public subscript(language: PageLanguage) -> String { others[language] ?? english }

    /// Returns the same text with one more language.
    func adding(_ text: String, in language: PageLanguage) -> LocalizedText {
        var others = others
        others[language] = text
        return LocalizedText(english: english, others)
    }
}
