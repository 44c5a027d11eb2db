/// A language of the pages for users.
public enum PageLanguage: Sendable, Hashable {
    case english, arabic, turkish, polish
    /// A language that a deployment has written texts for.
    case other(Translation)

    /// The language tag (BCP 47).
    public var rawValue: String {
        switch self {
        case .english: "en"
        case .arabic: "ar"
        case .turkish: "tr"
        case .polish: "pl"
        case .other(let translation): translation.tag
        }
    }

    /// The value of the attribute `dir` of a page in this language.
    public var direction: String {
        switch self {
        case .english, .turkish, .polish: "ltr"
        case .arabic: "rtl"
        case .other(let translation): translation.isRightToLeft ? "rtl" : "ltr"
        }
    }
}

extension PageLanguage: CaseIterable {
    /// The languages that are built in.
    public static let allCases: [PageLanguage] = [.english, .arabic, .turkish, .polish]

    /// Finds a built-in language by its tag.
    public init?(rawValue: String) {
        guard let language = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = language
    }
}
