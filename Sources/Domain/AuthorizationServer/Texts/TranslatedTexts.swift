/// The texts of a part of the pages, which a deployment can write in further languages.
///
/// The properties are texts, or groups of texts. A file of texts names them in lower case with underscores:
/// `signedInAs` is `signed_in_as`. A word in braces stands for a value.
public protocol TranslatedTexts: Sendable, Decodable {
    /// The name of the part in a file of texts.
    static var part: String { get }

    static var english: Self { get }
}

extension TranslatedTexts {
    /// The English texts, by the path of each in a file of texts, in the order of the declaration.
    static var englishTexts: [(path: String, text: String)] { members(of: english, at: part) }

    private static func members(of value: Any, at path: String) -> [(path: String, text: String)] {
        Mirror(reflecting: value).children.flatMap { child -> [(path: String, text: String)] in
            let path = "\(path).\(TextName.inFile(child.label ?? ""))"
            if let text = child.value as? String { return [(path, text)] }
            return members(of: child.value, at: path)
        }
    }
}

/// The name of a text.
enum TextName {
    /// Returns `redirect_uri_mismatch` for `redirectURIMismatch`.
    static func inFile(_ property: String) -> String {
        let letters = Array(property)
        var name = ""
        for (index, letter) in letters.enumerated() {
            let previousIsCapital = index > 0 && letters[index - 1].isUppercase
            let nextIsSmall = index + 1 < letters.count && letters[index + 1].isLowercase
            if index > 0, letter.isUppercase, !previousIsCapital || nextIsSmall { name += "_" }
            name += letter.lowercased()
        }
        return name
    }

    /// Returns the words in braces.
    static func places(in text: String) -> Set<String> {
        var places: Set<String> = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            places.insert(String(rest[open...close]))
            rest = rest[rest.index(after: close)...]
        }
        return places
    }
}
