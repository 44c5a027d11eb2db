import Encodings
import HTTPEngine

/// A form as a browser posts it (`application/x-www-form-urlencoded`, URL Standard §5.1), parsed strictly.
///
/// Lenient parsers repair broken escapes, and use either the first or the last field of a repeated name, so
/// two parsers can read the same form differently. Ignores unknown names, because Apple may add names.
struct Form: Sendable {
    /// Maximum number of form fields. Apple sends at most four.
    static let mostFields = 16
    /// Maximum form size in bytes. Apple's form contains our `state` of at most 8 KiB, and Apple's token,
    /// code and name need much less than the remaining 8 KiB.
    static let mostBytes = 16_384

    private let values: [(name: String, value: String)]

    /// Reads a form. Throws `body_too_large`, `form_malformed` or `character_not_allowed`.
    init(
        parsing body: [UInt8], mostFields: Int = mostFields, mostBytes: Int = mostBytes
    ) throws(Problem) {
        // Checks the size first, because the time for all later steps depends on the number of bytes.
        guard body.count <= mostBytes else { throw Problem(.bodyTooLarge) }
        guard Self.offset(of: 0, in: body[...]) == nil else { throw Problem(.characterNotAllowed) }
        guard body.withUnsafeBytes({ WordScan.endOfPrintableASCII(in: $0) }) == body.count else {
            throw Problem(.formMalformed)
        }
        var values: [(name: String, value: String)] = []
        var rest: ArraySlice<UInt8>? = body[...]
        while let fields = rest {
            let end = Self.offset(of: UInt8(ascii: "&"), in: fields)
            let field = end.map { fields[..<$0] } ?? fields
            rest = end.map { fields[($0 + 1)...] }
            // Checks the number of fields first, so that parsing stops at the first field beyond the limit.
            guard values.count < mostFields, let mark = Self.offset(of: UInt8(ascii: "="), in: field),
                Self.offset(of: UInt8(ascii: "="), in: field[(mark + 1)...]) == nil
            else { throw Problem(.formMalformed) }
            let (name, value) = (try Self.decode(field[..<mark]), try Self.decode(field[(mark + 1)...]))
            guard !name.isEmpty, !values.contains(where: { $0.name.isByteEqual(to: name) }) else {
                throw Problem(.formMalformed)
            }
            values.append((name, value))
        }
        self.values = values
    }

    /// Returns the value of a field; `nil` if the field is absent or empty.
    subscript(name: StaticString) -> String? {
        let value = values.first { field in
            field.name.utf8.elementsEqual(name.bytes)
        }?.value
        return value?.isEmpty == false ? value : nil
    }

    /// Returns `true` if each of the form's fields has one of these names.
    func hasOnly(_ names: StaticString...) -> Bool {
        values.allSatisfy { field in names.contains { field.name.utf8.elementsEqual($0.bytes) } }
    }

    /// Returns all names that begin with the prefix, without the prefix.
    func names(after prefix: String) -> [String] {
        values.compactMap { field in
            guard field.name.utf8.starts(with: prefix.utf8) else { return nil }
            return String(field.name.utf8.dropFirst(prefix.utf8.count))
        }
    }

    /// Returns the index of the first byte with this value; `nil` if there is none.
    private static func offset(of byte: UInt8, in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { WordScan.firstOffset(of: byte, in: $0, from: 0) }.map {
            bytes.startIndex + $0
        }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
        do throws(PercentEncoding.Failure) {
            return try bytes.withUnsafeBufferPointer {
                PercentEncoding.decode($0, plus: UInt8(ascii: " "))
            }.get()
        } catch {
            throw error.problem(.formMalformed)
        }
    }
}
