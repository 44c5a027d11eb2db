/// A language of the pages for users. The raw values are language tags (BCP 47).
public enum PageLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case arabic = "ar"
    case turkish = "tr"
    case polish = "pl"

    /// The value of the attribute `dir` of a page in this language.
    public var direction: String { self == .arabic ? "rtl" : "ltr" }
}

extension PageLanguage {
    /// Finds the language of a tag (BCP 47): its first part decides, so that `ar-EG` is Arabic. `nil` for a
    /// language that the pages do not have.
    public init?(tag: some StringProtocol) {
        self.init(tag: Array(tag.utf8)[...])
    }

    private init?(tag: some Collection<UInt8>) {
        // Some systems write an underscore.
        let primary = tag.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        let lowercase = primary.lazy.map { $0.isUppercaseLetter ? $0 | 0x20 : $0 }
        guard let language = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(lowercase) }) else {
            return nil
        }
        self = language
    }

    /// Finds the preferred language of the field `Accept-Language` (RFC 9110 §12.5.4) among the languages of
    /// the pages. The first of several languages with equal weight is chosen.
    public init?(acceptLanguage: String) {
        var field = acceptLanguage
        guard let language = field.withUTF8(Self.mostWanted) else { return nil }
        self = language
    }

    /// Number of bytes of the field that are read.
    private static let longestField = 1024

    private static func mostWanted(_ field: UnsafeBufferPointer<UInt8>) -> PageLanguage? {
        // Browsers send a dozen languages; the rest of a longer list or field is ignored.
        let ranges = field.prefix(longestField).split(separator: UInt8(ascii: ","), maxSplits: 32).prefix(32)
        var best: (language: PageLanguage, weight: Int)?
        for range in ranges {
            let end = range.firstIndex(of: UInt8(ascii: ";")) ?? range.endIndex
            let tag = range[..<end].drop(while: isSpace).prefix { !isSpace($0) }
            guard let language = PageLanguage(tag: tag),
                let weight = end < range.endIndex ? weight(range[(end + 1)...]) : 1000, weight > 0
            else { continue }
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Reads `q=0.8` in thousandths. `nil` for anything else (RFC 9110 §12.4.2).
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
}
