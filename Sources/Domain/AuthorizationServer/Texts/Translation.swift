/// The texts of all pages in a language that is not built in, from the directory of a deployment.
public final class Translation: Sendable {
    /// The language tag (BCP 47), as the name of the file.
    public let tag: String
    private let parts: [String: any TranslatedTexts]

    init(tag: String, parts: [String: any TranslatedTexts]) {
        (self.tag, self.parts) = (tag, parts)
    }

    /// The texts of one part. The check of the file has made all of them.
    public subscript<Texts: TranslatedTexts>(_ type: Texts.Type) -> Texts {
        parts[Texts.part] as? Texts ?? Texts.english
    }

    /// True for a language that is written from right to left. A script in the tag decides, as in `az-Arab`.
    public var isRightToLeft: Bool {
        let subtags = tag.split(separator: "-")
        if let script = subtags.dropFirst().first(where: { $0.count == 4 }) {
            return Self.rightToLeftScripts.contains(String(script))
        }
        return Self.rightToLeftLanguages.contains(String(subtags.first ?? ""))
    }

    /// ISO 15924.
    private static let rightToLeftScripts: Set = [
        "Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa",
    ]

    /// Languages whose usual script is one of these.
    private static let rightToLeftLanguages: Set = [
        "ar", "arc", "azb", "bal", "ckb", "dv", "fa", "glk", "he", "lrc", "mzn", "nqo", "ps", "sd", "skr",
        "syr",
        "ug", "ur", "yi",
    ]
}

extension Translation: Hashable {
    /// A deployment has one translation for a tag.
    public static func == (lhs: Translation, rhs: Translation) -> Bool { lhs.tag == rhs.tag }

    public func hash(into hasher: inout Hasher) { hasher.combine(tag) }
}
