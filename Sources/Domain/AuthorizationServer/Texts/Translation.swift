/// The texts of all pages in a language that is not built in, from a file in the deployment's texts
/// directory.
public final class Translation: Sendable {
    /// The language tag (BCP 47), which is also the file's name.
    public let tag: String
    private let parts: [String: any TranslatedTexts]

    init(tag: String, parts: [String: any TranslatedTexts]) {
        (self.tag, self.parts) = (tag, parts)
    }

    /// The texts of one part. The texts of all parts were already created when the file was checked.
    public subscript<Texts: TranslatedTexts>(_ type: Texts.Type) -> Texts {
        parts[Texts.part] as? Texts ?? Texts.english
    }

    /// True for a right-to-left language. If the tag contains a script, as in `az-Arab`, only the script
    /// counts.
    public var isRightToLeft: Bool {
        let subtags = tag.split(separator: "-")
        if let script = subtags.dropFirst().first(where: { $0.count == 4 }) {
            return Self.rightToLeftScripts.contains(String(script))
        }
        return Self.rightToLeftLanguages.contains(String(subtags.first ?? ""))
    }

    /// Right-to-left scripts (ISO 15924).
    private static let rightToLeftScripts: Set = [
        "Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa",
    ]

    /// Languages that are written in a right-to-left script by default.
    private static let rightToLeftLanguages: Set = [
        "ar", "arc", "azb", "bal", "ckb", "dv", "fa", "glk", "he", "lrc", "mzn", "nqo", "ps", "sd", "skr",
        "syr",
        "ug", "ur", "yi",
    ]
}

extension Translation: Hashable {
    /// Compares the tags, because a deployment has only one translation per tag.
    public static func == (lhs: Translation, rhs: Translation) -> Bool { lhs.tag == rhs.tag }

    public func hash(into hasher: inout Hasher) { hasher.combine(tag) }
}

/// The unchecked content of a text file.
public struct TranslationDraft: Sendable {
    /// The file name, for error messages.
    public var file: String
    /// The language tag, which is the file name without its extension.
    public var tag: String
    /// The texts, by path.
    public var texts: [String: String]

    /// Maximum length of a text in Unicode scalars.
    public static let longestText = 1000
    /// Maximum size of a file in bytes.
    public static let longestFile = 65_536

    public init(file: String, tag: String, texts: [String: String]) {
        (self.file, self.tag, self.texts) = (file, tag, texts)
    }

    /// Returns the paths of all texts in these parts, each with its English text, in text file order.
    public static func texts(of parts: [any TranslatedTexts.Type]) -> [(path: String, text: String)] {
        parts.flatMap { $0.englishTexts }
    }
}

extension PageLanguages {
    /// Name of the texts directory setting.
    public static let setting = "oauth.texts_directory"

    /// Checks a deployment's text files. A missing text is a mistake, because a page without it would mix two
    /// languages.
    ///
    /// - Parameter parts: The parts of the pages.
    /// - Returns: The languages, including those whose files contain mistakes, so that configured texts in
    ///   these languages cause no further mistakes.
    public static func check(
        _ drafts: [TranslationDraft], parts: [any TranslatedTexts.Type]
    ) -> (languages: PageLanguages, mistakes: [OAuthMistake]) {
        var check = TranslationCheck(texts: TranslationDraft.texts(of: parts))
        if drafts.count > mostTranslations {
            check.add(
                .languagesTooMany,
                "has \(drafts.count) files, but at most \(mostTranslations) languages are possible")
        }
        let translations = drafts.prefix(mostTranslations).compactMap { check.translation($0, parts: parts) }
        return (PageLanguages(translations), check.mistakes)
    }
}

/// Reads text files, and collects all mistakes in them.
struct TranslationCheck {
    let texts: [(path: String, text: String)]
    private(set) var mistakes: [OAuthMistake] = []

    init(texts: [(path: String, text: String)]) {
        self.texts = texts
    }

    mutating func add(_ code: OAuthMistake.Code, _ text: String) {
        mistakes.append(OAuthMistake(code, at: PageLanguages.setting, text))
    }

    /// Reads a translation. Returns `nil` if the file is not named after the tag of an additional language.
    mutating func translation(
        _ draft: TranslationDraft, parts: [any TranslatedTexts.Type]
    ) -> Translation? {
        let before = mistakes.count
        guard checkTag(of: draft) else { return nil }
        let missing = texts.map(\.path).filter { draft.texts[$0] == nil }
        if !missing.isEmpty {
            add(
                .translationIncomplete,
                "has \(draft.file), where \(missing.count) of \(texts.count) texts are missing: "
                    + "\(missing.joined(separator: ", ")); siwa client texts prints all of them in English")
        }
        let known = Set(texts.map(\.path))
        for path in draft.texts.keys.sorted() where !known.contains(path) {
            add(.translationUnknown, "has \(draft.file), where \(path) is not known; remove it")
        }
        for (path, english) in texts {
            guard let text = draft.texts[path] else { continue }
            checkText(text, at: path, english: english, in: draft.file)
        }
        guard mistakes.count == before else { return Translation(tag: draft.tag, parts: [:]) }
        var values: [String: any TranslatedTexts] = [:]
        for part in parts {
            // Decoding cannot fail here, because every text is present.
            values[part.part] = try? part.init(from: TextDecoder(texts: draft.texts, path: part.part))
        }
        return Translation(tag: draft.tag, parts: values)
    }

    private mutating func checkTag(of draft: TranslationDraft) -> Bool {
        guard draft.tag.wholeMatch(of: /[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?/) != nil else {
            add(
                .languageTagMalformed,
                "has \(draft.file); name a file of texts as its language, like fr.yaml, pt-BR.yaml or zh-Hant.yaml"
            )
            return false
        }
        guard PageLanguage(rawValue: draft.tag) == nil else {
            add(.languageBuiltIn, "has \(draft.file), but this language is built in; remove the file")
            return false
        }
        return true
    }

    private mutating func checkText(_ text: String, at path: String, english: String, in file: String) {
        guard (1...TranslationDraft.longestText).contains(text.unicodeScalars.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            return add(
                .textMalformed,
                "has \(file), where \(path) must have 1 to \(TranslationDraft.longestText) characters in one line"
            )
        }
        let (places, expected) = (TextName.places(in: text), TextName.places(in: english))
        guard places != expected else { return }
        let lacks = expected.subtracting(places).sorted()
        let exceeds = places.subtracting(expected).sorted()
        let faults =
            (lacks.isEmpty ? [] : ["lacks \(lacks.joined(separator: ", "))"])
            + (exceeds.isEmpty ? [] : ["has \(exceeds.joined(separator: ", "))"])
        add(
            .translationPlaces,
            "has \(file), where \(path) \(faults.joined(separator: " and ")), other than in English; "
                + "a word in braces stands for a value")
    }
}
