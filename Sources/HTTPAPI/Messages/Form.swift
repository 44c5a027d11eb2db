/// A form as a browser posts it (`application/x-www-form-urlencoded`, URL Standard §5.1), parsed strictly.
///
/// Lenient parsers repair broken escapes and take the first or the last of two equal names, so that two of
/// them can see different forms. Unknown names are ignored, because Apple may add some.
struct Form: Sendable {
    /// How many fields a form may have. Apple sends four at most.
    static let mostFields = 16

    private let values: [(name: String, value: String)]

    /// Throws `form_malformed` or `character_not_allowed`.
    init(parsing body: [UInt8], mostFields: Int = mostFields) throws(Problem) {
        guard !body.contains(0) else { throw Problem(.characterNotAllowed) }
        guard body.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { throw Problem(.formMalformed) }
        let text = String(decoding: body, as: UTF8.self)
        var values: [(name: String, value: String)] = []
        for pair in text.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Problem(.formMalformed) }
            let (name, value) = (try Self.decode(parts[0]), try Self.decode(parts[1]))
            guard !name.isEmpty, values.count < mostFields,
                !values.contains(where: { $0.name.utf8.elementsEqual(name.utf8) })
            else { throw Problem(.formMalformed) }
            values.append((name, value))
        }
        self.values = values
    }

    /// `nil` when there is no such field, or when it is empty.
    subscript(name: StaticString) -> String? {
        let value = values.first { field in
            field.name.utf8.elementsEqual(name.bytes)
        }?.value
        return value?.isEmpty == false ? value : nil
    }

    /// What follows a prefix in the names that have it.
    func names(after prefix: String) -> [String] {
        values.compactMap { field in
            guard field.name.utf8.starts(with: prefix.utf8) else { return nil }
            return String(field.name.utf8.dropFirst(prefix.utf8.count))
        }
    }

    private static func decode(_ text: Substring) throws(Problem) -> String {
        let text = text.utf8.contains(UInt8(ascii: "+")) ? text.replacing("+", with: " ")[...] : text
        do throws(PercentEncoding.Failure) {
            return try PercentEncoding.decode(text)
        } catch {
            throw error.problem(.formMalformed)
        }
    }
}
