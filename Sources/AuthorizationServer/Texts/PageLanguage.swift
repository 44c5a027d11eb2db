/// A language that the pages for people are written in. The raw values are language tags (BCP 47).
public enum PageLanguage: String, Sendable, Hashable, CaseIterable {
    case english = "en"
    case arabic = "ar"
    case turkish = "tr"
    case polish = "pl"

    /// The value of the attribute `dir` of a page in this language.
    public var direction: String { self == .arabic ? "rtl" : "ltr" }
}

extension PageLanguage {
    /// The language of a tag (BCP 47): its first part decides, so that `ar-EG` is Arabic. `nil` for a language
    /// that the pages do not have.
    public init?(tag: some StringProtocol) {
        // Some systems write an underscore.
        let primary = tag.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        guard primary.count <= 3 else { return nil }
        self.init(rawValue: String(decoding: primary, as: UTF8.self).lowercased())
    }

    /// The most wanted language of the field `Accept-Language` (RFC 9110 §12.5.4) that the pages have. Of
    /// equal weights the first counts.
    public init?(acceptLanguage: String) {
        // Browsers send a dozen; the rest of a longer list is not looked at.
        let ranges = acceptLanguage.split(separator: ",", maxSplits: 32).prefix(32)
        var best: (language: PageLanguage, weight: Int)?
        for range in ranges {
            let parts = range.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
            guard let tag = parts.first.map({ $0.drop { $0 == " " || $0 == "\t" } }),
                let language = PageLanguage(tag: tag.prefix { $0 != " " && $0 != "\t" }),
                let weight = parts.count > 1 ? Self.weight(parts[1]) : 1000, weight > 0
            else { continue }
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        guard let best else { return nil }
        self = best.language
    }

    /// Reads `q=0.8` in thousandths. `nil` for anything else (RFC 9110 §12.4.2).
    private static func weight(_ text: Substring) -> Int? {
        let bytes = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
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
