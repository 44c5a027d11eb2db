import Foundation
import TestSupport

/// A case of `Fixtures/oauth` with the name of its file. Foundation reads the file, not the reader of the
/// service. Its members are named in snake case.
struct OAuthFixture<Content: Decodable & Sendable>: Sendable, CustomStringConvertible {
    let name: String
    let content: Content

    struct Empty: Error {
        let folder: String
    }

    /// All cases of a folder, in the order of their names.
    static func all(in name: String) throws -> [OAuthFixture] {
        let folder = FixtureFolder("oauth/\(name)")
        let names = try folder.names()
        // A test without arguments would pass without having looked at anything.
        guard !names.isEmpty else { throw Empty(folder: name) }
        return try names.map { try OAuthFixture(name: $0, in: folder) }
    }

    init(name: String, in folder: FixtureFolder) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self.name = String(name.dropLast(".json".count))
        content = try decoder.decode(Content.self, from: Data(try folder.bytes(of: name)))
    }

    var description: String { name }
}

/// A JSON value of a response. A text in braces stands for a value that the file cannot know.
enum FixtureValue: Decodable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case text(String)
    case list([FixtureValue])
    case object([String: FixtureValue])

    /// Values for the texts in braces.
    struct Context: Sendable {
        let account: String?
        /// Seconds since 1970.
        let now: Int64
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([FixtureValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: FixtureValue].self))
        }
    }

    /// True if the value of a response equals this value. The order of a list has no meaning.
    func matches(_ actual: FixtureValue, in context: Context) -> Bool {
        switch (self, actual) {
        case (.bool(let own), .bool(let other)): return own == other
        case (.integer(let own), .integer(let other)): return own == other
        case (.text("{account}"), .text(let other)): return other == context.account
        case (.text("{text}"), .text(let other)): return !other.isEmpty
        case (.text(let own), .integer(let other)):
            return Self.secondsAfterNow(own).map { context.now + $0 } == other
        case (.text(let own), .text(let other)): return !own.hasPrefix("{") && own == other
        case (.list(let own), .list(var rest)):
            for value in own {
                guard let index = rest.firstIndex(where: { value.matches($0, in: context) }) else {
                    return false
                }
                rest.remove(at: index)
            }
            return rest.isEmpty
        case (.object(let own), .object(let other)):
            return own.keys == other.keys
                && own.allSatisfy { name, value in other[name].map { value.matches($0, in: context) } ?? false
                }
        default: return false
        }
    }

    /// Returns the offset of `{now}`, `{now+3600}` and `{now-5}`.
    private static func secondsAfterNow(_ text: String) -> Int64? {
        guard text.hasPrefix("{now"), text.hasSuffix("}") else { return nil }
        let seconds = text.dropFirst("{now".count).dropLast()
        return seconds.isEmpty ? 0 : Int64(seconds)
    }
}

/// A redirect to a client, split into the registered URI and the added parameters.
///
/// The parameters are not decoded, because cases are about their bytes.
struct Location {
    let parameters: [String: String]

    struct Malformed: Error {
        let location: String
    }

    /// Throws unless the location is the URI followed by parameters, none of them twice.
    init(_ location: String, of uri: String) throws {
        let fault = Malformed(location: location)
        let separator = uri.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        let rest = location.utf8.dropFirst(uri.utf8.count)
        guard location.utf8.starts(with: uri.utf8), rest.first == separator,
            // Nothing that ends a header field or begins a fragment, and a space only as an escape.
            location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw fault }
        var parameters: [String: String] = [:]
        for pair in rest.dropFirst().split(separator: UInt8(ascii: "&")) {
            guard let end = pair.firstIndex(of: UInt8(ascii: "=")) else { throw fault }
            let name = String(decoding: pair[..<end], as: UTF8.self)
            let value = String(decoding: pair[end...].dropFirst(), as: UTF8.self)
            guard parameters.updateValue(value, forKey: name) == nil else { throw fault }
        }
        self.parameters = parameters
    }
}

/// Returns true if a text has only the characters of an `error_description` (RFC 6749 §4.1.2.1).
func isDescription(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
}
