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
