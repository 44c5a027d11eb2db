/// A text for people in one or more languages of the pages.
public struct LocalizedText: Sendable, Hashable {
    /// What people see whose language has no text.
    public let english: String
    private let others: [PageLanguage: String]

    public init(english: String, _ others: [PageLanguage: String] = [:]) {
        self.english = english
        self.others = others.filter { $0.key != .english }
    }

    public subscript(language: PageLanguage) -> String { others[language] ?? english }
}
