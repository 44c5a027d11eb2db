/// The texts for a part of the pages, which a deployment can translate into additional languages.
///
/// Each property is a text or a group of texts. Text files name the properties in snake case: `signedInAs`
/// becomes `signed_in_as`. A word in braces is a placeholder for a value.
public protocol TranslatedTexts: Sendable, Decodable {
    /// The part's name in a text file.
    static var part: String { get }

    static var english: Self { get }
}

extension TranslatedTexts {
    /// The English texts with their paths in a text file, in declaration order.
    static var englishTexts: [(path: String, text: String)] { members(of: english, at: part) }

    private static func members(of value: Any, at path: String) -> [(path: String, text: String)] {
        Mirror(reflecting: value).children.flatMap { child -> [(path: String, text: String)] in
            let path = "\(path).\(TextName.inFile(child.label ?? ""))"
            if let text = child.value as? String { return [(path, text)] }
            return members(of: child.value, at: path)
        }
    }
}

/// The names of texts and placeholders in text files.
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

    /// Returns the placeholders: the words in braces.
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

/// Decodes one part's texts from the texts in a file. Each property's path names its text.
struct TextDecoder: Decoder {
    let texts: [String: String]
    let path: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(TextMembers(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw refusal }

    /// The error for a value that is neither a text nor a group of texts.
    fileprivate var refusal: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "\(path) is no text"))
    }
}

private struct TextMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: TextDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    private func path(_ key: Key) -> String { "\(decoder.path).\(TextName.inFile(key.stringValue))" }

    func contains(_ key: Key) -> Bool { decoder.texts[path(key)] != nil }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        guard let text = decoder.texts[path(key)] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: path(key)))
        }
        return text
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try T(from: TextDecoder(texts: decoder.texts, path: path(key)))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { throw decoder.refusal }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { throw decoder.refusal }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { throw decoder.refusal }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { throw decoder.refusal }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { throw decoder.refusal }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { throw decoder.refusal }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { throw decoder.refusal }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { throw decoder.refusal }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { throw decoder.refusal }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { throw decoder.refusal }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { throw decoder.refusal }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { throw decoder.refusal }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { throw decoder.refusal }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw decoder.refusal }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw decoder.refusal
    }

    func superDecoder() throws -> any Decoder { throw decoder.refusal }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.refusal }
}
