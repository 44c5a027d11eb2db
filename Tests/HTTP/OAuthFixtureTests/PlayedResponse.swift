import Foundation
import Testing

/// A response as received. Foundation reads its JSON, not the reader of the service.
struct PlayedResponse: Sendable {
    let status: Int
    let fields: [String: String]
    let body: [UInt8]

    struct Malformed: Error {}

    init(_ bytes: [UInt8]) throws {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw Malformed() }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let status = Int(lines.removeFirst().split(separator: " ")[1]) else { throw Malformed() }
        self.status = status
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            let isFirst =
                fields.updateValue(
                    parts[1].trimmingCharacters(in: .whitespaces), forKey: parts[0].lowercased()) == nil
            #expect(isFirst, "\(parts[0]) twice")
        }
        self.fields = fields
        body = Array(bytes[end.upperBound...])
        #expect(fields["content-length"].map { Int($0) == body.count } ?? true)
    }

    subscript(field: String) -> String? { fields[field] }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The members of a JSON object.
    func object() throws -> [String: any Sendable] {
        #expect(fields["content-type"]?.hasPrefix("application/json") == true)
        return try Self.object(Data(body))
    }

    static func object(_ data: Data) throws -> [String: any Sendable] {
        let value = try JSONSerialization.jsonObject(with: data)
        return try #require(value as? [String: any Sendable])
    }

    /// Checks that caches must not store the response (RFC 6749 §5.1).
    func expectNoStore() {
        #expect(fields["cache-control"]?.contains("no-store") == true)
    }
}
