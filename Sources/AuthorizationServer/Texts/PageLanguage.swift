/// A language that the pages for people are written in. The raw values are language tags (BCP 47).
public enum PageLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case arabic = "ar"
    case turkish = "tr"
    case polish = "pl"

    /// The value of the attribute `dir` of a page in this language.
    public var direction: String { self == .arabic ? "rtl" : "ltr" }
}
