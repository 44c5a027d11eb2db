import Encodings

/// The languages of a deployment's pages: the built-in languages, and the languages for which the deployment
/// adds texts.
public struct PageLanguages: Sendable {
    /// Only the built-in languages.
    public static let builtIn = PageLanguages([])

    /// Maximum number of languages that a deployment can add, limited because each tag in a request is
    /// compared with every language.
    public static let mostTranslations = 32

    public let all: [PageLanguage]

    public init(_ translations: [Translation]) {
        all = PageLanguage.allCases + translations.map { .other($0) }
    }

    /// Finds the language with exactly this tag.
    func named(_ tag: String) -> PageLanguage? { all.first { $0.rawValue == tag } }

    /// Finds the language for a tag (BCP 47): `ar-EG` finds Arabic. If both `pt` and `pt-BR` match, the
    /// longer tag wins (RFC 4647 §3.4). Returns `nil` if the pages do not have the language.
    public func language(tag: some StringProtocol) -> PageLanguage? { language(tag: Array(tag.utf8)[...]) }

    private func language(tag: some Collection<UInt8>) -> PageLanguage? {
        let tag = tag.prefix(Self.longestTag + 1).map { byte in
            // An underscore counts as a hyphen, because some systems write `pt_BR`.
            byte.isUppercaseLetter ? byte | 0x20 : byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte
        }
        var best: (language: PageLanguage, length: Int)?
        for language in all {
            let name = language.rawValue.utf8
            guard name.count > best?.length ?? 0, tag.count >= name.count,
                zip(tag, name).allSatisfy({ $0 == ($1.isUppercaseLetter ? $1 | 0x20 : $1) }),
                tag.count == name.count || tag[name.count] == UInt8(ascii: "-")
            else { continue }
            best = (language, name.count)
        }
        return best?.language
    }

    /// The maximum number of tag bytes that are compared. All page language tags are shorter.
    private static let longestTag = 35

    /// Finds the preferred page language from the `Accept-Language` header (RFC 9110 §12.5.4). Among equal
    /// weights, the first language wins.
    public func language(acceptLanguage: String) -> PageLanguage? {
        var field = acceptLanguage
        return field.withUTF8(mostWanted)
    }
    /// Maximum number of bytes to read from the header.
    private static let longestField = 1024

    private func mostWanted(_ field: UnsafeBufferPointer<UInt8>) -> PageLanguage? {
        // Browsers send about a dozen languages at most. Anything beyond the limits is ignored.
        let ranges = field.prefix(Self.longestField).split(separator: UInt8(ascii: ","), maxSplits: 32)
            .prefix(32)
        var best: (language: PageLanguage, weight: Int)?
        for range in ranges {
            let end = range.firstIndex(of: UInt8(ascii: ";")) ?? range.endIndex
            let tag = range[..<end].drop(while: Self.isSpace).prefix { !Self.isSpace($0) }
            guard let language = language(tag: tag),
                let weight = end < range.endIndex ? Self.weight(range[(end + 1)...]) : 1000, weight > 0
            else { continue }
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Reads a weight such as `q=0.8` in thousandths. Returns `nil` if it is malformed (RFC 9110 §12.4.2).
    private static func weight(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        let bytes = text.filter { !isSpace($0) }
        guard bytes.starts(with: "q=".utf8) || bytes.starts(with: "Q=".utf8) else { return nil }
        let number = bytes.dropFirst(2)
        guard let whole = number.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else {
            return nil
        }
        let decimals = number.dropFirst()
        guard decimals.count <= 4, decimals.first ?? UInt8(ascii: ".") == UInt8(ascii: "."),
            decimals.dropFirst().allSatisfy(\.isDigit)
        else { return nil }
        var value = 0
        for position in 0..<3 {
            let digit = decimals.dropFirst(position + 1).first.map { Int($0 - UInt8(ascii: "0")) } ?? 0
            value = value * 10 + digit
        }
        return min(1000, (whole == UInt8(ascii: "1") ? 1000 : 0) + value)
    }
}

/// A language of the user-facing pages.
public enum PageLanguage: Sendable, Hashable {
    case english, arabic, turkish, polish
    /// A language that the deployment adds.
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

    /// The `dir` attribute of pages in this language.
    public var direction: String {
        switch self {
        case .english, .turkish, .polish: "ltr"
        case .arabic: "rtl"
        case .other(let translation): translation.isRightToLeft ? "rtl" : "ltr"
        }
    }
}

extension PageLanguage: CaseIterable {
    /// The built-in languages.
    public static let allCases: [PageLanguage] = [.english, .arabic, .turkish, .polish]

    /// Finds a built-in language by its tag.
    public init?(rawValue: String) {
        guard let language = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = language
    }
}

/// The languages named in a request's parameters.
public struct RequestedLanguages: Sendable, Hashable {
    /// Language tags (BCP 47), in order of preference.
    public let tags: [String]

    public init(tags: [String] = []) {
        self.tags = tags
    }

    /// Reads the languages from a query that was not checked or was refused. A malformed query yields no
    /// languages.
    public init(query: String) {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query) else {
            self.init()
            return
        }
        self.init(ParameterReader(parameters))
    }

    /// Reads the languages. Google's `user_locale` parameter takes precedence over `ui_locales` (OpenID
    /// Connect Core §3.1.2.1).
    init(_ reader: ParameterReader) {
        let userLocale = (try? reader.hint(.userLocale)) ?? nil
        let uiLocales = (try? reader.hint(.uiLocales)) ?? nil
        tags = [userLocale].compactMap(\.self) + (uiLocales ?? "").split(separator: " ").map(String.init)
    }

    /// Returns the page language for the first known requested tag, otherwise for the `Accept-Language`
    /// header, otherwise English.
    public func language(among languages: PageLanguages, acceptLanguage: String?) -> PageLanguage {
        for tag in tags {
            if let language = languages.language(tag: tag) { return language }
        }
        return acceptLanguage.flatMap { languages.language(acceptLanguage: $0) } ?? .english
    }
}

/// A user-facing text in one or more page languages.
public struct LocalizedText: Sendable, Hashable {
    /// The text for users whose language has no translation.
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
